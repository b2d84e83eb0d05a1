/* What a run of point filters is gathered in before it becomes a program. */
#ifndef GF_PIXEL_POINT_BUILDER_H
#define GF_PIXEL_POINT_BUILDER_H

#include "pixel/point_program.h"

struct gf_point_builder {
    struct gf_format format;        /* of the next operation's input */
    int bins;                       /* M + 1 of the run's input */
    bool changed;                   /* `value` is not the identity */
    int tables;                     /* 1, or one for each colour channel */
    double *value;                  /* [3][bins], of which `tables` count */
    struct gf_lightness *lightness; /* where there is a RELIGHT */
    float *level;                   /* [bins] */
    int fields;
    float *field; /* [fields][gf_point_field_floats()] */
    int count;
    struct gf_point_op op[GF_POINT_OPS_MAX];
};

#endif
