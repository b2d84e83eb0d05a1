/* Makes conversions between ICC profiles, by Little CMS (liblcms2). A build without that library
 * has none. */
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
    int inputs, outputs;    /* colour channels; the profiles fit them */
    int bits;               /* 8 or 16 */
    int intent;             /* enum gf_icc_intent */
    bool black_point;       /* black point compensation */
};

/* Tell whether this build has Little CMS, and the library's version as text ("" without it). */
bool gf_icc_available(void);
const char *gf_icc_library_version(void);
/* Whether Little CMS can read the profile and convert from it. */
bool gf_icc_is_sound(struct gf_icc icc);
/* Whether Little CMS can convert to the profile, or by the device link. */
bool gf_icc_is_target(struct gf_icc icc);

/* Whether colours with the profile hardly differ from sRGB (icc_build.c). A profile that does
 * not fit the number of colour channels, or that Little CMS cannot use, counts as sRGB; a profile
 * that a build without Little CMS cannot interpret does not. */
bool gf_icc_is_srgb(struct gf_icc icc, int channels);

/* Does the work of Little CMS for wish->from in a cell, as wish->from.sandbox says. With `sound` it
 * judges wish->from, otherwise it makes *transform. GF_ERROR_UNAVAILABLE: there are no cells. */
typedef enum gf_status gf_icc_cell_work(const struct gf_icc_wish *wish, bool *sound,
                                        struct gf_icc_transform **transform,
                                        struct gf_error *error);
/* Sets the function for profiles that came with pictures. */
void gf_icc_set_cell_work(gf_icc_cell_work *call);
/* Whether a transform that another process has made is one of that wish, of `size` bytes, whose
 * tables lie within them, so that gf_icc_convert() reads nothing else (icc_build.c). */
bool gf_icc_transform_fits(const struct gf_icc_transform *transform, size_t size,
                           const struct gf_icc_wish *wish);

/* Makes the transform of a wish. *transform is one block of (*transform)->bytes bytes from
 * malloc(), which the caller frees. Copies of the last transforms are kept, so that a batch does
 * not make the same transform again. Returns GF_ERROR_UNAVAILABLE without Little CMS, or
 * GF_ERROR_INPUT if the library cannot use the profiles. */
enum gf_status gf_icc_build(const struct gf_icc_wish *wish, struct gf_icc_transform **transform,
                            struct gf_error *error) GF_CHECKED;

/* Converts one row on the CPU. Pixels have in_channels and out_channels samples; alpha is copied if
 * both have it. */
void gf_icc_convert(const struct gf_icc_transform *transform, const void *in, int in_channels,
                    void *out, int out_channels, int width);
