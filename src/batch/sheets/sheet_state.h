/* The pages while they are made. */
#pragma once

#include "batch/sheets/sheet.h"
#include "batch/sheets/sheet_layout.h"
#include "batch/sheets/sheet_page.h"
#include "batch/sheets/sheet_places.h"
#include "batch/workers/workers.h"

/* A picture as the worker leaves it. */
struct gf_sheet_picture {
    struct gf_bytes bytes; /* a PAM */
    int width, height;     /* of the input */
    bool done, failed;
};

/* The state of the thread that writes. Pictures come in the order of the inputs, and are written in
 * groups: with --sheet a row of a page, with --join all. */
struct gf_sheet_writer {
    const struct gf_sheet *sheet;
    struct gf_batch *batch;
    struct gf_sheet_layout layout;
    struct gf_page page;
    struct gf_places places;
    struct gf_placed *placed; /* the pictures and labels of the group */
    size_t count;
    uint64_t held;   /* the bytes of the group's pictures */
    bool incomplete; /* a picture of the page has failed, and the page is not written */
    bool warned;     /* of letters that the font lacks */
};

/* Adds the picture of input `index`. Ends its group and its page if it is the last one there. */
enum gf_status gf_sheet_add(struct gf_sheet_writer *writer, size_t index,
                            const struct gf_sheet_picture *picture,
                            struct gf_error *error) GF_CHECKED;
void gf_sheet_close_writer(struct gf_sheet_writer *writer);

/* Draws the label of the picture of input `index` below the cell at x, y. */
enum gf_status gf_sheet_draw_label(struct gf_sheet_writer *writer, size_t index,
                                   const struct gf_sheet_picture *picture, int x, int y,
                                   struct gf_placed *placed, struct gf_error *error) GF_CHECKED;
/* Returns the height of a label. */
enum gf_status gf_sheet_label_height(const struct gf_sheet *sheet, int *height,
                                     struct gf_error *error) GF_CHECKED;
