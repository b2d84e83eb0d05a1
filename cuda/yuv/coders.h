/* The conversions of frames of YCbCr on a CUDA device. */
#pragma once

#include "base/host_device.h"
#include "cuda/common/coder.h"
#include "pixel/yuv/yuv.h"

/* Converts frames of YCbCr to gray or RGB on a CUDA device, to the bits of gf_yuv_reader_row(). */

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

/* Converts pictures in device memory to frames of YCbCr, with the same bits as
 * gf_yuv_writer_row(). */

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
