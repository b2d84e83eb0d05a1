/* Counts histograms of 8 and of 16 bits in shared memory. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "pixel/colour.h"
#include "pixel/sample.h"

/* The levels that are counted. SAMPLE means the only colour channel of a gray picture, and JOINT
 * all colour samples in one histogram. */
enum level_source { SAMPLE, LUMA, CHANNELS, JOINT, LIGHTNESS };

static inline int source_of(enum gf_statistic statistic, struct gf_format format)
{
    switch (statistic) {
    case GF_STATISTIC_LIGHTNESS:
        return LIGHTNESS;
    case GF_STATISTIC_CHANNELS:
        return gf_colour_channels(format) == 3 ? CHANNELS : SAMPLE;
    case GF_STATISTIC_JOINT:
        return gf_colour_channels(format) == 3 ? JOINT : SAMPLE;
    default:
        return gf_colour_channels(format) == 3 ? LUMA : SAMPLE;
    }
}

struct count_request {
    struct view_pair p;
    int source;
    unsigned long long *count;
    const struct gf_lightness *lightness;
    cudaStream_t stream;
};

/* Histograms of 8-bit samples. Each block counts in shared memory and adds its histogram to the
 * picture's at the end. It keeps several copies of each counter, so that the lanes of a warp do not
 * wait for each other. */

enum { THREADS_8 = 1024, BINS_8 = 256 };

struct lightness_8 {
    float linear[256][WARP]; /* the table's copies, one for each lane in its own bank */
    uint32_t step[GF_LIGHTNESS_PIECES];
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

/* Returns 256 times the luma of the three bytes from byte i on: 77 R + 150 G + 29 B + 128. The
 * lower 8 bits are its fraction. */
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
    for (int i = (int)threadIdx.x; SOURCE == LIGHTNESS && i < GF_LIGHTNESS_PIECES; i += THREADS_8)
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
    return launch_resident(histogram8_kernel<SOURCE, COUNT>,
                           blocks_for(p->rows * (full + !!tail), THREADS_8 * groups), THREADS_8,
                           layout<SOURCE>::bytes, request->stream, *p, full, tail, request->count,
                           request->lightness);
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

/* Histograms of 16-bit samples by packed counters. A block counts in 128 KB of shared memory with
 * 16-bit counters if it can have that memory, otherwise directly in the picture's histogram. */

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
    LAUNCH_TRY(packed_fits(&use_shared));
    if (use_shared)
        LAUNCH_TRY(allow_shared(histogram16_kernel<COUNT>, size));
    const unsigned full = p->width / pixels, tail = p->width % pixels;
    const size_t shared_bytes = use_shared ? (size_t)size : 0;
    dim3 blocks(blocks_for(p->rows * (full + !!tail), THREADS_16),
                request->source == CHANNELS && COUNT >= 3 ? 3 : 1);
    LAUNCH_TRY(
        resident_blocks(histogram16_kernel<COUNT>, THREADS_16, shared_bytes, blocks.x, &blocks.x));
    return launch_kernel(histogram16_kernel<COUNT>, blocks, THREADS_16, shared_bytes,
                         request->stream, *p, full, tail, request->source, use_shared,
                         request->count, request->lightness);
}
