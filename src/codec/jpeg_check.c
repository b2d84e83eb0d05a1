#include "jpeg_check.h"

#include <stdint.h>
#include <string.h>

enum { LOOK_BITS = 10, CODES_MAX = 256, DC_MOST = 11, COMPONENTS_MAX = 3 };
enum {
    SOF0 = 0xc0,
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

/* A Huffman table: what the next LOOK_BITS bits begin with, and for longer codes the canonical bounds. */
struct table {
    bool defined;
    struct {
        uint8_t length; /* of the code; 0: longer, or none */
        uint8_t symbol;
    } look[1 << LOOK_BITS];
    int32_t most[18]; /* the largest code of that length, -1: there is none */
    int32_t first[17]; /* symbol of the smallest code of that length, less the code */
    uint8_t symbol[CODES_MAX];
};

struct component {
    int id, h, v, quantization, dc, ac;
};

struct check {
    const unsigned char *at, *end;
    struct gf_jpeg_nature *nature;
    struct table dc[4], ac[4];
    bool quantization[4];
    struct component component[COMPONENTS_MAX];
    int restart_interval;
    bool jfif, adobe, adobe_ycc, framed;
};

/* ---- entropy-coded data ---- */

struct bits {
    const unsigned char *at, *end;
    uint64_t value; /* the next bits, from the top down */
    int count;
    bool at_marker; /* zeros follow, as many as are asked for */
    int borrowed;   /* zeros taken */
};

/* As many of the next eight bytes as there is room for, if none of them is a marker's or before a stuffed one. */
static bool refill_at_once(struct bits *bits)
{
    uint64_t word = 0;
    if (bits->end - bits->at < 8)
        return false;
    for (int i = 0; i < 8; i++)
        word = word << 8 | bits->at[i];
    if ((~word - 0x0101010101010101u) & word & 0x8080808080808080u) /* a byte is 0xff */
        return false;
    const int bytes = (63 - bits->count) >> 3;
    bits->value |= word >> bits->count;
    bits->count += 8 * bytes;
    bits->at += bytes;
    bits->value &= ~(uint64_t)0 << (64 - bits->count); /* the rest is read again */
    return true;
}

static void refill(struct bits *bits)
{
    if (bits->count > 56 || refill_at_once(bits))
        return;
    while (bits->count <= 56) {
        unsigned byte = 0;
        if (bits->at_marker || bits->at == bits->end) {
            bits->at_marker = true;
            bits->borrowed += 8;
        } else {
            byte = *bits->at;
            if (byte != 0xff)
                bits->at++;
            else if (bits->at + 1 < bits->end && !bits->at[1])
                bits->at += 2; /* a stuffed zero */
            else {
                bits->at_marker = true;
                continue;
            }
        }
        bits->value |= (uint64_t)byte << (56 - bits->count);
        bits->count += 8;
    }
}

static void skip(struct bits *bits, int count)
{
    bits->value <<= count;
    bits->count -= count;
}

/* The next symbol, -1: no code begins like this. At least 16 bits are there. */
static int next_symbol(struct bits *bits, const struct table *table)
{
    const unsigned index = (unsigned)(bits->value >> (64 - LOOK_BITS));
    int length = table->look[index].length;
    if (length) {
        skip(bits, length);
        return table->look[index].symbol;
    }
    for (length = LOOK_BITS + 1; length <= 16; length++) {
        const int32_t code = (int32_t)(bits->value >> (64 - length));
        if (code <= table->most[length]) {
            skip(bits, length);
            return table->symbol[(code + table->first[length]) & 255];
        }
    }
    return -1;
}

/* A block of 64 coefficients: their codes are walked over, their values left alone. */
static bool walk_block(struct bits *bits, const struct table *dc, const struct table *ac)
{
    refill(bits);
    int symbol = next_symbol(bits, dc);
    if (symbol < 0)
        return false;
    skip(bits, symbol);
    for (int k = 1; k < 64; k++) {
        if (bits->count < 32)
            refill(bits);
        symbol = next_symbol(bits, ac);
        const int size = symbol & 15;
        if (symbol < 0)
            return false;
        k += symbol >> 4;
        if (!size && symbol != 0xf0)
            return symbol == 0; /* end of block */
        if (k > 63 || size > 10)
            return false;
        skip(bits, size);
    }
    return true;
}

/* No more zeros were read behind the data than there were bits in its last byte. */
static bool ends_here(const struct bits *bits)
{
    const int unread = bits->count - bits->borrowed;
    return unread >= 0 && unread < 8;
}

static bool walk_unit(struct check *check, struct bits *bits)
{
    for (int c = 0; c < check->nature->components; c++) {
        const struct component *const component = &check->component[c];
        const int blocks = check->nature->components == 1 ? 1 : component->h * component->v;
        for (int i = 0; i < blocks; i++) {
            if (!walk_block(bits, &check->dc[component->dc], &check->ac[component->ac]))
                return false;
        }
    }
    return true;
}

static bool walk_scan(struct check *check)
{
    const struct gf_jpeg_nature *const nature = check->nature;
    const int unit_width = 8 * nature->h, unit_height = 8 * nature->v;
    const int64_t units = (int64_t)((nature->width + unit_width - 1) / unit_width) *
                          ((nature->height + unit_height - 1) / unit_height);
    struct bits bits = {.at = check->at, .end = check->end};
    int restarts = 0;
    for (int64_t i = 0; i < units; i++) {
        if (check->restart_interval && i && i % check->restart_interval == 0) {
            if (!ends_here(&bits) || bits.end - bits.at < 2 || bits.at[0] != 0xff ||
                bits.at[1] != RST0 + restarts++ % 8)
                return false;
            bits = (struct bits){.at = bits.at + 2, .end = bits.end};
        }
        if (!walk_unit(check, &bits) || bits.count < bits.borrowed) /* not zeros without end */
            return false;
    }
    refill(&bits);
    check->at = bits.at;
    return ends_here(&bits) && bits.end - bits.at >= 2 && bits.at[0] == 0xff && bits.at[1] == EOI;
}

/* ---- segments ---- */

/* Annex C: codes of one length are consecutive numbers. */
static bool build_table(struct table *table, const unsigned char *counts, const unsigned char *symbols,
                        int symbol_most)
{
    int32_t code = 0;
    int index = 0;
    memset(table, 0, sizeof *table);
    for (int length = 1; length <= 16; length++, code <<= 1) {
        table->first[length] = index - code;
        for (int i = 0; i < counts[length - 1]; i++, code++, index++) {
            if (code >= (1 << length) - 1) /* all ones is no code */
                return false;
            if (symbols[index] > symbol_most)
                return false;
            table->symbol[index] = symbols[index];
            const int spare = LOOK_BITS - length;
            for (int k = 0; spare >= 0 && k < 1 << spare; k++) {
                table->look[(code << spare) + k].length = (uint8_t)length;
                table->look[(code << spare) + k].symbol = symbols[index];
            }
        }
        table->most[length] = counts[length - 1] ? code - 1 : -1;
    }
    table->defined = true;
    return true;
}

static bool take_huffman(struct check *check, const unsigned char *at, const unsigned char *end)
{
    while (end - at >= 17) {
        const int kind = at[0] >> 4, index = at[0] & 15;
        int total = 0;
        for (int i = 1; i <= 16; i++)
            total += at[i];
        if (kind > 1 || index > 3 || total > CODES_MAX || end - at < 17 + total ||
            !build_table(kind ? &check->ac[index] : &check->dc[index], at + 1, at + 17, kind ? 255 : DC_MOST))
            return false;
        at += 17 + total;
    }
    return at == end;
}

static bool take_quantization(struct check *check, const unsigned char *at, const unsigned char *end)
{
    for (; end - at >= 65; at += 65) {
        if (at[0] > 3) /* 16-bit entries, or no such table */
            return false;
        for (int i = 1; i <= 64; i++) {
            if (!at[i])
                return false;
        }
        check->quantization[at[0]] = true;
    }
    return at == end;
}

static bool known_sampling(const struct check *check)
{
    const struct component *const c = check->component;
    if (check->nature->components == 1)
        return c[0].h == 1 && c[0].v == 1;
    return (c[0].h == 1 || c[0].h == 2) && (c[0].v == 1 || (c[0].v == 2 && c[0].h == 2)) && c[1].h == 1 &&
           c[1].v == 1 && c[2].h == 1 && c[2].v == 1;
}

static bool take_frame(struct check *check, const unsigned char *at, const unsigned char *end)
{
    struct gf_jpeg_nature *const nature = check->nature;
    if (check->framed || end - at < 6 || at[0] != 8 || (at[5] != 1 && at[5] != 3) || end - at != 6 + 3 * at[5])
        return false;
    nature->height = at[1] << 8 | at[2];
    nature->width = at[3] << 8 | at[4];
    nature->components = at[5];
    for (int i = 0; i < nature->components; i++) {
        const unsigned char *const from = at + 6 + 3 * i;
        check->component[i] = (struct component){
            .id = from[0], .h = from[1] >> 4, .v = from[1] & 15, .quantization = from[2], .dc = -1};
        if (from[2] > 3)
            return false;
    }
    nature->h = nature->components == 3 ? check->component[0].h : 1;
    nature->v = nature->components == 3 ? check->component[0].v : 1;
    check->framed = true;
    return nature->width && nature->height && known_sampling(check);
}

/* As libjpeg decides it, and also without the applications' segments, which nvJPEG is not given. */
static bool is_ycc(const struct check *check)
{
    const struct component *const c = check->component;
    if (check->nature->components == 1)
        return true;
    if (c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B')
        return false;
    if (check->jfif || check->adobe)
        return check->jfif || check->adobe_ycc;
    return c[0].id == 1 && c[1].id == 2 && c[2].id == 3;
}

static bool take_scan(struct check *check, const unsigned char *at, const unsigned char *end)
{
    const int components = check->nature->components;
    if (!check->framed || end - at != 4 + 2 * components || at[0] != components)
        return false;
    for (int i = 0; i < components; i++) {
        struct component *const component = &check->component[i];
        component->dc = at[2 + 2 * i] >> 4;
        component->ac = at[2 + 2 * i] & 15;
        if (at[1 + 2 * i] != component->id || component->dc > 3 || component->ac > 3 ||
            !check->dc[component->dc].defined || !check->ac[component->ac].defined ||
            !check->quantization[component->quantization])
            return false;
    }
    const unsigned char *const spectrum = end - 3;
    return spectrum[0] == 0 && spectrum[1] == 63 && spectrum[2] == 0 && is_ycc(check);
}

static void take_application(struct check *check, int marker, const unsigned char *at, const unsigned char *end)
{
    if (marker == APP0 && end - at >= 14 && !memcmp(at, "JFIF", 5))
        check->jfif = true;
    if (marker == APP14 && end - at >= 12 && !memcmp(at, "Adobe", 5)) {
        check->adobe = true;
        check->adobe_ycc = at[11] == 1;
    }
}

static bool is_application(int marker)
{
    return marker == COM || (marker & 0xf0) == APP0;
}

static bool take_segment(struct check *check, int marker, const unsigned char *at, const unsigned char *end)
{
    switch (marker) {
    case SOF0:
        return take_frame(check, at, end);
    case DHT:
        return take_huffman(check, at, end);
    case DQT:
        return take_quantization(check, at, end);
    case DRI:
        check->restart_interval = end - at == 2 ? at[0] << 8 | at[1] : -1;
        return check->restart_interval >= 0;
    case SOS:
        return take_scan(check, at, end);
    default:
        take_application(check, marker, at, end);
        return is_application(marker);
    }
}

static bool walk_segments(struct check *check, const unsigned char *start)
{
    for (;;) {
        const unsigned char *const at = check->at;
        if (check->end - at < 4 || at[0] != 0xff)
            return false;
        const int marker = at[1], size = at[2] << 8 | at[3];
        if (size < 2 || check->end - at - 2 < size)
            return false;
        /* Between the tables there may be more applications' segments; those are odd enough for libjpeg. */
        if (check->nature->tables && is_application(marker))
            return false;
        if (!check->nature->tables && !is_application(marker))
            check->nature->tables = (size_t)(at - start);
        if (!take_segment(check, marker, at + 4, at + 2 + size))
            return false;
        check->at = at + 2 + size;
        if (marker == SOS)
            return true;
    }
}

bool gf_jpeg_check(const unsigned char *data, size_t size, struct gf_jpeg_nature *nature)
{
    struct check check;
    memset(&check, 0, sizeof check);
    *nature = (struct gf_jpeg_nature){0};
    check.nature = nature;
    if (size < 4 || data[0] != 0xff || data[1] != SOI)
        return false;
    check.at = data + 2;
    check.end = data + size;
    if (!walk_segments(&check, data) || !walk_scan(&check))
        return false;
    nature->end = (size_t)(check.at - data) + 2;
    return true;
}
