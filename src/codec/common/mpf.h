/* The pictures that follow a JPEG in the same file, such as a camera's second view and previews: an
 * index in an APP2 segment lists them. The index is a TIFF structure. (CIPA DC-007, Multi-Picture
 * Format) */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/io/input.h"
#include "codec/io/kinds.h"

enum { GF_MPF_LISTED = 8 };
struct gf_mpf {
    int pictures; /* number of pictures, without the JPEG itself and its previews */
    struct {
        int64_t begin, bytes;         /* begin is 0 if the index does not say it */
    } picture[GF_MPF_LISTED];         /* the first of them */
    int64_t end;                      /* the end of the last picture; 0: unknown */
    uint16_t kinds[GF_PICTURE_KINDS]; /* how many pictures of each kind the index lists */
    int64_t chosen, chosen_bytes;     /* where the chosen picture begins, and its size; 0: none */
};
/* Reads the payload of a JPEG's APP2 segment, from which offsets count. `page` chooses a picture as
 * gf_input_page() does. Returns false if the payload is no such index. */
bool gf_mpf_read(const void *payload, size_t size, int page, struct gf_mpf *mpf);

/* Narrows the input, a JPEG in a regular file or memory, to the picture of its index that
 * gf_input_page() chooses. */
enum gf_status gf_mpf_choose(struct gf_input *input, struct gf_error *error) GF_CHECKED;
