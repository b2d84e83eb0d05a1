/* Converts frames of YCbCr to gray or RGB on a CUDA device, to the bits of gf_yuv_reader_row(). */
#pragma once

#include "base/c_linkage.h"
#include "cuda/common/coder.h"
#include "pixel/yuv/yuv.h"

GF_C_BEGIN

struct gf_yuv_decode_picture {
    const struct gf_yuv *yuv;
    const unsigned char *data; /* the frame, which should be in pinned host memory */
    struct gf_view out; /* all rows, in device memory; address and pitch are multiples of 16 */
    bool decoded;       /* false: memory does not suffice, and the CPU must convert */
};

struct gf_yuv_decode_steps {
    float upload, convert;
};

GF_CODER(yuv_decode)

GF_C_END
