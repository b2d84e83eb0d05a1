/* Whole pictures, to be measured or compared. */
#ifndef GF_BENCH_READ_PICTURE_H
#define GF_BENCH_READ_PICTURE_H

#include <stdbool.h>

#include "gpufilter/image.h"
#include "gpufilter/pipeline.h"

/* Reads a picture from a file, or "-"; turns it upright if options->autorotate. Fails where it
 * takes more memory than options->memory_bytes, or by default a part of the machine's; `compared`:
 * with what gf_likeness_of() takes for the picture and another one. */
enum gf_status gf_read_picture(const char *path, const struct gf_options *options, bool compared,
                               struct gf_image *picture, struct gf_error *error) GF_CHECKED;

#endif
