/* clahe: what the CPU and the device share. */
#ifndef GF_FILTERS_CLAHE_CLAHE_H
#define GF_FILTERS_CLAHE_CLAHE_H

#include <stdint.h>

#include "base/elementary.h"
#include "stage/histogram.h"

/* The constants of clahe, with the tables behind them. With 8 bits the tables are uint32_t [rows +
 * 1][columns + 1][256]; each element has a byte from each of the four tiles whose centres surround
 * the pixel: above left, above right, below left, below right. With 16 bits they are uint16_t
 * [rows][columns][65536]. Outside of the outermost centres the nearest tile replaces those that do
 * not exist. */
struct gf_clahe {
    struct gf_tiles tiles;
    float inverse_width, inverse_height; /* of a tile */
    int unused[2];                       /* makes the tables begin at a multiple of 16 */
};

/* The position of a column or a row among the tiles' centres: `cell` is 0 before the first centre
 * and n behind the n-th one; `part` is the fraction of the way to the next centre. The arithmetic,
 * here and below, is that of OpenCV 4's clahe.cpp. */
struct gf_clahe_place {
    int cell;
    float part;
};

GF_HOST_DEVICE struct gf_clahe_place gf_clahe_place_of(int at, float inverse)
{
    const float centred = (float)at * inverse - 0.5f;
    const int towards_0 = (int)centred;
    const int before = centred < (float)towards_0 ? towards_0 - 1 : towards_0;
    const struct gf_clahe_place place = {before + 1, centred - (float)before};
    return place;
}

/* Interpolates the values of four tiles and rounds a half to even. */
GF_HOST_DEVICE int gf_clahe_mix(float above_left, float above_right, float below_left,
                                float below_right, float right, float below)
{
    const float left = 1.0f - right, above = 1.0f - below;
    const float v = (above_left * left + above_right * right) * above +
                    (below_left * left + below_right * right) * below;
    return (int)((v + GF_ROUNDING_SHIFT) - GF_ROUNDING_SHIFT);
}

#endif
