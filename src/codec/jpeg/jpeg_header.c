#include "codec/jpeg/jpeg_header.h"

#include <string.h>

enum { BLOCK = 64, CODES_MAX = 256, DC_MOST = 11, SIDE_MOST = 65500, FACTOR_MOST = 4 };
enum {
    SOF0 = 0xc0,
    SOF1 = 0xc1,
    DHT = 0xc4,
    SOI = 0xd8,
    SOS = 0xda,
    DQT = 0xdb,
    DRI = 0xdd,
    APP0 = 0xe0,
    APP14 = 0xee,
    COM = 0xfe
};
enum { ADOBE_RGB = 0, ADOBE_YCC = 1 };

const uint8_t gf_jpeg_natural_order[BLOCK] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

struct reader {
    struct gf_jpeg_header *header;
    /* Which tables are defined. */
    bool quantiser[GF_JPEG_TABLES], dc[GF_JPEG_TABLES], ac[GF_JPEG_TABLES];
    bool framed, jfif, adobe;
    int adobe_transform;
    int id[GF_JPEG_COMPONENTS_MOST];
};

/* Whether the code is valid: the codes of one length are consecutive numbers, and no code consists
 * only of ones (annex C). */
static bool valid_codes(const struct gf_jpeg_huffman *table)
{
    int code = 0;
    for (int length = 1; length <= 16; length++, code <<= 1) {
        code += table->counts[length];
        if (table->counts[length] && code >= 1 << length)
            return false;
    }
    return true;
}

static bool valid_dc(const struct gf_jpeg_huffman *table, int symbols)
{
    for (int i = 0; i < symbols; i++) {
        if (table->symbols[i] > DC_MOST)
            return false;
    }
    return true;
}

static bool read_huffman(struct reader *reader, const unsigned char *at, const unsigned char *end)
{
    while (end - at >= 17) {
        const int kind = at[0] >> 4, index = at[0] & 15;
        struct gf_jpeg_huffman table = {0};
        int total = 0;
        for (int i = 1; i <= 16; i++)
            total += table.counts[i] = at[i];
        if (kind > 1 || index >= GF_JPEG_TABLES || total > CODES_MAX || end - at < 17 + total)
            return false;
        memcpy(table.symbols, at + 17, (size_t)total);
        if (!valid_codes(&table) || (!kind && !valid_dc(&table, total)))
            return false;
        *(kind ? &reader->header->ac[index] : &reader->header->dc[index]) = table;
        *(kind ? &reader->ac[index] : &reader->dc[index]) = true;
        at += 17 + total;
    }
    return at == end;
}

static bool read_quantisers(struct reader *reader, const unsigned char *at,
                            const unsigned char *end)
{
    while (at < end) {
        const int bytes = 1 + (at[0] >> 4), index = at[0] & 15;
        if (bytes > 2 || index >= GF_JPEG_TABLES || end - at < 1 + BLOCK * bytes)
            return false;
        at++;
        for (int i = 0; i < BLOCK; i++, at += bytes) {
            const int value = bytes == 2 ? at[0] << 8 | at[1] : at[0];
            if (!value)
                return false;
            reader->header->quantiser[index][gf_jpeg_natural_order[i]] = (uint16_t)value;
        }
        reader->quantiser[index] = true;
    }
    return true;
}

/* Whether libjpeg-turbo can enlarge each component: only by a whole factor. */
static bool valid_sampling(const struct gf_jpeg_header *header)
{
    int h_most = 1, v_most = 1, blocks = 0;
    for (int i = 0; i < header->components; i++) {
        const struct gf_jpeg_component *const c = &header->component[i];
        if (c->h < 1 || c->h > FACTOR_MOST || c->v < 1 || c->v > FACTOR_MOST)
            return false;
        h_most = c->h > h_most ? c->h : h_most;
        v_most = c->v > v_most ? c->v : v_most;
        blocks += c->h * c->v;
    }
    for (int i = 0; i < header->components; i++) {
        if (h_most % header->component[i].h || v_most % header->component[i].v)
            return false;
    }
    return header->components == 1 || blocks <= GF_JPEG_MCU_BLOCKS_MOST;
}

static bool read_frame(struct reader *reader, const unsigned char *at, const unsigned char *end)
{
    struct gf_jpeg_header *const header = reader->header;
    if (reader->framed || end - at < 6 || at[0] != 8 || (at[5] != 1 && at[5] != 3) ||
        end - at != 6 + 3 * at[5])
        return false;
    header->height = at[1] << 8 | at[2];
    header->width = at[3] << 8 | at[4];
    header->components = at[5];
    for (int i = 0; i < header->components; i++) {
        const unsigned char *const from = at + 6 + 3 * i;
        reader->id[i] = from[0];
        for (int k = 0; k < i; k++) {
            if (reader->id[k] == reader->id[i])
                return false;
        }
        header->component[i] =
            (struct gf_jpeg_component){.h = from[1] >> 4, .v = from[1] & 15, .quantiser = from[2]};
        if (from[2] >= GF_JPEG_TABLES)
            return false;
    }
    reader->framed = true;
    return header->width && header->height && header->width <= SIDE_MOST &&
           header->height <= SIDE_MOST && valid_sampling(header);
}

/* Decides as libjpeg-turbo does whether the components are YCbCr or RGB. Returns false if libjpeg-
 * turbo would warn. */
static bool find_colours(struct reader *reader)
{
    const int *const id = reader->id;
    bool *const ycc = &reader->header->ycc;
    if (reader->header->components == 1)
        *ycc = false;
    else if (reader->jfif)
        *ycc = true;
    else if (reader->adobe)
        *ycc = reader->adobe_transform == ADOBE_YCC;
    else
        *ycc = !(id[0] == 'R' && id[1] == 'G' && id[2] == 'B');
    return reader->jfif || !reader->adobe || reader->adobe_transform == ADOBE_YCC ||
           reader->adobe_transform == ADOBE_RGB;
}

/* Reads the header of the scan. In a scan of one component a unit is a single block, whatever the
 * sampling factors are. */
static bool read_scan(struct reader *reader, const unsigned char *at, const unsigned char *end)
{
    struct gf_jpeg_header *const header = reader->header;
    if (!reader->framed || end - at != 4 + 2 * header->components || at[0] != header->components)
        return false;
    for (int i = 0; i < header->components; i++) {
        struct gf_jpeg_component *const component = &header->component[i];
        component->dc = at[2 + 2 * i] >> 4;
        component->ac = at[2 + 2 * i] & 15;
        if (at[1 + 2 * i] != reader->id[i] || component->dc >= GF_JPEG_TABLES ||
            component->ac >= GF_JPEG_TABLES || !reader->dc[component->dc] ||
            !reader->ac[component->ac] || !reader->quantiser[component->quantiser])
            return false;
        if (header->components == 1)
            component->h = component->v = 1;
    }
    return end[-3] == 0 && find_colours(reader); /* baseline JPEGs do not use the last two
                                                  * parameters */
}

static void read_application(struct reader *reader, int marker, const unsigned char *at,
                             const unsigned char *end)
{
    if (marker == APP0 && end - at >= 14 && !memcmp(at, "JFIF", 5))
        reader->jfif = true;
    if (marker == APP14 && end - at >= 12 && !memcmp(at, "Adobe", 5)) {
        reader->adobe = true;
        reader->adobe_transform = at[11];
    }
}

static bool read_marker(struct reader *reader, int marker, const unsigned char *at,
                        const unsigned char *end)
{
    switch (marker) {
    case SOF0:
    case SOF1:
        return read_frame(reader, at, end);
    case DHT:
        return read_huffman(reader, at, end);
    case DQT:
        return read_quantisers(reader, at, end);
    case DRI:
        if (end - at != 2)
            return false;
        reader->header->restart_interval = (unsigned)(at[0] << 8 | at[1]);
        return true;
    case SOS:
        return read_scan(reader, at, end);
    default:
        read_application(reader, marker, at, end);
        return marker == COM || (marker & 0xf0) == APP0;
    }
}

bool gf_jpeg_header_read(const unsigned char *data, size_t size, struct gf_jpeg_header *header)
{
    struct reader reader = {.header = header};
    memset(header, 0, sizeof *header);
    if (size < 4 || data[0] != 0xff || data[1] != SOI)
        return false;
    for (size_t at = 2; size - at >= 4;) {
        const int marker = data[at + 1];
        const size_t length = (size_t)(data[at + 2] << 8 | data[at + 3]);
        if (data[at] != 0xff || marker == 0xff || !marker) { /* a stray byte, or a fill byte */
            at++;
            continue;
        }
        if (length < 2 || size - at - 2 < length ||
            !read_marker(&reader, marker, data + at + 4, data + at + 2 + length))
            return false;
        at += 2 + length;
        header->scan = at;
        if (marker == SOS)
            return true;
    }
    return false;
}
