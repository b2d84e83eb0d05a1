/* GIF files, read by giflib. Of an animation the pictures are composed, as a viewer shows them.
 * Only codec.c opens them. */
#ifndef GF_CODEC_GIF_GIF_H
#define GF_CODEC_GIF_GIF_H

#include "base/library.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "gpufilter/options.h"

extern struct gf_library gf_gif_library;

enum gf_status gf_gif_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error) GF_CHECKED;

#endif
