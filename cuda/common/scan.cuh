/* Sums over the threads of a warp and of a block. */
#pragma once

#include "cuda/common/launch.cuh"

/* Returns the sum of the values of all lanes of the warp. */
template <class T> static __device__ __forceinline__ T warp_sum(T value)
{
#pragma unroll
    for (int step = WARP / 2; step; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    return value;
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
