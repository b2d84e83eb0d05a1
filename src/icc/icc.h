/* Finds ICC profiles by name and by file, and makes small ones from a few numbers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"

/* Numbers of ITU-T H.273: primaries and transfer functions. */
enum {
    GF_PRIMARIES_BT709 = 1,
    GF_PRIMARIES_BT2020 = 9,
    GF_CURVE_LINEAR = 8,
    GF_CURVE_PQ = 16,
    GF_CURVE_HLG = 18
};

/* The bytes of a profile. A size of 0 means that there is no profile: the colours are sRGB, or no
 * profile can describe them. */
struct gf_icc {
    const unsigned char *data;
    size_t size;
    bool unsaid; /* no profile can describe the colours; only `hdr` says what they are */
    bool inks;   /* pixels with these colours are four inks (CMYK), not RGB with alpha */
    /* HDR: the numbers in ITU-T H.273 of the primaries and of the transfer function, PQ or HLG.
     * Zeros: not HDR. */
    unsigned char hdr[2];
    double peak; /* the highest luminance in cd/m2 that the file states; 0: it states none */
    /* For a picture's own profile: the options that say whether Little CMS reads it in a cell. */
    int sandbox; /* enum gf_sandbox */
    const char *sandbox_program;
};

struct gf_icc_space;

/* The names of the profiles that need no file; the list ends with NULL. */
extern const char *const gf_icc_names[]; /* "srgb", "display-p3", "linear-srgb", "acescg" */

/* Returns the profile of that name, for gray or RGB pictures; its size is 0 if no profile has the
 * name. */
struct gf_icc gf_icc_named(const char *name, bool gray);

/* Finds the profile of that name, or otherwise the profile in the file of that name. A file is read
 * once, and again only if it has changed. `gray` chooses between the profiles of a name. Returns
 * GF_ERROR_READ if the file cannot be read, GF_ERROR_INPUT if it is no profile of RGB or gray. */
enum gf_status gf_icc_load(const char *name, bool gray, struct gf_icc *icc,
                           struct gf_error *error) GF_CHECKED;

/* Does what gf_icc_load() does for a profile that colours are converted to, which may also be of
 * CMYK, or a device link. */
enum gf_status gf_icc_load_target(const char *name, bool gray, struct gf_icc *icc,
                                  struct gf_error *error) GF_CHECKED;

/* Does what gf_icc_load() does for a profile of CMYK, or a device link from CMYK to RGB. */
enum gf_status gf_icc_load_inks(const char *name, struct gf_icc *icc,
                                struct gf_error *error) GF_CHECKED;

/* From now on gf_icc_load_inks() returns this profile to the calling thread for that name, without
 * opening a file; NULL: it opens files again. */
void gf_icc_hand(const char *name, const struct gf_icc *icc);

/* Whether the profile's header states that many colour channels: 1 is gray, 3 is RGB, 4 is CMYK.
 * For a device link they are those of its input. */
bool gf_icc_fits(struct gf_icc icc, int channels);
/* Whether the profile is a device link, which converts from one device to another without a profile
 * of either. */
bool gf_icc_is_link(struct gf_icc icc);
/* Returns the number of colour channels of a picture that was converted to the profile, or by the
 * device link: 1, 3 or 4; 0: the profile is neither of gray, RGB nor CMYK. */
int gf_icc_channels_after(struct gf_icc icc);
/* Returns the profile of the same name for gray (1 colour channel) or RGB (3). A profile that is
 * not in gf_icc_names is returned unchanged. */
struct gf_icc gf_icc_for(struct gf_icc icc, int channels);
enum { GF_ICC_TEXT_SIZE = 128 };
/* Copies the profile's own description in UTF-8; "" if it has none. */
void gf_icc_text(struct gf_icc icc, char text[GF_ICC_TEXT_SIZE]);
bool gf_icc_same(struct gf_icc a, struct gf_icc b);
/* Whether the profile is one of gf_icc_names. */
bool gf_icc_is_made(struct gf_icc icc);
/* Returns the colour space of one of gf_icc_names; NULL: the profile is none of them. */
const struct gf_icc_space *gf_icc_space_of(struct gf_icc icc);
/* Finds the chromaticities of a profile whose samples are light, by three lines and a matrix; those
 * of gray are sRGB's. Returns false for other profiles. */
bool gf_icc_find_linear(struct gf_icc icc, struct gf_icc_space *space);
/* Returns the bytes of a profile's tag, *size of them; NULL: it has no such tag. */
const unsigned char *gf_icc_tag(struct gf_icc icc, const char *name, size_t *size);

/* The functions from here on make small ICC profiles of colour spaces that a few numbers describe:
 * sRGB, Display P3, and the colour spaces in a PNG's chunks. Equal numbers give equal bytes on
 * every machine: the profiles contain a fixed date, and the arithmetic is IEEE's in a fixed
 * order. */

enum gf_icc_curve {
    GF_ICC_POWER, /* sample^gamma */
    GF_ICC_SRGB,  /* sRGB's curve, by IEC 61966-2-1 */
    GF_ICC_BT709  /* the inverse of ITU-R BT.709's curve for cameras */
};

/* An RGB colour space: the chromaticities x, y of its white and primaries, and one curve from
 * samples to light. */
struct gf_icc_space {
    const char *name; /* ASCII, at most GF_ICC_NAME_MOST letters */
    double white[2], red[2], green[2], blue[2];
    enum gf_icc_curve curve;
    double gamma; /* the exponent of GF_ICC_POWER */
};

enum { GF_ICC_NAME_MOST = 60, GF_ICC_MADE_MOST = 1024 };

extern const struct gf_icc_space gf_icc_srgb, gf_icc_display_p3, gf_icc_linear_srgb, gf_icc_acescg;

/* Sets the name, the white and the primaries that the number stands for in ITU-T H.273. Returns
 * false if no profile can describe them. */
bool gf_icc_primaries(int number, struct gf_icc_space *space);

/* Computes the matrix from linear light of one space to linear light of another, adapted to the
 * white of `to` by Bradford's matrix, and the weights with which the channels of `from` add up to
 * luminance, whose sum is 1. Returns false if the chromaticities describe no colour space. */
bool gf_icc_matrix_between(const struct gf_icc_space *from, const struct gf_icc_space *to,
                           double between[3][3], double luminance[3]);

/* Computes the adjugate of a matrix, which is the inverse times the determinant, and returns the
 * determinant. */
double gf_icc_adjugate(const double m[3][3], double adjugate[3][3]);

/* Writes a profile of ICC version 4.2 to `profile`, which has room for GF_ICC_MADE_MOST bytes, and
 * returns its size. With `gray` it is a gray profile with the same white and curve. Returns 0 if
 * the chromaticities describe no colour space, or the gamma is not within 0.01..100. (ICC.1:2010;
 * adaptation to D50 by Bradford's matrix, annex E) */
size_t gf_icc_make(const struct gf_icc_space *space, bool gray, unsigned char *profile);
