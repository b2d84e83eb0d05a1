/* Decodes and encodes JPEG on a CUDA device by nvJPEG, so that only compressed bytes cross PCIe.
 * The library comes with the CUDA Toolkit and is loaded at run time. The codec collects the
 * pictures of several callers and decodes them as a group, because a GPU's hardware decoder is fast
 * with many pictures and slow with one. (cuda/codec/jpeg.cu) */
#ifndef GF_ENGINE_JPEG_DEVICE_H
#define GF_ENGINE_JPEG_DEVICE_H

#include "codec/jpeg/jpeg_check.h"
#include "gpufilter/pipeline.h"
#include "stage/stage.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gf_jpeg_device;

/* Starts the device's codec in the background; all callers of the process share it. */
enum gf_status gf_jpeg_device_open(int device, struct gf_jpeg_device **codec,
                                   struct gf_error *error) GF_CHECKED;
void gf_jpeg_device_close(struct gf_jpeg_device *codec);
/* Whether nvJPEG's library is there; cheap, because it does not start it. */
bool gf_jpeg_device_likely(void);
/* Waits until the codec has started; the calls below come after it. *engines: how many pictures its
 * hardware decodes at once, 0 where kernels decode. GF_ERROR_UNAVAILABLE without nvJPEG. */
enum gf_status gf_jpeg_device_engines(struct gf_jpeg_device *codec, int *engines,
                                      struct gf_error *error) GF_CHECKED;

/* Whether nvJPEG takes a picture that gf_jpeg_check() has passed: it may be too large. */
bool gf_jpeg_device_takes(const struct gf_jpeg_info *info);
/* Decodes into `out`, RGB or gray of 8 bits in device memory, and returns when the picture is
 * there. Two bytes of each application segment are overwritten, because nvJPEG is known to crash on
 * some. GF_ERROR_INPUT: nvJPEG declines the picture, which may be sound all the same. */
enum gf_status gf_jpeg_device_decode(struct gf_jpeg_device *codec, unsigned char *data,
                                     const struct gf_jpeg_info *info, const struct gf_view *out,
                                     struct gf_error *error) GF_CHECKED;

/* The right to filter a decoded picture on the device and to encode it. A device has few leases:
 * with more threads at work they would wait for the driver's locks longer than for their kernels.
 */
struct gf_jpeg_lease;
struct gf_jpeg_lease *gf_jpeg_lease_acquire(struct gf_jpeg_device *codec);
void gf_jpeg_lease_release(struct gf_jpeg_device *codec, struct gf_jpeg_lease *lease);

/* Encodes `in`, RGB or gray of 8 bits in device memory, as a baseline JPEG without metadata of
 * *size bytes, which gf_jpeg_device_fetch() copies to host memory. */
enum gf_status gf_jpeg_device_encode(struct gf_jpeg_device *codec, struct gf_jpeg_lease *lease,
                                     const struct gf_view *in, const struct gf_options *options,
                                     size_t *size, struct gf_error *error) GF_CHECKED;
enum gf_status gf_jpeg_device_fetch(struct gf_jpeg_device *codec, struct gf_jpeg_lease *lease,
                                    void *data, size_t size, struct gf_error *error) GF_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
