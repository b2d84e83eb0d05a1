/* Decodes HEIC and AVIF on a CUDA device: NVDEC, an engine of the GPU beside its multiprocessors,
 * decodes the frames, and a kernel converts them to RGB, crops and turns them, to the bits of
 * src/codec/heif and src/codec/avif. The driver's library libnvcuvid.so.1 is loaded when the first
 * decoder is created; without it, or in a build without the headers of ffnvcodec, no picture is
 * decoded. */
#pragma once

#include "codec/common/metadata/heif_coded.h"
#include "cuda/common/coder.h"

GF_C_BEGIN

struct gf_heic_decode_picture {
    const struct gf_heif_coded *coded; /* gf_heif_coded_check() is true of it */
    const unsigned char *data;         /* the whole file */
    struct gf_view out;                /* all rows, in device memory: RGB, turned as `coded` says */
    /* A thread of the decoder calls it when the picture is decoded or will not be, and then uses
     * the struct no more. */
    void (*ended)(struct gf_heic_decode_picture *picture);
    void *context; /* for the caller's use */
    /* Results. */
    bool decoded;  /* false: the CPU must decode the picture */
    char why[120]; /* why it was not decoded */
    /* The decoder's own: how many of the frames are not decoded yet, the planes of a grid of AV1 in
     * device memory, whose chroma is interpolated across its frames, and the next picture. */
    int left;
    unsigned char *planes;
    struct gf_heic_decode_picture *next;
};

struct gf_heic_decode_steps {
    float decode;
};

/* run() takes the pictures over and does not wait: ended() is called for each, unless run() fails.
 * Their frames are spread over all engines of the device, in the order in which they came. The
 * steps are not measured. destroy() waits until all pictures have ended. */
GF_CODER(heic_decode)

/* Returns the bytes of device memory that decoding a picture on one engine takes. */
uint64_t gf_heic_decoder_bytes(const struct gf_heif_coded *coded);
/* Whether this machine has the library that decodes. Does not start the GPU. */
bool gf_heic_decoder_present(void);
/* Whether the current device decodes AV1 of that depth. The driver is asked once a run. */
bool gf_heic_decoder_takes_av1(const struct gf_heif_coded *coded);
/* Returns how many engines of a device that has started decode HEIC. */
int gf_heic_decoder_engines(int device);

GF_C_END
