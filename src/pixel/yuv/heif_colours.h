/* The colours of a HEIC: how its YCbCr becomes RGB, on the CPU and on a device alike. It is the
 * arithmetic of libheif up to 1.18 (later versions round some pictures otherwise, by at most 1):
 * each pixel takes the sample of chroma that lies over it, so that chroma is not interpolated;
 * with a limited range (Y - black) is multiplied by 1.1689 and chroma by 1.1429, which is 256/219
 * and 256/224 to four places; then red is Y + 2 (1 - kr) Cr, blue is Y + 2 (1 - kb) Cb, and green
 * is what Rec. ITU-T H.273 derives from kr and kb. Everything is in floats of 32 bits that are
 * rounded after each operation, at the depth of the picture; samples of more than 8 bits are then
 * scaled to 16. */
#pragma once

#include <stdbool.h>

#include "base/host_device.h"
#include "pixel/yuv/yuv_formula.h"

GF_C_BEGIN

struct gf_heif_colours {
    float black, luma, middle, chroma; /* what is subtracted, and the factors after that */
    float red_v, green_u, green_v, blue_u;
    int most; /* the largest sample of the picture */
};

/* Fills *colours for a picture of 8 to 12 bits. matrix: MatrixCoefficients of Rec. ITU-T H.273: 1,
 * 2 (unspecified, which is read as 6), 5, 6 or 9. Returns false for others. */
bool gf_heif_colours_of(int matrix, bool full, int bits, struct gf_heif_colours *colours);

/* Converts a row of `width` pixels to RGB with samples of 8 bits, or of 16 if the picture has more
 * than 8 (`wide`), as have the samples of luma, u and v. half_width: a sample of chroma is for two
 * pixels. */
void gf_heif_colours_row(const struct gf_heif_colours *colours, bool wide, bool half_width,
                         const void *luma, const void *u, const void *v, int width, void *rgb);

GF_C_END

GF_HOST_DEVICE struct gf_yuv_pixel gf_heif_pixel_of(const struct gf_heif_colours *c, int y, int u,
                                                    int v)
{
    const float luma = ((float)y - c->black) * c->luma, cb = ((float)u - c->middle) * c->chroma,
                cr = ((float)v - c->middle) * c->chroma;
    const struct gf_yuv_pixel pixel = {
        gf_yuv_round(luma + c->red_v * cr, c->most),
        gf_yuv_round(luma + c->green_u * cb + c->green_v * cr, c->most),
        gf_yuv_round(luma + c->blue_u * cb, c->most)};
    return pixel;
}

/* Scales a sample of 0..most to 16 bits. */
GF_HOST_DEVICE unsigned gf_heif_widened(unsigned sample, unsigned most)
{
    return (sample * 65535u + most / 2) / most;
}
