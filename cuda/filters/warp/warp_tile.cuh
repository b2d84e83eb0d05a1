/* Loads the part of the input that a tile of a straight warp needs into shared memory, with one or
 * two words for a pixel, and with the border beyond the picture. The map and not a halo determines
 * its size and place, so that this file does not use the stencils' tiles of cuda/common. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/filters/warp/warp.cuh"

constexpr int THREADS = 256, WARPS = THREADS / WARP, TILE = 32;
/* The most rows and columns of the input that a block loads, and the most words between rows. They
 * suffice for rotations by any angle, with the windows of the largest kernel. */
constexpr int ROWS = 52, COLUMNS = 56, PITCH_MOST = 68;

/* The least and the greatest distance of the positions of a tile's pixels from the position of its
 * first pixel, in 2^-32 pixels of the input. */
struct warp_reach {
    int64_t u_least, u_most, v_least, v_most;
};

/* The rectangle of the input that a tile of the result needs. */
struct warp_box {
    int x, y, columns, rows;
};

static __host__ __device__ __forceinline__ int64_t least(int64_t step, int count)
{
    return step < 0 ? step * (count - 1) : 0;
}

static __host__ __device__ __forceinline__ int64_t most(int64_t step, int count)
{
    return step > 0 ? step * (count - 1) : 0;
}

static __host__ __device__ __forceinline__ struct warp_reach reach_of(const struct gf_warp &warp,
                                                                      int columns, int rows)
{
    return {least(warp.ux, columns) + least(warp.uy, rows),
            most(warp.ux, columns) + most(warp.uy, rows),
            least(warp.vx, columns) + least(warp.vy, rows),
            most(warp.vx, columns) + most(warp.vy, rows)};
}

/* Returns the box of a tile. (u, v) is the position of the tile's first pixel. */
static __device__ __forceinline__ struct warp_box box_of(const struct warp_reach &reach, int taps,
                                                         int64_t u, int64_t v)
{
    const int before = taps > 1 ? taps / 2 - 1 : 0;
    struct warp_box box;
    /* The box begins at a multiple of 4 columns, where words begin with pixels of 3 bytes. */
    box.x = ((int)((u + reach.u_least) >> 32) - before) & ~3;
    box.y = (int)((v + reach.v_least) >> 32) - before;
    box.columns = (int)((u + reach.u_most) >> 32) - before + taps - box.x;
    box.rows = (int)((v + reach.v_most) >> 32) - before + taps - box.y;
    return box;
}

/* Loads a box of 8-bit RGB that is in the picture. With VECTORS the pitch is a multiple of four. A
 * thread loads four pixels, as three words, of every 16th row. All loads are issued before the
 * first result is used. */
template <bool VECTORS>
static __device__ __forceinline__ void
fill_rgb8(const struct warp_source &source, const struct warp_box &box, uint32_t *tile, int pitch)
{
    constexpr int ACROSS = 16, DOWN = THREADS / ACROSS, EACH = (ROWS + DOWN - 1) / DOWN;
    const int column = (int)threadIdx.x % ACROSS * 4, first = (int)threadIdx.x / ACROSS;
    if (column >= box.columns)
        return;
    const unsigned char *const from =
        source.in + (ptrdiff_t)(box.y + first - source.in_y) * (ptrdiff_t)source.pitch +
        3 * (box.x + column);
    uint32_t word[EACH][3];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint32_t *const at = (const uint32_t *)(from + k * DOWN * source.pitch);
        if (first + k * DOWN < box.rows)
            word[k][0] = __ldg(at), word[k][1] = __ldg(at + 1), word[k][2] = __ldg(at + 2);
    }
    uint32_t *const to = tile + first * pitch + column;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (first + k * DOWN >= box.rows)
            continue;
        const uint4 four = make_uint4(word[k][0], __funnelshift_r(word[k][0], word[k][1], 24),
                                      __funnelshift_r(word[k][1], word[k][2], 16), word[k][2] >> 8);
        uint32_t *const place = to + k * DOWN * pitch;
        if (VECTORS)
            *(uint4 *)place = four;
        else
            place[0] = four.x, place[1] = four.y, place[2] = four.z, place[3] = four.w;
    }
}

/* Loads two neighbouring pixels of 16-bit RGB or RGBA, of which the first is in an even column.
 * Straight colour is still to be multiplied by alpha. */
template <int CHANNELS>
static __device__ __forceinline__ uint4 load_two(const unsigned char *from, int stored)
{
    if (CHANNELS == 4 && stored == STRAIGHT_8) {
        const uint2 two = __ldg((const uint2 *)from);
        return make_uint4(two.x, two.y, 0, 0);
    }
    if (CHANNELS == 4 && stored == OPAQUE_8) {
        const uint16_t *const part = (const uint16_t *)from;
        const unsigned a = __ldg(part), b = __ldg(part + 1), c = __ldg(part + 2);
        return make_uint4(a | b << 16, b >> 8 | c << 8, 0, 0);
    }
    if (CHANNELS == 4)
        return __ldg((const uint4 *)from);
    const uint32_t *const word = (const uint32_t *)from;
    const uint32_t a = __ldg(word), b = __ldg(word + 1), c = __ldg(word + 2);
    return make_uint4(a, b & 0xFFFF, __funnelshift_r(b, c, 16), c >> 16);
}

template <int CHANNELS>
static __device__ __forceinline__ uint4 premultiplied_two(const uint4 &two, int stored)
{
    if (CHANNELS != 4 || !stored)
        return two;
    const uint2 left = stored == STRAIGHT_16  ? premultiplied(make_uint2(two.x, two.y))
                       : stored == STRAIGHT_8 ? premultiplied(two.x)
                                              : opaque(two.x);
    const uint2 right = stored == STRAIGHT_16  ? premultiplied(make_uint2(two.z, two.w))
                        : stored == STRAIGHT_8 ? premultiplied(two.y)
                                               : opaque(two.y);
    return make_uint4(left.x, left.y, right.x, right.y);
}

/* Loads a box of 16-bit RGB or RGBA that is in the picture. A lane loads two pixels of a row. */
template <int CHANNELS>
static __device__ __forceinline__ void
fill_shorts(const struct warp_source &source, const struct warp_box &box, uint2 *tile, int pitch)
{
    constexpr int AT_ONCE = 4;
    const int column = (int)threadIdx.x % WARP * 2;
    if (column >= box.columns)
        return;
    const int line = (int)threadIdx.x / WARP;
    const unsigned char *const from = source.in +
                                      (ptrdiff_t)(box.y - source.in_y) * (ptrdiff_t)source.pitch +
                                      bytes_of<CHANNELS>(source.stored) * (size_t)(box.x + column);
#pragma unroll 1
    for (int first = line; first < box.rows; first += AT_ONCE * WARPS) {
        uint4 two[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            if (first + k * WARPS < box.rows)
                two[k] =
                    load_two<CHANNELS>(from + (first + k * WARPS) * source.pitch, source.stored);
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            if (first + k * WARPS < box.rows)
                *(uint4 *)(tile + (first + k * WARPS) * pitch + column) =
                    premultiplied_two<CHANNELS>(two[k], source.stored);
        }
    }
}

template <typename SAMPLE, int CHANNELS, bool VECTORS, class Pixel>
static __device__ __forceinline__ void fill_tile(const struct warp_source &source,
                                                 const struct warp_box &box, Pixel *tile, int pitch)
{
    constexpr bool RGB8 = sizeof(SAMPLE) == 1 && CHANNELS == 3;
    const int width = source.warp.in_width, height = source.warp.in_height;
    if constexpr (RGB8) {
        const bool inside = box.x >= 0 && box.y >= 0 && box.y + box.rows <= height &&
                            box.x + (box.columns + 3) / 4 * 4 <= width;
        if (inside) {
            fill_rgb8<VECTORS>(source, box, tile, pitch);
            return;
        }
    }
    if constexpr (sizeof(SAMPLE) == 2 && CHANNELS >= 3) {
        const bool inside = box.x >= 0 && box.y >= 0 && box.y + box.rows <= height &&
                            box.x + (box.columns + 1) / 2 * 2 <= width;
        if (inside) {
            fill_shorts<CHANNELS>(source, box, tile, pitch);
            return;
        }
    }
    /* The loads of several rows are issued before the first result is used. */
    static_assert(COLUMNS <= 2 * WARP, "two columns of a row suffice");
    constexpr int AT_ONCE = RGB8 ? 1 : 16 / sizeof(Pixel);
    const int column = (int)threadIdx.x % WARP;
#pragma unroll 1
    for (int first = (int)threadIdx.x / WARP; first < box.rows; first += AT_ONCE * WARPS) {
        Pixel pixel[AT_ONCE][2];
#pragma unroll
        for (int i = 0; i < 2 * AT_ONCE; i++) {
            const int x = column + i % 2 * WARP, y = first + i / 2 * WARPS;
            if (x < box.columns && y < box.rows)
                pixel[i / 2][i % 2] =
                    pixel_at<SAMPLE, CHANNELS, Pixel>(source, box.x + x, box.y + y);
        }
#pragma unroll
        for (int i = 0; i < 2 * AT_ONCE; i++) {
            const int x = column + i % 2 * WARP, y = first + i / 2 * WARPS;
            if (x < box.columns && y < box.rows)
                tile[y * pitch + x] = pixel[i / 2][i % 2];
        }
    }
}

/* Counts the successive accesses that the reads of a warp take if rows are `pitch` words apart, and
 * its lanes read pixels that are `step` apart in rows of `across`. It is the sum for positions that
 * begin at `starts` places in a pixel. Lanes whose words are in the same bank wait for each other,
 * unless they read the same word. */
static int bank_waits(const struct gf_warp *warp, int pitch, int across, int step, int starts)
{
    constexpr int BANKS = 32;
    int sum = 0;
    for (int start = 0; start < starts; start++) {
        int at[WARP], count[BANKS] = {0}, most = 0;
        for (int lane = 0; lane < WARP; lane++) {
            const int i = lane % across * step, j = lane / across;
            const int64_t u = start * (1LL << 32) / starts + i * warp->ux + j * warp->uy;
            const int64_t v =
                start * start % starts * (1LL << 32) / starts + i * warp->vx + j * warp->vy;
            at[lane] = (int)(v >> 32) * pitch + (int)(u >> 32);
            bool again = false;
            for (int other = 0; other < lane && !again; other++)
                again = at[other] == at[lane];
            const int waits = again ? 0 : ++count[at[lane] & (BANKS - 1)];
            most = waits > most ? waits : most;
        }
        sum += most;
    }
    return sum;
}

/* Returns the number of words from a row of the tile to the next: whole vectors, with the fewest
 * bank conflicts. */
static int pitch_of(const struct gf_warp *warp)
{
    constexpr int STARTS = 6;
    int best = 64, least_waits = bank_waits(warp, best, WARP, 1, STARTS);
    for (int pitch = 60; pitch <= PITCH_MOST; pitch += 8) {
        const int waits = bank_waits(warp, pitch, WARP, 1, STARTS);
        if (waits < least_waits) {
            best = pitch;
            least_waits = waits;
        }
    }
    return best;
}

/* Whether the part of the input that any tile of the result needs fits in a block's shared
 * memory. */
static bool fits_tile(const struct gf_warp *warp)
{
    const double scale = (TILE - 1) / 4294967296.0;
    const double columns = (fabs((double)warp->ux) + fabs((double)warp->uy)) * scale;
    const double rows = (fabs((double)warp->vx) + fabs((double)warp->vy)) * scale;
    return warp->map.kind == GF_WARP_AFFINE && warp->nx * warp->ny == 1 &&
           columns + 2 + warp->taps + 3 <= COLUMNS && rows + 2 + warp->taps <= ROWS;
}

/* What blocks that compute quads load, keep in shared memory, and store. Gray and RGB of 8 bits
 * keep a word for a pixel. Straight RGBA is multiplied by alpha once, as it is loaded: a pixel is a
 * word of the upper bytes of its 16-bit samples, and in another plane a word of the lower bytes, so
 * that dot products of bytes add neighbouring pixels. RGB that becomes opaque has equal bytes in
 * both, and one plane. */

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

/* Returns the words of a premultiplied pixel in both planes: x has the upper bytes of its samples,
 * y the lower bytes. */
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

/* Returns a sum of samples over `divisor`, which is 256 times their number, rounded. `one_of` is 1
 * / divisor. The estimate differs by one at most. */
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

/* Divides a premultiplied pixel by alpha and writes its words as they are stored. */
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

/* Packs the results of COUNT pixels, which are the upper bits of their sums, into words. */
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

/* Stores `count` pixels of a quad, all four if `count` is larger. */
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
