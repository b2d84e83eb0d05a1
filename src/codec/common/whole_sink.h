/* A sink of a format whose library encodes a picture only as a whole: it collects the rows and
 * encodes behind the last one. */
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
    struct gf_format rows; /* that come */
    struct gf_format
        format; /* that the library takes: of 8 bits where those have 16, RGB where they are gray */
    unsigned char *pixels; /* rows without gaps, in that format */
    int row;
};

/* `format` is that of the rows, `in_file` what the library takes. The metadata is copied.
 * GF_ERROR_UNFIT for sides that are too long. */
enum gf_status gf_whole_sink_open(const struct gf_whole_encoder *encoder, struct gf_output *output,
                                  struct gf_format format, struct gf_format in_file,
                                  const struct gf_metadata *metadata,
                                  const struct gf_options *options, struct gf_sink **sink,
                                  struct gf_error *error) GF_CHECKED;
/* library_bytes: what the library itself takes for a pixel. */
struct gf_codec_memory gf_whole_sink_memory(struct gf_format in_file, double library_bytes);

#endif
