/* The walk of a stencil of small reach down the rows of a picture, for all filters. A filter adds a
 * struct of arithmetic, its stencil, and a line that launches it:
 * return walk_strips<my_stencil<CHANNELS>>(p, constants, stream);
 * A stencil for RGBA of 16 bits, a walk_stencil<Sample, 4>, also filters straight RGBA: the walk
 * converts what it loads and what it stores.
 * The walk passes the rows of a strip (strip.cuh) to the stencil from above to below, with the
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
#pragma once

#include "cuda/common/early.cuh"
#include "cuda/common/strip.cuh"

template <class Sample, int CHANNELS> struct walk_stencil {
    typedef Sample sample;
    static constexpr bool MAY_BE_STRAIGHT = sizeof(Sample) == 2 && CHANNELS == 4;
    static constexpr int REACH = 1;     /* rows above and below a result that it needs */
    static constexpr int BESIDE = 1;    /* words on either side of the lane's own four */
    static constexpr int ROWS = 16;     /* rows of a strip, at most */
    static constexpr int STEP = 1;      /* rows that are taken, and then computed, in a step */
    static constexpr int PERIOD = 1;    /* phases, a multiple of STEP */
    static constexpr int UNROLL = 1;    /* periods */
    static constexpr int BEFORE = 2;    /* rows that are taken before the first step */
    static constexpr int BLOCKS = 0;    /* blocks that the registers must hold; 0: any number */
    static constexpr bool EARLY = true; /* the launch is early: see early.cuh */
    /* The stencil has go_down(walk) instead of take() and make(). */
    static constexpr bool OWN_LOOP = false;
    /* The view has constants.reach rows above and below, which may be fewer than REACH. */
    static constexpr bool PADDED = false;
};

/* The walk down one strip. STEP rows are being loaded at any time. */
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

/* cudaError_t */
template <class Stencil, class Fuse = fuse_none>
static int walk_strips(const struct view_pair &p, const typename Stencil::constants &constants,
                       cudaStream_t stream)
{
    if constexpr (Stencil::MAY_BE_STRAIGHT && !Fuse::STRAIGHT) {
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
    kernel<<<blocks, STRIP_THREADS, 0, stream>>>(p, constants, rows);
    return cudaGetLastError();
}
