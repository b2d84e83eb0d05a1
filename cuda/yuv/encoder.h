/* Converts pictures in device memory to frames of YCbCr, to the bits of gf_yuv_writer_row(). */
#pragma once

#include "base/c_linkage.h"
#include "cuda/common/coder.h"
#include "pixel/yuv/yuv.h"

GF_C_BEGIN

struct gf_yuv_encode_picture {
    const struct gf_yuv *yuv;
    struct gf_view in; /* the whole picture in device memory: 1 to 4 channels, 8 or 16 bits; alpha
                        * is left out */
    /* Results. The frame is in pinned host memory of the encoder until its next run. */
    const unsigned char *frame;
    size_t size;
    bool encoded; /* false: memory does not suffice, and the CPU must convert */
};

struct gf_yuv_encode_steps {
    float convert, download;
};

GF_CODER(yuv_encode)

GF_C_END
