#include "pixel/stencil.h"

#include <string.h>

#include "stage/border.h"

void gf_stencil_rows(const struct gf_view *in, int first, int count, int border,
                     const unsigned char *zeros, const unsigned char **rows)
{
    for (int i = 0; i < count; i++) {
        const int row = gf_border_index(first + i, in->format.height, border);
        rows[i] = row < 0 ? zeros : gf_view_row(in, row);
    }
}

static void pad_pixel(unsigned char *row, int at, int width, size_t pixel_bytes, int border)
{
    const int from = gf_border_index(at, width, border);
    unsigned char *const pixel = row + (ptrdiff_t)at * (ptrdiff_t)pixel_bytes;
    if (from < 0)
        memset(pixel, 0, pixel_bytes);
    else
        memcpy(pixel, row + (size_t)from * pixel_bytes, pixel_bytes);
}

void gf_stencil_pad(void *row, int width, int pad, size_t pixel_bytes, int border)
{
    for (int i = 0; i < pad; i++) {
        pad_pixel(row, -1 - i, width, pixel_bytes, border);
        pad_pixel(row, width + i, width, pixel_bytes, border);
    }
}
