/* Decodes marked PNGs, whose stripes do not depend on each other, on a CUDA device. Pictures are
 * decoded in groups: all stripes of all pictures of a group are unpacked side by side. */
#ifndef GF_CUDA_PNG_DECODER_H
#define GF_CUDA_PNG_DECODER_H

#include "base/c_linkage.h"
#include "codec/png/read/png_marked.h"
#include "cuda/common/coder.h"

GF_C_BEGIN

struct gf_png_decode_picture {
    const struct gf_png_marked *header;
    const unsigned char *data; /* the whole file, in pinned host memory */
    size_t size;
    struct gf_view out; /* all rows, in device memory; addresses and pitch multiples of 16 */
    bool decoded; /* it has the pixels that the CPU makes of the file without a warning, and the
                   * right checksum; false: the CPU must take this one */
};

struct gf_png_decode_steps {
    float upload, inflate, unfilter; /* unfilter: with the rows' checksums */
};

GF_CODER(png_decode)

/* How much device memory a picture needs in a group, `out` not counted. */
uint64_t gf_png_decoder_bytes(const struct gf_png_marked *header, size_t size);

GF_C_END

#endif
