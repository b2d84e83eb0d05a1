/* What every picture must keep to: its largest side and the pixel formats that there are. */
#ifndef GF_BASE_IMAGE_H
#define GF_BASE_IMAGE_H

#include "gpufilter/image.h"

enum { GF_SIDE_MAX = 1 << 24 }; /* pixels: a row of that length still fits in memory */
/* GF_ERROR_USAGE where the format is not supported; the message begins with `name`. */
enum gf_status gf_format_check(struct gf_format format, const char *name,
                               struct gf_error *error) GF_CHECKED;

#endif
