/* What reading and writing QOI share. Dominic Szablewski, "The Quite OK Image Format
 * Specification", version 1.0, 2022. */
#pragma once

#include <stdint.h>
#include <string.h>

enum {
    GF_QOI_HEADER = 14,
    GF_QOI_END = 8, /* bytes of the end marker: zeros, and a 1 */
    GF_QOI_SEEN = 64,
    GF_QOI_LINEAR = 1, /* the colour space whose samples grow with the light; 0 is sRGB */
    GF_QOI_RUN_MOST = 62,
    /* The first byte of each operation; the two highest bits decide unless it is RGB or RGBA. */
    GF_QOI_INDEX = 0x00,
    GF_QOI_DIFF = 0x40,
    GF_QOI_LUMA = 0x80,
    GF_QOI_RUN = 0xc0,
    GF_QOI_RGB = 0xfe,
    GF_QOI_RGBA = 0xff
};

struct gf_qoi_pixel {
    uint8_t r, g, b, a;
};

/* The pixel before, and pixels that were seen, each at the place that its samples choose. */
struct gf_qoi_state {
    struct gf_qoi_pixel last, seen[GF_QOI_SEEN];
};

static inline struct gf_qoi_state gf_qoi_begin(void)
{
    return (struct gf_qoi_state){.last = {0, 0, 0, 255}};
}

static inline unsigned gf_qoi_place(struct gf_qoi_pixel pixel)
{
    return (pixel.r * 3u + pixel.g * 5u + pixel.b * 7u + pixel.a * 11u) % GF_QOI_SEEN;
}
