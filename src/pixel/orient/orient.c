#include "pixel/orient/orient.h"

#include <string.h>

#include "base/target_clones.h"
#include "pixel/orient/orient_simd.h"

/* The size of a tile of the result. A tile reads and writes whole cache lines. */
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

/* Copies pixels. The function is always inlined, so that the size of a pixel is a constant. */
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
    if (gf_cpu_has(GF_CPU_SSSE3))
        done = gf_orient_mirror_simd(
            size, gf_view_row(in, orient.mirror_y ? height - 1 - out->y : out->y),
            orient.mirror_y ? -step : step, out->data, (ptrdiff_t)out->pitch, width, out->rows);
    for (int y = out->y; done < width && y < out->y + out->rows; y++)
        copy_pixels(size,
                    gf_view_row(in, orient.mirror_y ? height - 1 - y : y) +
                        (size_t)(width - 1 - done) * size,
                    -(ptrdiff_t)size, gf_view_row(out, y) + (size_t)done * size, width - done);
}

/* Makes columns x0 .. x0 + columns - 1 of row y of the result. */
GF_INLINE void transpose_row(size_t size, struct gf_orient orient, const struct gf_view *in,
                             const struct gf_view *out, int x0, int columns, int y)
{
    const int width = out->format.width, height = out->format.height;
    const unsigned char *const top = gf_view_row(in, orient.mirror_x ? width - 1 - x0 : x0);
    const ptrdiff_t step = orient.mirror_x ? -(ptrdiff_t)in->pitch : (ptrdiff_t)in->pitch;
    const size_t column = (size_t)(orient.mirror_y ? height - 1 - y : y);
    copy_pixels(size, top + column * size, step, gf_view_row(out, y) + (size_t)x0 * size, columns);
}

/* Makes the first columns of rows *first .. *end - 1 of a tile with vectors, and narrows these
 * rows: pixels of 3 bytes need a margin, since bytes beside them are read and written. Returns the
 * number of columns. */
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

/* Copies by blocks, because memcpy() takes a third longer on AMD's Zen 4 for rows of more than 8
 * KiB that are copied in descending order. */
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
