#include "codec/jpeg/jpeg_check.h"

#include <stdint.h>
#include <string.h>

enum {
    LOOK_BITS = 11,
    BLOCK = 64,
    CODES_MAX = 256,
    AC_BITS_MOST = 10,
    DC_MOST = 11,
    COMPONENTS_MAX = 3
};
enum { END_OF_BLOCK = 0x00, ZEROS_16 = 0xf0 };
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

/* What the next LOOK_BITS bits hold: as many whole symbols as begin in them, each with the bits of
 * its value. */
struct step {
    _Alignas(4) uint8_t bits; /* to skip; 0: no code is that short */
    uint8_t need; /* coefficients that the block must have left; the end of block counts as one */
    uint8_t advance; /* coefficients; BLOCK where the block ends */
};

/* A Huffman table. `step` serves several symbols at once; single symbols are found by the bounds of
 * the codes of each length. */
struct table {
    bool defined,
        stepped; /* stepped: `step` is filled, which the first scan does that uses the table */
    struct step step[1 << LOOK_BITS];
    int32_t most[18];  /* the largest code of that length; -1: there is none */
    int32_t first[17]; /* the index of the smallest code's symbol, less that code */
    uint8_t symbol[CODES_MAX];
};

struct component {
    int id, h, v, quantization, dc, ac;
};

struct check {
    const unsigned char *at, *end;
    struct gf_jpeg_info *info;
    struct table dc[4], ac[4];
    bool quantization[4];
    struct component component[COMPONENTS_MAX];
    int restart_interval;
    bool jfif, adobe, adobe_ycc, framed;
};

/* ---- entropy-coded data ---- */

struct bits {
    const unsigned char *at, *end;
    uint64_t value; /* the next bits; the first is the highest */
    int count;
    bool at_marker; /* the data has ended: zeros follow without end */
    int borrowed;   /* the zeros among the bits */
};

/* Reads single bytes, skips stuffed zeros and stops at a marker. */
static struct bits refill_slowly(struct bits bits)
{
    while (bits.count <= 56) {
        unsigned byte = 0;
        if (bits.at_marker || bits.at == bits.end) {
            bits.at_marker = true;
            bits.borrowed += 8;
        } else {
            byte = *bits.at;
            if (byte != 0xff)
                bits.at++;
            else if (bits.at + 1 < bits.end && !bits.at[1])
                bits.at += 2; /* a stuffed zero */
            else {
                bits.at_marker = true;
                continue;
            }
        }
        bits.value |= (uint64_t)byte << (56 - bits.count);
        bits.count += 8;
    }
    return bits;
}

/* Reads as many of the next eight bytes as there is room for, if none of them is 0xff. The bits of
 * `value` below the counted ones may be set: they are the next ones and are read again. */
static inline struct bits refill(struct bits bits)
{
    uint64_t word = 0;
    if (bits.count > 56)
        return bits;
    if (bits.end - bits.at < 8)
        return refill_slowly(bits);
    for (int i = 0; i < 8; i++)
        word = word << 8 | bits.at[i];
    if ((~word - 0x0101010101010101u) & word & 0x8080808080808080u) /* a byte is 0xff */
        return refill_slowly(bits);
    bits.value |= word >> bits.count;
    bits.at += (63 - bits.count) >> 3;
    bits.count |= 56;
    return bits;
}

static inline void skip(struct bits *bits, int count)
{
    bits->value <<= count;
    bits->count -= count;
}

/* Finds the symbol whose code begins these `count` bits. Returns the code's length, or 0 where no
 * code of at most that length fits. */
static int match(const struct table *table, unsigned bits, int count, int *symbol)
{
    for (int length = 1; length <= count; length++) {
        const int32_t code = (int32_t)(bits >> (count - length));
        if (code <= table->most[length]) {
            *symbol = table->symbol[(code + table->first[length]) & 255];
            return length;
        }
    }
    return 0;
}

/* Walks over the codes of a block of 64 coefficients and skips their values. */
static bool walk_block(struct bits *all_bits, const struct table *dc, const struct table *ac)
{
    struct bits bits = refill(*all_bits); /* a copy stays in registers */
    int symbol, length;
    const struct step first = dc->step[bits.value >> (64 - LOOK_BITS)];
    if (first.bits) {
        skip(&bits, first.bits);
    } else {
        length = match(dc, (unsigned)(bits.value >> 48), 16, &symbol);
        if (!length)
            return false;
        skip(&bits, length + symbol);
    }
    for (int k = 1; k < BLOCK;) {
        if (bits.count < 32)
            bits = refill(bits);
        const struct step step = ac->step[bits.value >> (64 - LOOK_BITS)];
        if (step.bits && k + step.need <= BLOCK) {
            skip(&bits, step.bits);
            k += step.advance;
            continue;
        }
        length = match(ac, (unsigned)(bits.value >> 48), 16, &symbol);
        if (!length)
            return false;
        skip(&bits, length);
        if (symbol == END_OF_BLOCK)
            break;
        const int size = symbol & 15;
        k += (symbol >> 4) + 1;
        if ((!size && symbol != ZEROS_16) || size > AC_BITS_MOST || k > BLOCK)
            return false;
        skip(&bits, size);
    }
    *all_bits = bits;
    return true;
}

/* Whether the data ended within its last byte: only that byte's padding is unread, and no more
 * zeros were read behind it. */
static bool ends_here(const struct bits *bits)
{
    const int unread = bits->count - bits->borrowed;
    return unread >= 0 && unread < 8;
}

static bool walk_unit(struct check *check, struct bits *bits)
{
    for (int c = 0; c < check->info->components; c++) {
        const struct component *const component = &check->component[c];
        const int blocks = check->info->components == 1 ? 1 : component->h * component->v;
        for (int i = 0; i < blocks; i++) {
            if (!walk_block(bits, &check->dc[component->dc], &check->ac[component->ac]))
                return false;
        }
    }
    return true;
}

static bool walk_scan(struct check *check)
{
    const struct gf_jpeg_info *const info = check->info;
    const int unit_width = 8 * info->h, unit_height = 8 * info->v;
    const int64_t units = (int64_t)((info->width + unit_width - 1) / unit_width) *
                          ((info->height + unit_height - 1) / unit_height);
    struct bits bits = {.at = check->at, .end = check->end};
    int restarts = 0;
    for (int64_t i = 0; i < units; i++) {
        if (check->restart_interval && i && i % check->restart_interval == 0) {
            if (!ends_here(&bits) || bits.end - bits.at < 2 || bits.at[0] != 0xff ||
                bits.at[1] != RST0 + restarts++ % 8)
                return false;
            bits = (struct bits){.at = bits.at + 2, .end = bits.end};
        }
        if (!walk_unit(check, &bits) || bits.count < bits.borrowed) /* the data ended too early */
            return false;
    }
    bits = refill(bits);
    check->at = bits.at;
    return ends_here(&bits) && bits.end - bits.at >= 2 && bits.at[0] == 0xff && bits.at[1] == EOI;
}

/* ---- segments ---- */

static struct step dc_step(const struct table *table, unsigned bits)
{
    int size;
    const int length = match(table, bits, LOOK_BITS, &size);
    return (struct step){.bits = length ? (uint8_t)(length + size) : 0};
}

static struct step ac_step(const struct table *table, unsigned bits)
{
    struct step step = {0};
    while (step.bits < LOOK_BITS) {
        const int left = LOOK_BITS - step.bits;
        int symbol;
        const int length = match(table, bits & ((1u << left) - 1), left, &symbol);
        if (!length)
            break;
        if (symbol == END_OF_BLOCK)
            return (struct step){(uint8_t)(step.bits + length), (uint8_t)(step.need + 1), BLOCK};
        const int size = symbol & 15, coefficients = (symbol >> 4) + 1;
        if ((!size && symbol != ZEROS_16) || size > AC_BITS_MOST ||
            step.need + coefficients >= BLOCK)
            break;
        step.bits = (uint8_t)(step.bits + length + size);
        step.need = step.advance = (uint8_t)(step.need + coefficients);
    }
    return step;
}

/* By annex C the codes of one length are consecutive numbers. */
static bool build_table(struct table *table, const unsigned char *counts,
                        const unsigned char *symbols, bool is_dc)
{
    int32_t code = 0;
    int index = 0;
    for (int length = 1; length <= 16; length++, code <<= 1) {
        table->first[length] = index - code;
        for (int i = 0; i < counts[length - 1]; i++, code++, index++) {
            if (code >= (1 << length) - 1) /* a code must not be all ones */
                return false;
            if (is_dc && symbols[index] > DC_MOST)
                return false;
            table->symbol[index] = symbols[index];
        }
        table->most[length] = counts[length - 1] ? code - 1 : -1;
    }
    table->defined = true;
    table->stepped = false;
    return true;
}

static void make_steps(struct table *table, bool is_dc)
{
    for (unsigned bits = 0; !table->stepped && bits < 1 << LOOK_BITS; bits++)
        table->step[bits] = is_dc ? dc_step(table, bits) : ac_step(table, bits);
    table->stepped = true;
}

static bool read_huffman(struct check *check, const unsigned char *at, const unsigned char *end)
{
    while (end - at >= 17) {
        const int kind = at[0] >> 4, index = at[0] & 15;
        int total = 0;
        for (int i = 1; i <= 16; i++)
            total += at[i];
        if (kind > 1 || index > 3 || total > CODES_MAX || end - at < 17 + total ||
            !build_table(kind ? &check->ac[index] : &check->dc[index], at + 1, at + 17, !kind))
            return false;
        at += 17 + total;
    }
    return at == end;
}

static bool read_quantization(struct check *check, const unsigned char *at,
                              const unsigned char *end)
{
    for (; end - at >= 65; at += 65) {
        if (at[0] > 3) /* it has entries of 16 bits, or there is no such table */
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
    if (check->info->components == 1)
        return c[0].h == 1 && c[0].v == 1;
    return (c[0].h == 1 || c[0].h == 2) && (c[0].v == 1 || (c[0].v == 2 && c[0].h == 2)) &&
           c[1].h == 1 && c[1].v == 1 && c[2].h == 1 && c[2].v == 1;
}

static bool read_frame(struct check *check, const unsigned char *at, const unsigned char *end)
{
    struct gf_jpeg_info *const info = check->info;
    if (check->framed || end - at < 6 || at[0] != 8 || (at[5] != 1 && at[5] != 3) ||
        end - at != 6 + 3 * at[5])
        return false;
    info->height = at[1] << 8 | at[2];
    info->width = at[3] << 8 | at[4];
    info->components = at[5];
    for (int i = 0; i < info->components; i++) {
        const unsigned char *const from = at + 6 + 3 * i;
        check->component[i] = (struct component){
            .id = from[0], .h = from[1] >> 4, .v = from[1] & 15, .quantization = from[2], .dc = -1};
        if (from[2] > 3)
            return false;
    }
    info->h = info->components == 3 ? check->component[0].h : 1;
    info->v = info->components == 3 ? check->component[0].v : 1;
    check->framed = true;
    return info->width && info->height && known_sampling(check);
}

/* Whether libjpeg reads it as YCbCr, and nvJPEG does too, which is not given the APPn segments. */
static bool is_ycc(const struct check *check)
{
    const struct component *const c = check->component;
    if (check->info->components == 1)
        return true;
    if (c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B')
        return false;
    if (check->jfif || check->adobe)
        return check->jfif || check->adobe_ycc;
    return c[0].id == 1 && c[1].id == 2 && c[2].id == 3;
}

static bool read_scan(struct check *check, const unsigned char *at, const unsigned char *end)
{
    const int components = check->info->components;
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
        make_steps(&check->dc[component->dc], true);
        make_steps(&check->ac[component->ac], false);
    }
    const unsigned char *const spectrum = end - 3;
    return spectrum[0] == 0 && spectrum[1] == 63 && spectrum[2] == 0 && is_ycc(check);
}

static void read_application(struct check *check, int marker, const unsigned char *at,
                             const unsigned char *end)
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

static bool read_segment(struct check *check, int marker, const unsigned char *at,
                         const unsigned char *end)
{
    switch (marker) {
    case SOF0:
        return read_frame(check, at, end);
    case DHT:
        return read_huffman(check, at, end);
    case DQT:
        return read_quantization(check, at, end);
    case DRI:
        check->restart_interval = end - at == 2 ? at[0] << 8 | at[1] : -1;
        return check->restart_interval >= 0;
    case SOS:
        return read_scan(check, at, end);
    default:
        read_application(check, marker, at, end);
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
        /* An APPn segment between the tables is legal, but odd enough to leave the file to
         * libjpeg. */
        if (check->info->tables && is_application(marker))
            return false;
        if (!check->info->tables && !is_application(marker))
            check->info->tables = (size_t)(at - start);
        if (!read_segment(check, marker, at + 4, at + 2 + size))
            return false;
        check->at = at + 2 + size;
        if (marker == SOS)
            return true;
    }
}

bool gf_jpeg_check(const unsigned char *data, size_t size, struct gf_jpeg_info *info)
{
    struct check check;
    memset(&check, 0, sizeof check);
    *info = (struct gf_jpeg_info){0};
    check.info = info;
    if (size < 4 || data[0] != 0xff || data[1] != SOI)
        return false;
    check.at = data + 2;
    check.end = data + size;
    if (!walk_segments(&check, data) || !walk_scan(&check))
        return false;
    info->end = (size_t)(check.at - data) + 2;
    return true;
}
