/* Encodes pictures in device memory as the scans of baseline JPEG files: exactly the bytes that
 * libjpeg-turbo writes for the same options. All pictures of a group, whatever their sizes are,
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
    enum gf_subsampling subsampling; /* for RGB */
    /* Results: the entropy-coded bytes, stuffed and padded, without any marker. They are in pinned
     * host memory of the encoder until its next run. */
    const unsigned char *scan;
    size_t size;
    bool encoded; /* false: memory does not suffice, and libjpeg-turbo must encode */
};

/* Times of a run: of the kernels, and of the copies of the scans. */
struct gf_jpeg_encode_steps {
    float encode, download;
};

GF_CODER(jpeg_encode)

/* The bytes of device memory that a picture of a group needs, without the picture itself. */
uint64_t gf_jpeg_encoder_bytes(struct gf_format format, enum gf_subsampling subsampling);

GF_C_END

#endif
