/* Tells the raw photographs of cameras from other TIFFs, which begin with the same bytes. */
#pragma once

#include <stdbool.h>

#include "codec/common/ifd.h"

enum { GF_SENSORS_MOST = 17 };

/* Whether a file with the first bytes of a TIFF is a camera's raw photograph: it has a version of
 * DNG, the mark of Canon or Phase One, or a directory of samples of a sensor. The input is a
 * regular file or memory. */
bool gf_is_camera_raw(struct gf_input *input);
/* Lists the directories of samples of a sensor, and returns their number. `first` is the offset of
 * the first directory. */
size_t gf_sensor_directories(const struct gf_ifd_reader *reader, uint64_t first,
                             uint64_t directory[GF_SENSORS_MOST]);
