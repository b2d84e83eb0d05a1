/* A sink for formats whose library encodes a picture only as a whole: the sink collects the rows
 * and encodes after the last one, or after the last one of each frame. */
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
    /* Of animations, NULL if there are none: adds `pixels` as a frame, ends the file after the last
     * one, and frees `animation`, even after a failure. */
    enum gf_status (*add)(struct gf_whole_sink *sink, struct gf_error *error);
    enum gf_status (*end)(struct gf_whole_sink *sink, struct gf_error *error);
    void (*release)(struct gf_whole_sink *sink);
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
    void *animation;     /* the format's own state of an animation; NULL before its first frame */
    bool animated;       /* several frames are written */
    unsigned loops;      /* how many times they are shown; 0: forever */
    int frames;          /* those that were added */
    double shown;        /* how long they are shown, in seconds */
    uint32_t per_second; /* the unit of time of the first frame, or a part of it, for those that
                          * count in it */
};

/* Opens the sink. `format` is the format of the rows that will be written, and `in_file` the format
 * of the pixels for the library. The metadata is copied. Returns GF_ERROR_UNFIT if a side is too
 * long. */
enum gf_status gf_whole_sink_open(const struct gf_whole_encoder *encoder,
                                  const struct gf_sink_order *order, struct gf_format in_file,
                                  struct gf_sink **sink, struct gf_error *error) GF_CHECKED;
/* Returns the memory of the sink. library_bytes: the bytes that the library allocates for each
 * pixel. */
struct gf_codec_memory gf_whole_sink_memory(struct gf_format in_file, double library_bytes);

/* Returns how long the frame that is added is shown, in ticks of which a second has `per_second`.
 * It must be called once for each frame. What is rounded is the time since the first frame. */
uint32_t gf_whole_sink_ticks(struct gf_whole_sink *sink, uint32_t per_second);
/* Fails if the frames that were coded take too much memory beside what the sink has declared. */
enum gf_status gf_whole_sink_check(const struct gf_whole_sink *sink, uint64_t coded,
                                   struct gf_error *error) GF_CHECKED;
