#include "codec/jpeg/jpeg_header.h"

#include <string.h>

enum { BLOCK = 64, CODES_MAX = 256, DC_MOST = 11, SIDE_MOST = 65500, FACTOR_MOST = 4 };
enum { LOW_MOST = 13 }; /* the most bits that a scan leaves to later ones */
enum {
    SOF0 = 0xc0,
    SOF1 = 0xc1,
    SOF2 = 0xc2,
    DHT = 0xc4,
    RST0 = 0xd0,
    SOI = 0xd8,
    EOI = 0xd9,
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
    bool progressive;
    bool is_tile; /* of a TIFF */
    int adobe_transform, id[GF_JPEG_COMPONENTS_MOST];
    const unsigned char *data;
    size_t size;
    uint32_t dc_at[GF_JPEG_TABLES], ac_at[GF_JPEG_TABLES]; /* the offsets of the tables */
    /* The number of low bits of each coefficient that the scans so far have left to later scans;
     * UNKNOWN: no scan had the coefficient. */
    signed char left[GF_JPEG_COMPONENTS_MOST][BLOCK];
};

enum { UNKNOWN = -1 };

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
        *(kind ? &reader->ac_at[index] : &reader->dc_at[index]) = (uint32_t)(at + 1 - reader->data);
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

/* Finds the component of an entry of the scan's header, and notes its quantisers if it is the
 * component's first scan. Returns -1 if there is none, or no such table. */
static int take_component(struct reader *reader, const unsigned char *entry)
{
    struct gf_jpeg_header *const header = reader->header;
    for (int c = 0; c < header->components; c++) {
        struct gf_jpeg_component *const component = &header->component[c];
        if (entry[0] != reader->id[c])
            continue;
        component->dc = entry[1] >> 4;
        component->ac = entry[1] & 15;
        if (component->dc >= GF_JPEG_TABLES || component->ac >= GF_JPEG_TABLES ||
            !reader->quantiser[component->quantiser])
            return -1;
        if (reader->left[c][0] == UNKNOWN)
            memcpy(header->latched[c], header->quantiser[component->quantiser],
                   sizeof header->latched[c]);
        return c;
    }
    return -1;
}

/* Reads the header of the only scan. In a scan of one component a unit is a single block, whatever
 * the sampling factors are. */
static bool read_only_scan(struct reader *reader, const unsigned char *at, const unsigned char *end)
{
    struct gf_jpeg_header *const header = reader->header;
    for (int i = 0; i < header->components; i++) {
        struct gf_jpeg_component *const component = &header->component[i];
        if (take_component(reader, at + 1 + 2 * i) != i || !reader->dc[component->dc] ||
            !reader->ac[component->ac])
            return false;
    }
    return end[-3] == 0; /* baseline JPEGs do not use the last two parameters */
}

/* Whether a scan with that number of components may have this band and these bits: libjpeg-turbo
 * decodes others with a warning or not at all. */
static bool valid_band(const struct reader *reader, const struct gf_jpeg_scan *scan, int components)
{
    if (!reader->progressive)
        return scan->first == 0 && scan->last == BLOCK - 1 && !scan->high && !scan->low;
    if (scan->first ? components != 1 || scan->last < scan->first || scan->last >= BLOCK
                    : scan->last != 0)
        return false;
    return scan->low <= LOW_MOST && (!scan->high || scan->low == scan->high - 1);
}

/* Adds component c to the scan. Returns false if the components are not in the frame's order, if a
 * table is missing, or if the scan does not continue where earlier scans of the component ended. */
static bool add_component(struct reader *reader, struct gf_jpeg_scan *scan, int c)
{
    if (c < 0 || scan->components >> c)
        return false;
    const struct gf_jpeg_component *const component = &reader->header->component[c];
    const int expected = scan->high ? scan->high : UNKNOWN;
    const bool uses_dc = !scan->first && !scan->high, uses_ac = scan->last > 0;
    if ((scan->first && reader->left[c][0] == UNKNOWN) || (uses_dc && !reader->dc[component->dc]) ||
        (uses_ac && !reader->ac[component->ac]))
        return false;
    for (int k = scan->first; k <= scan->last; k++) {
        if (reader->left[c][k] != expected)
            return false;
        reader->left[c][k] = (signed char)scan->low;
    }
    scan->components |= (uint8_t)(1 << c);
    scan->dc[c] = uses_dc ? reader->dc_at[component->dc] : 0;
    scan->ac[c] = uses_ac ? reader->ac_at[component->ac] : 0;
    return true;
}

/* Returns the offset of the marker that ends the scan, which begins at `at`; 0: there is none. */
static size_t find_end(const struct reader *reader, size_t at)
{
    const unsigned char *const data = reader->data;
    for (;; at += 2) {
        const unsigned char *const found = memchr(data + at, 0xff, reader->size - at);
        if (!found || (at = (size_t)(found - data)) + 1 >= reader->size)
            return 0;
        if (data[at + 1] && (data[at + 1] & 0xf8) != RST0)
            return at;
    }
}

/* Reads the header of one of several scans, and finds its end. */
static bool read_one_scan(struct reader *reader, const unsigned char *at, const unsigned char *end)
{
    struct gf_jpeg_header *const header = reader->header;
    struct gf_jpeg_scan *const scan = &header->list[header->scans];
    if (header->scans == GF_JPEG_SCANS_MOST)
        return false;
    *scan = (struct gf_jpeg_scan){.first = end[-3],
                                  .last = end[-2],
                                  .high = end[-1] >> 4,
                                  .low = end[-1] & 15,
                                  .restart_interval = header->restart_interval,
                                  .begin = (uint32_t)(end - reader->data)};
    if (!valid_band(reader, scan, at[0]))
        return false;
    for (int i = 0; i < at[0]; i++) {
        if (!add_component(reader, scan, take_component(reader, at + 1 + 2 * i)))
            return false;
    }
    scan->end = (uint32_t)find_end(reader, scan->begin);
    header->scans++;
    return scan->end != 0;
}

static bool read_scan(struct reader *reader, const unsigned char *at, const unsigned char *end)
{
    struct gf_jpeg_header *const header = reader->header;
    if (!reader->framed || end - at < 6 || at[0] < 1 || at[0] > header->components ||
        end - at != 4 + 2 * at[0] || reader->size > UINT32_MAX)
        return false;
    if (!header->scans) {
        header->scan = (size_t)(end - reader->data);
        /* libtiff wants the factors of a single component to be 1. */
        if (!find_colours(reader) || (reader->is_tile && header->components == 1 &&
                                      (header->component[0].h != 1 || header->component[0].v != 1)))
            return false;
        if (header->components == 1)
            header->component[0].h = header->component[0].v = 1;
    }
    return reader->progressive || header->scans || at[0] < header->components
               ? read_one_scan(reader, at, end)
               : read_only_scan(reader, at, end);
}

/* Whether the scans have brought all bits of all coefficients. */
static bool has_everything(const struct reader *reader)
{
    for (int c = 0; c < reader->header->components; c++) {
        for (int k = 0; k < BLOCK; k++) {
            if (reader->left[c][k])
                return false;
        }
    }
    return true;
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
    case SOF2:
        reader->progressive = marker == SOF2;
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
    default: /* files with metadata between scans are left to libjpeg-turbo */
        read_application(reader, marker, at, end);
        return !reader->header->scans && (marker == COM || (marker & 0xf0) == APP0);
    }
}

/* Reads the segments between the scans, up to the end marker. Nothing else may stand there. */
static bool read_scans(struct reader *reader)
{
    struct gf_jpeg_header *const header = reader->header;
    const unsigned char *const data = reader->data;
    for (size_t at = header->list[0].end; reader->size - at >= 2;) {
        const int marker = data[at + 1];
        header->end = at + 2;
        if (data[at] != 0xff || marker == EOI)
            return data[at] == 0xff && has_everything(reader);
        const size_t length =
            reader->size - at < 4 ? 0 : (size_t)(data[at + 2] << 8 | data[at + 3]);
        if (length < 2 || reader->size - at - 2 < length ||
            !read_marker(reader, marker, data + at + 4, data + at + 2 + length))
            return false;
        at = marker == SOS ? header->list[header->scans - 1].end : at + 2 + length;
    }
    return false;
}

/* Reads all segments before the scan. Returns whether the scan was reached, or the end of the bytes
 * without a scan. */
static bool read_segments(struct reader *reader, bool *reached)
{
    const unsigned char *const data = reader->data;
    const size_t size = reader->size;
    *reached = false;
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
            !read_marker(reader, marker, data + at + 4, data + at + 2 + length))
            return false;
        at += 2 + length;
        *reached = marker == SOS;
        if (*reached)
            return !reader->header->scans || read_scans(reader);
    }
    return true;
}

bool gf_jpeg_header_read(const unsigned char *data, size_t size, struct gf_jpeg_header *header)
{
    return gf_jpeg_header_read_tile(NULL, 0, data, size, header);
}

bool gf_jpeg_header_read_tile(const unsigned char *tables, size_t tables_size,
                              const unsigned char *data, size_t size, struct gf_jpeg_header *header)
{
    struct reader reader = {
        .header = header, .data = tables, .size = tables_size, .is_tile = tables != NULL};
    bool reached;
    memset(header, 0, sizeof *header);
    memset(reader.left, UNKNOWN, sizeof reader.left);
    if (tables_size && (!read_segments(&reader, &reached) || reached || reader.framed))
        return false;
    header->restart_interval = 0; /* as libjpeg-turbo has it where a picture begins */
    reader.data = data;
    reader.size = size;
    return read_segments(&reader, &reached) && reached;
}
