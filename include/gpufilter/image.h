/* Pictures in memory: samples interleaved, rows `pitch` bytes apart, top row first.
 *
 * A sample is an unsigned integer of 8 or 16 bits (native byte order), v in 0..M with M = 255 or
 * 65535. One to four channels: gray, gray + alpha, RGB, RGBA; alpha is straight, not premultiplied.
 */
#ifndef GPUFILTER_IMAGE_H
#define GPUFILTER_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gf_format {
    int width, height; /* pixels, 1..16777216 */
    int channels;      /* 1..4 */
    int bits;          /* 8 or 16 */
};

struct gf_image {
    struct gf_format format;
    size_t pitch; /* bytes from one row to the next, at least gf_row_bytes; at 16 bits it and data
                     are even */
    unsigned char *data;
    bool owned; /* by gf_image_alloc */
};

static inline size_t gf_row_bytes(struct gf_format format)
{
    return (size_t)format.width * (size_t)format.channels * (size_t)(format.bits / 8);
}

/* The number of colour channels, alpha left out: 1 or 3. */
static inline int gf_colour_channels(struct gf_format format)
{
    return format.channels >= 3 ? 3 : 1;
}

static inline bool gf_has_alpha(struct gf_format format)
{
    return format.channels % 2 == 0;
}

/* Allocates pixels (contents undefined) with rows packed tightly. A picture of memory got here is
 * page-aligned, and pinned by a CUDA pipeline that uses it, so that copies run at full speed. */
enum gf_status gf_image_alloc(struct gf_image *image, struct gf_format format,
                              struct gf_error *error) GF_CHECKED;
void gf_image_free(struct gf_image *image);

#ifdef __cplusplus
}
#endif
#endif
