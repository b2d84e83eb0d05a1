/* Writes metadata as a PNG's chunks, which stand between the header and the pixels. */
#ifndef GF_CODEC_PNG_PNG_METADATA_WRITE_H
#define GF_CODEC_PNG_PNG_METADATA_WRITE_H

#include "codec/common/metadata.h"
#include "codec/io/output.h"

/* metadata is that of gf_metadata_for_output. */
enum gf_status gf_png_write_metadata(struct gf_output *output, const struct gf_metadata *metadata,
                                     struct gf_error *error) GF_CHECKED;

#endif
