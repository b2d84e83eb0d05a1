/* The limit of a picture's sides, checks of formats and of callers' pictures, and rectangles. */
#pragma once

#include <stdbool.h>

#include "gpufilter/image.h"

enum { GF_SIDE_MAX = 1 << 24 }; /* the longest side, in pixels */

static inline size_t gf_pixel_bytes(struct gf_format format)
{
    return (size_t)format.channels * (size_t)(format.bits / 8);
}

/* Whether samples of two formats are the same numbers, so that none is converted. */
static inline bool gf_same_samples(struct gf_format a, struct gf_format b)
{
    return a.bits == b.bits && a.samples == b.samples;
}

static inline bool gf_same_format(struct gf_format a, struct gf_format b)
{
    return a.width == b.width && a.height == b.height && a.channels == b.channels &&
           gf_same_samples(a, b);
}

/* Returns GF_ERROR_USAGE if the format is not supported. The message begins with `name`. */
enum gf_status gf_format_check(struct gf_format format, const char *name,
                               struct gf_error *error) GF_CHECKED;
/* Returns GF_ERROR_USAGE if a caller's picture has a wrong format, pitch or address of its samples.
 * The message begins with `name`. */
enum gf_status gf_image_check(const struct gf_image *image, const char *name,
                              struct gf_error *error) GF_CHECKED;

/* A rectangle of a picture, in pixels. */
struct gf_rectangle {
    int x, y, width, height;
};
