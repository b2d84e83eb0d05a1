/* Loads the part of the input that a tile of a straight warp needs into shared memory, with one or
 * two words for a pixel, and with the border beyond the picture. The map and not a halo determines
 * its size and place, so that this file does not use the stencils' tiles of cuda/common. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/filters/warp/warp.cuh"

constexpr int THREADS = 256, WARPS = THREADS / WARP, TILE = 32;
/* The largest part of the input. It suffices for rotations by any angle, with the windows of the
 * largest kernel. */
constexpr int ROWS = 52, COLUMNS = 56, PITCH_MOST = 68;

/* The least and the greatest distance of the positions of a tile's pixels from the position of its
 * first pixel. */
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

/* Whether the box of any tile fits in shared memory. */
static bool fits_tile(const struct gf_warp *warp)
{
    const double scale = (TILE - 1) / 4294967296.0;
    const double columns = (fabs((double)warp->ux) + fabs((double)warp->uy)) * scale;
    const double rows = (fabs((double)warp->vx) + fabs((double)warp->vy)) * scale;
    return warp->map.kind == GF_WARP_AFFINE && warp->nx * warp->ny == 1 &&
           columns + 2 + warp->taps + 3 <= COLUMNS && rows + 2 + warp->taps <= ROWS;
}
