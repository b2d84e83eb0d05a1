/* The coders of a device: one interface to the calls of cuda/jpeg, cuda/png and cuda/yuv, for
 * each format that the device decodes or encodes. */
#pragma once

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/host_device.h"
#include "cuda/jpeg/coders.h"
#include "cuda/png/coders.h"
#include "cuda/yuv/coders.h"
#include "gpufilter/status.h"

enum gf_coder_kind {
    GF_CODER_JPEG_DECODE,
    GF_CODER_JPEG_SCANS_DECODE, /* JPEGs of several scans, by coders of the same type */
    GF_CODER_JPEG_ENCODE,
    GF_CODER_PNG_DECODE,        /* marked PNGs, whose stripes are independent */
    GF_CODER_PNG_STREAM_DECODE, /* other PNGs, by coders of the same type */
    GF_CODER_PNG_ENCODE,
    GF_CODER_YUV_DECODE,
    GF_CODER_YUV_ENCODE,
    GF_CODER_KINDS
};

enum { GF_CODER_GROUP_MOST = 128 }; /* pictures of any kind */

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
    bool slow;  /* a group takes long, however few pictures it has */
    bool keeps; /* if a run and the next one have several pictures, the results of the first stay
                 * until the run after these */
    int group_most;       /* the most pictures of a group */
    uint64_t group_bytes; /* the largest size of a group in bytes, unless it is a single picture */
    /* Creates a coder that uses at most `bytes` of the device's memory. Only the calling thread may
     * use it. */
    enum gf_status (*create)(int device, uint64_t bytes, void **coder, struct gf_error *error);
    void (*destroy)(void *coder);              /* does nothing with NULL */
    void (*expect)(void *coder, int pictures); /* the likely number that come at the same time */
    /* Codes a group and returns when it is done. expected: the likely number of pictures that come
     * at the same time. */
    enum gf_status (*run)(void *coder, int expected, struct gf_coder_picture *const *group,
                          int count, struct gf_error *error);
    uint64_t (*bytes)(const struct gf_coder_picture *picture); /* device memory of a picture in a
                                                                * group */
};

extern const struct gf_coder_calls gf_coder_calls[GF_CODER_KINDS];

/* The coders of a CUDA device (cuda/jpeg, cuda/png), which all pipelines of the process share. A
 * GPU is fast with many pictures at once and slow with one: the coders' threads take all waiting
 * pictures as a group. A decoder makes the same pixels as the CPU, and an encoder the same
 * bytes. */

GF_C_BEGIN

struct gf_device_coders;

/* Starts the coders' threads, unless they are running. The coders may use the sum of the device
 * memory that their users lend (`bytes`); if users set no limit (0), they may use a quarter of the
 * device's memory. */
enum gf_status gf_device_coders_open(int device, uint64_t bytes, struct gf_device_coders **coders,
                                     struct gf_error *error) GF_CHECKED;
void gf_device_coders_close(struct gf_device_coders *coders,
                            uint64_t bytes); /* the same bytes as for gf_device_coders_open() */

/* Creates the coders of that kind in the background. */
void gf_device_coders_prepare(struct gf_device_coders *coders, enum gf_coder_kind kind);

/* Announces that so many more pictures may come at the same time; a negative number takes that
 * back. */
void gf_device_coders_expect(struct gf_device_coders *coders, int pictures);

/* A picture that is coded while its caller goes on. */
struct gf_coding {
    struct gf_coder_picture *picture;
    /* A thread of the coders calls it when the picture has been coded, or coding it has failed, as
     * `status` and `error` say. Others wait meanwhile. The coders do not use the struct after the
     * call has begun. */
    void (*ended)(struct gf_coding *coding);
    void *context; /* the caller's */
    enum gf_status status;
    struct gf_error error;
    uint64_t bytes; /* the device memory for coding it */
    double came_s;  /* when it came */
    struct gf_coding *next;
};

/* Begins to code `count` pictures, which are groups of their own as far as possible. The rules of
 * gf_device_coders_run() hold for each picture. */
void gf_device_coders_begin(struct gf_device_coders *coders, struct gf_coding *const *codings,
                            int count);

/* Codes the picture, and returns when it is done. Its pixels are in device memory; the bytes of a
 * file should be pinned. If picture->done stays false, a decoder leaves the picture to the CPU, or
 * an encoder has too little memory for it. An encoder's result belongs to the coders, which
 * continue with other pictures after the caller has returned it. */
enum gf_status gf_device_coders_run(struct gf_device_coders *coders,
                                    struct gf_coder_picture *picture,
                                    struct gf_error *error) GF_CHECKED;
void gf_coder_picture_return(struct gf_coder_picture *picture);

GF_C_END
