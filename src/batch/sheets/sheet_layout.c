#include "batch/sheets/sheet_layout.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/image.h"

enum gf_status gf_sheet_layout_begin(struct gf_sheet_layout *layout, int columns, int rows,
                                     struct gf_error *error)
{
    int *const all = calloc(2 * ((size_t)columns + (size_t)rows), sizeof *all);
    *layout = (struct gf_sheet_layout){.columns = columns, .rows = rows};
    if (!all)
        return gf_fail_memory(error);
    layout->x = all;
    layout->width = layout->x + columns;
    layout->y = layout->width + columns;
    layout->height = layout->y + rows;
    return GF_OK;
}

static void grow(int *size, int least)
{
    *size = *size < least ? least : *size;
}

void gf_sheet_layout_fit(struct gf_sheet_layout *layout, size_t cell, int width, int height)
{
    grow(&layout->width[cell % (size_t)layout->columns], width);
    grow(&layout->height[cell / (size_t)layout->columns], height);
}

/* Places rows or columns one after another. Returns the whole length, or 0 if it is too large. */
static int place(int *at, const int *size, int count, int gap, int margin)
{
    int64_t end = margin;
    for (int i = 0; i < count; i++) {
        end += i ? gap : 0;
        at[i] = (int)end;
        end += size[i];
        if (end + margin > GF_SIDE_MAX)
            return 0;
    }
    return (int)(end + margin);
}

enum gf_status gf_sheet_layout_end(struct gf_sheet_layout *layout, int gap, int margin,
                                   struct gf_error *error)
{
    layout->page_width = place(layout->x, layout->width, layout->columns, gap, margin);
    layout->page_height = place(layout->y, layout->height, layout->rows, gap, margin);
    if (layout->page_width && layout->page_height)
        return GF_OK;
    return gf_fail(error, GF_ERROR_INPUT, "the pictures in a row or a column have over %d pixels",
                   GF_SIDE_MAX);
}

void gf_sheet_layout_free(struct gf_sheet_layout *layout)
{
    free(layout->x);
    *layout = (struct gf_sheet_layout){0};
}
