/* Replaces nvJPEG in a build without its header: opening the codec fails. Included by one file. */
#ifndef GF_ENGINE_JPEG_DEVICE_NONE_H
#define GF_ENGINE_JPEG_DEVICE_NONE_H

#include "engine/jpeg_device.h"

#ifdef __cplusplus
extern "C" {
#endif

bool gf_jpeg_device_takes(const struct gf_jpeg_info *info)
{
    (void)info;
    return false;
}

enum gf_status gf_jpeg_device_open(int device, struct gf_jpeg_device **codec,
                                   struct gf_error *error)
{
    (void)device;
    (void)codec;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "this program was built without nvJPEG");
}

void gf_jpeg_device_close(struct gf_jpeg_device *codec)
{
    (void)codec;
}

bool gf_jpeg_device_likely(void)
{
    return false;
}

enum gf_status gf_jpeg_device_engines(struct gf_jpeg_device *codec, int *engines,
                                      struct gf_error *error)
{
    (void)engines;
    return gf_jpeg_device_open(0, &codec, error);
}

enum gf_status gf_jpeg_device_decode(struct gf_jpeg_device *codec, unsigned char *data,
                                     const struct gf_jpeg_info *info, const struct gf_view *out,
                                     struct gf_error *error)
{
    (void)data;
    (void)info;
    (void)out;
    return gf_jpeg_device_open(0, &codec, error);
}

struct gf_jpeg_lease *gf_jpeg_lease_acquire(struct gf_jpeg_device *codec)
{
    (void)codec;
    return NULL;
}

void gf_jpeg_lease_release(struct gf_jpeg_device *codec, struct gf_jpeg_lease *lease)
{
    (void)codec;
    (void)lease;
}

enum gf_status gf_jpeg_device_encode(struct gf_jpeg_device *codec, struct gf_jpeg_lease *lease,
                                     const struct gf_view *in, const struct gf_options *options,
                                     size_t *size, struct gf_error *error)
{
    (void)lease;
    (void)in;
    (void)options;
    (void)size;
    return gf_jpeg_device_open(0, &codec, error);
}

enum gf_status gf_jpeg_device_fetch(struct gf_jpeg_device *codec, struct gf_jpeg_lease *lease,
                                    void *data, size_t size, struct gf_error *error)
{
    (void)lease;
    (void)data;
    (void)size;
    return gf_jpeg_device_open(0, &codec, error);
}

#ifdef __cplusplus
}
#endif
#endif
