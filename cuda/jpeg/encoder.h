/* Encodes pictures in device memory as the scans of baseline JPEG files: exactly the bytes that
 * libjpeg-turbo writes for the same options. All pictures of a group share the launches, whatever
 * their sizes are. (cuda/jpeg/encoder.cu) */
#pragma once

#include "base/c_linkage.h"
#include "cuda/common/coder.h"
#include "gpufilter/options.h"

GF_C_BEGIN

struct gf_jpeg_encode_picture {
    struct gf_view in; /* RGB or gray of 8 bits, the whole picture, in device memory */
    int quality;       /* 1..GF_QUALITY_MAX */
    enum gf_subsampling subsampling; /* the subsampling for RGB */
    /* The result: the entropy-coded bytes, stuffed and padded, without any marker. They are in
     * pinned host memory, which the encoder owns, until its next run; if this run and the next one
     * have several pictures, until the run after that. */
    const unsigned char *scan;
    size_t size;
    bool encoded; /* false: there is not enough memory, and libjpeg-turbo must encode the picture */
};

/* The times of the kernels of a run, and of the copies of the scans. */
struct gf_jpeg_encode_steps {
    float encode, download;
};

GF_CODER(jpeg_encode)

/* Returns the bytes of device memory that a picture of a group needs, without the picture
 * itself. */
uint64_t gf_jpeg_encoder_bytes(struct gf_format format, enum gf_subsampling subsampling);

GF_C_END
