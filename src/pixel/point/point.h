/* Point filters, in which each pixel of the result depends on the same pixel of the input alone.
 * Adjacent ones are one stage, whose program (pixel/point/point_program.h) both backends evaluate;
 * it rounds once. A filter's point() calls the functions below in the order of its steps, at most
 * four of those that append an operation; a list of more than GF_POINT_OPS_MAX operations is
 * refused. The functions change the colour; only premultiply, unpremultiply, flatten, key and fade
 * change alpha. Each one limits its result to 0..M, where M is the largest sample. v is a sample
 * before an operation. */
#pragma once

#include "pixel/point/table3d.h"
#include "pixel/sample.h"
#include "stage/stage.h"

enum { GF_POINT_LIST_MAX = 32 };
struct gf_point_list {
    int count;
    struct {
        const struct gf_filter *filter;
        const void *params;
    } item[GF_POINT_LIST_MAX];
};
/* The filter of a list of adjacent point filters, whose params are a struct gf_point_list. The
 * stage's histogram is for item 0. A filter for which the user chose a variant is a list of its
 * own. */
extern const struct gf_filter gf_point;
/* Whether the stage of a list maps 8-bit samples to 8-bit samples by one table for all channels,
 * and needs no histogram. */
bool gf_point_is_table(const struct gf_stage *stage);

/* Whether `filter` is the only filter of the stage's list. */
bool gf_point_is_only(const struct gf_stage *stage, const struct gf_filter *filter);

/* The list of operations that a filter's point() appends to. It remembers whether one failed. */
struct gf_point_builder;

void gf_point_fail_memory(struct gf_point_builder *builder);

/* v becomes (v - pivot) scale + offset. */
void gf_point_linear(struct gf_point_builder *builder, double pivot, double scale, double offset);
/* v becomes M (v / M)^exponent. */
void gf_point_power(struct gf_point_builder *builder, double exponent);
/* From now on gf_point_linear() and gf_point_power() change only the channels whose bit is set; bit
 * 0 is red. For pictures with colour only. */
void gf_point_only(struct gf_point_builder *builder, unsigned channels);
/* Rounds v to the nearest of `levels` levels, at least 2, that divide the scale evenly; a half is
 * rounded up. */
void gf_point_quantize(struct gf_point_builder *builder, int levels);
/* Changes v to M - v where the sample, rounded, is `least` or more. */
void gf_point_solarize(struct gf_point_builder *builder, double least);
/* Multiplies the linear light of each channel by its factor. Gray has the first factor. */
void gf_point_light_gain(struct gf_point_builder *builder, const double factor[3]);
/* v becomes M where the rounded sample is at least `least`, and 0 otherwise. */
void gf_point_step(struct gf_point_builder *builder, double least);
/* Makes one channel of three: their sum with these weights, in units of 1/total, where total is a
 * power of two. A picture with one channel does not change. */
void gf_point_gray(struct gf_point_builder *builder, const int weight[3], int total);
/* Does what gf_point_gray() does, with the weights of gf_luma601(). */
void gf_point_luma(struct gf_point_builder *builder);
/* Multiplies CIELAB a* and b* by the factor. A gray picture does not change. */
void gf_point_saturate(struct gf_point_builder *builder, double factor);
/* Makes m[0][0] R + m[0][1] G + m[0][2] B + m[0][3] M the red channel, and so on for green and
 * blue. A gray picture counts as R = G = B; it becomes colour, unless the matrix maps all grays to
 * grays. */
void gf_point_matrix(struct gf_point_builder *builder, const double matrix[3][4]);
/* Sets the format of gf_point_matrix()'s result: three colour channels, unless the picture is gray
 * and the matrix maps grays to grays. */
void gf_point_matrix_shape(const double matrix[3][4], struct gf_format *out);
/* Makes three equal channels of a gray picture. */
void gf_point_colour(struct gf_point_builder *builder);
/* Each sample v becomes Y + (v - Y) (1 + amount (1 - s)), where Y is the luma of BT.709 and s is
 * the difference of the largest and the smallest of R, G, B in 0..1. A gray picture does not
 * change. */
void gf_point_vibrance(struct gf_point_builder *builder, double amount);
/* Looks up colours in a table with `size` nodes along each side, GF_TABLE3D_MIN..GF_TABLE3D_MAX;
 * see pixel/point/table3d.h. Gray becomes colour. */
void gf_point_table3d(struct gf_point_builder *builder, int size,
                      const struct gf_table3d_nodes *nodes);
/* Adds an alpha of M to a picture without alpha. */
void gf_point_opaque(struct gf_point_builder *builder);
/* Multiplies alpha by (d - similarity) / blend, clamped to 0..1. d is the distance between the
 * pixel's and the colour's Cb and Cr (ITU-R BT.601, full range, as parts of the scale). `colour` is
 * R, G, B in 0..1. Only for pictures with colour. */
void gf_point_key(struct gf_point_builder *builder, const double colour[3], double similarity,
                  double blend);
void gf_point_premultiply(struct gf_point_builder *builder);
void gf_point_unpremultiply(struct gf_point_builder *builder, int bits);
void gf_point_limit_to_alpha(struct gf_point_builder *builder);
/* Composes the picture over a colour, whose samples are in 0..M, and drops alpha. A picture without
 * alpha does not change. Gray pictures use the first sample. */
void gf_point_flatten(struct gf_point_builder *builder, const double sample[3]);
/* Drops alpha; the colour does not change. */
void gf_point_drop_alpha(struct gf_point_builder *builder);
/* Each sample becomes value[sample] in the table of its channel; `value` is [tables][M + 1], where
 * tables is 1 or the number of colour channels. Only for filters that need a statistic, since these
 * are always the first of their list. Floats have the levels of GF_FLOAT_LEVELS; between two of
 * them the values are interpolated, and beyond 0..1 they are those of the ends. */
void gf_point_levels(struct gf_point_builder *builder, int tables, const double *value);
/* Replaces L* of CIELAB by the table value[M + 1]. Only for filters that need a statistic. */
void gf_point_lightness(struct gf_point_builder *builder, const double *value);

/* A function for each channel, whose argument and value are parts of the full scale. As the first
 * operation of a list it is evaluated for each possible sample in double precision; otherwise at
 * `points` points from `least` to `greatest`, with linear interpolation between them and constant
 * values outside. */
struct gf_point_curve {
    double (*of)(const void *context, int channel, double v);
    const void *context; /* passed to `of`; not used after gf_point_curve() returns */
    bool same;           /* all channels have the same function; must be set for gray pictures */
    bool is_lines; /* values at points may be outside of 0..M; interpolated results are limited */
    int points;    /* the number of points, at least 2 */
    double least, greatest;
};
void gf_point_curve(struct gf_point_builder *builder, const struct gf_point_curve *curve);

/* A number for each position of the picture: curve(column(x) + row(y)), where the sum is limited to
 * 0..1. Both backends read it from tables that these functions fill: column() and row() for each x
 * and y, curve() at 4097 points with linear interpolation. So a filter needs no device code of its
 * own for a vignette, a gradient, a frame, rounded corners or an ordered dither. */
struct gf_point_field {
    double (*column)(const void *context, int x);
    double (*row)(const void *context, int y);
    double (*curve)(const void *context, double sum);
    const void *context; /* passed to the functions; not used after the call that takes the field */
};
/* Returns the weights of gf_luma601() for the format's channels; their sum is 1. */
void gf_point_luma_weights(struct gf_format format, double weight[3]);
/* Computes a colour as parts of the full scale. For a gray picture part[0] is its luma, as the
 * filter grayscale computes it. */
void gf_point_colour_of(struct gf_format format, const struct gf_colour *colour, double part[3]);
/* Returns a length in whole pixels. A percentage is one of `whole`. If the length is not set, it is
 * `otherwise` times `whole`. */
double gf_length_of(struct gf_length length, int whole, double otherwise);
/* Mixes a colour into the picture: v becomes v + (colour - v) field. The channels of the colour are
 * parts of the full scale; gray pictures take the first. */
void gf_point_mix(struct gf_point_builder *builder, const struct gf_point_field *field,
                  const double colour[3]);
/* v becomes v + amount field; the amount is a part of the full scale. */
void gf_point_add(struct gf_point_builder *builder, const struct gf_point_field *field,
                  double amount);
/* Multiplies alpha by the field's number at each pixel. */
void gf_point_fade(struct gf_point_builder *builder, const struct gf_point_field *field);

/* Noise: v becomes v + sigma M z, where z is the noise of pixel/point/noise.h at the pixel's
 * position, with a standard deviation of 1. */
struct gf_point_noise {
    double sigma; /* a part of the full scale */
    bool normal;  /* normal noise; otherwise uniform */
    bool same;    /* all channels get the same noise */
    int seed;     /* 0..999999 */
};
void gf_point_noise(struct gf_point_builder *builder, const struct gf_point_noise *noise);
/* How a mask is used: its picture, the number of its pixels that counts (enum gf_mask_of), and
 * whether 1 minus that number is used instead. */
struct gf_mask_use {
    const struct gf_picture *picture;
    int of;
    bool inverted;
};
/* Where a second picture lies on the first one. x and y are its distances from the sides that
 * gravity names; in the centre they move it to the right and down. Percentages are of the first
 * picture's width and height. */
struct gf_point_place {
    int gravity; /* enum gf_gravity */
    struct gf_length x, y;
};
/* Puts a layer on the picture: a second picture with a blend mode (enum gf_blend) and an opacity,
 * 0..1. A gray picture becomes colour if the second picture is in colour (gf_point_layer_shape()).
 * The mask, at the same place, limits where the layer shows; NULL: there is none. Calls must name
 * pictures in the order of the filter's pictures(). */
void gf_point_overlay(struct gf_point_builder *builder, const struct gf_picture *picture,
                      const struct gf_mask_use *mask, struct gf_point_place place, int mode,
                      double opacity);
/* Multiplies alpha by the mask's value, 0 outside of the mask. Without alpha, the picture gets
 * one. */
void gf_point_mask(struct gf_point_builder *builder, const struct gf_mask_use *mask,
                   struct gf_point_place place);
/* Sets the format of gf_point_overlay()'s result: a gray picture becomes colour if the second
 * picture is in colour. */
void gf_point_layer_shape(const struct gf_picture *picture, struct gf_format *out);

/* The filters that the planner puts before and after a stencil on a picture with alpha.
 * gf_premultiply makes 16 bits: a colour v becomes v * 65535/M * a/M, alpha a becomes a *
 * 65535/M. */
struct gf_unpremultiply {
    int bits; /* the bits of the straight picture */
};
extern const struct gf_filter gf_premultiply; /* has no params */
extern const struct gf_filter gf_unpremultiply;
/* Limits premultiplied colour to its alpha. The filter has no params. */
extern const struct gf_filter gf_limit_to_alpha;
/* The filter that makes three equal channels of gray, and adds an alpha of M, if the result has
 * more channels than the picture. */
struct gf_channels {
    int count; /* the channels of the result */
};
extern const struct gf_filter gf_channels;
/* Adds an alpha of M to a picture without alpha. The filter has no params. */
extern const struct gf_filter gf_opaque;
