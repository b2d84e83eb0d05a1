/* Histograms of 16-bit samples by packed counters. A block counts in 128 KB of shared memory with
 * 16-bit counters if it can have that memory, otherwise directly in the picture's histogram. */
#pragma once

#include "cuda/filters/histogram/histogram.cuh"
#include "pixel/sample.h"

enum {
    THREADS_16 = 1024,
    BINS_16 = 65536,
    WORDS_16 = BINS_16 / 2, /* a word has two counters */
    /* A 16-bit counter that reaches SPILL is added to the picture's counter and reset to 0. */
    SPILL = 32768
};

struct counter_16 {
    unsigned *shared; /* [WORDS_16]; NULL: the block counts directly in the picture's histogram */
    unsigned long long *count;
};

/* Counts a level. If an addition makes a counter SPILL, its thread moves SPILL to the picture's
 * histogram. Between two barriers a block counts fewer than SPILL pixels, so that no counter
 * overflows before it is moved. */
static __device__ __forceinline__ void count_16(const struct counter_16 &counter, unsigned bin)
{
    if (!counter.shared) {
        atomicAdd(&counter.count[bin], 1ull);
        return;
    }
    const unsigned shift = bin % 2 * 16;
    const unsigned before = atomicAdd(&counter.shared[bin / 2], 1u << shift);
    if ((before >> shift & 65535u) == SPILL - 1) {
        atomicSub(&counter.shared[bin / 2], (unsigned)SPILL << shift);
        atomicAdd(&counter.count[bin], (unsigned long long)SPILL);
    }
}

static __device__ __forceinline__ void clear_16(unsigned *words)
{
    for (int i = (int)threadIdx.x; i < WORDS_16; i += THREADS_16)
        words[i] = 0;
}

/* Adds the block's counters to the picture's. */
static __device__ __forceinline__ void add_up_16(const struct counter_16 &counter)
{
    for (int i = (int)threadIdx.x; i < WORDS_16; i += THREADS_16) {
        const unsigned word = counter.shared[i];
        if (word & 65535u)
            atomicAdd(&counter.count[2 * i], (unsigned long long)(word & 65535u));
        if (word >> 16)
            atomicAdd(&counter.count[2 * i + 1], (unsigned long long)(word >> 16));
    }
}

struct pixel_16 {
    unsigned r, g, b, alpha;
};

static __device__ __forceinline__ void count_pixel_16(const struct counter_16 &counter, int source,
                                                      int colours, const struct pixel_16 &p,
                                                      const struct gf_lightness *lightness)
{
    if (!p.alpha)
        return;
    if (source == LUMA) {
        count_16(counter, (unsigned)gf_luma601_16((int)p.r, (int)p.g, (int)p.b));
    } else if (source == LIGHTNESS) {
        const struct gf_rgb linear = {lightness->linear[p.r], lightness->linear[p.g],
                                      lightness->linear[p.b]};
        count_16(counter, (unsigned)gf_lightness_bin(linear, lightness->curve));
    } else if (source == CHANNELS) {
        count_16(counter, blockIdx.y == 0 ? p.r : blockIdx.y == 1 ? p.g : p.b);
    } else {
        count_16(counter, p.r);
        if (colours == 3) {
            count_16(counter, p.g);
            count_16(counter, p.b);
        }
    }
}

/* Returns sample i of the words. */
static __device__ __forceinline__ unsigned sample_of(const unsigned *w, int i)
{
    return w[i / 2] >> 16 * (i % 2) & 65535u;
}

template <int COUNT>
static __device__ __forceinline__ struct pixel_16 pixel_of(const unsigned *w, int i)
{
    const int green = COUNT >= 3 ? 1 : 0;
    return {sample_of(w, i), sample_of(w, i + green), sample_of(w, i + 2 * green),
            COUNT % 2 == 0 ? sample_of(w, i + COUNT - 1) : 1u};
}

/* Counts the picture. With CHANNELS, blockIdx.y is the channel. */
template <int COUNT>
__global__ void __launch_bounds__(THREADS_16)
    histogram16_kernel(const struct view_pair p, unsigned full, unsigned tail, int source,
                       bool use_shared, unsigned long long *count,
                       const struct gf_lightness *lightness)
{
    constexpr int vectors = COUNT == 3 ? 3 : 1, pixels = vectors * 8 / COUNT;
    static_assert(THREADS_16 * pixels * (COUNT >= 3 ? 3 : 1) < SPILL, "counters overflow");
    extern __shared__ unsigned words[];
    const struct counter_16 counter = {use_shared ? words : NULL,
                                       count + (size_t)blockIdx.y * BINS_16};
    if (use_shared)
        clear_16(words);
    const int colours = COUNT >= 3 ? 3 : 1;
    const unsigned row_items = full + (tail ? 1 : 0);
    const unsigned items = p.rows * row_items;
    for (unsigned first = blockIdx.x * THREADS_16; first < items; first += gridDim.x * THREADS_16) {
        __syncthreads();
        const struct position at = position_of(first + threadIdx.x, p.rows, row_items);
        const unsigned char *const in =
            p.in + at.row * p.in_pitch + (size_t)at.column * vectors * VECTOR;
        if (at.row < p.rows && at.column < full) {
            unsigned w[vectors * 4];
#pragma unroll
            for (int i = 0; i < vectors; i++) {
                unpack(((const uint4 *)in)[i], w + 4 * i);
            }
#pragma unroll
            for (int i = 0; i < pixels; i++)
                count_pixel_16(counter, source, colours, pixel_of<COUNT>(w, i * COUNT), lightness);
        } else if (at.row < p.rows && at.column == full) {
            const unsigned short *sample = (const unsigned short *)in;
#pragma unroll 1
            for (unsigned i = 0; i < tail; i++, sample += COUNT) {
                unsigned w[2] = {sample[0], 0};
                if (COUNT >= 2)
                    w[0] |= (unsigned)sample[COUNT >= 2 ? 1 : 0] << 16;
                if (COUNT >= 3)
                    w[1] |= sample[COUNT >= 3 ? 2 : 0];
                if (COUNT >= 4)
                    w[1] |= (unsigned)sample[COUNT >= 4 ? 3 : 0] << 16;
                count_pixel_16(counter, source, colours, pixel_of<COUNT>(w, 0), lightness);
            }
        }
    }
    __syncthreads();
    if (use_shared)
        add_up_16(counter);
}

static inline cudaError_t packed_fits(bool *fits)
{
    int available = 0;
    const cudaError_t status = shared_most(&available);
    *fits = available >= WORDS_16 * 4;
    return status;
}

template <int COUNT> static cudaError_t launch_16(const struct count_request *request)
{
    constexpr unsigned vectors = COUNT == 3 ? 3 : 1, pixels = vectors * 8 / COUNT;
    const struct view_pair *const p = &request->p;
    const int size = WORDS_16 * 4;
    bool use_shared = false;
    cudaError_t status = packed_fits(&use_shared);
    if (status == cudaSuccess && use_shared)
        status = allow_shared((const void *)histogram16_kernel<COUNT>, size);
    const unsigned full = p->width / pixels, tail = p->width % pixels;
    const size_t shared_bytes = use_shared ? (size_t)size : 0;
    dim3 blocks(blocks_for(p->rows * (full + !!tail), THREADS_16),
                request->source == CHANNELS && COUNT >= 3 ? 3 : 1);
    if (status == cudaSuccess)
        status = resident_blocks((const void *)histogram16_kernel<COUNT>, THREADS_16, shared_bytes,
                                 blocks.x, &blocks.x);
    if (status != cudaSuccess)
        return status;
    histogram16_kernel<COUNT><<<blocks, THREADS_16, shared_bytes, request->stream>>>(
        *p, full, tail, request->source, use_shared, request->count, request->lightness);
    return cudaGetLastError();
}
