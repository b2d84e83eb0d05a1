/* The codes of a GIF's pixels (LZW). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"

struct gf_gif_bytes {
    unsigned char *data;
    size_t size, room;
};

/* Pixels in the order in which they are coded. Each has one of two indices, which may be the same:
 * the coder takes that with which fewer codes follow. Of strings of the same length it takes the
 * newest or, as a rule, that of the earliest pixel with `either`. */
struct gf_gif_pixels {
    const unsigned char *either, *other;
    size_t count;
    bool newest;
};

struct gf_gif_coder;
struct gf_gif_coder *gf_gif_coder_open(void); /* NULL: out of memory */
void gf_gif_coder_close(struct gf_gif_coder *coder);
/* Replaces the bytes by the codes of the pixels, whose indices have so many bits (2..8). */
enum gf_status gf_gif_encode(struct gf_gif_coder *coder, const struct gf_gif_pixels *pixels,
                             int bits, struct gf_gif_bytes *bytes,
                             struct gf_error *error) GF_CHECKED;
