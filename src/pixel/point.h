/* Point filters: each pixel is made of the same pixel of the input. Adjacent ones are one stage,
 * whose program (pixel/point_program.h) both backends evaluate, and which rounds once.
 *
 * A filter's point() calls the functions below in the order of what it does, those that make no
 * more than four operations; a run of more than GF_POINT_OPS_MAX is refused. They change the
 * colour; alpha is changed by premultiply, unpremultiply, flatten, key and fade alone. Each clamps
 * its result to 0..M. */
#ifndef GF_PIXEL_POINT_H
#define GF_PIXEL_POINT_H

#include "pixel/sample.h"
#include "pixel/table3d.h"
#include "stage/stage.h"

#ifdef __cplusplus
extern "C" {
#endif

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
/* Whether a run, whose stage this is, makes 8-bit samples of 8-bit samples by one table for all
 * channels. A run that wants a histogram does not count. */
bool gf_point_is_table(const struct gf_stage *stage);

/* Whether that filter is all of the run whose stage this is. */
bool gf_point_is_only(const struct gf_stage *stage, const struct gf_filter *filter);

/* What point() appends its operations to. */
struct gf_point_builder;

/* (v - pivot) scale + offset */
void gf_point_linear(struct gf_point_builder *builder, double pivot, double scale, double offset);
/* M (v / M)^exponent */
void gf_point_power(struct gf_point_builder *builder, double exponent);
/* From now on linear and power change only those channels, a bit each: 1 is red. Only for pictures
 * with colour. */
void gf_point_only(struct gf_point_builder *builder, unsigned channels);
/* The nearest of `levels` levels, 2 or more, that divide the scale evenly; a half goes up. */
void gf_point_quantize(struct gf_point_builder *builder, int levels);
/* M - v where the sample, rounded, is `least` or more. */
void gf_point_solarize(struct gf_point_builder *builder, double least);
/* Linear light times the channel's factor. Gray takes the first. */
void gf_point_light_gain(struct gf_point_builder *builder, const double factor[3]);
/* M where the sample, rounded, is `least` or more, else 0. */
void gf_point_step(struct gf_point_builder *builder, double least);
/* From three channels to one; weights in 1/total, a power of two. Does nothing where there is one
 * already. */
void gf_point_gray(struct gf_point_builder *builder, const int weight[3], int total);
/* The same by the weights of gf_luma601(). */
void gf_point_luma(struct gf_point_builder *builder);
/* CIELAB a* and b* times factor. Does nothing where there is one channel. */
void gf_point_saturate(struct gf_point_builder *builder, double factor);
/* R' = m[0][0] R + m[0][1] G + m[0][2] B + m[0][3] M, and so on. A gray picture counts as one with
 * R = G = B, and becomes colour, unless the matrix keeps gray: it makes grays of all grays. */
void gf_point_matrix(struct gf_point_builder *builder, const double matrix[3][4]);
/* What it makes of the format: three colour channels unless the picture is gray and stays so. */
void gf_point_matrix_shape(const double matrix[3][4], struct gf_format *out);
/* Gray becomes colour with R = G = B. */
void gf_point_colour(struct gf_point_builder *builder);
/* Y + (v - Y) (1 + amount (1 - s)), Y the luma of bt709, s the largest less the smallest of R,
 * G, B in 0..1. Does nothing where there is one channel. */
void gf_point_vibrance(struct gf_point_builder *builder, double amount);
/* A table of colours of GF_TABLE3D_MIN..GF_TABLE3D_MAX nodes a side; see pixel/table3d.h. Gray
 * becomes colour. */
enum gf_status gf_point_table3d(struct gf_point_builder *builder, int size,
                                const struct gf_table3d_nodes *nodes,
                                struct gf_error *error) GF_CHECKED;
/* Adds an alpha of M where there is none. */
void gf_point_opaque(struct gf_point_builder *builder);
/* Alpha times (d - similarity) / blend, clamped to 0..1, where d is the distance of Cb and Cr
 * (ITU-R BT.601, full range, parts of the scale) from those of `colour`, R, G, B in 0..1. Only for
 * pictures with colour. */
void gf_point_key(struct gf_point_builder *builder, const double colour[3], double similarity,
                  double blend);
void gf_point_premultiply(struct gf_point_builder *builder);
void gf_point_unpremultiply(struct gf_point_builder *builder, int bits);
void gf_point_limit_to_alpha(struct gf_point_builder *builder);
/* Lays the picture on a colour, whose samples are in 0..M; no alpha is left. Does nothing where
 * there is none. Gray pictures take the first sample. */
void gf_point_flatten(struct gf_point_builder *builder, const int sample[3]);
/* Drops alpha; the colour stays as it is. */
void gf_point_drop_alpha(struct gf_point_builder *builder);
/* Each sample becomes value[sample] of its channel's table, [tables][M + 1], where tables is 1 for
 * all colour channels or one for each. Only filters that ask for a statistic may call it, since
 * they come first in their run. */
void gf_point_levels(struct gf_point_builder *builder, int tables, const double *value);
/* The same for CIELAB L* by one table, [M + 1]. */
enum gf_status gf_point_lightness(struct gf_point_builder *builder, const double *value,
                                  struct gf_error *error) GF_CHECKED;

/* A function for each channel, of parts of the full scale. As the first of a run it is evaluated
 * for each sample, in double precision; after another operation it is `points` points from least to
 * greatest with straight lines between them, and beyond them as at the nearest. */
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
/* A colour's parts of the full scale; of a gray picture the first is its luma, as grayscale's. */
void gf_point_colour_of(struct gf_format format, const struct gf_colour *colour, double part[3]);
/* A length in whole pixels; per cent, or `otherwise` where none is given, are of `whole`. */
double gf_length_of(struct gf_length length, int whole, double otherwise);
/* v + (colour - v) field: mixes with a colour, whose channels are parts of the full scale. Gray
 * pictures take its first. */
enum gf_status gf_point_mix(struct gf_point_builder *builder, const struct gf_point_field *field,
                            const double colour[3], struct gf_error *error) GF_CHECKED;
/* v + amount field; the amount is a part of the full scale. */
enum gf_status gf_point_add(struct gf_point_builder *builder, const struct gf_point_field *field,
                            double amount, struct gf_error *error) GF_CHECKED;
/* alpha times the field */
enum gf_status gf_point_fade(struct gf_point_builder *builder, const struct gf_point_field *field,
                             struct gf_error *error) GF_CHECKED;

/* v + sigma M z: z of pixel/noise.h at the pixel's position, of a standard deviation of 1. */
struct gf_point_noise {
    double sigma; /* a part of the full scale */
    bool normal;  /* else evenly spread */
    bool same;    /* for all channels */
    int seed;     /* 0..999999 */
};
void gf_point_noise(struct gf_point_builder *builder, const struct gf_point_noise *noise);
/* A mask, and what of it counts: enum gf_mask_of, or what that leaves out. */
struct gf_mask_use {
    const struct gf_picture *picture;
    int of;
    bool inverted;
};
/* How a second picture lies on the picture: that far from the side that gravity names, or from the
 * middle to the right and down. Per cent are of the picture's width, or height. */
struct gf_point_place {
    int gravity; /* enum gf_gravity */
    struct gf_length x, y;
};
/* Lays a second picture on the picture; mode: enum gf_blend, opacity: 0..1. A gray picture becomes
 * colour where the other is, see gf_point_layer_shape(). mask: it shows as far as that counts, at
 * the same place; NULL: everywhere. Pictures are named here in the order of the filter's
 * pictures(). */
void gf_point_overlay(struct gf_point_builder *builder, const struct gf_picture *picture,
                      const struct gf_mask_use *mask, struct gf_point_place place, int mode,
                      double opacity);
/* Alpha times what counts of the mask, 0 beyond it; adds alpha where there is none. */
void gf_point_mask(struct gf_point_builder *builder, const struct gf_mask_use *mask,
                   struct gf_point_place place);
/* A gray picture under a layer of colour becomes colour. */
void gf_point_layer_shape(const struct gf_picture *picture, struct gf_format *out);

/* refuses() of a variant that needs a picture with colour. */
const char *gf_point_refuses_gray(const struct gf_stage *stage);

#ifdef __cplusplus
}
#endif
#endif
