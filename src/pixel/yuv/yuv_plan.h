/* What reading and writing frames of YCbCr share: the planes and the numbers of a matrix. */
#pragma once

#include "base/target_clones.h"
#include "pixel/yuv/yuv.h"

/* The planes of a frame, as numbers of samples. */
struct gf_yuv_planes {
    size_t chroma_width, chroma_height;
    size_t first[3]; /* the first sample of each plane */
    size_t sample_bytes;
};
struct gf_yuv_planes gf_yuv_planes_of(const struct gf_yuv *yuv);

/* The numbers of Rec. ITU-T H.273 for a frame: luma is black + luma_span * (kr R + kg G + kb B),
 * and chroma is middle + chroma_span * (B - Y) / (2 - 2 kb), for R, G and B in 0..1. */
struct gf_yuv_numbers {
    double kr, kg, kb;
    double black, luma_span, middle, chroma_span;
    double most; /* the largest sample of the frame */
};
struct gf_yuv_numbers gf_yuv_numbers_of(const struct gf_yuv *yuv);

/* Rounds to the nearest sample of 0..most. Integers are clamped in fewer instructions than floats;
 * what is below 0 is cut towards 0, and clamped. */
GF_INLINE int gf_yuv_round(float value, int most)
{
    int sample = (int)(value + 0.5f);
    sample = sample > 0 ? sample : 0;
    return sample < most ? sample : most;
}
