/* Decodes JPEG on a CUDA device to exactly libjpeg-turbo's pixels. Pictures are decoded in groups:
 * all steps of all pictures of a group take about ten launches. */
#ifndef GF_CUDA_JPEG_DECODER_H
#define GF_CUDA_JPEG_DECODER_H

#include "base/c_linkage.h"
#include "codec/jpeg/jpeg_header.h"
#include "cuda/common/coder.h"

GF_C_BEGIN

struct gf_jpeg_decode_picture {
    const struct gf_jpeg_header *header;
    const unsigned char *data; /* the whole file, in pinned host memory or in device memory */
    size_t size;
    int reduction;      /* 1; 2, 4 or 8: libjpeg-turbo's scaled decoding at 1/2, 1/4 or 1/8 */
    struct gf_view out; /* all rows, in device memory */
    /* Exactly libjpeg-turbo's pixels, and no warning; false: libjpeg-turbo must decode. */
    bool decoded;
    size_t end; /* offset behind the end marker, if decoded */
};

struct gf_jpeg_decode_steps {
    float upload, unstuff, synchronise, decode, dc, pixels;
};

GF_CODER(jpeg_decode)

/* From now on scans are cut into subsequences of subsequence_bits bits: 512, 1024 or 2048; 0: the
 * decoder chooses for each group. */
void gf_jpeg_decoder_cut(struct gf_jpeg_decoder *decoder, unsigned subsequence_bits);

/* The bytes of device memory that a picture needs in a group, without `out`. */
uint64_t gf_jpeg_decoder_bytes(const struct gf_jpeg_header *header, size_t size, int reduction);

GF_C_END

#endif
