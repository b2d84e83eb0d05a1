/* Stencils of a small reach that keep their samples in registers. A lane owns 16 bytes of a row, a
 * warp 512, and both move down a strip of rows. A lane gets the words next to its own from
 * neighbouring lanes by shuffles; the first and the last lane load the words next to the warp's.
 * The loads of the next row overlap with the work on the current row. A step works on words -BESIDE
 * .. 3 + BESIDE of a row, counted from the lane's own words. */
#pragma once

#include <cuda_fp16.h>

#include "cuda/common/sample_table.cuh"
#include "cuda/common/stencil.cuh"
#include "cuda/common/straight.cuh"
#include "stage/border.h"

enum {
    STRIP_LANES = 32,
    STRIP_WARPS = 4, /* warps of a block, one above the other */
    STRIP_THREADS = STRIP_LANES * STRIP_WARPS,
    STRIP_CHUNK = 16, /* bytes of a lane */
    STRIP_BYTES = STRIP_CHUNK * STRIP_LANES,
};

/* Tables in shared memory: the offset of each row (-1: a row of zeros) and, if the block's columns
 * reach an end of the row, the sample that the border uses for each column (-1: zero). */
template <class Sample, int BESIDE, int ROWS> struct strip_tables {
    long long row[ROWS];
    int from[(STRIP_BYTES + 8 * BESIDE) / sizeof(Sample)];
};

struct strip {
    const unsigned char *in;     /* the lane's own bytes of the view's first row */
    const unsigned char *beside; /* the words next to the warp's words, which its outer lanes
                                  * load */
    unsigned char *out;          /* the lane's own bytes of the row that is stored next */
    const long long *row;        /* offset of the strip's first row */
    const int *from;             /* entry of the lane's own first sample */
    int lane, lines;
    int y;      /* the strip's first row in the picture */
    int rest;   /* bytes from the lane's own first byte to the end of the row */
    bool plain; /* the row continues beyond the warp's words on both sides */
};

template <int BESIDE> struct strip_row {
    uint4 own;
    unsigned beside[BESIDE];
};

static inline int strip_blocks(const struct view_pair &p, int sample_bytes, int rows)
{
    return tile_blocks(p.width * p.channels * sample_bytes, p.rows, STRIP_BYTES,
                       rows * STRIP_WARPS);
}

/* Returns the rows of a warp's strip, a multiple of `each`: `most`, or fewer where so few blocks
 * would leave multiprocessors idle, since a strip takes as long as all of its rows one after the
 * other. `across` is the number of blocks side by side. */
static inline int strip_rows(int across, int rows, int most, int each)
{
    int processors = 0; /* 0 after a failure, which the launch then reports */
    gf_cuda_number(cudaDevAttrMultiProcessorCount, &processors);
    int strip = most;
    while (strip > each && across * ceil_div(rows, strip * STRIP_WARPS) < 2 * processors)
        strip = max(strip / 2 / each, 1) * each;
    return strip;
}

/* Fills the tables for strips of `rows` rows and returns the thread's strip. The stencil reads
 * `above` rows above and below the strip; the view has `reach` of them. A lane's bytes are those of
 * the stencil's samples, of which straight RGBA8 has half as many. */
template <class Fuse = fuse_none, class Sample, int BESIDE, int ROWS>
static __device__ __forceinline__ struct strip
find_strip(const struct view_pair &p, struct strip_tables<Sample, BESIDE, ROWS> &tables, int rows,
           int above, int reach)
{
    const int size = (int)sizeof(Sample), lane = threadIdx.x % STRIP_LANES;
    const int row_bytes = p.width * p.channels * size;
    const struct tile_origin origin = block_tile(row_bytes, STRIP_BYTES, rows * STRIP_WARPS);
    const int left = origin.x, top = origin.row;
    const int lines = min(rows * STRIP_WARPS, p.rows - top);
    const int y = p.out_y + top;
    for (int i = threadIdx.x; i < lines + 2 * above; i += STRIP_THREADS) {
        const int from = min(max(y - above + i, y - reach), y + lines - 1 + reach);
        const int index = gf_border_index(from, p.height, p.border);
        tables.row[i] = index < 0 ? -1 : (long long)(index - p.in_y) * (long long)p.in_pitch;
    }
    if (left == 0 || left + STRIP_BYTES + 4 * BESIDE > row_bytes) {
        const int start = (left - 4 * BESIDE) / size, back = 4 * BESIDE;
        for (int i = threadIdx.x; i < (STRIP_BYTES + 8 * BESIDE) / size; i += STRIP_THREADS) {
            const int pixel = (start + i + back * p.channels) / p.channels - back;
            const int index = gf_border_index(pixel, p.width, p.border);
            tables.from[i] = index < 0 ? -1 : start + i + (index - pixel) * p.channels;
        }
    }
    __syncthreads();
    struct strip strip;
    const int line = (int)threadIdx.x / STRIP_LANES * rows, byte = left + lane * STRIP_CHUNK;
    strip.lane = lane;
    strip.row = tables.row + line;
    strip.lines = min(rows, lines - line);
    strip.y = y + line;
    strip.from = tables.from + (4 * BESIDE + lane * STRIP_CHUNK) / size;
    constexpr int PART = Fuse::STRAIGHT == 8 ? 2 : 1;
    strip.in = p.in + byte / PART;
    strip.beside = strip.in + (lane == 0 ? -4 * BESIDE : (int)STRIP_CHUNK) / PART;
    strip.out = p.out + (long long)(top + line) * (long long)p.out_pitch + byte / PART;
    strip.rest = row_bytes - byte;
    strip.plain = left > 0 && left + STRIP_BYTES + 4 * BESIDE <= row_bytes;
    return strip;
}

/* Returns a word of samples, which the table `from` of struct strip_tables lists. */
template <class Sample>
static __device__ __noinline__ unsigned gather_word(const unsigned char *row, const int *from)
{
    const int size = (int)sizeof(Sample);
    unsigned word = 0;
#pragma unroll
    for (int i = 0; i < 4 / size; i++) {
        const int at = from[i];
        word |= at < 0 ? 0u : (unsigned)((const Sample *)row)[at] << 8 * size * i;
    }
    return word;
}

/* Returns a pixel of straight RGBA8, whose first sample the table lists. */
static __device__ __forceinline__ unsigned gather_pixel(const unsigned char *row, const int *from)
{
    return *from < 0 ? 0u : __ldg((const unsigned *)(row + *from));
}

/* Gathers a row of straight RGBA8 that ends within the warp's bytes, without converting it. */
template <int BESIDE>
static __device__ __forceinline__ void gather_straight(const unsigned char *start,
                                                       const struct strip &strip,
                                                       struct strip_row<BESIDE> *row)
{
    row->own.x = gather_pixel(start, strip.from);
    row->own.y = gather_pixel(start, strip.from + 4);
    if (strip.lane == 0 || strip.lane == STRIP_LANES - 1) {
#pragma unroll
        for (int i = 0; i < BESIDE / 2; i++)
            row->beside[i] = gather_pixel(
                start, strip.from + (strip.lane == 0 ? 4 * i - 2 * BESIDE : 8 + 4 * i));
    }
}

/* Gathers a row that ends within the warp's bytes. */
template <class Sample, int BESIDE>
static __device__ __forceinline__ void gather_row(const struct view_pair &p,
                                                  const struct strip &strip, long long offset,
                                                  struct strip_row<BESIDE> *row)
{
    constexpr int PER_WORD = 4 / sizeof(Sample);
    const unsigned char *const start = p.in + offset;
    const int *const beside = strip.from + (strip.lane == 0 ? -BESIDE : 4) * PER_WORD;
    if (strip.rest >= STRIP_CHUNK)
        row->own = __ldg((const uint4 *)(strip.in + offset));
    else
        row->own = make_uint4(gather_word<Sample>(start, strip.from),
                              gather_word<Sample>(start, strip.from + PER_WORD),
                              gather_word<Sample>(start, strip.from + 2 * PER_WORD),
                              gather_word<Sample>(start, strip.from + 3 * PER_WORD));
    if (strip.lane == 0 || strip.lane == STRIP_LANES - 1) {
#pragma unroll
        for (int w = 0; w < BESIDE; w++)
            row->beside[w] = gather_word<Sample>(start, beside + w * PER_WORD);
    }
}

/* Loads a row. Straight RGBA is not converted yet: map_row() does so. */
template <class Sample, class Fuse = fuse_none, int BESIDE>
static __device__ __forceinline__ void fetch_row(const struct view_pair &p,
                                                 const struct strip &strip, int i,
                                                 struct strip_row<BESIDE> *row)
{
    const long long offset = strip.row[i];
    row->own = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int w = 0; w < BESIDE; w++)
        row->beside[w] = 0;
    if (Fuse::STRAIGHT == 8 && offset >= 0 && strip.plain) {
        const uint2 pair = __ldg((const uint2 *)(strip.in + offset));
        row->own.x = pair.x, row->own.y = pair.y;
#pragma unroll
        for (int i = 0; i < BESIDE / 2; i++) {
            if (strip.lane == 0 || strip.lane == STRIP_LANES - 1)
                row->beside[i] = __ldg((const unsigned *)(strip.beside + offset) + i);
        }
    } else if (Fuse::STRAIGHT == 8 && offset >= 0) {
        gather_straight(p.in + offset, strip, row);
    } else if (offset >= 0 && strip.plain) {
        row->own = __ldg((const uint4 *)(strip.in + offset));
#pragma unroll
        for (int w = 0; w < BESIDE; w++) {
            if (strip.lane == 0 || strip.lane == STRIP_LANES - 1)
                row->beside[w] = __ldg((const unsigned *)(strip.beside + offset) + w);
        }
    } else if (offset >= 0) {
        gather_row<Sample>(p, strip, offset, row);
    }
}

/* Returns the samples of two pixels of straight RGBA. */
template <class PIXEL> static __device__ __forceinline__ uint4 premultiplied_pair(PIXEL a, PIXEL b)
{
    const uint2 left = premultiplied(a), right = premultiplied(b);
    return make_uint4(left.x, left.y, right.x, right.y);
}

/* Converts the words that two pixels of straight RGBA were loaded into. */
template <int BITS> static __device__ __forceinline__ uint4 premultiplied_words(const uint4 &own)
{
    return BITS == 8 ? premultiplied_pair(own.x, own.y)
                     : premultiplied_pair(make_uint2(own.x, own.y), make_uint2(own.z, own.w));
}

/* Looks up the samples that were loaded, or converts them, before lanes exchange them. */
template <class Fuse, int BESIDE>
static __device__ __forceinline__ void map_row(const struct strip &strip,
                                               const struct sample_tables<Fuse> &tables,
                                               struct strip_row<BESIDE> *row)
{
    if (Fuse::STRAIGHT) {
        row->own = premultiplied_words<Fuse::STRAIGHT>(row->own);
#pragma unroll
        for (int i = BESIDE / 2 - 1; i >= 0; i--) {
            const uint2 pixel =
                Fuse::STRAIGHT == 8
                    ? premultiplied(row->beside[i])
                    : premultiplied(make_uint2(row->beside[2 * i], row->beside[2 * i + 1]));
            row->beside[2 * i] = pixel.x, row->beside[2 * i + 1] = pixel.y;
        }
    }
    if (!Fuse::BEFORE)
        return;
    row->own = look_up(tables.before, row->own);
    if (strip.lane == 0 || strip.lane == STRIP_LANES - 1) {
#pragma unroll
        for (int w = 0; w < BESIDE; w++)
            row->beside[w] = look_up(tables.before, row->beside[w]);
    }
}

/* Joins the lane's words with their neighbours. All lanes of the warp take part. */
template <int BESIDE>
static __device__ __forceinline__ void join_row(const struct strip &strip,
                                                const struct strip_row<BESIDE> &row,
                                                unsigned word[4 + 2 * BESIDE])
{
    const unsigned own[4] = {row.own.x, row.own.y, row.own.z, row.own.w};
#pragma unroll
    for (int w = 0; w < 4; w++)
        word[BESIDE + w] = own[w];
#pragma unroll
    for (int w = 0; w < BESIDE; w++) {
        const unsigned left = __shfl_up_sync(0xFFFFFFFFu, own[4 - BESIDE + w], 1);
        const unsigned right = __shfl_down_sync(0xFFFFFFFFu, own[w], 1);
        word[w] = strip.lane == 0 ? row.beside[w] : left;
        word[BESIDE + 4 + w] = strip.lane == STRIP_LANES - 1 ? row.beside[w] : right;
    }
}

static __device__ __noinline__ void store_rest(unsigned char *to, int rest, uint4 own)
{
    const unsigned word[4] = {own.x, own.y, own.z, own.w};
#pragma unroll
    for (int b = 0; b < STRIP_CHUNK; b++) {
        if (b < rest)
            to[b] = (unsigned char)(word[b / 4] >> 8 * (b % 4));
    }
}

/* Stores the next row. Its samples are looked up, or converted, first. */
template <class Fuse>
static __device__ __forceinline__ void store_row(const struct view_pair &p, struct strip &strip,
                                                 const struct sample_tables<Fuse> &tables,
                                                 const unsigned word[4])
{
    uint4 own = look_up(tables.after, make_uint4(word[0], word[1], word[2], word[3]));
    if (Fuse::STRAIGHT == 16) {
        const uint2 left = straightened<uint2>(make_uint2(own.x, own.y));
        const uint2 right = straightened<uint2>(make_uint2(own.z, own.w));
        own = make_uint4(left.x, left.y, right.x, right.y);
    }
    if (Fuse::STRAIGHT == 8) {
        const uint2 pair = make_uint2(straightened<unsigned>(make_uint2(own.x, own.y)),
                                      straightened<unsigned>(make_uint2(own.z, own.w)));
        if (strip.rest >= STRIP_CHUNK)
            *(uint2 *)strip.out = pair;
        else if (strip.rest > 0)
            *(unsigned *)strip.out = pair.x; /* the last pixel of an odd row */
    } else if (strip.rest >= STRIP_CHUNK)
        *(uint4 *)strip.out = own;
    else
        store_rest(strip.out, strip.rest, own);
    strip.out += p.out_pitch;
}

/* Returns bytes 0 and 2 of a word, or 1 and 3, as two numbers of half precision without a
 * conversion: the bits of v are the bits of the denormal number v * 2^-24. Denormal halves are
 * multiples of 2^-24, so that sums and differences up to 2047 are exact, and one instruction
 * computes two. */
static __device__ __forceinline__ __half2 tiny_halves(unsigned word, int odd)
{
    const unsigned pair = __byte_perm(word, 0, odd ? 0x4341 : 0x4240);
    return *(const __half2 *)&pair;
}

/* Returns the upper half of one pair and the lower half of the next pair. */
static __device__ __forceinline__ __half2 between(__half2 before, __half2 after)
{
    const unsigned pair =
        __byte_perm(*(const unsigned *)&before, *(const unsigned *)&after, 0x5432);
    return *(const __half2 *)&pair;
}
