/* Gathers a run of point filters before it becomes a program. */
#ifndef GF_PIXEL_POINT_POINT_BUILDER_H
#define GF_PIXEL_POINT_POINT_BUILDER_H

#include "pixel/point/point_program.h"

struct gf_point_builder {
    struct gf_format format;        /* of the next operation's input */
    int bins;                       /* M + 1 of the run's input */
    unsigned left;                  /* a bit for each channel that linear and power do not change */
    bool changed;                   /* `value` is not the identity */
    int tables;                     /* 1, or one for each colour channel */
    double *value;                  /* [3][bins], of which `tables` count */
    struct gf_lightness *lightness; /* where there is a RELIGHT */
    float *level;                   /* [bins] */
    int fields;
    bool field_beyond;  /* one has values beyond 0..1 */
    bool field_dithers; /* see struct gf_point_program */
    float *field;       /* [fields][gf_point_field_floats()] */
    size_t words;
    uint32_t *data;       /* of CURVE and TABLE3D */
    int pictures, layers; /* added so far */
    struct gf_layer layer[GF_STAGE_PICTURES_MAX];
    bool is_full; /* there are more operations than fit */
    int count;
    struct gf_point_op op[GF_POINT_OPS_MAX];
};

void gf_point_append(struct gf_point_builder *builder, struct gf_point_op op);
/* Lets `of` change the `bins` values of each table of `channels`, a bit each, before any operation.
 * The channels get a table each where they differ. */
void gf_point_map(struct gf_point_builder *builder, unsigned channels,
                  void (*of)(const void *context, int channel, double *value, int bins),
                  const void *context);
/* Samples to linear light, 0..1, and back: each appends an operation, or leaves one out. */
void gf_point_to_light(struct gf_point_builder *builder);
void gf_point_from_light(struct gf_point_builder *builder);

#endif
