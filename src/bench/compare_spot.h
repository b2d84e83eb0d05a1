/* The place where two pictures differ most, enlarged on a page. */
#pragma once

#include "stage/view.h"

enum { GF_SPOT_SIDE = 40 };

struct gf_compare_spot {
    int x, y, width, height; /* a part of the picture around the place; no side is longer than
                              * GF_SPOT_SIDE */
    /* RGB of 8 bits, without alpha, row by row. */
    unsigned char expected[3 * GF_SPOT_SIDE * GF_SPOT_SIDE];
    unsigned char found[3 * GF_SPOT_SIDE * GF_SPOT_SIDE];
    /* The differences in grey. White is the largest difference of a sample, including alpha. */
    unsigned char difference[3 * GF_SPOT_SIDE * GF_SPOT_SIDE];
};

/* Compares two pictures of one format. Returns NULL if they are equal, or there is no memory. The
 * caller frees the result. */
struct gf_compare_spot *gf_compare_spot_make(const struct gf_view *found,
                                             const struct gf_view *expected);
