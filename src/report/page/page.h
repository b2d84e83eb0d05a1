/* The page: one HTML file that loads nothing from a network. The data that it shows are in it as
 * JSON, in parts, which its script draws. page.html is its frame, page.css and page.js are its
 * style and script; all three are part of the program (page.c). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "gpufilter/options.h"
#include "gpufilter/status.h"

/* A page that is being written. */
struct gf_page {
    FILE *file;   /* the page itself */
    FILE *data;   /* leads to `file`, with each < escaped, so that no text can end a script */
    bool in_part; /* a part was begun, and has not ended */
};

/* Begins the page. `line` stands below the heading and may be "". */
enum gf_status gf_page_begin(struct gf_page *page, FILE *file, const char *title, const char *line,
                             struct gf_error *error) GF_CHECKED;
/* Begins a part. The caller writes one value of JSON to the stream that the function returns. The
 * part ends where the next one begins. page.js lists the kinds. `name` is the part's heading; ""
 * means none. */
FILE *gf_page_part(struct gf_page *page, const char *kind, const char *name);
void gf_page_end(struct gf_page *page);

/* A picture on the page, as a small JPEG. */
struct gf_page_picture {
    void *data;
    size_t size;
};

/* Reads the file on the CPU, runs the chain (NULL or "": none) and reduces the picture. `options`
 * are used for the chain and the codecs. If memory runs out, or the file cannot be read twice, data
 * is NULL. */
struct gf_page_picture gf_page_picture_make(const char *path, const char *chain,
                                            const struct gf_options *options);
/* Puts the pictures before and after the chain on the page, if both have data, and frees them. */
void gf_page_pictures(struct gf_page *page, struct gf_page_picture *before,
                      struct gf_page_picture *after);
