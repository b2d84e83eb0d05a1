/* Some rows of a picture in memory. */
#pragma once

#include <stddef.h>

#include "gpufilter/image.h"

/* Rows first .. end - 1 of a picture. */
struct gf_rows {
    int first, end;
};

/* Rows y .. y + rows - 1 of a picture. `format` is the format of the whole picture, including its
 * height. Row r is at data + (r - y) * pitch. In device memory data and pitch are multiples of
 * 16. */
struct gf_view {
    unsigned char *data;
    size_t pitch;
    struct gf_format format;
    int y, rows;
};

static inline unsigned char *gf_view_row(const struct gf_view *view, int row)
{
    return view->data + (ptrdiff_t)(row - view->y) * (ptrdiff_t)view->pitch;
}

static inline struct gf_view gf_view_make(unsigned char *data, size_t pitch,
                                          struct gf_format format, struct gf_rows rows)
{
    return (struct gf_view){.data = data,
                            .pitch = pitch,
                            .format = format,
                            .y = rows.first,
                            .rows = rows.end - rows.first};
}

static inline struct gf_view gf_view_part(const struct gf_view *whole, struct gf_rows rows)
{
    return gf_view_make(gf_view_row(whole, rows.first), whole->pitch, whole->format, rows);
}

/* Returns a view of all rows of the picture. */
static inline struct gf_view gf_image_view(const struct gf_image *image)
{
    return gf_view_make(image->data, image->pitch, image->format,
                        (struct gf_rows){0, image->format.height});
}

static inline size_t gf_view_bytes(const struct gf_view *view)
{
    return gf_row_bytes(view->format) * (size_t)view->rows;
}
