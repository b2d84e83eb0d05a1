/* The JPEG codec of a CUDA device (cuda/jpeg), which all pipelines of the process share. A GPU is
 * fast with many pictures at once and slow with one: the codec's threads take the pictures that
 * wait as a group. What it decodes has libjpeg-turbo's pixels, and what it encodes libjpeg-turbo's
 * bytes. */
#ifndef GF_ENGINE_JPEG_DEVICE_H
#define GF_ENGINE_JPEG_DEVICE_H

#include <semaphore.h>

#include "codec/jpeg/jpeg_header.h"
#include "gpufilter/options.h"
#include "gpufilter/status.h"
#include "stage/stage.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gf_jpeg_device;

/* Starts the codec, unless it runs already. The codec may use all bytes of device memory that its
 * users lend it; where they set no limit (0), a quarter of the device's. */
enum gf_status gf_jpeg_device_open(int device, uint64_t bytes, struct gf_jpeg_device **codec,
                                   struct gf_error *error) GF_CHECKED;
void gf_jpeg_device_close(struct gf_jpeg_device *codec, uint64_t bytes); /* those that were lent */

/* Decodes into `out`, RGB or gray of 8 bits in device memory, and returns when the picture is
 * there. *decoded is false where libjpeg-turbo must decode it: the stream may be damaged. The data
 * should be pinned. */
enum gf_status gf_jpeg_device_decode(struct gf_jpeg_device *codec,
                                     const struct gf_jpeg_header *header, const unsigned char *data,
                                     size_t size, const struct gf_view *out, bool *decoded,
                                     struct gf_error *error) GF_CHECKED;

/* The entropy-coded bytes of a picture, between a JPEG's headers and its end marker. They are the
 * codec's, which goes on with other pictures when they have been returned. */
struct gf_jpeg_scan {
    const unsigned char *data;
    size_t size;
    sem_t *returned; /* NULL: there is no scan */
};

/* Encodes `in`, RGB or gray of 8 bits in device memory. GF_ERROR_DEVICE_MEMORY: there is not enough
 * for that picture. */
enum gf_status gf_jpeg_device_encode(struct gf_jpeg_device *codec, const struct gf_view *in,
                                     const struct gf_options *options, struct gf_jpeg_scan *scan,
                                     struct gf_error *error) GF_CHECKED;
void gf_jpeg_scan_return(struct gf_jpeg_scan *scan);

#ifdef __cplusplus
}
#endif
#endif
