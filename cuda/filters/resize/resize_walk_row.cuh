/* The work on one row of the input by the threads of resize_walk.cuh. */
#pragma once

#include "cuda/common/straight.cuh"
#include "cuda/filters/resize/resize.cuh"

namespace walk
{

constexpr int THREADS = 128;
constexpr int AHEAD = 4; /* rows by which prefetches run ahead of the loads */

/* The compile-time parameters of a kernel. WINDOW is the number of pixels that a group reads; 0
 * means any multiple of 4, with weights loaded again for each row. TAPS is not 0 if the picture
 * becomes half as wide; column i of a group is then computed from pixels 2 i .. 2 i + TAPS - 1 of
 * the window, and the windows of all groups begin at the same byte of a word. If STRAIGHT is
 * not 0, the pictures are straight RGBA of so many bits, of which the 16 bits of premultiplied
 * colour are resized. */
template <int CHANNELS_, int BITS_, bool LIGHT_, int GROUP_, int WINDOW_, int TAPS_, int REACH_,
          bool GATHERS_, int STRAIGHT_ = 0>
struct Config {
    static constexpr int CHANNELS = CHANNELS_, BITS = BITS_, REACH = REACH_;
    static constexpr int GROUP = GROUP_, WINDOW = WINDOW_, TAPS = TAPS_;
    static constexpr bool LIGHT = LIGHT_, GATHERS = GATHERS_;
    static constexpr int STRAIGHT = STRAIGHT_;
    static constexpr int SUMS = GROUP * CHANNELS;
    static constexpr int STRIDE = REACH == 2 ? 4 : 8; /* equals gf_resample_walk_stride() */
    static constexpr int PIXEL = CHANNELS * BITS / 8; /* bytes while it is resized, */
    static constexpr int STORED = STRAIGHT == 8 ? CHANNELS : PIXEL; /* and in the pictures */
    static constexpr int SPAN = WINDOW ? WINDOW : 4; /* pixels that are processed together */
    static constexpr int BYTES = SPAN * PIXEL;
    /* The byte of the row at which the window of group 0 begins, and its offset in its word. */
    static constexpr int START = TAPS ? -(TAPS / 2 - 1) * STORED : 0;
    static constexpr int OFFSET = START & 3;
    static constexpr bool FIXED = TAPS || PIXEL % 4 == 0; /* OFFSET holds for all groups */
    static constexpr int WORDS =
        FIXED ? (OFFSET + BYTES + 3) / 4 : (BYTES + (BITS == 8 ? 6 : 5)) / 4;
    static constexpr int LOADED =
        STRAIGHT == 8 ? SPAN : WORDS; /* the words of a window in the picture */
    static constexpr int NEEDED =
        /* The number of words after they are shifted to offset 0. */
        FIXED ? WORDS : (BYTES + 3) / 4;
    static constexpr int HELD = FIXED ? LOADED : NEEDED; /* the words of a window in registers */
    /* The number of blocks on a multiprocessor. The sums and two rows of words determine the
     * registers. */
    static constexpr int RESIDENT = REACH == 2              ? 6
                                    : REACH == 4            ? 4
                                    : CHANNELS * BITS == 64 ? 3
                                    : GATHERS               ? 5
                                                            : 4;
    /* The number of results that are made before they move to other registers. */
    static constexpr int PHASES = CHANNELS * BITS == 24 && REACH > 2 ? 3 : 1;
    /* Whether word i starts at a multiple of 8 bytes. */
    static constexpr __host__ __device__ bool starts_pair(int i)
    {
        return TAPS && 2 * GROUP * STORED % 8 == 0 && (START - OFFSET + 4 * i) % 8 == 0 &&
               i + 1 < LOADED;
    }
};

/* The tables for linear light, in shared memory. */
struct light_tables {
    float decode[256][32]; /* a copy of the table for each bank */
    unsigned encode[GF_RESAMPLE_ENCODE_CELLS];
};

/* Returns the linear light of a byte of the word. The address of its entry is 128 times the byte
 * plus the start of the lane's copy. */
static __device__ __forceinline__ float light_of(const struct light_tables *light, uint32_t word,
                                                 int byte)
{
    const unsigned offset = __dp4a(word, 0x80u << 8 * byte, threadIdx.x % 32 * 4);
    return *(const float *)((const char *)light->decode + offset);
}

/* Returns a word of which only `left` bytes belong to the row. The function is not inlined, since
 * it is seldom called. */
static __device__ __noinline__ uint32_t load_tail(const unsigned char *at, int left)
{
    const uint32_t a = __ldg(at), b = left > 1 ? __ldg(at + 1) : 0,
                   c = left > 2 ? __ldg(at + 2) : 0;
    return a | b << 8 | c << 16;
}

/* Loads a word. The value of words beyond the row is not used. */
static __device__ __forceinline__ uint32_t load_word(const unsigned char *at, int left)
{
    return left >= 4 ? __ldg((const uint32_t *)at) : left > 0 ? load_tail(at, left) : 0;
}

/* Loads the words of a window that is not entirely in the row. The value of words beyond the row is
 * not used. */
template <class CONFIG>
static __device__ __forceinline__ void load_edge(const unsigned char *row, int from, int row_bytes,
                                                 uint32_t (&words)[CONFIG::LOADED])
{
    const int last = row_bytes / 4 * 4 - 4;
    /* The statement hides from the compiler that `from` does not change, so that the offsets are
     * computed again for each row. Kept offsets would take a dozen registers. */
    asm volatile("" : "+r"(from));
#pragma unroll
    for (int i = 0; i < CONFIG::LOADED; i++)
        words[i] = __ldg((const uint32_t *)(row + min(max(from + 4 * i, 0), last)));
    if (row_bytes % 4 == 0)
        return;
    const uint32_t tail = load_tail(row + last + 4, row_bytes % 4);
#pragma unroll
    for (int i = 0; i < CONFIG::LOADED; i++)
        words[i] = from + 4 * i == last + 4 ? tail : words[i];
}

/* The window of a thread's columns. */
template <class CONFIG> struct Columns {
    const struct light_tables *light;
    const float *weights; /* the weights of the group */
    size_t weight_step;   /* the number of floats to the group's next four pixels */
    int shift;
    /* The start of the window's first word in the row, and the row's length, in bytes. */
    int from, row_bytes;
    bool plain; /* the words that hold the window are all within the row */
    float weight[CONFIG::SPAN][CONFIG::GROUP];
};

/* Loads the words that contain a window, whose first word is at `at`. */
template <class CONFIG>
static __device__ __forceinline__ void load_window(const unsigned char *at,
                                                   const Columns<CONFIG> &columns,
                                                   uint32_t (&words)[CONFIG::LOADED])
{
    if (!columns.plain) {
        load_edge<CONFIG>(at - columns.from, columns.from, columns.row_bytes, words);
        return;
    }
#pragma unroll
    for (int i = 0; i < CONFIG::LOADED; i++) {
        if (i > 0 && CONFIG::starts_pair(i - 1))
            continue;
        if (CONFIG::starts_pair(i)) {
            const uint2 two = __ldg((const uint2 *)(at + 4 * i));
            words[i] = two.x;
            words[i + 1 < CONFIG::LOADED ? i + 1 : i] = two.y;
        } else if (CONFIG::FIXED || i + 1 < CONFIG::LOADED ||
                   columns.shift + 8 * CONFIG::BYTES > 32 * i) {
            words[i] = __ldg((const uint32_t *)at + i);
        }
    }
}

/* Returns sample i of the words as a float, without a conversion: the sample's bits are used as the
 * bits of a denormal float, which is the sample times a power of two. The weights are scaled by the
 * inverse power. */
template <class CONFIG>
static __device__ __forceinline__ float sample_of(const uint32_t (&words)[CONFIG::NEEDED], int i,
                                                  const struct light_tables *light)
{
    const int at = (CONFIG::FIXED ? CONFIG::OFFSET : 0) + i * CONFIG::BITS / 8;
    const uint32_t word = words[at / 4];
    const int byte = at % 4;
    if (CONFIG::LIGHT)
        return light_of(light, word, byte);
    if (CONFIG::BITS == 8)
        return __uint_as_float(__byte_perm(word, 0, 0x4044 | byte << 8));
    return __uint_as_float(__byte_perm(word, 0, 0x4004 | (byte + 1) << 8 | byte << 4));
}

/* Shifts the words that were loaded so that the first sample, which is `shift` bits from the start
 * of its word, begins the first word. */
template <class CONFIG>
static __device__ __forceinline__ void shift_words(const uint32_t (&words)[CONFIG::LOADED],
                                                   int shift, uint32_t (&moved)[CONFIG::HELD])
{
#pragma unroll
    for (int i = 0; i < CONFIG::HELD; i++)
        moved[i] =
            CONFIG::FIXED
                ? words[i]
                : __funnelshift_r(words[i], i + 1 < CONFIG::LOADED ? words[i + 1] : 0, shift);
}

/* Adds SPAN pixels to the sums. */
template <class CONFIG>
static __device__ __forceinline__ void
add_pixels(const uint32_t (&moved)[CONFIG::NEEDED],
           const float (&weight)[CONFIG::SPAN][CONFIG::GROUP], const struct light_tables *light,
           float (&sum)[CONFIG::SUMS])
{
#pragma unroll
    for (int k = 0; k < CONFIG::SPAN; k++) {
#pragma unroll
        for (int c = 0; c < CONFIG::CHANNELS; c++) {
            const float v = sample_of<CONFIG>(moved, k * CONFIG::CHANNELS + c, light);
#pragma unroll
            for (int g = 0; g < CONFIG::GROUP; g++) {
                if (CONFIG::TAPS && (k < 2 * g || k >= 2 * g + CONFIG::TAPS))
                    continue;
                float *const to = &sum[g * CONFIG::CHANNELS + c];
                /* The product with a 16-bit weight is exact, so that the fused operation rounds as
                 * two operations do. */
                *to = CONFIG::BITS == 8 && !CONFIG::LIGHT ? fmaf(weight[k][g], v, *to)
                                                          : *to + weight[k][g] * v;
            }
        }
    }
}

/* Loads the weights of four pixels for a group. */
template <class CONFIG>
static __device__ __forceinline__ void load_weights(const float *from, float *to)
{
#pragma unroll
    for (int i = 0; i < CONFIG::GROUP; i++) {
        unpack(__ldg((const float4 *)from + i), to + 4 * i);
    }
}

/* Adds the pixels of a window of any width. */
template <class CONFIG>
static __device__ __forceinline__ void add_wide(const struct resize_walk &walk,
                                                const Columns<CONFIG> &columns,
                                                const unsigned char *at, float (&sum)[CONFIG::SUMS])
{
    const float *from = columns.weights;
    int left = columns.row_bytes - columns.from;
    for (int k = 0; k < walk.window; k += 4) {
        uint32_t words[CONFIG::WORDS], moved[CONFIG::NEEDED];
        float weight[CONFIG::SPAN][CONFIG::GROUP];
#pragma unroll
        for (int i = 0; i < CONFIG::WORDS; i++)
            words[i] = load_word(at + 4 * i, left - 4 * i);
        load_weights<CONFIG>(from, &weight[0][0]);
        shift_words<CONFIG>(words, columns.shift, moved);
        add_pixels<CONFIG>(moved, weight, columns.light, sum);
        from += columns.weight_step;
        at += 4 * CONFIG::PIXEL;
        left -= 4 * CONFIG::PIXEL;
    }
}

template <class CONFIG>
static __device__ __forceinline__ void
add_window(const struct resize_walk &walk, const Columns<CONFIG> &columns, const unsigned char *at,
           const uint32_t (&ready)[CONFIG::HELD], float (&sum)[CONFIG::SUMS])
{
    if constexpr (CONFIG::STRAIGHT != 0) {
        uint32_t words[CONFIG::WORDS];
#pragma unroll
        for (int k = 0; k < CONFIG::SPAN; k++) {
            uint2 pixel;
            if constexpr (CONFIG::STRAIGHT == 8)
                pixel = premultiplied(ready[k]);
            else
                pixel = premultiplied(make_uint2(ready[2 * k], ready[2 * k + 1]));
            words[2 * k] = pixel.x, words[2 * k + 1] = pixel.y;
        }
        add_pixels<CONFIG>(words, columns.weight, columns.light, sum);
    } else if constexpr (CONFIG::WINDOW != 0) {
        add_pixels<CONFIG>(ready, columns.weight, columns.light, sum);
    } else {
        add_wide<CONFIG>(walk, columns, at, sum);
    }
}

/* Computes one row of the first pass, clamped. */
template <class CONFIG>
static __device__ __forceinline__ void
make_row(const struct resize_walk &walk, const Columns<CONFIG> &columns, const unsigned char *at,
         const uint32_t (&ready)[CONFIG::HELD], float (&sum)[CONFIG::SUMS])
{
#pragma unroll
    for (int i = 0; i < CONFIG::SUMS; i++)
        sum[i] = 0.0f;
    add_window<CONFIG>(walk, columns, at, ready, sum);
#pragma unroll
    /* With a REACH of 2 no weight is negative. The last addition limits a sum to 0..1 at no cost;
     * only sums of light without a maximum may be above 1. */
    for (int i = 0; i < CONFIG::SUMS && CONFIG::REACH > 2; i++)
        sum[i] = fminf(CONFIG::LIGHT ? fmaxf(sum[i], 0.0f) : __saturatef(sum[i]), walk.max);
}

} // namespace walk
