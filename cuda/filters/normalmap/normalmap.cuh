/* Normals of 8-bit RGB pictures. A lane owns 8 pixels of a row, a warp 256, and both move down a
 * strip of rows. The bytes of a row pass through the warp's shared memory: the picture is accessed
 * 16 bytes at a time, and each lane gets its 24 bytes as six words. The kernel does not use
 * walk.cuh, whose lanes own 16 bytes, which are not whole pixels. */
#pragma once

#include "cuda/common/square_root.cuh"
#include "cuda/common/stencil.cuh"
#include "filters/normalmap/normalmap.h"
#include "stage/border.h"

enum {
    RGB8_LANES = 32,
    RGB8_WARPS = 4, /* warps of a block, one above the other */
    RGB8_THREADS = RGB8_LANES * RGB8_WARPS,
    RGB8_ROWS = 32,      /* the most rows of results of a warp */
    RGB8_ROWS_LEAST = 4, /* the fewest rows of results of a warp */
    RGB8_BLOCKS = 5,     /* blocks that a multiprocessor's registers hold without spilling */
    RGB8_STRETCH = 8,    /* pixels of a lane */
    RGB8_PIXELS = RGB8_STRETCH * RGB8_LANES, /* pixels of a warp */
    /* A warp has 48 chunks: one for each lane, and a second one for the first 16 lanes. */
    RGB8_CHUNKS = RGB8_PIXELS * 3 / 16,
};

struct rgb8_args {
    struct view_pair p;
    float slope;
    int rows; /* rows of results of a warp */
};

/* The loads of a lane that are in flight: its chunks of the warp's bytes, and the pixels beyond the
 * ends of the row or of the warp's columns. */
struct rgb8_fetch {
    uint4 chunk[2];
    unsigned left, right; /* bytes R, G and B of a pixel, from the lowest byte on */
};

/* The place of a lane's pixels in the strip. */
struct rgb8_span {
    const long long *row; /* the offsets of the strip's rows in the input; -1: zeros */
    int lane, first;      /* `first` is the lane's first pixel */
    int own;              /* the number of the lane's pixels that exist */
    /* The neighbours of the lane's pixels that no neighbouring lane has; -1: the pixel is zero; -2:
     * a neighbouring lane has the pixel. */
    int left, right;
};

static __device__ __forceinline__ unsigned rgb8_pixel(const unsigned char *row, int pixel)
{
    const unsigned char *const from = row + 3 * pixel;
    return pixel < 0 ? 0u : from[0] | (unsigned)from[1] << 8 | (unsigned)from[2] << 16;
}

/* Loads a row's last chunk. The function is not inlined, so that the loop over rows fits in the
 * instruction cache. */
static __device__ __noinline__ uint4 rgb8_last_chunk(const unsigned char *row, int at,
                                                     int row_bytes)
{
    unsigned word[4] = {0, 0, 0, 0};
#pragma unroll 1
    for (int i = 0; i < 16 && at + i < row_bytes; i++) {
        const unsigned byte = (unsigned)row[at + i] << 8 * (i % 4);
#pragma unroll
        for (int w = 0; w < 4; w++)
            word[w] |= i / 4 == w ? byte : 0;
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

static __device__ __forceinline__ uint4 rgb8_chunk(const unsigned char *row, int at, int row_bytes)
{
    return at + 16 <= row_bytes ? __ldg((const uint4 *)(row + at))
                                : rgb8_last_chunk(row, at, row_bytes);
}

static __device__ __forceinline__ void
rgb8_load(const struct view_pair &p, const struct rgb8_span &span, int i, struct rgb8_fetch *fetch)
{
    const long long offset = span.row[i];
    fetch->chunk[0] = fetch->chunk[1] = make_uint4(0, 0, 0, 0);
    fetch->left = fetch->right = 0;
    if (offset < 0)
        return;
    const unsigned char *const row = p.in + offset;
    const int start = 3 * (span.first - RGB8_STRETCH * span.lane), row_bytes = 3 * p.width;
    fetch->chunk[0] = rgb8_chunk(row, start + 16 * span.lane, row_bytes);
    if (span.lane < RGB8_CHUNKS - RGB8_LANES)
        fetch->chunk[1] = rgb8_chunk(row, start + 16 * (span.lane + RGB8_LANES), row_bytes);
    if (span.left > -2)
        fetch->left = rgb8_pixel(row, span.left);
    if (span.right > -2)
        fetch->right = rgb8_pixel(row, span.right);
}

/* Returns 256 times the luma of a pixel as an exact float: the dot product is added to the bits of
 * the float 2^23. */
static __device__ __forceinline__ float rgb8_height(unsigned word, unsigned weights)
{
    return __uint_as_float(__dp4a(word, weights, 0x4B000000u)) - 8388608.0f;
}

static __device__ __forceinline__ float rgb8_height_of_two(unsigned word, unsigned next,
                                                           unsigned weights, unsigned weights_next)
{
    return __uint_as_float(__dp4a(next, weights_next, __dp4a(word, weights, 0x4B000000u))) -
           8388608.0f;
}

/* The state of the last two rows: slopes, which are right - left, and smoothed samples, which are
 * left + 2 here + right. Rows use the elements of `smooth` in turn, so that nothing is copied. */
struct rgb8_state {
    float slope[RGB8_STRETCH];  /* the slopes of the last row */
    float slopes[RGB8_STRETCH]; /* the slopes of the row before, plus twice the slopes of the last
                                 * row */
    float smooth[2][RGB8_STRETCH];
};

enum { RED = 77, GREEN = 150, BLUE = 29, LUMA = RED | GREEN << 8 | BLUE << 16 };

/* Computes the heights of the lane's pixels, from index 1 on, and of their neighbours. */
static __device__ __forceinline__ void rgb8_heights(const struct rgb8_span &span,
                                                    const struct rgb8_fetch &fetch,
                                                    unsigned char *staging,
                                                    float h[RGB8_STRETCH + 2])
{
    uint4 *const chunks = (uint4 *)staging;
    chunks[span.lane] = fetch.chunk[0];
    if (span.lane < RGB8_CHUNKS - RGB8_LANES)
        chunks[RGB8_LANES + span.lane] = fetch.chunk[1];
    __syncwarp();
#pragma unroll
    for (int half = 0; half < 2; half++) {
        unsigned word[3];
#pragma unroll
        for (int w = 0; w < 3; w++)
            word[w] = ((const unsigned *)staging)[6 * span.lane + 3 * half + w];
        h[4 * half + 1] = rgb8_height(word[0], LUMA);
        h[4 * half + 2] =
            rgb8_height_of_two(word[0], word[1], (unsigned)RED << 24, GREEN | BLUE << 8);
        h[4 * half + 3] =
            rgb8_height_of_two(word[1], word[2], RED << 16 | (unsigned)GREEN << 24, BLUE);
        h[4 * half + 4] = rgb8_height(word[2], (unsigned)LUMA << 8);
    }
    const float left = __shfl_up_sync(0xFFFFFFFFu, h[RGB8_STRETCH], 1);
    const float right = __shfl_down_sync(0xFFFFFFFFu, h[1], 1);
    h[0] = span.left > -2 ? rgb8_height(fetch.left, LUMA) : left;
    h[RGB8_STRETCH + 1] = right;
    if (span.right > -2) {
        const float beside = rgb8_height(fetch.right, LUMA);
#pragma unroll
        for (int i = 2; i < RGB8_STRETCH + 2; i++)
            h[i] = i == span.own + 1 ? beside : h[i];
    }
}

/* Returns a word whose byte 1 is the sample for component n of a normal: a float of 2^15 plus
 * gf_normal_rounded(), truncated, has 8 fraction bits, so that the integer part is in that byte. */
static __device__ __forceinline__ unsigned rgb8_sample(float n)
{
    return __float_as_uint(__fadd_rz(gf_normal_rounded(n, 127.5f), 32768.0f));
}

/* Adds the heights of the next row, and computes the normals of the row above it. `parity` is the
 * parity of the row's number. */
template <class ROOT>
static __device__ __forceinline__ void rgb8_advance(float scale, const float h[RGB8_STRETCH + 2],
                                                    int parity, struct rgb8_state *state,
                                                    unsigned word[6])
{
    unsigned v[3 * RGB8_STRETCH];
#pragma unroll
    for (int i = 0; i < RGB8_STRETCH; i++) {
        const float slope = h[i + 2] - h[i], smooth = h[i] + h[i + 2] + 2.0f * h[i + 1];
        const float x = -scale * (state->slopes[i] + slope);
        const float y = -scale * (smooth - state->smooth[parity][i]);
        const float reciprocal = ROOT::reciprocal(gf_normal_square(x, y));
        v[3 * i] = rgb8_sample(x * reciprocal);
        v[3 * i + 1] = rgb8_sample(y * reciprocal);
        v[3 * i + 2] = rgb8_sample(reciprocal);
        state->slopes[i] = state->slope[i] + 2.0f * slope;
        state->slope[i] = slope;
        state->smooth[parity][i] = smooth;
    }
#pragma unroll
    for (int w = 0; w < 6; w++)
        word[w] = __byte_perm(__byte_perm(v[4 * w], v[4 * w + 1], 0x0051),
                              __byte_perm(v[4 * w + 2], v[4 * w + 3], 0x0051), 0x5410);
}

static __device__ __forceinline__ void rgb8_store(const struct view_pair &p,
                                                  const struct rgb8_span &span, int line,
                                                  const unsigned word[6], unsigned char *staging)
{
#pragma unroll
    for (int w = 0; w < 6; w++)
        ((unsigned *)staging)[6 * span.lane + w] = word[w];
    __syncwarp();
    const int start = 3 * (span.first - RGB8_STRETCH * span.lane), row_bytes = 3 * p.width;
    unsigned char *const row = p.out + (long long)line * (long long)p.out_pitch;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int chunk = k * RGB8_LANES + span.lane, at = start + 16 * chunk;
        if (chunk >= RGB8_CHUNKS)
            continue;
        if (at + 16 <= row_bytes) {
            *(uint4 *)(row + at) = ((const uint4 *)staging)[chunk];
        } else {
#pragma unroll 1
            for (int b = 0; at + b < row_bytes; b++)
                row[at + b] = staging[16 * chunk + b];
        }
    }
}

static __device__ __forceinline__ struct rgb8_span rgb8_find(const struct view_pair &p, int x0,
                                                             const long long *row)
{
    struct rgb8_span span;
    span.row = row;
    span.lane = threadIdx.x % RGB8_LANES;
    span.first = x0 + span.lane * RGB8_STRETCH;
    span.own = min(max(p.width - span.first, 0), (int)RGB8_STRETCH);
    const bool last =
        span.own > 0 && (span.lane == RGB8_LANES - 1 || span.first + RGB8_STRETCH >= p.width);
    span.left = span.lane ? -2 : gf_border_index(span.first - 1, p.width, p.border);
    span.right = last ? gf_border_index(span.first + span.own, p.width, p.border) : -2;
    return span;
}

template <class ROOT>
__global__ void __launch_bounds__(RGB8_THREADS, RGB8_BLOCKS)
    normalmap_rgb8_kernel(const struct rgb8_args args)
{
    __shared__ long long rows[RGB8_ROWS * RGB8_WARPS + 2];
    __shared__ uint4 staging[RGB8_WARPS][2][RGB8_CHUNKS];
    const struct view_pair &p = args.p;
    const struct tile_origin origin = block_tile(p.width, RGB8_PIXELS, args.rows * RGB8_WARPS);
    const int top = origin.row, y = p.out_y + top;
    const int total = min(args.rows * RGB8_WARPS, p.rows - top);
    for (int i = threadIdx.x; i < total + 2; i += RGB8_THREADS) {
        const int index = gf_border_index(y - 1 + i, p.height, p.border);
        rows[i] = index < 0 ? -1 : (long long)(index - p.in_y) * (long long)p.in_pitch;
    }
    __syncthreads();
    const int warp = threadIdx.x / RGB8_LANES, line = warp * args.rows;
    const int lines = min(args.rows, total - line);
    if (lines <= 0)
        return;
    const struct rgb8_span span = rgb8_find(p, origin.x, rows + line);
    unsigned char *const in = (unsigned char *)staging[warp][0];
    unsigned char *const out = (unsigned char *)staging[warp][1];
    struct rgb8_fetch fetch;
    struct rgb8_state state = {};
    unsigned word[6];
    float h[RGB8_STRETCH + 2];
    rgb8_load(p, span, 0, &fetch);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        rgb8_heights(span, fetch, in, h);
        rgb8_load(p, span, i + 1, &fetch);
        rgb8_advance<ROOT>(args.slope, h, i, &state, word);
        __syncwarp();
    }
#pragma unroll 1
    for (int base = 0; base < lines; base += 2) {
#pragma unroll
        for (int parity = 0; parity < 2; parity++) {
            if (base + parity >= lines)
                break;
            rgb8_heights(span, fetch, in, h);
            if (base + parity + 1 < lines)
                rgb8_load(p, span, base + parity + 3, &fetch);
            rgb8_advance<ROOT>(args.slope, h, parity, &state, word);
            rgb8_store(p, span, top + line + base + parity, word, out);
        }
    }
}

template <class ROOT>
static int launch_rgb8(const struct gf_launch *launch, const struct gf_normalmap *normalmap)
{
    struct rgb8_args args = {};
    args.p = view_pair_of(launch, normalmap->border);
    args.slope = normalmap->slope;
    LAUNCH_TRY(items_for_rounds((const void *)normalmap_rgb8_kernel<ROOT>, RGB8_THREADS,
                                ceil_div(args.p.width, RGB8_PIXELS),
                                ceil_div(args.p.rows, RGB8_WARPS), 2, RGB8_ROWS_LEAST, RGB8_ROWS,
                                &args.rows));
    const int blocks = tile_blocks(args.p.width, args.p.rows, RGB8_PIXELS, args.rows * RGB8_WARPS);
    return launch_kernel(normalmap_rgb8_kernel<ROOT>, blocks, RGB8_THREADS, 0, launch->stream,
                         args);
}

/* Computes normals from a tile of heights in shared memory, for all formats except 8-bit RGB. The
 * kernel does not use walk.cuh, because the result has other channels than the picture. */

enum {
    THREADS = 256,
    TILE_WIDTH = 128,
    TILE_HEIGHT = 16,
    /* One word of padding makes the pitch odd, so that the rows of a column are in different
     * banks. */
    PITCH = TILE_WIDTH + 2 + 1,
};

struct normalmap_args {
    struct view_pair p;
    float slope, max;
    int out_channels;
};

template <class Sample>
static __device__ __forceinline__ int height_at(const struct view_pair &p, int x, int y)
{
    x = gf_border_index(x, p.width, p.border);
    y = gf_border_index(y, p.height, p.border);
    if (x < 0 || y < 0)
        return 0;
    const Sample *const pixel =
        (const Sample *)(p.in + (long long)(y - p.in_y) * (long long)p.in_pitch) +
        (long long)x * p.channels;
    return p.channels < 3 ? 256 * __ldg(pixel)
                          : gf_luma601_fine(__ldg(pixel), __ldg(pixel + 1), __ldg(pixel + 2));
}

/* Writes the normal of a pixel. gx and gy are the Sobel differences of the heights around it. */
template <class Sample, class ROOT>
static __device__ __forceinline__ void normal_of(const struct normalmap_args &args, int gx, int gy,
                                                 int x, int y, Sample *to)
{
    const struct view_pair &p = args.p;
    const float nx = -(args.slope * (float)gx), ny = -(args.slope * (float)gy);
    const float reciprocal = ROOT::reciprocal(gf_normal_square(nx, ny)), half = 0.5f * args.max;
    const float normal[3] = {nx * reciprocal, ny * reciprocal, reciprocal};
    if (args.out_channels == 4) { /* the colour is premultiplied, as in the input */
        const Sample alpha =
            __ldg((const Sample *)(p.in + (long long)(y - p.in_y) * (long long)p.in_pitch) +
                  (long long)x * p.channels + p.channels - 1);
        const float weight = (float)alpha / args.max;
        for (int c = 0; c < 3; c++)
            to[c] = (Sample)round_bits(gf_normal_unrounded(normal[c], half) * weight, args.max);
        to[3] = alpha;
        return;
    }
    for (int c = 0; c < 3; c++)
        to[c] = (Sample)__float_as_uint(__fadd_rz(gf_normal_rounded(normal[c], half), 8388608.0f));
}

/* Computes the normal of a pixel. `at` points to the height above and to the left of the pixel. */
template <class Sample, class ROOT>
static __device__ __forceinline__ void normal_at(const struct normalmap_args &args, const int *at,
                                                 int x, int y, Sample *to)
{
    const int *const here = at + PITCH, *const below = at + 2 * PITCH;
    const int gx = at[2] - at[0] + 2 * (here[2] - here[0]) + below[2] - below[0];
    const int gy = below[0] + 2 * below[1] + below[2] - at[0] - 2 * at[1] - at[2];
    normal_of<Sample, ROOT>(args, gx, gy, x, y, to);
}

template <class Sample, class ROOT>
__global__ void __launch_bounds__(THREADS) normalmap_kernel(const struct normalmap_args args)
{
    __shared__ int heights[(TILE_HEIGHT + 2) * PITCH];
    __shared__ uint4 staging[TILE_WIDTH * TILE_HEIGHT * 4 * sizeof(Sample) / sizeof(uint4)];
    const struct view_pair &p = args.p;
    const struct tile_origin origin = block_tile(p.width, TILE_WIDTH, TILE_HEIGHT);
    const int x0 = origin.x, y0 = p.out_y + origin.row;
    const int lines = min((int)TILE_HEIGHT, p.out_y + p.rows - y0);
    for (int i = threadIdx.x; i < (lines + 2) * (TILE_WIDTH + 2); i += THREADS) {
        const int row = i / (TILE_WIDTH + 2), column = i - row * (TILE_WIDTH + 2);
        if (x0 + column - 1 <= p.width)
            heights[row * PITCH + column] = height_at<Sample>(p, x0 + column - 1, y0 + row - 1);
    }
    __syncthreads();
    const int pitch = TILE_WIDTH * args.out_channels;
    for (int i = threadIdx.x; i < lines * TILE_WIDTH; i += THREADS) {
        const int row = i / TILE_WIDTH, column = i % TILE_WIDTH;
        if (x0 + column < p.width)
            normal_at<Sample, ROOT>(args, heights + row * PITCH + column, x0 + column, y0 + row,
                                    (Sample *)staging + row * pitch + column * args.out_channels);
    }
    __syncthreads();
    const int size = args.out_channels * (int)sizeof(Sample);
    store_tile(p, (const unsigned char *)staging, TILE_WIDTH * size, TILE_WIDTH * size, lines, y0,
               (long long)x0 * size, (long long)p.width * size);
}

static inline struct normalmap_args normalmap_args_of(const struct gf_launch *launch)
{
    const struct gf_normalmap *const normalmap =
        (const struct gf_normalmap *)launch->stage->constants;
    struct normalmap_args args = {};
    args.p = view_pair_of(launch, normalmap->border);
    args.slope = normalmap->slope;
    args.max = launch->in.format.bits == 8 ? 255.0f : 65535.0f;
    args.out_channels = launch->out.format.channels;
    return args;
}

template <class ROOT> static int launch_normalmap(const struct gf_launch *launch)
{
    const struct normalmap_args args = normalmap_args_of(launch);
    if (launch->in.format.bits == 8 && launch->in.format.channels == 3)
        return launch_rgb8<ROOT>(launch, (const struct gf_normalmap *)launch->stage->constants);
    const int blocks = tile_blocks(args.p.width, args.p.rows, TILE_WIDTH, TILE_HEIGHT);
    const auto kernel = launch->in.format.bits == 8 ? normalmap_kernel<unsigned char, ROOT>
                                                    : normalmap_kernel<unsigned short, ROOT>;
    return launch_kernel(kernel, blocks, THREADS, 0, launch->stream, args);
}
