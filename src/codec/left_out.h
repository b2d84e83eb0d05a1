/* Warns of metadata and colours of an input that its output does not keep. */
#ifndef GF_CODEC_LEFT_OUT_H
#define GF_CODEC_LEFT_OUT_H

#include "codec/formats.h"

/* Gives options->warn one line that names all lost metadata, and one line where the colours look
 * different because of that. `name` is the output, `type` its file format, `format` its pixel
 * format, and `kept` what gf_metadata_for_output() has made of the metadata. */
void gf_warn_left_out(const char *name, const struct gf_file_type *type, struct gf_format format,
                      const struct gf_metadata *metadata, const struct gf_metadata *kept,
                      const struct gf_options *options);

#endif
