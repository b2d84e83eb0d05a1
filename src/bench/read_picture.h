/* Reads whole pictures for measurements and comparisons. */
#pragma once

#include <stdbool.h>

#include "gpufilter/image.h"
#include "gpufilter/pipeline.h"

/* Reads a picture from a file, or "-". Turns it upright if options->autorotate is set. Fails if the
 * picture takes more memory than options->memory_bytes or, by default, a part of the machine's
 * memory. With `compared` it also counts the memory of another picture and of gf_likeness_of(). */
enum gf_status gf_read_picture(const char *path, const struct gf_options *options, bool compared,
                               struct gf_image *picture, struct gf_error *error) GF_CHECKED;
