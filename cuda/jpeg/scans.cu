/* Decodes the scans of pictures with several scans, progressive or sequential, into coefficients.
 * A warp walks through a scan from its begin to its end, since a bit of a coefficient means what
 * the scans before it have brought. The scans of a picture are walked at the same time, by the
 * warps of one thread block: a scan that refines another one follows it at a distance of a few
 * blocks. All lanes of a warp know the place in the bits; they share the work on a block. */
#include "codec/jpeg/jpeg_header.h"
#include "cuda/common/launch.cuh"
#include "cuda/jpeg/decode.cuh"
#include "cuda/jpeg/zigzag.cuh"

enum {
    SCAN_WARPS_MOST = 12,
    CHUNK = 8,       /* blocks whose coefficients are loaded together */
    TELL_AFTER = 32, /* blocks after which a first scan says how far it is */
    INDICES = WARP,  /* blocks whose indices are computed together */
};

/* ---- the bits of a scan ---- */

/* The warp holds the next bits in shared memory, without stuffed zeros, the first bit of a word the
 * highest. Before a block there are enough bits for it, or the interval has no more; then zeros
 * follow. A block takes at most 16 + 11 bits, or 16 + 14 bits of an end, and 63 times 16 + 10. */
enum {
    RAW_PIECE = 4 * WARP, /* bytes that are taken at a time */
    BITS_LEAST = 1728,
    BITS_MORE = 8 * RAW_PIECE, /* that are taken on top, so that there is less to move */
    BITS_MOST = BITS_LEAST + BITS_MORE + 8 * RAW_PIECE + 32,
    BUFFER_WORDS = (BITS_MOST + BITS_LEAST) / 32 + 16
};
enum { RESTART = 0xd0, FULL = 0xff };

enum { LOOK_SHORT = 9, SHORT_LOOKS = 1 << LOOK_SHORT, CODE_BITS_MOST = 16 };

struct scan_shared {
    uint32_t bits[BUFFER_WORDS];
    uint32_t blocks[CHUNK * WARP]; /* two coefficients of each lane */
    uint16_t look[2][SHORT_LOOKS];
};

/* A warp's walk through a scan. Members are the same for all lanes unless their comment says
 * otherwise. */
struct walk {
    struct scan_shared *shared;
    const unsigned char *raw; /* the picture's bytes, a multiple of 16 */
    unsigned raw_bytes, end;  /* end: of the scan */
    unsigned lane;
    unsigned begin;    /* of the interval */
    unsigned next;     /* the offset of the next piece, a multiple of 4 */
    unsigned stop;     /* the offset of the marker behind the interval, when that is known */
    unsigned before;   /* the last byte of the piece before */
    uint32_t word, ahead; /* the lane's words of the next piece and of the one behind it */
    bool ended;        /* the buffer holds the interval's last bits */
    unsigned at, limit; /* places in the buffer, in bits: of the next bit, and behind the last */
    uint32_t high, low, later; /* the word with the next bit, and the two behind it */
    /* Of the codes with lane % 16 + 1 bits in table lane / 16: the largest, and the index of the
     * first one's symbol less the code. */
    int most, first;
    const unsigned char *table[2]; /* in the picture's bytes */
    enum jpeg_scan_kind kind;
    unsigned least; /* of an AC scan: the bits that are left to later scans */
    unsigned told;  /* the blocks that other warps know to be done */
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

/* Returns a bit for each byte of the lane's word that belongs to the interval, and sets *stop if a
 * marker begins in it. Bytes outside the interval are no part of anything. */
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

/* Fills the buffer up with zeros behind the last bits. */
static __device__ __forceinline__ void append_zeros(struct walk *walk)
{
    unsigned char *const bytes = (unsigned char *)walk->shared->bits;
    const unsigned byte = walk->limit / 8 + walk->lane, whole = (walk->limit + 31) / 32;
    if (byte < 4 * whole)
        bytes[byte ^ 3] = 0;
    for (unsigned i = whole + walk->lane; i < BUFFER_WORDS; i += WARP)
        walk->shared->bits[i] = 0;
}

static __device__ __forceinline__ void look_at_words(struct walk *walk)
{
    const uint32_t *const words = walk->shared->bits + walk->at / 32;
    walk->high = words[0];
    walk->low = words[1];
    walk->later = words[2];
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
    look_at_words(walk);
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
    return __funnelshift_l(walk.low, walk.high, walk.at);
}

/* Takes less than 64 bits. */
static __device__ __forceinline__ void take_bits(struct walk *walk, unsigned count)
{
    const unsigned before = walk->at / 32;
    walk->at += count;
    const unsigned words = walk->at / 32 - before;
    if (words == 1) {
        walk->high = walk->low;
        walk->low = walk->later;
        walk->later = walk->shared->bits[walk->at / 32 + 2];
    } else if (words) {
        look_at_words(walk);
    }
}

/* Goes on behind the restart marker with this number. */
static __device__ __forceinline__ bool pass_restart(struct walk *walk, unsigned number)
{
    const unsigned stop = walk->stop;
    if (stop + 2 > walk->end || __ldg(walk->raw + stop) != FULL ||
        __ldg(walk->raw + stop + 1) != RESTART + number % 8)
        return false;
    begin_interval(walk, stop + 2);
    return true;
}

/* ---- codes ---- */

/* A symbol. Bits 0-4 are the number of bits of its code and value together, bits 5-8 the number of
 * bits of the value alone, bits 9-12 the number of zeros before the coefficient. */
enum { SYMBOL_ENDS = 1 << 13, SYMBOL_BAD = 1 << 14 }; /* the value of an end is a number of blocks */

static __device__ __forceinline__ unsigned symbol_bits(unsigned symbol)
{
    return symbol & 31;
}

static __device__ __forceinline__ unsigned symbol_size(unsigned symbol)
{
    return symbol >> 5 & 15;
}

static __device__ __forceinline__ unsigned symbol_zeros(unsigned symbol)
{
    return symbol >> 9 & 15;
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

/* Describes a symbol of one of the scan's tables. Values that no program writes are left to
 * libjpeg-turbo: those of over ten bits, and of over 15 with the bits of later scans. */
static __device__ __forceinline__ unsigned pack_symbol(enum jpeg_scan_kind kind, unsigned least,
                                                       int table, unsigned length, unsigned symbol)
{
    enum { SIZE_MOST = 10, DC_SIZE_MOST = 11, WORD_BITS = 15, ZEROS_MOST = 15 };
    const bool is_dc = kind == JPEG_DC_SCAN || (kind == JPEG_SEQUENTIAL_SCAN && !table);
    const unsigned size = symbol & 15, zeros = symbol >> 4;
    if (is_dc)
        return symbol > DC_SIZE_MOST ? length | SYMBOL_BAD : (length + symbol) | symbol << 5;
    if (!size && zeros < ZEROS_MOST) {
        const bool bad = kind == JPEG_SEQUENTIAL_SCAN && zeros;
        return (length + zeros) | zeros << 5 | SYMBOL_ENDS | (bad ? SYMBOL_BAD : 0);
    }
    const bool bad =
        size > SIZE_MOST || size + least > WORD_BITS || (kind == JPEG_AC_BIT_SCAN && size > 1);
    return bad ? length | SYMBOL_BAD : (length + size) | size << 5 | zeros << 9;
}

static __device__ __forceinline__ unsigned symbol_at(const unsigned char *table, int index)
{
    return __ldg(table + CODE_BITS_MOST + (index & 255));
}

/* Finds the symbol of a code that the look-up table does not have. `most` and `first` are the
 * lane's. */
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
                 : CODE_BITS_MOST | SYMBOL_BAD;
}

static __device__ __forceinline__ unsigned next_symbol(const struct walk &walk, int table,
                                                       uint32_t bits)
{
    const unsigned symbol = walk.shared->look[table][bits >> (32 - LOOK_SHORT)];
    return symbol ? symbol
                  : find_symbol(walk.kind, walk.least, walk.table[table], table, walk.most,
                                walk.first, bits);
}

/* Makes the scan's look-up tables; the lanes keep the ranges of the codes of each length. */
static __device__ __forceinline__ void make_looks(struct walk *walk)
{
    const unsigned half = walk->lane & CODE_BITS_MOST;
    const unsigned count =
        __ldg((half ? walk->table[1] : walk->table[0]) + walk->lane % CODE_BITS_MOST);
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
                (uint16_t)(found ? pack_symbol(walk->kind, walk->least, table, found,
                                               symbol_at(walk->table[table], at))
                                 : 0);
        }
    }
    __syncwarp();
}

/* ---- blocks ---- */

/* A scan, and where its coefficients are. */
struct work {
    const struct jpeg_scan *scan;
    int16_t *coefficients, *dc; /* of the picture's first block */
    unsigned mcus_across, mcu_blocks;
    volatile unsigned *progress, *failed; /* of the scans of the picture, in shared memory */
    unsigned number;            /* of the scan */
};

/* Returns the index of the scan's block n in the picture. */
static __device__ __forceinline__ unsigned block_index(const struct work &work, unsigned n)
{
    const struct jpeg_scan *const scan = work.scan;
    if (!scan->across) {
        const unsigned mcu = n / scan->mcu_blocks, within = n - mcu * scan->mcu_blocks;
        return mcu * work.mcu_blocks + (unsigned)(scan->order >> 4 * within & 15);
    }
    const unsigned y = n / scan->across, x = n - y * scan->across;
    const unsigned down = y / scan->v, right = x / scan->h;
    return (down * work.mcus_across + right) * work.mcu_blocks + scan->before +
           (y - down * scan->v) * scan->h + x - right * scan->h;
}

/* The indices of the blocks from `from` on, one in each lane. */
struct indices {
    unsigned from, own;
};

static __device__ __forceinline__ unsigned index_of(struct indices *indices,
                                                    const struct work &work, unsigned lane,
                                                    unsigned n)
{
    if (n - indices->from >= INDICES) {
        indices->from = n;
        indices->own = block_index(work, n + lane);
    }
    return __shfl_sync(~0u, indices->own, n - indices->from);
}

/* Says that the scan's first n blocks are done. */
static __device__ __forceinline__ void tell(const struct work &work, unsigned lane, unsigned n)
{
    __threadfence_block();
    __syncwarp();
    if (!lane)
        work.progress[work.number] = n;
}

/* Waits until the scans that this one changes have done their first n blocks. Returns false if the
 * picture is damaged. */
static __device__ __forceinline__ bool await(const struct work &work, unsigned lane, unsigned n)
{
    const bool needs = work.scan->needs >> lane & 1;
    while (__any_sync(~0u, needs && work.progress[lane] < n))
        __nanosleep(100);
    __threadfence_block();
    return !__any_sync(~0u, *work.failed);
}

/* Each of these functions decodes the blocks first .. end - 1, an interval. It returns false if the
 * bits are damaged. */

/* DC values, shifted by the bits that are left to later scans; of a sequential scan all
 * coefficients. */
template <bool SEQUENTIAL>
static __device__ __forceinline__ bool decode_values(struct walk *walk, const struct work &work, unsigned first,
                                     unsigned end)
{
    const struct jpeg_scan *const scan = work.scan;
    const unsigned tables = scan->table_of_block, components = scan->components_of_block;
    const unsigned lane = walk->lane, blocks = scan->mcu_blocks;
    struct indices indices = {first, block_index(work, first + lane)};
    int values[3] = {0, 0, 0};
    unsigned within = 0;
    for (unsigned n = first; n < end; n++) {
        if (!has_bits(walk))
            return false;
        const unsigned index = index_of(&indices, work, lane, n);
        const uint32_t bits = next_bits(*walk);
        const unsigned symbol = next_symbol(*walk, (int)(tables >> within & 1), bits);
        const unsigned component = components >> 2 * within & 3;
        take_bits(walk, symbol_bits(symbol));
        const int difference = symbol_extended(symbol, bits);
        int sum = 0;
#pragma unroll
        for (unsigned c = 0; c < 3; c++) {
            values[c] += component == c ? difference : 0;
            sum = component == c ? values[c] : sum;
        }
        const int value = (int)((unsigned)sum << scan->low);
        if (symbol & SYMBOL_BAD || value != (int16_t)value || value >> scan->low != sum)
            return false;
        if (!lane)
            work.dc[index] = (int16_t)value;
        within = within + 1 == blocks ? 0 : within + 1;
        for (unsigned k = 1; SEQUENTIAL && k < BLOCK_SIZE; k++) {
            const uint32_t more = next_bits(*walk);
            const unsigned ac = next_symbol(*walk, 1, more);
            take_bits(walk, symbol_bits(ac));
            k += symbol_zeros(ac);
            if (ac & (SYMBOL_BAD | SYMBOL_ENDS) || k >= BLOCK_SIZE) {
                if (!(ac & SYMBOL_BAD) && ac & SYMBOL_ENDS)
                    break;
                return false;
            }
            if (!lane && symbol_size(ac))
                work.coefficients[(size_t)index * BLOCK_SIZE + zigzag_place[k]] =
                    (int16_t)symbol_extended(ac, more);
        }
    }
    return true;
}

/* One more bit of each DC value. */
static __device__ __forceinline__ bool decode_dc_bits(struct walk *walk, const struct work &work, unsigned first,
                                      unsigned end)
{
    if (!await(work, walk->lane, ~0u))
        return false;
    for (unsigned n = first; n < end; n += WARP) {
        const unsigned count = end - n < WARP ? end - n : WARP;
        if (!has_bits(walk))
            return false;
        const uint32_t bits = next_bits(*walk);
        if (walk->lane < count && bits << walk->lane >> 31)
            work.dc[block_index(work, n + walk->lane)] |= (int16_t)(1 << work.scan->low);
        take_bits(walk, count);
    }
    return true;
}

/* The first bits of a band of AC values. */
static __device__ __forceinline__ bool decode_band(struct walk *walk, const struct work &work, unsigned first,
                                   unsigned end)
{
    const unsigned last = work.scan->last, low = work.scan->low, lane = walk->lane;
    struct indices indices = {first, block_index(work, first + lane)};
    unsigned run = 0; /* the blocks that have no values */
    for (unsigned n = first; n < end; n++) {
        if (run) {
            if (run > end - n)
                return false;
            n += run;
            run = 0;
            if (n == end)
                break;
        }
        if (n - walk->told >= TELL_AFTER) {
            tell(work, lane, n);
            walk->told = n;
        }
        if (!has_bits(walk))
            return false;
        int16_t *const block =
            work.coefficients + (size_t)index_of(&indices, work, lane, n) * BLOCK_SIZE;
        for (unsigned k = work.scan->first; k <= last; k++) {
            const uint32_t bits = next_bits(*walk);
            const unsigned symbol = next_symbol(*walk, 0, bits);
            take_bits(walk, symbol_bits(symbol));
            k += symbol_zeros(symbol);
            if (symbol & (SYMBOL_BAD | SYMBOL_ENDS) || k > last) {
                if (symbol & SYMBOL_BAD || !(symbol & SYMBOL_ENDS))
                    return false;
                run = (1u << symbol_size(symbol)) + symbol_value(symbol, bits) - 1;
                break;
            }
            if (!lane && symbol_size(symbol))
                block[zigzag_place[k]] = (int16_t)(symbol_extended(symbol, bits) << low);
        }
    }
    return !run;
}

/* The blocks of a chunk, as a scan finds them that brings one more bit of a band. A lane has the
 * coefficients `lane` and `lane` + 32, in zigzag order. */
struct band_chunk {
    unsigned index;           /* of block `lane` */
    unsigned some_low, some_high; /* of block `lane`: a bit for each value of the band but 0 */
};

/* Where the lane's coefficients are in a block, and which of them the band has. */
struct band_lane {
    unsigned lane, below; /* below: a bit for each lane before this one */
    unsigned place[2];
    unsigned band_low, band_high; /* a bit for each coefficient of the band */
};

static __device__ __forceinline__ bool has(unsigned bits, unsigned lane)
{
    return bits >> lane & 1;
}

/* What a block's symbols do to the lane's two coefficients: the new values, and where the bits of
 * those are that were not 0. */
struct band_block {
    int values[2];
    unsigned bit_at[2];
};

enum { DAMAGED = BLOCK_SIZE + 1 };

/* Decodes the symbols of a block. Returns the coefficient before which all are done, or DAMAGED. If
 * they end before the band's end *run becomes the number of blocks, from this one on, of which only
 * the bits of values but 0 follow. *passed becomes the number of such bits that were taken. */
static __device__ __forceinline__ unsigned
decode_symbols(struct walk *walk, const struct work &work, const struct band_lane &lane,
               unsigned some_low, unsigned some_high, struct band_block *block, unsigned *passed,
               unsigned *run)
{
    const unsigned zeros_low = ~some_low & lane.band_low, zeros_high = ~some_high & lane.band_high;
    const bool zero_low = has(zeros_low, lane.lane), zero_high = has(zeros_high, lane.lane);
    const unsigned rank_low = __popc(zeros_low & lane.below),
                   rank_high = __popc(zeros_low) + __popc(zeros_high & lane.below);
    const unsigned first_low = __popc(some_low & lane.below),
                   first_high = __popc(some_low) + __popc(some_high & lane.below);
    const int one = 1 << work.scan->low;
    unsigned k = work.scan->first, zeros = 0; /* zeros: those before k */
    do {
        const uint32_t bits = next_bits(*walk);
        const unsigned symbol = next_symbol(*walk, 0, bits), size = symbol_size(symbol);
        if (symbol & (SYMBOL_BAD | SYMBOL_ENDS)) {
            take_bits(walk, symbol_bits(symbol));
            *run = (1u << size) + symbol_value(symbol, bits);
            return symbol & SYMBOL_BAD ? DAMAGED : k;
        }
        zeros += symbol_zeros(symbol);
        const unsigned here_low = __ballot_sync(~0u, zero_low && rank_low == zeros),
                       here_high = __ballot_sync(~0u, zero_high && rank_high == zeros);
        const unsigned to = here_low ? __ffs(here_low) - 1 : __ffs(here_high) + WARP - 1;
        if (!(here_low | here_high))
            return DAMAGED;
        /* The bits of the values between k and `to` follow the symbol's. */
        const unsigned from = walk->at + symbol_bits(symbol) - *passed;
        if (lane.lane >= k && lane.lane < to)
            block->bit_at[0] = from + first_low;
        if (lane.lane + WARP >= k && lane.lane + WARP < to)
            block->bit_at[1] = from + first_high;
        const int value = symbol_value(symbol, bits) ? one : -one;
        if (size && lane.lane == to)
            block->values[0] = value;
        if (size && lane.lane + WARP == to)
            block->values[1] = value;
        const unsigned some = to - k - symbol_zeros(symbol);
        take_bits(walk, symbol_bits(symbol) + some);
        *passed += some;
        zeros++;
        k = to + 1;
    } while (k <= work.scan->last);
    return k;
}

/* Decodes one block. *run is the number of blocks, with this one, that have no symbols. */
static __device__ bool decode_band_block(struct walk *walk, const struct work &work,
                                         const struct band_lane &lane, unsigned index,
                                         unsigned some_low, unsigned some_high, uint32_t word,
                                         unsigned *run)
{
    struct band_block block = {{(int16_t)word, (int)word >> 16}, {0, 0}};
    unsigned k = work.scan->first, passed = 0; /* passed: values but 0 whose bits were taken */
    if (!*run)
        k = decode_symbols(walk, work, lane, some_low, some_high, &block, &passed, run);
    if (k == DAMAGED)
        return false;
    if (*run) {
        const unsigned from = walk->at - passed;
        const unsigned first_high = __popc(some_low), some = first_high + __popc(some_high);
        if (lane.lane >= k)
            block.bit_at[0] = from + __popc(some_low & lane.below);
        if (lane.lane + WARP >= k)
            block.bit_at[1] = from + first_high + __popc(some_high & lane.below);
        take_bits(walk, some - passed);
        --*run;
    }
    int16_t *const to = work.coefficients + (size_t)index * BLOCK_SIZE;
    const int one = 1 << work.scan->low;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int before = i ? (int)word >> 16 : (int16_t)word;
        int value = block.values[i];
        if (has(i ? some_high : some_low, lane.lane)) {
            const uint32_t bits = walk->shared->bits[block.bit_at[i] / 32];
            if (bits << block.bit_at[i] % 32 >> 31)
                value += value > 0 ? one : -one;
        }
        if (value != before)
            to[lane.place[i]] = (int16_t)value;
    }
    return true;
}

/* Loads the lane's values of a chunk; behind `end` they are 0. */
static __device__ __forceinline__ void load_chunk(const struct work &work,
                                                  const struct band_lane &lane, unsigned index,
                                                  unsigned count, unsigned low[CHUNK],
                                                  unsigned high[CHUNK])
{
#pragma unroll
    for (int b = 0; b < CHUNK; b++) {
        const unsigned short *const block =
            (const unsigned short *)work.coefficients +
            (size_t)__shfl_sync(~0u, index, b) * BLOCK_SIZE;
        low[b] = b < (int)count ? __ldcg(block + lane.place[0]) : 0;
        high[b] = b < (int)count ? __ldcg(block + lane.place[1]) : 0;
    }
}

/* One more bit of each value of a band, and values that begin with it. */
static __device__ __forceinline__ bool decode_band_bits(struct walk *walk, const struct work &work, unsigned first,
                                        unsigned end)
{
    const unsigned own = walk->lane;
    const unsigned long long band =
        ~0ull << work.scan->first & ~0ull >> (BLOCK_SIZE - 1 - work.scan->last);
    const struct band_lane lane = {own, (1u << own) - 1,
                                   {zigzag_place[own], zigzag_place[own + WARP]},
                                   (unsigned)band, (unsigned)(band >> 32)};
    unsigned run = 0, low[CHUNK], high[CHUNK];
    uint32_t *const words = walk->shared->blocks + own;
    unsigned index = block_index(work, first + own);
    if (!await(work, own, first + CHUNK < end ? first + CHUNK : end))
        return false;
    load_chunk(work, lane, index, end - first, low, high);
    for (unsigned n = first; n < end; n += CHUNK) {
        struct band_chunk chunk = {index, 0, 0};
        __syncwarp();
#pragma unroll
        for (unsigned b = 0; b < CHUNK; b++) {
            const unsigned some_low = __ballot_sync(~0u, low[b] != 0) & lane.band_low,
                           some_high = __ballot_sync(~0u, high[b] != 0) & lane.band_high;
            words[b * WARP] = low[b] | high[b] << 16;
            chunk.some_low = own == b ? some_low : chunk.some_low;
            chunk.some_high = own == b ? some_high : chunk.some_high;
        }
        __syncwarp();
        const unsigned next = n + CHUNK;
        if (next < end) {
            if (!await(work, own, next + CHUNK < end ? next + CHUNK : end))
                return false;
            index = block_index(work, next + own);
            load_chunk(work, lane, index, end - next, low, high);
        }
        for (unsigned b = 0; b < CHUNK && n + b < end; b++) {
            const unsigned some_low = __shfl_sync(~0u, chunk.some_low, b),
                           some_high = __shfl_sync(~0u, chunk.some_high, b),
                           block = __shfl_sync(~0u, chunk.index, b);
            if (!has_bits(walk))
                return false;
            if (run && !(some_low | some_high)) {
                run--;
                continue;
            }
            if (!decode_band_block(walk, work, lane, block, some_low, some_high, words[b * WARP],
                                   &run))
                return false;
        }
        tell(work, own, next < end ? next : end);
    }
    return !run;
}

static __device__ __forceinline__ bool decode_interval(struct walk *walk, const struct work &work, unsigned first,
                                       unsigned end)
{
    switch (walk->kind) {
    case JPEG_SEQUENTIAL_SCAN:
        return decode_values<true>(walk, work, first, end);
    case JPEG_DC_SCAN:
        return decode_values<false>(walk, work, first, end);
    case JPEG_DC_BIT_SCAN:
        return decode_dc_bits(walk, work, first, end);
    case JPEG_AC_SCAN:
        return decode_band(walk, work, first, end);
    default:
        return decode_band_bits(walk, work, first, end);
    }
}

/* Whether the interval holds what was decoded and less than a byte more. */
static __device__ __forceinline__ bool ends_right(struct walk *walk)
{
    return has_bits(walk) && walk->ended && walk->limit - walk->at < 8;
}

static __device__ __forceinline__ bool decode_scan(struct walk *walk, const struct work &work)
{
    const struct jpeg_scan *const scan = work.scan;
    bool right = true;
    begin_interval(walk, scan->begin);
    for (unsigned n = 0, number = 0; right && n < scan->blocks; number++) {
        const unsigned left = scan->blocks - n,
                       some = left < scan->interval_blocks ? left : scan->interval_blocks;
        right = (!number || pass_restart(walk, number - 1)) &&
                decode_interval(walk, work, n, n + some) && ends_right(walk);
        n += some;
    }
    return right && walk->stop == scan->end;
}

/* A thread block decodes a picture. */
static __global__ void __launch_bounds__(SCAN_WARPS_MOST *WARP)
    scans_kernel(const struct jpeg_group group)
{
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ unsigned progress[GF_JPEG_SCANS_MOST];
    __shared__ unsigned failed;
    const unsigned picture = group.scanned_picture[blockIdx.x], warp = threadIdx.x / WARP;
    const struct jpeg_stream *const stream = &group.streams[picture];
    const struct jpeg_picture *const about = &group.pictures[picture];
    struct walk walk = {};
    walk.shared = (struct scan_shared *)memory + warp;
    walk.raw = group.raw + stream->raw;
    walk.raw_bytes = stream->raw_bytes;
    walk.lane = threadIdx.x % WARP;
    if (threadIdx.x < GF_JPEG_SCANS_MOST)
        progress[threadIdx.x] = 0;
    if (!threadIdx.x)
        failed = 0;
    __syncthreads();
    for (unsigned i = warp; i < stream->scans; i += blockDim.x / WARP) {
        const struct jpeg_scan *const scan = &group.scans[stream->first_scan + i];
        const struct work work = {scan,
                                  group.coefficients + (size_t)about->first_block * BLOCK_SIZE,
                                  group.dc + about->first_block,
                                  (unsigned)about->mcus_across,
                                  (unsigned)about->blocks_per_mcu,
                                  progress,
                                  &failed,
                                  i};
        walk.end = scan->end;
        walk.kind = scan->kind;
        walk.least = scan->low;
        walk.table[0] = walk.raw + scan->table[0];
        walk.table[1] = walk.raw + scan->table[1];
        walk.told = 0;
        if (scan->kind != JPEG_DC_BIT_SCAN)
            make_looks(&walk);
        if (!decode_scan(&walk, work) && !walk.lane) {
            failed = 1;
            atomicOr(&group.flags[picture], JPEG_BAD_CODE);
        }
        tell(work, walk.lane, ~0u);
    }
}

cudaError_t gf_jpeg_decode_scans(const struct jpeg_group *group, cudaStream_t stream)
{
    const int warps = group->scans_most < SCAN_WARPS_MOST ? group->scans_most : SCAN_WARPS_MOST;
    const int shared = warps * (int)sizeof(struct scan_shared);
    const cudaError_t status = allow_shared((const void *)scans_kernel, shared);
    if (status != cudaSuccess || !group->scanned)
        return status;
    scans_kernel<<<group->scanned, warps * WARP, shared, stream>>>(*group);
    return cudaGetLastError();
}
