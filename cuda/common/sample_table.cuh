/* Tables of 8-bit samples in shared memory.
 *
 * Each lane of a warp has a copy of the table in its own bank, so that no look-up waits for another
 * whatever the picture (Best Practices Guide 9.2.3.1). A word holds four entries: entry v of a lane
 * lies at (v / 4) * 128 + v % 4, which a dp4a makes of the byte's upper six bits and its lower two.
 * A table so packed takes 8 KB; one entry a word would take 32, and as much longer to fill for
 * every block. With half the COPIES, of which two lanes share one, it takes 4. */
#ifndef GF_CUDA_COMMON_SAMPLE_TABLE_CUH
#define GF_CUDA_COMMON_SAMPLE_TABLE_CUH

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"

enum { TABLE_WORDS = 256 / 4 * WARP /* of one table in shared memory, all lanes' copies */ };

/* Four samples by a table each. a, b, c, d: the lane's copies. */
template <int COPIES>
static __device__ __forceinline__ unsigned
look_up_word(unsigned word, const unsigned char *a, const unsigned char *b, const unsigned char *c,
             const unsigned char *d)
{
    const unsigned upper = word & 0xfcfcfcfcu, lower = word & 0x03030303u;
    const unsigned v0 = a[__dp4a(upper, (unsigned)COPIES, lower & 3u)];
    const unsigned v1 = b[__dp4a(upper, (unsigned)COPIES << 8, lower >> 8 & 3u)];
    const unsigned v2 = c[__dp4a(upper, (unsigned)COPIES << 16, lower >> 16 & 3u)];
    const unsigned v3 = d[__dp4a(upper, (unsigned)COPIES << 24, lower >> 24)];
    return __byte_perm(__byte_perm(v0, v1, 0x0040), __byte_perm(v2, v3, 0x0040), 0x5410);
}

/* Which tables a stencil's kernel applies (struct gf_launch): a template parameter, so that the
 * kernel without them is as it was. */
template <bool BEFORE_, bool AFTER_, int COPIES_ = WARP> struct fuse {
    static constexpr bool BEFORE = BEFORE_, AFTER = AFTER_;
    static constexpr int COPIES = COPIES_;
};
typedef fuse<false, false> fuse_none;

template <bool ON, int COPIES> struct sample_table {
    unsigned word[256 / 4 * COPIES];
};
template <int COPIES> struct sample_table<false, COPIES> {
};

/* The tables of a block, in shared memory. */
template <class Fuse> struct sample_tables {
    struct sample_table<Fuse::BEFORE, Fuse::COPIES> before;
    struct sample_table<Fuse::AFTER, Fuse::COPIES> after;
};

template <int COPIES>
static __device__ __forceinline__ void fill_table(struct sample_table<true, COPIES> &table,
                                                  const unsigned *from)
{
    for (int i = threadIdx.x; i < 256 / 4 * COPIES; i += blockDim.x)
        table.word[i] = __ldg(from + i / COPIES);
}

template <int COPIES>
static __device__ __forceinline__ void fill_table(struct sample_table<false, COPIES> &,
                                                  const unsigned *)
{
}

/* By all threads, which must meet before the first look-up. */
template <class Fuse>
static __device__ __forceinline__ void fill_tables(const struct view_pair &p,
                                                   struct sample_tables<Fuse> &tables)
{
    fill_table(tables.before, p.before);
    fill_table(tables.after, p.after);
}

/* Four samples. */
template <int COPIES>
static __device__ __forceinline__ unsigned look_up(const struct sample_table<true, COPIES> &table,
                                                   unsigned word)
{
    const unsigned char *const copy =
        (const unsigned char *)(table.word + (int)threadIdx.x % COPIES);
    return look_up_word<COPIES>(word, copy, copy, copy, copy);
}

template <int COPIES>
static __device__ __forceinline__ unsigned look_up(const struct sample_table<false, COPIES> &,
                                                   unsigned word)
{
    return word;
}

/* One sample. */
template <int COPIES>
static __device__ __forceinline__ unsigned
look_up_sample(const struct sample_table<true, COPIES> &table, unsigned v)
{
    const unsigned char *const copy =
        (const unsigned char *)(table.word + (int)threadIdx.x % COPIES);
    return copy[(v & ~3u) * COPIES + (v & 3u)];
}

template <int COPIES>
static __device__ __forceinline__ unsigned
look_up_sample(const struct sample_table<false, COPIES> &, unsigned v)
{
    return v;
}

template <bool ON, int COPIES>
static __device__ __forceinline__ uint4 look_up(const struct sample_table<ON, COPIES> &table,
                                                uint4 v)
{
    return make_uint4(look_up(table, v.x), look_up(table, v.y), look_up(table, v.z),
                      look_up(table, v.w));
}

/* Calls function(fuse<..>()) for the launch's tables, of which there is one at least. COPIES: of
 * each where there are two. */
template <int COPIES = WARP, class Function>
static int for_fuse(const struct gf_launch *launch, const Function &function)
{
    return !launch->before  ? function(fuse<false, true>())
           : !launch->after ? function(fuse<true, false>())
                            : function(fuse<true, true, COPIES>());
}

#endif
