/* Encodes the tiles of a pyramid on the device, from a picture in its memory. */
#pragma once

#include "codec/common/rows/source.h"
#include "engine/device_coders.h"
#include "engine/engine.h"

/* Whether the device makes the levels and encodes the tiles of the sink's pyramid. */
bool gf_device_encodes_pyramid(const struct gf_sink *sink);
/* Makes all levels of the image, which is in device memory, and gives the coded tiles to the sink.
 * Takes memory of the pool for the levels: a third of the image. */
enum gf_status gf_device_encode_pyramid(struct gf_device_coders *coders,
                                        const struct gf_image *image, struct gf_sink *sink,
                                        struct gf_buffer_pool *buffers,
                                        struct gf_error *error) GF_CHECKED;
