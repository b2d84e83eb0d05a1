#include "cuda/common/row_copy.cuh"

#include <stdint.h>

constexpr int THREADS = 256;

/* Copies rows by aligned vectors of 16 bytes: thread `index` copies vector index % vectors of row
 * index / vectors. */
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
    uint4 v;
    if (at + VECTOR <= copy.row_bytes && vector_from(in, from, copy.in_bytes, &v)) {
        *(uint4 *)out = v;
        return;
    }
    for (int i = 0; i < VECTOR && at + i < copy.row_bytes; i++)
        out[i] = in[from + i];
}

extern "C" int gf_rows_copy_cuda(const struct gf_row_copy *copy, cudaStream_t stream)
{
    const size_t vectors = (copy->row_bytes + VECTOR - 1) / VECTOR;
    const size_t total = vectors * (size_t)copy->rows;
    if (total > UINT32_MAX - THREADS)
        return cudaErrorInvalidValue;
    return launch_kernel(copy_rows_kernel, (unsigned int)((total + THREADS - 1) / THREADS), THREADS,
                         0, stream, *copy, (unsigned int)vectors, (unsigned int)total);
}
