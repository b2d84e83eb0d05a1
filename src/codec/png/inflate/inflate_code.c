#include "codec/png/inflate/inflate_code.h"

#include "codec/png/inflate/huffman.h"

enum {
    LENGTHS = 19,
    STORED_HEAD = 4,
    END = GF_INFLATE_BLOCK_END,
    LITERALS = GF_INFLATE_LITERALS,
    DISTANCES = GF_INFLATE_DISTANCES,
    LONGEST = GF_INFLATE_LONGEST,
    TABLE_BITS = GF_INFLATE_TABLE_BITS,
    TABLE_MASK = GF_INFLATE_TABLE_MASK
};

/* The table of lengths in RFC 1951, section 3.2.5. */
const struct gf_inflate_range gf_inflate_lengths[LITERALS - GF_INFLATE_FIRST_LENGTH] = {
    {3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
    {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
    {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}};
const struct gf_inflate_range gf_inflate_distances[DISTANCES] = {
    {1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
    {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
    {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
    {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
    {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}};

/* Makes the codes with these lengths. Returns false if they are no complete Huffman code. single: a
 * single code of one bit is valid, too. */
static bool make_codes(struct gf_inflate_codes *codes, const uint8_t *lengths, int symbols,
                       bool single)
{
    int left = 1, used = 0, next[LONGEST + 2] = {0};
    memset(codes->of_length, 0, sizeof codes->of_length);
    for (int s = 0; s < symbols; s++)
        codes->of_length[lengths[s]]++;
    codes->of_length[0] = 0;
    for (int length = 1; length <= LONGEST; length++) {
        left = 2 * left - codes->of_length[length];
        if (left < 0)
            return false;
        used += codes->of_length[length];
        next[length + 1] = used;
    }
    for (int s = 0; s < symbols; s++)
        if (lengths[s])
            codes->symbol[next[lengths[s]]++] = (uint16_t)s;
    return !left || (single && used == 1 && codes->of_length[1] == 1);
}

int gf_inflate_take_symbol(struct gf_inflate_reader *reader, const struct gf_inflate_codes *codes)
{
    int code = 0, first = 0, index = 0;
    for (unsigned length = 1; length <= LONGEST; length++) {
        const int count = codes->of_length[length];
        code |= (int)(reader->bits >> (length - 1) & 1);
        if (code - count < first) {
            gf_inflate_take(reader, length);
            return codes->symbol[index + code - first];
        }
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return -1;
}

static void fill_literals(struct gf_inflate_decoder *decoder, const uint8_t lengths[LITERALS])
{
    uint16_t codes[LITERALS];
    uint32_t *const entry = decoder->entry;
    gf_huffman_codes(lengths, LITERALS, codes);
    memset(entry, 0, sizeof decoder->entry);
    for (uint32_t s = 0; s < LITERALS; s++) {
        const uint32_t one = lengths[s] | (s < END ? 1u << 8 : 0) | s << 16;
        if (lengths[s] && lengths[s] <= TABLE_BITS)
            for (uint32_t i = codes[s]; i <= TABLE_MASK; i += 1u << lengths[s])
                entry[i] = one;
    }
    /* The loop goes down, because an entry looks up a smaller index, which must still contain a
     * single literal. */
    for (uint32_t i = TABLE_MASK; i; i--) {
        const uint32_t one = entry[i], length = one & 255;
        const uint32_t two = length ? entry[i >> length] : 0;
        if ((one >> 8 & 255) == 1 && (two >> 8 & 255) == 1 && length + (two & 255) <= TABLE_BITS)
            entry[i] = (length + (two & 255)) | 2u << 8 | (one >> 16 & 255) << 16 |
                       (two >> 16 & 255) << 24;
    }
}

static void fill_distances(struct gf_inflate_decoder *decoder, const uint8_t *lengths, int symbols)
{
    uint16_t codes[DISTANCES];
    gf_huffman_codes(lengths, symbols, codes);
    memset(decoder->distance, 0, sizeof decoder->distance);
    for (int s = 0; s < symbols; s++)
        if (lengths[s] && lengths[s] <= GF_INFLATE_DISTANCE_BITS)
            for (uint32_t i = codes[s]; i <= GF_INFLATE_DISTANCE_MASK; i += 1u << lengths[s])
                decoder->distance[i] = (uint16_t)(lengths[s] | s << 8);
}

/* Reads `count` code lengths. The lengths of both codes are one sequence. */
static bool read_lengths(struct gf_inflate_reader *reader, uint8_t *lengths, int count, int written)
{
    static const uint8_t order[LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t of_lengths[LENGTHS] = {0};
    struct gf_inflate_codes codes;
    for (int i = 0; i < written; i++) {
        gf_inflate_refill(reader);
        of_lengths[order[i]] = (uint8_t)gf_inflate_take(reader, 3);
    }
    if (!make_codes(&codes, of_lengths, LENGTHS, false))
        return false;
    for (int i = 0; i < count;) {
        gf_inflate_refill(reader);
        const int symbol = gf_inflate_take_symbol(reader, &codes);
        if (symbol < 0 || (symbol == 16 && !i))
            return false;
        const uint8_t length = (uint8_t)(symbol < 16 ? symbol : symbol == 16 ? lengths[i - 1] : 0);
        const int run = symbol < 16    ? 1
                        : symbol == 16 ? 3 + (int)gf_inflate_take(reader, 2)
                        : symbol == 17 ? 3 + (int)gf_inflate_take(reader, 3)
                                       : 11 + (int)gf_inflate_take(reader, 7);
        if (run > count - i)
            return false;
        memset(lengths + i, length, (size_t)run);
        i += run;
    }
    return true;
}

bool gf_inflate_read_head(struct gf_inflate_reader *reader, struct gf_inflate_decoder *decoder)
{
    uint8_t lengths[LITERALS + DISTANCES] = {0}, all[LITERALS] = {0};
    gf_inflate_refill(reader);
    const int literals = (int)gf_inflate_take(reader, 5) + GF_INFLATE_FIRST_LENGTH;
    const int distances = (int)gf_inflate_take(reader, 5) + 1;
    const int written = (int)gf_inflate_take(reader, 4) + 4;
    if (literals > LITERALS || distances > DISTANCES ||
        !read_lengths(reader, lengths, literals + distances, written))
        return false;
    memcpy(all, lengths, (size_t)literals);
    if (!all[END] || !make_codes(&decoder->literals, all, LITERALS, false) ||
        !make_codes(&decoder->distances, lengths + literals, distances, true))
        return false;
    fill_literals(decoder, all);
    fill_distances(decoder, lengths + literals, distances);
    return true;
}

const uint8_t *gf_inflate_stored(struct gf_inflate_reader *reader, size_t *length)
{
    gf_inflate_take(reader, reader->count & 7);
    const size_t at = (size_t)(gf_inflate_place(reader) / 8);
    if (at > reader->size || reader->size - at < STORED_HEAD)
        return NULL;
    const uint8_t *const head = reader->data + at;
    *length = (size_t)head[0] | (size_t)head[1] << 8;
    if (((size_t)head[2] | (size_t)head[3] << 8) != (*length ^ 0xffff) ||
        *length > reader->size - at - STORED_HEAD)
        return NULL;
    reader->at = at + STORED_HEAD + *length;
    reader->bits = 0;
    reader->count = 0;
    return head + STORED_HEAD;
}
