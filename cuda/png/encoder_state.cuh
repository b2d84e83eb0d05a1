/* The encoder's state. */
#ifndef GF_CUDA_PNG_ENCODER_STATE_CUH
#define GF_CUDA_PNG_ENCODER_STATE_CUH

#include "cuda/common/encoder.cuh"
#include "cuda/png/encode_group.cuh"
#include "cuda/png/encoder.h"

/* TURNS_MOST: parts of a round that are packed one after the other, each copied to the host while
 * the next is being packed. TURN_STRIPES_MOST: a grid's rows. */
enum {
    TURNS_MOST = 16,
    TURN_BYTES = 12 << 20, /* of filtered rows */
    TURN_STRIPES_MOST = 32768
};

/* A picture of the group. */
struct png_part : encoder_part {
    unsigned stripes;
    uint64_t cells, output; /* of its stripes; bytes */
};

struct gf_png_encoder : encoder<png_part> {
    cudaStream_t copies;
    cudaEvent_t packed[TURNS_MOST], copied[TURNS_MOST];
    cudaEvent_t starts_known; /* waiting for it, and for `copied`, lets others have the processor */
    struct crc_tables *tables; /* device */
    /* Of the round, pinned: pictures and stripes as they are copied to the device, then where the
     * chunks begin. */
    struct png_picture *pictures;
    struct png_stripe *stripes;
    uint64_t *starts;
    struct png_group group;
    uint64_t cells, output, states; /* of all stripes; bytes; words */
};

#endif
