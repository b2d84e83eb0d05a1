/* The layouts of pyramids: in which files, in a folder or in a zip, the tiles lie, and what file
 * describes them to viewers. The model is what `vips dzsave` writes. */
#pragma once

#include "codec/codec.h"
#include "codec/common/pyramid/pyramid.h"

/* Opens an output of that name: a file, or the folder that a pyramid of the options' layout is. */
enum gf_status gf_tiles_output_open(const char *name, const struct gf_options *options,
                                    struct gf_output **output, struct gf_error *error) GF_CHECKED;
/* Does what gf_sink_open() does. An output that is a pyramid of such a layout gets a sink of tiles
 * in files of `file_format`; of metadata, tiles have the ICC profile unless it is sRGB's. */
enum gf_status gf_tiles_sink_open(struct gf_output *output, enum gf_file_format file_format,
                                  struct gf_format format, const struct gf_metadata *metadata,
                                  const struct gf_options *options, struct gf_sink **sink,
                                  struct gf_error *error) GF_CHECKED;
/* Does what gf_sink_memory() does, for an output of that name (NULL: to memory). */
struct gf_codec_memory gf_tiles_memory(const char *name, enum gf_file_format file_format,
                                       struct gf_format format, const struct gf_options *options);
/* Returns the bytes of the output that lies there, those of its tiles included; -1: none does. */
int64_t gf_tiles_bytes(const char *name) GF_CHECKED;
/* Whether the folder or the .dzi that lies there has its tiles; any other name of a file has. */
bool gf_tiles_there(const char *name, bool is_folder);
/* Whether an output of that name (NULL: to memory) is a pyramid of such a layout. */
bool gf_tiles_named(const char *name, const struct gf_options *options);
