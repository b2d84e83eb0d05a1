/* Decodes marked PNGs (src/codec/png/README.md), whose stripes are independent, on a CUDA device.
 * Pictures are decoded in groups: all stripes of all pictures of a group are decompressed at the
 * same time. */
#pragma once

#include "base/c_linkage.h"
#include "codec/png/read/png_marked.h"
#include "cuda/common/coder.h"

GF_C_BEGIN

struct gf_png_decode_picture {
    const struct gf_png_marked *header;
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
uint64_t gf_png_decoder_bytes(const struct gf_png_marked *header, size_t size);

GF_C_END
