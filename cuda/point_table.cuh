/* Runs of point filters that are one table look-up. */
#ifndef GF_POINT_TABLE_CUH
#define GF_POINT_TABLE_CUH

#include "band.cuh"

enum {
    TABLE_THREADS = 256,
    TABLE_WAVES = 8, /* blocks that come after each other on a multiprocessor, so that their starts overlap */
    TABLE_WORDS = 256 / 4 * WARP /* of one table in shared memory, all lanes' copies */
};

/* Each lane of a warp has a copy of the tables in its own bank of shared memory, so that no look-up waits for
 * another whatever the picture (Best Practices Guide 9.2.3.1). A word holds four entries: entry v of a lane
 * lies at (v / 4) * 128 + v % 4, which a dp4a makes of the byte's upper six bits and its lower two. A table so
 * packed takes 8 KB; one entry a word would take 32, and as much longer to fill for every block. */
static __device__ __forceinline__ unsigned look_up_word(unsigned word, const unsigned char *a,
                                                        const unsigned char *b, const unsigned char *c,
                                                        const unsigned char *d)
{
    const unsigned upper = word & 0xfcfcfcfcu, lower = word & 0x03030303u;
    const unsigned v0 = a[__dp4a(upper, 0x20u, lower & 3u)];
    const unsigned v1 = b[__dp4a(upper, 0x2000u, lower >> 8 & 3u)];
    const unsigned v2 = c[__dp4a(upper, 0x200000u, lower >> 16 & 3u)];
    const unsigned v3 = d[__dp4a(upper, 0x20000000u, lower >> 24)];
    return __byte_perm(__byte_perm(v0, v1, 0x0040), __byte_perm(v2, v3, 0x0040), 0x5410);
}

/* TABLES: 1 for all channels, or one for each. */
template <int CHANNELS, int TABLES>
static __device__ __forceinline__ const unsigned char *table_of(const unsigned char *copy, unsigned channel)
{
    return TABLES == 1 ? copy : copy + channel % CHANNELS * (4 * TABLE_WORDS);
}

template <int CHANNELS, int TABLES>
static __device__ __forceinline__ uint4 look_up_vector(const unsigned char *copy, uint4 v, unsigned column)
{
    /* A vector of three channels begins with channel 16 column mod 3; of others, with the first. */
    const unsigned first = CHANNELS == 3 && TABLES > 1 ? column % 3 : 0;
    const unsigned char *table[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        table[k] = table_of<CHANNELS, TABLES>(copy, first + (unsigned)k);
    const unsigned char *const a = table[0], *const b = table[1], *const c = table[2], *const d = table[3];
    if (CHANNELS == 3)
        return make_uint4(look_up_word(v.x, a, b, c, a), look_up_word(v.y, b, c, a, b),
                          look_up_word(v.z, c, a, b, c), look_up_word(v.w, a, b, c, a));
    return make_uint4(look_up_word(v.x, a, b, c, d), look_up_word(v.y, a, b, c, d),
                      look_up_word(v.z, a, b, c, d), look_up_word(v.w, a, b, c, d));
}

template <int CHANNELS, int TABLES>
static __device__ __forceinline__ void look_up_tail(const unsigned char *copy, const unsigned char *in,
                                                    unsigned char *out, unsigned tail, unsigned column)
{
    const unsigned first = CHANNELS == 3 ? column % 3 : 0;
#pragma unroll 1
    for (unsigned i = 0; i < tail; i++) {
        const unsigned char *const table = table_of<CHANNELS, TABLES>(copy, first + i);
        out[i] = table[(in[i] & ~3u) * WARP + (in[i] & 3u)];
    }
}

/* 8 bits. A block's first load is under way while it fills its tables. */
template <int CHANNELS, int TABLES>
__global__ void __launch_bounds__(TABLE_THREADS)
    table8_kernel(const struct band band, unsigned full, unsigned tail, const unsigned *tables)
{
    __shared__ unsigned copies[TABLES * TABLE_WORDS];
    const unsigned row_items = full + (tail ? 1 : 0);
    const unsigned items = band.rows * row_items;
    const unsigned char *const copy = (const unsigned char *)(copies + threadIdx.x % WARP);
    unsigned item = blockIdx.x * TABLE_THREADS + threadIdx.x;
    struct place at = place_of(item, band.rows, row_items);
    uint4 v = make_uint4(0, 0, 0, 0);
    if (item < items && at.column < full)
        v = ((const uint4 *)(band.in + at.row * band.in_pitch))[at.column];
    for (int i = (int)threadIdx.x; i < TABLES * TABLE_WORDS; i += TABLE_THREADS)
        copies[i] = tables[i / WARP];
    __syncthreads();
    while (item < items) {
        const size_t offset = (size_t)at.column * VECTOR;
        unsigned char *const out = band.out + at.row * band.out_pitch + offset;
        if (at.column < full)
            *(uint4 *)out = look_up_vector<CHANNELS, TABLES>(copy, v, at.column);
        else
            look_up_tail<CHANNELS, TABLES>(copy, band.in + at.row * band.in_pitch + offset, out, tail,
                                           at.column);
        item += gridDim.x * TABLE_THREADS;
        at = place_of(item, band.rows, row_items);
        if (item < items && at.column < full)
            v = ((const uint4 *)(band.in + at.row * band.in_pitch))[at.column];
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

/* The negative needs no table. */
__global__ void __launch_bounds__(TABLE_THREADS)
    invert8_kernel(const struct band band, unsigned full, unsigned tail)
{
    const unsigned row_items = full + (tail ? 1 : 0);
    const struct place at = place_of(blockIdx.x * TABLE_THREADS + threadIdx.x, band.rows, row_items);
    if (at.row >= band.rows || at.column >= row_items)
        return;
    const unsigned char *const in = band.in + at.row * band.in_pitch + (size_t)at.column * VECTOR;
    unsigned char *const out = band.out + at.row * band.out_pitch + (size_t)at.column * VECTOR;
    if (at.column < full) {
        const uint4 v = *(const uint4 *)in;
        *(uint4 *)out = make_uint4(~v.x, ~v.y, ~v.z, ~v.w);
    } else {
#pragma unroll 1
        for (unsigned i = 0; i < tail; i++)
            out[i] = (unsigned char)~in[i];
    }
}

/* table: on the host */
static bool is_negative(const unsigned char *table, struct gf_format format, int tables)
{
    bool negative = format.bits == 8 && format.channels % 2 == 1 && tables == 1;
    for (int v = 0; negative && v < 256; v++)
        negative = table[v] == 255 - v;
    return negative;
}

static int launch_invert8(const struct band *band, struct gf_format format, cudaStream_t stream)
{
    const size_t bytes = (size_t)band->width * (size_t)format.channels;
    const unsigned full = (unsigned)(bytes / VECTOR), tail = (unsigned)(bytes % VECTOR);
    const unsigned blocks = blocks_for(band->rows * (full + !!tail), TABLE_THREADS);
    invert8_kernel<<<blocks, TABLE_THREADS, 0, stream>>>(*band, full, tail);
    return cudaGetLastError();
}

template <int CHANNELS, int TABLES>
static int launch_table8(const struct band *band, const unsigned *tables, cudaStream_t stream)
{
    const size_t bytes = (size_t)band->width * CHANNELS;
    const unsigned full = (unsigned)(bytes / VECTOR), tail = (unsigned)(bytes % VECTOR);
    const unsigned needed = blocks_for(band->rows * (full + !!tail), TABLE_THREADS);
    unsigned blocks;
    const cudaError_t status =
        resident_blocks((const void *)table8_kernel<CHANNELS, TABLES>, TABLE_THREADS, 0, needed, &blocks);
    if (status != cudaSuccess)
        return status;
    blocks = blocks * TABLE_WAVES < needed ? blocks * TABLE_WAVES : needed;
    table8_kernel<CHANNELS, TABLES><<<blocks, TABLE_THREADS, 0, stream>>>(*band, full, tail, tables);
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
        launch_table8<1, 1>, launch_table8<2, 2>, launch_table8<3, 3>, launch_table8<4, 4>};
    static int (*const launch16[])(const struct band *, const unsigned short *, int,
                                   cudaStream_t) = {launch_table16<1>, launch_table16<2>,
                                                    launch_table16<3>, launch_table16<4>};
    if (format.bits == 8 && format.channels == 3 && tables == 1)
        return launch_table8<3, 1>(band, (const unsigned *)table, stream);
    if (format.bits == 8)
        return launch8[format.channels - 1](band, (const unsigned *)table, stream);
    return launch16[format.channels - 1](band, (const unsigned short *)table,
                                         tables == 1 ? 0 : 65536, stream);
}

#endif
