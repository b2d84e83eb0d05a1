/* Names kinds of metadata, and warns of metadata and colours of an input that its output does not
 * keep. */
#pragma once

#include "codec/formats.h"

enum { GF_METADATA_KINDS_TEXT_SIZE = 260 };
/* Lists the kinds of metadata in a set (enum gf_metadata_kind): "EXIF, XMP and comments". */
void gf_metadata_kinds_text(unsigned set, char text[GF_METADATA_KINDS_TEXT_SIZE]);

/* Passes one line to options->warn that names all lost metadata, and one line if the colours look
 * different without it. `name` is the output, `type` its file format, `format` its pixel format,
 * and `kept` the result of gf_metadata_for_output(). */
void gf_warn_left_out(const char *name, const struct gf_file_type *type, struct gf_format format,
                      const struct gf_metadata *metadata, const struct gf_metadata *kept,
                      const struct gf_options *options);
