/* Says what an output does not keep of what its input holds beside the pixels. */
#ifndef GF_CODEC_LEFT_OUT_H
#define GF_CODEC_LEFT_OUT_H

#include "codec/formats.h"

/* Passes options->warn one line that names all that is lost, and one where the colours look
 * different because of it. kept: what gf_metadata_for_output() made of the metadata for a picture
 * of that format, which the file `name` of that type gets. */
void gf_warn_left_out(const char *name, const struct gf_file_type *type, struct gf_format format,
                      const struct gf_metadata *metadata, const struct gf_metadata *kept,
                      const struct gf_options *options);

#endif
