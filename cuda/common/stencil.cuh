/* Shared functions of stencil kernels. A block computes a tile of the output: it reads rows and
 * columns beyond the picture by the border's rule, collects its results in shared memory and writes
 * them 16 bytes at a time. Kernels get all parameters by value, including coefficients. These are
 * in a bank of constant memory that belongs to that one launch, so that launches on several streams
 * cannot disturb each other. One launch may pass 4 KB. */
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "stage/border.h"

/* Returns how many rows (or pairs of rows), 1 to 8, fit in the 48 KB of shared memory that a block
 * may have on every device. */
static inline int rows_that_fit(size_t bytes_each)
{
    const size_t fit = 48 * 1024 / bytes_each;
    return fit < 1 ? 1 : fit > 8 ? 8 : (int)fit;
}

/* Returns sample / channels for 0 <= sample < 16384, without a division. */
static __device__ __forceinline__ int pixel_of(const struct view_pair &p, int sample)
{
    return (int)((unsigned)sample * p.per_channel >> 16);
}

/* Fills the block's table with the offsets of rows first .. first + count - 1 in the input, by the
 * border's rule. A row of zeros has offset 0, and row_is_zero() recognises it. Rows outside low ..
 * high are not in the view; the nearest row replaces them, and no result that depends on them is
 * kept. */
static __device__ __forceinline__ void list_rows(const struct view_pair &p, long long *offset,
                                                 int count, int first, int low, int high)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const int index = gf_border_index(min(max(first + i, low), high), p.height, p.border);
        offset[i] = index < 0 ? 0 : (long long)(index - p.in_y) * (long long)p.in_pitch;
    }
}

static __device__ __forceinline__ bool row_is_zero(const struct view_pair &p, int row)
{
    return p.border == GF_BORDER_CONSTANT && (row < 0 || row >= p.height);
}

/* Converts an integer below 2^23 to float with an addition: the last bits of the float 2^23 + v are
 * v. Conversion instructions run at an eighth of the rate of additions (Best Practices Guide,
 * 11.1.1). */
template <class Integer> static __device__ __forceinline__ float float_of(Integer v)
{
    static_assert((Integer)0.5f == 0, "floats.cuh comes first");
    return __uint_as_float(0x4B000000u | (unsigned)v) - 8388608.0f;
}

static __device__ __forceinline__ float float_of_low(unsigned pair)
{
    return __uint_as_float(__byte_perm(pair, 0x4B00u, 0x5410)) - 8388608.0f;
}

static __device__ __forceinline__ float float_of_high(unsigned pair)
{
    return __uint_as_float(__byte_perm(pair, 0x4B00u, 0x5432)) - 8388608.0f;
}

/* Clamps v to 0..max and rounds it as gf_round_flat() does. The result is in the lower 16 bits; the
 * upper bits are the upper bits of the float 2^23. */
static __device__ __forceinline__ unsigned round_bits(float v, float max)
{
    return __float_as_uint(__fadd_rz(fminf(fmaxf(v, 0.0f), max) + 0.5f, 8388608.0f));
}

/* Returns 1/sqrt(v) for an argument that is not denormal; rsqrtf() would spend instructions on
 * denormal arguments. */
static __device__ __forceinline__ float rsqrt_normal(float v)
{
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
    return result;
}

/* Returns 1/v with an error of a few units of the last place, which differs between GPUs. */
static __device__ __forceinline__ float reciprocal_near(float v)
{
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
    return result;
}

/* Returns samples at .. at + 3 of 8 bits, where `at` is a multiple of 4. Samples beyond the end of
 * the row are zero. */
static __device__ __forceinline__ unsigned load_bytes(const unsigned char *row, long long at,
                                                      long long samples)
{
    if (at + 4 <= samples)
        return __ldg((const unsigned *)(row + at));
    unsigned word = 0;
    for (int i = 0; at + i < samples; i++)
        word |= (unsigned)row[at + i] << 8 * i;
    return word;
}

/* Writes `rows` rows of `bytes` bytes from shared memory to the output, from row y and byte `start`
 * of the row on, and nothing beyond row_bytes. `bytes` and `start` are multiples of 16. */
static __device__ __forceinline__ void store_tile(const struct view_pair &p,
                                                  const unsigned char *staging, int pitch,
                                                  int bytes, int rows, int y, long long start,
                                                  long long row_bytes)
{
    const int chunks = bytes / 16;
    for (int i = threadIdx.x; i < rows * chunks; i += blockDim.x) {
        const int row = i / chunks, chunk = i - row * chunks;
        const unsigned char *const from = staging + row * pitch + 16 * chunk;
        const long long at = start + 16 * chunk;
        unsigned char *const to =
            p.out + (long long)(y + row - p.out_y) * (long long)p.out_pitch + at;
        if (at + 16 <= row_bytes) {
            *(uint4 *)to = *(const uint4 *)from;
        } else {
#pragma unroll 1
            for (int b = 0; at + b < row_bytes; b++)
                to[b] = from[b];
        }
    }
}
