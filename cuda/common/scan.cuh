/* Sums and minima over the threads of a warp; sums over those of a block, and over the blocks
 * before. */
#pragma once

#include <stdint.h>

#include "cuda/common/launch.cuh"

template <class T> static __device__ __forceinline__ T warp_sum(T value)
{
#pragma unroll
    for (int step = WARP / 2; step; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    return value;
}

static __device__ __forceinline__ int least_of_warp(int v)
{
#if __CUDA_ARCH__ >= 800 && !defined(GF_EMULATED)
    return __reduce_min_sync(~0u, v);
#else
    for (int step = WARP / 2; step; step /= 2)
        v = min(v, __shfl_xor_sync(~0u, v, step));
    return v;
#endif
}

/* Returns the sum of the values of the warp's lanes up to this one. */
template <class T> static __device__ __forceinline__ T warp_inclusive_sum(T value)
{
    const int lane = threadIdx.x & (WARP - 1);
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const T other = __shfl_up_sync(~0u, value, step);
        value += lane >= step ? other : T(0);
    }
    return value;
}

/* Returns the sum of the values of all threads before this one. *total becomes the sum of all
 * values. All THREADS threads call this function; `warps` is WARP values of shared memory. */
template <int THREADS, class T>
static __device__ __forceinline__ T block_exclusive_sum(T value, T *warps, T *total)
{
    constexpr int WARPS = THREADS / WARP;
    static_assert(WARPS <= WARP, "one warp sums the others");
    const int lane = threadIdx.x & (WARP - 1), warp = threadIdx.x / WARP;
    const T inclusive = warp_inclusive_sum(value);
    __syncthreads(); /* `warps` may still be read by the last call */
    if (lane == WARP - 1)
        warps[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        const T sum = warp_inclusive_sum(lane < WARPS ? warps[lane] : T(0));
        __syncwarp();
        warps[lane] = sum;
    }
    __syncthreads();
    *total = warps[WARPS - 1];
    return inclusive - value + (warp ? warps[warp - 1] : T(0));
}

/* Prefix sums over the chunks of a picture within one launch (decoupled look-back). A chunk
 * publishes its own number first (TOLD_OWN), adds the numbers of earlier chunks, and then publishes
 * the sum (TOLD_SUM); the word of a chunk that has published nothing is 0. It waits only for
 * earlier chunks, which the device has started earlier. */

static constexpr uint64_t TOLD_OWN = (uint64_t)1 << 62, TOLD_SUM = (uint64_t)2 << 62,
                          TOLD_VALUE = TOLD_OWN - 1;

/* Publishes a value as one word, so that no other memory has to be written first. */
static __device__ __forceinline__ void tell(uint64_t *place, uint64_t value)
{
    *(volatile uint64_t *)place = value;
}

static __device__ __forceinline__ uint64_t heard(const uint64_t *place)
{
    return *(const volatile uint64_t *)place;
}

static __device__ __forceinline__ uint64_t wait_for(const uint64_t *place)
{
    uint64_t value;
    while (!(value = heard(place)))
        ;
    return value;
}

/* Returns the sum of the numbers of the `before` chunks before `place`, whose words are STRIDE
 * words apart. All lanes of a warp call this; each lane reads one chunk at a time, the nearest
 * first. */
template <int STRIDE>
static __device__ __forceinline__ uint64_t look_back(const uint64_t *place, unsigned before)
{
    const unsigned lane = threadIdx.x % WARP;
    unsigned own = 0;
    for (unsigned back = lane + 1;; back += WARP) {
        uint64_t value;
        unsigned sums, needed;
        do {
            value = back <= before ? heard(place - (size_t)STRIDE * back) : TOLD_SUM;
            sums = __ballot_sync(~0u, (value & TOLD_SUM) != 0);
            /* `needed` selects the lanes up to the first one whose chunk knows its sum. */
            needed = sums ? sums ^ (sums - 1) : ~0u;
        } while (needed & ~__ballot_sync(~0u, value != 0));
        own += needed >> lane & 1 && !(value & TOLD_SUM) ? (unsigned)value : 0;
        if (sums)
            return warp_sum(own) + (__shfl_sync(~0u, value, __ffs(sums) - 1) & TOLD_VALUE);
    }
}

/* Publishes the chunk's own number, unless it is the first chunk of a picture, which publishes its
 * sum directly. */
static __device__ __forceinline__ void tell_own(uint64_t *place, unsigned before, unsigned own)
{
    if (before)
        tell(place, TOLD_OWN | own);
}

/* Returns the sum of the earlier chunks. Lane 0 publishes the sum that includes the chunk's own
 * number. */
template <int STRIDE>
static __device__ __forceinline__ uint64_t sum_before(uint64_t *place, unsigned before,
                                                      unsigned own)
{
    const uint64_t sum = look_back<STRIDE>(place, before);
    if (threadIdx.x % WARP == 0)
        tell(place, TOLD_SUM | (sum + own));
    return sum;
}
