/* Mirrors rows and transposes tiles, with and without vectors. */
#include "pixel/orient/orient.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"
#include "base/simd.h"

/* Writes `count` pixels of each of `rows` rows in reverse order to another row. A pixel has `size`
 * bytes (1, 2, 3, 4, 6, 8). Either step, the bytes from one row to the next, may be negative.
 * Returns how many pixels of each result row were written; the caller has to write the others. */
GF_X86_ONLY int gf_orient_mirror_simd(size_t size, const unsigned char *src, ptrdiff_t src_step,
                                      unsigned char *dst, ptrdiff_t dst_step, int count, int rows);

/* Transposes a tile of pixels of 1 to 4 bytes: pixel x of result row y, at dst + y * dst_step, is
 * pixel y of input row x, at src + x * src_step. With a negative step, later rows are at lower
 * addresses. Both sides of the tile are multiples of gf_orient_side(size). For a size of 3, 4 bytes
 * after each result row are overwritten, and 4 bytes after each input row are read. */
GF_X86_ONLY void gf_orient_turn_simd(size_t size, const unsigned char *src, ptrdiff_t src_step,
                                     unsigned char *dst, ptrdiff_t dst_step, int columns, int rows);

/* Returns the side of gf_orient_turn_simd()'s smallest tile; 0 if it takes no such pixels. */
static inline int gf_orient_side(size_t size)
{
    return size == 1 ? 16 : size == 2 ? 8 : size == 3 || size == 4 ? 4 : 0;
}

/* Mirroring rows with vectors. */

#if GF_X86

/* Computes the permutation that mirrors the whole pixels of a vector of `width` bytes, from its
 * upper end downwards. The next vector overwrites the bytes behind these pixels. */
static void mirror_order(int width, int size, unsigned char *order)
{
    const int used = width / size * size;
    for (int i = 0; i < width; i++)
        order[i] = (unsigned char)(i < used ? width - size * (i / size + 1) + i % size : 0);
}

GF_SSSE3 static int mirror_16(int size, __m128i shuffle, const unsigned char *end,
                              unsigned char *dst, int count)
{
    const int each = 16 / size, step = each * size;
    int done = 0;
    for (; (count - done) * size >= 16; done += each, end -= step, dst += step) {
        const __m128i pixels = _mm_loadu_si128((const void *)(end - 16));
        _mm_storeu_si128((void *)dst, _mm_shuffle_epi8(pixels, shuffle));
    }
    return done;
}

/* How vectors that are aligned to cache lines, and may begin within a pixel, mirror a row. */
struct mirror {
    int size;
    unsigned char whole[64]; /* the permutation of a vector that begins with a whole pixel */
    /* For vectors that begin with byte 0, 1, .. of a pixel: begin is where the 64 input bytes for
     * the vector begin, relative to the end of the input's pixels; order is a permutation of these
     * and of the 64 bytes just before that end. */
    ptrdiff_t begin[8];
    unsigned char order[8][64];
};

static void mirror_prepare(struct mirror *mirror, int size)
{
    mirror->size = size;
    mirror_order(64, size, mirror->whole);
    for (int phase = 0; phase < size; phase++) {
        const int bytes = ((phase + 63) / size + 1) * size;
        mirror->begin[phase] = -bytes;
        for (int i = 0; i < 64; i++) {
            const int from = bytes - size * ((phase + i) / size + 1) + (phase + i) % size;
            mirror->order[phase][i] = (unsigned char)(from < 64 ? from : from - bytes + 128);
        }
    }
}

/* Writes pixels first .. last - 1 of the mirrored row, as many at a time as a vector holds. */
GF_VBMI static void mirror_some(const struct mirror *mirror, const unsigned char *end,
                                unsigned char *dst, int first, int last)
{
    const int size = mirror->size, each = 64 / size;
    const __m512i order = _mm512_loadu_si512(mirror->whole);
    for (int x = first; x < last; x += each) {
        const int bytes = (last - x < each ? last - x : each) * size;
        const __mmask64 low = ~UINT64_C(0) >> (64 - bytes);
        const unsigned char *const from = end - (ptrdiff_t)x * size - 64;
        const __m512i pixels = _mm512_maskz_loadu_epi8(low << (64 - bytes), from);
        _mm512_mask_storeu_epi8(dst + (ptrdiff_t)x * size, low,
                                _mm512_permutexvar_epi8(order, pixels));
    }
}

/* Mirrors a row. `parts`, a constant, says that pixels can cross the ends of vectors. */
GF_VBMI GF_INLINE void mirror_64(const struct mirror *mirror, const bool parts,
                                 const unsigned char *end, unsigned char *dst, int count)
{
    enum { TURNS = 3 };
    const int size = mirror->size;
    const ptrdiff_t bytes = (ptrdiff_t)count * size;
    ptrdiff_t at = (ptrdiff_t)(-(uintptr_t)dst % 64);
    mirror_some(mirror, end, dst, 0, at < bytes ? (int)((at + size - 1) / size) : count);
    const unsigned char *behind[TURNS];
    __m512i order[TURNS];
    ptrdiff_t begin[TURNS];
    for (int i = 0; i < TURNS; i++) {
        const ptrdiff_t phase = (at + 64 * i) % size;
        order[i] = _mm512_loadu_si512(mirror->order[parts ? phase : 0]);
        begin[i] = mirror->begin[parts ? phase : 0];
        behind[i] = end - (at + 64 * i - phase);
    }
    for (; at + 64 * TURNS <= bytes; at += 64 * TURNS) {
        for (int i = 0; i < TURNS; i++, behind[i - 1] -= 64 * TURNS) {
            const __m512i low = _mm512_loadu_si512(behind[i] + begin[i]);
            const __m512i high = parts ? _mm512_loadu_si512(behind[i] - 64) : low;
            _mm512_store_si512(dst + at + 64 * i, _mm512_permutex2var_epi8(low, order[i], high));
        }
    }
    mirror_some(mirror, end, dst, (int)(at / size), count);
}

GF_VBMI static void mirror_rows_64(int size, const unsigned char *src, ptrdiff_t src_step,
                                   unsigned char *dst, ptrdiff_t dst_step, int count, int rows)
{
    struct mirror mirror;
    mirror_prepare(&mirror, size);
    for (int y = 0; y < rows; y++, src += src_step, dst += dst_step) {
        if (64 % size || (uintptr_t)dst % (uintptr_t)size)
            mirror_64(&mirror, true, src + (ptrdiff_t)count * size, dst, count);
        else
            mirror_64(&mirror, false, src + (ptrdiff_t)count * size, dst, count);
    }
}

GF_SSSE3 static int mirror_rows_16(int size, const unsigned char *src, ptrdiff_t src_step,
                                   unsigned char *dst, ptrdiff_t dst_step, int count, int rows)
{
    unsigned char order[16];
    int done = 0;
    mirror_order(16, size, order);
    for (int y = 0; y < rows; y++, src += src_step, dst += dst_step)
        done = mirror_16(size, _mm_loadu_si128((const void *)order), src + (ptrdiff_t)count * size,
                         dst, count);
    return done;
}

int gf_orient_mirror_simd(size_t size, const unsigned char *src, ptrdiff_t src_step,
                          unsigned char *dst, ptrdiff_t dst_step, int count, int rows)
{
    if (!gf_cpu_has(GF_CPU_VBMI))
        return mirror_rows_16((int)size, src, src_step, dst, dst_step, count, rows);
    mirror_rows_64((int)size, src, src_step, dst, dst_step, count, rows);
    return count;
}

/* Transposing tiles with vectors. */

#define TURN GF_SSSE3
#define TURN_NAME(name) name##_16
#define TURN_PARTS 1
#define TURN_VECTOR __m128i
#define TURN_LOAD(from, step) _mm_loadu_si128((const void *)(from))
#define TURN_STORE(to, v) _mm_storeu_si128((void *)(to), v)
#define TURN_STORE3(to, v) TURN_STORE(to, v)
#define TURN_LOW(bits, a, b) _mm_unpacklo_epi##bits(a, b)
#define TURN_HIGH(bits, a, b) _mm_unpackhi_epi##bits(a, b)
#define TURN_SHUFFLE(v, order) _mm_shuffle_epi8(v, order)
#include "pixel/orient/orient_turn.h"

/* Loads 16 bytes from each of four addresses, which are `step` bytes apart. */
GF_AVX512 GF_INLINE __m512i four_rows(const unsigned char *src, ptrdiff_t step)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const void *)src));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(src + step)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(src + 2 * step)), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(src + 3 * step)), 3);
}

/* Stores the first 12 of each 16 bytes, without gaps. */
GF_AVX512 GF_INLINE void store_48(unsigned char *to, __m512i v)
{
    const __m512i close = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 0, 0, 0, 0);
    _mm512_mask_storeu_epi32(to, 0x0fff, _mm512_permutexvar_epi32(close, v));
}

#define TURN GF_AVX512
#define TURN_NAME(name) name##_64
#define TURN_PARTS 4
#define TURN_VECTOR __m512i
#define TURN_LOAD(from, step) four_rows(from, step)
#define TURN_STORE(to, v) _mm512_storeu_si512(to, v)
#define TURN_STORE3(to, v) store_48(to, v)
#define TURN_LOW(bits, a, b) _mm512_unpacklo_epi##bits(a, b)
#define TURN_HIGH(bits, a, b) _mm512_unpackhi_epi##bits(a, b)
#define TURN_SHUFFLE(v, order) _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(order))
#include "pixel/orient/orient_turn.h"

void gf_orient_turn_simd(size_t size, const unsigned char *src, ptrdiff_t src_step,
                         unsigned char *dst, ptrdiff_t dst_step, int columns, int rows)
{
    int done = 0;
    if (gf_cpu_has(GF_CPU_AVX512))
        done = turn_all_64(size, src, src_step, dst, dst_step, done, columns, rows);
    turn_all_16(size, src, src_step, dst, dst_step, done, columns, rows);
}
#endif

/* Whole pictures, with or without vectors. */

/* The size of a tile of the result, with which whole cache lines are read and written. */
enum { TILE_COLUMNS = 256, TILE_ROWS = 32 };

void gf_orient_shape(struct gf_orient orient, struct gf_format in, struct gf_format *out)
{
    out->width = orient.transpose ? in.height : in.width;
    out->height = orient.transpose ? in.width : in.height;
}

bool gf_orient_needs_whole(struct gf_orient orient)
{
    return orient.transpose || orient.mirror_y;
}

void gf_orient_input_rows(struct gf_orient orient, const struct gf_stage *stage, int y0, int y1,
                          int *first, int *end)
{
    const int height = stage->in.height;
    *first = orient.transpose ? 0 : orient.mirror_y ? height - y1 : y0;
    *end = orient.transpose ? height : orient.mirror_y ? height - y0 : y1;
}

/* Copies `count` pixels that are `step` bytes apart. The function is inlined, so that a pixel's
 * size is a constant. */
GF_INLINE void copy_pixels(size_t size, const unsigned char *src, ptrdiff_t step,
                           unsigned char *dst, int count)
{
    for (int x = 0; x < count; x++)
        memcpy(dst + (size_t)x * size, src + x * step, size);
}

GF_INLINE void mirror_rows(size_t size, struct gf_orient orient, const struct gf_view *in,
                           const struct gf_view *out)
{
    const int width = out->format.width, height = out->format.height;
    const ptrdiff_t step = (ptrdiff_t)in->pitch;
    int done = 0;
    if (size <= 8 && gf_cpu_has(GF_CPU_SSSE3))
        done = gf_orient_mirror_simd(
            size, gf_view_row(in, orient.mirror_y ? height - 1 - out->y : out->y),
            orient.mirror_y ? -step : step, out->data, (ptrdiff_t)out->pitch, width, out->rows);
    for (int y = out->y; done < width && y < out->y + out->rows; y++)
        copy_pixels(size,
                    gf_view_row(in, orient.mirror_y ? height - 1 - y : y) +
                        (size_t)(width - 1 - done) * size,
                    -(ptrdiff_t)size, gf_view_row(out, y) + (size_t)done * size, width - done);
}

/* Writes columns x0 .. x0 + columns - 1 of row y of the transposed result. */
GF_INLINE void transpose_row(size_t size, struct gf_orient orient, const struct gf_view *in,
                             const struct gf_view *out, int x0, int columns, int y)
{
    const int width = out->format.width, height = out->format.height;
    const unsigned char *const top = gf_view_row(in, orient.mirror_x ? width - 1 - x0 : x0);
    const ptrdiff_t step = orient.mirror_x ? -(ptrdiff_t)in->pitch : (ptrdiff_t)in->pitch;
    const size_t column = (size_t)(orient.mirror_y ? height - 1 - y : y);
    copy_pixels(size, top + column * size, step, gf_view_row(out, y) + (size_t)x0 * size, columns);
}

/* Writes the first columns of rows *first .. *end - 1 of a tile with vectors, and returns their
 * number. It leaves out rows at the edge of the picture (*first and *end change) for pixels of 3
 * bytes, since bytes beside these are read and written. */
GF_INLINE int turn_inside(size_t size, struct gf_orient orient, const struct gf_view *in,
                          const struct gf_view *out, int x0, int columns, int *first, int *end)
{
    const int width = out->format.width, height = out->format.height, side = gf_orient_side(size);
    const int beside = size == 3 ? 2 : 0;
    if (!side || !gf_cpu_has(GF_CPU_SSSE3))
        return 0;
    const int most = width - beside - x0 < columns ? width - beside - x0 : columns;
    const int turned = most > 0 ? most / side * side : 0;
    if (orient.mirror_y)
        *first = *first > beside ? *first : beside;
    else
        *end = *end < height - beside ? *end : height - beside;
    const int rows = *end > *first ? (*end - *first) / side * side : 0;
    *end = *first + rows;
    if (!turned || !rows)
        return 0;
    const int y = orient.mirror_y ? *end - 1 : *first;
    const int column = orient.mirror_y ? height - 1 - y : y;
    const ptrdiff_t src_step = (ptrdiff_t)in->pitch, dst_step = (ptrdiff_t)out->pitch;
    gf_orient_turn_simd(
        size, gf_view_row(in, orient.mirror_x ? width - 1 - x0 : x0) + (size_t)column * size,
        orient.mirror_x ? -src_step : src_step, gf_view_row(out, y) + (size_t)x0 * size,
        orient.mirror_y ? -dst_step : dst_step, turned, rows);
    return turned;
}

GF_INLINE void transpose_tile(size_t size, struct gf_orient orient, const struct gf_view *in,
                              const struct gf_view *out, int x0, int y0)
{
    const int width = out->format.width;
    const int columns = width - x0 < TILE_COLUMNS ? width - x0 : TILE_COLUMNS;
    const int end = out->y + out->rows, y1 = end - y0 < TILE_ROWS ? end : y0 + TILE_ROWS;
    int first = y0, last = y1;
    const int turned = turn_inside(size, orient, in, out, x0, columns, &first, &last);
    for (int y = y0; y < y1; y++) {
        const int done = turned && y >= first && y < last ? turned : 0;
        if (done < columns)
            transpose_row(size, orient, in, out, x0 + done, columns - done, y);
    }
}

GF_INLINE void permute(size_t size, struct gf_orient orient, const struct gf_view *in,
                       const struct gf_view *out)
{
    if (!orient.transpose) {
        mirror_rows(size, orient, in, out);
        return;
    }
    for (int y = out->y; y < out->y + out->rows; y += TILE_ROWS) {
        for (int x = 0; x < out->format.width; x += TILE_COLUMNS)
            transpose_tile(size, orient, in, out, x, y);
    }
}

/* Copies a row in blocks, because memcpy() takes a third longer on AMD's Zen 4 for rows of more
 * than 8 KiB that are copied in descending order. */
GF_TARGET_CLONES static void copy_row(const unsigned char *restrict from,
                                      unsigned char *restrict to, size_t bytes)
{
    enum { BLOCK = 64 };
    size_t i = 0;
    for (; i + BLOCK <= bytes; i += BLOCK)
        memcpy(to + i, from + i, BLOCK);
    memcpy(to + i, from + i, bytes - i);
}

void gf_orient_cpu(const struct gf_stage *stage, const struct gf_view *in,
                   const struct gf_view *out, void *scratch)
{
    struct gf_orient orient;
    memcpy(&orient, stage->constants, sizeof orient);
    if (!orient.transpose && !orient.mirror_x) {
        for (int y = out->y; y < out->y + out->rows; y++)
            copy_row(gf_view_row(in, orient.mirror_y ? out->format.height - 1 - y : y),
                     gf_view_row(out, y), gf_row_bytes(out->format));
        return;
    }
    GF_BY_PIXEL_BYTES(out->format.channels * out->format.bits / 8, SIZE,
                      permute(SIZE, orient, in, out));
}

static struct gf_orient orient_of(const void *params)
{
    return *(const struct gf_orient *)params;
}

GF_ORIENT_FUNCTIONS(orient_of)

const struct gf_filter gf_orient = {
    .name = "orient",
    .summary = "upright picture, by its EXIF orientation",
    .params_size = sizeof(struct gf_orient),
    .kind = GF_GEOMETRY,
    GF_ORIENT_FILTER,
    .cuda = GF_CUDA({GF_VARIANT("tiled", gf_orient_cuda, "tile through padded shared memory")}),
};
