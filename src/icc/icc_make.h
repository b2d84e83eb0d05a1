/* Makes small ICC profiles of colour spaces that a few numbers describe: sRGB, Display P3, and the
 * colour spaces in a PNG's chunks. Equal numbers give equal bytes on every machine: the profiles
 * contain a fixed date, and the arithmetic is IEEE's in a fixed order. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum gf_icc_curve {
    GF_ICC_POWER, /* sample^gamma */
    GF_ICC_SRGB,  /* IEC 61966-2-1 */
    GF_ICC_BT709  /* the inverse of ITU-R BT.709's curve for cameras */
};

/* An RGB colour space: the chromaticities x, y of its white and primaries, and one curve from
 * samples to light. */
struct gf_icc_space {
    const char *name; /* ASCII, at most GF_ICC_NAME_MOST letters */
    double white[2], red[2], green[2], blue[2];
    enum gf_icc_curve curve;
    double gamma; /* the gamma for GF_ICC_POWER */
};

enum { GF_ICC_NAME_MOST = 60, GF_ICC_MADE_MOST = 1024 };

extern const struct gf_icc_space gf_icc_srgb, gf_icc_display_p3;

/* Sets the name, the white and the primaries of a number of ITU-T H.273. Returns false if no
 * profile can describe them. */
bool gf_icc_primaries(int number, struct gf_icc_space *space);

/* Computes the matrix from linear light of one space to linear light of another, adapted to its
 * white by Bradford's matrix, and the weights of luminance of `from`, whose sum is 1. Returns false
 * if the chromaticities describe no colour space. */
bool gf_icc_matrix_between(const struct gf_icc_space *from, const struct gf_icc_space *to,
                           double between[3][3], double luminance[3]);

/* Computes the adjugate of a matrix, which is the inverse times the determinant, and returns the
 * determinant. */
double gf_icc_adjugate(const double m[3][3], double adjugate[3][3]);

/* Writes a profile of ICC version 4.2 and returns its size, at most GF_ICC_MADE_MOST bytes. With
 * `gray` it is a gray profile with the same white and curve. Returns 0 if the chromaticities
 * describe no colour space, or the gamma is not within 0.01..100. (ICC.1:2010; adaptation to D50 by
 * Bradford's matrix, annex E) */
size_t gf_icc_make(const struct gf_icc_space *space, bool gray, unsigned char *profile);
