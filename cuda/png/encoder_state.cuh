/* The encoder's state, and the functions that enlarge its memory. */
#ifndef GF_CUDA_PNG_ENCODER_STATE_CUH
#define GF_CUDA_PNG_ENCODER_STATE_CUH

#include <cuda_runtime.h>

#include "cuda/common/pinned.cuh"
#include "cuda/png/encode_group.cuh"
#include "cuda/png/encoder.h"

/* TURNS_MOST: parts of a round that are packed one after the other, each copied to the host while
 * the next is being packed. TURN_STRIPES_MOST: a grid's rows. */
enum {
    ALIGNMENT = 256,
    MARKS = 3,
    PICTURES_MOST = 4096,
    TURNS_MOST = 16,
    TURN_BYTES = 12 << 20, /* of filtered rows */
    TURN_STRIPES_MOST = 32768
};

enum part_state { WAITING, CHOSEN, ENDED };

/* A picture of the group. */
struct part {
    enum part_state state;
    unsigned stripes;
    uint64_t cells, output; /* of its stripes; bytes */
    uint64_t offset, size;  /* of the chunks that were fetched; size 0: none */
};

struct gf_png_encoder {
    int device;
    uint64_t memory_most;
    int expected; /* pictures at once */
    cudaStream_t stream, copies;
    cudaEvent_t placed, ended; /* waiting for them lets other threads have the processor */
    cudaEvent_t packed[TURNS_MOST], copied[TURNS_MOST];
    cudaEvent_t marks[MARKS];          /* with times */
    struct gf_png_encode_steps *steps; /* NULL: not measured */
    struct crc_tables *tables;         /* device */
    unsigned char *memory;             /* device */
    uint64_t memory_size;
    struct pinned_memory chunks;
    uint64_t chunks_used;
    /* Of the largest group: */
    int capacity;
    int *indices; /* of the pictures in the group */
    struct part *parts;
    /* Of the largest round, pinned: pictures and stripes as they are copied to the device, then
     * where the chunks begin. */
    unsigned char *descriptions;
    uint64_t descriptions_size;
    struct png_picture *pictures;
    struct png_stripe *stripes;
    uint64_t *starts;
    /* Of the round: */
    int placed_count; /* pictures */
    struct png_group group;
    uint64_t cells, output, states; /* of all stripes; bytes; words */
};

static inline uint64_t aligned(uint64_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Each of these makes room for at least that many bytes, pictures or stripes; the one for the bytes
 * of pictures that have their places makes room for as many more pictures as are expected. */
enum gf_status gf_png_reserve_device(struct gf_png_encoder *encoder, uint64_t size,
                                     struct gf_error *error);
/* Makes room for `size` bytes of chunks, and keeps those that are there, which `size` counts,
 * too. */
enum gf_status gf_png_reserve_chunks(struct gf_png_encoder *encoder, uint64_t size,
                                     struct gf_error *error);
enum gf_status gf_png_reserve_group(struct gf_png_encoder *encoder, int count,
                                    struct gf_error *error);
enum gf_status gf_png_reserve_descriptions(struct gf_png_encoder *encoder, int pictures,
                                           unsigned stripes, struct gf_error *error);
void gf_png_free_group(struct gf_png_encoder *encoder);

#endif
