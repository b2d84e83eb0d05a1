/* The encoder's state, and the functions that enlarge its memory. */
#ifndef GF_CUDA_JPEG_ENCODER_STATE_CUH
#define GF_CUDA_JPEG_ENCODER_STATE_CUH

#include <cuda_runtime.h>

#include "cuda/common/pinned.cuh"
#include "cuda/jpeg/encode_group.cuh"
#include "cuda/jpeg/encoder.h"

/* PICTURES_MOST: the most pictures of a round, which a grid allows. */
enum { QUALITIES = 101, ALIGNMENT = 256, MARKS = 3, PICTURES_MOST = 4096 };

enum part_state { WAITING, CHOSEN, ENDED };

/* A picture of the group. */
struct part {
    enum part_state state;
    int shape;
    unsigned chunks;
    uint64_t capacity;     /* device memory for its scan */
    uint64_t offset, size; /* of the scan that was fetched; size 0: none */
};

struct gf_jpeg_encoder {
    int device;
    uint64_t memory_most;
    int expected; /* pictures at once */
    cudaStream_t stream;
    cudaEvent_t ended;                  /* waiting for it lets other threads have the processor */
    cudaEvent_t marks[MARKS];           /* with times */
    struct gf_jpeg_encode_steps *steps; /* NULL: not measured */
    struct encode_tables *tables;       /* device, by quality */
    bool made[QUALITIES];               /* of the tables */
    unsigned char *memory;              /* device */
    uint64_t memory_size;
    struct pinned_memory scans;
    uint64_t scans_used;
    /* Of the largest group: */
    int capacity;
    struct encode_picture *pictures; /* pinned */
    uint64_t *sizes;                 /* the sizes of scans, in pinned memory, where a kernel writes
                                      * them, in the order of `pictures` */
    int *indices;                    /* of the pictures in the group */
    struct part *parts;
    /* Of the round: */
    int placed; /* pictures, from their choice on */
    uint64_t *device_sizes;
    struct encode_group groups[SHAPES];
};

static inline uint64_t aligned(uint64_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Each of these makes room for at least that many bytes or pictures; the one for the bytes of
 * pictures that have their places makes room for as many more pictures as are expected. */
enum gf_status gf_jpeg_reserve_device(struct gf_jpeg_encoder *encoder, uint64_t size,
                                      struct gf_error *error);
/* Makes room for `size` bytes of scans, and keeps those that are there, which `size` counts,
 * too. */
enum gf_status gf_jpeg_reserve_scans(struct gf_jpeg_encoder *encoder, uint64_t size,
                                     struct gf_error *error);
enum gf_status gf_jpeg_reserve_group(struct gf_jpeg_encoder *encoder, int count,
                                     struct gf_error *error);
void gf_jpeg_free_group(struct gf_jpeg_encoder *encoder);
/* Copies the tables of a quality to the device, unless they are there. */
enum gf_status gf_jpeg_make_tables(struct gf_jpeg_encoder *encoder, int quality,
                                   struct gf_error *error);

#endif
