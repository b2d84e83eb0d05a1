/* CRC-32 by many threads; crc.cu explains the method.
 *
 * A polynomial is a word whose highest bit is the power 0, as in zlib. The first bit of a message
 * is its highest power and the lowest bit of its first word. */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#include "cuda/common/launch.cuh"

/* Tables for products with powers of x modulo the CRC's polynomial. */
enum { CRC_THREADS = 256, CRC_WORDS = 16, CRC_POWERS = 24 };
struct crc_tables {
    unsigned step[4][256];      /* x^(32 * CRC_THREADS) times a byte, for each byte of a word */
    unsigned lane[CRC_THREADS]; /* x^(32 * (CRC_THREADS - i)) */
    unsigned piece[CRC_POWERS]; /* x^(32 * CRC_THREADS * CRC_WORDS * 2^i) */
    unsigned back[4];           /* x^(-8 * i) */
};

/* Copies the tables to the device. The caller frees them. */
cudaError_t gf_png_crc_bring(struct crc_tables **tables, cudaStream_t stream);

static constexpr unsigned POLYNOMIAL = 0xedb88320u, ONE = 1u << 31;

static inline __host__ __device__ unsigned product(unsigned a, unsigned b)
{
    unsigned sum = 0;
    for (unsigned bit = ONE; bit; bit >>= 1) {
        sum ^= a & bit ? b : 0;
        b = (b >> 1) ^ (b & 1 ? POLYNOMIAL : 0);
    }
    return sum;
}

/* Returns the mask of the bytes of word i that are within begin .. end - 1. */
static __device__ __forceinline__ unsigned mask_of(uint64_t i, uint64_t begin, uint64_t end)
{
    unsigned mask = ~0u;
    if (4 * i < begin)
        mask = begin - 4 * i < 4 ? mask << 8 * (begin - 4 * i) : 0;
    if (4 * i + 4 > end)
        mask = end > 4 * i ? mask & ~(~0u << 8 * (end - 4 * i)) : 0;
    return mask;
}

/* Returns word i of the message begin .. end - 1. The CRC starts with all bits set, which is the
 * same as inverting the first four bytes. */
static __device__ __forceinline__ unsigned message_word(const unsigned *words, uint64_t i,
                                                        uint64_t begin, uint64_t end)
{
    return (words[i] & mask_of(i, begin, end)) ^ mask_of(i, begin, begin + 4);
}

/* Moves the thread's sum by CRC_THREADS words. */
static __device__ __forceinline__ unsigned next_sum(const unsigned (*step)[256], unsigned sum)
{
    return step[0][sum & 255] ^ step[1][sum >> 8 & 255] ^ step[2][sum >> 16 & 255] ^
           step[3][sum >> 24];
}

static __device__ __forceinline__ void load_steps(unsigned (*step)[256],
                                                  const struct crc_tables *tables)
{
    for (int i = threadIdx.x; i < 4 * 256; i += CRC_THREADS)
        (&step[0][0])[i] = (&tables->step[0][0])[i];
}

/* Adds the sums of all threads of the block to *all, in shared memory. */
static __device__ __forceinline__ void add_up(unsigned own, unsigned *all)
{
#pragma unroll
    for (int i = WARP / 2; i; i /= 2)
        own ^= __shfl_xor_sync(~0u, own, i);
    if (threadIdx.x % WARP == 0)
        atomicXor(all, own);
    __syncthreads();
}
