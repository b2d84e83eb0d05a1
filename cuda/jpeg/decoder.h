/* Decodes JPEG on a CUDA device, with libjpeg-turbo's own bits. Pictures are decoded in groups: all
 * steps of all pictures of a group take about ten launches. */
#ifndef GF_CUDA_JPEG_DECODER_H
#define GF_CUDA_JPEG_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/c_linkage.h"
#include "codec/jpeg/jpeg_header.h"
#include "gpufilter/status.h"
#include "stage/view.h"

GF_C_BEGIN

/* A decoder has a stream and buffers of its own; one thread at a time uses it. The buffers grow to
 * the largest group, but never beyond `memory_most` bytes of device memory. */
struct gf_jpeg_decoder;

struct gf_jpeg_decode_picture {
    const struct gf_jpeg_header *header;
    const unsigned char *data; /* the whole file, in pinned host memory or in device memory */
    size_t size;
    struct gf_view out; /* all rows, in device memory */
    bool decoded;       /* false: libjpeg-turbo must take this one */
    size_t end;         /* behind the end marker, if it is decoded */
};

enum gf_status gf_jpeg_decoder_create(int device, uint64_t memory_most,
                                      struct gf_jpeg_decoder **decoder,
                                      struct gf_error *error) GF_CHECKED;
void gf_jpeg_decoder_destroy(struct gf_jpeg_decoder *decoder);

/* Announces that about `pictures` pictures will come at once. When memory has to grow, it then
 * grows to what so many pictures need, if they are like those of the present group, up to a
 * limit. */
void gf_jpeg_decoder_expect(struct gf_jpeg_decoder *decoder, int pictures);

/* Decodes the pictures and returns when they are done. A picture with `decoded` has exactly the
 * pixels that libjpeg-turbo makes of the file, and libjpeg-turbo has no warning about its scan. The
 * work is bounded, whatever the files hold. */
enum gf_status gf_jpeg_decoder_run(struct gf_jpeg_decoder *decoder,
                                   struct gf_jpeg_decode_picture *pictures, int count,
                                   struct gf_error *error) GF_CHECKED;

/* How much device memory a picture needs in a group, `out` not counted. */
uint64_t gf_jpeg_decoder_bytes(const struct gf_jpeg_header *header, size_t size);

/* Milliseconds of each step of one group on the device. */
struct gf_jpeg_decode_steps {
    float upload, unstuff, synchronise, decode, dc, pixels;
};

/* From now on each run fills *steps, for which it records a few events more; NULL ends that. Scans
 * are cut into subsequences of that many bits: 512, 1024 or 2048; 0: the decoder chooses for each
 * group. */
void gf_jpeg_decoder_measure(struct gf_jpeg_decoder *decoder, struct gf_jpeg_decode_steps *steps,
                             unsigned subsequence_bits);

GF_C_END
#endif
