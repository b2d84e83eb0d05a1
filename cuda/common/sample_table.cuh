/* Tables of 8-bit samples in shared memory. Each lane of a warp has a byte of each entry: entry v
 * of a lane is at 32 v + lane, an address that one dp4a computes for each of four samples. Lanes 4
 * n to 4 n + 3, whose bytes share a word, also share a bank. They wait for each other if their
 * samples differ by a multiple of 4, which neighbours rarely do. With a copy for each lane in its
 * own bank, four entries a word, no lane would wait, but a sample would take 4 to 5 instructions
 * instead of 3: on an H200 sobel between two tables took 0.143 ms for 8K RGB8 with such copies and
 * takes 0.119. */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"

/* The tables that a stencil's kernel applies (struct gf_launch). They are a template parameter, so
 * that the kernel without tables does not change. */
template <bool BEFORE_, bool AFTER_> struct fuse {
    static constexpr bool BEFORE = BEFORE_, AFTER = AFTER_;
    static constexpr int STRAIGHT = 0;
};
typedef fuse<false, false> fuse_none;

/* No tables; the picture is straight RGBA of 8 or 16 bits, and the kernel works on its
 * premultiplied colour. */
template <int BITS> struct fuse_straight : fuse_none {
    static constexpr int STRAIGHT = BITS;
};

template <bool ON> struct __align__(16) sample_table
{
    unsigned char entry[256][WARP]; /* the entries for each lane */
};
template <> struct sample_table<false> {
};

/* The tables of a block, in shared memory. */
template <class Fuse> struct sample_tables {
    struct sample_table<Fuse::BEFORE> before;
    struct sample_table<Fuse::AFTER> after;
};

static __device__ __forceinline__ void fill_table(struct sample_table<true> &table,
                                                  const unsigned char *from)
{
    constexpr int EACH = WARP / sizeof(uint4);
    for (int i = threadIdx.x; i < 256 * EACH; i += blockDim.x) {
        const unsigned four = 0x01010101u * __ldg(from + i / EACH);
        ((uint4 *)table.entry)[i] = make_uint4(four, four, four, four);
    }
}

static __device__ __forceinline__ void fill_table(struct sample_table<false> &,
                                                  const unsigned char *)
{
}

/* Fills the tables. All threads call this function, and must synchronise before the first look-
 * up. */
template <class Fuse>
static __device__ __forceinline__ void fill_tables(const struct view_pair &p,
                                                   struct sample_tables<Fuse> &tables)
{
    fill_table(tables.before, (const unsigned char *)p.before);
    fill_table(tables.after, (const unsigned char *)p.after);
}

static __device__ __forceinline__ unsigned look_up_sample(const struct sample_table<true> &table,
                                                          unsigned v)
{
    return table.entry[v][threadIdx.x % WARP];
}

static __device__ __forceinline__ unsigned look_up_sample(const struct sample_table<false> &,
                                                          unsigned v)
{
    return v;
}

/* Looks up four samples. */
static __device__ __forceinline__ unsigned look_up(const struct sample_table<true> &table,
                                                   unsigned word)
{
    const unsigned char *const entry = table.entry[0];
    const unsigned lane = threadIdx.x % WARP;
    const unsigned a = entry[__dp4a(word, (unsigned)WARP, lane)];
    const unsigned b = entry[__dp4a(word, (unsigned)WARP << 8, lane)];
    const unsigned c = entry[__dp4a(word, (unsigned)WARP << 16, lane)];
    const unsigned d = entry[__dp4a(word, (unsigned)WARP << 24, lane)];
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

static __device__ __forceinline__ unsigned look_up(const struct sample_table<false> &,
                                                   unsigned word)
{
    return word;
}

template <bool ON>
static __device__ __forceinline__ uint4 look_up(const struct sample_table<ON> &table, uint4 v)
{
    return make_uint4(look_up(table, v.x), look_up(table, v.y), look_up(table, v.z),
                      look_up(table, v.w));
}

/* Calls function(fuse<..>()) for the launch's tables. The launch must have a table. */
template <class Function>
static int for_fuse(const struct gf_launch *launch, const Function &function)
{
    return !launch->before  ? function(fuse<false, true>())
           : !launch->after ? function(fuse<true, false>())
                            : function(fuse<true, true>());
}
