/* Reads the head of a deflate block with its own codes, and fills the table of its literals and
 * lengths. */
#pragma once

#include "cuda/png/inflate.cuh"

enum {
    SYMBOLS = 286,
    DISTANCES = 30,
    STORED = 0,
    DYNAMIC = 2,
    HEAD_LONGEST = 7 /* bits of a code for a code length */
};

static __device__ __forceinline__ unsigned entry_of(unsigned symbol)
{
    if (symbol < END)
        return 1 << ENTRY_COUNT | symbol << ENTRY_VALUE;
    if (symbol == END)
        return 0;
    const unsigned over = symbol - (END + 1), extra = over < 8 || over == 28 ? 0 : over / 4 - 1,
                   base = over == 28 ? 258
                          : over < 8 ? over + 3
                                     : ((4 + over % 4) << extra) + 3;
    return base << ENTRY_VALUE | extra << ENTRY_EXTRA;
}

static __device__ __forceinline__ unsigned literals_of(unsigned entry)
{
    return entry >> ENTRY_COUNT & 3;
}

/* Returns the table's entry for the first code in these bits, with `least` to `most` bits; 0 if
 * there is none. */
static __device__ __forceinline__ unsigned single_entry(const struct code *code, unsigned window,
                                                        unsigned least, unsigned most)
{
    const unsigned found = find_symbol(code, window, least, most);
    return found ? entry_of(found & 0xffff) | found >> 16 : 0;
}

/* Returns the entry of an index, joined with the entries of the literals that follow within the
 * index. Entries up to that index must not be joined yet. */
static __device__ __forceinline__ unsigned joined(const struct codes *codes, unsigned index)
{
    const unsigned MOST = 3;
    unsigned entry = codes->table[index], bits = entry & ENTRY_BITS, count = literals_of(entry);
    while (count && count < MOST) {
        const unsigned next = codes->table[index >> bits];
        if (!literals_of(next) || bits + (next & ENTRY_BITS) > TABLE_BITS)
            break;
        entry |= (next >> ENTRY_VALUE & 255) << (ENTRY_VALUE + 8 * count++);
        bits += next & ENTRY_BITS;
    }
    return count
               ? (entry & ~(unsigned)(ENTRY_BITS | 3 << ENTRY_COUNT)) | count << ENTRY_COUNT | bits
               : entry;
}

/* Synchronises THREADS threads, which are a warp or the whole block. */
template <unsigned THREADS> static __device__ __forceinline__ void wait_for(void)
{
    if (THREADS == WARP)
        __syncwarp();
    else
        __syncthreads();
}

/* Fills the table with the symbols of the short codes. */
template <unsigned THREADS> static __device__ void fill_table(struct codes *codes)
{
    const unsigned thread = threadIdx.x % THREADS;
    for (unsigned i = thread; i < TABLE; i += THREADS)
        codes->table[i] = single_entry(&codes->literal, i, 1, TABLE_BITS);
    wait_for<THREADS>();
    /* The loop goes down: the entries that follow a literal have smaller indices, and are joined
     * later. */
    for (int block = TABLE - (int)THREADS; block >= 0; block -= (int)THREADS) {
        const unsigned entry = joined(codes, (unsigned)block + thread);
        wait_for<THREADS>();
        codes->table[(unsigned)block + thread] = entry;
        wait_for<THREADS>();
    }
}

/* Reads the code lengths in a block's head: first the lengths for literals and lengths, then the
 * lengths for distances. */
static __device__ bool read_lengths(struct bits *bits, struct codes *codes, unsigned count)
{
    unsigned last = 0;
    for (unsigned i = threadIdx.x % WARP; i < 1 << HEAD_LONGEST; i += WARP)
        codes->table[i] = find_symbol(&codes->distance, i, 1, HEAD_LONGEST);
    __syncwarp();
    for (unsigned i = 0; i < count;) {
        refill(bits);
        const unsigned found = codes->table[bits->held % (1 << HEAD_LONGEST)],
                       symbol = found & 0xffff;
        drop(bits, found >> 16);
        if (!found || is_over(bits) || (symbol == 16 && !i))
            return false;
        const unsigned times = symbol < 16    ? 1
                               : symbol == 16 ? 3 + take(bits, 2)
                               : symbol == 17 ? 3 + take(bits, 3)
                                              : 11 + take(bits, 7);
        last = symbol < 16 ? symbol : symbol == 16 ? last : 0;
        if (times > count - i)
            return false;
        for (unsigned k = threadIdx.x % WARP; k < times; k += WARP)
            codes->lengths[i + k] = (unsigned char)last;
        i += times;
    }
    __syncwarp();
    return true;
}

/* The order in which a head stores the lengths of the code for code lengths. */
static __constant__ unsigned char order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                               11, 4,  12, 3, 13, 2, 14, 1, 15};

/* Makes both codes. A warp calls this function. Returns false if the head is damaged. */
static __device__ bool read_head(struct bits *bits, struct codes *codes)
{
    refill(bits);
    const unsigned literals = take(bits, 5) + 257, distances = take(bits, 5) + 1,
                   given = take(bits, 4) + 4, lane = threadIdx.x % WARP;
    if (literals > SYMBOLS || distances > DISTANCES)
        return false;
    if (lane < 19)
        codes->lengths[lane] = 0;
    __syncwarp();
    for (unsigned i = 0; i < given; i++) {
        refill(bits);
        const unsigned length = take(bits, 3);
        if (!lane)
            codes->lengths[order[i]] = (unsigned char)length;
    }
    __syncwarp();
    /* The code for code lengths uses the memory of the code for distances, which is made later. */
    return make_code(&codes->distance, codes->lengths, 19, false) &&
           read_lengths(bits, codes, literals + distances) && codes->lengths[END] &&
           make_code(&codes->distance, codes->lengths + literals, distances, true) &&
           make_code(&codes->literal, codes->lengths, literals, false);
}
