/* Encodes pictures that lie in device memory as the scans of baseline JPEG files: exactly the bytes
 * that libjpeg-turbo writes for the same options. All pictures of a group, whatever their sizes,
 * share the launches. (cuda/jpeg/encoder.cu) */
#ifndef GF_CUDA_JPEG_ENCODER_H
#define GF_CUDA_JPEG_ENCODER_H

#include "base/c_linkage.h"
#include "cuda/common/coder.h"
#include "gpufilter/options.h"

GF_C_BEGIN

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

/* The kernels, and the copies of the scans. */
struct gf_jpeg_encode_steps {
    float encode, download;
};

GF_CODER(jpeg_encode)

/* How much device memory a picture of a group takes, the picture itself not counted. */
uint64_t gf_jpeg_encoder_bytes(struct gf_format format, enum gf_subsampling subsampling);

GF_C_END

#endif
