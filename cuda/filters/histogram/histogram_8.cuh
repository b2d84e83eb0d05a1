/* Histograms of 8-bit samples. Each block counts in shared memory and adds its histogram to the
 * picture's at the end. It keeps several copies of each counter, so that the lanes of a warp do not
 * wait for each other. */
#pragma once

#include "cuda/common/early.cuh"
#include "cuda/filters/histogram/histogram.cuh"

enum { THREADS_8 = 1024, BINS_8 = 256 };

struct lightness_8 {
    float linear[256][WARP]; /* the table's copies, one for each lane in its own bank */
    uint32_t step[GF_LIGHTNESS_SEGMENTS];
};

/* The layout of the counters. A lane uses copy number lane % copies. With 32 copies each lane
 * accesses its own bank, whatever it counts; if 32 copies do not fit, two lanes share a copy. */
template <int SOURCE> struct layout {
    static constexpr int copies = SOURCE == CHANNELS || SOURCE == LIGHTNESS ? WARP / 2 : WARP;
    static constexpr int histograms = SOURCE == CHANNELS ? 3 : 1;
    static constexpr unsigned stride = copies * 4; /* bytes from one bin to the next */
    static constexpr int counters = histograms * BINS_8 * copies;
    static constexpr int bytes =
        counters * 4 + (SOURCE == LIGHTNESS ? sizeof(struct lightness_8) : 0);
};

/* Returns base + scale * byte i of the words, in one instruction. i is a constant, and scale is at
 * most 128. */
static __device__ __forceinline__ unsigned byte_of(const unsigned *w, int i, unsigned scale,
                                                   unsigned base)
{
    return __dp4a(w[i / 4], scale << 8 * (i % 4), base);
}

/* Returns 256 times the luma of the three bytes from byte i on; the lower 8 bits are its
 * fraction. */
static __device__ __forceinline__ unsigned luma_sum(const unsigned *w, int i)
{
    const int k = i % 4;
    if (k <= 1)
        return __dp4a(w[i / 4], 0x1d964du << 8 * k, 128u);
    if (k == 2)
        return __dp4a(w[i / 4], 0x964d0000u, __dp4a(w[i / 4 + 1], 0x1du, 128u));
    return __dp4a(w[i / 4], 0x4d000000u, __dp4a(w[i / 4 + 1], 0x1d96u, 128u));
}

static __device__ __forceinline__ void count_at(unsigned *counters, unsigned address)
{
    atomicAdd((unsigned *)((unsigned char *)counters + address), 1u);
}

static __device__ __forceinline__ float light_of(const struct lightness_8 *tables,
                                                 const unsigned *w, int i)
{
    const unsigned offset = byte_of(w, i, 4 * WARP, threadIdx.x % WARP * 4);
    return *(const float *)((const unsigned char *)tables->linear + offset);
}

/* Counts the pixel whose samples begin at byte i. `copy` is the byte offset of the lane's copy. */
template <int SOURCE, int COUNT>
static __device__ __forceinline__ void count_pixel(unsigned *counters, unsigned copy,
                                                   const unsigned *w, int i,
                                                   const struct lightness_8 *tables)
{
    const unsigned stride = layout<SOURCE>::stride;
    if (COUNT % 2 == 0 && !byte_of(w, i + COUNT - 1, 1, 0))
        return;
    if (SOURCE == LUMA) {
        count_at(counters, (luma_sum(w, i) / 2 & 0x7f80u) + copy); /* luma * stride */
    } else if (SOURCE == LIGHTNESS) {
        const int green = COUNT >= 3 ? 1 : 0;
        const struct gf_rgb p = {light_of(tables, w, i), light_of(tables, w, i + green),
                                 light_of(tables, w, i + 2 * green)};
        const unsigned bin = (unsigned)gf_lightness_bin_8(p, tables->step);
        count_at(counters, bin * stride + copy);
    } else {
        const int colours = COUNT >= 3 ? 3 : 1;
#pragma unroll
        for (int c = 0; c < colours; c++) {
            const unsigned histogram = SOURCE == CHANNELS ? (unsigned)c * BINS_8 * stride : 0;
            count_at(counters, byte_of(w, i + c, stride, copy) + histogram);
        }
    }
}

/* Adds the copies of a bin, which is a thread's work. Threads begin with different copies, so that
 * the lanes of a warp read different banks. */
template <int SOURCE>
static __device__ __forceinline__ void add_up(const unsigned *counters, unsigned long long *count)
{
    const int copies = layout<SOURCE>::copies;
    constexpr int bins = layout<SOURCE>::histograms * BINS_8;
    for (int bin = (int)threadIdx.x; bin < bins; bin += (int)blockDim.x) {
        unsigned sum = 0;
#pragma unroll
        for (int i = 0; i < copies; i++)
            sum += counters[bin * copies + (bin + i) % copies];
        if (sum)
            atomicAdd(&count[bin], (unsigned long long)sum);
    }
}

/* Counts the picture. A thread reads whole pixels in whole vectors: three vectors at a time for
 * RGB, otherwise two. */
template <int SOURCE, int COUNT>
__global__ void __launch_bounds__(THREADS_8)
    histogram8_kernel(const struct view_pair p, unsigned full, unsigned tail,
                      unsigned long long *count, const struct gf_lightness *lightness)
{
    constexpr int vectors = COUNT == 3 ? 3 : 1, groups = COUNT == 3 ? 1 : 2;
    constexpr int pixels = vectors * VECTOR / COUNT;
    extern __shared__ __align__(16) unsigned counters[];
    struct lightness_8 *const tables = (struct lightness_8 *)(counters + layout<SOURCE>::counters);
    early_next();
    for (int i = (int)threadIdx.x; i < layout<SOURCE>::counters / 4; i += THREADS_8)
        ((uint4 *)counters)[i] = make_uint4(0, 0, 0, 0);
    for (int i = (int)threadIdx.x; SOURCE == LIGHTNESS && i < 256 * WARP; i += THREADS_8)
        tables->linear[i / WARP][i % WARP] = lightness->linear[i / WARP];
    for (int i = (int)threadIdx.x; SOURCE == LIGHTNESS && i < GF_LIGHTNESS_SEGMENTS; i += THREADS_8)
        tables->step[i] = lightness->step[i];
    early_wait();
    __syncthreads();
    const unsigned copy = 4 * (threadIdx.x % layout<SOURCE>::copies);
    const unsigned row_items = full + (tail ? 1 : 0);
    const unsigned items = p.rows * row_items, step = THREADS_8 * groups;
    for (unsigned first = blockIdx.x * step; first < items; first += gridDim.x * step) {
        unsigned w[groups][vectors * 4];
        struct position at[groups];
#pragma unroll
        for (int k = 0; k < groups; k++) {
            at[k] = position_of(first + (unsigned)k * THREADS_8 + threadIdx.x, p.rows, row_items);
            if (at[k].row >= p.rows || at[k].column >= full)
                continue;
            const uint4 *const in =
                (const uint4 *)(p.in + at[k].row * p.in_pitch) + (size_t)at[k].column * vectors;
#pragma unroll
            for (int i = 0; i < vectors; i++) {
                unpack(in[i], w[k] + 4 * i);
            }
        }
#pragma unroll
        for (int k = 0; k < groups; k++) {
            if (at[k].row < p.rows && at[k].column < full) {
#pragma unroll
                for (int i = 0; i < pixels; i++)
                    count_pixel<SOURCE, COUNT>(counters, copy, w[k], i * COUNT, tables);
            } else if (at[k].row < p.rows && at[k].column == full) {
                const unsigned char *in =
                    p.in + at[k].row * p.in_pitch + (size_t)full * vectors * VECTOR;
#pragma unroll 1
                for (unsigned i = 0; i < tail; i++) {
                    unsigned word[1] = {0};
#pragma unroll
                    for (int c = 0; c < COUNT; c++)
                        word[0] |= (unsigned)*in++ << 8 * c;
                    count_pixel<SOURCE, COUNT>(counters, copy, word, 0, tables);
                }
            }
        }
    }
    __syncthreads();
    add_up<SOURCE>(counters, count);
}

template <int SOURCE, int COUNT> static cudaError_t launch_8(const struct count_request *request)
{
    constexpr unsigned vectors = COUNT == 3 ? 3 : 1, groups = COUNT == 3 ? 1 : 2;
    constexpr unsigned pixels = vectors * VECTOR / COUNT;
    const struct view_pair *const p = &request->p;
    const unsigned full = p->width / pixels, tail = p->width % pixels;
    unsigned blocks = blocks_for(p->rows * (full + !!tail), THREADS_8 * groups);
    const void *const kernel = (const void *)histogram8_kernel<SOURCE, COUNT>;
    constexpr int bytes = layout<SOURCE>::bytes;
    cudaError_t status = allow_shared(kernel, bytes);
    if (status == cudaSuccess)
        status = resident_blocks(kernel, THREADS_8, bytes, blocks, &blocks);
    if (status != cudaSuccess)
        return status;
    return launch_early(histogram8_kernel<SOURCE, COUNT>, blocks, THREADS_8, (size_t)bytes,
                        request->stream, *p, full, tail, request->count, request->lightness);
}

template <int COUNT> static cudaError_t launch_colour_8(const struct count_request *request)
{
    switch (request->source) {
    case LUMA:
        return launch_8<LUMA, COUNT>(request);
    case CHANNELS:
        return launch_8<CHANNELS, COUNT>(request);
    case JOINT:
        return launch_8<JOINT, COUNT>(request);
    default:
        return launch_8<LIGHTNESS, COUNT>(request);
    }
}

template <int COUNT> static cudaError_t launch_gray_8(const struct count_request *request)
{
    return request->source == LIGHTNESS ? launch_8<LIGHTNESS, COUNT>(request)
                                        : launch_8<SAMPLE, COUNT>(request);
}
