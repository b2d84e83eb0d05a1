/* Undoes the filters of rows, and sums the rows up before. */
#include "cuda/common/launch.cuh"
#include "cuda/png/stripes.cuh"

enum { SUM_THREADS = 256, ADLER = 65521 };

/* ---- checksums: Adler-32, RFC 1950 ---- */

static __device__ __forceinline__ uint64_t sum_block(uint64_t value, uint64_t *warps)
{
    for (int step = WARP / 2; step; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    __syncthreads();
    if (threadIdx.x % WARP == 0)
        warps[threadIdx.x / WARP] = value;
    __syncthreads();
    value = 0;
    for (int i = 0; i < SUM_THREADS / WARP; i++)
        value += warps[i];
    return value;
}

/* Of n bytes b(i): a = 1 + the sum of b(i), b = n + the sum of (n - i) b(i), modulo ADLER. A stripe
 * has less than 2^25 bytes, so that no sum overflows 64 bits. */
static __global__ void __launch_bounds__(SUM_THREADS)
    sum_kernel(const struct png_decode_group group)
{
    __shared__ uint64_t warps[SUM_THREADS / WARP];
    const struct png_stripe stripe = group.stripes[blockIdx.x];
    if (group.flags[stripe.picture]) /* the bytes may not be there */
        return;
    const unsigned n = stripe.filtered_bytes;
    uint64_t a = 0, b = 0;
    for (unsigned i = threadIdx.x; i < n; i += SUM_THREADS) {
        const unsigned byte = stripe.filtered[i];
        a += byte;
        b += (uint64_t)(n - i) * byte;
    }
    a = (1 + sum_block(a, warps)) % ADLER;
    b = (n + sum_block(b, warps)) % ADLER;
    if (!threadIdx.x)
        group.adlers[blockIdx.x] = (unsigned)(b << 16 | a);
}

cudaError_t gf_png_sum_stripes(const struct png_decode_group *group, cudaStream_t stream)
{
    sum_kernel<<<group->count, SUM_THREADS, 0, stream>>>(*group);
    return cudaGetLastError();
}

/* ---- filters ---- */

enum { NONE, SUB, UP, AVERAGE, PAETH, FILTERS };

static __device__ __forceinline__ int paeth(int left, int above, int corner)
{
    const int to_left = abs(above - corner), to_above = abs(left - corner),
              to_corner = abs(left + above - 2 * corner);
    return to_left <= to_above && to_left <= to_corner ? left
           : to_above <= to_corner                     ? above
                                                       : corner;
}

static __device__ __forceinline__ int predicted(int filter, int left, int above, int corner)
{
    return filter == SUB       ? left
           : filter == UP      ? above
           : filter == AVERAGE ? (left + above) / 2
           : filter == PAETH   ? paeth(left, above, corner)
                               : 0;
}

/* A pixel of the row in the picture, its first byte lowest. */
template <int BYTES>
static __device__ __forceinline__ uint64_t load_pixel(const struct png_target &target, int row,
                                                      int x)
{
    const unsigned char *const from = target.data + (uint64_t)row * target.pitch + x * BYTES;
    uint64_t pixel = 0;
#pragma unroll
    for (int i = 0; i < BYTES; i++)
        pixel |= (uint64_t)from[BYTES > 1 && BYTES % 2 == 0 && target.wide ? i ^ 1 : i] << 8 * i;
    return pixel;
}

template <int BYTES>
static __device__ __forceinline__ void store_pixel(const struct png_target &target, int row, int x,
                                                   uint64_t pixel)
{
    unsigned char *const to = target.data + (uint64_t)row * target.pitch + x * BYTES;
#pragma unroll
    for (int i = 0; i < BYTES; i++)
        to[BYTES > 1 && BYTES % 2 == 0 && target.wide ? i ^ 1 : i] =
            (unsigned char)(pixel >> 8 * i);
}

template <int BYTES>
static __device__ __forceinline__ uint64_t undo(int filter, const unsigned char *filtered,
                                                uint64_t left, uint64_t above, uint64_t corner)
{
    uint64_t pixel = 0;
#pragma unroll
    for (int i = 0; i < BYTES; i++) {
        const int byte =
            filtered[i] + predicted(filter, (int)(left >> 8 * i & 255), (int)(above >> 8 * i & 255),
                                    (int)(corner >> 8 * i & 255));
        pixel |= (uint64_t)(byte & 255) << 8 * i;
    }
    return pixel;
}

/* A warp does 32 rows at a time, a lane each, a pixel behind the lane above: what lies above comes
 * from that lane, and for the first one from the picture. */
template <int BYTES>
static __device__ void undo_stripe(const struct png_stripe &stripe, const struct png_target &target,
                                   unsigned *flag)
{
    const int lane = threadIdx.x % WARP;
    for (int first = 0; first < stripe.rows; first += WARP) {
        const int row = first + lane;
        const bool is_row = row < stripe.rows;
        const unsigned char *const from =
            stripe.filtered + (is_row ? (uint64_t)row * stripe.row_bytes : 0);
        const int filter = from[0];
        uint64_t pixel = 0, above = 0;
        if (is_row && filter >= (row ? FILTERS : UP))
            atomicOr(flag, 1u);
        for (int step = 0; step < target.width + WARP - 1; step++) {
            const int x = step - lane;
            const bool is_pixel = is_row && x >= 0 && x < target.width;
            const uint64_t corner = x > 0 ? above : 0, left = x > 0 ? pixel : 0;
            above = __shfl_up_sync(~0u, pixel, 1);
            if (!lane && is_pixel && first)
                above = load_pixel<BYTES>(target, stripe.first_row + row - 1, x);
            if (!is_pixel)
                continue;
            if (!row)
                above = 0;
            pixel = undo<BYTES>(filter, from + 1 + x * BYTES, left, above, corner);
            store_pixel<BYTES>(target, stripe.first_row + row, x, pixel);
        }
        __syncwarp();
    }
}

static __global__ void __launch_bounds__(WARP) unfilter_kernel(const struct png_decode_group group)
{
    const struct png_stripe stripe = group.stripes[blockIdx.x];
    const struct png_target target = group.targets[stripe.picture];
    unsigned *const flag = group.flags + stripe.picture;
    /* One lane reads, since others may flag the picture meanwhile. */
    if (__shfl_sync(~0u, threadIdx.x ? 0 : *(volatile unsigned *)flag, 0))
        return;
    switch (target.pixel_bytes) {
    case 1:
        return undo_stripe<1>(stripe, target, flag);
    case 2:
        return undo_stripe<2>(stripe, target, flag);
    case 3:
        return undo_stripe<3>(stripe, target, flag);
    case 4:
        return undo_stripe<4>(stripe, target, flag);
    case 6:
        return undo_stripe<6>(stripe, target, flag);
    default:
        return undo_stripe<8>(stripe, target, flag);
    }
}

cudaError_t gf_png_unfilter(const struct png_decode_group *group, cudaStream_t stream)
{
    unfilter_kernel<<<group->count, WARP, 0, stream>>>(*group);
    return cudaGetLastError();
}
