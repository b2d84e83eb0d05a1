/* The position of a smaller rectangle on a larger one: at a side, in a corner, or in the middle. */
#pragma once

#include <math.h>

/* The positions in the order of gf_gravity_names, whose last name is another spelling of the
 * first. */
enum gf_gravity {
    GF_GRAVITY_CENTRE,
    GF_GRAVITY_NORTH,
    GF_GRAVITY_NORTHEAST,
    GF_GRAVITY_EAST,
    GF_GRAVITY_SOUTHEAST,
    GF_GRAVITY_SOUTH,
    GF_GRAVITY_SOUTHWEST,
    GF_GRAVITY_WEST,
    GF_GRAVITY_NORTHWEST,
    GF_GRAVITY_CENTER
};

/* Returns the offset of the smaller rectangle if `room` columns (or rows) are left over, rounded
 * down. */
static inline int gf_gravity_x(int gravity, double room)
{
    static const signed char part[] = {1, 1, 2, 2, 2, 1, 0, 0, 0, 1}; /* halves */
    return (int)floor(room * part[gravity] / 2);
}

static inline int gf_gravity_y(int gravity, double room)
{
    static const signed char part[] = {1, 0, 0, 1, 2, 2, 2, 1, 0, 1};
    return (int)floor(room * part[gravity] / 2);
}
