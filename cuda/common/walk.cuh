/* The walk of a stencil down strips of rows. First a strip: how its rows are loaded, joined and
 * stored. Then the walk, to which a filter adds its arithmetic. */
#pragma once

#include <cuda_fp16.h>

#include "cuda/common/fusing.cuh"
#include "cuda/common/launch.cuh"
#include "cuda/common/stencil.cuh"
#include "stage/border.h"

/* Stencils of a small reach that keep their samples in registers. A lane owns 16 bytes of a row, a
 * warp 512, and both move down a strip of rows. A lane gets the words next to its own from
 * neighbouring lanes by shuffles; the first and the last lane load the words next to the warp's.
 * The loads of the next row overlap with the work on the current row. A step works on words -BESIDE
 * .. 3 + BESIDE of a row, counted from the lane's own words. */

enum {
    STRIP_LANES = 32,
    STRIP_WARPS = 4, /* warps of a block, whose strips lie one above the other */
    STRIP_THREADS = STRIP_LANES * STRIP_WARPS,
    STRIP_CHUNK = 16, /* bytes of a row that a lane owns */
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
    const long long *row;        /* strip_tables::row, from the strip's first row on */
    const int *from;             /* strip_tables::from, from the lane's own first sample on */
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

/* Loads straight RGBA8 as gather_row() does, without converting it. */
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

/* Loads a row whose end, on either side, lies within the warp's words or next to them (strip.plain
 * is false). Samples beyond the row are those that strip.from names, as the border demands. */
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
        for (int w = 0; w < BESIDE; w += BESIDE == 4 ? 4 : 1) {
            if (strip.lane != 0 && strip.lane != STRIP_LANES - 1)
                continue;
            if constexpr (BESIDE == 4)
                unpack(__ldg((const uint4 *)(strip.beside + offset)), row->beside);
            else
                row->beside[w] = __ldg((const unsigned *)(strip.beside + offset) + w);
        }
    } else if (offset >= 0) {
        gather_row<Sample>(p, strip, offset, row);
    }
}

/* Returns two pixels of straight RGBA as premultiplied colour of 16 bits. */
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
    if constexpr (Fuse::FLOATS) {
        unsigned own[4];
        unpack(row->own, own);
        Fuse::load(own);
        Fuse::load(row->beside);
        row->own = make_uint4(own[0], own[1], own[2], own[3]);
        return;
    }
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

/* Sets `word` to the lane's four words and the BESIDE words on either side, which come from the
 * neighbouring lanes: words beyond the neighbours' own from words that these have got from theirs.
 * All lanes of the warp take part. */
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
        const int l = BESIDE - 1 - w;
        const unsigned left = __shfl_up_sync(0xFFFFFFFFu, word[l + 4], 1);
        const unsigned right = __shfl_down_sync(0xFFFFFFFFu, word[BESIDE + w], 1);
        word[l] = strip.lane == 0 ? row.beside[l] : left;
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
    if constexpr (Fuse::FLOATS) {
        unsigned floats[4] = {word[0], word[1], word[2], word[3]};
        Fuse::store(floats);
        own = make_uint4(floats[0], floats[1], floats[2], floats[3]);
    }
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

/* Returns the pair between two pairs of half-precision numbers that follow each other: the upper
 * number of `before` in its lower half, and the lower number of `after` in its upper half. */
static __device__ __forceinline__ __half2 between(__half2 before, __half2 after)
{
    const unsigned pair =
        __byte_perm(*(const unsigned *)&before, *(const unsigned *)&after, 0x5432);
    return *(const __half2 *)&pair;
}

/* The walk of a stencil of small reach down the rows of a picture, for all filters. A filter adds a
 * struct of arithmetic, its stencil, and a line that launches it:
 * return walk_strips<my_stencil<CHANNELS>>(p, constants, stream);
 * A stencil for RGBA of 16 bits, a walk_stencil<Sample, 4>, also filters straight RGBA: the walk
 * converts what it loads and what it stores. With fuse_floats it does so for floats, whose bits or
 * keys the stencil gets.
 * The walk passes the rows of a strip to the stencil from above to below, with the
 * border on either side and after the look-up tables before the stencil. Each row is loaded during
 * the work on the row before it. The stencil's results go through the tables after it and are
 * stored. A stencil inherits from walk_stencil and redefines the constants that differ. It is made
 * from its `constants`, a parameter of the kernel, keeps what it needs of the rows above in
 * members, which are registers, and has two functions:
 * void take(const unsigned (&word)[4 + 2 * BESIDE], int phase); takes the next row
 * void make(int phase, unsigned (&out)[4]); computes the next row of results
 * word[BESIDE] is the lane's own first word. The phase is the number of the row of results modulo
 * PERIOD; it is negative in take() for the rows before the first result. It is a constant where it
 * is used, since the loop over the phases is unrolled, and may choose a register. */

template <class Sample, int CHANNELS> struct walk_stencil {
    typedef Sample sample;
    static constexpr bool MAY_BE_STRAIGHT = sizeof(Sample) == 2 && CHANNELS == 4;
    static constexpr int REACH = 1;  /* rows above and below a result that it needs */
    static constexpr int BESIDE = 1; /* words on either side of the lane's own four */
    static constexpr int ROWS = 16;  /* rows of a strip, at most */
    static constexpr int STEP = 1;   /* rows that are taken, and then computed, in a step */
    /* Rows of results after which phases begin anew, a multiple of STEP. */
    static constexpr int PERIOD = 1;
    static constexpr int UNROLL = 1; /* periods in one turn of the unrolled loop */
    static constexpr int BEFORE = 2; /* rows that are taken before the first step */
    static constexpr int BLOCKS = 0; /* blocks that must fit on a multiprocessor at once; 0: any */
    static constexpr bool EARLY = true; /* the launch is early: see launch.cuh */
    /* The stencil has go_down(walk) instead of take() and make(). */
    static constexpr bool OWN_LOOP = false;
    /* Whether the view has constants.reach rows above and below, which may be fewer than REACH. */
    static constexpr bool PADDED = false;
};

/* A warp's walk down one strip of rows. The loads of STEP rows are always under way. */
template <class Stencil, class Fuse> struct row_walk {
    static_assert(Stencil::PERIOD % Stencil::STEP == 0, "a period has whole steps");
    static_assert(Stencil::STEP == 1 || Stencil::BEFORE <= Stencil::STEP,
                  "one load brings all rows before the first step");
    typedef unsigned row[4 + 2 * Stencil::BESIDE];
    typedef unsigned results[4];

    const struct view_pair &p;
    const struct sample_tables<Fuse> &samples;
    struct strip strip;
    struct strip_row<Stencil::BESIDE> next[Stencil::STEP];

    __device__ __forceinline__ int lines() const
    {
        return strip.lines;
    }
    __device__ __forceinline__ void load(int slot, int i)
    {
        const int last = strip.lines + 2 * Stencil::REACH - 1;
        fetch_row<typename Stencil::sample, Fuse>(p, strip, Stencil::STEP > 1 ? min(i, last) : i,
                                                  &next[slot]);
    }
    /* Takes the row out of the slot. If `more` is set, row `following` is loaded into the slot. */
    __device__ __forceinline__ void take(int slot, bool more, int following, row &word)
    {
        map_row<Fuse>(strip, samples, &next[slot]);
        join_row(strip, next[slot], word);
        if (more)
            load(slot, following);
    }
    __device__ __forceinline__ void store(const results &out)
    {
        store_row<Fuse>(p, strip, samples, out);
    }
};

template <class Stencil, class Walk>
static __device__ __forceinline__ void walk_rows(Walk &walk, Stencil &stencil)
{
    constexpr int STEP = Stencil::STEP, BEFORE = Stencil::BEFORE, PERIOD = Stencil::PERIOD;
    typename Walk::row row;
    typename Walk::results out;
#pragma unroll
    for (int i = 0; i < (STEP > 1 ? BEFORE : 1); i++)
        walk.load(i, i);
#pragma unroll
    for (int i = 0; i < BEFORE; i++) {
        walk.take(STEP > 1 ? i : 0, STEP == 1, i + 1, row);
        stencil.take(row, i - BEFORE);
    }
#pragma unroll
    for (int i = 0; i < STEP && STEP > 1; i++)
        walk.load(i, BEFORE + i);
#pragma unroll(Stencil::UNROLL)
    for (int base = 0; base < walk.lines(); base += PERIOD) {
#pragma unroll
        for (int phase = 0; phase < PERIOD; phase += STEP) {
            const int line = base + phase;
            if (phase && line >= walk.lines())
                break;
#pragma unroll
            for (int i = 0; i < STEP; i++) {
                walk.take(i, line + STEP < walk.lines(), line + STEP + BEFORE + i, row);
                stencil.take(row, phase + i);
            }
#pragma unroll
            for (int i = 0; i < STEP; i++) {
                if (i && line + i >= walk.lines())
                    break;
                stencil.make(phase + i, out);
                walk.store(out);
            }
        }
    }
}

template <class Stencil>
static __device__ __forceinline__ int reach_of(const typename Stencil::constants &constants)
{
    if constexpr (Stencil::PADDED)
        return constants.reach;
    else
        return Stencil::REACH;
}

template <class Stencil, class Fuse>
__global__ void __launch_bounds__(STRIP_THREADS, Stencil::BLOCKS)
    walk_kernel(const struct view_pair p, const typename Stencil::constants constants, int rows)
{
    constexpr int TABLE = Stencil::ROWS * STRIP_WARPS + 2 * Stencil::REACH;
    __shared__ struct strip_tables<typename Stencil::sample, Stencil::BESIDE, TABLE> tables;
    __shared__ struct sample_tables<Fuse> samples;
    fill_tables<Fuse>(p, samples);
    if (Stencil::EARLY)
        early_next();
    row_walk<Stencil, Fuse> walk = {p, samples};
    walk.strip = find_strip<Fuse>(p, tables, rows, Stencil::REACH, reach_of<Stencil>(constants));
    if (Stencil::EARLY)
        early_wait();
    if (walk.lines() <= 0)
        return;
    Stencil stencil(constants);
    if constexpr (Stencil::OWN_LOOP)
        stencil.go_down(walk);
    else
        walk_rows(walk, stencil);
}

/* Launches the walk of a stencil down all strips. Returns a cudaError_t. */
template <class Stencil, class Fuse = fuse_none>
static int walk_strips(const struct view_pair &p, const typename Stencil::constants &constants,
                       cudaStream_t stream)
{
    if constexpr (Stencil::MAY_BE_STRAIGHT && !Fuse::STRAIGHT && !Fuse::FLOATS) {
        if (p.straight == 8)
            return walk_strips<Stencil, fuse_straight<8>>(p, constants, stream);
        if (p.straight)
            return walk_strips<Stencil, fuse_straight<16>>(p, constants, stream);
    }
    const auto kernel = walk_kernel<Stencil, Fuse>;
    const int size = (int)sizeof(typename Stencil::sample);
    const int across = ceil_div(p.width * p.channels * size, STRIP_BYTES);
    const int rows =
        strip_rows(across, p.rows, Stencil::ROWS, Stencil::PERIOD > 1 ? Stencil::PERIOD : 2);
    const int blocks = strip_blocks(p, size, rows);
    if (Stencil::EARLY)
        return launch_early(kernel, (unsigned)blocks, STRIP_THREADS, 0, stream, p, constants, rows);
    return launch_kernel(kernel, blocks, STRIP_THREADS, 0, stream, p, constants, rows);
}
