/* HEIC files and other HEIF, read by libheif. Rotations and mirrorings are part of such a picture
 * and always applied. Samples of 10 and 12 bits become 16. Only codec.c opens them. */
#ifndef GF_CODEC_HEIF_HEIF_H
#define GF_CODEC_HEIF_HEIF_H

#include "base/library.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "gpufilter/options.h"

extern struct gf_library gf_heif_library;

enum gf_status gf_heif_source_open(struct gf_input *input, const struct gf_options *options,
                                   struct gf_source **source, struct gf_error *error) GF_CHECKED;

#endif
