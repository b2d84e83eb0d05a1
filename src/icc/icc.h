/* Finds ICC profiles by name and by file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"

/* Numbers of ITU-T H.273: primaries and transfer functions. */
enum { GF_PRIMARIES_BT2020 = 9, GF_CURVE_PQ = 16, GF_CURVE_HLG = 18 };

/* The bytes of a profile. A size of 0 means that there is no profile: the colours are sRGB, or no
 * profile can describe them. */
struct gf_icc {
    const unsigned char *data;
    size_t size;
    bool unsaid; /* no profile can describe the colours; only `hdr` says what they are */
    bool inks;   /* pixels with these colours are four inks (CMYK), not RGB with alpha */
    /* HDR: the primaries and the transfer function of ITU-T H.273, PQ or HLG. Zeros: not HDR. */
    unsigned char hdr[2];
    double peak; /* the highest luminance in cd/m2 that the file states; 0: it states none */
    /* The profile came with a picture: Little CMS reads it in a cell, as these options say. */
    int sandbox; /* enum gf_sandbox */
    const char *sandbox_program;
};

/* The names of the profiles that need no file; the list ends with NULL. */
extern const char *const gf_icc_names[]; /* srgb, display-p3 */

/* Returns the profile of that name, for gray or RGB pictures; its size is 0 if no profile has the
 * name. */
struct gf_icc gf_icc_named(const char *name, bool gray);

/* Finds the profile of that name, or otherwise the profile in the file of that name. A file is read
 * once, and again only if it has changed. `gray` chooses between the profiles of a name. Returns
 * GF_ERROR_READ if the file cannot be read, GF_ERROR_INPUT if it is no profile of RGB or gray. */
enum gf_status gf_icc_load(const char *name, bool gray, struct gf_icc *icc,
                           struct gf_error *error) GF_CHECKED;

/* Does the same for what colours can be converted to: profiles of CMYK, too, and device links. */
enum gf_status gf_icc_load_target(const char *name, bool gray, struct gf_icc *icc,
                                  struct gf_error *error) GF_CHECKED;

/* Does the same for a file with a profile of CMYK, or with a device link from CMYK to RGB. */
enum gf_status gf_icc_load_inks(const char *name, struct gf_icc *icc,
                                struct gf_error *error) GF_CHECKED;

/* From now on gf_icc_load_inks() gives this thread that profile for that name, without opening a
 * file; NULL: no more. */
void gf_icc_hand(const char *name, const struct gf_icc *icc);

/* Whether the profile's header states that many colour channels: 1 is gray, 3 is RGB, 4 is CMYK. Of
 * a device link these are the channels of its input. */
bool gf_icc_fits(struct gf_icc icc, int channels);
/* A device link converts from one device to another, without a profile of either. */
bool gf_icc_is_link(struct gf_icc icc);
/* Returns the number of colour channels after a conversion to the profile, or by the device link;
 * 0: neither gray, RGB nor CMYK. */
int gf_icc_channels_after(struct gf_icc icc);
/* Returns the profile of the same name for that many colour channels. A profile without a name is
 * returned unchanged. */
struct gf_icc gf_icc_for(struct gf_icc icc, int channels);
enum { GF_ICC_TEXT_SIZE = 128 };
/* Copies the profile's own description in UTF-8; "" if it has none (icc.c). */
void gf_icc_text(struct gf_icc icc, char text[GF_ICC_TEXT_SIZE]);
bool gf_icc_same(struct gf_icc a, struct gf_icc b);
/* Whether the profile is one of gf_icc_names. */
bool gf_icc_is_made(struct gf_icc icc);
