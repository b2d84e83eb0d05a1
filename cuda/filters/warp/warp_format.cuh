/* What blocks that compute quads load, keep in shared memory, and store. Gray and RGB of 8 bits
 * keep a word for a pixel. Straight RGBA is multiplied by alpha once, as it is loaded: a pixel is a
 * word of the upper bytes of its 16-bit samples, and in another plane a word of the lower bytes, so
 * that dot products of bytes add neighbouring pixels. RGB that becomes opaque has equal bytes in
 * both, and one plane. */
#pragma once

#include "cuda/filters/warp/warp_tile.cuh"

constexpr int QUAD = 4;

/* STORED: the channels of the input. STRAIGHT: the bits of the result if it is straight RGBA; 0:
 * the result has the format of the input. */
template <int STORED_, int STRAIGHT_ = 0> struct quad_format {
    static constexpr int STORED = STORED_, STRAIGHT = STRAIGHT_;
    static constexpr int CHANNELS = STRAIGHT ? 4 : STORED;
    static constexpr int PLANES = STRAIGHT && STORED == 4 ? 2 : 1;
    /* The words of a quad in the input and in the result, which are also the bytes of a pixel. */
    static constexpr int IN = STRAIGHT == 16 ? 8 : STORED,
                         OUT = CHANNELS * (STRAIGHT == 16 ? 2 : 1);
    /* The fraction bits of a sum. */
    static constexpr int FRACTION = STRAIGHT ? 16 : 24;
};

/* The words of a pixel in the planes. */
static __device__ __forceinline__ uint2 planes_of(uint2 pixel)
{
    return make_uint2(__byte_perm(pixel.x, pixel.y, 0x7531), __byte_perm(pixel.x, pixel.y, 0x6420));
}

/* Loads the words of a quad. */
template <int WORDS>
static __device__ __forceinline__ void load_quad(const uint32_t *from, uint32_t *word)
{
    if constexpr (WORDS % 4 == 0) {
#pragma unroll
        for (int i = 0; i < WORDS; i += 4) {
            const uint4 four = __ldg((const uint4 *)(from + i));
            word[i] = four.x, word[i + 1] = four.y, word[i + 2] = four.z, word[i + 3] = four.w;
        }
    } else {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            word[i] = __ldg(from + i);
    }
}

/* Spreads the words of four neighbouring pixels in a row to the words of the tile, whose planes are
 * `plane` words apart. A word of RGB has the pixel in its lower three bytes, and an arbitrary byte
 * unless it is opaque; a word of gray has the pixel and its right neighbour in its lower two bytes,
 * and two arbitrary ones. `next` is the word after those of gray. */
template <class FORMAT>
static __device__ __forceinline__ void spread_quad(const uint32_t *w, uint32_t next,
                                                   uint32_t *place, int plane)
{
    constexpr int STORED = FORMAT::STORED;
    if constexpr (FORMAT::PLANES == 2) {
#pragma unroll
        for (int i = 0; i < QUAD; i++) {
            const uint2 words = planes_of(FORMAT::STRAIGHT == 8
                                              ? premultiplied(w[i])
                                              : premultiplied(make_uint2(w[2 * i], w[2 * i + 1])));
            place[i] = words.x, place[plane + i] = words.y;
        }
        return;
    }
    const uint32_t opaque = FORMAT::STRAIGHT ? 0xFF000000u : 0;
    place[0] = w[0] | opaque;
    place[1] = (STORED == 1 ? w[0] >> 8 : __funnelshift_r(w[0], w[STORED / 2], 24)) | opaque;
    place[2] =
        (STORED == 1 ? w[0] >> 16 : __funnelshift_r(w[STORED / 2], w[STORED - 1], 16)) | opaque;
    place[3] = (STORED == 1 ? __funnelshift_r(w[0], next, 24) : w[STORED - 1] >> 8) | opaque;
}

/* Returns the words of the tile's planes, from pixels of the picture or of the border beyond it. */
template <class FORMAT>
static __device__ __forceinline__ uint2 quad_word(const struct warp_source &source, int x, int y)
{
    if constexpr (FORMAT::STRAIGHT != 0) {
        return planes_of(pixel_at<uint16_t, 4, uint2>(source, x, y));
    } else {
        constexpr int STORED = FORMAT::STORED;
        const uint32_t pixel = pixel_at<uint8_t, STORED, uint32_t>(source, x, y);
        return make_uint2(STORED == 1
                              ? pixel | pixel_at<uint8_t, STORED, uint32_t>(source, x + 1, y) << 8
                              : pixel,
                          0);
    }
}

/* Adds the products of two neighbouring pixels and a pair of weights to sum[c]. */
static __device__ __forceinline__ void add_pair_rgba8(uint32_t a, uint32_t b, unsigned weights,
                                                      int sum[4])
{
    const unsigned red_green = __byte_perm(a, b, 0x5140), blue_alpha = __byte_perm(a, b, 0x7362);
    sum[0] = dot_low(weights, red_green, sum[0]);
    sum[1] = dot_high(weights, red_green, sum[1]);
    sum[2] = dot_low(weights, blue_alpha, sum[2]);
    sum[3] = dot_high(weights, blue_alpha, sum[3]);
}

/* Computes a row of a window of two planes, as gf_warp_linear16() does: the part that the lower
 * bytes add is rounded alone, since the upper bytes add whole numbers. */
template <int PLANES>
static __device__ __forceinline__ void plane_row(const uint32_t *first, int plane, unsigned weights,
                                                 int row[4])
{
    int low[4] = {128, 128, 128, 128}, high[4] = {};
    add_pair_rgba8(first[(PLANES - 1) * plane], first[(PLANES - 1) * plane + 1], weights, low);
    if (PLANES == 2)
        add_pair_rgba8(first[0], first[1], weights, high);
#pragma unroll
    for (int c = 0; c < 4; c++)
        row[c] = (PLANES == 2 ? high[c] : low[c] - 128) + (low[c] >> 8);
}

/* Computes the sums of the window that begins at `first`, as linear_sums() does. */
template <class FORMAT, bool ROUNDED>
static __device__ __forceinline__ void quad_sums(const uint32_t *first, int pitch, int plane,
                                                 uint32_t f, uint32_t g,
                                                 uint32_t sum[FORMAT::CHANNELS])
{
    const struct tile_window<uint32_t> window = {
        first, pitch
    };
    const unsigned weights = f * 0xFFFF + 4096;
    if constexpr (FORMAT::STRAIGHT != 0) {
        int top[4], bottom[4];
        plane_row<FORMAT::PLANES>(first, plane, weights, top);
        plane_row<FORMAT::PLANES>(first + pitch, plane, weights, bottom);
#pragma unroll
        for (int c = 0; c < 4; c++)
            sum[c] = (4096 - g) * (unsigned)top[c] +
                     (g * (unsigned)bottom[c] + (ROUNDED ? 1u << (FORMAT::FRACTION - 1) : 0));
    } else if constexpr (FORMAT::CHANNELS == 3) {
        linear_sums<uint8_t, 3, ROUNDED>(window, f, g, sum);
    } else {
        constexpr int HALF = ROUNDED ? 2048 : 0;
        const int top = dot_low(weights, window.at(0, 0), HALF);
        const int bottom = dot_low(weights, window.at(0, 1), HALF);
        sum[0] = (4096 - g) * (unsigned)top + g * (unsigned)bottom;
    }
}

/* Returns a sum as a sample with 8 fraction bits. */
template <class FORMAT> static __device__ __forceinline__ uint32_t fine_of(uint32_t sum)
{
    return (sum + (1u << (FORMAT::FRACTION - 9))) >> (FORMAT::FRACTION - 8);
}

/* Returns a sum of samples over `divisor`, 256 times their number, rounded. The estimate differs by
 * one at most. */
static __device__ __forceinline__ uint32_t rounded_mean(uint32_t sum, uint32_t divisor,
                                                        float one_of)
{
    const uint32_t rounded = sum + divisor / 2;
    uint32_t mean = (uint32_t)((float)rounded * one_of);
    mean -= mean * divisor > rounded;
    mean += (mean + 1) * divisor <= rounded;
    return mean;
}

/* Whether sums of a pixel's samples fit in 32 bits. */
template <class FORMAT> static bool sums_fit(const struct gf_warp *warp)
{
    return !FORMAT::STRAIGHT || warp->nx * warp->ny <= 255;
}

/* Writes the words of a pixel of premultiplied colour as it is stored. */
template <class FORMAT>
static __device__ __forceinline__ void straight_words(uint2 pixel, uint32_t *word)
{
    if constexpr (FORMAT::STRAIGHT == 8) {
        word[0] = straightened<unsigned>(pixel);
    } else {
        const uint2 straight = straightened<uint2>(pixel);
        word[0] = straight.x, word[1] = straight.y;
    }
}

static __device__ __forceinline__ uint32_t upper_bytes(const uint32_t v[4])
{
    return __byte_perm(__byte_perm(v[0], v[1], 0x0073), __byte_perm(v[2], v[3], 0x0073), 0x5410);
}

/* Joins the results of COUNT pixels, the upper bits of their sums, to words. */
template <class FORMAT, int COUNT>
static __device__ __forceinline__ void quad_words(const uint32_t *sum, uint32_t *word)
{
    if constexpr (FORMAT::STRAIGHT != 0) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const uint32_t own[4] = {sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]};
            straight_words<FORMAT>(pixel_of_halves<4, uint2>(own), word + FORMAT::OUT / 4 * i);
        }
    } else {
#pragma unroll
        for (int i = 0; i < FORMAT::CHANNELS; i++)
            word[i] = upper_bytes(sum + 4 * i);
    }
}

/* Sets the words of a quad of equal pixels beyond the picture. */
template <class FORMAT>
static __device__ __forceinline__ void beyond_words(const struct gf_warp &warp, uint32_t *word)
{
    const uint32_t r = warp.beyond[0], g = warp.beyond[FORMAT::CHANNELS / 2],
                   b = warp.beyond[FORMAT::CHANNELS - 1];
    if constexpr (FORMAT::STRAIGHT != 0) {
        const uint2 pixel = make_uint2(r | (uint32_t)warp.beyond[1] << 16, g | b << 16);
#pragma unroll
        for (int i = 0; i < QUAD; i++)
            straight_words<FORMAT>(pixel, word + FORMAT::OUT / 4 * i);
    } else {
        const uint32_t three[3] = {r | g << 8 | b << 16 | r << 24, g | b << 8 | r << 16 | g << 24,
                                   b | r << 8 | g << 16 | b << 24};
#pragma unroll
        for (int i = 0; i < FORMAT::OUT; i++)
            word[i] = three[i];
    }
}

/* Stores up to four pixels. */
template <class FORMAT>
static __device__ __forceinline__ void store_quad(const uint32_t *word, unsigned char *to,
                                                  int count)
{
    if (count >= QUAD && FORMAT::OUT % 4 == 0) {
#pragma unroll
        for (int i = 0; i < FORMAT::OUT; i += 4)
            ((uint4 *)to)[i / 4] = make_uint4(word[i], word[i + 1], word[i + 2], word[i + 3]);
        return;
    }
    if (count >= QUAD) {
#pragma unroll
        for (int i = 0; i < FORMAT::OUT; i++)
            ((uint32_t *)to)[i] = word[i];
        return;
    }
#pragma unroll
    for (int i = 0; i < FORMAT::OUT * (QUAD - 1); i++) {
        if (i < FORMAT::OUT * count)
            to[i] = (unsigned char)(word[i / 4] >> 8 * (i % 4));
    }
}
