/* Frames without headers, as --raw describes them. */
#pragma once

#include <stdbool.h>

#include "gpufilter/options.h"
#include "gpufilter/status.h"

struct gf_raw_frames {
    char text[24]; /* the word of the format, as ffmpeg's -pix_fmt takes it */
    int width, height;
    unsigned frames, seconds; /* so many frames in so many seconds */
    /* Planes have the parameters of a Y4M, such as "C420mpeg2". Pixels of RGB have none, and so
     * many channels and bits. */
    char planes[32];
    int channels, bits;
};

/* Reads "1920x1080:yuv420p:30000/1001"; without a rate it is 25. */
enum gf_status gf_raw_frames_parse(const char *text, struct gf_raw_frames *raw,
                                   struct gf_error *error) GF_CHECKED;
/* Returns the format of files that have the same samples behind a header. */
enum gf_file_format gf_raw_frames_file(const struct gf_raw_frames *raw);
/* Whether the name of an output says that it is a file of raw frames. */
bool gf_raw_frames_named(const char *path);
