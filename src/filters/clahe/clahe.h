/* clahe: what the CPU and the device share. */
#pragma once

#include "base/elementary.h"
#include "stage/histogram.h"

/* The constants of clahe; the tables follow them in memory. For 8 bits the tables are uint32_t
 * [rows + 1][columns + 1][256]: an element has one byte for each of the four tiles around the pixel
 * (above left, above right, below left, below right). For 16 bits they are uint16_t
 * [rows][columns][65536]. Where there is no tile, the nearest tile replaces it. */
struct gf_clahe {
    struct gf_tiles tiles;
    float inverse_width, inverse_height; /* 1 / the width and height of a tile */
    int unused[2];                       /* makes the tables begin at a multiple of 16 */
};

/* The position of a column or a row among the centres of the tiles: `centres` is the number of
 * centres before it; `part` is the fraction of the way to the next centre. The arithmetic in this
 * file is the same as in OpenCV 4's clahe.cpp. */
struct gf_clahe_place {
    int centres;
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

/* Interpolates the values of four tiles. */
GF_HOST_DEVICE float gf_clahe_between(float above_left, float above_right, float below_left,
                                      float below_right, float right, float below)
{
    const float left = 1.0f - right, above = 1.0f - below;
    return (above_left * left + above_right * right) * above +
           (below_left * left + below_right * right) * below;
}

/* Does the same, and rounds a half to even. */
GF_HOST_DEVICE int gf_clahe_mix(float above_left, float above_right, float below_left,
                                float below_right, float right, float below)
{
    const float v =
        gf_clahe_between(above_left, above_right, below_left, below_right, right, below);
    return (int)((v + GF_ROUNDING_SHIFT) - GF_ROUNDING_SHIFT);
}
