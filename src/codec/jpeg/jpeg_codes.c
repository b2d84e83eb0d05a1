#include "codec/jpeg/jpeg_codes.h"

#include <setjmp.h>
#include <stdio.h> /* must precede jpeglib.h */
#include <jpeglib.h>
#include <string.h>

static void clear(struct gf_jpeg_bits *bits)
{
    bits->next = (struct gf_jpeg_cursor){.at = bits->buffer};
    bits->end = bits->limit = bits->buffer;
    bits->stuffed = bits->passed = 0;
    bits->ended = false;
}

void gf_jpeg_bits_open_memory(struct gf_jpeg_bits *bits, const unsigned char *data, size_t size)
{
    clear(bits);
    bits->input = NULL;
    bits->raw = data;
    bits->raw_end = data + size;
}

void gf_jpeg_bits_open(struct gf_jpeg_bits *bits, struct gf_input *input, int64_t bit, int64_t stop)
{
    clear(bits);
    bits->input = input;
    bits->offset = bits->begin = bit / 8;
    bits->stop = stop;
    bits->raw = bits->raw_end = bits->raw_buffer;
    if (bit % 8) {
        (void)gf_jpeg_bits_advance(bits);
        gf_jpeg_refill(&bits->next);
        gf_jpeg_skip(&bits->next, (int)(bit % 8));
    }
}

/* Returns the offset in the input of a byte in the buffer. Calls are fast if they ask for bytes in
 * ascending order. */
static int64_t offset_of(struct gf_jpeg_bits *bits, const unsigned char *at)
{
    const int index = (int)(at - bits->buffer);
    if (bits->passed && bits->stuffed_at[bits->passed - 1] >= index)
        bits->passed = 0;
    while (bits->passed < bits->stuffed && bits->stuffed_at[bits->passed] < index)
        bits->passed++;
    return bits->begin + index + bits->passed;
}

/* Reads until `least` raw bytes are available or the input ends. A read error counts as the end. */
static void read_raw(struct gf_jpeg_bits *bits, size_t least)
{
    const size_t kept = (size_t)(bits->raw_end - bits->raw);
    if (kept >= least || !bits->input || bits->offset == bits->stop)
        return;
    const int64_t rest = bits->stop - bits->offset;
    const size_t room = sizeof bits->raw_buffer - kept;
    size_t got;
    memmove(bits->raw_buffer, bits->raw, kept);
    if (gf_input_read_at(bits->input, bits->offset, bits->raw_buffer + kept,
                         rest < (int64_t)room ? (size_t)rest : room, &got, NULL))
        got = 0;
    bits->offset = got ? bits->offset + (int64_t)got : bits->stop;
    bits->raw = bits->raw_buffer;
    bits->raw_end = bits->raw_buffer + kept + got;
}

/* Moves the last bytes before `at` to the start of the buffer, so that new bytes can follow. */
static unsigned char *slide(struct gf_jpeg_bits *bits)
{
    const ptrdiff_t before = bits->next.at - bits->buffer;
    const ptrdiff_t gone = before > GF_JPEG_BEFORE_BYTES ? before - GF_JPEG_BEFORE_BYTES : 0;
    const ptrdiff_t kept = bits->end - bits->buffer - gone;
    int stuffed = 0;
    bits->begin = offset_of(bits, bits->buffer + gone);
    for (int i = 0; i < bits->stuffed; i++) {
        if (bits->stuffed_at[i] >= gone)
            bits->stuffed_at[stuffed++] = (uint16_t)(bits->stuffed_at[i] - gone);
    }
    bits->stuffed = stuffed;
    bits->passed = 0;
    memmove(bits->buffer, bits->buffer + gone, (size_t)kept);
    bits->next.at -= gone;
    return bits->buffer + kept;
}

/* Appends raw bytes to the data and leaves out the stuffed zeros. */
static unsigned char *unstuff(struct gf_jpeg_bits *bits, unsigned char *to,
                              const unsigned char *to_end)
{
    while (!bits->ended && to < to_end) {
        read_raw(bits, 2);
        const size_t there = (size_t)(bits->raw_end - bits->raw), room = (size_t)(to_end - to);
        const size_t most = there < room ? there : room;
        const unsigned char *const found = memchr(bits->raw, 0xff, most);
        const size_t run = found ? (size_t)(found - bits->raw) : most;
        memcpy(to, bits->raw, run);
        to += run;
        bits->raw += run;
        if (!there)
            bits->ended = true;
        if (!found)
            continue;
        read_raw(bits, 2);
        if (bits->raw_end - bits->raw < 2 || bits->raw[1]) {
            bits->ended = true;
            break;
        }
        bits->stuffed_at[bits->stuffed++] = (uint16_t)(to - bits->buffer);
        *to++ = 0xff;
        bits->raw += 2;
    }
    return to;
}

bool gf_jpeg_bits_advance(struct gf_jpeg_bits *bits)
{
    if (bits->next.at < bits->limit)
        return true;
    if (bits->ended)
        return gf_jpeg_bits_left(bits) >= 0;
    unsigned char *const from = slide(bits);
    unsigned char *const end =
        unstuff(bits, from, bits->buffer + GF_JPEG_BEFORE_BYTES + GF_JPEG_RAW_BYTES);
    memset(end, 0, 2 * GF_JPEG_BLOCK_BYTES);
    bits->end = end;
    bits->limit = bits->ended ? end : end - GF_JPEG_BLOCK_BYTES;
    return true;
}

int64_t gf_jpeg_bits_place(struct gf_jpeg_bits *bits)
{
    const int whole = (bits->next.count + 7) / 8;
    return 8 * offset_of(bits, bits->next.at - whole) + 8 * whole - bits->next.count;
}

bool gf_jpeg_bits_take_marker(struct gf_jpeg_bits *bits, int marker)
{
    if (!bits->ended && !gf_jpeg_bits_advance(bits))
        return false;
    const int left = gf_jpeg_bits_left(bits);
    read_raw(bits, 2);
    if (!bits->ended || left < 0 || left > 7 || bits->raw_end - bits->raw < 2 ||
        bits->raw[0] != 0xff || bits->raw[1] != marker)
        return false;
    bits->raw += 2;
    clear(bits);
    bits->begin = bits->offset - (bits->raw_end - bits->raw);
    return true;
}

void gf_jpeg_writer_put_stuffed(struct gf_jpeg_writer *writer, uint32_t word)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        const unsigned char byte = (unsigned char)(word >> shift);
        *writer->at++ = byte;
        if (byte == 0xff)
            *writer->at++ = 0;
    }
}

void gf_jpeg_writer_pad(struct gf_jpeg_writer *writer)
{
    const int fill = (8 - writer->count % 8) % 8;
    const uint64_t value = writer->value << fill | ((1u << fill) - 1);
    for (int left = writer->count + fill; left > 0; left -= 8) {
        const unsigned char byte = (unsigned char)(value >> (left - 8));
        *writer->at++ = byte;
        if (byte == 0xff)
            *writer->at++ = 0;
    }
    writer->count = 0;
}

bool gf_jpeg_bits_copy(struct gf_jpeg_bits *bits, struct gf_jpeg_writer *all_writer,
                       const unsigned char *full, int skip)
{
    enum { STEP = 32, WORD = 8 };
    struct gf_jpeg_writer writer = *all_writer; /* a local copy stays in registers */
    int left = 1;
    while (writer.at < full && left > 0) {
        (void)gf_jpeg_bits_advance(bits);
        const ptrdiff_t rest = bits->ended ? WORD : 0;
        for (; bits->limit - bits->next.at > rest && writer.at < full;
             gf_jpeg_skip(&bits->next, STEP)) {
            gf_jpeg_refill(&bits->next);
            gf_jpeg_writer_put(&writer, (uint32_t)(bits->next.value >> (64 - STEP)), STEP);
        }
        if (!bits->ended || bits->limit - bits->next.at > rest)
            continue;
        left = gf_jpeg_bits_left(bits) - (skip ? 8 - skip : 0);
        for (int some; left > 0; left -= some) {
            some = left < STEP ? left : STEP;
            gf_jpeg_refill(&bits->next);
            gf_jpeg_writer_put(&writer, (uint32_t)(bits->next.value >> (64 - some)), some);
            gf_jpeg_skip(&bits->next, some);
        }
    }
    *all_writer = writer;
    return left <= 0;
}

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

/* Copies the tables from libjpeg-turbo, so that they cannot differ. */

struct asked {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jmp_buf escape;
};

static void error_exit(j_common_ptr jpeg)
{
    longjmp(((struct asked *)jpeg->client_data)->escape, 1);
}

/* Makes the codes. Codes of one length are consecutive numbers; the first code of the next length
 * is twice the number that would follow. */
void gf_jpeg_codes_make(const uint8_t *counts, const uint8_t *symbols, int symbols_end,
                        struct gf_jpeg_code *codes)
{
    unsigned bits = 0;
    memset(codes, 0, (size_t)symbols_end * sizeof *codes);
    for (int length = 1; length <= 16; length++, bits <<= 1) {
        for (int i = 0; i < counts[length]; i++, bits++, symbols++) {
            if (*symbols < symbols_end)
                codes[*symbols] = (struct gf_jpeg_code){(uint16_t)bits, (uint8_t)length};
        }
    }
}

/* Returns the rarest tree but `other`; of several the last. */
static int rarest(const int64_t *numbers, int count, int other)
{
    int found = -1;
    for (int i = 0; i < count; i++) {
        if (i != other && (found < 0 || numbers[i] <= numbers[found]))
            found = i;
    }
    return found;
}

/* Joins the two rarest trees until one is left. Returns how far the first nodes are below its
 * top. */
static void join(int64_t *numbers, int count, int *length)
{
    int node[GF_JPEG_AC_SYMBOLS + 1], above[2 * GF_JPEG_AC_SYMBOLS + 1] = {0}, nodes = count;
    for (int i = 0; i < count; i++)
        node[i] = i;
    for (; count > 1; count--) {
        const int a = rarest(numbers, count, -1), b = rarest(numbers, count, a);
        numbers[a] += numbers[b];
        above[node[a]] = above[node[b]] = nodes;
        node[a] = nodes++;
        for (int i = b; i < count - 1; i++) {
            numbers[i] = numbers[i + 1];
            node[i] = node[i + 1];
        }
    }
    length[nodes - 1] = 0;
    for (int i = nodes - 2; i >= 0; i--)
        length[i] = length[above[i]] + 1;
}

bool gf_jpeg_codes_optimise(const uint32_t *numbers, int symbols, struct gf_jpeg_huffman *table)
{
    enum { SYMBOLS = GF_JPEG_AC_SYMBOLS + 1, LONGEST = GF_JPEG_LONGEST };
    int64_t all = 0, tree[SYMBOLS];
    int symbol[SYMBOLS], length[2 * SYMBOLS], counts[LONGEST + 1] = {0}, count = 0;
    for (int i = 0; i <= symbols; i++) {
        /* The last one takes the code of ones alone, which JPEG does not allow. */
        tree[count] = i < symbols ? numbers[i] : 1;
        symbol[count] = i;
        all += tree[count];
        count += tree[count] > 0;
    }
    if (all > GF_JPEG_SYMBOLS_MOST)
        return false;
    join(tree, count, length);
    for (int i = 0; i < count; i++) {
        if (length[i] > LONGEST)
            return false;
        counts[length[i]]++;
    }
    gf_jpeg_codes_shorten(counts);
    memset(table, 0, sizeof *table);
    for (int bits = 1, next = 0; bits <= LONGEST; bits++) {
        if (bits <= 16)
            table->counts[bits] = (unsigned char)counts[bits];
        for (int i = 0; i < count - 1; i++) {
            if (length[i] == bits)
                table->symbols[next++] = (unsigned char)symbol[i];
        }
    }
    return true;
}

static void make(struct asked *asked, int quality, struct gf_jpeg_tables *tables)
{
    struct jpeg_compress_struct *const jpeg = &asked->jpeg;
    jpeg_create_compress(jpeg);
    jpeg->image_width = jpeg->image_height = 1;
    jpeg->input_components = 3;
    jpeg->in_color_space = JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, quality, TRUE);
    for (int i = 0; i < 2; i++) {
        memcpy(tables->quantiser[i], jpeg->quant_tbl_ptrs[i]->quantval,
               sizeof tables->quantiser[i]);
        const JHUFF_TBL *const dc = jpeg->dc_huff_tbl_ptrs[i], *const ac =
                                                                   jpeg->ac_huff_tbl_ptrs[i];
        gf_jpeg_codes_make(dc->bits, dc->huffval, GF_JPEG_DC_SYMBOLS, tables->dc[i]);
        gf_jpeg_codes_make(ac->bits, ac->huffval, GF_JPEG_AC_SYMBOLS, tables->ac[i]);
    }
}

bool gf_jpeg_tables_make(int quality, struct gf_jpeg_tables *tables)
{
    struct asked asked;
    memset(&asked, 0, sizeof asked);
    memset(tables, 0, sizeof *tables);
    memcpy(tables->natural_order, gf_jpeg_natural_order, sizeof tables->natural_order);
    asked.jpeg.err = jpeg_std_error(&asked.errors);
    asked.jpeg.client_data = &asked;
    asked.errors.error_exit = error_exit;
    volatile bool made = false;
    if (!setjmp(asked.escape)) {
        make(&asked, quality, tables);
        made = true;
    }
    jpeg_destroy_compress(&asked.jpeg);
    return made;
}
