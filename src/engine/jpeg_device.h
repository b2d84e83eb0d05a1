/* JPEG decoded and encoded on a CUDA device by nvJPEG, so that only compressed bytes cross PCIe.
 * The library comes with the CUDA Toolkit and is loaded at run time. Decoding is done in groups,
 * for which the callers, each with one picture, are collected: the hardware decoder of a GPU is
 * fast with many and slow with one. (cuda/codec/jpeg.cu) */
#ifndef GF_ENGINE_JPEG_DEVICE_H
#define GF_ENGINE_JPEG_DEVICE_H

#include "codec/jpeg/jpeg_check.h"
#include "gpufilter/pipeline.h"
#include "stage/stage.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gf_jpeg_device;

/* The device's codec, which all callers in the process share, starting in the background. */
enum gf_status gf_jpeg_device_open(int device, struct gf_jpeg_device **codec,
                                   struct gf_error *error) GF_CHECKED;
void gf_jpeg_device_close(struct gf_jpeg_device *codec);
/* Whether it is worth trying: a library, without the cost of starting it. */
bool gf_jpeg_device_likely(void);
/* Waits until it has started, before anything is asked of it: how many pictures its hardware
 * decodes at once, 0 where kernels do it. GF_ERROR_UNAVAILABLE where nvJPEG is not there. */
enum gf_status gf_jpeg_device_engines(struct gf_jpeg_device *codec, int *engines,
                                      struct gf_error *error) GF_CHECKED;

/* What gf_jpeg_check passed, and small enough for nvJPEG. */
bool gf_jpeg_device_takes(const struct gf_jpeg_info *info);
/* Decodes into `out`, RGB or gray of 8 bits in device memory; returns when it is there.
 * Applications' segments are kept from nvJPEG, which is known to die of some: two bytes of them are
 * overwritten. GF_ERROR_INPUT: nvJPEG declines this picture, which says nothing about it. */
enum gf_status gf_jpeg_device_decode(struct gf_jpeg_device *codec, unsigned char *data,
                                     const struct gf_jpeg_info *info, const struct gf_view *out,
                                     struct gf_error *error) GF_CHECKED;

/* A turn, to filter a decoded picture and to encode it. There are few: more threads than that on
 * one device wait for the driver's locks, and for one another, longer than for their kernels. */
struct gf_jpeg_lease;
struct gf_jpeg_lease *gf_jpeg_device_enter(struct gf_jpeg_device *codec);
void gf_jpeg_device_leave(struct gf_jpeg_device *codec, struct gf_jpeg_lease *turn);

/* A baseline JPEG of `in`, RGB or gray of 8 bits in device memory, without metadata: how many bytes
 * it has, which fetch() brings to host memory. */
enum gf_status gf_jpeg_device_encode(struct gf_jpeg_device *codec, struct gf_jpeg_lease *turn,
                                     const struct gf_view *in, const struct gf_options *options,
                                     size_t *size, struct gf_error *error) GF_CHECKED;
enum gf_status gf_jpeg_device_fetch(struct gf_jpeg_device *codec, struct gf_jpeg_lease *turn,
                                    void *data, size_t size, struct gf_error *error) GF_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
