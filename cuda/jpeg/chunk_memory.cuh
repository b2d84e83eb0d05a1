/* The shared memory of a thread block, and sums over its threads. */
#pragma once

#include "cuda/jpeg/chunk.cuh"
#include "cuda/jpeg/encode_entropy.cuh"
#include "cuda/jpeg/forward_transform.cuh"
#include "cuda/common/scan.cuh"

enum {
    CODE_WORDS = sizeof(struct code_tables) / sizeof(unsigned),
    STATE_WORDS = sizeof(struct chunk_state) / sizeof(uint64_t),
    STRING_WORDS = CHUNK_BLOCKS * BLOCK_BITS / 32 + 2
};

struct scan_memory {
    unsigned numbers[CHUNK_BLOCKS], totals[WARPS];
};

struct chunk_memory {
    struct code_tables codes;
    union {
        unsigned char samples[CHUNK_BLOCKS / 2 * BLOCK_SAMPLES]; /* samples of downsampled chroma */
        alignas(16) unsigned bits[CHUNK_BLOCKS * BLOCK_WORDS];   /* the bits of each block */
        /* The chunk's bytes, with a zero after each byte 0xff. */
        unsigned char stuffed[CHUNK_BLOCKS * BLOCK_WORDS * 4];
    };
    union {
        alignas(16) short coefficients[CHUNK_BLOCKS * COEFFICIENTS_PITCH];
        unsigned string[STRING_WORDS]; /* the bits of the chunk */
    };
    struct scan_memory scan;
    uint64_t position, stuffed_before;
    unsigned tail_before;
};

/* Returns the sum of the numbers of all threads before this thread; *total is the sum over all
 * threads. All threads call this function. */
static __device__ __forceinline__ unsigned sum_threads(unsigned own, struct scan_memory &memory,
                                                       unsigned *total)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned sum = warp_inclusive_sum(own);
    if (lane == WARP - 1)
        memory.totals[warp] = sum;
    __syncthreads();
    unsigned before = sum - own;
    *total = 0;
    for (int i = 0; i < WARPS; i++) {
        before += i < warp ? memory.totals[i] : 0;
        *total += memory.totals[i];
    }
    return before;
}
