/* The functions by which each format's folder opens and creates files, as formats.def lists them.
 * formats.c makes a table of them; only codec.c and sinks.c call them. */
#pragma once

#include "base/process/library.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "gpufilter/image.h"
#include "gpufilter/options.h"

typedef enum gf_status gf_source_opener(struct gf_input *input, const struct gf_options *options,
                                        struct gf_source **source, struct gf_error *error);
/* The function opens a sink, and writes or copies the metadata of the order before it returns. */
typedef enum gf_status gf_sink_opener(const struct gf_sink_order *order, struct gf_sink **sink,
                                      struct gf_error *error);
/* Of a format whose library opens a picture by its name: replaces the path by that of the folder
 * whose files belong to the picture, "" if none do. */
typedef void gf_folder_call(char *path);
typedef struct gf_codec_memory gf_sink_memory_call(struct gf_format format,
                                                   const struct gf_options *options);

#define GF_OPENS(name) gf_source_opener name;
#define GF_CREATES(name) gf_sink_opener name;
#define GF_TAKES_MEMORY(name) gf_sink_memory_call name;
#define GF_LOADS(name) extern struct gf_library name;
#define GF_NAMES(name) gf_folder_call name;
#define GF_BY_LIBRARY(folder, functions) functions
#define GF_FORMAT_READ(id, choice, name, functions, ...) functions
#define GF_FORMAT_READ_WRITE GF_FORMAT_READ
#include "codec/common/formats.def"
