/* Box blur of 8-bit pictures without alpha, with a radius of 8 to GF_BOX_PREFIX_MAX, in one kernel.
 * A block moves down a strip of the picture; at each step each of its warps computes one row. All
 * threads of the block keep sums of columns in registers, two of 16 bits in a word, and pass one
 * row of these sums to each warp. The warp computes the prefix sums of its row in shared memory:
 * the sum of a window is the difference of two prefix sums. */
#pragma once

#include "cuda/filters/boxblur/boxblur_small.cuh"

enum {
    PREFIX_WARPS = 6,
    PREFIX_THREADS = PREFIX_WARPS * WARP,
    /* The samples of a tile's row, including the samples that only windows reach. */
    PREFIX_TILE = PREFIX_THREADS * STRIP_CHUNK,
    /* The chunks of a row that a lane processes: 96 samples, whole pixels of 1 or 3 channels. */
    PREFIX_CHUNKS = PREFIX_WARPS,
    PREFIX_PLANE = PREFIX_TILE / 4,
    PREFIX_AHEAD = 10, /* rows of a strip's first windows that are loaded at once */
    PREFIX_BLOCKS = 2, /* blocks that a multiprocessor's registers hold without spilling */
    /* The slots for the chunks of a row of column sums. An empty slot follows the chunks of each
     * lane, so that lanes read 7 chunks apart and access different banks. */
    PREFIX_SLOTS = 7 * WARP,
    PREFIX_LINES = 1024, /* the most rows of a strip */
    /* The rows that a block computes at a time if it has less shared memory, as on compute
     * capability 7.5. */
    PREFIX_FEW = 4
};

struct prefix_args {
    struct view_pair p;
    int radius;
    int lines;     /* rows of a strip */
    int samples;   /* samples of a row that a block computes, a multiple of 16 */
    unsigned half; /* n / 2, where n is the number of pixels of a window */
    unsigned
        multiplier; /* 2^40 / n, rounded up: bits 40 to 47 of its product with a sum are the mean */
};

/* The part of the picture that a block computes, and the position of its tile in the picture. */
struct prefix_tile {
    int left;  /* the tile's first sample in the row; may lie beyond the row */
    int first; /* the first sample that the block computes */
    int line, lines;
};

static __device__ __forceinline__ struct prefix_tile
find_prefix_tile(const struct prefix_args &args, int channels)
{
    const struct view_pair &p = args.p;
    const struct tile_origin origin = block_tile(p.width * channels, args.samples, args.lines);
    struct prefix_tile tile;
    tile.first = origin.x;
    tile.left = (origin.x - (args.radius + 1) * channels) & -STRIP_CHUNK;
    tile.line = origin.row;
    tile.lines = min(args.lines, p.rows - origin.row);
    return tile;
}

/* Lists the input rows, counted from the first row of the view, starting radius + 1 rows above the
 * strip. -1 means a row of zeros: rows beyond a zero border, the first row of the list, and rows
 * that are loaded ahead beyond the strip. */
static __device__ __forceinline__ void list_prefix_rows(const struct prefix_args &args,
                                                        const struct prefix_tile &tile, int *rows)
{
    const struct view_pair &p = args.p;
    const int top = p.out_y + tile.line - args.radius - 1, count = tile.lines + 2 * args.radius + 1;
    for (int i = threadIdx.x; i < count + 2 * PREFIX_WARPS; i += PREFIX_THREADS) {
        const int index = i && i < count ? gf_border_index(top + i, p.height, p.border) : -1;
        rows[i] = index < 0 ? -1 : index - p.in_y;
    }
}

/* Loads a chunk that is not entirely inside the row. Samples beyond the row are zero where
 * copy_columns() sets the column later. */
template <int CHANNELS>
static __device__ __noinline__ uint4 gather_chunk(const struct view_pair &p,
                                                  const unsigned char *row, int at)
{
    unsigned word[4] = {0, 0, 0, 0};
#pragma unroll 1
    for (int i = 0; i < STRIP_CHUNK; i++) {
        int from = at + i;
        if (from < 0 || from >= p.width * CHANNELS) {
            /* Adding whole rows makes the index positive. */
            const int row_samples = p.width * CHANNELS;
            from =
                p.border == GF_BORDER_WRAP ? (from % row_samples + row_samples) % row_samples : -1;
        }
        if (from >= 0)
            word[i / 4] |= (unsigned)row[from] << 8 * (i % 4);
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

template <int CHANNELS, int COUNT>
static __device__ __forceinline__ void load_chunks(const struct view_pair &p, const int *rows,
                                                   int at, bool inside, bool needed,
                                                   uint4 chunk[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        chunk[i] = make_uint4(0, 0, 0, 0);
    if (inside) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            if (rows[i] >= 0)
                chunk[i] = __ldg((const uint4 *)(p.in + rows[i] * (long long)p.in_pitch + at));
        }
    } else if (needed) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            if (rows[i] >= 0)
                chunk[i] = gather_chunk<CHANNELS>(p, p.in + rows[i] * (long long)p.in_pitch, at);
        }
    }
}

/* Returns the slot of a chunk in a row of column sums. Word w of chunk i has the sums of the
 * chunk's samples 4 w and 4 w + 2; word w of the chunk PREFIX_SLOTS later has the sums of samples 4
 * w + 1 and 4 w + 3. */
static __device__ __forceinline__ int prefix_slot(int chunk)
{
    return chunk + chunk / PREFIX_CHUNKS;
}

static __device__ __forceinline__ unsigned short *column_sum(unsigned *row, int sample)
{
    const int slot = prefix_slot(sample / STRIP_CHUNK) + sample % 2 * PREFIX_SLOTS;
    return (unsigned short *)((uint4 *)row + slot) + sample % STRIP_CHUNK / 4 * 2 + sample / 2 % 2;
}

/* Sets the sums of columns beyond the row, which equal sums of columns in the row. */
template <int CHANNELS, int ROWS>
static __device__ __forceinline__ void copy_columns(const struct prefix_args &args,
                                                    const struct prefix_tile &tile, unsigned *sums)
{
    const struct view_pair &p = args.p;
    const int row_samples = p.width * CHANNELS;
    const int before = max(0, -tile.left), end = row_samples - tile.left;
    const int behind = max(0, min((int)PREFIX_TILE - end, args.radius * CHANNELS));
    for (int i = threadIdx.x; i < before + behind; i += PREFIX_THREADS) {
        const int to = i < before ? i : i - before + end;
        /* PREFIX_TILE pixels more, so that the division rounds down left of the picture, too. */
        const int sample = tile.left + to + PREFIX_TILE * CHANNELS;
        const int pixel = sample / CHANNELS - PREFIX_TILE;
        const int index = gf_border_index(pixel, p.width, p.border);
        const int from = to + (index - pixel) * CHANNELS;
        const bool exists = index >= 0 && from >= 0 && from < PREFIX_TILE;
        for (int row = 0; row < ROWS; row++) {
            unsigned *const own = sums + row * PREFIX_TILE;
            *column_sum(own, to) = exists ? *column_sum(own, from) : 0;
        }
    }
}

/* Adds sample j of a chunk to a sum; the chunk's even samples are in word[0] and its odd ones in
 * word[1]. */
static __device__ __forceinline__ unsigned add_column(const unsigned word[2][4], int j,
                                                      unsigned sum)
{
    return __dp2a_lo(word[j % 2][j / 4], j / 2 % 2 ? 0x0100u : 0x0001u, sum);
}

/* Replaces the sums of columns by their prefix sums, with one warp. Each channel has its own prefix
 * sums. Prefix i is in word i / 4 of plane i % 4. */
template <int CHANNELS>
static __device__ __forceinline__ void make_prefixes(unsigned *row, int lane)
{
    const uint4 *const columns = (const uint4 *)row + (PREFIX_CHUNKS + 1) * lane;
    unsigned word[PREFIX_CHUNKS][2][4], sum[CHANNELS] = {};
#pragma unroll
    for (int k = 0; k < PREFIX_CHUNKS; k++) {
        unpack(columns[k], word[k][0]);
        unpack(columns[PREFIX_SLOTS + k], word[k][1]);
    }
#pragma unroll
    for (int i = 0; i < PREFIX_CHUNKS * STRIP_CHUNK; i++)
        sum[i % CHANNELS] = add_column(word[i / STRIP_CHUNK], i % STRIP_CHUNK, sum[i % CHANNELS]);
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        const unsigned own = sum[c];
#pragma unroll
        for (int distance = 1; distance < WARP; distance *= 2) {
            const unsigned before = __shfl_up_sync(0xFFFFFFFFu, sum[c], distance);
            sum[c] += lane >= distance ? before : 0;
        }
        sum[c] -= own;
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < PREFIX_CHUNKS; k++) {
        unsigned prefix[STRIP_CHUNK];
#pragma unroll
        for (int j = 0; j < STRIP_CHUNK; j++) {
            const int c = (k * STRIP_CHUNK + j) % CHANNELS;
            prefix[j] = sum[c] = add_column(word[k], j, sum[c]);
        }
#pragma unroll
        for (int plane = 0; plane < 4; plane++)
            ((uint4 *)(row + plane * PREFIX_PLANE))[PREFIX_CHUNKS * lane + k] =
                make_uint4(prefix[plane], prefix[4 + plane], prefix[8 + plane], prefix[12 + plane]);
    }
    __syncwarp();
}

/* Computes the means of four windows from prefix sums. high and low are the words of the windows'
 * ends. */
static __device__ __forceinline__ unsigned mean_of_four(const struct prefix_args &args,
                                                        const unsigned *const high[4],
                                                        const unsigned *const low[4], int at)
{
    unsigned v[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
        v[j] = __umulhi(high[j][at] - low[j][at] + args.half, args.multiplier);
    return __byte_perm(__byte_perm(v[0], v[1], 0x0051), __byte_perm(v[2], v[3], 0x0051), 0x5410);
}

/* Computes a row of the tile from its prefix sums, with one warp. */
template <int CHANNELS>
static __device__ __forceinline__ void make_means(const struct prefix_args &args,
                                                  const struct prefix_tile &tile,
                                                  const unsigned *row, int line, int lane)
{
    const int past = tile.first - tile.left + args.radius * CHANNELS;
    const int before = tile.first - tile.left - (args.radius + 1) * CHANNELS;
    const unsigned *high[4], *low[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        high[j] = row + (past + j) % 4 * PREFIX_PLANE + (past + j) / 4 + lane;
        low[j] = row + (before + j) % 4 * PREFIX_PLANE + (before + j) / 4 + lane;
    }
    const int samples = min(args.samples, args.p.width * CHANNELS - tile.first);
    unsigned char *const out =
        args.p.out + (long long)line * (long long)args.p.out_pitch + tile.first;
#pragma unroll 4
    for (int at = 0; at < samples / 4 - lane; at += WARP)
        ((unsigned *)out)[at + lane] = mean_of_four(args, high, low, at);
    if (lane == samples / 4 % WARP) {
        const unsigned mean = mean_of_four(args, high, low, samples / 4 - lane);
        for (int i = 0; i < samples % 4; i++)
            out[samples / 4 * 4 + i] = (unsigned char)(mean >> 8 * i);
    }
}

/* A block computes a strip, ROWS rows at a time, at most one for each warp. */
template <int CHANNELS, int ROWS>
__global__ void __launch_bounds__(PREFIX_THREADS, PREFIX_BLOCKS)
    box_prefix_kernel(const struct prefix_args args)
{
    extern __shared__ uint4 prefix_shared[];
    unsigned *const sums = (unsigned *)prefix_shared;
    int *const rows = (int *)(sums + ROWS * PREFIX_TILE);
    const struct view_pair &p = args.p;
    const struct prefix_tile tile = find_prefix_tile(args, CHANNELS);
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, window = 2 * args.radius + 1;
    const int at = tile.left + (int)threadIdx.x * STRIP_CHUNK, row_samples = p.width * CHANNELS;
    const bool inside = at >= 0 && at + STRIP_CHUNK <= row_samples;
    const bool copies = p.border != GF_BORDER_WRAP;
    const bool needed = !copies || (at + STRIP_CHUNK > 0 && at < row_samples);
    const bool is_edge = tile.left < 0 || tile.left + PREFIX_TILE > row_samples;
    uint4 *const chunk = (uint4 *)sums + prefix_slot(threadIdx.x);
    unsigned sum[4][2] = {};
    uint4 enter[ROWS], leave[ROWS];
    list_prefix_rows(args, tile, rows);
    __syncthreads();
    for (int i = 1; i < window; i += PREFIX_AHEAD) {
        uint4 first[PREFIX_AHEAD];
        load_chunks<CHANNELS, PREFIX_AHEAD>(p, rows + i, at, inside, needed, first);
#pragma unroll
        for (int k = 0; k < PREFIX_AHEAD; k++) {
            if (i + k < window)
                count_chunk<true>(first[k], sum);
        }
    }
    load_chunks<CHANNELS, ROWS>(p, rows, at, inside, needed, leave);
    load_chunks<CHANNELS, ROWS>(p, rows + window, at, inside, needed, enter);
#pragma unroll 1
    for (int base = 0; base < tile.lines; base += ROWS) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            count_chunk<false>(leave[i], sum);
            count_chunk<true>(enter[i], sum);
            uint4 *const to = chunk + i * (PREFIX_TILE / 4);
            to[0] = make_uint4(sum[0][0], sum[1][0], sum[2][0], sum[3][0]);
            to[PREFIX_SLOTS] = make_uint4(sum[0][1], sum[1][1], sum[2][1], sum[3][1]);
        }
        /* These loads for the next rows overlap with the work on the present ones. */
        const int *const next = rows + base + ROWS;
        load_chunks<CHANNELS, ROWS>(p, next, at, inside, needed, leave);
        load_chunks<CHANNELS, ROWS>(p, next + window, at, inside, needed, enter);
        __syncthreads();
        if (is_edge && copies) {
            copy_columns<CHANNELS, ROWS>(args, tile, sums);
            __syncthreads();
        }
        if ((ROWS == PREFIX_WARPS || warp < ROWS) && base + warp < tile.lines) {
            unsigned *const row = sums + warp * PREFIX_TILE;
            make_prefixes<CHANNELS>(row, lane);
            make_means<CHANNELS>(args, tile, row, tile.line + base + warp, lane);
        }
        __syncthreads();
    }
}

static int prefix_sums_bytes(int rows)
{
    return rows * PREFIX_TILE * (int)sizeof(unsigned);
}

static int prefix_table_bytes(int lines, int radius)
{
    return (lines + 2 * radius + 1 + 2 * PREFIX_WARPS) * (int)sizeof(int);
}

/* Chooses the height of a strip so that one wave of blocks covers the band, because each strip
 * computes its first column sums anew. */
template <int CHANNELS, int ROWS>
static int launch_prefix_as(const struct gf_launch *launch, const struct gf_box *box)
{
    const unsigned n = (unsigned)((2 * box->radius + 1) * (2 * box->radius + 1));
    struct prefix_args args = {};
    args.p = view_pair_of(launch, box->border);
    args.radius = box->radius;
    args.half = n / 2;
    args.multiplier = (unsigned)((1ull << 40) / n) + 1;
    const int row_samples = args.p.width * CHANNELS;
    args.samples = (PREFIX_TILE - (2 * box->radius + 1) * CHANNELS - STRIP_CHUNK) / 16 * 16;
    const int across = ceil_div(row_samples, args.samples);
    const int sums_bytes = prefix_sums_bytes(ROWS);
    unsigned resident = 0;
    LAUNCH_TRY(allow_shared(box_prefix_kernel<CHANNELS, ROWS>,
                            sums_bytes + prefix_table_bytes(PREFIX_LINES, GF_BOX_PREFIX_MAX)));
    LAUNCH_TRY(resident_blocks(box_prefix_kernel<CHANNELS, ROWS>, PREFIX_THREADS,
                               (size_t)sums_bytes + 2048, 1u << 30, &resident));
    const int strips = max(1, (int)resident / across);
    args.lines = min(max(ceil_div(args.p.rows, strips), 2 * PREFIX_WARPS), (int)PREFIX_LINES);
    const int table = prefix_table_bytes(args.lines, args.radius);
    const int blocks = tile_blocks(row_samples, args.p.rows, args.samples, args.lines);
    return launch_kernel(box_prefix_kernel<CHANNELS, ROWS>, blocks, PREFIX_THREADS,
                         sums_bytes + table, launch->stream, args);
}

template <int ROWS>
static int launch_prefix_rows(const struct gf_launch *launch, const struct gf_box *box)
{
    return launch->in.format.channels == 1 ? launch_prefix_as<1, ROWS>(launch, box)
                                           : launch_prefix_as<3, ROWS>(launch, box);
}

/* Launches the kernel for pictures and radii that gf_box_prefix() accepts. */
static int launch_prefix(const struct gf_launch *launch, const struct gf_box *box)
{
    int most = 0;
    LAUNCH_TRY(shared_most(&most));
    return most >= prefix_sums_bytes(PREFIX_WARPS) +
                       prefix_table_bytes(PREFIX_LINES, GF_BOX_PREFIX_MAX)
               ? launch_prefix_rows<PREFIX_WARPS>(launch, box)
               : launch_prefix_rows<PREFIX_FEW>(launch, box);
}
