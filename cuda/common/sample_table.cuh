/* Tables of 8-bit samples in shared memory.
 *
 * Each lane of a warp has a copy of the table in its own bank, so that no look-up waits for another
 * whatever the picture (Best Practices Guide 9.2.3.1). A word holds four entries: entry v of a lane
 * lies at (v / 4) * 128 + v % 4: a dp4a makes the word's address of the byte's upper six bits.
 * A table so packed takes 8 KB; one entry a word would take 32, and as much longer to fill for
 * every block. With half the COPIES, of which two lanes share one, it takes 4. */
#ifndef GF_CUDA_COMMON_SAMPLE_TABLE_CUH
#define GF_CUDA_COMMON_SAMPLE_TABLE_CUH

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"

enum { TABLE_WORDS = 256 / 4 * WARP /* of one table in shared memory, all lanes' copies */ };

/* Four samples by a table each, at a to d; lane: where the lane's copy begins in each. Whole words
 * are read, and byte_perm picks the entries: the selectors of two samples stand side by side. */
template <int COPIES>
static __device__ __forceinline__ unsigned
look_up_word(unsigned word, const unsigned char *a, const unsigned char *b, const unsigned char *c,
             const unsigned char *d, unsigned lane)
{
    const unsigned upper = word & 0xfcfcfcfcu, lower = word & 0x03030303u;
    const unsigned v0 = *(const unsigned *)(a + __dp4a(upper, (unsigned)COPIES, lane));
    const unsigned v1 = *(const unsigned *)(b + __dp4a(upper, (unsigned)COPIES << 8, lane));
    const unsigned v2 = *(const unsigned *)(c + __dp4a(upper, (unsigned)COPIES << 16, lane));
    const unsigned v3 = *(const unsigned *)(d + __dp4a(upper, (unsigned)COPIES << 24, lane));
    const unsigned which = lower | lower >> 4 | 0x00400040u;
    return __byte_perm(__byte_perm(v0, v1, which), __byte_perm(v2, v3, which >> 16), 0x5410);
}

/* The same of one sample. */
template <int COPIES>
static __device__ __forceinline__ unsigned look_up_byte(unsigned v, const unsigned char *table,
                                                        unsigned lane)
{
    return table[(v & ~3u) * COPIES + (v & 3u) + lane];
}

/* Which tables a stencil's kernel applies (struct gf_launch): a template parameter, so that the
 * kernel without them is as it was. */
template <bool BEFORE_, bool AFTER_, int COPIES_ = WARP> struct fuse {
    static constexpr bool BEFORE = BEFORE_, AFTER = AFTER_;
    static constexpr int COPIES = COPIES_;
};
typedef fuse<false, false> fuse_none;

template <bool ON, int COPIES> struct __align__(16) sample_table {
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
    for (int i = threadIdx.x; i < 256 / 4 * COPIES / 4; i += blockDim.x) {
        const unsigned word = __ldg(from + i / (COPIES / 4));
        ((uint4 *)table.word)[i] = make_uint4(word, word, word, word);
    }
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

template <int COPIES> static __device__ __forceinline__ unsigned copy_of_lane()
{
    return threadIdx.x % COPIES * 4;
}

/* Four samples. */
template <int COPIES>
static __device__ __forceinline__ unsigned look_up(const struct sample_table<true, COPIES> &table,
                                                   unsigned word)
{
    const unsigned char *const at = (const unsigned char *)table.word;
    return look_up_word<COPIES>(word, at, at, at, at, copy_of_lane<COPIES>());
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
    return look_up_byte<COPIES>(v, (const unsigned char *)table.word, copy_of_lane<COPIES>());
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
