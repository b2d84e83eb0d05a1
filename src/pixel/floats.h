/* How the samples of a picture become floating-point numbers, on the host and on a device. */
#pragma once

#include "base/host_device.h"
#include "gpufilter/image.h"

GF_C_BEGIN

struct gf_float_form {
    enum gf_floats layout;
    int channels; /* numbers of a pixel: as many as the picture's channels, or 3 of a gray one */
    float mean[4], deviation[4];
};

/* Checks gf_image_to_floats()'s arguments for pictures of that format, and makes *form of them. */
enum gf_status gf_float_form_make(struct gf_format format, enum gf_floats layout, int channels,
                                  const float *mean, const float *deviation,
                                  struct gf_float_form *form, struct gf_error *error) GF_CHECKED;

GF_C_END
