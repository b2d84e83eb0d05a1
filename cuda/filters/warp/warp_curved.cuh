/* Warps of 8-bit gray and RGB, and of RGBA, by linear interpolation whose maps are not straight,
 * perspective and lens. A block computes its pixels' positions, finds the box of the input that
 * they need, and loads it into shared memory as blocks of straight warps do. Pixels with several
 * samples compute their positions twice. Blocks whose box is too large read windows from global
 * memory. */
#pragma once

#include <limits.h>

#include "cuda/common/scan.cuh"
#include "cuda/filters/warp/warp.cuh"
#include "cuda/filters/warp/warp_quad.cuh"

typedef quad_shape<128, 2, 2, 4, 6> curved_shape;

/* The most columns and rows of a box, and the words between its rows. */
constexpr int CURVED_COLUMNS = curved_shape::BOX_ACROSS * QUADS_ACROSS * QUAD;
constexpr int CURVED_ROWS = curved_shape::BOX_DOWN * curved_shape::DOWN;
constexpr int CURVED_PITCH = CURVED_COLUMNS + 1, CURVED_PLANE = CURVED_ROWS * CURVED_PITCH;

struct curved_launch {
    struct quad_launch quad; /* its members for straight maps are not used */
    const struct gf_warp_counts *zones;
    int out_y;
};

/* The least and the greatest position of a thread's samples, in 1/4096 of a pixel. A thread with a
 * position that may be outside of the range of these numbers has no limits at all. */
struct curved_reach {
    int u_least, u_most, v_least, v_most;
};

/* Positions of samples of neighbouring pixels, in 1/4096 of a pixel. */
template <int COUNT> struct curved_places {
    int u[COUNT], v[COUNT];
};
constexpr int PAIR = 2;

/* Returns floor(4096 (v + bias)). The sum with 1.5 2^40 has no digits below 1/4096, and is rounded
 * down. `is_far` is set unless |v| < 2^19 or v is so large that it is taken for a position left of
 * or above every picture. */
static __device__ __forceinline__ int curved_fixed(double v, double bias, bool *is_far)
{
    const double sum = __dadd_rd(v + bias, 0x1.8p40);
    *is_far |= (unsigned)__double2hiint(sum) - 0x4277FFFFu > 1;
    return __double2loint(sum);
}

/* Returns 1 / w for curved_quotient(), where 2^-766 < w < 2^513. */
static __device__ __forceinline__ double curved_reciprocal(double w)
{
    double seed;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(seed) : "d"(w));
    seed = __hiloint2double(__double2hiint(seed), 1);
    const double e = fma(-w, seed, 1.0), r = fma(seed, fma(e, e, e), seed);
    return fma(r, fma(-w, r, 1.0), r);
}

/* Returns a / w as a division rounds it, by the steps of the compiler's own division. Two quotients
 * share the reciprocal. */
static __device__ __forceinline__ double curved_quotient(double a, double w, double reciprocal)
{
    const double q = a * reciprocal;
    return fma(reciprocal, fma(-w, q, a), q);
}

/* Computes the positions in the input of the points (x + i + dx, y) of the result, as
 * gf_warp_source() does. */
template <int KIND, int COUNT>
static __device__ __forceinline__ struct curved_places<COUNT>
curved_positions(const struct gf_warp &warp, double x, double y, double dx, bool *is_far) {
    const double *const c = warp.map.c;
    struct curved_places<COUNT> at;
    if (KIND == GF_WARP_LENS) {
        const double down = (y - c[1]) * c[6], down2 = down * down;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const double across = ((x + i) + dx - c[0]) * c[6];
            const double r2 = (across * across + down2) * c[2];
            const double stretch = 1 + r2 * (c[7] + r2 * c[8]);
            at.u[i] = curved_fixed(c[3] + across * stretch, warp.bias, is_far);
            at.v[i] = curved_fixed(c[4] + down * stretch, warp.bias, is_far);
        }
        return at;
    }
    const double top_y = c[1] * y, left_y = c[4] * y, w_y = c[7] * y;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const double column = (x + i) + dx;
        const double w = c[6] * column + w_y + c[8];
        *is_far |= (unsigned)__double2hiint(w) - 0x10100000u > 0x50000000u;
        const double reciprocal = curved_reciprocal(w);
        at.u[i] = curved_fixed(curved_quotient(c[0] * column + top_y + c[2], w, reciprocal),
                               warp.bias, is_far);
        at.v[i] = curved_fixed(curved_quotient(c[3] * column + left_y + c[5], w, reciprocal),
                               warp.bias, is_far);
    }
    return at;
}

template <int COUNT>
static __device__ __forceinline__ void curved_extend(struct curved_reach *reach,
                                                     const struct curved_places<COUNT> &at)
{
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        reach->u_least = min(reach->u_least, at.u[i]), reach->u_most = max(reach->u_most, at.u[i]);
        reach->v_least = min(reach->v_least, at.v[i]), reach->v_most = max(reach->v_most, at.v[i]);
    }
}

/* Returns the box of all threads of the block, in pixels. */
static __device__ __forceinline__ struct quad_box curved_box(const struct curved_reach &own,
                                                             int4 *warps)
{
    int4 all = make_int4(least_of_warp(own.u_least), least_of_warp(~own.u_most),
                         least_of_warp(own.v_least), least_of_warp(~own.v_most));
    if (threadIdx.x % WARP == 0)
        warps[threadIdx.x / WARP] = all;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < curved_shape::THREADS / WARP; i++) {
        const int4 other = warps[i];
        all.x = min(all.x, other.x), all.y = min(all.y, other.y);
        all.z = min(all.z, other.z), all.w = min(all.w, other.w);
    }
    struct quad_box box;
    box.x = (all.x >> 12) & ~3, box.y = all.z >> 12;
    box.columns = (~all.y >> 12) + 2 - box.x, box.rows = (~all.w >> 12) + 2 - box.y;
    return box;
}

template <class FORMAT, bool ROUNDED>
static __device__ __forceinline__ void curved_sums(const uint32_t *tile, int origin, int u, int v,
                                                   uint32_t sum[FORMAT::CHANNELS])
{
    quad_sums<FORMAT, ROUNDED>(tile + ((v >> 12) * CURVED_PITCH + (u >> 12) - origin), CURVED_PITCH,
                               CURVED_PLANE, u & 4095, v & 4095, sum);
}

/* ---- pixels with several samples, two at a time ---- */

/* Calls use(positions) for each sample of a pair of neighbouring pixels. */
template <int KIND, class Use>
static __device__ __forceinline__ void each_sample(const struct gf_warp &warp,
                                                   struct gf_warp_counts counts, int x, int y,
                                                   bool *is_far, Use use)
{
    const double half_x = gf_warp_half(counts.nx), half_y = gf_warp_half(counts.ny);
#pragma unroll 1
    for (int j = 0; j < counts.ny; j++) {
        const double down = y + gf_warp_offset(j, counts.ny, half_y);
#pragma unroll 1
        for (int i = 0; i < counts.nx; i++)
            use(curved_positions<KIND, PAIR>(warp, x, down, gf_warp_offset(i, counts.nx, half_x),
                                             is_far));
    }
}

/* Returns a sample with 8 fraction bits. The only sample of a pixel is rounded to a whole number,
 * since it must be rounded only once. */
template <class FORMAT>
static __device__ __forceinline__ uint32_t curved_fine(uint32_t sum, bool only)
{
    return only ? (sum + (1u << (FORMAT::FRACTION - 1))) >> FORMAT::FRACTION << 8
                : fine_of<FORMAT>(sum);
}

/* Stores a pair of pixels. */
template <class FORMAT>
static __device__ __forceinline__ void store_pair(const uint32_t *sample, unsigned char *to)
{
    if constexpr (FORMAT::STRAIGHT != 0) {
        uint32_t word[FORMAT::OUT / 2];
#pragma unroll
        for (int i = 0; i < PAIR; i++)
            straight_words<FORMAT>(make_uint2(sample[4 * i] | sample[4 * i + 1] << 16,
                                              sample[4 * i + 2] | sample[4 * i + 3] << 16),
                                   word + FORMAT::OUT / 4 * i);
#pragma unroll
        for (int i = 0; i < FORMAT::OUT / 2; i += 2)
            ((uint2 *)to)[i / 2] = make_uint2(word[i], word[i + 1]);
    } else {
#pragma unroll
        for (int i = 0; i < FORMAT::OUT; i++)
            ((uint16_t *)to)[i] = (uint16_t)(sample[2 * i] | sample[2 * i + 1] << 8);
    }
}

/* Stores the means of a quad's samples, in two pairs. */
template <int KIND, class FORMAT>
static __device__ __forceinline__ void
curved_means(const struct gf_warp &warp, const uint32_t *tile, int origin,
             struct gf_warp_counts counts, int x, int y, unsigned char *to)
{
    constexpr int CHANNELS = FORMAT::CHANNELS;
    bool is_far = false;
    const uint32_t divisor = 256u * counts.nx * counts.ny;
    const float one_of = 1.0f / (float)divisor;
#pragma unroll 1
    for (int first = 0; first < QUAD; first += PAIR) {
        uint32_t sums[CHANNELS * PAIR] = {};
        each_sample<KIND>(
            warp, counts, x + first, y, &is_far, [&](const struct curved_places<PAIR> &at) {
#pragma unroll
                for (int i = 0; i < PAIR; i++) {
                    uint32_t sum[CHANNELS];
                    curved_sums<FORMAT, false>(tile, origin, at.u[i], at.v[i], sum);
#pragma unroll
                    for (int c = 0; c < CHANNELS; c++)
                        sums[CHANNELS * i + c] += curved_fine<FORMAT>(sum[c], divisor == 256);
                }
            });
#pragma unroll
        for (int i = 0; i < CHANNELS * PAIR; i++)
            sums[i] = rounded_mean(sums[i], divisor, one_of);
        store_pair<FORMAT>(sums, to + FORMAT::OUT * first);
    }
}

/* Computes the thread's pixels from windows in global memory. */
template <class FORMAT>
static __device__ __noinline__ void curved_direct(const struct curved_launch &launch, int x,
                                                  int row)
{
#pragma unroll 1
    for (int i = 0; i < QUAD * curved_shape::TIMES; i++) {
        const int own = row + i / QUAD * curved_shape::DOWN, column = x + i % QUAD;
        if (column >= launch.quad.width || own >= launch.quad.rows)
            continue;
        const int y = launch.out_y + own;
        unsigned char *const to =
            launch.quad.out + own * launch.quad.out_pitch + FORMAT::OUT * (size_t)column;
        uint32_t word[2];
        if constexpr (FORMAT::STRAIGHT != 0)
            straight_words<FORMAT>(mean_of<uint16_t, 4, LINEAR_KERNEL, 2, uint2>(
                                       launch.quad.source, launch.zones, column, y, NULL),
                                   word);
        else
            word[0] = mean_of<uint8_t, FORMAT::STORED, LINEAR_KERNEL, 2, uint32_t>(
                launch.quad.source, launch.zones, column, y, NULL);
#pragma unroll
        for (int c = 0; c < FORMAT::OUT; c++)
            to[c] = (unsigned char)(word[c / 4] >> 8 * (c % 4));
    }
}

/* Finds the reach of the thread's pixels; with `single` they have one sample each, whose positions
 * are kept. */
template <int KIND>
static __device__ __forceinline__ struct curved_reach
curved_reach_of(const struct curved_launch &launch, int x, int row, bool single,
                struct curved_places<QUAD> at[curved_shape::TIMES])
{
    const struct gf_warp &warp = launch.quad.source.warp;
    struct curved_reach reach = {INT_MAX, INT_MIN, INT_MAX, INT_MIN};
    bool is_far = false;
    if (single) {
#pragma unroll
        for (int k = 0; k < curved_shape::TIMES; k++) {
            if (row + k * curved_shape::DOWN < launch.quad.rows) {
                at[k] = curved_positions<KIND, QUAD>(
                    warp, x, launch.out_y + row + k * curved_shape::DOWN, 0.0, &is_far);
                curved_extend(&reach, at[k]);
            }
        }
    } else {
#pragma unroll 1
        for (int i = 0; i < curved_shape::TIMES * QUAD / PAIR; i++) {
            const int own = row + i * PAIR / QUAD * curved_shape::DOWN, y = launch.out_y + own;
            if (own < launch.quad.rows)
                each_sample<KIND>(
                    warp, launch.zones[gf_warp_zone(&warp, x, y)], x + i * PAIR % QUAD, y, &is_far,
                    [&](const struct curved_places<PAIR> &pair) { curved_extend(&reach, pair); });
        }
    }
    if (is_far)
        reach = {INT_MIN, INT_MAX, INT_MIN, INT_MAX};
    return reach;
}

template <int KIND, class FORMAT>
static __global__ void __launch_bounds__(curved_shape::THREADS,
                                         FORMAT::PLANES == 2 ? 5 : curved_shape::BLOCKS)
    warp_curved_kernel(const __grid_constant__ struct curved_launch launch)
{
    __shared__ uint32_t tile[FORMAT::PLANES * CURVED_PLANE];
    __shared__ int4 warps[curved_shape::THREADS / WARP];
    const struct quad_launch &quad = launch.quad;
    const struct gf_warp &warp = quad.source.warp;
    const int x = (int)(blockIdx.x * TILE + threadIdx.x % QUADS_ACROSS * QUAD);
    const int first = (int)blockIdx.y * curved_shape::ROWS;
    const int row = first + (int)threadIdx.x / QUADS_ACROSS;
    const int last = min(first + curved_shape::ROWS, quad.rows) - 1;
    const struct gf_warp_counts above = launch.zones[gf_warp_zone(&warp, x, launch.out_y + first)];
    const struct gf_warp_counts below = launch.zones[gf_warp_zone(&warp, x, launch.out_y + last)];
    const bool single = above.nx * above.ny * below.nx * below.ny == 1;
    struct curved_places<QUAD> at[curved_shape::TIMES];
    const struct quad_box box =
        curved_box(curved_reach_of<KIND>(launch, x, row, single, at), warps);
    early_next();
    early_wait();
    unsigned char *to = quad.out + row * quad.out_pitch + FORMAT::OUT * (size_t)x;
    if (is_beyond(warp, box)) {
        store_beyond<curved_shape, FORMAT>(quad, (unsigned)row, to, quad.width - x);
        return;
    }
    constexpr int LEAST = -1024;
    if ((int)blockIdx.x * TILE + TILE > quad.width || box.x < LEAST || box.y < LEAST ||
        box.columns > CURVED_COLUMNS || box.rows > CURVED_ROWS) {
        curved_direct<FORMAT>(launch, x, row);
        return;
    }
    const int groups = (box.columns + QUAD - 1) / QUAD;
    if (box.x >= 0 && box.y >= 0 && box.y + box.rows <= warp.in_height &&
        box.x + groups * QUAD <= warp.in_width)
        fill_parts<curved_shape, FORMAT, 3>(quad, box, groups, tile);
    else
        fill_quads_beyond<curved_shape, FORMAT>(quad, box, tile);
    __syncthreads();
    const int origin = box.y * CURVED_PITCH + box.x;
#pragma unroll
    for (int k = 0; k < curved_shape::TIMES; k++) {
        const int own = row + k * curved_shape::DOWN;
        if (own >= quad.rows)
            return;
        if (single) {
            uint32_t word[FORMAT::OUT], sum[FORMAT::CHANNELS * QUAD];
#pragma unroll
            for (int i = 0; i < QUAD; i++)
                curved_sums<FORMAT, true>(tile, origin, at[k].u[i], at[k].v[i],
                                          sum + FORMAT::CHANNELS * i);
            quad_words<FORMAT, QUAD>(sum, word);
            store_quad<FORMAT>(word, to, QUAD);
        } else {
            const int y = launch.out_y + own;
            curved_means<KIND, FORMAT>(warp, tile, origin, launch.zones[gf_warp_zone(&warp, x, y)],
                                       x, y, to);
        }
        to += curved_shape::DOWN * quad.out_pitch;
    }
}

/* Launches the kernel. Returns cudaErrorNotSupported if the picture has too many rows, or its
 * pixels too many samples. */
template <class FORMAT> static int launch_curved(struct curved_launch launch, cudaStream_t stream)
{
    launch.quad.pitch = CURVED_PITCH;
    launch.quad.plane = CURVED_PLANE;
    const dim3 blocks((unsigned)ceil_div(launch.quad.width, TILE),
                      (unsigned)ceil_div(launch.quad.rows, curved_shape::ROWS));
    if (blocks.y > GRID_ROWS_MAX || !sums_fit<FORMAT>(&launch.quad.source.warp))
        return cudaErrorNotSupported;
    return launch_early(launch.quad.source.warp.map.kind == GF_WARP_LENS
                            ? warp_curved_kernel<GF_WARP_LENS, FORMAT>
                            : warp_curved_kernel<GF_WARP_PERSPECTIVE, FORMAT>,
                        blocks, curved_shape::THREADS, 0, stream, launch);
}
