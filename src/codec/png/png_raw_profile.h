/* "Raw profile type" texts: ImageMagick and exiftool store EXIF, XMP and IPTC in tEXt and zTXt
 * chunks as hexadecimal numbers under such a keyword. IPTC has no other place in a PNG. */
#ifndef GF_CODEC_PNG_PNG_RAW_PROFILE_H
#define GF_CODEC_PNG_PNG_RAW_PROFILE_H

#include "codec/common/metadata.h"

#define GF_PNG_RAW_PROFILE "Raw profile type " /* the keyword's beginning */

/* Adds the profile of that type ("exif", "APP1", "xmp", "iptc", "8bim"), others not at all.
 * *damaged says that the text is not what such a text must be. False when out of memory. */
bool gf_png_add_raw_profile(struct gf_metadata *metadata, const char *type, const char *text,
                            size_t size, bool *damaged);

/* Makes the text of such a profile. False when out of memory. */
bool gf_png_make_raw_profile(const char *type, const struct gf_blob *profile, struct gf_blob *text);

#endif
