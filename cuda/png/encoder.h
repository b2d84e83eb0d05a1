/* Encodes pictures that lie in device memory as the IDAT chunks of PNG files: the very bytes that
 * the CPU writes at level 1. All pictures of a group, whatever their sizes and formats, share the
 * launches. */
#ifndef GF_CUDA_PNG_ENCODER_H
#define GF_CUDA_PNG_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/status.h"
#include "stage/view.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gf_png_encoder;

struct gf_png_encode_picture {
    struct gf_view in; /* 1 to 4 channels, 8 or 16 bits, the whole picture, in device memory */
    /* NULL, or what run() calls for the only picture of a group, if it is large: with its chunks'
     * bytes, one part behind the other, while the next are encoded. */
    void (*arrived)(void *context, const unsigned char *part, size_t size);
    void *context;
    /* Results: whole chunks, one behind the other, with the zlib stream's head and its checksum.
     * They lie in pinned host memory of the encoder until it runs again. */
    const unsigned char *chunks;
    size_t size;
    bool encoded; /* false: the encoder's memory does not suffice, the CPU must encode it */
};

/* An encoder belongs to one thread. It takes at most memory_most bytes of device memory, and less
 * than 2 MB for tables. */
enum gf_status gf_png_encoder_create(int device, uint64_t memory_most,
                                     struct gf_png_encoder **encoder,
                                     struct gf_error *error) GF_CHECKED;
void gf_png_encoder_destroy(struct gf_png_encoder *encoder);

/* As many pictures are likely to come at once: memory that has to grow grows to what they need if
 * they are like those that are there, as far as that is not too much. */
void gf_png_encoder_expect(struct gf_png_encoder *encoder, int pictures);

/* Encodes the group and returns when the bytes are there. The pictures must be complete when it is
 * called: what writes them must have ended. */
enum gf_status gf_png_encoder_run(struct gf_png_encoder *encoder,
                                  struct gf_png_encode_picture *pictures, int count,
                                  struct gf_error *error) GF_CHECKED;

/* Milliseconds of the last run on the device: the kernels, and what the copies of the chunks took
 * beyond them. */
struct gf_png_encode_steps {
    float encode, download;
};

/* From now on each run fills *steps, which takes a few events more; NULL ends that. */
void gf_png_encoder_measure(struct gf_png_encoder *encoder, struct gf_png_encode_steps *steps);

/* Whether pictures of that format are encoded at all. */
bool gf_png_encoder_takes(struct gf_format format);
/* The device memory that a picture of a group takes, the picture itself not counted. */
uint64_t gf_png_encoder_bytes(struct gf_format format);

#ifdef __cplusplus
}
#endif
#endif
