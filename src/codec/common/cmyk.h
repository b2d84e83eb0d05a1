/* Converts pictures of four inks (CMYK) to RGB while they are read: by their ICC profile, or by the
 * same simple formula as other programs. */
#pragma once

#include "codec/common/metadata.h"
#include "icc/icc_transform.h"

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
/* Converts pixels of four samples to three. A sample of 0 means no ink, unless `inverted`. The
 * conversion may change `inks`. */
void gf_cmyk_convert(const struct gf_cmyk *cmyk, void *inks, bool inverted, void *rgb, int pixels);
void gf_cmyk_close(struct gf_cmyk *cmyk);
