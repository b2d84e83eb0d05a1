/* Resizing with OpenCV's very samples: the stage that like=opencv appends, and the arithmetic that
 * CPU and device share. It is cv::resize() of 8 bits with INTER_LINEAR and INTER_AREA, of which
 * either may do the other one's. All channels are treated alike. */
#pragma once

#include <math.h>

#include "filters/resize/pillow.h"

GF_C_BEGIN

/* The picture becomes width x height pixels. */
struct gf_opencv_params {
    bool area; /* INTER_AREA, else INTER_LINEAR */
    int width, height;
};

extern const struct gf_filter gf_opencv_filter;

/* The tables are those of like=pillow, with floats or int32_t as weights. A row before the first or
 * behind the last one stands for the nearest. Columns come first. Floats are added in the order of
 * the input. Of integers' sums of columns `dropped` bits are dropped, and `shift` bits of each
 * product of a row. */
struct gf_opencv {
    bool floats;
    int dropped, shift;
    float factor; /* the result is the sum of integers times this; 0: a quarter, halves go up */
    struct gf_pillow_axis columns, rows;
};

enum { GF_OPENCV_BITS = 11 };

/* Rounds a sum of floats: halves go to the even sample. */
GF_HOST_DEVICE int gf_opencv_rounded(float sum)
{
    return (int)rintf(sum < 255 ? sum : 255);
}

GF_HOST_DEVICE int gf_opencv_result(int sum, float factor)
{
    return factor > 0 ? gf_opencv_rounded((float)sum * factor) : (sum + 2) >> 2;
}

GF_C_END
