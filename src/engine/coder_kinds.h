/* The coders of a device: one interface to the calls of cuda/jpeg, cuda/png and cuda/yuv, for
 * each format that the device decodes or encodes. */
#pragma once

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda/jpeg/decoder.h"
#include "cuda/jpeg/encoder.h"
#include "cuda/png/decoder.h"
#include "cuda/png/encoder.h"
#include "cuda/yuv/decoder.h"
#include "cuda/yuv/encoder.h"

enum gf_coder_kind {
    GF_CODER_JPEG_DECODE,
    GF_CODER_JPEG_ENCODE,
    GF_CODER_PNG_DECODE,
    GF_CODER_PNG_ENCODE,
    GF_CODER_YUV_DECODE,
    GF_CODER_YUV_ENCODE,
    GF_CODER_KINDS
};

enum { GF_CODER_GROUP_MOST = 32 }; /* pictures */

/* A picture for a coder. The coders' headers say which members are input and which are results. */
struct gf_coder_picture {
    enum gf_coder_kind kind;
    union {
        struct gf_jpeg_decode_picture jpeg_decode;
        struct gf_jpeg_encode_picture jpeg_encode;
        struct gf_png_decode_picture png_decode;
        struct gf_png_encode_picture png_encode;
        struct gf_yuv_decode_picture yuv_decode;
        struct gf_yuv_encode_picture yuv_encode;
    };
    /* Results. */
    bool done;                 /* the picture was decoded or encoded; false: the CPU must do it */
    const unsigned char *data; /* the encoder's result: the bytes of the file between its headers
                                * and its end */
    size_t size;
    sem_t *returned; /* gf_coder_picture_return() posts it; NULL: nobody waits */
};

struct gf_coder_calls {
    bool encodes;
    bool keeps; /* if a run and the next one have several pictures, the results of the first stay
                 * until the run after these */
    uint64_t group_bytes; /* the largest size of a group in bytes, unless it is a single picture */
    /* Creates a coder that uses at most `bytes` of the device's memory. Only the calling thread may
     * use it. */
    enum gf_status (*create)(int device, uint64_t bytes, void **coder, struct gf_error *error);
    void (*destroy)(void *coder); /* does nothing with NULL */
    /* Codes a group and returns when it is done. expected: the likely number of pictures that come
     * at the same time. */
    enum gf_status (*run)(void *coder, int expected, struct gf_coder_picture *const *group,
                          int count, struct gf_error *error);
    uint64_t (*bytes)(const struct gf_coder_picture *picture); /* device memory of a picture in a
                                                                * group */
};

extern const struct gf_coder_calls gf_coder_calls[GF_CODER_KINDS];
