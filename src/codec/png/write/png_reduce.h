/* Holds a picture whose colours are to be reduced to a palette, and reduces them. */
#pragma once

#include "codec/common/palette/palette.h"
#include "gpufilter/options.h"

struct gf_png_held {
    struct gf_image picture; /* of 8 bits; data is NULL if none is held */
    int rows;                /* the number of rows so far */
    bool rounded;            /* samples of 16 bits were no levels of 8 */
    struct gf_palette palette;
};

enum gf_status gf_png_hold_open(struct gf_png_held *held, struct gf_format format,
                                struct gf_error *error) GF_CHECKED;
/* Adds the next rows, whose samples have 8 or 16 bits. */
void gf_png_hold_rows(struct gf_png_held *held, int bits, int rows, const unsigned char *src,
                      size_t pitch);
/* Sets the palette and the index of each pixel, and frees the picture. Returns GF_ERROR_UNFIT if
 * options->lossless is set, and colours have changed. */
enum gf_status gf_png_reduce(struct gf_png_held *held, const char *name,
                             const struct gf_options *options, unsigned char *indices,
                             struct gf_error *error) GF_CHECKED;

/* Returns the least bits of gray samples that have all levels of the palette. Returns 0 if the
 * palette has colours or alpha, or if an index, which has `bits`, is shorter. */
int gf_png_gray_bits(const struct gf_palette *palette, int bits);
