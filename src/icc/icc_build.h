/* Makes conversions between ICC profiles by Little CMS (liblcms2). A build without that library
 * makes none. */
#pragma once

#include "icc/icc.h"
#include "icc/icc_transform.h"

enum gf_icc_intent { /* rendering intents, with the numbers of ICC.1 */
                     GF_ICC_PERCEPTUAL,
                     GF_ICC_RELATIVE,
                     GF_ICC_SATURATION,
                     GF_ICC_ABSOLUTE
};

struct gf_icc_wish {
    struct gf_icc from, to; /* `from` has no data if `to` is a device link */
    int inputs, outputs;    /* numbers of colour channels, which fit the profiles */
    int bits;               /* bits of a sample, 8 or 16; 32: floats */
    int intent;             /* enum gf_icc_intent */
    bool black_point;       /* whether the black point is compensated for */
};

/* gf_icc_available() returns whether this build has Little CMS, gf_icc_library_version() the
 * library's version as text ("" without it). */
bool gf_icc_available(void);
const char *gf_icc_library_version(void);
/* Whether Little CMS can read the profile and convert colours from it. */
bool gf_icc_is_sound(struct gf_icc icc);
/* Whether Little CMS can convert colours to the profile, or by the device link. */
bool gf_icc_is_target(struct gf_icc icc);

/* Whether colours with the profile hardly differ from sRGB. A profile that does not fit the number
 * of colour channels, or that Little CMS cannot use, counts as sRGB; a profile that a build without
 * Little CMS cannot interpret does not. */
bool gf_icc_is_srgb(struct gf_icc icc, int channels);

/* Lets a cell, a process that can do nothing else, do the work of Little CMS for wish->from, as
 * wish->from.sandbox says. With `sound` it sets *sound to whether the profile can be used,
 * otherwise it makes *transform. Returns GF_ERROR_UNAVAILABLE if this machine cannot run cells. */
typedef enum gf_status gf_icc_cell_work(const struct gf_icc_wish *wish, bool *sound,
                                        struct gf_icc_transform **transform,
                                        struct gf_error *error);
/* Sets the function that is called for profiles that came with pictures. */
void gf_icc_set_cell_work(gf_icc_cell_work *call);
/* Whether a transform of `size` bytes that another process has made is one for the wish, and its
 * tables lie within those bytes, so that gf_icc_convert() reads nothing else. */
bool gf_icc_transform_fits(const struct gf_icc_transform *transform, size_t size,
                           const struct gf_icc_wish *wish);

/* Makes the transform that a wish describes. *transform is one block of (*transform)->bytes bytes
 * from malloc(), which the caller frees. Copies of the last transforms are kept, so that a batch
 * does not make the same transform again. Returns GF_ERROR_UNAVAILABLE without Little CMS, or
 * GF_ERROR_INPUT if the library cannot use the profiles. */
enum gf_status gf_icc_build(const struct gf_icc_wish *wish, struct gf_icc_transform **transform,
                            struct gf_error *error) GF_CHECKED;

/* Converts one row of `width` pixels on the CPU. The pixels have in_channels and out_channels
 * samples; alpha is copied if both have it. */
void gf_icc_convert(const struct gf_icc_transform *transform, const void *in, int in_channels,
                    void *out, int out_channels, int width);

/* Does what gf_icc_convert() does for rows of floats of 32 bits, with a transform for them. Where
 * both profiles are curves and a matrix nothing is limited; others are tables, whose samples have
 * 16 bits, 0..1. If a colour of a pixel is NaN, the colours of the result are. */
void gf_icc_convert_floats(const struct gf_icc_transform *transform, const float *in,
                           int in_channels, float *out, int out_channels, int width);
