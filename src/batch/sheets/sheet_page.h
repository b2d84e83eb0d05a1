/* A page: a picture that is written row by row from pictures that lie on a background. */
#pragma once

#include "codec/codec.h"
#include "gpufilter/filter.h"
#include "stage/picture.h"

/* A picture on a page. */
struct gf_placed {
    struct gf_image image;         /* width and height may be less than those of the pixels */
    const struct gf_picture *text; /* the text that the image belongs to; NULL: a picture */
    int x, y;
};

struct gf_page {
    struct gf_output *output; /* NULL: the page is not open */
    struct gf_sink *sink;
    struct gf_format format;
    unsigned char background[8]; /* a pixel */
    unsigned char *rows;         /* a few rows */
    int done;                    /* the rows that are written */
};

/* Opens the page. `format` is the format that the pictures need; the page's own format is that in
 * which the file stores it. */
enum gf_status gf_page_open(struct gf_page *page, const char *path, struct gf_format format,
                            const struct gf_colour *background, const struct gf_options *options,
                            struct gf_error *error) GF_CHECKED;
/* Writes the next rows of the page, up to `end`. No two pictures may share a pixel. */
enum gf_status gf_page_write(struct gf_page *page, const struct gf_placed *placed, size_t count,
                             int end, struct gf_error *error) GF_CHECKED;
/* Makes the complete page visible under its name. */
enum gf_status gf_page_finish(struct gf_page *page, struct gf_error *error) GF_CHECKED;
/* Closes the page if it is open. A page that is not finished leaves no file. */
void gf_page_close(struct gf_page *page);
