#include "cuda/filters/median/median.cuh"

#include <limits.h>

#include "cuda/common/walk.cuh"

/* Medians of 3x3 windows by networks of minima and maxima, in a walk down strips
 * (cuda/common/walk.cuh). A word holds two samples of the same column, two rows apart. From sm_90
 * on the minimum or maximum of two such words is one instruction. */
#define NET static __device__ __forceinline__
#define NET_TYPE uint32_t
#define NET_MIN(a, b) __vminu2(a, b)
#define NET_MAX(a, b) __vmaxu2(a, b)
#define NET_NAME(name) name
#include "filters/median/median_net.h"

constexpr int STEP = 4; /* the number of rows that are computed together */

/* The positions of a lane's samples in the words of a row. */
template <class Sample, int CHANNELS> struct strip_layout {
    static constexpr int PER_WORD = 4 / sizeof(Sample);
    static constexpr int BESIDE = CHANNELS > PER_WORD ? 2 : 1;
    static constexpr int WORDS = 4 + 2 * BESIDE;
    static constexpr int FIRST = BESIDE * PER_WORD; /* the index of the lane's first own sample */
    static constexpr int COUNT = 4 * PER_WORD;
};

/* Returns samples i of two rows in one word. A sample of 8 bits is in both bytes of its half, so
 * that a comparison of halves compares only the samples. */
template <class Sample>
static __device__ __forceinline__ uint32_t pair_of(const uint32_t *row, const uint32_t *other,
                                                   int i)
{
    const uint32_t bytes =
        sizeof(Sample) == 1 ? (i % 4) * 0x1111 + 0x4400 : (i % 2) * 0x2222 + 0x5410;
    return __byte_perm(row[i * sizeof(Sample) / 4], other[i * sizeof(Sample) / 4], bytes);
}

/* Returns the median of the middle samples of three columns; the middle column is number `column`
 * of its channel. The comparison of two of the samples is used for the neighbouring window, too. */
static __device__ __forceinline__ uint32_t middle_of(uint32_t left, uint32_t middle, uint32_t right,
                                                     int column)
{
    return column % 2 ? net_middle(left, middle, right) : net_middle(middle, right, left);
}

/* Computes the medians of rows 1 to 4 of the six rows. The lower halves of result[0] and result[1]
 * have rows 1 and 2, the upper halves rows 3 and 4. */
template <class Sample, int CHANNELS, class Layout>
static __device__ __forceinline__ void median_pairs(const uint32_t (&rows)[STEP + 2][Layout::WORDS],
                                                    uint32_t (&result)[2][Layout::COUNT])
{
    constexpr int FIRST = Layout::FIRST, COUNT = Layout::COUNT;
    uint32_t rank[2][FIRST + COUNT + CHANNELS][3];
#pragma unroll
    for (int i = FIRST - CHANNELS; i < FIRST + COUNT + CHANNELS; i++) {
        uint32_t v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = pair_of<Sample>(rows[k], rows[k + 2], i);
        net_sort3_twice(v, rank[0][i], rank[1][i]);
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const uint32_t *const left = rank[k][FIRST + i - CHANNELS];
            const uint32_t *const here = rank[k][FIRST + i];
            const uint32_t *const right = rank[k][FIRST + i + CHANNELS];
            const uint32_t low = __vmaxu2(__vmaxu2(left[0], here[0]), right[0]);
            const uint32_t high = __vminu2(__vminu2(left[2], here[2]), right[2]);
            result[k][i] =
                net_middle(low, middle_of(left[1], here[1], right[1], i / CHANNELS), high);
        }
    }
}

/* Packs the lane's words of the upper or the lower of the two rows that `result` holds. */
template <class Sample, int COUNT>
static __device__ __forceinline__ void pack_row(const uint32_t (&result)[COUNT], bool is_lower,
                                                uint32_t (&out)[4])
{
#pragma unroll
    for (int w = 0; w < 4; w++) {
        if constexpr (sizeof(Sample) == 1) {
            const uint32_t left = __byte_perm(result[4 * w], result[4 * w + 1], 0x7351);
            const uint32_t right = __byte_perm(result[4 * w + 2], result[4 * w + 3], 0x7351);
            out[w] = __byte_perm(left, right, is_lower ? 0x7632 : 0x5410);
        } else {
            out[w] = __byte_perm(result[2 * w], result[2 * w + 1], is_lower ? 0x7632 : 0x5410);
        }
    }
}

template <class Sample, int CHANNELS> struct median_of_nine : walk_stencil<Sample, CHANNELS> {
    typedef strip_layout<Sample, CHANNELS> layout;
    static constexpr int BESIDE = layout::BESIDE, WORDS = layout::WORDS;
    static constexpr int ROWS = 12, STEP = ::STEP, PERIOD = STEP;
    static constexpr bool EARLY = false;
    /* The number of blocks for which the registers do not spill. Before sm_90 the minima and maxima
     * of pairs are several instructions, and take more registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    static constexpr int BLOCKS = 2;
#else
    static constexpr int BLOCKS = 4;
#endif
    struct constants {
    };

    uint32_t rows[STEP + 2][WORDS];
    uint32_t result[2][layout::COUNT];

    __device__ __forceinline__ explicit median_of_nine(const constants &)
    {
    }
    __device__ __forceinline__ void take(const unsigned (&word)[WORDS], int phase)
    {
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            rows[phase + 2][w] = word[w];
        if (phase == STEP - 1)
            median_pairs<Sample, CHANNELS, layout>(rows, result);
    }
    __device__ __forceinline__ void make(int phase, unsigned (&out)[4])
    {
        pack_row<Sample>(result[phase % 2], phase / 2, out);
        if (phase < 2) { /* the last two rows are the first two of the next step */
#pragma unroll
            for (int w = 0; w < WORDS; w++)
                rows[phase][w] = rows[phase + STEP][w];
        }
    }
};

extern "C" int gf_median_cuda(const struct gf_launch *launch)
{
    if (gf_row_bytes(launch->in.format) > INT_MAX / 2)
        return cudaErrorInvalidValue; /* the kernel counts the samples of a row in int */
    const struct gf_median *const median = (const struct gf_median *)launch->stage->params;
    const struct view_pair p = view_pair_of(launch, median->border);
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    if (median->radius == 2)
        return gf_median_tiles(p, stream);
    if (median->radius == 1)
        return for_stencil_samples(p, [&](auto sample, auto channels) -> int {
            return walk_strips<median_of_nine<decltype(sample), decltype(channels)::value>>(p, {},
                                                                                            stream);
        });
    return gf_median_tree(p, median->radius, stream);
}

extern "C" int gf_median_fused_cuda(const struct gf_launch *launch)
{
    const struct gf_median *const median = (const struct gf_median *)launch->stage->params;
    const struct view_pair p = view_pair_of(launch, median->border);
    if (gf_row_bytes(launch->in.format) > INT_MAX / 2)
        return cudaErrorInvalidValue;
    if (p.straight)
        return gf_median_cuda(launch);
    return for_fuse(launch, [&](auto fuse) -> int {
        const cudaStream_t stream = (cudaStream_t)launch->stream;
        return p.channels == 1
                   ? walk_strips<median_of_nine<unsigned char, 1>, decltype(fuse)>(p, {}, stream)
                   : walk_strips<median_of_nine<unsigned char, 3>, decltype(fuse)>(p, {}, stream);
    });
}
