/* Whole pictures, to be measured or compared. */
#ifndef GF_BENCH_READ_PICTURE_H
#define GF_BENCH_READ_PICTURE_H

#include "gpufilter/image.h"
#include "gpufilter/pipeline.h"

/* Reads a picture from a file, or "-"; turns it upright if options->autorotate. */
enum gf_status gf_read_picture(const char *path, const struct gf_options *options,
                               struct gf_image *picture, struct gf_error *error) GF_CHECKED;

#endif
