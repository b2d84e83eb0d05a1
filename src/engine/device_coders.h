/* The coders of a device, which decode and encode whole pictures on it: one interface for JPEG
 * (cuda/jpeg), PNG (cuda/png), HEIC (cuda/heic) and frames of Y4M (cuda/yuv). */
#pragma once

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/host_device.h"
#include "cuda/heic/coders.h"
#include "cuda/jpeg/coders.h"
#include "cuda/png/coders.h"
#include "cuda/yuv/coders.h"
#include "gpufilter/status.h"

enum gf_coder_kind {
    GF_CODER_JPEG_DECODE,
    GF_CODER_JPEG_SCANS_DECODE, /* JPEGs of several scans, by coders of the same type */
    GF_CODER_JPEG_TILES_DECODE, /* the JPEGs that are the tiles of a TIFF, likewise */
    GF_CODER_JPEG_ENCODE,
    GF_CODER_PNG_DECODE,        /* marked PNGs, whose stripes are independent */
    GF_CODER_PNG_STREAM_DECODE, /* other PNGs, by coders of the same type */
    GF_CODER_PNG_ENCODE,
    GF_CODER_HEIC_DECODE,
    GF_CODER_YUV_DECODE,
    GF_CODER_YUV_ENCODE,
    GF_CODER_KINDS
};

enum { GF_CODER_GROUP_MOST = 128 }; /* the most pictures of a group, of any kind */

/* A picture that a coder is to decode or encode. The headers in cuda/ say which members of the
 * union are input and which are results. */
struct gf_coder_picture {
    enum gf_coder_kind kind;
    union {
        struct gf_jpeg_decode_picture jpeg_decode;
        struct gf_jpeg_encode_picture jpeg_encode;
        struct gf_png_decode_picture png_decode;
        struct gf_png_encode_picture png_encode;
        struct gf_heic_decode_picture heic_decode;
        struct gf_yuv_decode_picture yuv_decode;
        struct gf_yuv_encode_picture yuv_encode;
    };
    /* The following members are results. */
    bool done;                 /* the picture was decoded or encoded; false: the CPU must do it */
    const unsigned char *data; /* the encoder's result: the bytes of the file between its headers
                                * and its end */
    size_t size;
    void *coding;    /* its struct gf_coding */
    sem_t *returned; /* the semaphore that gf_coder_picture_return() posts; NULL: nobody waits for
                      * the return */
};

struct gf_coder_calls {
    bool encodes;
    bool slow;  /* a group of few pictures takes as long as one of many */
    bool keeps; /* if a run and the next one have several pictures, the results of the first stay
                 * until the run after these */
    int group_most;       /* the most pictures of a group */
    uint64_t group_bytes; /* the largest size of a group in bytes, unless it is a single picture */
    /* Creates a coder that uses at most `bytes` of the device's memory. Only the calling thread may
     * use it. */
    enum gf_status (*create)(int device, uint64_t bytes, void **coder, struct gf_error *error);
    void (*destroy)(void *coder);              /* does nothing with NULL */
    void (*expect)(void *coder, int pictures); /* the likely number that come at the same time */
    /* Codes a group and returns when it is done; if the coder lasts, when the coder has taken over
     * the picture, whose coding it ends. expected: the likely number of pictures that come at the
     * same time. */
    enum gf_status (*run)(void *coder, int expected, struct gf_coder_picture *const *group,
                          int count, struct gf_error *error);
    /* Bytes of device memory that a picture takes in a group. */
    uint64_t (*bytes)(const struct gf_coder_picture *picture);
    bool lasts; /* the coder has threads of its own, and takes one picture after the other */
};

extern const struct gf_coder_calls gf_coder_calls[GF_CODER_KINDS];

/* The coders of a CUDA device, which all pipelines of the process share. A GPU is fast with many
 * pictures at once and slow with one: the coders' threads take all waiting pictures as a group. A
 * decoder makes the same pixels as the CPU, and an encoder the same bytes. */

GF_C_BEGIN

struct gf_device_coders;

/* Starts the coders' threads for a device, unless they are running. The coders may use the sum of
 * the device memory that their users lend (`bytes` each); if users set no limit (0), a quarter of
 * the device's memory. */
enum gf_status gf_device_coders_open(int device, uint64_t bytes, struct gf_device_coders **coders,
                                     struct gf_error *error) GF_CHECKED;
void gf_device_coders_close(struct gf_device_coders *coders,
                            uint64_t bytes); /* the same bytes as for gf_device_coders_open() */

/* Creates the coders of that kind in the background, before they are needed. */
void gf_device_coders_prepare(struct gf_device_coders *coders, enum gf_coder_kind kind);

/* Tells that `pictures` more pictures than before may come at the same time; a negative number
 * takes that back. */
void gf_device_coders_expect(struct gf_device_coders *coders, int pictures);

/* A picture that the coders' threads work on while the caller goes on. */
struct gf_coding {
    struct gf_coder_picture *picture;
    /* A thread of the coders calls it when the picture has been coded or has failed; `status` and
     * `error` say which. Other pictures wait meanwhile, so that it must be short. The coders do not
     * use the struct after the call has begun. */
    void (*ended)(struct gf_coding *coding);
    void *context; /* for the caller's use */
    enum gf_status status;
    struct gf_error error;
    uint64_t bytes; /* the device memory that coding the picture takes */
    double came_s;  /* the time of gf_now() when the picture began to wait */
    struct gf_coding *next;
};

/* Begins to code `count` pictures, if possible in groups of their own. What gf_device_coders_run()
 * says of a picture holds for each of them. */
void gf_device_coders_begin(struct gf_device_coders *coders, struct gf_coding *const *codings,
                            int count);

/* Codes one picture, and returns when it is done. Its pixels are in device memory; the bytes of a
 * file should be in pinned host memory. If picture->done stays false, the CPU must code it: a
 * decoder does not take the file, or an encoder has too little memory. An encoder's result lies in
 * memory of the coders, which continue with other pictures only after gf_coder_picture_return(). */
enum gf_status gf_device_coders_run(struct gf_device_coders *coders,
                                    struct gf_coder_picture *picture,
                                    struct gf_error *error) GF_CHECKED;
void gf_coder_picture_return(struct gf_coder_picture *picture);

GF_C_END
