#include "cuda/filters/resize/resize.cuh"

constexpr int THREADS = 128;
constexpr int GROUP = 4; /* pixels of a thread, in a row */
constexpr int ROWS = 2;  /* rows of a thread: so many of its loads are on their way at once */
constexpr int GRID_Y = 32768;

/* A pixel of 8 bytes at most, at any place that is a multiple of its samples' size. Words are read,
 * not bytes, unless they reach beyond the row, of which `left` bytes are left from `at` on. */
template <int PIXEL>
static __device__ __forceinline__ uint2 load_pixel(const unsigned char *row, int at, int left)
{
    if (PIXEL == 1)
        return make_uint2(__ldg(row + at), 0);
    if (PIXEL == 2)
        return make_uint2(__ldg((const uint16_t *)(row + at)), 0);
    if (PIXEL == 4)
        return make_uint2(__ldg((const uint32_t *)(row + at)), 0);
    if (PIXEL == 8)
        return __ldg((const uint2 *)(row + at));
    if (left < 8) {
        uint64_t v = 0;
        for (int i = 0; i < PIXEL; i++)
            v |= (uint64_t)__ldg(row + at + i) << (8 * i);
        return make_uint2((uint32_t)v, (uint32_t)(v >> 32));
    }
    const uint32_t *const word = (const uint32_t *)(row + at / 4 * 4);
    const int shift = at % 4;
    const uint32_t low = __ldg(word);
    const uint32_t high = shift + PIXEL > 4 ? __ldg(word + 1) : 0;
    return make_uint2(__funnelshift_r(low, high, 8 * shift), high >> (8 * shift));
}

/* Four pixels, packed, to `to`, which is aligned to what they fill. */
template <int PIXEL>
static __device__ __forceinline__ void store_pixels(unsigned char *to, const uint2 (&pixel)[GROUP])
{
    uint32_t word[PIXEL] = {};
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
        constexpr uint32_t LOW_MASK = PIXEL < 4 ? (1u << (8 * (PIXEL % 4))) - 1 : ~0u;
        constexpr uint32_t HIGH_MASK = PIXEL < 8 ? (1u << (8 * (PIXEL % 4))) - 1 : ~0u;
        const int bit = i * PIXEL * 8, at = bit / 32, shift = bit % 32;
        const uint64_t v =
            (pixel[i].x & LOW_MASK) | (uint64_t)(PIXEL > 4 ? pixel[i].y & HIGH_MASK : 0) << 32;
        word[at] |= (uint32_t)(v << shift);
        if (shift + PIXEL * 8 > 32 && at + 1 < PIXEL)
            word[at + 1] |= (uint32_t)((v << shift) >> 32);
    }
    if (PIXEL % 4 == 0) {
#pragma unroll
        for (int i = 0; i < PIXEL / 4; i++)
            ((uint4 *)to)[i] = make_uint4(word[4 * i % PIXEL], word[(4 * i + 1) % PIXEL],
                                          word[(4 * i + 2) % PIXEL], word[(4 * i + 3) % PIXEL]);
    } else if (PIXEL % 2 == 0) {
#pragma unroll
        for (int i = 0; i < PIXEL / 2; i++)
            ((uint2 *)to)[i] = make_uint2(word[2 * i % PIXEL], word[(2 * i + 1) % PIXEL]);
    } else {
#pragma unroll
        for (int i = 0; i < PIXEL; i++)
            ((uint32_t *)to)[i] = word[i];
    }
}

template <int PIXEL>
static __global__ void __launch_bounds__(THREADS) pick_kernel(struct resize_band band)
{
    const int x = (blockIdx.x * THREADS + threadIdx.x) * GROUP;
    if (x >= band.width)
        return;
    const int row_bytes = band.in_width * PIXEL, pixels = min(band.width - x, GROUP);
    int at[GROUP];
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        at[i] = __ldg(band.column_start + x + min(i, pixels - 1)) * PIXEL;
    for (int first = blockIdx.y * ROWS; first < band.rows; first += GRID_Y * ROWS) {
        uint2 pixel[ROWS][GROUP];
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            const int y = __ldg(band.row_start + band.first + min(first + k, band.rows - 1));
            const unsigned char *const row =
                band.in + (y - band.in_first) * (ptrdiff_t)band.in_pitch;
#pragma unroll
            for (int i = 0; i < GROUP; i++)
                pixel[k][i] = load_pixel<PIXEL>(row, at[i], row_bytes - at[i] / 4 * 4);
        }
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            unsigned char *const out =
                band.out + (size_t)(first + k) * band.out_pitch + (size_t)x * PIXEL;
            if (first + k >= band.rows)
                continue;
            if (pixels == GROUP) {
                store_pixels<PIXEL>(out, pixel[k]);
                continue;
            }
#pragma unroll
            for (int i = 0; i < GROUP - 1; i++) {
                const uint64_t v = pixel[k][i].x | (uint64_t)pixel[k][i].y << 32;
                for (int b = 0; i < pixels && b < PIXEL; b++)
                    out[i * PIXEL + b] = (unsigned char)(v >> (8 * b));
            }
        }
    }
}

template <int PIXEL> static int launch_pick(const struct resize_band &band, cudaStream_t stream)
{
    const int groups = (band.width + GROUP - 1) / GROUP, pairs = (band.rows + ROWS - 1) / ROWS;
    const dim3 grid((groups + THREADS - 1) / THREADS, pairs < GRID_Y ? pairs : GRID_Y);
    pick_kernel<PIXEL><<<grid, THREADS, 0, stream>>>(band);
    return cudaGetLastError();
}

int gf_resize_nearest(const struct resize_band &band, int pixel_bytes, cudaStream_t stream)
{
    switch (pixel_bytes) {
    case 1:
        return launch_pick<1>(band, stream);
    case 2:
        return launch_pick<2>(band, stream);
    case 3:
        return launch_pick<3>(band, stream);
    case 4:
        return launch_pick<4>(band, stream);
    case 6:
        return launch_pick<6>(band, stream);
    default:
        return launch_pick<8>(band, stream);
    }
}
