/* The colour information of a file other than an ICC profile: a PNG's cICP, sRGB, gAMA and cHRM
 * chunks, or the cICP numbers of an AVIF, HEIC or JPEG XL. An output whose format has such tags
 * keeps them; other outputs get an ICC profile made from them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/options.h"
#include "gpufilter/status.h"

struct gf_icc_space;
struct gf_icc_transform;
struct gf_metadata;

struct gf_colour_tags {
    bool has_cicp, has_srgb, has_gamma, has_chromaticities;
    unsigned char cicp[4]; /* ITU-T H.273: primaries, transfer, matrix, full range */
    unsigned char intent;  /* the rendering intent of an sRGB chunk, 0..3 */
    /* 100,000 times the exponent that converts light to samples; 45455 is 1 / 2.2. */
    uint32_t gamma;
    /* 100,000 times the chromaticities x and y of white, red, green and blue; signed. */
    int32_t chromaticity[8];
    /* The bytes of the chunks mDCV and cLLI (PNG, third edition): the chromaticities and the
     * luminances of the display on which HDR was mastered; MaxCLL and MaxFALL, the luminances of
     * the brightest pixel and of the brightest frame's mean, in 0.0001 cd/m2. */
    bool has_mdcv, has_clli;
    unsigned char mdcv[24], clli[8];
    bool told; /* whether the warning about gf_colour_tags_unsaid() was given */
};

/* The colour tags that a file format has. */
enum gf_tags_room {
    GF_TAGS_NONE,
    GF_TAGS_HDR,  /* cICP, but only with the transfer functions PQ and HLG */
    GF_TAGS_CICP, /* cICP with any numbers */
    GF_TAGS_ALL
};

/* Sets a cICP with these numbers of ITU-T H.273, for RGB in the full range. Does nothing if one of
 * the numbers means "unspecified". */
void gf_colour_tags_set_cicp(struct gf_colour_tags *tags, int primaries, int curve);
/* Sets linear light of these chromaticities x and y of white, red, green and blue; NULL: BT.709's.
 * Returns false, and sets BT.709's, if no profile can say them. */
bool gf_colour_tags_set_linear(struct gf_colour_tags *tags, const float xy[8], bool gray);
/* Finds the primaries of samples that the tags or the profile say to be linear. Returns false for
 * others. */
bool gf_metadata_find_linear(const struct gf_metadata *metadata, struct gf_icc_space *space);
/* Copies the cICP if the output's format can hold it. Returns false if it cannot or there is
 * none. */
bool gf_colour_tags_keep_cicp(const struct gf_colour_tags *tags, enum gf_tags_room room,
                              struct gf_colour_tags *kept);
bool gf_curve_is_hdr(int curve);
/* Sets hdr[] to the numbers of the primaries and the transfer function if the tags describe HDR,
 * otherwise to zeros (struct gf_icc). Unspecified primaries of HDR are those of BT.2020. */
void gf_colour_tags_hdr(const struct gf_colour_tags *tags, unsigned char hdr[2]);

/* Sets mDCV and cLLI from the first boxes mdcv and clli of a HEIF file, if the picture is HDR. */
void gf_colour_tags_add_heif(struct gf_colour_tags *tags, const unsigned char *boxes, size_t size);
/* Sets cLLI from MaxCLL and MaxFALL in cd/m2. */
void gf_colour_tags_set_light(struct gf_colour_tags *tags, double most, double mean);
/* Returns MaxCLL (which = 0) or MaxFALL (which = 1) of cLLI in cd/m2; 0: unknown. */
double gf_colour_tags_light(const struct gf_colour_tags *tags, int which);
/* Returns the highest luminance in cd/m2 that cLLI states; without cLLI that of mDCV; 0 if there is
 * neither. */
double gf_colour_tags_peak(const struct gf_colour_tags *tags);

enum { GF_COLOURS_TEXT_SIZE = 48 };
/* Whether the cICP describes colours that no ICC profile can describe, so that no profile converts
 * the samples. `text` then names the reason, such as "the transfer PQ". */
bool gf_colour_tags_unsaid(const struct gf_colour_tags *tags, bool has_icc,
                           char text[GF_COLOURS_TEXT_SIZE]);

/* Whether the tags have information that the file's ICC profile does not override: cICP comes
 * first, then the profile, then sRGB, and last gAMA with cHRM (PNG, third edition, 4.3). */
bool gf_colour_tags_win(const struct gf_colour_tags *tags, bool has_icc);

/* Makes the profile that the tags describe, in at most GF_ICC_MADE_MOST bytes, and returns its
 * size; 0 if they describe none, such as a cICP of HDR. A gamma without chromaticities gets the
 * chromaticities of sRGB; chromaticities without a gamma get the curve of sRGB. */
size_t gf_colour_tags_profile(const struct gf_colour_tags *tags, bool gray, unsigned char *profile);

/* ---- conversion of pictures of four inks (CMYK) to RGB while they are read: by their ICC profile,
 * or by the same simple formula as other programs ---- */

/* The conversion of a picture's inks to RGB. */
struct gf_cmyk {
    int bits;                           /* bits of a sample: 8 or 16 */
    struct gf_icc_transform *transform; /* the transform to sRGB; NULL: the simple formula is
                                         * used */
};

/* Prepares the conversion to sRGB, relative colorimetric with black point compensation, by the
 * profile in `metadata`. The profile is then removed from `metadata`, since the result is sRGB.
 * Without a usable profile it uses options->cmyk_profile; without that profile, R = (1 - C)(1 - K),
 * G and B likewise, and options->warn is called. There is no standard press whose profile could be
 * assumed, nor a free profile to ship. */
enum gf_status gf_cmyk_open(struct gf_metadata *metadata, int bits, const char *name,
                            const struct gf_options *options, struct gf_cmyk *cmyk,
                            struct gf_error *error) GF_CHECKED;
/* Converts pixels of four samples (inks) to three (rgb). A sample of 0 means no ink, unless
 * `inverted`. The conversion may change `inks`. */
void gf_cmyk_convert(const struct gf_cmyk *cmyk, void *inks, bool inverted, void *rgb, int pixels);
void gf_cmyk_close(struct gf_cmyk *cmyk);
