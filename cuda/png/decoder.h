/* Decodes marked PNGs, whose stripes do not depend on each other, on a CUDA device. Pictures are
 * decoded in groups: all stripes of all pictures of a group are unpacked side by side. */
#ifndef GF_CUDA_PNG_DECODER_H
#define GF_CUDA_PNG_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/c_linkage.h"
#include "codec/png/read/png_marked.h"
#include "gpufilter/status.h"
#include "stage/view.h"

GF_C_BEGIN

/* A decoder belongs to one thread. It takes at most memory_most bytes of device memory. */
struct gf_png_decoder;

struct gf_png_decode_picture {
    const struct gf_png_marked *header;
    const unsigned char *data; /* the whole file, in pinned host memory */
    size_t size;
    struct gf_view out; /* all rows, in device memory; addresses and pitch multiples of 16 */
    bool decoded;       /* false: the CPU must take this one */
};

enum gf_status gf_png_decoder_create(int device, uint64_t memory_most,
                                     struct gf_png_decoder **decoder,
                                     struct gf_error *error) GF_CHECKED;
void gf_png_decoder_destroy(struct gf_png_decoder *decoder);

/* As gf_png_encoder_expect(). */
void gf_png_decoder_expect(struct gf_png_decoder *decoder, int pictures);

/* Decodes the pictures and returns when they are done. A picture with `decoded` has the pixels that
 * the CPU makes of the file without a warning, and the right checksum. The work is bounded,
 * whatever the files hold. */
enum gf_status gf_png_decoder_run(struct gf_png_decoder *decoder,
                                  struct gf_png_decode_picture *pictures, int count,
                                  struct gf_error *error) GF_CHECKED;

/* Milliseconds of the last run, by the device's clock. */
struct gf_png_decode_steps {
    float upload, inflate, unfilter; /* unfilter: with the rows' checksums */
};

/* From the next run on the decoder writes the times of each run to *steps, until it is given NULL.
 */
void gf_png_decoder_measure(struct gf_png_decoder *decoder, struct gf_png_decode_steps *steps);

/* How much device memory a picture needs in a group, `out` not counted. */
uint64_t gf_png_decoder_bytes(const struct gf_png_marked *header, size_t size);

GF_C_END
#endif
