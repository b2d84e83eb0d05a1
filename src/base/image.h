/* The limits of a picture. */
#ifndef GF_BASE_IMAGE_H
#define GF_BASE_IMAGE_H

#include "gpufilter/image.h"

enum { GF_SIDE_MAX = 1 << 24 }; /* pixels: a row of it still fits in memory */
/* Of a caller's picture; `name` stands first in the message. */
enum gf_status gf_format_check(struct gf_format format, const char *name,
                               struct gf_error *error) GF_CHECKED;

#endif
