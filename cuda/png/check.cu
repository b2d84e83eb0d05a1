/* Compares the CRC-32 of each stripe's chunk with the CRC-32 in the file. A thread block processes
 * a stripe. */
#include "cuda/common/launch.cuh"
#include "cuda/png/crc.cuh"
#include "cuda/png/stripes.cuh"

static __global__ void __launch_bounds__(CRC_THREADS)
    check_kernel(const struct png_decode_group group, const struct crc_tables *tables)
{
    __shared__ unsigned step[4][256];
    __shared__ unsigned all;
    const struct png_stripe stripe = group.stripes[blockIdx.x];
    const unsigned before = (unsigned)((uintptr_t)stripe.chunk % 4),
                   end = before + stripe.chunk_bytes;
    const unsigned *const words = (const unsigned *)(stripe.chunk - before);
    const int last = (int)((end - 1) / 4);
    load_steps(step, tables);
    if (!threadIdx.x)
        all = 0;
    __syncthreads();
    /* The loop starts so that its last turn ends at the last word. */
    unsigned sum = 0;
    for (int i = last % CRC_THREADS - (CRC_THREADS - 1) + (int)threadIdx.x; i <= last;
         i += CRC_THREADS)
        sum = next_sum(step, sum) ^ (i < 0 ? 0 : message_word(words, (uint64_t)i, before, end));
    add_up(product(sum, tables->lane[threadIdx.x]), &all);
    const unsigned char *const given = stripe.chunk + stripe.chunk_bytes;
    const unsigned crc =
        (unsigned)given[0] << 24 | (unsigned)given[1] << 16 | (unsigned)given[2] << 8 | given[3];
    if (!threadIdx.x && ~product(all, tables->back[~(end - 1) & 3]) != crc)
        atomicOr(group.flags + stripe.picture, 1u);
}

cudaError_t gf_png_check_chunks(const struct png_decode_group *group,
                                const struct crc_tables *tables, cudaStream_t stream)
{
    check_kernel<<<group->count, CRC_THREADS, 0, stream>>>(*group, tables);
    return cudaGetLastError();
}
