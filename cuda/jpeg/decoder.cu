/* The decoder on the host: describes the pictures of a group for the kernels, lays out the
 * device's memory, and runs the steps. */
#include <string.h>

#include "cuda/common/coder.cuh"
#include "cuda/common/launch.cuh"
#include "cuda/jpeg/coders.h"
#include "cuda/jpeg/decode.cuh"

/* The numbers of elements that a picture or a group needs in each array. */
struct jpeg_amounts {
    uint64_t pictures, tables, raw, words, tiles, intervals, subsequences, sequences, dc_tiles,
        blocks;
    uint64_t scanned, scans; /* the pictures of several scans, and their scans */
    /* The entries of jpeg_tables.beyond of the picture with the most of them. */
    uint64_t beyond;
    uint64_t scratch;
};

/* The addresses of a group's arrays. Those of struct jpeg_described come first, in
 * `described_bytes` bytes. */
struct jpeg_layout {
    struct jpeg_group group;
    unsigned char *scratch;
    uint64_t described_bytes, bytes;
};

enum { MARKER_BYTES = 2, BLOCK_BITS_LEAST = 2, CODE_MOST = 16 };
static constexpr size_t RAW_MOST = (1u << 29) - 4 * SLACK_WORDS; /* the most bytes of a scan, since
                                                                  * a number of bits has 32 bits */

/* The limit of a picture's blocks times its scans. It bounds the time of a damaged picture, for
 * which the others of its group wait, to about a second. */
static constexpr uint64_t BLOCKS_TIMES_SCANS_MOST = 1u << 25;

static struct jpeg_codes describe_codes(const struct gf_jpeg_huffman *table, unsigned *beyond)
{
    struct jpeg_codes codes = {};
    int code = 0, index = 0, longer_first = -1, end = 0;
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
    picture->shown_width = ceil_div(header->width, from->reduction);
    picture->shown_height = ceil_div(header->height, from->reduction);
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

/* Describes a picture of several scans, which has no subsequences. Returns false if the GPU cannot
 * decode it, or if its scans have less than one bit for each block. */
static bool describe_several(const struct gf_jpeg_decode_picture *from,
                             struct jpeg_picture *picture, struct jpeg_stream *stream)
{
    const struct gf_jpeg_header *const header = from->header;
    memset(stream, 0, sizeof *stream);
    describe_size(from, picture);
    stream->scans = (unsigned)header->scans;
    stream->raw_bytes = (unsigned)(header->end - gf_jpeg_scans_begin(header));
    return header->end - gf_jpeg_scans_begin(header) <= RAW_MOST &&
           picture->blocks <= 8ull * stream->raw_bytes &&
           (uint64_t)picture->blocks * stream->scans <= BLOCKS_TIMES_SCANS_MOST &&
           gf_jpeg_describe_scans(header, picture, NULL);
}

/* Describes the bytes of a single scan. Returns false if they are too few for the picture, which
 * is then refused before it gets memory. */
static bool describe_bytes(const struct jpeg_picture *picture, unsigned bytes,
                           struct jpeg_stream *stream)
{
    stream->raw_bytes = bytes;
    stream->tiles = blocks_for(bytes, UNSTUFF_TILE);
    return (uint64_t)picture->blocks * BLOCK_BITS_LEAST <= 8ull * bytes &&
           (uint64_t)(stream->intervals - 1) * MARKER_BYTES < bytes;
}

/* Describes a single picture, with `subsequence_bits` bits in a subsequence. Returns false if the
 * GPU cannot decode the picture, or if its scan is too short for its size. */
static bool describe(const struct gf_jpeg_decode_picture *from, unsigned subsequence_bits,
                     struct jpeg_picture *picture, struct jpeg_stream *stream)
{
    const struct gf_jpeg_header *const header = from->header;
    if (header->scans)
        return describe_several(from, picture, stream);
    unsigned pair_of_component[3] = {0, 0, 0};
    if (header->scan >= from->size || from->size - header->scan > RAW_MOST)
        return false;
    memset(stream, 0, sizeof *stream);
    describe_size(from, picture);
    if (!describe_tables(header, stream, pair_of_component))
        return false;
    describe_blocks(picture, pair_of_component, stream);
    stream->mcus = (unsigned)picture->mcus_across * (unsigned)picture->mcus_down;
    const bool whole = !header->restart_interval || header->restart_interval >= stream->mcus;
    stream->interval_mcus = whole ? stream->mcus : header->restart_interval;
    stream->intervals = blocks_for(stream->mcus, stream->interval_mcus);
    stream->subsequence_bits = subsequence_bits;
    stream->overlap = OVERLAP_BITS / subsequence_bits;
    return describe_bytes(picture, (unsigned)(from->size - header->scan), stream);
}

/* Returns the numbers of elements that the picture needs. */
static struct jpeg_amounts amounts_of(const struct jpeg_picture *picture,
                                      const struct jpeg_stream *stream)
{
    const uint64_t bits = 8ull * stream->raw_bytes;
    struct jpeg_amounts amounts = {};
    amounts.pictures = 1;
    amounts.tables = !stream->shares_tables;
    amounts.raw = stream->is_tile ? 0 : aligned(stream->raw_bytes);
    amounts.blocks = picture->blocks;
    amounts.scratch = aligned(gf_jpeg_reconstruct_bytes(picture));
    amounts.scanned = stream->scans > 0;
    amounts.scans = stream->scans;
    if (stream->scans)
        return amounts;
    amounts.words = stream->raw_bytes / 4 + SLACK_WORDS + 1;
    amounts.tiles = stream->tiles;
    amounts.intervals = stream->intervals + 1;
    amounts.subsequences = bits / stream->subsequence_bits + stream->intervals;
    amounts.sequences = amounts.subsequences / (SEQUENCE - stream->overlap) + 1;
    amounts.dc_tiles = blocks_for(stream->mcus, DC_TILE);
    amounts.beyond = stream->beyond;
    return amounts;
}

static void add_amounts(struct jpeg_amounts *sum, const struct jpeg_amounts *other)
{
    sum->pictures += other->pictures;
    sum->tables += other->tables;
    sum->raw += other->raw;
    sum->words += other->words;
    sum->tiles += other->tiles;
    sum->intervals += other->intervals;
    sum->subsequences += other->subsequences;
    sum->sequences += other->sequences;
    sum->dc_tiles += other->dc_tiles;
    sum->blocks += other->blocks;
    sum->scanned += other->scanned;
    sum->scans += other->scans;
    sum->beyond = sum->beyond > other->beyond ? sum->beyond : other->beyond;
    sum->scratch += other->scratch;
}

static void fill(unsigned *array, uint64_t first, uint64_t count, unsigned value)
{
    for (uint64_t i = 0; i < count; i++)
        array[first + i] = value;
}

/* Changes the description of a single picture to the description of picture number `index` of a
 * group. The picture's elements follow the elements counted in `before`. */
static void place(const struct jpeg_described *described, unsigned index,
                  const struct jpeg_amounts *before, const struct gf_jpeg_header *header)
{
    struct jpeg_picture *const picture = &described->pictures[index];
    struct jpeg_stream *const stream = &described->streams[index];
    const struct jpeg_amounts own = amounts_of(picture, stream);
    picture->first_block = (unsigned)before->blocks;
    if (!stream->is_tile)
        stream->raw = before->raw;
    stream->tables = (unsigned)before->tables - stream->shares_tables;
    stream->words = before->words;
    stream->first_tile = (unsigned)before->tiles;
    stream->first_interval = (unsigned)before->intervals;
    stream->first_subsequence = (unsigned)before->subsequences;
    stream->first_sequence = (unsigned)before->sequences;
    stream->sequences = (unsigned)own.sequences;
    stream->first_dc_tile = (unsigned)before->dc_tiles;
    stream->first_scan = (unsigned)before->scans;
    if (stream->scans)
        (void)gf_jpeg_describe_scans(header, picture, described->scans + before->scans);
    for (unsigned i = 0; i < stream->scans; i++)
        described->scans[before->scans + i].picture = index;
    fill(described->progress, before->scans, own.scans + 1, 0);
    fill(described->tile_picture, before->tiles, own.tiles, index);
    fill(described->sequence_picture, before->sequences, own.sequences, index);
    fill(described->dc_tile_picture, before->dc_tiles, own.dc_tiles, index);
    for (int c = 0; c < 3; c++)
        memcpy(described->quantisers + (size_t)(3 * index + c) * BLOCK_SIZE, header->latched[c],
               BLOCK_SIZE * sizeof(uint16_t));
    described->flags[index] = described->ends[index] = 0;
}

/* Orders the scans: of as many pictures as there are multiprocessors first each one's first scan,
 * then each one's second, and so on; then of the next pictures. Thread blocks go to the
 * multiprocessors in turn, so that each gets one of the longest scans, which are often the last of
 * their pictures. */
static cudaError_t order_scans(const struct jpeg_described *described, unsigned pictures)
{
    int across = 1;
    const cudaError_t status = gf_cuda_number(cudaDevAttrMultiProcessorCount, &across);
    unsigned *next = described->scan_order;
    for (unsigned first = 0; first < pictures; first += (unsigned)across) {
        const unsigned end = min(pictures, first + (unsigned)across);
        for (unsigned number = 0; number < GF_JPEG_SCANS_MOST; number++) {
            for (unsigned i = first; i < end; i++) {
                if (number < described->streams[i].scans)
                    *next++ = described->streams[i].first_scan + number;
            }
        }
    }
    return status;
}

static struct jpeg_layout lay_out(unsigned char *memory, const struct jpeg_amounts *amounts)
{
    struct arena arena = {memory, 0};
    struct jpeg_layout layout = {};
    struct jpeg_group *const group = &layout.group;
    take(&arena, group->pictures, amounts->pictures);
    take(&arena, group->streams, amounts->pictures);
    take(&arena, group->scans, amounts->scans);
    take(&arena, group->scan_order, amounts->scans);
    take(&arena, group->progress, amounts->scans + 1);
    take(&arena, group->tile_picture, amounts->tiles);
    take(&arena, group->sequence_picture, amounts->sequences);
    take(&arena, group->dc_tile_picture, amounts->dc_tiles);
    take(&arena, group->quantisers, amounts->pictures * 3 * BLOCK_SIZE);
    take(&arena, group->flags, 2 * amounts->pictures);
    group->ends = group->flags + amounts->pictures;
    layout.described_bytes = arena.used;
    take(&arena, group->raw, amounts->raw);
    take(&arena, group->found, amounts->pictures);
    take(&arena, group->tile, amounts->tiles);
    take(&arena, group->words, amounts->words);
    take(&arena, group->interval_byte, amounts->intervals);
    take(&arena, group->interval_subsequence, amounts->intervals);
    take(&arena, group->tables, amounts->tables);
    take(&arena, group->exits, amounts->subsequences);
    take(&arena, group->blocks, amounts->subsequences);
    take(&arena, group->sequence_entry, amounts->sequences);
    take(&arena, group->sequence_blocks, amounts->sequences);
    take(&arena, group->dc_sums, amounts->dc_tiles);
    take(&arena, group->coefficients, amounts->blocks * BLOCK_SIZE);
    take(&arena, group->dc, amounts->blocks);
    take(&arena, layout.scratch, amounts->scratch);
    layout.bytes = arena.used;
    group->scanned = (int)amounts->scanned;
    group->scan_count = (unsigned)amounts->scans;
    group->count = (int)amounts->pictures;
    group->tiles = (unsigned)amounts->tiles;
    group->sequences = (unsigned)amounts->sequences;
    group->dc_tiles = (unsigned)amounts->dc_tiles;
    group->beyond = (unsigned)amounts->beyond;
    return layout;
}

/* Runs the steps of the JPEG decoder for groups of pictures. */

/* The limits at which the length of subsequences changes. Long subsequences need fewer passes and
 * less work; short ones keep the whole device busy with a few pictures. */
static constexpr uint64_t FEW_BITS = 100u << 20, MANY_BITS = 400u << 20;

struct gf_jpeg_decoder : coder {
    unsigned subsequence_bits; /* 0: the decoder chooses the number for each group */
};

extern "C" uint64_t gf_jpeg_decoder_bytes(const struct gf_jpeg_header *header, size_t size,
                                          int reduction)
{
    struct gf_jpeg_decode_picture from = {};
    struct jpeg_picture picture;
    struct jpeg_stream stream;
    from.header = header;
    from.size = size;
    from.reduction = reduction;
    if (!describe(&from, SUBSEQUENCE_LEAST, &picture, &stream))
        return 0;
    const struct jpeg_amounts amounts = amounts_of(&picture, &stream);
    return lay_out(NULL, &amounts).bytes;
}

/* Clears the coefficients and the DC values of the pictures of several scans. Pictures that follow
 * one another are cleared together. */
static cudaError_t clear_scanned(const struct jpeg_group *group,
                                 const struct jpeg_described *described, cudaStream_t stream)
{
    cudaError_t status = cudaSuccess;
    for (int i = 0; i < group->count && status == cudaSuccess; i++) {
        const size_t first = described->pictures[i].first_block;
        size_t blocks = 0;
        for (; i < group->count && described->streams[i].scans; i++)
            blocks += described->pictures[i].blocks;
        if (!blocks)
            continue;
        status = cudaMemsetAsync(group->coefficients + first * BLOCK_SIZE, 0,
                                 blocks * BLOCK_SIZE * sizeof(int16_t), stream);
        GF_THEN(status, cudaMemsetAsync(group->dc + first, 0, blocks * sizeof(int16_t), stream));
    }
    return status;
}

static enum gf_status launch(struct gf_jpeg_decoder *decoder, struct jpeg_layout *device,
                             const struct jpeg_described *described, struct gf_error *error)
{
    struct jpeg_group *const group = &device->group;
    cudaStream_t const stream = decoder->stream;
    const bool single = group->scanned < group->count;
    CODER_TRY(decoder, coder_mark(decoder, 1, stream));
    if (single) {
        CODER_TRY(decoder, gf_jpeg_unstuff(group, stream));
        CODER_TRY(decoder, gf_jpeg_prepare(group, stream));
    }
    CODER_TRY(decoder, coder_mark(decoder, 2, stream));
    if (single)
        CODER_TRY(decoder, gf_jpeg_synchronise(group, stream));
    CODER_TRY(decoder, coder_mark(decoder, 3, stream));
    if (single)
        CODER_TRY(decoder, gf_jpeg_decode_blocks(group, stream));
    if (group->scanned)
        CODER_TRY(decoder, clear_scanned(group, described, stream));
    CODER_TRY(decoder, gf_jpeg_decode_scans(group, stream));
    CODER_TRY(decoder, coder_mark(decoder, 4, stream));
    /* The device has few queues: if the next launch waited there for the scans, which take long, it
     * would block the work of other streams in its queue. */
    if (group->scanned)
        CODER_TRY(decoder, coder_wait(decoder));
    if (single)
        CODER_TRY(decoder, gf_jpeg_sum_dc(group, stream));
    CODER_TRY(decoder, coder_mark(decoder, 5, stream));
    CODER_TRY(decoder,
              gf_jpeg_reconstruct(described->pictures, group->count, group->coefficients, group->dc,
                                  device->group.quantisers, group->flags, device->scratch, stream));
    CODER_TRY(decoder, coder_mark(decoder, 6, stream));
    return GF_OK;
}

/* A picture of a group, and the picture in the caller's list, of which it may be a tile. */
struct member {
    struct gf_jpeg_decode_picture *picture;
    const struct gf_jpeg_header *header;
    const unsigned char *data; /* the JPEG */
    struct jpeg_picture about;
    struct jpeg_stream stream;
};

/* Returns the offset of the first byte that is copied to the device. */
static size_t raw_begin(const struct gf_jpeg_header *header)
{
    return header->scans ? gf_jpeg_scans_begin(header) : header->scan;
}

/* Decodes a group. tiles: NULL, or the bytes with the scans of all members, which are tiles. */
static enum gf_status run_group(struct gf_jpeg_decoder *decoder, const struct member *members,
                                const struct jpeg_amounts *amounts, const unsigned char *tiles,
                                struct gf_error *error)
{
    struct jpeg_layout host = lay_out(NULL, amounts);
    const unsigned count = (unsigned)amounts->pictures;
    GF_TRY(coder_reserve(decoder, host.bytes, (int)count, error));
    GF_TRY(coder_reserve_pinned(decoder, host.described_bytes, 0, (int)count, error));
    host = lay_out(decoder->pinned, amounts);
    struct jpeg_layout device = lay_out(decoder->memory, amounts);
    struct jpeg_amounts before = {};
    struct coder_copies copies;
    copies.count = 0;
    CODER_TRY(decoder, coder_mark(decoder, 0, decoder->stream));
    if (tiles)
        CODER_TRY(decoder, coder_copy(decoder, &copies, device.group.raw, tiles, amounts->raw));
    for (unsigned i = 0; i < count; i++) {
        const struct member *const member = &members[i];
        const struct jpeg_amounts own = amounts_of(&member->about, &member->stream);
        if (!tiles)
            CODER_TRY(decoder, coder_copy(decoder, &copies, device.group.raw + before.raw,
                                          member->data + raw_begin(member->header),
                                          member->stream.raw_bytes));
        host.group.pictures[i] = member->about;
        host.group.streams[i] = member->stream;
        place(&host.group, i, &before, member->header);
        add_amounts(&before, &own);
    }
    if (amounts->scans)
        CODER_TRY(decoder, order_scans(&host.group, count));
    CODER_TRY(decoder,
              coder_copy(decoder, &copies, decoder->memory, decoder->pinned, host.described_bytes));
    CODER_TRY(decoder, coder_queue_copies(decoder, &copies));
    GF_TRY(launch(decoder, &device, &host.group, error));
    CODER_TRY(decoder, cudaMemcpyAsync(host.group.flags, device.group.flags,
                                       2 * count * sizeof *host.group.flags, cudaMemcpyDeviceToHost,
                                       decoder->stream));
    CODER_TRY(decoder, coder_wait(decoder));
    for (unsigned i = 0; i < count; i++) {
        struct gf_jpeg_decode_picture *const picture = members[i].picture;
        const struct gf_jpeg_header *const header = members[i].header;
        picture->decoded &= !host.group.flags[i];
        picture->end = header->scans ? header->end : header->scan + host.group.ends[i];
    }
    return coder_add_times(decoder, error);
}

static bool fits(const struct gf_jpeg_decode_picture *picture)
{
    const struct gf_format format = picture->out.format;
    return format.width == ceil_div(picture->header->width, picture->reduction) &&
           format.height == ceil_div(picture->header->height, picture->reduction) &&
           format.channels == picture->header->components && format.bits == 8 &&
           picture->out.y == 0 && picture->out.rows == format.height;
}

static unsigned choose_subsequence(const struct gf_jpeg_decoder *decoder,
                                   const struct gf_jpeg_decode_picture *pictures, int count)
{
    if (decoder->subsequence_bits)
        return decoder->subsequence_bits;
    uint64_t bits = 0;
    for (int i = 0; i < count; i++)
        bits += 8ull * pictures[i].size;
    return bits < FEW_BITS    ? SUBSEQUENCE_LEAST
           : bits < MANY_BITS ? 2 * SUBSEQUENCE_LEAST
                              : SUBSEQUENCE_MOST;
}

static enum gf_status run_groups(struct gf_jpeg_decoder *decoder, struct member *members,
                                 struct gf_jpeg_decode_picture *pictures, int count,
                                 struct gf_error *error)
{
    const unsigned bits = choose_subsequence(decoder, pictures, count);
    enum gf_status status = GF_OK;
    struct jpeg_amounts sum = {};
    for (int i = 0; i < count && !status; i++) {
        struct member *member = &members[sum.pictures];
        pictures[i].decoded = false;
        if (pictures[i].tiles || !fits(&pictures[i]) ||
            !describe(&pictures[i], bits, &member->about, &member->stream))
            continue;
        const struct jpeg_amounts own = amounts_of(&member->about, &member->stream);
        struct jpeg_amounts with = sum;
        add_amounts(&with, &own);
        if (lay_out(NULL, &own).bytes > decoder->memory_most)
            continue;
        if (lay_out(NULL, &with).bytes > decoder->memory_most) {
            status = run_group(decoder, members, &sum, NULL, error);
            members[0] = *member;
            member = &members[0];
            with = own;
        }
        member->picture = &pictures[i];
        member->header = pictures[i].header;
        member->data = pictures[i].data;
        pictures[i].decoded = true; /* unless the device finds damage */
        sum = with;
    }
    if (sum.pictures && !status)
        status = run_group(decoder, members, &sum, NULL, error);
    return status;
}

/* Pictures that are tiles of a TIFF. A group has tiles in their order, whose bytes are copied with
 * all that lies between them. Most tiles begin with the same bytes, up to their scans: what was
 * described for one holds for the next. */

enum { TILES_MOST = 4096 }; /* of a group */

static bool suits(const struct gf_tiff_coded *coded, const struct gf_jpeg_header *header)
{
    bool good = header->width == coded->tile_width && header->height == coded->tile_height &&
                header->components == coded->channels && !header->scans;
    for (int c = 0; c < header->components; c++)
        good &= header->component[c].h == (c ? 1 : coded->h) &&
                header->component[c].v == (c ? 1 : coded->v);
    return good;
}

/* Describes a tile. last: the tile before it in the group, or NULL. The tile may need *header,
 * which it then refers to. Returns false if the CPU must decode the picture. */
static bool describe_tile(const struct gf_jpeg_decode_picture *from, int tile,
                          const struct member *last, struct gf_jpeg_header *header,
                          struct member *member)
{
    const struct gf_tiff_coded *const coded = from->tiles;
    struct jpeg_picture *const about = &member->about;
    struct gf_jpeg_decode_picture alone;
    size_t offset, size;
    if (!gf_tiff_coded_tile(coded, from->data, from->size, tile, &offset, &size))
        return false;
    const unsigned char *const data = from->data + offset;
    if (last && size > last->header->scan && !memcmp(data, last->data, last->header->scan)) {
        *member = *last;
        member->stream.shares_tables = true;
    } else {
        memset(&alone, 0, sizeof alone);
        alone.header = member->header = header;
        alone.size = size;
        alone.reduction = 1;
        if (!gf_jpeg_header_read_tile(from->data + coded->tables, (size_t)coded->tables_bytes, data,
                                      size, header) ||
            !suits(coded, header))
            return false;
        header->ycc = coded->ycc;
        if (!describe(&alone, SUBSEQUENCE_LEAST, about, &member->stream))
            return false;
    }
    const int x = tile % coded->columns * coded->tile_width,
              y = tile / coded->columns * coded->tile_height;
    const size_t scan = offset + member->header->scan;
    member->data = data;
    about->out = from->out.data + (size_t)y * from->out.pitch + (size_t)x * coded->channels;
    about->pitch = from->out.pitch;
    about->shown_width = min(coded->tile_width, coded->width - x);
    about->shown_height = min(coded->tile_height, coded->height - y);
    member->stream.is_tile = true;
    member->stream.skipped = scan % VECTOR;
    member->stream.raw = scan - scan % VECTOR;
    size -= member->header->scan;
    return size < RAW_MOST &&
           describe_bytes(about, (unsigned)(size + scan % VECTOR), &member->stream);
}

extern "C" uint64_t gf_jpeg_tiles_bytes(const struct gf_jpeg_decode_picture *picture)
{
    static constexpr uint64_t ENOUGH = 256u << 20;
    struct gf_jpeg_header header;
    struct member member;
    if (!describe_tile(picture, 0, NULL, &header, &member))
        return 0;
    const struct jpeg_amounts own = amounts_of(&member.about, &member.stream);
    const uint64_t tiles = (uint64_t)picture->tiles->columns * picture->tiles->rows,
                   least = lay_out(NULL, &own).bytes + aligned(member.stream.raw_bytes),
                   all = tiles * least;
    return all < ENOUGH ? all : least > ENOUGH ? least : ENOUGH;
}

/* Takes tiles from number *next on into a group, as many as memory allows, with the bytes from
 * *begin on. Returns false if the CPU must decode the picture. */
static bool take_tiles(const struct gf_jpeg_decoder *decoder,
                       struct gf_jpeg_decode_picture *picture, int most, int *next,
                       struct member *members, struct gf_jpeg_header *headers,
                       struct jpeg_amounts *sum, uint64_t *begin)
{
    uint64_t end = 0;
    *begin = UINT64_MAX;
    memset(sum, 0, sizeof *sum);
    for (; sum->pictures < TILES_MOST && *next < most; ++*next) {
        struct member *const member = &members[sum->pictures];
        const uint64_t count = sum->pictures;
        if (!describe_tile(picture, *next, count ? member - 1 : NULL, &headers[sum->tables],
                           member))
            return false;
        const struct jpeg_stream *const stream = &member->stream;
        const struct jpeg_amounts own = amounts_of(&member->about, stream);
        const uint64_t low = stream->raw < *begin ? stream->raw : *begin,
                       own_end = stream->raw + stream->raw_bytes,
                       high = own_end > end ? own_end : end;
        struct jpeg_amounts with = *sum;
        add_amounts(&with, &own);
        with.raw = high - low;
        if (lay_out(NULL, &with).bytes > decoder->memory_most)
            break;
        member->picture = picture;
        *sum = with;
        *begin = low;
        end = high;
    }
    for (uint64_t i = 0; i < sum->pictures; i++)
        members[i].stream.raw -= *begin;
    return sum->pictures > 0;
}

static enum gf_status run_tiles(struct gf_jpeg_decoder *decoder,
                                struct gf_jpeg_decode_picture *picture, struct gf_error *error)
{
    const struct gf_tiff_coded *const coded = picture->tiles;
    const struct gf_format format = picture->out.format;
    const int count = coded->columns * coded->rows, most = min(count, TILES_MOST);
    struct member *const members = (struct member *)malloc(most * sizeof *members);
    struct gf_jpeg_header *const headers = (struct gf_jpeg_header *)malloc(most * sizeof *headers);
    enum gf_status status = members && headers ? GF_OK : gf_fail_memory(error);
    struct jpeg_amounts sum;
    uint64_t begin;
    picture->decoded = format.width == coded->width && format.height == coded->height &&
                       format.channels == coded->channels && format.bits == 8 && !picture->out.y &&
                       picture->out.rows == format.height;
    for (int next = 0; !status && picture->decoded && next < count;) {
        if (take_tiles(decoder, picture, count, &next, members, headers, &sum, &begin))
            status = run_group(decoder, members, &sum, picture->data + begin, error);
        else
            picture->decoded = false;
    }
    free(members);
    free(headers);
    return status;
}

extern "C" enum gf_status gf_jpeg_decoder_run(struct gf_jpeg_decoder *decoder,
                                              struct gf_jpeg_decode_picture *pictures, int count,
                                              struct gf_error *error)
{
    struct member *const members =
        (struct member *)malloc((size_t)(count ? count : 1) * sizeof *members);
    GF_ALLOCATED(members, error);
    coder_begin_times(decoder);
    enum gf_status status = run_groups(decoder, members, pictures, count, error);
    for (int i = 0; i < count && !status; i++)
        status = pictures[i].tiles ? run_tiles(decoder, &pictures[i], error) : GF_OK;
    if (status) /* after the return the caller may free the files that the device still reads */
        (void)cudaStreamSynchronize(decoder->stream);
    free(members);
    return status;
}

extern "C" void gf_jpeg_decoder_cut(struct gf_jpeg_decoder *decoder, unsigned subsequence_bits)
{
    decoder->subsequence_bits = subsequence_bits;
}

DEFINE_CODER(jpeg_decode, prepare_nothing, clear_nothing)
