/* Runs of point filters that are one table look-up. */
#ifndef GF_POINT_TABLE_CUH
#define GF_POINT_TABLE_CUH

#include "band.cuh"

enum {
    TABLE_THREADS = 384,
    TABLE_VECTORS = 2 /* of a thread at a time, loaded before either is used */
};

/* An entry has every channel's byte; byte k of a word looks up at entry * 128 + offset, which one
 * dp4a computes. `offset` names the thread's copy of the table and the channel. */
static __device__ __forceinline__ unsigned look_up_word(const unsigned char *table, unsigned word,
                                                        unsigned a, unsigned b, unsigned c,
                                                        unsigned d)
{
    const unsigned v0 = table[__dp4a(word, 0x80u, a)];
    const unsigned v1 = table[__dp4a(word, 0x8000u, b)];
    const unsigned v2 = table[__dp4a(word, 0x800000u, c)];
    const unsigned v3 = table[__dp4a(word, 0x80000000u, d)];
    return __byte_perm(__byte_perm(v0, v1, 0x0040), __byte_perm(v2, v3, 0x0040), 0x5410);
}

template <int CHANNELS>
static __device__ __forceinline__ uint4 look_up_vector(const unsigned char *table, uint4 v,
                                                       unsigned copy, unsigned column)
{
    if (CHANNELS == 3) { /* a vector begins with channel 16 column mod 3 */
        const unsigned first = column % 3;
        const unsigned a = copy + first;
        const unsigned b = copy + (first == 2 ? 0 : first + 1);
        const unsigned c = copy + (first == 0 ? 2 : first - 1);
        return make_uint4(
            look_up_word(table, v.x, a, b, c, a), look_up_word(table, v.y, b, c, a, b),
            look_up_word(table, v.z, c, a, b, c), look_up_word(table, v.w, a, b, c, a));
    }
    const unsigned a = copy, b = copy + 1 % CHANNELS, c = copy + 2 % CHANNELS,
                   d = copy + 3 % CHANNELS;
    return make_uint4(look_up_word(table, v.x, a, b, c, d), look_up_word(table, v.y, a, b, c, d),
                      look_up_word(table, v.z, a, b, c, d), look_up_word(table, v.w, a, b, c, d));
}

/* 8 bits. Each lane of a warp has a copy of the table in its own bank of shared memory, so that no
 * look-up waits for another whatever the picture (Best Practices Guide 9.2.3.1). The blocks stay,
 * since the copies take a while to make. */
template <int CHANNELS>
__global__ void __launch_bounds__(TABLE_THREADS)
    table8_kernel(const struct band band, unsigned full, unsigned tail, const unsigned *entries)
{
    __shared__ uint4 copies[256 * WARP / 4];
    const unsigned row_items = full + (tail ? 1 : 0);
    const unsigned items = band.rows * row_items;
    for (int i = (int)threadIdx.x; i < 256 * WARP / 4; i += TABLE_THREADS) {
        const unsigned entry = entries[i / (WARP / 4)];
        copies[i] = make_uint4(entry, entry, entry, entry);
    }
    __syncthreads();
    const unsigned char *const table = (const unsigned char *)copies;
    const unsigned copy = 4 * (threadIdx.x % WARP);
    const unsigned tile = TABLE_THREADS * TABLE_VECTORS;
    for (unsigned first = blockIdx.x * tile; first < items; first += gridDim.x * tile) {
        uint4 v[TABLE_VECTORS];
        struct place at[TABLE_VECTORS];
#pragma unroll
        for (int k = 0; k < TABLE_VECTORS; k++) {
            at[k] =
                place_of(first + (unsigned)k * TABLE_THREADS + threadIdx.x, band.rows, row_items);
            if (at[k].row < band.rows && at[k].column < full)
                v[k] = ((const uint4 *)(band.in + at[k].row * band.in_pitch))[at[k].column];
        }
#pragma unroll
        for (int k = 0; k < TABLE_VECTORS; k++) {
            const size_t offset = (size_t)at[k].column * VECTOR;
            unsigned char *const out = band.out + at[k].row * band.out_pitch + offset;
            if (at[k].row < band.rows && at[k].column < full) {
                *(uint4 *)out = look_up_vector<CHANNELS>(table, v[k], copy, at[k].column);
            } else if (at[k].row < band.rows && at[k].column == full) {
                const unsigned char *const in = band.in + at[k].row * band.in_pitch + offset;
                const unsigned channel = CHANNELS == 3 ? at[k].column % 3 : 0;
#pragma unroll 1
                for (unsigned i = 0; i < tail; i++)
                    out[i] = table[in[i] * 128u + copy + (channel + i) % CHANNELS];
            }
        }
    }
}

/* 16 bits: the table is too large to copy; look-ups go through the first-level cache. */
template <int CHANNELS>
__global__ void __launch_bounds__(TABLE_THREADS)
    table16_kernel(const struct band band, unsigned full, unsigned tail,
                   const unsigned short *table, int step)
{
    const unsigned row_items = full + (tail ? 1 : 0);
    const unsigned items = band.rows * row_items;
    const unsigned item = blockIdx.x * TABLE_THREADS + threadIdx.x;
    if (item < items) {
        const struct place at = place_of(item, band.rows, row_items);
        const size_t offset = (size_t)at.column * VECTOR;
        const unsigned char *const in = band.in + at.row * band.in_pitch + offset;
        unsigned char *const out = band.out + at.row * band.out_pitch + offset;
        const int first = CHANNELS == 3 ? (int)(at.column % 3 * 2 % 3) : 0;
        if (at.column < full) {
            const uint4 v = *(const uint4 *)in;
            unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int k = 0; k < 8; k++) {
                const int channel = CHANNELS == 3 ? (first + k) % 3 : k % CHANNELS;
                const unsigned sample = word[k / 2] >> 16 * (k % 2) & 65535u;
                if (CHANNELS % 2 == 1 || channel < CHANNELS - 1) {
                    const unsigned to = table[(int)sample + channel * step];
                    word[k / 2] = __byte_perm(word[k / 2], to, k % 2 ? 0x5410 : 0x3254);
                }
            }
            *(uint4 *)out = make_uint4(word[0], word[1], word[2], word[3]);
        } else {
#pragma unroll 1
            for (int k = 0; k < (int)tail / 2; k++) {
                const int channel = (first + k) % CHANNELS;
                const unsigned short sample = ((const unsigned short *)in)[k];
                const bool alpha = CHANNELS % 2 == 0 && channel == CHANNELS - 1;
                ((unsigned short *)out)[k] = alpha ? sample : table[sample + channel * step];
            }
        }
    }
}

template <int CHANNELS>
static int launch_table8(const struct band *band, const unsigned *entries, cudaStream_t stream)
{
    const size_t bytes = (size_t)band->width * CHANNELS;
    const unsigned full = (unsigned)(bytes / VECTOR), tail = (unsigned)(bytes % VECTOR);
    unsigned blocks = blocks_for(band->rows * (full + !!tail), TABLE_THREADS * TABLE_VECTORS);
    const cudaError_t status =
        resident_blocks((const void *)table8_kernel<CHANNELS>, TABLE_THREADS, 0, blocks, &blocks);
    if (status != cudaSuccess)
        return status;
    table8_kernel<CHANNELS><<<blocks, TABLE_THREADS, 0, stream>>>(*band, full, tail, entries);
    return cudaGetLastError();
}

template <int CHANNELS>
static int launch_table16(const struct band *band, const unsigned short *table, int step,
                          cudaStream_t stream)
{
    const size_t bytes = (size_t)band->width * CHANNELS * 2;
    const unsigned full = (unsigned)(bytes / VECTOR), tail = (unsigned)(bytes % VECTOR);
    const unsigned blocks = blocks_for(band->rows * (full + !!tail), TABLE_THREADS);
    table16_kernel<CHANNELS><<<blocks, TABLE_THREADS, 0, stream>>>(*band, full, tail, table, step);
    return cudaGetLastError();
}

static int launch_tables(const struct band *band, struct gf_format format, const void *table,
                         int tables, cudaStream_t stream)
{
    static int (*const launch8[])(const struct band *, const unsigned *, cudaStream_t) = {
        launch_table8<1>, launch_table8<2>, launch_table8<3>, launch_table8<4>};
    static int (*const launch16[])(const struct band *, const unsigned short *, int,
                                   cudaStream_t) = {launch_table16<1>, launch_table16<2>,
                                                    launch_table16<3>, launch_table16<4>};
    if (format.bits == 8)
        return launch8[format.channels - 1](band, (const unsigned *)table, stream);
    return launch16[format.channels - 1](band, (const unsigned short *)table,
                                         tables == 1 ? 0 : 65536, stream);
}

#endif
