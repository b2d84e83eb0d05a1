#include "codec/jpeg/jpeg_walk.h"

enum { LOOK_BITS = GF_JPEG_LOOK_BITS, BLOCK = 64, AC_BITS_MOST = 10, CODE_BITS_MOST = 16 };
enum { END_OF_BLOCK = 0x00, ZEROS_16 = 0xf0 };

struct match {
    int length; /* bits of the code; 0: no code matches */
    int symbol;
};

/* Finds the symbol whose code is at the start of the `count` bits. */
static struct match match(const struct gf_jpeg_table *table, unsigned bits, int count)
{
    for (int length = 1; length <= count; length++) {
        const int32_t code = (int32_t)(bits >> (count - length));
        if (code <= table->most[length])
            return (struct match){length, table->symbol[(code + table->first[length]) & 255]};
    }
    return (struct match){0, 0};
}

static struct gf_jpeg_step dc_step(const struct gf_jpeg_table *table, unsigned bits)
{
    const struct match found = match(table, bits, LOOK_BITS);
    return (struct gf_jpeg_step){.bits = (uint8_t)(found.length + found.symbol),
                                 .advance = (uint8_t)found.symbol};
}

static bool is_valid_ac(int symbol)
{
    return (symbol & 15 || symbol == ZEROS_16) && (symbol & 15) <= AC_BITS_MOST;
}

static struct gf_jpeg_step ac_step(const struct gf_jpeg_table *table, unsigned bits)
{
    struct gf_jpeg_step step = {0};
    while (step.bits < LOOK_BITS) {
        const int left = LOOK_BITS - step.bits;
        const struct match found = match(table, bits & ((1u << left) - 1), left);
        const int coefficients = (found.symbol >> 4) + 1;
        if (found.length && found.symbol == END_OF_BLOCK)
            return (struct gf_jpeg_step){(uint8_t)(step.bits + found.length),
                                         (uint8_t)(step.need + 1), BLOCK};
        if (!found.length || !is_valid_ac(found.symbol) || step.need + coefficients >= BLOCK)
            break;
        step.bits = (uint8_t)(step.bits + found.length + (found.symbol & 15));
        step.need = step.advance = (uint8_t)(step.need + coefficients);
    }
    if (!step.bits)
        step.need = BLOCK;
    return step;
}

bool gf_jpeg_table_make(struct gf_jpeg_table *table, const uint8_t *counts, const uint8_t *symbols,
                        bool is_dc)
{
    int32_t code = 0;
    int index = 0;
    for (int length = 1; length <= CODE_BITS_MOST; length++, code <<= 1) {
        table->first[length] = index - code;
        for (int i = 0; i < counts[length]; i++, code++, index++) {
            if (index == (int)sizeof table->symbol || code >= (1 << length) - 1 ||
                (is_dc && symbols[index] >= GF_JPEG_DC_SIZES))
                return false; /* a code must not consist only of ones */
            table->symbol[index] = symbols[index];
        }
        table->most[length] = counts[length] ? code - 1 : -1;
    }
    for (unsigned bits = 0; bits < 1 << LOOK_BITS; bits++)
        table->step[bits] = is_dc ? dc_step(table, bits) : ac_step(table, bits);
    return true;
}

/* Inlined functions keep the cursor in registers. */
#define INLINE static inline __attribute__((always_inline))

/* Returns the number that the `size` highest bits of `value` encode (F.2.2.1): a number below half
 * of their range is a negative value. There is no branch, because the sign is unpredictable. */
INLINE int32_t extend(uint64_t value, int size)
{
    const int32_t bits = (int32_t)((value >> 1) >> (63 - size));
    const int32_t is_negative = (int32_t)(value >> 63) - 1; /* -1 for a negative value */
    return bits + (is_negative & (1 - (1 << size)));
}

/* Takes the code and the bits of a DC difference. */
INLINE bool take_dc(const struct gf_jpeg_table *dc, struct gf_jpeg_cursor *next,
                    int32_t *difference)
{
    const struct gf_jpeg_step step = dc->step[next->value >> (64 - LOOK_BITS)];
    struct match found = {step.bits - step.advance, step.advance};
    if (!step.bits)
        found = match(dc, (unsigned)(next->value >> 48), CODE_BITS_MOST);
    *difference = extend(next->value << found.length, found.symbol);
    gf_jpeg_skip(next, found.length + found.symbol);
    return found.length;
}

/* Takes the code and the bits of one AC coefficient, or the end-of-block code. */
INLINE bool take_ac(const struct gf_jpeg_table *ac, struct gf_jpeg_cursor *next, int *k)
{
    const struct match found = match(ac, (unsigned)(next->value >> 48), CODE_BITS_MOST);
    gf_jpeg_skip(next, found.length + (found.symbol & 15));
    *k += found.symbol == END_OF_BLOCK ? BLOCK : (found.symbol >> 4) + 1;
    return found.length &&
           (found.symbol == END_OF_BLOCK || (is_valid_ac(found.symbol) && *k <= BLOCK));
}

/* Takes several symbols at once if their codes are short. */
INLINE bool take_step(const struct gf_jpeg_table *ac, struct gf_jpeg_cursor *next, int *k)
{
    const struct gf_jpeg_step step = ac->step[next->value >> (64 - LOOK_BITS)];
    if (*k + step.need > BLOCK)
        return take_ac(ac, next, k);
    gf_jpeg_skip(next, step.bits);
    *k += step.advance;
    return true;
}

/* Walks over the codes of a block of 64 coefficients and decodes only the first value. Returns the
 * result of gf_jpeg_walk(): 0, or how the block ends. Two steps or codes take at most 52 bits, so
 * that one refill suffices. */
INLINE int walk_block(struct gf_jpeg_cursor *next, const struct gf_jpeg_table *dc,
                      const struct gf_jpeg_table *ac, int32_t *difference)
{
    int k = 1;
    gf_jpeg_refill(next);
    if (!take_dc(dc, next, difference) || !take_step(ac, next, &k))
        return 0;
    while (k < BLOCK) {
        gf_jpeg_refill(next);
        if (!take_step(ac, next, &k))
            return 0;
        if (k < BLOCK && !take_step(ac, next, &k))
            return 0;
    }
    return k;
}

int gf_jpeg_walk(const struct gf_jpeg_unit *unit, struct gf_jpeg_bits *bits, int units, int32_t *dc)
{
    struct gf_jpeg_cursor next = bits->next;
    int end = 0;
    for (int i = 0; i < units; i++) {
        for (int b = 0; b < unit->blocks; b++) {
            int32_t difference;
            if (next.at >= bits->limit) {
                bits->next = next;
                if (!gf_jpeg_bits_advance(bits))
                    return 0;
                next = bits->next;
            }
            end = walk_block(&next, unit->block[b].dc, unit->block[b].ac, &difference);
            if (!end)
                return 0;
            dc[unit->block[b].component] += difference;
        }
    }
    bits->next = next;
    return end;
}

static bool put_dc(const struct gf_jpeg_dc_codes *codes, struct gf_jpeg_writer *writer,
                   int32_t difference)
{
    const uint32_t magnitude = (uint32_t)(difference < 0 ? -difference : difference);
    const int size = magnitude ? 32 - __builtin_clz(magnitude) : 0;
    if (size >= GF_JPEG_DC_SIZES || !codes->code[size].length)
        return false;
    const uint32_t value = (uint32_t)(difference < 0 ? difference - 1 : difference);
    gf_jpeg_writer_put(writer, codes->code[size].bits, codes->code[size].length);
    gf_jpeg_writer_put(writer, value & ((1u << size) - 1), size);
    return true;
}

/* Copies the codes and values of a block's AC coefficients. */
static bool copy_ac(const struct gf_jpeg_table *ac, struct gf_jpeg_cursor *next,
                    struct gf_jpeg_writer *writer)
{
    for (int k = 1; k < BLOCK;) {
        gf_jpeg_refill(next);
        const struct gf_jpeg_cursor before = *next;
        if (!take_ac(ac, next, &k))
            return false;
        const int length = before.count - next->count;
        gf_jpeg_writer_put(writer, (uint32_t)(before.value >> (64 - length)), length);
    }
    return true;
}

bool gf_jpeg_copy_unit(const struct gf_jpeg_unit *unit, struct gf_jpeg_bits *bits,
                       struct gf_jpeg_writer *writer, const int32_t *dc_in, const int32_t *dc_out)
{
    bool seen[GF_JPEG_COMPONENTS] = {false};
    for (int b = 0; b < unit->blocks; b++) {
        const int c = unit->block[b].component;
        int32_t difference;
        if (!gf_jpeg_bits_advance(bits))
            return false;
        gf_jpeg_refill(&bits->next);
        if (!take_dc(unit->block[b].dc, &bits->next, &difference) ||
            !put_dc(unit->codes[c], writer, difference + (seen[c] ? 0 : dc_in[c] - dc_out[c])) ||
            !copy_ac(unit->block[b].ac, &bits->next, writer))
            return false;
        seen[c] = true;
    }
    return true;
}
