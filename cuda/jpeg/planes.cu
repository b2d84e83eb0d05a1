/* Computes planes of samples from components: gray pictures, and components that are upsampled
 * later. */
#include "cuda/jpeg/pixels.cuh"

enum {
    STAGE_PITCH = STRIP_PIXELS + 16
}; /* the 16 extra samples put a block's rows into different
    * banks */

static __device__ __forceinline__ void
store_strip(const struct surface &out, const unsigned char *stage, int x, int y, int lane)
{
    enum { ACROSS = STRIP_PIXELS / VECTOR };
    const int column = lane % ACROSS * VECTOR;
#pragma unroll
    for (int i = 0; i < BLOCK_SIDE * ACROSS / WARP; i++) {
        const int row = i * (WARP / ACROSS) + lane / ACROSS;
        if (y + row < out.height)
            store_vector(out.data + (size_t)(y + row) * out.pitch + x + column,
                         stage + row * STAGE_PITCH + column, out.width - x - column);
    }
}

/* Repeats a plane's first sample before each row and its last sample after each row, for the
 * triangle filter. The byte after the last strip is read, too, but only for pixels that are not
 * stored. */
static __device__ __forceinline__ void
store_edges(const struct surface &out, const unsigned char *stage, int x, int y, int lane)
{
    const int row = lane % BLOCK_SIDE, last = out.width - 1 - x;
    unsigned char *const line = out.data + (size_t)(y + row) * out.pitch;
    if (y + row >= out.height)
        return;
    if (lane < BLOCK_SIDE && x == 0)
        line[-1] = stage[row * STAGE_PITCH];
    else if (lane >= BLOCK_SIDE && lane < 2 * BLOCK_SIDE && last < STRIP_PIXELS)
        line[out.width] = stage[row * STAGE_PITCH + last];
    else if (lane >= 2 * BLOCK_SIDE && lane < 3 * BLOCK_SIDE && last < STRIP_PIXELS - 1)
        line[x + STRIP_PIXELS] = 0;
}

static __global__ void __launch_bounds__(STRIP_THREADS, STRIP_RESIDENT)
    planes_kernel(const struct strip_launch launch, const struct group_arrays group)
{
    __shared__ __align__(16) unsigned char stages[STRIP_WARPS][BLOCK_SIDE * STAGE_PITCH];
    const int lane = threadIdx.x % WARP;
    unsigned char *const stage = stages[threadIdx.x / WARP];
    const struct strip_job &job = find_job(launch);
    const struct strip_place place = find_strip(job);
    if (!has_strip(job, place, group.flags))
        return;
    struct dct_lane dct = {dct_plain.lanes[lane], 0, 0, 0};
    unsigned char *const samples = stage + lane / 4 * STAGE_PITCH + lane % 4 * 2;
    transform_strip(group, dct,
                    group.quantisers + (job.picture * 3 + job.component) * BLOCK_COEFFICIENTS,
                    strip_block(job.blocks, place, lane), lane, [&](int b, unsigned pair) {
                        *(unsigned short *)(samples + b * BLOCK_SIDE) =
                            (unsigned short)__byte_perm(pair >> 2, 0, 0x4420);
                    });
    report_range(group, dct, job.picture, lane);
    __syncwarp();
    const int x = place.strip * STRIP_PIXELS, y = place.block_row * BLOCK_SIDE;
    struct surface out = job.out;
    if (job.edges)
        out.width = x + STRIP_PIXELS; /* a plane has room for whole strips */
    store_strip(out, stage, x, y, lane);
    if (!job.edges)
        return;
    __syncwarp();
    store_edges(job.out, stage, x, y, lane);
}

cudaError_t gf_jpeg_make_planes(const struct strip_launch &launch, const struct group_arrays &group,
                                cudaStream_t stream)
{
    return launch_kernel(planes_kernel, launch.blocks, STRIP_THREADS, 0, stream, launch, group);
}

/* Computes planes of components with blocks of 4 x 4, 2 x 2 and 1 x 1 samples, and gray pictures,
 * by libjpeg's inverse DCT for reduced pictures (jidctred.c). A lane computes a block. libjpeg's C
 * code and its SIMD code differ in how they treat values beyond 16 bits (and beyond 10 bits at the
 * end). The limits that are tested here keep every value that either code computes within those
 * bits: -8192..8191 for dequantised coefficients, -16384..16383 for the results of the first pass.
 * The magnitudes of the factors of an output add up to less than 86,000, so that no sum exceeds
 * 16384 * 86000 < 2^31. */

enum {
    COEFFICIENT_LIMIT = 1 << 13,
    WORK_LIMIT = 1 << 14,
    SAMPLE_LIMIT = 1 << 9, /* libjpeg represents 0 by 128 */
    FACTOR_BITS = 13,
    WORK_BITS = 2 /* fraction bits of the results of the first pass */
};

/* Computes one pass without its rounding. The sums wrap only if values are beyond the limits. The
 * fraction has FACTOR_BITS + 1 bits for four outputs, and one more for two. */
template <int SIDE>
static __device__ __forceinline__ void reduced_pass(const unsigned in[8], unsigned out[SIDE])
{
    if (SIDE == 4) {
        const unsigned zero = in[0] << (FACTOR_BITS + 1), even = in[2] * 15137 - in[6] * 6270;
        const unsigned outer = in[1] * 20995 + in[3] * 7373 - in[5] * 4926 - in[7] * 4176;
        const unsigned inner = in[1] * 8697 - in[3] * 17799 + in[5] * 11893 - in[7] * 1730;
        out[0] = zero + even + outer;
        out[1] = zero - even + inner;
        out[SIDE - 2] = zero - even - inner;
        out[SIDE - 1] = zero + even - outer;
    } else {
        const unsigned zero = in[0] << (FACTOR_BITS + 2);
        const unsigned odd = in[1] * 29692 - in[3] * 10426 + in[5] * 6967 - in[7] * 5906;
        out[0] = zero + odd;
        out[1] = zero - odd;
    }
}

/* Whether a pass for `side` outputs uses input k. */
static constexpr __host__ __device__ bool takes(int side, int k)
{
    return side == 4 ? k != 4 : k % 2 == 1 || k == 0;
}

static __device__ __forceinline__ unsigned descale(unsigned sum, int bits)
{
    return (unsigned)((int)(sum + (1u << (bits - 1))) >> bits);
}

/* Returns a number that is not zero if the value is not in -limit..limit - 1. */
static __device__ __forceinline__ unsigned exceeds(unsigned value, unsigned limit)
{
    return (value + limit) & ~(2 * limit - 1);
}

static __device__ __forceinline__ unsigned to_sample(unsigned value, unsigned &beyond)
{
    beyond |= exceeds(value, SAMPLE_LIMIT);
    return (unsigned)min(max((int)value + 128, 0), 255);
}

/* Dequantises a column of coefficients. `first` is the coefficient in row 0. */
template <int SIDE>
static __device__ __forceinline__ void
dequantise(const uint4 &coefficients, const uint4 &quantisers, unsigned in[8], unsigned &beyond)
{
    unsigned pairs[4], scales[4];
    unpack(coefficients, pairs);
    unpack(quantisers, scales);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const unsigned pair = pairs[k / 2], scale = scales[k / 2];
        if (!takes(SIDE, k))
            continue;
        in[k] = (unsigned)(k % 2 ? (int)pair >> 16 : (int)(short)pair) *
                (k % 2 ? scale >> 16 : scale & 0xFFFF);
        beyond |= exceeds(in[k], COEFFICIENT_LIMIT);
    }
}

/* Transforms a block. rows[y] gets the samples of a row, a byte each. The quantisers are given
 * column by column. Returns whether a value is beyond the limits. */
template <int SIDE>
static __device__ __forceinline__ bool transform(const uint4 *coefficients, int dc,
                                                 const uint4 *quantisers, unsigned rows[SIDE])
{
    constexpr int FIRST_BITS = FACTOR_BITS - WORK_BITS + (SIDE == 4 ? 1 : 2);
    constexpr int SECOND_BITS = FACTOR_BITS + WORK_BITS + 3 + (SIDE == 4 ? 1 : 2);
    unsigned work[SIDE][8], beyond = 0;
#pragma unroll
    for (int column = 0; column < 8; column++) {
        unsigned in[8], out[SIDE];
        if (!takes(SIDE, column))
            continue;
        dequantise<SIDE>(__ldg(coefficients + column), quantisers[column], in, beyond);
        if (column == 0) {
            in[0] = (unsigned)(dc * (int)(quantisers->x & 0xFFFF));
            beyond |= exceeds(in[0], COEFFICIENT_LIMIT);
        }
        reduced_pass<SIDE>(in, out);
#pragma unroll
        for (int row = 0; row < SIDE; row++) {
            work[row][column] = descale(out[row], FIRST_BITS);
            beyond |= exceeds(work[row][column], WORK_LIMIT);
        }
    }
#pragma unroll
    for (int row = 0; row < SIDE; row++) {
        unsigned out[SIDE];
        reduced_pass<SIDE>(work[row], out);
        rows[row] = 0;
#pragma unroll
        for (int x = 0; x < SIDE; x++)
            rows[row] |= to_sample(descale(out[x], SECOND_BITS), beyond) << 8 * x;
    }
    return beyond != 0;
}

template <>
__device__ __forceinline__ bool transform<1>(const uint4 *, int dc, const uint4 *quantisers,
                                             unsigned rows[1])
{
    unsigned beyond = 0;
    rows[0] = to_sample(descale((unsigned)(dc * (int)(quantisers->x & 0xFFFF)), 3), beyond);
    return beyond != 0;
}

/* Stores the first `count` samples of a row. */
template <int SIDE>
static __device__ __forceinline__ void store_samples(unsigned char *to, unsigned row, int count)
{
    if (SIDE == 4 && count >= SIDE)
        *(unsigned *)to = row;
    else if (SIDE == 2 && count >= SIDE)
        *(unsigned short *)to = (unsigned short)row;
    else {
#pragma unroll
        for (int x = 0; x < SIDE; x++)
            if (x < count)
                to[x] = (unsigned char)(row >> 8 * x);
    }
}

template <int SIDE>
static __device__ __forceinline__ void
make_block(const struct strip_job &job, const struct strip_place &place,
           const struct group_arrays &group, const uint4 *quantisers, int lane)
{
    const unsigned block = strip_block<WARP>(job.blocks, place, lane);
    const int x = (place.strip * WARP + lane) * SIDE, y = place.block_row * SIDE;
    /* A plane, which has edges, has room for whole strips. A gray picture may end earlier. */
    const int count = job.edges ? SIDE : job.out.width - x;
    unsigned rows[SIDE];
    const bool beyond =
        transform<SIDE>((const uint4 *)(group.coefficients + (size_t)block * BLOCK_COEFFICIENTS),
                        group.dc[block], quantisers, rows);
#pragma unroll
    for (int row = 0; row < SIDE; row++)
        if (y + row < job.out.height)
            store_samples<SIDE>(job.out.data + (size_t)(y + row) * job.out.pitch + x, rows[row],
                                count);
    if (__any_sync(~0u, beyond) && lane == 0)
        atomicOr(group.flags + job.picture, JPEG_OUT_OF_RANGE);
}

static __global__ void __launch_bounds__(STRIP_THREADS, STRIP_RESIDENT)
    reduced_kernel(const struct strip_launch launch, const struct group_arrays group)
{
    __shared__ uint4 tables[STRIP_WARPS][8];
    uint4 *const table = tables[threadIdx.x / WARP];
    const int lane = threadIdx.x % WARP;
    const struct strip_job &job = find_job(launch);
    const struct strip_place place = find_strip(job);
    if (!has_strip(job, place, group.flags))
        return;
    const uint16_t *const quantisers =
        group.quantisers + (job.picture * 3 + job.component) * BLOCK_COEFFICIENTS;
    for (int k = lane; k < BLOCK_COEFFICIENTS; k += WARP)
        ((uint16_t *)table)[k % 8 * 8 + k / 8] = quantisers[k];
    __syncwarp();
    if (job.side == 4)
        make_block<4>(job, place, group, table, lane);
    else if (job.side == 2)
        make_block<2>(job, place, group, table, lane);
    else
        make_block<1>(job, place, group, table, lane);
}

cudaError_t gf_jpeg_make_reduced_planes(const struct strip_launch &launch,
                                        const struct group_arrays &group, cudaStream_t stream)
{
    return launch_kernel(reduced_kernel, launch.blocks, STRIP_THREADS, 0, stream, launch, group);
}
