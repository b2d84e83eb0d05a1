/* Runs a batch whose pictures become parts of sheets: where tiles lie, pages that are written
 * row by row, places for sprites, and the thread that writes. */
#pragma once

#include <stddef.h>

#include "batch/request/request.h"
#include "batch/sheets/sheet.h"
#include "batch/workers/workers.h"
#include "codec/codec.h"
#include "gpufilter/filter.h"
#include "gpufilter/status.h"
#include "stage/picture.h"

/* Where the tiles of a page lie. Row r is at y[r] and has height[r] pixels; column c is at x[c]. */
struct gf_sheet_layout {
    int columns, rows;
    int *x, *y, *width, *height; /* all in one allocation, which begins at x */
    int page_width, page_height;
};

/* Begins a layout whose rows and columns have no size yet. The caller frees it by
 * gf_sheet_layout_free(), also after a failure. */
enum gf_status gf_sheet_layout_begin(struct gf_sheet_layout *layout, int columns, int rows,
                                     struct gf_error *error) GF_CHECKED;
/* Makes the row and the column of tile number `tile` large enough for width x height pixels. Tiles
 * are counted row by row. */
void gf_sheet_layout_fit(struct gf_sheet_layout *layout, size_t tile, int width, int height);
/* Sets the places of all tiles, and the size of the page. */
enum gf_status gf_sheet_layout_end(struct gf_sheet_layout *layout, int gap, int margin,
                                   struct gf_error *error) GF_CHECKED;
void gf_sheet_layout_free(struct gf_sheet_layout *layout);

/* ---- pages: pictures that are written row by row from pictures that lie on a background ---- */

struct gf_placed {
    struct gf_image image; /* its width and height may be less than those of the stored pixels */
    /* For a label, the drawn text that owns the image's pixels; NULL: a picture. */
    const struct gf_picture *text;
    int x, y;
};

struct gf_page {
    struct gf_output *output; /* the page's file; NULL: the page is not open */
    struct gf_sink *sink;
    struct gf_format format;
    unsigned char background[8]; /* the background's pixel in `format` */
    unsigned char *rows;         /* memory for a few rows */
    int done;                    /* number of rows written */
};

/* Opens the page. `format` is the format that the pictures need; the page's own format is that in
 * which the file stores it. */
enum gf_status gf_page_open(struct gf_page *page, const char *path, struct gf_format format,
                            const struct gf_colour *background, const struct gf_options *options,
                            struct gf_error *error) GF_CHECKED;
/* Writes the next rows of the page, up to row end - 1. No two pictures may share a pixel. */
enum gf_status gf_page_write(struct gf_page *page, const struct gf_placed *placed, size_t count,
                             int end, struct gf_error *error) GF_CHECKED;
/* Makes the complete page visible under its name. */
enum gf_status gf_page_finish(struct gf_page *page, struct gf_error *error) GF_CHECKED;
/* Closes the page if it is open. A page that is not finished leaves no file. */
void gf_page_close(struct gf_page *page);

/* A place in the file that tells where each picture lies on its page, for sprites in CSS or
 * JSON. */

struct gf_sheet_place {
    const char *input; /* the name of the input picture */
    int x, y, width, height;
};

struct gf_places {
    struct gf_output *output; /* the file of places; NULL: there is none */
    const char *path, *page;  /* the names of the file and of the page */
    struct gf_sheet_place *place;
    size_t count;
};

/* Whether the name's extension says which form the file has, CSS or JSON. */
bool gf_places_named(const char *path);
/* Fails if two pictures would get the same class in CSS. */
enum gf_status gf_places_check(const char *path, const struct gf_inputs *inputs,
                               struct gf_error *error) GF_CHECKED;
/* Opens the file, which has room for the places of `room` pictures. */
enum gf_status gf_places_open(struct gf_places *places, const char *path, const char *page,
                              size_t room, const struct gf_options *options,
                              struct gf_error *error) GF_CHECKED;
/* Writes the places and makes the file visible. */
enum gf_status gf_places_write(struct gf_places *places, int page_width, int page_height,
                               struct gf_error *error) GF_CHECKED;
void gf_places_close(struct gf_places *places);

/* ---- making the pages ---- */

/* A picture as the worker leaves it. */
struct gf_sheet_picture {
    struct gf_bytes bytes; /* the result as a PAM file in memory */
    int width, height;     /* size of the input in pixels */
    bool failed;
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
    bool warned;     /* the warning about letters that the font lacks was given */
};

/* Draws the label of the picture of input `index` below the tile at x, y. */
enum gf_status gf_sheet_draw_label(struct gf_sheet_writer *writer, size_t index,
                                   const struct gf_sheet_picture *picture, int x, int y,
                                   struct gf_placed *placed, struct gf_error *error) GF_CHECKED;
/* Computes the height of a label in pixels. */
enum gf_status gf_sheet_label_height(const struct gf_sheet *sheet, int *height,
                                     struct gf_error *error) GF_CHECKED;

/* Names the page of each picture: path[i], from malloc(), is that of input i. Fails if a page
 * cannot have its name. */
enum gf_status gf_sheet_name_pages(const struct gf_batch_request *request, char **path,
                                   struct gf_error *error) GF_CHECKED;
/* Runs `workers` workers until the pictures are done, and writes the pages. */
enum gf_status gf_sheet_work(struct gf_batch *batch, int workers,
                             struct gf_error *error) GF_CHECKED;
