/* What stencils do as they load and store samples: look-ups in tables, and conversions of alpha. */
#pragma once

#include "cuda/common/floats.cuh"
#include "cuda/common/launch.cuh"
#include "cuda/common/stencil.cuh"
#include "cuda/common/straight_floats.cuh"
#include "cuda/common/view_pair.cuh"

/* Tables of 8-bit samples in shared memory. Each lane of a warp has a byte of each entry: entry v
 * of a lane is at 32 v + lane, an address that one dp4a computes for each of four samples. Lanes 4
 * n to 4 n + 3, whose bytes share a word, also share a bank. They wait for each other if their
 * samples differ by a multiple of 4, which neighbours rarely do. With a copy for each lane in its
 * own bank, four entries a word, no lane would wait, but a sample would take 4 to 5 instructions
 * instead of 3: on an H200 sobel between two tables took 0.143 ms for 8K RGB8 with such copies and
 * takes 0.119. */

/* The tables that a stencil's kernel applies (struct gf_launch). They are a template parameter, so
 * that the kernel without tables does not change. */
template <bool BEFORE_, bool AFTER_> struct fuse {
    static constexpr bool BEFORE = BEFORE_, AFTER = AFTER_;
    static constexpr int STRAIGHT = 0;
    static constexpr bool FLOATS = false;
};
typedef fuse<false, false> fuse_none;

/* No tables; the picture is straight RGBA of 8 or 16 bits, and the kernel works on its
 * premultiplied colour. */
template <int BITS> struct fuse_straight : fuse_none {
    static constexpr int STRAIGHT = BITS;
};

template <bool ON> struct __align__(16) sample_table
{
    unsigned char entry[256][WARP]; /* entry[v]: the entry of sample v, once for each lane */
};
template <> struct sample_table<false> {
};

/* The tables of a block, in shared memory. */
template <class Fuse> struct sample_tables {
    struct sample_table<Fuse::BEFORE> before;
    struct sample_table<Fuse::AFTER> after;
};

static __device__ __forceinline__ void fill_table(struct sample_table<true> &table,
                                                  const unsigned char *from)
{
    constexpr int EACH = WARP / sizeof(uint4);
    for (int i = threadIdx.x; i < 256 * EACH; i += blockDim.x) {
        const unsigned four = 0x01010101u * __ldg(from + i / EACH);
        ((uint4 *)table.entry)[i] = make_uint4(four, four, four, four);
    }
}

static __device__ __forceinline__ void fill_table(struct sample_table<false> &,
                                                  const unsigned char *)
{
}

/* Fills the tables. All threads call this function, and must synchronise before the first look-
 * up. */
template <class Fuse>
static __device__ __forceinline__ void fill_tables(const struct view_pair &p,
                                                   struct sample_tables<Fuse> &tables)
{
    fill_table(tables.before, (const unsigned char *)p.before);
    fill_table(tables.after, (const unsigned char *)p.after);
}

static __device__ __forceinline__ unsigned look_up_sample(const struct sample_table<true> &table,
                                                          unsigned v)
{
    return table.entry[v][threadIdx.x % WARP];
}

static __device__ __forceinline__ unsigned look_up_sample(const struct sample_table<false> &,
                                                          unsigned v)
{
    return v;
}

/* Looks up the four samples of a word, and returns their entries in a word. */
static __device__ __forceinline__ unsigned look_up(const struct sample_table<true> &table,
                                                   unsigned word)
{
    const unsigned char *const entry = table.entry[0];
    const unsigned lane = threadIdx.x % WARP;
    const unsigned a = entry[__dp4a(word, (unsigned)WARP, lane)];
    const unsigned b = entry[__dp4a(word, (unsigned)WARP << 8, lane)];
    const unsigned c = entry[__dp4a(word, (unsigned)WARP << 16, lane)];
    const unsigned d = entry[__dp4a(word, (unsigned)WARP << 24, lane)];
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

static __device__ __forceinline__ unsigned look_up(const struct sample_table<false> &,
                                                   unsigned word)
{
    return word;
}

template <bool ON>
static __device__ __forceinline__ uint4 look_up(const struct sample_table<ON> &table, uint4 v)
{
    return make_uint4(look_up(table, v.x), look_up(table, v.y), look_up(table, v.z),
                      look_up(table, v.w));
}

/* Calls function(fuse<..>()) for the launch's tables. The launch must have a table. */
template <class Function>
static int for_fuse(const struct gf_launch *launch, const Function &function)
{
    return !launch->before  ? function(fuse<false, true>())
           : !launch->after ? function(fuse<true, false>())
                            : function(fuse<true, true>());
}

/* Converts pixels of R, G, B and A between straight alpha, of 8 or 16 bits, and premultiplied
 * colour of 16 bits. The results equal the results of the stages that the planner puts around a
 * stencil (pixel/point/premultiply.h), bit for bit, in fewer steps. A pixel of 8 bits is a word,
 * and a pixel of 16 bits two words. */

/* The type that holds a pixel of straight RGBA with BITS bits. */
template <int BITS> struct straight_pixel {
    typedef unsigned type;
};
template <> struct straight_pixel<16> {
    typedef uint2 type;
};

constexpr float TWO_23 = 8388608.0f; /* floats from 2^23 to 2^24 are integers */

/* Sets v[c] to 2^23 + the premultiplied colour of channel c, for a pixel of 8 bits. Adding 2^23
 * rounds the colour v * 257 * alpha / 255 to an integer, and always correctly: the colour differs
 * from a half by at least 1/510, and the product's error is below 1/1000. */
static __device__ __forceinline__ void premultiply_raised(unsigned pixel, float alpha, float v[3])
{
    const float minus = -TWO_23 * alpha;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const float raised = __uint_as_float(__byte_perm(pixel, 0x4B000000u, 0x7440 | c));
        v[c] = fmaf(fmaf(raised, alpha, minus), 257.0f / 255.0f, TWO_23);
    }
}

static __device__ __forceinline__ float alpha_of(unsigned pixel)
{
    return __uint_as_float(__byte_perm(pixel, 0x4B000000u, 0x7443)) - TWO_23;
}

static __device__ __forceinline__ unsigned joined(float low, float high)
{
    return __byte_perm(__float_as_uint(low), __float_as_uint(high), 0x5410);
}

static __device__ __forceinline__ uint2 premultiplied(unsigned pixel)
{
    float v[3];
    premultiply_raised(pixel, alpha_of(pixel), v);
    return make_uint2(joined(v[0], v[1]), __byte_perm(__float_as_uint(v[2]), pixel, 0x7710));
}

/* Multiplies the colour of a pixel of 16 bits by alpha / 65535. The product v * alpha is rounded to
 * a float; three steps then find its quotient by 65535, which equals that of a division after
 * rounding. All floats up to 65535^2 were tried. */
static __device__ __forceinline__ uint2 premultiplied(uint2 pixel)
{
    constexpr float PART = 1.0f / 65535.0f;
    const float alpha = float_of_high(pixel.y);
    const float v[3] = {float_of_low(pixel.x), float_of_high(pixel.x), float_of_low(pixel.y)};
    float to[3];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const float product = v[c] * alpha, near = product * PART;
        const float quotient = fmaf(fmaf(-65535.0f, near, product), PART, near);
        to[c] = __fadd_rz(quotient + 0.5f, TWO_23);
    }
    return make_uint2(joined(to[0], to[1]), __byte_perm(__float_as_uint(to[2]), pixel.y, 0x7610));
}

/* Divides premultiplied colour by alpha, and returns the straight pixel, a word or two words. 1 /
 * alpha is the sum of two floats. All colours and all alphas were tried, with reciprocals that are
 * wrong by up to two units of the last place: the results equal those of a division. */
template <class PIXEL> static __device__ __forceinline__ PIXEL straightened(uint2 pixel)
{
    constexpr float MAX = sizeof(PIXEL) == 4 ? 255.0f : 65535.0f;
    const float alpha = float_of_high(pixel.y), divisor = fmaxf(alpha, 1.0f);
    const float high = alpha > 0.0f ? reciprocal_near(divisor) : 0.0f;
    const float low = fmaf(-divisor, high, 1.0f) * high;
    const unsigned raised[3] = {__byte_perm(pixel.x, 0x4B00u, 0x5410),
                                __byte_perm(pixel.x, 0x4B00u, 0x5432),
                                __byte_perm(pixel.y, 0x4B00u, 0x5410)};
    float v[3];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const float scaled = fmaf(__uint_as_float(raised[c]), MAX, -MAX * TWO_23);
        const float quotient = fminf(fmaf(scaled, high, scaled * low), MAX);
        v[c] = __fadd_rz(quotient + 0.5f, TWO_23);
    }
    if constexpr (sizeof(PIXEL) == 4) {
        const unsigned level = __float_as_uint(fmaf(alpha, 1.0f / 257.0f, TWO_23));
        return __byte_perm(__byte_perm(__float_as_uint(v[0]), __float_as_uint(v[1]), 0x0040),
                           __byte_perm(__float_as_uint(v[2]), level, 0x0040), 0x5410);
    } else {
        return make_uint2(joined(v[0], v[1]), __byte_perm(__float_as_uint(v[2]), pixel.y, 0x7610));
    }
}

/* Multiplies colours of RGBA of floats in words by alpha, or divides them, as the planner's stages
 * do (pixel/point/point_floats.h). */
template <class Sample, bool DIVIDES, int WORDS>
static __device__ __forceinline__ void convert_alpha(unsigned (&word)[WORDS])
{
    constexpr int COUNT = 4 * WORDS / (int)sizeof(Sample);
    float v[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        v[i] = float_in<Sample>(word, i);
#pragma unroll
    for (int i = 0; i + 3 < COUNT; i += 4) {
        const float alpha = v[i + 3];
#pragma unroll
        for (int c = i; c < i + 3; c++)
            v[c] = DIVIDES ? straight_sample<Sample>(v[c], alpha) : v[c] * alpha;
    }
    pack_floats<Sample>(v, word);
}

/* No tables; the samples are floats, of which the kernel gets the bits (bits_of) or, of halves with
 * KEYS, keys. With ALPHA the picture is straight RGBA. */
template <class Sample, bool KEYS, bool ALPHA> struct fuse_floats : fuse_none {
    static constexpr bool FLOATS = true;

    template <int WORDS> static __device__ __forceinline__ void load(unsigned (&word)[WORDS])
    {
        if constexpr (ALPHA)
            convert_alpha<Sample, false>(word);
#pragma unroll
        for (int w = 0; w < WORDS && KEYS && IS_HALF<Sample>; w++)
            word[w] = keys_of_halves(word[w]);
    }
    static __device__ __forceinline__ void store(unsigned (&word)[4])
    {
#pragma unroll
        for (int w = 0; w < 4 && KEYS && IS_HALF<Sample>; w++)
            word[w] = halves_of_keys(word[w]);
        if constexpr (ALPHA)
            convert_alpha<Sample, true>(word);
    }
};

/* Calls function(sample, n, fuse) for a picture of floats: with a sample, the number of channels as
 * a compile-time constant, and fuse_floats. */
template <bool KEYS, class Function>
static int for_float_stencil(const struct view_pair &p, const Function &function)
{
    return for_channels(p.channels, [&](auto channels) -> int {
        constexpr bool MAY_BE_STRAIGHT = decltype(channels)::value == 4;
        const auto call = [&](auto sample) -> int {
            typedef decltype(sample) Sample;
            return p.straight && MAY_BE_STRAIGHT
                       ? function(sample, channels, fuse_floats<Sample, KEYS, MAY_BE_STRAIGHT>())
                       : function(sample, channels, fuse_floats<Sample, KEYS, false>());
        };
        return p.bits == 16 ? call(__half()) : call(float());
    });
}
