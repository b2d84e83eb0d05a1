/* Point filters: each pixel of the result depends on the same pixel of the input. Adjacent point
 * filters are one stage, whose program (pixel/point_program.h) both backends evaluate, and which
 * rounds once.
 *
 * A filter's point() calls the functions below in the order of its steps, at most four of those
 * that append an operation; a run of more than GF_POINT_OPS_MAX operations is refused. The
 * functions change the colour; only premultiply, unpremultiply, flatten, key and fade change alpha.
 * Each clamps its result to 0..M. */
#ifndef GF_PIXEL_POINT_POINT_H
#define GF_PIXEL_POINT_POINT_H

#include "base/c_linkage.h"
#include "pixel/sample.h"
#include "pixel/point/table3d.h"
#include "stage/stage.h"

GF_C_BEGIN

enum { GF_POINT_RUN_MAX = 32 };
struct gf_point_run {
    int count;
    struct {
        const struct gf_filter *filter;
        const void *params;
    } item[GF_POINT_RUN_MAX];
};
/* The filter of a run of adjacent point filters: its params are a struct gf_point_run. The stage's
 * histogram is for item 0. A filter whose variant was chosen is a run by itself. */
extern const struct gf_filter gf_point;
/* Whether the stage of a run turns 8-bit samples into 8-bit samples by one table for all channels.
 * A run that wants a histogram does not count. */
bool gf_point_is_table(const struct gf_stage *stage);

/* Whether that filter is the only one in the stage's run. */
bool gf_point_is_only(const struct gf_stage *stage, const struct gf_filter *filter);

/* What point() appends its operations to. */
struct gf_point_builder;

/* (v - pivot) scale + offset */
void gf_point_linear(struct gf_point_builder *builder, double pivot, double scale, double offset);
/* M (v / M)^exponent */
void gf_point_power(struct gf_point_builder *builder, double exponent);
/* From now on linear and power change only the channels whose bit is set: bit 0 is red. Only for
 * pictures with colour. */
void gf_point_only(struct gf_point_builder *builder, unsigned channels);
/* Rounds to the nearest of `levels` levels, 2 or more, that divide the scale evenly; a half goes
 * up. */
void gf_point_quantize(struct gf_point_builder *builder, int levels);
/* Changes v to M - v where the sample, rounded, is `least` or more. */
void gf_point_solarize(struct gf_point_builder *builder, double least);
/* Multiplies linear light by the channel's factor. Gray takes the first factor. */
void gf_point_light_gain(struct gf_point_builder *builder, const double factor[3]);
/* Makes M of a sample that, rounded, is `least` or more, and 0 of any other. */
void gf_point_step(struct gf_point_builder *builder, double least);
/* Makes one channel of three; the weights are in 1/total, a power of two. Does nothing where there
 * is one channel already. */
void gf_point_gray(struct gf_point_builder *builder, const int weight[3], int total);
/* gf_point_gray() by the weights of gf_luma601(). */
void gf_point_luma(struct gf_point_builder *builder);
/* Multiplies CIELAB a* and b* by the factor. Does nothing where there is one channel. */
void gf_point_saturate(struct gf_point_builder *builder, double factor);
/* R' = m[0][0] R + m[0][1] G + m[0][2] B + m[0][3] M, and so on. A gray picture counts as one with
 * R = G = B, and becomes colour, unless the matrix keeps gray: it makes grays of all grays. */
void gf_point_matrix(struct gf_point_builder *builder, const double matrix[3][4]);
/* The format that the matrix leads to: three colour channels, unless the picture is gray and the
 * matrix keeps it gray. */
void gf_point_matrix_shape(const double matrix[3][4], struct gf_format *out);
/* Gray becomes colour with R = G = B. */
void gf_point_colour(struct gf_point_builder *builder);
/* Makes Y + (v - Y) (1 + amount (1 - s)) of each sample v, where Y is the luma of bt709 and s is
 * the largest less the smallest of R, G, B in 0..1. Does nothing where there is one channel. */
void gf_point_vibrance(struct gf_point_builder *builder, double amount);
/* Looks colours up in a table of GF_TABLE3D_MIN..GF_TABLE3D_MAX nodes a side; see pixel/table3d.h.
 * Gray becomes colour. */
enum gf_status gf_point_table3d(struct gf_point_builder *builder, int size,
                                const struct gf_table3d_nodes *nodes,
                                struct gf_error *error) GF_CHECKED;
/* Adds an alpha of M where there is none. */
void gf_point_opaque(struct gf_point_builder *builder);
/* Multiplies alpha by (d - similarity) / blend, clamped to 0..1, where d is the distance between
 * the pixel's Cb and Cr (ITU-R BT.601, full range, parts of the scale) and those of `colour`, R, G,
 * B in 0..1. Only for pictures with colour. */
void gf_point_key(struct gf_point_builder *builder, const double colour[3], double similarity,
                  double blend);
void gf_point_premultiply(struct gf_point_builder *builder);
void gf_point_unpremultiply(struct gf_point_builder *builder, int bits);
void gf_point_limit_to_alpha(struct gf_point_builder *builder);
/* Lays the picture on a colour, whose samples are in 0..M, and drops alpha. Does nothing where
 * there is no alpha. Gray pictures take the first sample. */
void gf_point_flatten(struct gf_point_builder *builder, const int sample[3]);
/* Drops alpha; the colour stays as it is. */
void gf_point_drop_alpha(struct gf_point_builder *builder);
/* Each sample becomes value[sample] of its channel's table, [tables][M + 1], where tables is 1 for
 * all colour channels or one for each. Only filters that ask for a statistic may call it, since
 * they come first in their run. */
void gf_point_levels(struct gf_point_builder *builder, int tables, const double *value);
/* Looks CIELAB L* up in one table, [M + 1], in the same way. */
enum gf_status gf_point_lightness(struct gf_point_builder *builder, const double *value,
                                  struct gf_error *error) GF_CHECKED;

/* A function for each channel, of parts of the full scale. As the first operation of a run it is
 * evaluated for each sample, in double precision. After another operation it is evaluated at
 * `points` points from least to greatest, with straight lines between them; beyond them it keeps
 * the value of the nearest point. */
struct gf_point_curve {
    double (*of)(const void *context, int channel, double v);
    const void *context; /* the caller's; used until the call below returns */
    bool same;           /* for all channels; else only for pictures with colour */
    bool is_lines; /* between those points: these are not limited to 0..M, what is between is */
    int points;    /* 2 or more */
    double least, greatest;
};
enum gf_status gf_point_curve(struct gf_point_builder *builder, const struct gf_point_curve *curve,
                              struct gf_error *error) GF_CHECKED;

/* A number for each position of the picture: curve(column(x) + row(y)), where a sum beyond 0..1
 * counts as 0 or 1. Both backends read it from tables, which these functions fill, so that no
 * filter needs code of its own on the device: column() and row() for each x and y, curve() at 4097
 * points, with straight lines between them. A vignette, a gradient, a frame, rounded corners and an
 * ordered dither are such fields. */
struct gf_point_field {
    double (*column)(const void *context, int x);
    double (*row)(const void *context, int y);
    double (*curve)(const void *context, double sum);
    const void *context; /* the caller's; used until the call below returns */
};
/* The weights of gf_luma601(), whose sum is 1. */
void gf_point_luma_weights(struct gf_format format, double weight[3]);
/* A colour as parts of the full scale; for a gray picture the first part is the colour's luma, as
 * grayscale makes it. */
void gf_point_colour_of(struct gf_format format, const struct gf_colour *colour, double part[3]);
/* A length in whole pixels. Per cent are per cent of `whole`; where no length is given, `otherwise`
 * is the part of `whole`. */
double gf_length_of(struct gf_length length, int whole, double otherwise);
/* Mixes with a colour, v + (colour - v) field. The colour's channels are parts of the full scale;
 * gray pictures take the first. */
enum gf_status gf_point_mix(struct gf_point_builder *builder, const struct gf_point_field *field,
                            const double colour[3], struct gf_error *error) GF_CHECKED;
/* Adds amount field to v; the amount is a part of the full scale. */
enum gf_status gf_point_add(struct gf_point_builder *builder, const struct gf_point_field *field,
                            double amount, struct gf_error *error) GF_CHECKED;
/* alpha times the field */
enum gf_status gf_point_fade(struct gf_point_builder *builder, const struct gf_point_field *field,
                             struct gf_error *error) GF_CHECKED;

/* Adds sigma M z to v, where z is the noise of pixel/noise.h at the pixel's position, with a
 * standard deviation of 1. */
struct gf_point_noise {
    double sigma; /* a part of the full scale */
    bool normal;  /* else evenly spread */
    bool same;    /* for all channels */
    int seed;     /* 0..999999 */
};
void gf_point_noise(struct gf_point_builder *builder, const struct gf_point_noise *noise);
/* A mask, and which of its values counts: enum gf_mask_of, or with `inverted` 1 less it. */
struct gf_mask_use {
    const struct gf_picture *picture;
    int of;
    bool inverted;
};
/* How a second picture lies on the picture: x and y are its distances from the side that gravity
 * names, or its shift from the middle to the right and down. Per cent are of the picture's width,
 * or height. */
struct gf_point_place {
    int gravity; /* enum gf_gravity */
    struct gf_length x, y;
};
/* Lays a second picture on the picture; mode: enum gf_blend, opacity: 0..1. A gray picture becomes
 * colour where the second picture is in colour, see gf_point_layer_shape(). The second picture
 * shows as far as the mask at the same place says; NULL: everywhere. Name pictures here in the
 * order of the filter's pictures(). */
void gf_point_overlay(struct gf_point_builder *builder, const struct gf_picture *picture,
                      const struct gf_mask_use *mask, struct gf_point_place place, int mode,
                      double opacity);
/* Multiplies alpha by the value of the mask, which is 0 beyond its edges; adds alpha where there is
 * none. */
void gf_point_mask(struct gf_point_builder *builder, const struct gf_mask_use *mask,
                   struct gf_point_place place);
/* A gray picture under a layer of colour becomes colour. */
void gf_point_layer_shape(const struct gf_picture *picture, struct gf_format *out);

/* refuses() of a variant that needs a picture with colour. */
const char *gf_point_refuses_gray(const struct gf_stage *stage);

GF_C_END
#endif
