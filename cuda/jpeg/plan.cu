#include "cuda/jpeg/plan.cuh"

#include <string.h>

#include "cuda/common/coder.cuh"
#include "cuda/common/launch.cuh"
#include "cuda/jpeg/reconstruct.cuh"

enum { MARKER_BYTES = 2, BLOCK_BITS_LEAST = 2, CODE_MOST = 16 };
static constexpr size_t RAW_MOST = (1u << 29) - 4 * SLACK_WORDS; /* the most bytes of a scan, since
                                                                  * a number of bits has 32 bits */

static struct jpeg_codes describe_codes(const struct gf_jpeg_huffman *table, unsigned *beyond)
{
    struct jpeg_codes codes;
    int code = 0, index = 0, longer_first = -1, end = 0;
    memset(&codes, 0, sizeof codes);
    memcpy(codes.symbols, table->symbols, sizeof codes.symbols);
    for (int length = 1; length <= CODE_MOST; length++, code <<= 1) {
        const int count = table->counts[length];
        codes.first[length] = index - code;
        codes.most[length] = count ? code + count - 1 : -1;
        if (count && length > LOOK_BITS) {
            if (longer_first < 0)
                longer_first = code >> (length - LOOK_BITS);
            end = ((code + count - 1) >> (length - LOOK_BITS)) + 1;
        }
        code += count;
        index += count;
    }
    codes.beyond = *beyond;
    codes.beyond_first = longer_first < 0 ? 0 : (unsigned)longer_first;
    codes.beyond_more = longer_first < 0 ? 0 : (unsigned)(end - longer_first);
    *beyond += codes.beyond_more;
    return codes;
}

static bool same(const struct gf_jpeg_huffman *a, const struct gf_jpeg_huffman *b)
{
    return !memcmp(a, b, sizeof *a);
}

/* Finds the pairs of tables that the components use, and the pair of each component. Returns false
 * if there are too many. */
static bool describe_tables(const struct gf_jpeg_header *header, struct jpeg_stream *stream,
                            unsigned pair_of_component[3])
{
    const struct gf_jpeg_huffman *dc[PAIRS], *ac[PAIRS];
    const struct gf_jpeg_huffman none = {{0}, {0}};
    unsigned pairs = 0, beyond = 0;
    for (int c = 0; c < header->components; c++) {
        const struct gf_jpeg_huffman *const own_dc = &header->dc[header->component[c].dc];
        const struct gf_jpeg_huffman *const own_ac = &header->ac[header->component[c].ac];
        unsigned pair = 0;
        while (pair < pairs && !(same(own_dc, dc[pair]) && same(own_ac, ac[pair])))
            pair++;
        if (pair == PAIRS)
            return false;
        dc[pair] = own_dc;
        ac[pair] = own_ac;
        pairs = pair == pairs ? pairs + 1 : pairs;
        pair_of_component[c] = pair;
    }
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        stream->codes[2 * pair] = describe_codes(pair < pairs ? dc[pair] : &none, &beyond);
        stream->codes[2 * pair + 1] = describe_codes(pair < pairs ? ac[pair] : &none, &beyond);
    }
    stream->beyond = beyond * BEYOND;
    return stream->beyond <= BEYOND_MOST;
}

/* Returns the samples across a block of component c. libjpeg-turbo uses larger blocks for a
 * component that it would otherwise have to upsample (jdmaster.c). */
static int block_side(const struct jpeg_picture *picture, int c, int h_most, int v_most)
{
    const int least = 8 / picture->reduction;
    int side = least;
    while (side < 8 && h_most * least % (picture->h[c] * side * 2) == 0 &&
           v_most * least % (picture->v[c] * side * 2) == 0)
        side *= 2;
    return side;
}

static void describe_size(const struct gf_jpeg_decode_picture *from, struct jpeg_picture *picture)
{
    const struct gf_jpeg_header *const header = from->header;
    int h_most = 1, v_most = 1;
    memset(picture, 0, sizeof *picture);
    picture->width = header->width;
    picture->height = header->height;
    picture->components = header->components;
    picture->ycc = header->ycc;
    picture->reduction = from->reduction;
    for (int c = 0; c < header->components; c++) {
        picture->h[c] = header->component[c].h;
        picture->v[c] = header->component[c].v;
        h_most = picture->h[c] > h_most ? picture->h[c] : h_most;
        v_most = picture->v[c] > v_most ? picture->v[c] : v_most;
        picture->blocks_per_mcu += picture->h[c] * picture->v[c];
    }
    for (int c = 0; c < header->components; c++)
        picture->side[c] = block_side(picture, c, h_most, v_most);
    picture->mcus_across = (header->width + 8 * h_most - 1) / (8 * h_most);
    picture->mcus_down = (header->height + 8 * v_most - 1) / (8 * v_most);
    picture->blocks = (unsigned)picture->mcus_across * picture->mcus_down * picture->blocks_per_mcu;
    picture->out = from->out.data;
    picture->pitch = from->out.pitch;
}

static void describe_blocks(const struct jpeg_picture *picture, const unsigned pair_of_component[3],
                            struct jpeg_stream *stream)
{
    int block = 0;
    for (int c = 0; c < picture->components; c++) {
        for (int i = 0; i < picture->h[c] * picture->v[c]; i++, block++) {
            stream->pair_of_block |= pair_of_component[c] << block;
            stream->components_of_block |= (unsigned)c << 2 * block;
        }
    }
}

bool gf_jpeg_describe(const struct gf_jpeg_decode_picture *from, unsigned subsequence_bits,
                      struct jpeg_picture *picture, struct jpeg_stream *stream)
{
    const struct gf_jpeg_header *const header = from->header;
    unsigned pair_of_component[3] = {0, 0, 0};
    if (header->scan >= from->size || from->size - header->scan > RAW_MOST)
        return false;
    memset(stream, 0, sizeof *stream);
    describe_size(from, picture);
    if (!describe_tables(header, stream, pair_of_component))
        return false;
    describe_blocks(picture, pair_of_component, stream);
    stream->raw_bytes = (unsigned)(from->size - header->scan);
    stream->mcus = (unsigned)picture->mcus_across * (unsigned)picture->mcus_down;
    const bool whole = !header->restart_interval || header->restart_interval >= stream->mcus;
    stream->interval_mcus = whole ? stream->mcus : header->restart_interval;
    stream->intervals = blocks_for(stream->mcus, stream->interval_mcus);
    stream->tiles = blocks_for(stream->raw_bytes, UNSTUFF_TILE);
    stream->subsequence_bits = subsequence_bits;
    stream->overlap = OVERLAP_BITS / subsequence_bits;
    /* A picture whose scan is too short for its size is refused before it gets memory. */
    return (uint64_t)picture->blocks * BLOCK_BITS_LEAST <= 8ull * stream->raw_bytes &&
           (uint64_t)(stream->intervals - 1) * MARKER_BYTES < stream->raw_bytes;
}

struct jpeg_amounts gf_jpeg_picture_amounts(const struct jpeg_picture *picture,
                                            const struct jpeg_stream *stream)
{
    const uint64_t bits = 8ull * stream->raw_bytes;
    struct jpeg_amounts amounts;
    memset(&amounts, 0, sizeof amounts);
    amounts.pictures = 1;
    amounts.raw = aligned(stream->raw_bytes);
    amounts.words = stream->raw_bytes / 4 + SLACK_WORDS + 1;
    amounts.tiles = stream->tiles;
    amounts.intervals = stream->intervals + 1;
    amounts.subsequences = bits / stream->subsequence_bits + stream->intervals;
    amounts.sequences = amounts.subsequences / (SEQUENCE - stream->overlap) + 1;
    amounts.dc_tiles = blocks_for(stream->mcus, DC_TILE);
    amounts.blocks = picture->blocks;
    amounts.beyond = stream->beyond;
    amounts.scratch = aligned(gf_jpeg_reconstruct_bytes(picture));
    return amounts;
}

void gf_jpeg_amounts_add(struct jpeg_amounts *sum, const struct jpeg_amounts *other)
{
    sum->pictures += other->pictures;
    sum->raw += other->raw;
    sum->words += other->words;
    sum->tiles += other->tiles;
    sum->intervals += other->intervals;
    sum->subsequences += other->subsequences;
    sum->sequences += other->sequences;
    sum->dc_tiles += other->dc_tiles;
    sum->blocks += other->blocks;
    sum->beyond = sum->beyond > other->beyond ? sum->beyond : other->beyond;
    sum->scratch += other->scratch;
}

static void fill(unsigned *array, uint64_t first, uint64_t count, unsigned value)
{
    for (uint64_t i = 0; i < count; i++)
        array[first + i] = value;
}

void gf_jpeg_place(const struct jpeg_described *described, unsigned index,
                   const struct jpeg_amounts *before, const struct gf_jpeg_header *header)
{
    struct jpeg_picture *const picture = &described->pictures[index];
    struct jpeg_stream *const stream = &described->streams[index];
    const struct jpeg_amounts own = gf_jpeg_picture_amounts(picture, stream);
    picture->first_block = (unsigned)before->blocks;
    stream->raw = before->raw;
    stream->words = before->words;
    stream->first_tile = (unsigned)before->tiles;
    stream->first_interval = (unsigned)before->intervals;
    stream->first_subsequence = (unsigned)before->subsequences;
    stream->first_sequence = (unsigned)before->sequences;
    stream->sequences = (unsigned)own.sequences;
    stream->first_dc_tile = (unsigned)before->dc_tiles;
    fill(described->tile_picture, before->tiles, own.tiles, index);
    fill(described->sequence_picture, before->sequences, own.sequences, index);
    fill(described->dc_tile_picture, before->dc_tiles, own.dc_tiles, index);
    for (int c = 0; c < 3; c++)
        memcpy(described->quantisers + (size_t)(3 * index + c) * BLOCK_SIZE,
               header->quantiser[header->component[c].quantiser], BLOCK_SIZE * sizeof(uint16_t));
    described->flags[index] = described->ends[index] = 0;
}

struct jpeg_layout gf_jpeg_lay_out(unsigned char *memory, const struct jpeg_amounts *amounts)
{
    struct arena arena = {memory, 0};
    struct jpeg_layout layout;
    struct jpeg_described *const described = &layout.described;
    struct jpeg_group *const group = &layout.group;
    unsigned char *raw, *scratch;
    memset(&layout, 0, sizeof layout);
    take(&arena, described->pictures, amounts->pictures);
    take(&arena, described->streams, amounts->pictures);
    take(&arena, described->tile_picture, amounts->tiles);
    take(&arena, described->sequence_picture, amounts->sequences);
    take(&arena, described->dc_tile_picture, amounts->dc_tiles);
    take(&arena, described->quantisers, amounts->pictures * 3 * BLOCK_SIZE);
    take(&arena, described->flags, 2 * amounts->pictures);
    described->ends = described->flags + amounts->pictures;
    layout.described_bytes = arena.used;
    take(&arena, raw, amounts->raw);
    take(&arena, group->found, amounts->pictures);
    take(&arena, group->tile, amounts->tiles);
    take(&arena, group->words, amounts->words);
    take(&arena, group->interval_byte, amounts->intervals);
    take(&arena, group->interval_subsequence, amounts->intervals);
    take(&arena, group->tables, amounts->pictures);
    take(&arena, group->exits, amounts->subsequences);
    take(&arena, group->blocks, amounts->subsequences);
    take(&arena, group->sequence_entry, amounts->sequences);
    take(&arena, group->sequence_blocks, amounts->sequences);
    take(&arena, group->dc_sums, amounts->dc_tiles);
    take(&arena, group->coefficients, amounts->blocks * BLOCK_SIZE);
    take(&arena, group->dc, amounts->blocks);
    take(&arena, scratch, amounts->scratch);
    layout.bytes = arena.used;
    layout.scratch = scratch;
    group->raw = raw;
    group->pictures = described->pictures;
    group->streams = described->streams;
    group->tile_picture = described->tile_picture;
    group->sequence_picture = described->sequence_picture;
    group->dc_tile_picture = described->dc_tile_picture;
    group->flags = described->flags;
    group->ends = described->ends;
    group->count = (int)amounts->pictures;
    group->tiles = (unsigned)amounts->tiles;
    group->sequences = (unsigned)amounts->sequences;
    group->dc_tiles = (unsigned)amounts->dc_tiles;
    group->beyond = (unsigned)amounts->beyond;
    return layout;
}
