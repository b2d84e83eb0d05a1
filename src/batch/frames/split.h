/* Cuts a stream of PNGs, JPEGs, PNMs and PAMs into pictures, without decoding them. */
#pragma once

#include <stdbool.h>

#include "codec/io/input.h"

/* The bytes of a picture, in memory that grows. */
struct gf_split {
    unsigned char *data;
    size_t size, room;
    uint64_t most; /* the most bytes of a picture */
};

/* Whether pictures that begin like this can be cut. */
bool gf_split_takes(const unsigned char *head, size_t size);
/* Reads the next picture. *found is false at the end of the stream. */
enum gf_status gf_split_next(struct gf_input *input, struct gf_split *split, bool *found,
                             struct gf_error *error) GF_CHECKED;
