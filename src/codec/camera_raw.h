/* Tells the raw photographs of cameras from other TIFFs, which begin with the same bytes. */
#ifndef GF_CODEC_CAMERA_RAW_H
#define GF_CODEC_CAMERA_RAW_H

#include <stdbool.h>

#include "codec/io/input.h"

/* Whether a file with the first bytes of a TIFF is a camera's raw photograph: it has a version of
 * DNG, Canon's mark, or a directory of samples of a sensor. The input is a regular file or
 * memory. */
bool gf_is_camera_raw(struct gf_input *input);

#endif
