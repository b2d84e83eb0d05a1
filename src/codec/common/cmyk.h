/* Pictures of four inks become RGB while they are read: by their ICC profile, else by the plain
 * conversion that other programs make, too. */
#ifndef GF_CODEC_COMMON_CMYK_H
#define GF_CODEC_COMMON_CMYK_H

#include "codec/common/metadata.h"
#include "icc/icc_transform.h"

/* What the inks of a picture become. */
struct gf_cmyk {
    int bits;                           /* of the samples, 8 or 16 */
    struct gf_icc_transform *transform; /* to sRGB; NULL: the plain conversion */
};

/* Prepares the conversion to sRGB, relative colorimetric with black point compensation, by the
 * profile in `metadata`, which is taken out of it: the result is sRGB. Without a profile of CMYK,
 * or where it is of no use, options->cmyk_profile stands in for it; else options->warn is told
 * that R = (1 - C)(1 - K) does, and so for the others. There is no standard press whose profile
 * could be meant, nor a free one to carry along. */
enum gf_status gf_cmyk_open(struct gf_metadata *metadata, int bits, const char *name,
                            const struct gf_options *options, struct gf_cmyk *cmyk,
                            struct gf_error *error) GF_CHECKED;
/* Converts pixels of four samples to three. A sample of 0 is no ink, unless `inverted`. `inks` is
 * changed where it is. */
void gf_cmyk_convert(const struct gf_cmyk *cmyk, void *inks, bool inverted, void *rgb, int pixels);
void gf_cmyk_close(struct gf_cmyk *cmyk);

#endif
