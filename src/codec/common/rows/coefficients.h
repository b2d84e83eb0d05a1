/* The quantised coefficients of a JPEG's blocks, which another JPEG can have without loss. A source
 * that is asked for them (gf_input_set_coefficients()) gives them as rows: a row of units (MCUs) is
 * a row, in which each component in turn has its rows of blocks, with 64 coefficients of int16_t a
 * block in natural order, up to the last unit. The struct has numbers only, so that a cell can hand
 * it to the program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GF_COEFFICIENTS_COMPONENTS = 4, GF_COEFFICIENTS_OF_BLOCK = 64 };

struct gf_coefficients {
    int32_t components; /* 1..4; 0: there are none, and rows are pixels */
    int32_t colours;    /* libjpeg's J_COLOR_SPACE of the file */
    /* The sampling factors of each component, across and down. A single component has 1 and 1. */
    int32_t factor[GF_COEFFICIENTS_COMPONENTS][2];
    uint16_t quantiser[GF_COEFFICIENTS_COMPONENTS][GF_COEFFICIENTS_OF_BLOCK]; /* natural order */
    uint32_t progressive, restart_interval; /* restart_interval: in units; 0: no restart markers */
};

/* How the blocks of a picture move to those of a result. Axis 0 goes across the picture that is
 * read, axis 1 down. */
struct gf_coefficients_move {
    const struct gf_coefficients *from;
    int side[2];     /* the picture's width and height */
    int result[2];   /* the width and height of the result */
    int first[2];    /* the unit at whose border the result begins, along each axis */
    bool mirrors[2]; /* the result goes from there to lower numbers */
    bool turned;     /* axis 0 goes down in the result */
};

/* Returns the pixels of a unit along the axis. */
static inline int gf_coefficients_unit(const struct gf_coefficients *from, int axis)
{
    int most = 1;
    for (int c = 0; c < from->components; c++)
        most = from->factor[c][axis] > most ? from->factor[c][axis] : most;
    return 8 * most;
}

/* Returns the units that `pixels` pixels touch along the axis. */
static inline int gf_coefficients_units(const struct gf_coefficients *from, int axis, int pixels)
{
    const int unit = gf_coefficients_unit(from, axis);
    return (pixels + unit - 1) / unit;
}

static inline size_t gf_coefficients_row_bytes(const struct gf_coefficients *from, int width)
{
    int blocks = 0;
    for (int c = 0; c < from->components; c++)
        blocks += from->factor[c][0] * from->factor[c][1];
    return (size_t)gf_coefficients_units(from, 0, width) * (size_t)blocks *
           GF_COEFFICIENTS_OF_BLOCK * sizeof(int16_t);
}

/* Whether all numbers make sense, and decoders know the sampling. */
static inline bool gf_coefficients_check(const struct gf_coefficients *from)
{
    enum { FACTOR_MOST = 4, BLOCKS_MOST = 10, RESTART_MOST = 65535, COLOURS = 6 };
    static const signed char components[COLOURS] = {0, 1, 3, 3, 4, 4}; /* of each J_COLOR_SPACE */
    int blocks = 0;
    bool good = from->colours >= 1 && from->colours < COLOURS &&
                from->components == components[from->colours] && from->progressive <= 1 &&
                from->restart_interval <= RESTART_MOST;
    for (int i = 0; good && i < 2 * from->components; i++)
        good = from->factor[i / 2][i % 2] >= 1 && from->factor[i / 2][i % 2] <= FACTOR_MOST;
    for (int c = 0; good && c < from->components; c++) {
        blocks += from->factor[c][0] * from->factor[c][1];
        good = !(gf_coefficients_unit(from, 0) / 8 % from->factor[c][0]) &&
               !(gf_coefficients_unit(from, 1) / 8 % from->factor[c][1]);
    }
    return good && blocks <= (from->components == 1 ? 1 : BLOCKS_MOST);
}
