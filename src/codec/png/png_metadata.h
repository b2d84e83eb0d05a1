/* Finds the metadata in a PNG's chunks. */
#ifndef GF_CODEC_PNG_PNG_METADATA_H
#define GF_CODEC_PNG_PNG_METADATA_H

#include "codec/common/metadata.h"

/* Adds what the chunk holds, if it holds metadata. Damaged metadata is left out with a warning.
 * False when out of memory. */
bool gf_png_add_metadata(struct gf_metadata *metadata, const char *type, const unsigned char *data,
                         size_t size, const struct gf_options *options, const char *file);

#endif
