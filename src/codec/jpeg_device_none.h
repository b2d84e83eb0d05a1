/* What stands in for nvJPEG in a build without its header: a codec that is not there. */
#ifndef GF_JPEG_DEVICE_NONE_H
#define GF_JPEG_DEVICE_NONE_H

#include "jpeg_device.h"

#ifdef __cplusplus
extern "C" {
#endif

bool gf_jpeg_device_takes(const struct gf_jpeg_nature *nature)
{
    (void)nature;
    return false;
}

enum gf_status gf_jpeg_device_open(int device, struct gf_jpeg_device **codec, struct gf_error *error)
{
    (void)device;
    (void)codec;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "this program was built without nvJPEG");
}

void gf_jpeg_device_close(struct gf_jpeg_device *codec)
{
    (void)codec;
}

enum gf_status gf_jpeg_device_decode(struct gf_jpeg_device *codec, unsigned char *data,
                                     const struct gf_jpeg_nature *nature, const struct gf_view *out,
                                     struct gf_error *error)
{
    (void)data;
    (void)nature;
    (void)out;
    return gf_jpeg_device_open(0, &codec, error);
}

enum gf_status gf_jpeg_device_encode(struct gf_jpeg_device *codec, const struct gf_view *in,
                                     const struct gf_options *options, struct gf_jpeg_bytes *out,
                                     struct gf_error *error)
{
    (void)in;
    (void)options;
    (void)out;
    return gf_jpeg_device_open(0, &codec, error);
}

#ifdef __cplusplus
}
#endif
#endif
