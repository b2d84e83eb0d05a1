/* Collects the operations of a list of point filters before they become a program. */
#pragma once

#include "pixel/point/point_program.h"

struct gf_point_builder {
    enum gf_status status;          /* whether an operation failed */
    struct gf_error *error;         /* why */
    struct gf_format format;        /* the input format of the next operation */
    int bins;                       /* M + 1, the number of levels of the list's first input */
    unsigned left;                  /* a bit for each channel that gf_point_linear() and
                                     * gf_point_power() leave unchanged */
    bool changed;                   /* `value` is not the identity */
    int tables;                     /* 1, or the number of colour channels */
    double *value;                  /* [3][bins], of which the first `tables` are used */
    struct gf_lightness *lightness; /* NULL unless there is an operation RELIGHT */
    float *level; /* [bins]: the table of RELIGHT, the new f(Y) of CIELAB for each level */
    int fields;
    bool field_beyond;  /* a field has values outside of 0..1 */
    bool field_dithers; /* see struct gf_point_program */
    float *field;       /* [fields][gf_point_field_floats()] */
    size_t words;
    uint32_t *data;       /* the data of CURVE and TABLE3D */
    int pictures, layers; /* the numbers of pictures and layers that were added */
    struct gf_layer layer[GF_STAGE_PICTURES_MAX];
    int count;
    struct gf_point_op op[GF_POINT_OPS_MAX];
};

void gf_point_append(struct gf_point_builder *builder, struct gf_point_op op);
