/* Where the cells of a page lie. */
#pragma once

#include <stddef.h>

#include "gpufilter/status.h"

/* Row r is at y[r] and has height[r] pixels; column c is at x[c]. */
struct gf_sheet_layout {
    int columns, rows;
    int *x, *y, *width, *height; /* one allocation, which begins at x */
    int page_width, page_height;
};

/* Begins a layout whose rows and columns have no size yet. The caller frees it by
 * gf_sheet_layout_free(), also after a failure. */
enum gf_status gf_sheet_layout_begin(struct gf_sheet_layout *layout, int columns, int rows,
                                     struct gf_error *error) GF_CHECKED;
/* Makes the row and the column of the cell at least as large as this. Cells are counted row by
 * row. */
void gf_sheet_layout_fit(struct gf_sheet_layout *layout, size_t cell, int width, int height);
/* Sets the places of all cells, and the size of the page. */
enum gf_status gf_sheet_layout_end(struct gf_sheet_layout *layout, int gap, int margin,
                                   struct gf_error *error) GF_CHECKED;
void gf_sheet_layout_free(struct gf_sheet_layout *layout);
