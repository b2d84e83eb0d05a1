#include "cuda/common/row_copy.cuh"

#include <stdint.h>

#include "cuda/common/launch.cuh"

constexpr int THREADS = 256;

/* The 16 bytes that start `shift` bytes into a and b. */
static __device__ __forceinline__ uint4 funnel(uint4 a, uint4 b, int shift)
{
    uint32_t w[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
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

/* Reads and writes aligned vectors of 16 bytes. A result that lies across two vectors of the source
 * is put together in registers; the neighbouring thread reads the second one too, so that it comes
 * from the cache. */
static __global__ void __launch_bounds__(THREADS)
    copy_rows_kernel(struct gf_row_copy copy, unsigned int vectors, unsigned int total)
{
    const unsigned int index = blockIdx.x * THREADS + threadIdx.x;
    if (index >= total)
        return;
    const unsigned int row = index / vectors;
    const size_t at = (size_t)(index - row * vectors) * VECTOR;
    const unsigned char *const in = copy.in + (ptrdiff_t)row * copy.in_step;
    unsigned char *const out = copy.out + row * copy.out_pitch + at;
    const size_t from = copy.skipped + at;
    const int shift = (int)(from % VECTOR);
    const size_t read_end = from - shift + (shift ? 2 * VECTOR : VECTOR);
    if (at + VECTOR > copy.row_bytes || read_end > copy.in_bytes) {
        for (int i = 0; i < VECTOR && at + i < copy.row_bytes; i++)
            out[i] = in[from + i];
        return;
    }
    const uint4 *const pair = (const uint4 *)(in + from - shift);
    const uint4 first = __ldg(pair);
    *(uint4 *)out = shift ? funnel(first, __ldg(pair + 1), shift) : first;
}

extern "C" int gf_rows_copy_cuda(const struct gf_row_copy *copy, void *stream)
{
    const size_t vectors = (copy->row_bytes + VECTOR - 1) / VECTOR;
    const size_t total = vectors * (size_t)copy->rows;
    if (total > UINT32_MAX - THREADS)
        return cudaErrorInvalidValue;
    copy_rows_kernel<<<(unsigned int)((total + THREADS - 1) / THREADS), THREADS, 0,
                       (cudaStream_t)stream>>>(*copy, (unsigned int)vectors, (unsigned int)total);
    return cudaGetLastError();
}
