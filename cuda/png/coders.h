/* The decoder and the encoder of PNGs on a CUDA device. */
#pragma once

#include "base/host_device.h"
#include "codec/png/png_file.h"
#include "cuda/common/coder.h"

/* Decodes marked PNGs (src/codec/png/README.md), whose stripes are independent, on a CUDA device.
 * Pictures are decoded in groups: all stripes of all pictures of a group are decompressed at the
 * same time. */

GF_C_BEGIN

struct gf_png_decode_picture {
    const struct gf_png_file *header;
    const unsigned char *data; /* the whole file, in pinned host memory */
    size_t size;
    struct gf_view out; /* all rows, in device memory; address and pitch are multiples of 16 */
    /* The pixels equal the CPU's, the checksum is right and there is no warning; false: the CPU
     * must decode. */
    bool decoded;
};

struct gf_png_decode_steps {
    float upload, inflate, unfilter; /* unfilter includes the rows' checksums */
};

GF_CODER(png_decode)

/* Returns the bytes of device memory that a picture needs in a group, without `out`. */
uint64_t gf_png_decoder_bytes(const struct gf_png_file *header, size_t size);

/* Encodes pictures in device memory as the IDAT chunks of PNG files: exactly the bytes that the CPU
 * writes at level 1. All pictures of a group, whatever their sizes and formats, share the
 * launches. */

struct gf_png_encode_picture {
    struct gf_view in; /* the whole picture in device memory: 1 to 4 channels, 8 or 16 bits */
    /* NULL, or a function that run() calls if a group has only one picture, which is large: with
     * one part of its chunks' bytes after another, while the next parts are being encoded. */
    void (*arrived)(void *context, const unsigned char *part, size_t size);
    void *context;
    /* Results: consecutive whole chunks, including the zlib stream's head and checksum. They are in
     * pinned host memory of the encoder until its next run. */
    const unsigned char *chunks;
    size_t size;
    bool encoded; /* false: memory does not suffice, and the CPU must encode */
};

/* Times of a run: of the kernels, and from their end to the end of the copy of the chunks. */
struct gf_png_encode_steps {
    float encode, download;
};

GF_CODER(png_encode)

bool gf_png_encoder_takes(struct gf_format format);
/* Returns the bytes of device memory that a picture of a group needs, without the picture
 * itself. */
uint64_t gf_png_encoder_bytes(struct gf_format format);

GF_C_END
