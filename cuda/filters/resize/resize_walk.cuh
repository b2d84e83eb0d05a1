/* Resizes, mostly to smaller sizes, by threads that walk down the rows. */
#pragma once

#include "cuda/common/fusing.cuh"
#include "cuda/common/launch.cuh"
#include "cuda/filters/resize/resize.cuh"

/* This first part adds one row of the input to the sums of a thread's columns. */

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
    static constexpr int PIXEL = CHANNELS * BITS / 8; /* bytes of a pixel while it is resized */
    /* Bytes of a pixel in the pictures. */
    static constexpr int STORED = STRAIGHT == 8 ? CHANNELS : PIXEL;
    static constexpr int SPAN = WINDOW ? WINDOW : 4; /* pixels that are processed together */
    static constexpr int BYTES = SPAN * PIXEL;
    /* START: where the first group's window begins, in bytes from the row's first (below 0: left of
     * it). OFFSET: START modulo 4, since rows are loaded as words. */
    static constexpr int START = TAPS ? -(TAPS / 2 - 1) * STORED : 0;
    static constexpr int OFFSET = START & 3;
    /* Whether the columns inside the picture have the same weights, which are parameters of the
     * launch; groups at its edges are then made by blocks of their own, as Edge<Config>. */
    static constexpr bool SAME = TAPS && SUMS == 12 && REACH > 2, AT_EDGE = false;
    static constexpr bool FIXED = TAPS || PIXEL % 4 == 0; /* OFFSET holds for all groups */
    static constexpr int WORDS =
        FIXED ? (OFFSET + BYTES + 3) / 4 : (BYTES + (BITS == 8 ? 6 : 5)) / 4;
    static constexpr int LOADED =
        STRAIGHT == 8 ? SPAN : WORDS; /* the words of a window in the picture */
    static constexpr int NEEDED =
        /* The number of words after they are shifted to offset 0. */
        FIXED ? WORDS : (BYTES + 3) / 4;
    static constexpr int HELD = FIXED ? LOADED : NEEDED; /* the words of a window in registers */
    /* The number of blocks that a multiprocessor holds at once. Sums and two rows of words in
     * registers limit it. */
    static constexpr int RESIDENT = REACH == 2             ? 6
                                    : SUMS > 8             ? (REACH == 4 ? 4 : 3)
                                    : REACH == 4           ? 4
                                    : CHANNELS *BITS == 64 ? 3
                                    : GATHERS              ? 5
                                                           : 4;
    /* The number of results that are made before they move to other registers. With more than 8
     * sums the code for several would exceed the instruction cache. */
    static constexpr int PHASES = CHANNELS * BITS == 24 && REACH > 2 && SUMS <= 8 ? 3 : 1;
    /* Whether word i starts at a multiple of 8 bytes. */
    static constexpr __host__ __device__ bool starts_pair(int i)
    {
        return TAPS && 2 * GROUP * STORED % 8 == 0 && (START - OFFSET + 4 * i) % 8 == 0 &&
               i + 1 < LOADED;
    }
};

/* A group at an edge of the picture; its weights are loaded again for each row. */
template <class CONFIG> struct Edge : CONFIG {
    static constexpr bool SAME = false, AT_EDGE = true;
};

/* The tables for linear light, in shared memory. */
struct light_tables {
    float decode[256][32]; /* a copy of the table for each bank */
    unsigned encode[GF_RESAMPLE_ENCODE_BUCKETS];
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

/* Loads the word at `at`, from which on the row has `left` bytes. Without any, it returns 0, which
 * is not used. */
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

/* What a thread reads in each row for its group of columns: a window of pixels, and their
 * weights. */
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
    if (CONFIG::AT_EDGE || (!CONFIG::SAME && !columns.plain)) {
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

/* Adds SPAN pixels of a row, times their weights, to the sums of the group's columns. */
template <class CONFIG>
static __device__ __forceinline__ void
add_pixels(const struct resize_walk &walk, const uint32_t (&moved)[CONFIG::NEEDED],
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
                const float by = CONFIG::SAME ? walk.taps[max(k - 2 * g, 0)] : weight[k][g];
                *to = CONFIG::BITS == 8 && !CONFIG::LIGHT ? fmaf(by, v, *to) : *to + by * v;
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

template <class CONFIG>
static __device__ __forceinline__ void
load_all_weights(const Columns<CONFIG> &columns, float (&weight)[CONFIG::SPAN][CONFIG::GROUP])
{
    const float *from = columns.weights;
    if (CONFIG::AT_EDGE) /* not kept in registers from one row to the next */
        asm volatile("" : "+l"(from));
#pragma unroll
    for (int k = 0; k < CONFIG::SPAN; k++) {
#pragma unroll
        for (int g = 0; g < CONFIG::GROUP; g++)
            weight[k][g] = __ldg(from + k / 4 * columns.weight_step + k % 4 * CONFIG::GROUP + g);
    }
}

/* Adds the pixels of a window of any width to the sums of the group's columns. */
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
        add_pixels<CONFIG>(walk, moved, weight, columns.light, sum);
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
        add_pixels<CONFIG>(walk, words, columns.weight, columns.light, sum);
    } else if constexpr (CONFIG::AT_EDGE) {
        float weight[CONFIG::SPAN][CONFIG::GROUP];
        load_all_weights<CONFIG>(columns, weight);
        add_pixels<CONFIG>(walk, ready, weight, columns.light, sum);
    } else if constexpr (CONFIG::WINDOW != 0) {
        add_pixels<CONFIG>(walk, ready, columns.weight, columns.light, sum);
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

/* Resizing by threads that walk down the picture. A thread computes GROUP adjacent columns of all
 * channels, without shared memory and barriers. It reads the samples of a row that its columns need
 * and computes that row of the first pass in registers, while the next row is being loaded. Then it
 * adds the row to all results that need it (scatter) or, when enlarging, computes results from the
 * last few rows (gather). */

namespace walk
{

/* Does what gf_round_sample() does, by an addition that rounds down. With a reach of 2 no value is
 * negative. */
template <int BITS, int REACH> static __device__ __forceinline__ uint32_t round_sample(float v)
{
    const float positive = REACH > 2 ? fmaxf(v, 0.0f) : v;
    const float limited = fminf(positive, BITS == 8 ? 255.0f : 65535.0f);
    return __float_as_uint(__fadd_rz(limited + 0.5f, 8388608.0f)) & ((1u << BITS) - 1);
}

/* Rounds four 8-bit samples to a word, which holds what round_sample() makes of each: integers are
 * limited in pairs, after they were rounded. */
static __device__ __forceinline__ uint32_t round_four(const float *v)
{
    uint32_t at[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        at[i] = __float_as_uint(__fadd_rz(v[i] + 0.5f, 12582912.0f));
    const uint32_t low = __vimin_s16x2_relu(__byte_perm(at[0], at[1], 0x5410), 0x00ff00ffu);
    const uint32_t high = __vimin_s16x2_relu(__byte_perm(at[2], at[3], 0x5410), 0x00ff00ffu);
    return __byte_perm(low, high, 0x6420);
}

static __device__ __noinline__ uint32_t encode_exactly(float light)
{
    return round_sample<8, 6>(gf_resample_encode(light) * 255.0f);
}

/* Converts sums of linear light to samples (see GF_RESAMPLE_ENCODE_BUCKETS). */
template <int COUNT>
static __device__ __forceinline__ void encode(const struct light_tables *tables,
                                              const float (&light)[COUNT], uint32_t (&v)[COUNT])
{
    constexpr unsigned GUARD = GF_RESAMPLE_ENCODE_GUARD;
    bool doubtful = false;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const unsigned at = __float_as_uint(__saturatef(light[i]) + GF_RESAMPLE_ENCODE_OFFSET);
        const unsigned sum = tables->encode[gf_resample_encode_bucket(at)] + at;
        v[i] = sum >> 16;
        doubtful |= (sum + GUARD & 65535u) <= 2 * GUARD;
    }
    if (doubtful) {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            v[i] = encode_exactly(light[i]);
    }
}

/* Stores the samples of a group in the widest words to which the group is aligned. Samples of a
 * last, incomplete group are stored one by one. */
template <class CONFIG>
static __device__ __forceinline__ void store_group(const struct light_tables *light,
                                                   unsigned char *to, int samples,
                                                   const float (&value)[CONFIG::SUMS])
{
    constexpr int BYTES = CONFIG::GROUP * CONFIG::PIXEL;
    constexpr bool FOURS = CONFIG::BITS == 8 && !CONFIG::LIGHT && BYTES % 4 == 0;
    uint32_t v[CONFIG::SUMS];
    if constexpr (FOURS) {
        uint32_t word[BYTES / 4];
#pragma unroll
        for (int i = 0; i < BYTES / 4; i++)
            word[i] = round_four(value + 4 * i);
        if (samples == CONFIG::SUMS) {
#pragma unroll
            for (int i = 0; i < BYTES / 4; i++)
                ((uint32_t *)to)[i] = word[i];
            return;
        }
#pragma unroll
        for (int i = 0; i < CONFIG::SUMS; i++)
            v[i] = word[i / 4] >> i % 4 * 8 & 255;
    }
    if (CONFIG::LIGHT)
        encode(light, value, v);
#pragma unroll
    for (int i = 0; i < CONFIG::SUMS && !CONFIG::LIGHT && !FOURS; i++)
        v[i] = round_sample<CONFIG::BITS, CONFIG::REACH>(value[i]);
    if constexpr (CONFIG::STRAIGHT != 0) {
        typedef typename straight_pixel<CONFIG::STRAIGHT>::type pixel;
#pragma unroll
        for (int i = 0; i < CONFIG::SUMS; i += 4) {
            if (i < samples)
                ((pixel *)to)[i / 4] = straightened<pixel>(
                    make_uint2(v[i] | v[i + 1] << 16, v[i + 2] | v[i + 3] << 16));
        }
        return;
    }
    if (samples < CONFIG::SUMS) {
#pragma unroll
        for (int i = 0; i < CONFIG::SUMS; i++) {
            if (i < samples && CONFIG::BITS == 8)
                to[i] = (unsigned char)v[i];
            else if (i < samples)
                ((uint16_t *)to)[i] = (uint16_t)v[i];
        }
    } else if (BYTES % 4) {
#pragma unroll
        for (int i = 0; i < BYTES / 2; i++)
            ((uint16_t *)to)[i] = (uint16_t)(v[2 * i] | v[2 * i + 1] << 8);
    } else {
        constexpr int EACH = 32 / CONFIG::BITS;
        uint32_t word[(BYTES + 3) / 4];
#pragma unroll
        for (int i = 0; i < BYTES / 4; i++) {
            word[i] = v[i * EACH];
#pragma unroll
            for (int k = 1; k < EACH; k++)
                word[i] |= v[i * EACH + k] << (k * CONFIG::BITS);
        }
        if (BYTES % 8 == 0) {
#pragma unroll
            for (int i = 0; i + 1 < BYTES / 4; i += 2)
                ((uint2 *)to)[i / 2] = make_uint2(word[i], word[i + 1]);
        } else {
#pragma unroll
            for (int i = 0; i < BYTES / 4; i++)
                ((uint32_t *)to)[i] = word[i];
        }
    }
}

/* Loads the weights of a row and the value after them. Nothing more is loaded, because a register
 * cannot be reused until its load has arrived. */
template <class CONFIG>
static __device__ __forceinline__ void load_row_weights(const float *from,
                                                        float (&to)[CONFIG::REACH + 1])
{
#pragma unroll
    for (int i = 0; i + 4 <= CONFIG::REACH; i += 4) {
        unpack(__ldg((const float4 *)(from + i)), to + i);
    }
    if (CONFIG::REACH % 4) {
        const float2 two = __ldg((const float2 *)(from + CONFIG::REACH - 2));
        to[CONFIG::REACH - 2] = two.x;
        to[CONFIG::REACH - 1] = two.y;
    }
    to[CONFIG::REACH] = CONFIG::GATHERS ? 0.0f : __ldg(from + CONFIG::REACH);
}

/* The position of a thread in the input and the output. */
struct Cursor {
    const unsigned char *in; /* the thread's window in row `row` */
    unsigned char *out;      /* the thread's group in row y of the result */
    int row, end, y, first, past, samples;
};

/* Loads the words of the row that is `rows` below this one, and prefetches the words of a later row
 * into the second-level cache, which takes no registers. */
template <class CONFIG>
static __device__ __forceinline__ void
load_ahead(const struct resize_walk &walk, const Columns<CONFIG> &columns,
           const struct Cursor &cursor, int rows, uint32_t (&words)[CONFIG::LOADED])
{
    if (AHEAD > 0 && cursor.row + AHEAD < cursor.end)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(cursor.in + AHEAD * walk.p.in_pitch));
    if (CONFIG::WINDOW && cursor.row + rows < cursor.end)
        load_window<CONFIG>(cursor.in + rows * walk.p.in_pitch, columns, words);
}

/* Moves the words of this row to `now` and loads the words of the next row. */
template <class CONFIG>
static __device__ __forceinline__ void
take_words(const struct resize_walk &walk, const Columns<CONFIG> &columns,
           const struct Cursor &cursor, uint32_t (&words)[CONFIG::LOADED],
           uint32_t (&now)[CONFIG::HELD])
{
    shift_words<CONFIG>(words, columns.shift, now);
    load_ahead<CONFIG>(walk, columns, cursor, 1, words);
}

/* Adds the next row to the results that need it, and returns whether the first is complete. Below
 * the end of the picture the last row is added again, until the last results are complete. */
template <class CONFIG>
static __device__ __forceinline__ bool
scatter_row(const struct resize_walk &walk, const Columns<CONFIG> &columns, struct Cursor &cursor,
            uint32_t (&words)[CONFIG::LOADED], float (*result)[CONFIG::SUMS])
{
    float weight[CONFIG::REACH + 1], row[CONFIG::SUMS];
    load_row_weights<CONFIG>(walk.row_weight + (size_t)cursor.row * CONFIG::STRIDE, weight);
    if constexpr (CONFIG::TAPS != 0) {
        /* The next row is loaded into the same registers, while this one is added to the results.
         */
        make_row<CONFIG>(walk, columns, cursor.in, words, row);
        load_ahead<CONFIG>(walk, columns, cursor, 1, words);
    } else {
        uint32_t now[CONFIG::HELD];
        take_words<CONFIG>(walk, columns, cursor, words, now);
        make_row<CONFIG>(walk, columns, cursor.in, now, row);
    }
#pragma unroll
    for (int j = 0; j < CONFIG::REACH; j++) {
#pragma unroll
        for (int i = 0; i < CONFIG::SUMS; i++)
            result[j][i] += weight[j] * row[i];
    }
    cursor.row++;
    cursor.in += cursor.row < cursor.end ? walk.p.in_pitch : 0;
    /* The condition contains row[0], so that the threads wait for the weights only after the row is
     * computed. */
    return fmaf(row[0], 0.0f, weight[CONFIG::REACH]) != 0.0f;
}

/* Adds each row to all results that need it, y .. y + REACH - 1. Results above `first` lack rows
 * and are not stored. The results move up by PHASES places at a time. */
template <class CONFIG>
static __device__ __forceinline__ void
scatter_rows(const struct resize_walk &walk, const Columns<CONFIG> &columns, struct Cursor cursor)
{
    constexpr int PHASES = CONFIG::PHASES, LAST = CONFIG::REACH + PHASES - 1;
    float result[LAST][CONFIG::SUMS] = {};
    uint32_t words[CONFIG::LOADED] = {};
    cursor.y = walk.row_first[cursor.row];
    load_ahead<CONFIG>(walk, columns, cursor, 0, words);
    for (;;) {
#pragma unroll
        for (int phase = 0; phase < PHASES; phase++) {
            while (!scatter_row<CONFIG>(walk, columns, cursor, words, result + phase))
                ;
            if (cursor.y >= cursor.first) {
                store_group<CONFIG>(columns.light, cursor.out, cursor.samples, result[phase]);
                cursor.out += walk.p.out_pitch;
            }
            if (++cursor.y >= cursor.past)
                return;
        }
#pragma unroll
        for (int j = 0; j < LAST; j++) {
#pragma unroll
            for (int i = 0; i < CONFIG::SUMS; i++)
                result[j][i] = j + PHASES < LAST ? result[j + PHASES][i] : 0.0f;
        }
    }
}

/* Computes each result from the last REACH rows. */
template <class CONFIG>
static __device__ __forceinline__ void
gather_rows(const struct resize_walk &walk, const Columns<CONFIG> &columns, struct Cursor cursor)
{
    float row[CONFIG::REACH][CONFIG::SUMS] = {};
    uint32_t words[CONFIG::LOADED] = {};
    load_ahead<CONFIG>(walk, columns, cursor, 0, words);
    for (cursor.y = cursor.first; cursor.y < cursor.past;
         cursor.y++, cursor.out += walk.p.out_pitch) {
        float weight[CONFIG::REACH + 1], result[CONFIG::SUMS] = {};
        const int end = __ldg(walk.row_start + cursor.y) + __ldg(walk.row_count + cursor.y);
        load_row_weights<CONFIG>(walk.row_weight + (size_t)cursor.y * CONFIG::STRIDE, weight);
        for (; cursor.row < end; cursor.row++, cursor.in += walk.p.in_pitch) {
            uint32_t now[CONFIG::HELD];
            take_words<CONFIG>(walk, columns, cursor, words, now);
#pragma unroll
            for (int i = 0; i < CONFIG::SUMS; i++) {
#pragma unroll
                for (int j = 0; j + 1 < CONFIG::REACH; j++)
                    row[j][i] = row[j + 1][i];
            }
            make_row<CONFIG>(walk, columns, cursor.in, now, row[CONFIG::REACH - 1]);
        }
#pragma unroll
        for (int j = 0; j < CONFIG::REACH; j++) {
#pragma unroll
            for (int i = 0; i < CONFIG::SUMS; i++)
                result[i] += weight[j] * row[j][i];
        }
        store_group<CONFIG>(columns.light, cursor.out, cursor.samples, result);
    }
}

/* Whether all words of a group's window, which begins at `byte` of the row, are in the row. */
template <class CONFIG>
static __host__ __device__ __forceinline__ bool is_plain(int byte, int row_bytes)
{
    const int from = byte & ~3;
    const int end = CONFIG::FIXED ? from + 4 * CONFIG::LOADED : byte + CONFIG::BYTES;
    return from >= 0 && end <= row_bytes / 4 * 4;
}

/* Computes rows first .. past - 1 of a group of a picture. */
template <class CONFIG>
static __device__ __forceinline__ void make_strip(const struct resize_walk &walk,
                                                  const struct light_tables *tables, int group,
                                                  int picture, int first, int past)
{
    struct Cursor cursor;
    cursor.first = first;
    cursor.past = past;
    cursor.row = walk.row_start[cursor.first];
    cursor.end = walk.row_start[cursor.past - 1] + walk.row_count[cursor.past - 1];
    const int byte = walk.column_start[group] * CONFIG::STORED;
    cursor.in = picture_in(walk.p, walk.stack, picture) +
                (cursor.row - walk.p.in_y) * (ptrdiff_t)walk.p.in_pitch + (byte & ~3);
    cursor.out =
        walk.p.out +
        (cursor.first - walk.p.out_y + (size_t)picture * walk.stack.out_rows) * walk.p.out_pitch +
        (size_t)group * CONFIG::GROUP * CONFIG::STORED;
    cursor.samples = min((walk.out_width - group * CONFIG::GROUP) * CONFIG::CHANNELS, CONFIG::SUMS);
    Columns<CONFIG> columns;
    columns.light = tables;
    columns.weights = walk.column_weight + (size_t)group * 4 * CONFIG::GROUP;
    columns.weight_step = (size_t)walk.groups * 4 * CONFIG::GROUP;
    columns.shift = (byte & 3) * 8;
    columns.from = byte & ~3;
    columns.row_bytes = walk.in_row_bytes;
    columns.plain = is_plain<CONFIG>(byte, walk.in_row_bytes);
    if (CONFIG::SAME && !columns.plain)
        return;
    if constexpr (CONFIG::WINDOW && !CONFIG::SAME && !CONFIG::AT_EDGE)
        load_all_weights<CONFIG>(columns, columns.weight);
    early_wait();
    if (CONFIG::GATHERS)
        gather_rows<CONFIG>(walk, columns, cursor);
    else
        scatter_rows<CONFIG>(walk, columns, cursor);
}

template <class CONFIG>
static __global__ void __launch_bounds__(THREADS, CONFIG::RESIDENT)
    walk_kernel(const __grid_constant__ struct resize_walk walk)
{
    __shared__ __align__(16) char light[CONFIG::LIGHT ? sizeof(struct light_tables) : 1];
    struct light_tables *const tables = (struct light_tables *)light;
    const unsigned pictures = (unsigned)walk.stack.count;
    const int end = walk.p.out_y + walk.p.rows;
    early_next();
    if (CONFIG::LIGHT) {
        for (int i = threadIdx.x; i < 256 * 8; i += THREADS) {
            const float v = walk.decode[i / 8];
            ((float4 *)tables->decode)[i] = make_float4(v, v, v, v);
        }
        for (int i = threadIdx.x; i < GF_RESAMPLE_ENCODE_BUCKETS; i += THREADS)
            tables->encode[i] = walk.encode[i];
        __syncthreads();
    }
    if (CONFIG::SAME && blockIdx.y < walk.edge_blocks) {
        const unsigned item = (blockIdx.y * gridDim.x + blockIdx.x) * THREADS + threadIdx.x;
        const unsigned edge = item % walk.edges, strip = item / walk.edges / pictures;
        const int first = walk.p.out_y + (int)strip * walk.edge_tall;
        if (first < end)
            make_strip<Edge<CONFIG>>(walk, tables, edge ? walk.right + (int)edge - 1 : 0,
                                     (int)(item / walk.edges % pictures), first,
                                     min(first + walk.edge_tall, end));
        return;
    }
    const unsigned item = blockIdx.x * THREADS + threadIdx.x;
    if (item >= walk.groups * pictures)
        return;
    const struct position at = position_of(item, pictures, walk.groups);
    const int chunk = (int)(blockIdx.y - (CONFIG::SAME ? walk.edge_blocks : 0));
    const int first = walk.p.out_y + chunk * walk.tall;
    make_strip<CONFIG>(walk, tables, at.column, at.row, first, min(first + walk.tall, end));
}

/* Chooses the number of a thread's rows so that one wave of blocks covers the band, because rows
 * that two threads need are computed twice. */
template <class CONFIG> static int launch(struct resize_walk walk, cudaStream_t stream)
{
    constexpr int LEAST_ROWS = 4, MOST_CHUNKS = 32768;
    int processors, resident;
    cudaError_t code = gf_cuda_number(cudaDevAttrMultiProcessorCount, &processors);
    GF_THEN(code, gf_cuda_blocks_each((const void *)walk_kernel<CONFIG>, THREADS, 0, &resident));
    if (code != cudaSuccess)
        return code;
    const int pictures = walk.stack.count, across = ceil_div(walk.groups * pictures, THREADS);
    const int places = processors * resident / across - (CONFIG::SAME ? 1 : 0);
    walk.tall = max(ceil_div(walk.p.rows, max(1, min(places, MOST_CHUNKS))), LEAST_ROWS);
    if (CONFIG::SAME) {
        /* Strips at edges are shorter, since their rows take longer, and begin first. */
        const int step = 2 * CONFIG::GROUP * CONFIG::STORED;
        for (walk.right = walk.groups; walk.right > 1; walk.right--) {
            if (is_plain<CONFIG>((walk.right - 1) * step + CONFIG::START, walk.in_row_bytes))
                break;
        }
        walk.edges = (unsigned)(1 + walk.groups - walk.right);
        walk.edge_tall = max(walk.tall / 4, LEAST_ROWS);
        const long long strips =
            (long long)ceil_div(walk.p.rows, walk.edge_tall) * pictures * walk.edges;
        walk.edge_blocks =
            (unsigned)((strips + (long long)across * THREADS - 1) / ((long long)across * THREADS));
    }
    const dim3 grid(across, walk.edge_blocks + ceil_div(walk.p.rows, walk.tall));
    return launch_early(walk_kernel<CONFIG>, grid, THREADS, 0, stream, walk);
}

constexpr int group_of(int channels)
{
    return channels == 1 ? 4 : 2;
}

template <int CHANNELS, int BITS, int REACH, bool LIGHT, int STRAIGHT, int GROUP>
static int launch_groups(const struct resize_walk &walk, cudaStream_t stream)
{
    return launch<Config<CHANNELS, BITS, LIGHT, GROUP, 2 * (REACH + GROUP - 1), 2 * REACH, REACH,
                         false, STRAIGHT>>(walk, stream);
}

template <int CHANNELS, int BITS, int REACH, bool LIGHT, int STRAIGHT = 0>
static int launch_halves(const struct resize_walk &walk, cudaStream_t stream)
{
    constexpr int LEAST = CHANNELS * BITS == 24 && REACH == 2 ? 4 : group_of(CHANNELS);
    constexpr int MOST = CHANNELS * BITS == 24 ? 4 : LEAST;
    return walk.group == MOST
               ? launch_groups<CHANNELS, BITS, REACH, LIGHT, STRAIGHT, MOST>(walk, stream)
               : launch_groups<CHANNELS, BITS, REACH, LIGHT, STRAIGHT, LEAST>(walk, stream);
}

/* Launches kernels whose window has gf_resample_walk_window() pixels. */
template <int CHANNELS, int BITS, int REACH, bool GATHERS, bool TIGHT = GATHERS>
static int launch_narrow(const struct resize_walk &walk, cudaStream_t stream)
{
    constexpr int GROUP = group_of(CHANNELS);
    constexpr int WINDOW = TIGHT ? REACH + GROUP : 2 * (REACH + GROUP - 1);
    return launch<Config<CHANNELS, BITS, false, GROUP, WINDOW, 0, REACH, GATHERS>>(walk, stream);
}

template <int CHANNELS, int BITS, int REACH, bool GATHERS, bool LIGHT>
static int launch_wide(const struct resize_walk &walk, cudaStream_t stream)
{
    constexpr int GROUP = group_of(CHANNELS);
    return launch<Config<CHANNELS, BITS, LIGHT, GROUP, 0, 0, REACH, GATHERS>>(walk, stream);
}

template <int CHANNELS, int BITS>
static int launch_any(const struct resize_walk &walk, cudaStream_t stream)
{
    switch (walk.width_kind) {
    case GF_RESAMPLE_HALVES:
        return walk.reach == 2   ? launch_halves<CHANNELS, BITS, 2, false>(walk, stream)
               : walk.reach == 4 ? launch_halves<CHANNELS, BITS, 4, false>(walk, stream)
                                 : launch_halves<CHANNELS, BITS, 6, false>(walk, stream);
    case GF_RESAMPLE_WIDE:
        return walk.gathers      ? launch_wide<CHANNELS, BITS, 6, true, false>(walk, stream)
               : walk.reach == 2 ? launch_wide<CHANNELS, BITS, 2, false, false>(walk, stream)
                                 : launch_wide<CHANNELS, BITS, 6, false, false>(walk, stream);
    default:
        break;
    }
    switch (walk.reach + walk.gathers) {
    case 2:
        return launch_narrow<CHANNELS, BITS, 2, false>(walk, stream);
    case 3:
        return launch_narrow<CHANNELS, BITS, 2, true>(walk, stream);
    case 4:
        return launch_narrow<CHANNELS, BITS, 4, false>(walk, stream);
    case 5:
        return launch_narrow<CHANNELS, BITS, 4, true>(walk, stream);
    case 6:
        return walk.window == gf_resample_walk_window(group_of(CHANNELS), 6, true)
                   ? launch_narrow<CHANNELS, BITS, 6, false, true>(walk, stream)
                   : launch_narrow<CHANNELS, BITS, 6, false>(walk, stream);
    default:
        return launch_narrow<CHANNELS, BITS, 6, true>(walk, stream);
    }
}

} // namespace walk
