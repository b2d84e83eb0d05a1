/* Writes pictures on the page: before and after the chain under a slider, and enlarged pixels. */
#pragma once

#include <stdio.h>

#include "bench/compare_spot.h"
#include "gpufilter/options.h"

/* A picture as a small JPEG. */
struct gf_page_picture {
    void *data;
    size_t size;
};

/* Reads the file on the CPU, runs the chain (NULL or "": none) and reduces the picture. `options`
 * are used for the chain and the codecs. If memory runs out, or the file cannot be read twice, data
 * is NULL. */
struct gf_page_picture gf_page_picture_make(const char *path, const char *chain,
                                            const struct gf_options *options);
void gf_page_picture_free(struct gf_page_picture *picture);

/* Writes the part of the page; nothing if either picture is missing. */
void gf_pictures_html(FILE *file, const struct gf_page_picture *before,
                      const struct gf_page_picture *after);

/* Writes the place where a variant differs: the expected pixels, its pixels, and the difference. */
void gf_spot_html(FILE *file, const char *name, const struct gf_compare_spot *spot);
