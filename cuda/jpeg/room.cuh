/* How much memory a coder takes when it has to take more. */
#ifndef GF_CUDA_JPEG_ROOM_CUH
#define GF_CUDA_JPEG_ROOM_CUH

#include <stdint.h>

/* The bytes for `expected` pictures where `count` need `bytes`, up to `most`; at least `bytes`. A
 * group that grows picture by picture would wait for the device each time. */
static inline uint64_t room_for(uint64_t bytes, int count, int expected, uint64_t most)
{
    const uint64_t beyond = 1u << 30; /* nobody takes more than that for pictures yet to come */
    if (count < 1 || expected <= count)
        return bytes;
    uint64_t more = bytes / (uint64_t)count * (uint64_t)(expected - count);
    more = more < beyond ? more : beyond;
    return bytes + more <= most ? bytes + more : bytes < most ? most : bytes;
}

#endif
