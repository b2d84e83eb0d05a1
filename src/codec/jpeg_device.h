/* JPEG decoded and encoded on a CUDA device by nvJPEG, so that only compressed bytes cross PCIe. The library comes with
 * the CUDA Toolkit and is loaded at run time. Decoding is done in groups, for which the callers, each with one picture,
 * are collected: the hardware decoder of a GPU is fast with many and slow with one. (cuda/jpeg.cu) */
#ifndef GF_JPEG_DEVICE_H
#define GF_JPEG_DEVICE_H

#include <stdlib.h>

#include "gpufilter/pipeline.h"
#include "jpeg_check.h"
#include "stage.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gf_jpeg_device;

/* The device's codec, which all callers in the process share, starting in the background: errors come from the calls
 * below, GF_ERROR_UNAVAILABLE where nvJPEG is not there. */
enum gf_status gf_jpeg_device_open(int device, struct gf_jpeg_device **codec, struct gf_error *error) GF_CHECKED;
void gf_jpeg_device_close(struct gf_jpeg_device *codec);

/* What gf_jpeg_check passed, and small enough for nvJPEG. */
bool gf_jpeg_device_takes(const struct gf_jpeg_nature *nature);
/* Decodes into `out`, RGB or gray of 8 bits in device memory; returns when it is there. Applications' segments are kept
 * from nvJPEG, which is known to die of some: two bytes of them are overwritten. GF_ERROR_INPUT: nvJPEG declines this
 * picture, which says nothing about it. */
enum gf_status gf_jpeg_device_decode(struct gf_jpeg_device *codec, unsigned char *data,
                                     const struct gf_jpeg_nature *nature, const struct gf_view *out,
                                     struct gf_error *error) GF_CHECKED;

/* Compressed bytes, in a buffer that grows and is used again; data is freed by whoever has it. */
struct gf_jpeg_bytes {
    unsigned char *data;
    size_t size, capacity;
};
/* Sets the size; what was there is lost. False when out of memory. */
static inline bool gf_jpeg_bytes_resize(struct gf_jpeg_bytes *bytes, size_t size)
{
    bytes->size = size;
    if (bytes->capacity >= size)
        return true;
    free(bytes->data);
    bytes->data = (unsigned char *)malloc(size);
    bytes->capacity = bytes->data ? size : 0;
    return bytes->data != NULL;
}

/* A baseline JPEG of `in`, RGB or gray of 8 bits in device memory, without metadata. */
enum gf_status gf_jpeg_device_encode(struct gf_jpeg_device *codec, const struct gf_view *in,
                                     const struct gf_options *options, struct gf_jpeg_bytes *out,
                                     struct gf_error *error) GF_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
