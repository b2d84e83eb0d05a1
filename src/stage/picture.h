/* A second picture that a filter reads beside its input, such as the picture that `overlay` lays
 * over the input. Its contents never change, so that all stages, threads and devices share it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gpufilter/image.h"

/* The largest number of second pictures that one stage reads. */
enum { GF_STAGE_PICTURES_MAX = 8 };

struct gf_picture {
    struct gf_image image;
    bool brief;  /* it is made for one main picture alone */
    bool local;  /* it depends on files of this machine that the chain does not name */
    uint64_t id; /* a number that identifies the picture in this process */
    char *notes; /* lines of warnings from the picture's reader that have not been reported; NULL:
                  * none */
};

static inline uint64_t gf_picture_bytes(const struct gf_picture *picture)
{
    return (uint64_t)picture->image.pitch * (uint64_t)picture->image.format.height;
}

/* Reads a picture file, turned upright by its EXIF orientation and scaled by `scale`, with the
 * file's 8 or 16 bits. The caller keeps the descriptor; `name` is for messages. The caller frees
 * the image by gf_image_free(), and *notes: lines of warnings, or NULL.
 * (src/pipeline/read_picture.c defines it, since codecs are in a layer below filters) */
enum gf_status gf_picture_read(int descriptor, const char *name, double scale,
                               struct gf_image *image, char **notes,
                               struct gf_error *error) GF_CHECKED;
