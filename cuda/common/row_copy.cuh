/* Copies a part of each row, for crop and the vertical flip. The bytes may have any meaning, and
 * the rows of a flip are in reverse order, so that struct view_pair does not fit. */
#pragma once

#include <stddef.h>

#include "cuda/common/launch.cuh"

/* Returns the 16 bytes that begin `shift` bytes after the start of a, and continue in b. */
static __device__ __forceinline__ uint4 funnel(uint4 a, uint4 b, int shift)
{
    unsigned w[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    if (shift & 8) {
#pragma unroll
        for (int i = 0; i < 6; i++)
            w[i] = w[i + 2];
    }
    if (shift & 4) {
#pragma unroll
        for (int i = 0; i < 5; i++)
            w[i] = w[i + 1];
    }
    const int bits = (shift & 3) * 8;
    return make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                      __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], w[4], bits));
}

/* Sets *v to the 16 bytes from byte `from` of a row on, if the aligned vectors that contain them
 * are within the row's `bytes`. Bytes from two vectors are combined in registers; the neighbouring
 * thread reads the second vector, too, so that it comes from the cache. */
static __device__ __forceinline__ bool vector_from(const unsigned char *row, size_t from,
                                                   size_t bytes, uint4 *v)
{
    const int shift = (int)(from % VECTOR);
    const uint4 *const pair = (const uint4 *)(row + from - shift);
    if (from - shift + (shift ? 2 * VECTOR : VECTOR) > bytes)
        return false;
    const uint4 first = __ldg(pair);
    *v = shift ? funnel(first, __ldg(pair + 1), shift) : first;
    return true;
}

/* A copy: row i of the result is row_bytes bytes of source row i, from byte `skipped` on. Source
 * rows have in_bytes bytes. */
struct gf_row_copy {
    const unsigned char *in; /* the source row of result row 0; address and steps are multiples of
                              * 16 */
    ptrdiff_t in_step;       /* negative: rows are in reverse order */
    unsigned char *out;
    size_t out_pitch;
    size_t in_bytes, skipped, row_bytes;
    int rows;
};

/* Queues the copy. Returns a cudaError_t. */
extern "C" int gf_rows_copy_cuda(const struct gf_row_copy *copy, cudaStream_t stream);
