/* Encodes pictures that lie in device memory as the IDAT chunks of PNG files: exactly the bytes
 * that the CPU writes at level 1. All pictures of a group, whatever their sizes and formats, share
 * the launches. */
#ifndef GF_CUDA_PNG_ENCODER_H
#define GF_CUDA_PNG_ENCODER_H

#include "base/c_linkage.h"
#include "cuda/common/coder.h"

GF_C_BEGIN

struct gf_png_encode_picture {
    struct gf_view in; /* 1 to 4 channels, 8 or 16 bits, the whole picture, in device memory */
    /* NULL, or a function that run() calls for the only picture of a group, if it is large: with
     * the bytes of its chunks, one part after the other, while the next parts are being encoded. */
    void (*arrived)(void *context, const unsigned char *part, size_t size);
    void *context;
    /* Results: whole chunks, one behind the other, with the zlib stream's head and its checksum.
     * They lie in pinned host memory of the encoder until it runs again. */
    const unsigned char *chunks;
    size_t size;
    bool encoded; /* false: the encoder's memory does not suffice, the CPU must encode it */
};

/* The time of the kernels, and the further time until the chunks were copied. */
struct gf_png_encode_steps {
    float encode, download;
};

GF_CODER(png_encode)

/* Whether the encoder takes pictures of that format. */
bool gf_png_encoder_takes(struct gf_format format);
/* How much device memory a picture of a group takes, the picture itself not counted. */
uint64_t gf_png_encoder_bytes(struct gf_format format);

GF_C_END

#endif
