/* Reads the bits and the codes of one scan of a JPEG of several scans. A warp walks through them.
 */
#pragma once

#include "cuda/common/launch.cuh"
#include "cuda/jpeg/decode.cuh"

/* ---- the bits of a scan ---- */

/* The warp holds the next bits of a restart interval (the whole scan if there are none) in a buffer
 * in shared memory, without stuffed zeros; the first bit of a word is its highest. Before each
 * block the buffer has at least BITS_LEAST bits, or all bits that are left of the interval and
 * zeros after them. A block has at most 16 + 11 bits of a DC value, or 16 + 14 bits of a code that
 * ends a band and of its number of blocks, and 63 times 16 + 10 bits of AC values. */
enum {
    RAW_PIECE = 4 * WARP, /* the bytes that the warp loads at a time: a word for each lane */
    BITS_LEAST = 1728,
    /* Bits that a refill loads beyond BITS_LEAST, so that the buffer is moved less often. */
    BITS_MORE = 8 * RAW_PIECE,
    BITS_MOST = BITS_LEAST + BITS_MORE + 8 * RAW_PIECE + 32,
    BUFFER_WORDS = (BITS_MOST + BITS_LEAST) / 32 + 16
};
enum { RESTART = 0xd0, FULL = 0xff };

enum { LOOK_SHORT = 9, SHORT_LOOKS = 1 << LOOK_SHORT, CODE_BITS_MOST = 16 };

struct walk_shared {
    uint32_t bits[BUFFER_WORDS];
    __align__(8) uint32_t look[2][SHORT_LOOKS];
};

/* A warp's walk through a scan. Members are the same for all lanes unless their comment says
 * otherwise. */
struct walk {
    struct walk_shared *shared;
    const unsigned char *raw; /* the picture's bytes; the address is a multiple of 16 */
    /* The number of these bytes; the offset in them where the scan ends. */
    unsigned raw_bytes, end;
    unsigned lane;
    unsigned begin;       /* the offset where the interval begins */
    unsigned next;        /* the offset of the next piece, a multiple of 4 */
    unsigned stop;        /* the offset of the marker after the interval, once `ended` is true */
    unsigned before;      /* the last byte of the previous piece */
    uint32_t word, ahead; /* the lane's words of the next piece and of the piece after it */
    bool ended;           /* the buffer holds the interval's last bits */
    /* Positions in the buffer, in bits: of the next bit, and of the end of the interval's bits so
     * far. */
    unsigned at, limit;
    /* high, middle and low are the next 96 bits, of which `known`, at least 65, are valid. `later`
     * is the word of the buffer after the valid bits, word_at its index. */
    uint32_t high, middle, low, later;
    unsigned known, word_at;
    /* Different in each lane: the largest code of lane % 16 + 1 bits in table lane / 16 (-1: there
     * is none), and the index of the smallest such code's symbol, minus that code. */
    int most, first;
    /* Addresses in `raw`: the 16 numbers of codes, followed by the symbols. */
    const unsigned char *table[2];
    enum jpeg_scan_kind kind;
    unsigned least; /* the number of low bits of each value that are left to later scans */
    unsigned told;  /* the number of blocks that were last reported to other warps as done */
};

static __device__ __forceinline__ uint32_t load_word(const struct walk &walk, unsigned at)
{
    at += 4 * walk.lane;
    if (at + 4 <= walk.raw_bytes)
        return __ldg((const uint32_t *)(walk.raw + at));
    uint32_t word = 0;
    for (unsigned i = 0; i < 4 && at + i < walk.raw_bytes; i++)
        word |= (uint32_t)__ldg(walk.raw + at + i) << 8 * i;
    return word;
}

/* Returns a mask of the bytes of the lane's word that are data: inside of the interval and no
 * stuffed zeros. *stop becomes a mask of the bytes at which a marker begins; the caller drops the
 * bytes from the first marker on. `following` is the lane's word of the next piece. */
static __device__ __forceinline__ unsigned sort_bytes(const struct walk &walk, uint32_t word,
                                                      uint32_t following, unsigned *stop)
{
    const unsigned before = __shfl_up_sync(~0u, word >> 24, 1);
    const unsigned behind = __shfl_down_sync(~0u, word & FULL, 1);
    const unsigned first_behind = __shfl_sync(~0u, following & FULL, 0);
    unsigned bytes[6], kept = 0;
    bytes[0] = walk.lane ? before : walk.before;
    bytes[5] = walk.lane == WARP - 1 ? first_behind : behind;
    *stop = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        bytes[i + 1] = word >> 8 * i & FULL;
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        const unsigned at = walk.next + 4 * walk.lane + i;
        const bool there = at >= walk.begin && at < walk.end;
        const bool stuffed = !bytes[i + 1] && bytes[i] == FULL && at > walk.begin;
        const bool marks = bytes[i + 1] == FULL && (at + 1 >= walk.end || bytes[i + 2]);
        *stop |= (unsigned)(there && marks) << i;
        kept |= (unsigned)(there && !stuffed) << i;
    }
    return kept;
}

/* Appends the next piece of the interval to the buffer. */
static __device__ __forceinline__ void append_piece(struct walk *walk)
{
    unsigned stop, sum;
    const uint32_t word = walk->word;
    unsigned kept = sort_bytes(*walk, word, walk->ahead, &stop);
    const unsigned stops = __ballot_sync(~0u, stop != 0);
    if (stops) {
        const unsigned lane = __ffs(stops) - 1;
        const unsigned byte = __ffs(__shfl_sync(~0u, stop, lane)) - 1;
        walk->stop = walk->next + 4 * lane + byte;
        walk->ended = true;
        kept = walk->lane > lane ? 0 : walk->lane == lane ? kept & ((1u << byte) - 1) : kept;
    } else if (walk->next + RAW_PIECE >= walk->end) {
        walk->stop = walk->end;
        walk->ended = true;
    }
    sum = __popc(kept);
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const unsigned other = __shfl_up_sync(~0u, sum, step);
        sum += walk->lane >= (unsigned)step ? other : 0;
    }
    unsigned char *const bytes = (unsigned char *)walk->shared->bits;
    unsigned to = walk->limit / 8 + sum - __popc(kept);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (kept >> i & 1)
            bytes[to++ ^ 3] = (unsigned char)(word >> 8 * i);
    }
    walk->limit += 8 * __shfl_sync(~0u, sum, WARP - 1);
    walk->before = __shfl_sync(~0u, word >> 24, WARP - 1);
    walk->word = walk->ahead;
    walk->next += RAW_PIECE;
    walk->ahead = load_word(*walk, walk->next + RAW_PIECE);
}

/* Fills the rest of the buffer with zeros after the interval's last bits. */
static __device__ __forceinline__ void append_zeros(struct walk *walk)
{
    unsigned char *const bytes = (unsigned char *)walk->shared->bits;
    const unsigned byte = walk->limit / 8 + walk->lane, whole = (walk->limit + 31) / 32;
    if (byte < 4 * whole)
        bytes[byte ^ 3] = 0;
    for (unsigned i = whole + walk->lane; i < BUFFER_WORDS; i += WARP)
        walk->shared->bits[i] = 0;
}

/* Loads the bits at position walk->at of the buffer into registers: `high` to `word_at`. */
static __device__ __forceinline__ void look_at_bits(struct walk *walk)
{
    const uint32_t *const words = walk->shared->bits + walk->at / 32;
    const uint32_t second = words[1], third = words[2];
    walk->high = __funnelshift_l(second, words[0], walk->at);
    walk->middle = __funnelshift_l(third, second, walk->at);
    walk->low = third << walk->at % 32;
    walk->later = words[3];
    walk->word_at = walk->at / 32 + 3;
    walk->known = 96 - walk->at % 32;
}

static __device__ __forceinline__ void refill(struct walk *walk)
{
    uint32_t *const bits = walk->shared->bits;
    const unsigned gone = walk->at / 32, lane = walk->lane;
    __syncwarp();
    const uint32_t first = bits[gone + lane], second = bits[gone + WARP + lane];
    __syncwarp();
    bits[lane] = first;
    bits[WARP + lane] = second;
    walk->at -= 32 * gone;
    walk->limit -= 32 * gone;
    __syncwarp();
    while (!walk->ended && walk->limit - walk->at < BITS_LEAST + BITS_MORE)
        append_piece(walk);
    if (walk->ended)
        append_zeros(walk);
    __syncwarp();
    look_at_bits(walk);
}

static __device__ __forceinline__ void begin_interval(struct walk *walk, unsigned begin)
{
    walk->begin = begin;
    walk->next = begin & ~3u;
    walk->before = 0;
    walk->at = walk->limit = 0;
    walk->ended = false;
    walk->word = load_word(*walk, walk->next);
    walk->ahead = load_word(*walk, walk->next + RAW_PIECE);
    refill(walk);
}

/* Prepares for the next block. Returns false if more bits were taken than there are. */
static __device__ __forceinline__ bool has_bits(struct walk *walk)
{
    if (!walk->ended && walk->limit - walk->at < BITS_LEAST)
        refill(walk);
    return walk->at <= walk->limit;
}

static __device__ __forceinline__ uint32_t next_bits(const struct walk &walk)
{
    return walk.high;
}

/* Skips at most 32 bits. If fewer than 65 valid bits are left in registers, the word `later` is
 * added to them. */
static __device__ __forceinline__ void take_bits(struct walk *walk, unsigned count)
{
    walk->high = __funnelshift_lc(walk->middle, walk->high, count);
    walk->middle = __funnelshift_lc(walk->low, walk->middle, count);
    walk->low = __funnelshift_lc(0, walk->low, count);
    walk->at += count;
    walk->known -= count;
    if (walk->known <= 64) {
        const unsigned in_middle = walk->known - 32;
        walk->middle |= __funnelshift_rc(walk->later, 0, in_middle);
        walk->low = __funnelshift_rc(0, walk->later, in_middle);
        walk->known += 32;
        walk->later = walk->shared->bits[++walk->word_at];
    }
}

/* Whether the restart marker with this number ends the interval. */
static __device__ __forceinline__ bool stops_at_restart(const struct walk &walk, unsigned number)
{
    return walk.stop + 2 <= walk.end && __ldg(walk.raw + walk.stop) == FULL &&
           __ldg(walk.raw + walk.stop + 1) == RESTART + number % 8;
}

/* ---- codes ---- */

/* A symbol in a word. Bits 0-4 are the number of bits of its code and value together, bits 16-19
 * the number of bits of the value alone, bits 27-31 one more than the number of zeros before the
 * coefficient. The lower half has nothing but the number of bits and SYMBOL_RARE, so that lower
 * halves can be added up. SYMBOL_RARE is set in symbols that bring no coefficient: the end of a
 * band (SYMBOL_ENDS), whose value is a number of blocks; bits that are no valid code (SYMBOL_BAD);
 * in a look-up table a code that is too long for the table (SYMBOL_IS_LONG, with 0 bits); and in a
 * JPEG_AC_BIT_SCAN also a run of sixteen zeros. */
enum {
    SYMBOL_RARE = 1 << 5,
    SYMBOL_IS_LONG = SYMBOL_RARE,
    SYMBOL_SIZE_AT = 16,
    SYMBOL_ENDS = 1 << 20,
    SYMBOL_BAD = 1 << 21,
    SYMBOL_ZEROS_AT = 27
};

static __device__ __forceinline__ unsigned symbol_bits(unsigned symbol)
{
    return symbol & 31;
}

static __device__ __forceinline__ unsigned symbol_size(unsigned symbol)
{
    return symbol >> SYMBOL_SIZE_AT & 15;
}

/* Returns by how many coefficients the symbol advances: over its zeros and the coefficient after
 * them. Returns 0 for the end of a band. */
static __device__ __forceinline__ unsigned symbol_places(unsigned symbol)
{
    return symbol >> SYMBOL_ZEROS_AT;
}

/* Returns the bits of the value, which are those after the code. */
static __device__ __forceinline__ unsigned symbol_value(unsigned symbol, uint32_t bits)
{
    const unsigned size = symbol_size(symbol);
    return __funnelshift_l(bits << (symbol_bits(symbol) - size), 0, size);
}

/* Returns the value with its sign (F.2.2.1). */
static __device__ __forceinline__ int symbol_extended(unsigned symbol, uint32_t bits)
{
    const unsigned size = symbol_size(symbol);
    const uint32_t from = bits << (symbol_bits(symbol) - size);
    const int value = (int)__funnelshift_l(from, 0, size);
    return value + ((int)from < 0 ? 0 : (int)(~0u << size) + 1);
}

/* Packs a symbol of the scan's table number `table`, whose code has `length` bits. AC values that
 * no program writes make the symbol bad, so that libjpeg-turbo decodes the picture: values of more
 * than 10 bits, or of more than 15 bits together with those of later scans. */
static __device__ __forceinline__ unsigned pack_symbol(enum jpeg_scan_kind kind, unsigned least,
                                                       int table, unsigned length, unsigned symbol)
{
    enum { SIZE_MOST = 10, DC_SIZE_MOST = 11, WORD_BITS = 15, ZEROS_MOST = 15 };
    const bool is_dc = kind == JPEG_DC_SCAN || (kind == JPEG_SEQUENTIAL_SCAN && !table);
    const unsigned size = symbol & 15, zeros = symbol >> 4;
    if (is_dc)
        return symbol > DC_SIZE_MOST ? length | SYMBOL_BAD | SYMBOL_RARE
                                     : (length + symbol) | symbol << SYMBOL_SIZE_AT;
    if (!size && zeros < ZEROS_MOST) {
        const bool bad = kind == JPEG_SEQUENTIAL_SCAN && zeros;
        return (length + zeros) | zeros << SYMBOL_SIZE_AT | SYMBOL_ENDS | SYMBOL_RARE |
               (bad ? SYMBOL_BAD : 0);
    }
    const bool bad =
        size > SIZE_MOST || size + least > WORD_BITS || (kind == JPEG_AC_BIT_SCAN && size > 1);
    const bool rare = kind == JPEG_AC_BIT_SCAN && !size;
    return bad ? length | SYMBOL_BAD | SYMBOL_RARE
               : (length + size) | size << SYMBOL_SIZE_AT | (zeros + 1) << SYMBOL_ZEROS_AT |
                     (rare ? SYMBOL_RARE : 0);
}

static __device__ __forceinline__ unsigned symbol_at(const unsigned char *table, int index)
{
    return __ldg(table + CODE_BITS_MOST + (index & 255));
}

/* Finds the symbol whose code begins `bits`, for codes that are too long for the look-up table.
 * Each lane tests the codes of one length; `most` and `first` are the lane's members of struct
 * walk. */
static __device__ __noinline__ unsigned find_symbol(enum jpeg_scan_kind kind, unsigned least,
                                                    const unsigned char *symbols, int table,
                                                    int most, int first, uint32_t bits)
{
    const unsigned lane = threadIdx.x % WARP, length = lane % CODE_BITS_MOST + 1;
    const int code = (int)(bits >> (32 - length));
    const bool here = (int)(lane / CODE_BITS_MOST) == table && code <= most;
    const unsigned found = __ballot_sync(~0u, here);
    const unsigned from = found ? __ffs(found) - 1 : 0;
    const int index = __shfl_sync(~0u, code + first, from);
    return found ? pack_symbol(kind, least, table, from % CODE_BITS_MOST + 1,
                               symbol_at(symbols, index))
                 : CODE_BITS_MOST | SYMBOL_BAD | SYMBOL_RARE;
}

static __device__ __forceinline__ const unsigned char *table_of(const struct walk &walk, int table)
{
    return table ? walk.table[1] : walk.table[0];
}

static __device__ __forceinline__ unsigned look_up(const struct walk &walk, int table)
{
    return walk.shared->look[table][walk.high >> (32 - LOOK_SHORT)];
}

static __device__ __forceinline__ unsigned find_long(const struct walk &walk, int table,
                                                     uint32_t bits)
{
    return find_symbol(walk.kind, walk.least, table_of(walk, table), table, walk.most, walk.first,
                       bits);
}

static __device__ __forceinline__ unsigned next_symbol(const struct walk &walk, int table)
{
    const unsigned symbol = look_up(walk, table);
    return symbol == SYMBOL_IS_LONG ? find_long(walk, table, walk.high) : symbol;
}

/* Makes the scan's look-up tables. Each lane keeps the range of the codes of one length, in
 * walk->most and walk->first. */
static __device__ __forceinline__ void make_looks(struct walk *walk)
{
    const unsigned half = walk->lane & CODE_BITS_MOST;
    const unsigned count = __ldg(table_of(*walk, (int)half) + walk->lane % CODE_BITS_MOST);
    int code = 0, index = 0;
    for (unsigned length = 0; length < CODE_BITS_MOST; length++, code *= 2) {
        const int codes = (int)__shfl_sync(~0u, count, half + length);
        if (walk->lane % CODE_BITS_MOST == length) {
            walk->first = index - code;
            walk->most = codes ? code + codes - 1 : -1;
        }
        code += codes;
        index += codes;
    }
    for (int table = 0; table < 2; table++) {
        for (unsigned look = walk->lane; look < SHORT_LOOKS; look += WARP) {
            unsigned found = 0;
            int at = 0;
            for (unsigned length = 1; length <= LOOK_SHORT; length++) {
                const int lane = table * CODE_BITS_MOST + (int)length - 1;
                const int most = __shfl_sync(~0u, walk->most, lane);
                const int first = __shfl_sync(~0u, walk->first, lane);
                const int prefix = (int)(look >> (LOOK_SHORT - length));
                if (!found && prefix <= most) {
                    found = length;
                    at = prefix + first;
                }
            }
            walk->shared->look[table][look] =
                (found ? pack_symbol(walk->kind, walk->least, table, found,
                                     symbol_at(table_of(*walk, table), at))
                       : (unsigned)SYMBOL_IS_LONG);
        }
    }
    __syncwarp();
}
