#pragma once

#include "cuda/common/encoder.cuh"
#include "cuda/png/encode_group.cuh"
#include "cuda/png/encoder.h"

/* TURNS_MOST: the most parts of a round that are packed one after the other; each is copied to the
 * host while the next is being packed. TURN_STRIPES_MOST: the most rows of a grid. */
enum {
    TURNS_MOST = 16,
    TURN_BYTES = 12 << 20, /* bytes of filtered rows */
    TURN_STRIPES_MOST = 32768
};

/* A picture of the group. */
struct png_part : encoder_part {
    unsigned stripes;
    uint64_t cells, output; /* number of its stripes' cells; bytes of its output */
};

struct gf_png_encoder : encoder<png_part> {
    cudaStream_t copies;
    cudaEvent_t packed[TURNS_MOST], copied[TURNS_MOST];
    cudaEvent_t starts_known;  /* waiting for this event, or for `copied`, does not keep the
                                * processor busy */
    struct crc_tables *tables; /* the tables for checksums, on the device */
    /* In pinned memory: the pictures and stripes of the round, which are copied to the device, and
     * then the offsets of the chunks. */
    struct png_picture *pictures;
    struct png_stripe *stripes;
    uint64_t *starts;
    struct png_group group;
    uint64_t cells, output, states; /* the sums over all stripes: cells; bytes of output; words of
                                     * states */
};
