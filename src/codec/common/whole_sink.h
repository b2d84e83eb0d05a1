/* A sink of a format whose library encodes a picture only as a whole: the sink collects the rows
 * and encodes after the last one. */
#ifndef GF_CODEC_COMMON_WHOLE_SINK_H
#define GF_CODEC_COMMON_WHOLE_SINK_H

#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/output.h"
#include "gpufilter/options.h"

struct gf_whole_sink;

/* What a format does. */
struct gf_whole_encoder {
    const char *name; /* "JPEG XL" */
    int side_most;    /* pixels */
    /* Writes the whole file to the output. */
    enum gf_status (*encode)(struct gf_whole_sink *sink, struct gf_error *error);
};

struct gf_whole_sink {
    struct gf_sink base;
    const struct gf_whole_encoder *encoder;
    struct gf_output *output;
    struct gf_options options;
    struct gf_metadata metadata;
    struct gf_format rows;   /* that come */
    struct gf_format format; /* the format that the library takes: 8 bits where the rows have 16,
                              * RGB where they are gray */
    unsigned char *pixels;   /* rows without gaps, in that format */
    int row;
};

/* Opens the sink. `format` is the rows' format, `in_file` the library's. The metadata is copied.
 * GF_ERROR_UNFIT for sides that are too long. */
enum gf_status gf_whole_sink_open(const struct gf_whole_encoder *encoder, struct gf_output *output,
                                  struct gf_format format, struct gf_format in_file,
                                  const struct gf_metadata *metadata,
                                  const struct gf_options *options, struct gf_sink **sink,
                                  struct gf_error *error) GF_CHECKED;
/* The memory of the sink. library_bytes: the bytes that the library itself takes for a pixel. */
struct gf_codec_memory gf_whole_sink_memory(struct gf_format in_file, double library_bytes);

#endif
