/* What of a PNG's chunks is metadata. */
#ifndef GF_CODEC_PNG_PNG_METADATA_H
#define GF_CODEC_PNG_PNG_METADATA_H

#include "codec/common/metadata.h"

/* Adds what the chunk holds, if it is one that matters and not damaged; warns where it is. False:
 * out of memory. */
bool gf_png_take_metadata(struct gf_metadata *metadata, const char *type, const unsigned char *data,
                          size_t size, const struct gf_options *options, const char *file);

#endif
