/* Kernels for lists of point filters that are one look-up in a table. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"

enum {
    TABLE_THREADS = 256,
    TABLE_WAVES =
        8, /* the most waves of blocks that are started: starts and work of blocks overlap */
    /* The least number of items of a thread for each table, so that filling the tables takes less
     * time than using them: for one table, and for more. */
    TABLE_ITEMS = 3,
    TABLES_ITEMS = 2
};

/* The words of a table, all copies. Each lane of a warp has a copy of a table in its own bank, so
 * that no look-up waits for another one (Best Practices Guide 9.2.3.1). A word holds four entries:
 * entry v of a lane is at (v / 4) * 128 + v % 4, which one dp4a computes from the byte's upper six
 * bits and its lower two. Such a table takes 8 KB; with one entry in a word it would take 32 KB,
 * and four times as long to fill for every block. */
enum { TABLE_WORDS = 256 / 4 * WARP /* words of a table, all copies */ };

/* Looks up four samples in tables of their own. a, b, c and d are the lane's copies of the
 * tables. */
static __device__ __forceinline__ unsigned look_up_word(unsigned word, const unsigned char *a,
                                                        const unsigned char *b,
                                                        const unsigned char *c,
                                                        const unsigned char *d)
{
    const unsigned upper = word & 0xfcfcfcfcu, lower = word & 0x03030303u;
    const unsigned v0 = a[__dp4a(upper, (unsigned)WARP, lower & 3u)];
    const unsigned v1 = b[__dp4a(upper, (unsigned)WARP << 8, lower >> 8 & 3u)];
    const unsigned v2 = c[__dp4a(upper, (unsigned)WARP << 16, lower >> 16 & 3u)];
    const unsigned v3 = d[__dp4a(upper, (unsigned)WARP << 24, lower >> 24)];
    return __byte_perm(__byte_perm(v0, v1, 0x0040), __byte_perm(v2, v3, 0x0040), 0x5410);
}

/* Returns the lane's copy of a channel's table. TABLES is 1 for one table for all channels, or the
 * number of channels. */
template <int CHANNELS, int TABLES>
static __device__ __forceinline__ const unsigned char *table_of(const unsigned char *copy,
                                                                unsigned channel)
{
    return TABLES == 1 ? copy : copy + channel % CHANNELS * (4 * TABLE_WORDS);
}

/* Returns the channel of the first sample of item `column` of a row. With three channels it is
 * column modulo 3, because an item has 16, 4 or 1 samples, which are 1 modulo 3. */
template <int CHANNELS, int TABLES, class ACCESS>
static __device__ __forceinline__ unsigned first_channel(unsigned column)
{
    if (TABLES == 1)
        return 0;
    return CHANNELS == 3 || sizeof(ACCESS) == 1 ? column % CHANNELS : 0;
}

template <int CHANNELS, int TABLES>
static __device__ __forceinline__ uint4 look_up(const unsigned char *copy, uint4 v, unsigned column)
{
    const unsigned first = first_channel<CHANNELS, TABLES, uint4>(column);
    const unsigned char *table[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        table[k] = table_of<CHANNELS, TABLES>(copy, first + (unsigned)k);
    const unsigned char *const a = table[0], *const b = table[1], *const c = table[2],
                               *const d = table[3];
    if (CHANNELS == 3)
        return make_uint4(look_up_word(v.x, a, b, c, a), look_up_word(v.y, b, c, a, b),
                          look_up_word(v.z, c, a, b, c), look_up_word(v.w, a, b, c, a));
    return make_uint4(look_up_word(v.x, a, b, c, d), look_up_word(v.y, a, b, c, d),
                      look_up_word(v.z, a, b, c, d), look_up_word(v.w, a, b, c, d));
}

template <int CHANNELS, int TABLES>
static __device__ __forceinline__ unsigned look_up(const unsigned char *copy, unsigned v,
                                                   unsigned column)
{
    const unsigned first = first_channel<CHANNELS, TABLES, unsigned>(column);
    return look_up_word(
        v, table_of<CHANNELS, TABLES>(copy, first), table_of<CHANNELS, TABLES>(copy, first + 1),
        table_of<CHANNELS, TABLES>(copy, first + 2), table_of<CHANNELS, TABLES>(copy, first + 3));
}

template <int CHANNELS, int TABLES>
static __device__ __forceinline__ unsigned char look_up(const unsigned char *copy, unsigned char v,
                                                        unsigned column)
{
    const unsigned first = first_channel<CHANNELS, TABLES, unsigned char>(column);
    return table_of<CHANNELS, TABLES>(copy, first)[(v & ~3u) * WARP + (v & 3u)];
}

template <int CHANNELS, int TABLES>
static __device__ __forceinline__ void look_up_tail(const unsigned char *copy,
                                                    const unsigned char *in, unsigned char *out,
                                                    unsigned tail, unsigned column)
{
    const unsigned first = CHANNELS == 3 ? column % 3 : 0;
#pragma unroll 1
    for (unsigned i = 0; i < tail; i++) {
        const unsigned char *const table = table_of<CHANNELS, TABLES>(copy, first + i);
        out[i] = table[(in[i] & ~3u) * WARP + (in[i] & 3u)];
    }
}

/* Loads bytes that are used once, so that the cache drops them first. */
template <class ACCESS>
static __device__ __forceinline__ ACCESS load_once(const unsigned char *from, unsigned column)
{
    return __ldcs((const ACCESS *)from + column);
}

/* Maps 8-bit samples, from the last row to the first: rows that were read or written last, for
 * example by the kernel that counts the histogram, may still be in the cache. On an H200 counting
 * the histogram of 8K gray8 and the look-up take 0.027 ms together; from the first row to the last,
 * with ordinary accesses, they take 0.029 ms. */
template <int CHANNELS, int TABLES, class ACCESS>
__global__ void __launch_bounds__(TABLE_THREADS)
    table8_kernel(const struct view_pair band, unsigned full, unsigned tail, const unsigned *tables)
{
    __shared__ uint4 copies[TABLES * TABLE_WORDS / 4];
    const unsigned row_items = full + (tail ? 1 : 0);
    const unsigned items = band.rows * row_items;
    const unsigned char *const copy = (const unsigned char *)copies + threadIdx.x % WARP * 4;
    unsigned item = blockIdx.x * TABLE_THREADS + threadIdx.x;
    early_next();
    for (int i = (int)threadIdx.x; i < TABLES * TABLE_WORDS / 4; i += TABLE_THREADS) {
        const unsigned word = tables[i / (WARP / 4)];
        copies[i] = make_uint4(word, word, word, word);
    }
    early_wait();
    struct position at = position_of(items - 1 - item, band.rows, row_items);
    ACCESS v = ACCESS();
    if (item < items && at.column < full)
        v = load_once<ACCESS>(band.in + at.row * band.in_pitch, at.column);
    __syncthreads();
    while (item < items) {
        const size_t offset = (size_t)at.column * sizeof(ACCESS);
        unsigned char *const out = band.out + at.row * band.out_pitch + offset;
        if (at.column < full)
            __stcs((ACCESS *)out, look_up<CHANNELS, TABLES>(copy, v, at.column));
        else
            look_up_tail<CHANNELS, TABLES>(copy, band.in + at.row * band.in_pitch + offset, out,
                                           tail, at.column);
        item += gridDim.x * TABLE_THREADS;
        at = position_of(items - 1 - item, band.rows, row_items);
        if (item < items && at.column < full)
            v = load_once<ACCESS>(band.in + at.row * band.in_pitch, at.column);
    }
}

/* Maps 16-bit samples. The table is too large to copy; look-ups go through the first-level
 * cache. */
template <int CHANNELS, class ACCESS>
__global__ void __launch_bounds__(TABLE_THREADS)
    table16_kernel(const struct view_pair band, unsigned full, unsigned tail,
                   const unsigned short *table, int step)
{
    const unsigned row_items = full + (tail ? 1 : 0);
    const unsigned items = band.rows * row_items;
    const unsigned item = blockIdx.x * TABLE_THREADS + threadIdx.x;
    early_next();
    if (item < items) {
        const struct position at = position_of(item, band.rows, row_items);
        early_wait();
        constexpr int SAMPLES = sizeof(ACCESS) / 2;
        const size_t offset = (size_t)at.column * sizeof(ACCESS);
        const unsigned char *const in = band.in + at.row * band.in_pitch + offset;
        unsigned char *const out = band.out + at.row * band.out_pitch + offset;
        const int first = (int)(at.column % CHANNELS * SAMPLES % CHANNELS);
        if (SAMPLES > 1 && at.column < full) {
            ACCESS v = *(const ACCESS *)in;
            unsigned word[(SAMPLES + 1) / 2];
            memcpy(word, &v, sizeof v);
#pragma unroll
            for (int k = 0; k < SAMPLES; k++) {
                const int channel = (first + k) % CHANNELS;
                const unsigned sample = word[k / 2] >> 16 * (k % 2) & 65535u;
                if (CHANNELS % 2 == 1 || channel < CHANNELS - 1) {
                    const unsigned to = table[(int)sample + channel * step];
                    word[k / 2] = __byte_perm(word[k / 2], to, k % 2 ? 0x5410 : 0x3254);
                }
            }
            memcpy(&v, word, sizeof v);
            *(ACCESS *)out = v;
        } else {
            const int samples = SAMPLES == 1 ? 1 : (int)tail / 2;
#pragma unroll 1
            for (int k = 0; k < samples; k++) {
                const int channel = (first + k) % CHANNELS;
                const unsigned short sample = ((const unsigned short *)in)[k];
                const bool alpha = CHANNELS % 2 == 0 && channel == CHANNELS - 1;
                ((unsigned short *)out)[k] = alpha ? sample : table[sample + channel * step];
            }
        }
    }
}

static __device__ __forceinline__ uint4 negative(uint4 v)
{
    return make_uint4(~v.x, ~v.y, ~v.z, ~v.w);
}

static __device__ __forceinline__ unsigned negative(unsigned v)
{
    return ~v;
}

static __device__ __forceinline__ unsigned char negative(unsigned char v)
{
    return (unsigned char)~v;
}

/* Inverts all samples, which needs no table. */
template <class ACCESS>
__global__ void __launch_bounds__(TABLE_THREADS)
    invert8_kernel(const struct view_pair band, unsigned full, unsigned tail)
{
    const unsigned row_items = full + (tail ? 1 : 0);
    const struct position at =
        position_of(blockIdx.x * TABLE_THREADS + threadIdx.x, band.rows, row_items);
    early_next();
    if (at.row >= band.rows || at.column >= row_items)
        return;
    early_wait();
    const size_t offset = (size_t)at.column * sizeof(ACCESS);
    const unsigned char *const in = band.in + at.row * band.in_pitch + offset;
    unsigned char *const out = band.out + at.row * band.out_pitch + offset;
    if (at.column < full) {
        *(ACCESS *)out = negative(*(const ACCESS *)in);
    } else {
#pragma unroll 1
        for (unsigned i = 0; i < tail; i++)
            out[i] = (unsigned char)~in[i];
    }
}

/* Whether the table, which is in host memory, inverts samples. */
static inline bool is_negative(const unsigned char *table, struct gf_format format, int tables)
{
    bool negative = format.bits == 8 && format.channels % 2 == 1 && tables == 1;
    for (int v = 0; negative && v < 256; v++)
        negative = table[v] == 255 - v;
    return negative;
}

template <class ACCESS>
static int launch_invert8(const struct view_pair *band, struct gf_format format,
                          cudaStream_t stream)
{
    unsigned tail;
    const unsigned full =
        whole_items((size_t)band->width * (size_t)format.channels, sizeof(ACCESS), &tail);
    const unsigned blocks = blocks_for(band->rows * (full + !!tail), TABLE_THREADS);
    return launch_early(invert8_kernel<ACCESS>, blocks, TABLE_THREADS, 0, stream, *band, full,
                        tail);
}

template <int CHANNELS, int TABLES, class ACCESS>
static int launch_table8(const struct view_pair *band, const unsigned *tables, cudaStream_t stream)
{
    const void *const kernel = (const void *)table8_kernel<CHANNELS, TABLES, ACCESS>;
    unsigned tail, blocks;
    const unsigned full = whole_items((size_t)band->width * CHANNELS, sizeof(ACCESS), &tail);
    const unsigned needed = blocks_for(band->rows * (full + !!tail), TABLE_THREADS);
    LAUNCH_TRY(resident_blocks(kernel, TABLE_THREADS, 0, needed, &blocks));
    /* The blocks of a small picture run all at once, and are fastest if each thread has one
     * item. */
    const unsigned worth =
        needed == blocks ? needed
                         : blocks_for(needed, TABLES == 1 ? TABLE_ITEMS : TABLES_ITEMS * TABLES);
    /* Only whole waves are started, because most of the GPU would be idle in a last wave of few
     * blocks. */
    const unsigned waves = blocks ? (worth + blocks / 2) / blocks : 0;
    blocks = worth <= blocks
                 ? worth
                 : blocks * (waves < (unsigned)TABLE_WAVES ? waves : (unsigned)TABLE_WAVES);
    return launch_early(table8_kernel<CHANNELS, TABLES, ACCESS>, blocks, TABLE_THREADS, 0, stream,
                        *band, full, tail, tables);
}

template <int CHANNELS, class ACCESS>
static int launch_table16(const struct view_pair *band, const unsigned short *table, int step,
                          cudaStream_t stream)
{
    unsigned tail;
    const unsigned full = whole_items((size_t)band->width * CHANNELS * 2, sizeof(ACCESS), &tail);
    const unsigned blocks = blocks_for(band->rows * (full + !!tail), TABLE_THREADS);
    return launch_early(table16_kernel<CHANNELS, ACCESS>, blocks, TABLE_THREADS, 0, stream, *band,
                        full, tail, table, step);
}

/* The type of an access to samples of 16 bits: ACCESS, unless that is a single byte. */
template <class ACCESS> struct access16 {
    typedef ACCESS type;
};
template <> struct access16<unsigned char> {
    typedef unsigned short type;
};

template <class ACCESS>
static int launch_tables(const struct view_pair *band, struct gf_format format, const void *table,
                         int tables, cudaStream_t stream)
{
    typedef typename access16<ACCESS>::type wide;
    static int (*const launch8[])(const struct view_pair *, const unsigned *, cudaStream_t) = {
        launch_table8<1, 1, ACCESS>, launch_table8<2, 2, ACCESS>, launch_table8<3, 3, ACCESS>,
        launch_table8<4, 4, ACCESS>};
    static int (*const launch16[])(const struct view_pair *, const unsigned short *, int,
                                   cudaStream_t) = {
        launch_table16<1, wide>, launch_table16<2, wide>, launch_table16<3, wide>,
        launch_table16<4, wide>};
    if (format.bits == 8 && format.channels == 3 && tables == 1)
        return launch_table8<3, 1, ACCESS>(band, (const unsigned *)table, stream);
    if (format.bits == 8)
        return launch8[format.channels - 1](band, (const unsigned *)table, stream);
    return launch16[format.channels - 1](band, (const unsigned short *)table,
                                         tables == 1 ? 0 : 65536, stream);
}
