/* A sink for formats whose library encodes a picture only as a whole: the sink collects the rows
 * and encodes after the last one. */
#pragma once

#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/output.h"
#include "gpufilter/options.h"

struct gf_whole_sink;

/* The functions and limits of a format. */
struct gf_whole_encoder {
    const char *name; /* the format's name, such as "JPEG XL" */
    int side_most;    /* the longest side in pixels */
    /* Writes the whole file to the output. */
    enum gf_status (*encode)(struct gf_whole_sink *sink, struct gf_error *error);
};

struct gf_whole_sink {
    struct gf_sink base;
    const struct gf_whole_encoder *encoder;
    struct gf_output *output;
    struct gf_options options;
    struct gf_metadata metadata;
    struct gf_format rows; /* the format of the rows that write() gets */
    /* The pixel format that the library gets: 8 bits or RGB if the file format has no 16 bits or
     * gray. */
    struct gf_format format;
    unsigned char *pixels; /* the picture in `format`, rows without gaps */
    int row;
};

/* Opens the sink. `format` is the format of the rows that will be written, and `in_file` the format
 * of the pixels for the library. The metadata is copied. Returns GF_ERROR_UNFIT if a side is too
 * long. */
enum gf_status gf_whole_sink_open(const struct gf_whole_encoder *encoder, struct gf_output *output,
                                  struct gf_format format, struct gf_format in_file,
                                  const struct gf_metadata *metadata,
                                  const struct gf_options *options, struct gf_sink **sink,
                                  struct gf_error *error) GF_CHECKED;
/* Returns the memory of the sink. library_bytes: the bytes that the library allocates for each
 * pixel. */
struct gf_codec_memory gf_whole_sink_memory(struct gf_format in_file, double library_bytes);
