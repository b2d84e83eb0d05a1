/* Encodes pictures that lie in device memory as the scans of baseline JPEG files: exactly the bytes
 * that libjpeg-turbo writes for the same options. All pictures of a group, whatever their sizes,
 * share the launches. (cuda/jpeg/encoder.cu) */
#ifndef GF_CUDA_JPEG_ENCODER_H
#define GF_CUDA_JPEG_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/c_linkage.h"
#include "gpufilter/options.h"
#include "gpufilter/status.h"
#include "stage/view.h"

GF_C_BEGIN

struct gf_jpeg_encoder;

struct gf_jpeg_encode_picture {
    struct gf_view in; /* RGB or gray of 8 bits, the whole picture, in device memory */
    int quality;       /* 1..GF_QUALITY_MAX */
    enum gf_subsampling subsampling; /* of RGB */
    /* Results: the entropy-coded bytes, stuffed and padded, without any marker. They lie in pinned
     * host memory of the encoder until it runs again. */
    const unsigned char *scan;
    size_t size;
    bool encoded; /* false: the encoder's memory does not suffice, libjpeg-turbo must encode it */
};

/* An encoder belongs to one thread. It takes at most memory_most bytes of device memory, and less
 * than 2 MB for tables. */
enum gf_status gf_jpeg_encoder_create(int device, uint64_t memory_most,
                                      struct gf_jpeg_encoder **encoder,
                                      struct gf_error *error) GF_CHECKED;
void gf_jpeg_encoder_destroy(struct gf_jpeg_encoder *encoder);

/* As gf_jpeg_decoder_expect(). */
void gf_jpeg_encoder_expect(struct gf_jpeg_encoder *encoder, int pictures);

/* Encodes the group and returns when the bytes are there. All work that writes the pictures must
 * have ended before the call. */
enum gf_status gf_jpeg_encoder_run(struct gf_jpeg_encoder *encoder,
                                   struct gf_jpeg_encode_picture *pictures, int count,
                                   struct gf_error *error) GF_CHECKED;

/* Milliseconds of the last run on the device: the kernels, and the copies of the scans. */
struct gf_jpeg_encode_steps {
    float encode, download;
};

/* From now on each run fills *steps, for which it records a few events more; NULL ends that. */
void gf_jpeg_encoder_measure(struct gf_jpeg_encoder *encoder, struct gf_jpeg_encode_steps *steps);

/* How much device memory a picture of a group takes, the picture itself not counted. */
uint64_t gf_jpeg_encoder_bytes(struct gf_format format, enum gf_subsampling subsampling);

GF_C_END
#endif
