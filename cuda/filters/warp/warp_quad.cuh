/* Straight warps of 8-bit gray and RGB, and of RGBA, by linear interpolation, also of several
 * samples of a pixel. A thread computes quads, which are four neighbouring pixels of a row, and a
 * block computes several rows of quads, so that work that a block does once takes a small part of
 * its time. */
#pragma once

#include <stdlib.h>

#include "cuda/common/launch.cuh"
#include "cuda/filters/warp/warp_tile.cuh"

/* A warp computes 8 x 4 quads at a time, and loads 8 x 4 groups of four columns of the input at a
 * time. */
constexpr int QUADS_ACROSS = 8;

/* A block computes 32 x ROWS pixels of the result. */
template <int threads, int times, int across, int down, int blocks> struct quad_shape {
    /* The threads of a block, and the blocks of a multiprocessor. */
    static constexpr int THREADS = threads, BLOCKS = blocks;
    static constexpr int TIMES = times; /* the quads that a thread computes */
    static constexpr int DOWN = threads / QUADS_ACROSS, ROWS = times * DOWN;
    /* The most groups across and rows down of a box, in units of the groups and rows that a block
     * loads at once. */
    static constexpr int BOX_ACROSS = across, BOX_DOWN = down;
};

struct quad_launch {
    struct warp_source source;
    int in_end;         /* the end of the input's rows that are present */
    unsigned char *out; /* row out_y of the result */
    size_t out_pitch;
    int rows, width;         /* size of the result */
    int64_t u, v;            /* the position in the input of pixel (0, out_y), in 2^-32 pixels */
    struct warp_reach reach; /* how far a block's pixels reach in the input from its first one */
    int groups;              /* the number of groups of four columns, enough for any box */
    int pitch;               /* pixels between rows of a box in shared memory; an odd number */
    int plane;               /* pixels between planes */
};

struct quad_box {
    int x, y, columns, rows;
};

/* Loads a box that is in the picture and has `groups` groups of four columns. All loads are issued
 * before the first result is used. The words of the eight groups of a row are four words apart, and
 * rows an odd number of words, so that no two lanes access the same bank. Rows of the picture that
 * are not present belong to pixels after the last one of the result, so that any other row can
 * replace them. */
template <class SHAPE, class FORMAT>
static __device__ __forceinline__ void
fill_quads(const struct quad_launch &launch, const struct quad_box &box, int groups, uint32_t *tile)
{
    const struct warp_source &source = launch.source;
    const int group = (int)threadIdx.x % QUADS_ACROSS, first = (int)threadIdx.x / QUADS_ACROSS;
    const int top = box.y - source.in_y;
    const int last = min(box.y + box.rows, launch.in_end) - 1 - source.in_y;
    constexpr int IN = FORMAT::IN, WORDS = IN == 1 ? 2 : IN; /* gray needs the next pixel */
    uint32_t word[SHAPE::BOX_DOWN][SHAPE::BOX_ACROSS][WORDS];
#pragma unroll
    for (int k = 0; k < SHAPE::BOX_DOWN; k++) {
        const int row = first + k * SHAPE::DOWN;
        if (row >= box.rows)
            break;
        const unsigned from_row = (unsigned)max(min(top + row, last), 0);
        const uint32_t *const from =
            (const uint32_t *)(source.in + from_row * source.pitch + IN * (size_t)box.x) +
            IN * group;
#pragma unroll
        for (int i = 0; i < SHAPE::BOX_ACROSS; i++) {
            if (group + i * QUADS_ACROSS < groups) {
                load_quad<IN>(from + IN * QUADS_ACROSS * i, word[k][i]);
                /* Nothing needs the neighbour of the last group. */
                if (IN == 1)
                    word[k][i][1] = group + i * QUADS_ACROSS + 1 < groups
                                        ? __ldg(from + QUADS_ACROSS * i + 1)
                                        : 0;
            }
        }
    }
#pragma unroll
    for (int k = 0; k < SHAPE::BOX_DOWN; k++) {
        const int row = first + k * SHAPE::DOWN;
        if (row >= box.rows)
            break;
        uint32_t *const to = tile + (row * launch.pitch + group * QUAD);
#pragma unroll
        for (int i = 0; i < SHAPE::BOX_ACROSS; i++) {
            if (group + i * QUADS_ACROSS < groups) {
                spread_quad<FORMAT>(word[k][i], word[k][i][1], to + i * QUADS_ACROSS * QUAD,
                                    launch.plane);
            }
        }
    }
}

/* Loads a box that is in the picture, in parts of ROWS_AT_ONCE rows a thread, or of fewer rows if
 * registers do not suffice. */
template <class SHAPE, class FORMAT, int ROWS_AT_ONCE>
static __device__ __forceinline__ void fill_parts(const struct quad_launch &launch,
                                                  struct quad_box box, int groups, uint32_t *tile)
{
    constexpr int WORDS = 32 / (SHAPE::BOX_ACROSS * FORMAT::IN);
    constexpr int FIT = !FORMAT::STRAIGHT ? ROWS_AT_ONCE : WORDS ? WORDS : 1;
    constexpr int AT_ONCE = FIT < ROWS_AT_ONCE ? FIT : ROWS_AT_ONCE;
    typedef quad_shape<SHAPE::THREADS, SHAPE::TIMES, SHAPE::BOX_ACROSS, AT_ONCE, SHAPE::BLOCKS>
        part;
    constexpr int ROWS_OF_PART = part::BOX_DOWN * part::DOWN;
    if constexpr (AT_ONCE == SHAPE::BOX_DOWN) {
        fill_quads<part, FORMAT>(launch, box, groups, tile);
    } else {
#pragma unroll 1
        for (; box.rows > 0; box.y += ROWS_OF_PART, box.rows -= ROWS_OF_PART) {
            fill_quads<part, FORMAT>(launch, box, groups, tile);
            tile += ROWS_OF_PART * launch.pitch;
        }
    }
}

/* Loads a box that extends beyond the picture, with the border's pixels there. */
template <class SHAPE, class FORMAT>
static __device__ __forceinline__ void fill_quads_beyond(const struct quad_launch &launch,
                                                         const struct quad_box &box, uint32_t *tile)
{
#pragma unroll 1
    for (int row = threadIdx.x / WARP; row < box.rows; row += SHAPE::THREADS / WARP) {
        const int y = box.y + row;
        const int nearest = min(max(y, 0), launch.source.warp.in_height - 1);
        const bool is_there = nearest >= launch.source.in_y && nearest < launch.in_end;
#pragma unroll 1
        for (int column = threadIdx.x % WARP; column < box.columns; column += WARP) {
            uint32_t *const to = tile + row * launch.pitch + column;
            const uint2 words =
                is_there ? quad_word<FORMAT>(launch.source, box.x + column, y) : make_uint2(0, 0);
            to[0] = words.x;
            if (FORMAT::PLANES == 2)
                to[launch.plane] = words.y;
        }
    }
}

/* Computes a quad whose first pixel is at (u, v), in the upper bits of `sum`: from one sample of a
 * pixel, or with MEANS as means of several. */
template <class FORMAT, bool MEANS>
static __device__ __forceinline__ void quad_pixels(const struct quad_launch &launch,
                                                   const uint32_t *tile, int64_t u, int64_t v,
                                                   uint32_t (&sum)[FORMAT::CHANNELS * QUAD])
{
    const struct gf_warp &warp = launch.source.warp;
    constexpr int CHANNELS = FORMAT::CHANNELS;
    const int nx = MEANS ? warp.nx : 1, ny = MEANS ? warp.ny : 1;
#pragma unroll
    for (int i = 0; i < CHANNELS * QUAD && MEANS; i++)
        sum[i] = 0;
#pragma unroll 1
    for (int j = 0; j < ny; j++) {
#pragma unroll 1
        for (int i = 0; i < nx; i++) {
            int64_t s = u + (MEANS ? gf_warp_part_u(&warp, i, j) : 0);
            int64_t t = v + (MEANS ? gf_warp_part_v(&warp, i, j) : 0);
#pragma unroll
            for (int q = 0; q < QUAD * CHANNELS; q += CHANNELS) {
                const uint32_t *const first =
                    tile + ((int)(t >> 32) * launch.pitch + (int)(s >> 32));
                uint32_t one[CHANNELS];
                quad_sums<FORMAT, !MEANS>(first, launch.pitch, launch.plane, (uint32_t)s >> 20,
                                          (uint32_t)t >> 20, one);
#pragma unroll
                for (int c = 0; c < CHANNELS; c++)
                    sum[q + c] = MEANS ? sum[q + c] + fine_of<FORMAT>(one[c]) : one[c];
                s += warp.ux;
                t += warp.vx;
            }
        }
    }
    const uint32_t divisor = 256u * (unsigned)nx * (unsigned)ny;
    const float one_of = 1.0f / (float)divisor;
#pragma unroll
    for (int i = 0; i < CHANNELS * QUAD && MEANS; i++)
        sum[i] = rounded_mean(sum[i], divisor, one_of) << FORMAT::FRACTION;
}

static __device__ __forceinline__ int64_t steps(unsigned count, int64_t step)
{
    return (int64_t)(count * (uint64_t)step);
}

/* Returns the box of the input that a block needs. *u and *v become the position of the block's
 * first pixel in the box. */
static __device__ __forceinline__ struct quad_box
quad_box_of(const struct quad_launch &launch, unsigned x, unsigned y, int64_t *u, int64_t *v)
{
    const struct gf_warp &warp = launch.source.warp;
    *u = launch.u + steps(x, warp.ux) + steps(y, warp.uy);
    *v = launch.v + steps(x, warp.vx) + steps(y, warp.vy);
    struct quad_box box;
    /* The box begins at a multiple of 4 columns, where words begin with pixels of 3 bytes. */
    box.x = (int)((*u + launch.reach.u_least) >> 32) & ~3;
    box.y = (int)((*v + launch.reach.v_least) >> 32);
    box.columns = (int)((*u + launch.reach.u_most) >> 32) + 2 - box.x;
    box.rows = (int)((*v + launch.reach.v_most) >> 32) + 2 - box.y;
    *u -= (int64_t)box.x << 32;
    *v -= (int64_t)box.y << 32;
    return box;
}

/* Whether no pixel of the box is in the picture, so that all of its pixels are equal. */
static __device__ __forceinline__ bool is_beyond(const struct gf_warp &warp,
                                                 const struct quad_box &box)
{
    return !warp.edge && (box.x >= warp.in_width || box.x + box.columns <= 0 ||
                          box.y >= warp.in_height || box.y + box.rows <= 0);
}

/* Stores all rows of a thread, from y on, for a box of equal pixels beyond the picture. */
template <class SHAPE, class FORMAT>
static __device__ __forceinline__ void store_beyond(const struct quad_launch &launch, unsigned y,
                                                    unsigned char *to, int count)
{
    uint32_t word[FORMAT::OUT];
    beyond_words<FORMAT>(launch.source.warp, word);
#pragma unroll 1
    for (int k = 0; k < SHAPE::TIMES && (int)y < launch.rows && count > 0; k++) {
        store_quad<FORMAT>(word, to, count);
        y += SHAPE::DOWN;
        to += SHAPE::DOWN * launch.out_pitch;
    }
}

template <class SHAPE, class FORMAT, bool MEANS>
static __global__ void __launch_bounds__(SHAPE::THREADS, SHAPE::BLOCKS)
    warp_quad_kernel(const __grid_constant__ struct quad_launch launch)
{
    extern __shared__ uint4 shared[];
    uint32_t *const tile = (uint32_t *)shared;
    const struct gf_warp &warp = launch.source.warp;
    const unsigned x = blockIdx.x * TILE, y = blockIdx.y * SHAPE::ROWS;
    int64_t u, v;
    const struct quad_box box = quad_box_of(launch, x, y, &u, &v);
    const unsigned column = threadIdx.x % QUADS_ACROSS * QUAD;
    unsigned row = threadIdx.x / QUADS_ACROSS;
    const int count = launch.width - (int)(x + column);
    unsigned char *to =
        launch.out + (y + row) * launch.out_pitch + FORMAT::OUT * (size_t)(x + column);
    early_next();
    early_wait();
    if (is_beyond(warp, box)) {
        store_beyond<SHAPE, FORMAT>(launch, y + row, to, count);
        return;
    }
    if (box.x >= 0 && box.y >= 0 && box.y + box.rows <= warp.in_height &&
        box.x + launch.groups * QUAD <= warp.in_width)
        fill_parts<SHAPE, FORMAT, SHAPE::BOX_DOWN>(launch, box, launch.groups, tile);
    else
        fill_quads_beyond<SHAPE, FORMAT>(launch, box, tile);
    __syncthreads();
    u += steps(column, warp.ux) + steps(row, warp.uy);
    v += steps(column, warp.vx) + steps(row, warp.vy);
#pragma unroll
    for (int k = 0; k < SHAPE::TIMES; k++) {
        if (count <= 0 || (int)(y + row) >= launch.rows)
            return;
        uint32_t sum[FORMAT::CHANNELS * QUAD], word[FORMAT::OUT];
        quad_pixels<FORMAT, MEANS>(launch, tile, u, v, sum);
        quad_words<FORMAT, QUAD>(sum, word);
        store_quad<FORMAT>(word, to, count);
        row += SHAPE::DOWN;
        u += SHAPE::DOWN * warp.uy;
        v += SHAPE::DOWN * warp.vy;
        to += SHAPE::DOWN * launch.out_pitch;
    }
}

static int quad_pitch_of(const struct gf_warp *warp, int columns)
{
    constexpr int STARTS = 7;
    int best = 0, fewest = 0;
    for (int pitch = columns | 1; pitch < columns + WARP; pitch += 2) {
        const int waits = bank_waits(warp, pitch, QUADS_ACROSS, QUAD, STARTS);
        if (!best || waits < fewest) {
            best = pitch;
            fewest = waits;
        }
    }
    return best;
}

/* Extends the reach by the distances of a pixel's samples from the pixel's centre. */
static inline void reach_samples(const struct gf_warp *warp, struct warp_reach *reach)
{
    const int i = warp->nx - 1, j = warp->ny - 1;
    const int64_t u = llabs(i * warp->part_ux) + llabs(j * warp->part_uy);
    const int64_t v = llabs(i * warp->part_vx) + llabs(j * warp->part_vy);
    *reach = {reach->u_least - u, reach->u_most + u, reach->v_least - v, reach->v_most + v};
}

/* Launches the kernel. Returns cudaErrorNotSupported if a block's box is too large. */
template <class SHAPE, class FORMAT, bool MEANS>
static int launch_quads(struct quad_launch launch, cudaStream_t stream)
{
    constexpr size_t SHARED_MOST = 48 * 1024;
    const struct gf_warp *const warp = &launch.source.warp;
    launch.reach = reach_of(*warp, TILE, SHAPE::ROWS);
    reach_samples(warp, &launch.reach);
    /* A box has one more column or row if both ends are within a pixel, one more for the window,
     * and up to three columns before the first. */
    const int64_t across = (launch.reach.u_most - launch.reach.u_least) >> 32;
    const int64_t down = (launch.reach.v_most - launch.reach.v_least) >> 32;
    const int columns = (int)across + 3 + 3, rows = (int)down + 3;
    launch.groups = ceil_div(columns, QUAD);
    launch.pitch = quad_pitch_of(warp, launch.groups * QUAD);
    launch.plane = rows * launch.pitch;
    const size_t bytes = (size_t)launch.plane * FORMAT::PLANES * sizeof(uint32_t);
    const dim3 blocks((unsigned)ceil_div(launch.width, TILE),
                      (unsigned)ceil_div(launch.rows, SHAPE::ROWS));
    if (launch.groups > SHAPE::BOX_ACROSS * QUADS_ACROSS || rows > SHAPE::BOX_DOWN * SHAPE::DOWN ||
        bytes > SHARED_MOST || blocks.y > GRID_ROWS_MAX || !sums_fit<FORMAT>(warp))
        return cudaErrorNotSupported;
    return launch_early(warp_quad_kernel<SHAPE, FORMAT, MEANS>, blocks, SHAPE::THREADS, bytes,
                        stream, launch);
}
