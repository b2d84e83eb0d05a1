/* Finds the chunk of a thread block and the chunk's place in the picture. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/jpeg/encode_group.cuh"

enum { WARPS = ENCODE_THREADS / WARP };

struct chunk {
    int first_mcu, mcus, x, y; /* x, y: the position of the first MCU, in MCUs */
    unsigned number;           /* the number of the chunk in the picture */
    bool last;
    struct chunk_state *state;
};

/* Returns the last picture that begins at the thread block's chunk or before it. Each lane tests
 * one picture. */
static __device__ __forceinline__ int find_picture(const struct encode_group &group)
{
    int begun = 0;
    for (int i = 0; i < group.count; i += WARP) {
        const int lane = i + (int)(threadIdx.x % WARP);
        const bool has = lane < group.count && group.pictures[lane].first_chunk <= blockIdx.x;
        begun += __popc(__ballot_sync(~0u, has));
    }
    return begun - 1;
}

template <class SHAPE>
static __device__ __forceinline__ struct chunk find_chunk(const struct encode_group &group,
                                                          const struct encode_picture &picture)
{
    struct chunk chunk;
    chunk.number = blockIdx.x - picture.first_chunk;
    chunk.first_mcu = chunk.number * SHAPE::CHUNK_MCUS;
    chunk.mcus = min(SHAPE::CHUNK_MCUS, picture.mcus - chunk.first_mcu);
    chunk.last = chunk.first_mcu + chunk.mcus == picture.mcus;
    chunk.y = (unsigned)chunk.first_mcu / (unsigned)picture.mcus_across;
    chunk.x = chunk.first_mcu - chunk.y * picture.mcus_across;
    chunk.state = group.states + blockIdx.x;
    return chunk;
}

/* Returns the position of the chunk's MCU i, in MCUs. */
static __device__ __forceinline__ int2 mcu_place(const struct encode_picture &picture,
                                                 const struct chunk &chunk, int i)
{
    const unsigned x = chunk.x + i, across = picture.mcus_across;
    if (x < across)
        return make_int2(x, chunk.y);
    const unsigned rows = x / across;
    return make_int2(x - rows * across, chunk.y + rows);
}
