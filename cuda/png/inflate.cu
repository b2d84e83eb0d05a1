/* Unpacks stripes, a warp each: all lanes follow the stream together, so that what they look up is
 * one access, and each keeps every 32nd byte until all store theirs. */
#include "cuda/common/launch.cuh"
#include "cuda/png/inflate.cuh"
#include "cuda/png/stripes.cuh"

enum {
    WARPS = 2, /* of a block */
    SYMBOLS = 286,
    DISTANCES = 30,
    STORED = 0,
    DYNAMIC = 2
};

static __device__ __forceinline__ unsigned lane_of_thread(void)
{
    return threadIdx.x % WARP;
}

/* ---- the bytes that come out ---- */

struct sink {
    unsigned char *data;
    unsigned size, at;  /* `at` may pass `size`, where nothing is written */
    unsigned kept_from; /* bytes from here to `at` are still with the lanes */
    unsigned mine;      /* a lane's byte of those */
    unsigned last;      /* the last byte */
};

/* Stores what is kept of the 32 bytes from `block`. */
static __device__ __forceinline__ void store_kept(struct sink *sink, unsigned block, unsigned end)
{
    const unsigned place = block + lane_of_thread();
    if (place >= sink->kept_from && place < end && place < sink->size)
        sink->data[place] = (unsigned char)sink->mine;
    sink->kept_from = end;
}

/* Up to three bytes, the first one lowest. */
static __device__ __forceinline__ void put(struct sink *sink, unsigned bytes, unsigned count)
{
    const unsigned lane = lane_of_thread(), begin = sink->at % WARP, index = (lane - begin) % WARP,
                   byte = bytes >> 8 * (index & 3) & 255;
    const bool is_mine = index < count;
    if (is_mine && lane >= begin)
        sink->mine = byte;
    if (begin + count >= WARP) {
        store_kept(sink, sink->at - begin, sink->at - begin + WARP);
        if (is_mine && lane < begin)
            sink->mine = byte;
    }
    sink->last = bytes >> 8 * (count - 1) & 255;
    sink->at += count;
}

/* False: it begins before the stripe or does not end within it. */
static __device__ bool copy_match(struct sink *sink, unsigned length, unsigned distance)
{
    if (distance > sink->at || sink->at + length > sink->size)
        return false;
    const unsigned lane = lane_of_thread();
    unsigned byte = sink->last;
    store_kept(sink, sink->at / WARP * WARP, sink->at);
    if (distance == 1) {
        for (unsigned i = lane; i < length; i += WARP)
            sink->data[sink->at + i] = (unsigned char)byte;
    } else {
        __syncwarp();
        for (unsigned i = lane; i < length; i += WARP) {
            byte = sink->data[sink->at - distance + (i < distance ? i : i % distance)];
            sink->data[sink->at + i] = (unsigned char)byte;
        }
        __syncwarp();
        sink->last = __shfl_sync(~0u, byte, (length - 1) % WARP);
    }
    sink->at += length;
    sink->kept_from = sink->at;
    return true;
}

/* ---- blocks ---- */

static __device__ bool copy_stored(struct bits *bits, struct sink *sink)
{
    drop(bits, bits->count % 8);
    refill(bits);
    const unsigned length = take(bits, 16), check = take(bits, 16);
    if (length != (check ^ 0xffff) || length > sink->size - sink->at)
        return false;
    for (unsigned i = 0; i < length; i++) {
        refill(bits);
        put(sink, take(bits, 8), 1);
    }
    return true;
}

/* What follows a length's symbol. */
static __device__ bool read_match(struct bits *bits, const struct codes *codes, struct sink *sink,
                                  unsigned length)
{
    refill(bits);
    const unsigned symbol = decode_slowly(bits, &codes->distance);
    if (symbol >= DISTANCES)
        return false;
    const unsigned extra = symbol < 4 ? 0 : symbol / 2 - 1,
                   base = symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1;
    return copy_match(sink, length, base + take(bits, extra));
}

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

/* Up to the symbol that ends the block. Each turn writes a byte at least, or ends; what is read
 * behind the stream's end is noticed later. */
static __device__ bool copy_coded(struct bits *bits, const struct codes *codes, struct sink *sink)
{
    while (sink->at <= sink->size) {
        refill(bits);
        unsigned entry = codes->table[bits->held & (TABLE - 1)];
        if (entry) {
            drop(bits, entry & ENTRY_BITS);
        } else {
            const unsigned symbol = decode_slowly(bits, &codes->literal);
            if (symbol >= SYMBOLS)
                return false;
            entry = entry_of(symbol);
        }
        if (literals_of(entry)) {
            put(sink, entry >> ENTRY_VALUE, literals_of(entry));
            continue;
        }
        const unsigned length = entry >> ENTRY_VALUE & 511;
        if (!length)
            return true;
        if (!read_match(bits, codes, sink, length + take(bits, entry >> ENTRY_EXTRA & 7)))
            return false;
    }
    return false;
}

/* The entry of an index with those of the literals that follow in it. Of the entries up to that
 * index none has been joined. */
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

/* Makes the table of the next bits: what the short codes among them stand for. The warp calls it.
 */
static __device__ void fill_table(struct codes *codes)
{
    const unsigned lane = lane_of_thread();
    for (unsigned i = lane; i < TABLE; i += WARP)
        codes->table[i] = 0;
    __syncwarp();
    for (unsigned s = lane; s < SYMBOLS; s += WARP) {
        const unsigned length = codes->lengths[s];
        if (!length || length > TABLE_BITS)
            continue;
        const unsigned entry = entry_of(s) | length,
                       first = __brev(codes->code[s]) >> (32 - length);
        for (unsigned i = first; i < TABLE; i += 1u << length)
            codes->table[i] = entry;
    }
    __syncwarp();
    /* What follows has a smaller index, and is joined later. */
    for (int block = TABLE - WARP; block >= 0; block -= WARP) {
        const unsigned entry = joined(codes, (unsigned)block + lane);
        __syncwarp();
        codes->table[(unsigned)block + lane] = entry;
        __syncwarp();
    }
}

/* The code lengths of a block's head: those of literals and lengths, then of distances. */
static __device__ bool read_lengths(struct bits *bits, struct codes *codes, unsigned count)
{
    unsigned last = 0;
    for (unsigned i = 0; i < count;) {
        refill(bits);
        const unsigned symbol = decode_slowly(bits, &codes->distance);
        if (symbol > 18 || is_over(bits) || (symbol == 16 && !i))
            return false;
        const unsigned times = symbol < 16    ? 1
                               : symbol == 16 ? 3 + take(bits, 2)
                               : symbol == 17 ? 3 + take(bits, 3)
                                              : 11 + take(bits, 7);
        last = symbol < 16 ? symbol : symbol == 16 ? last : 0;
        if (times > count - i)
            return false;
        for (unsigned k = lane_of_thread(); k < times; k += WARP)
            codes->lengths[i + k] = (unsigned char)last;
        i += times;
    }
    __syncwarp();
    return true;
}

/* In which a head gives the lengths of the codes of its code lengths. */
static __constant__ unsigned char order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                               11, 4,  12, 3, 13, 2, 14, 1, 15};

static __device__ bool read_head(struct bits *bits, struct codes *codes)
{
    refill(bits);
    const unsigned literals = take(bits, 5) + 257, distances = take(bits, 5) + 1,
                   given = take(bits, 4) + 4, lane = lane_of_thread();
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
    /* The code of the code lengths lies where that of the distances will. */
    if (!make_code(&codes->distance, codes->lengths, 19, NULL, false) ||
        !read_lengths(bits, codes, literals + distances))
        return false;
    if (!codes->lengths[END] ||
        !make_code(&codes->distance, codes->lengths + literals, distances, NULL, true) ||
        !make_code(&codes->literal, codes->lengths, literals, codes->code, false))
        return false;
    for (unsigned s = literals + lane; s < SYMBOLS; s += WARP)
        codes->lengths[s] = 0;
    __syncwarp();
    fill_table(codes);
    return true;
}

/* ---- stripes ---- */

static __device__ bool unpack_stripe(const struct png_stripe &stripe, struct codes *codes)
{
    struct bits bits;
    struct sink sink = {stripe.filtered, stripe.filtered_bytes, 0, 0, 0, 0};
    bool final = false;
    open_bits(&bits, stripe.packed, stripe.packed_bytes);
    while (!final && left(&bits) > 0) {
        refill(&bits);
        final = take(&bits, 1);
        const unsigned type = take(&bits, 2);
        if (type == STORED
                ? !copy_stored(&bits, &sink)
                : type != DYNAMIC || !read_head(&bits, codes) || !copy_coded(&bits, codes, &sink))
            return false;
    }
    store_kept(&sink, sink.at / WARP * WARP, sink.at);
    return sink.at == sink.size && final == stripe.last && left(&bits) >= 0 && left(&bits) < 8 &&
           (final || !left(&bits));
}

static __global__ void __launch_bounds__(WARPS *WARP)
    inflate_kernel(const struct png_decode_group group)
{
    __shared__ struct codes codes[WARPS];
    const unsigned warp = threadIdx.x / WARP, index = blockIdx.x * WARPS + warp;
    if (index >= group.count)
        return;
    const struct png_stripe stripe = group.stripes[index];
    if (!unpack_stripe(stripe, codes + warp) && !lane_of_thread())
        atomicOr(group.flags + stripe.picture, 1u);
}

cudaError_t gf_png_inflate(const struct png_decode_group *group, cudaStream_t stream)
{
    inflate_kernel<<<blocks_for(group->count, WARPS), WARPS * WARP, 0, stream>>>(*group);
    return cudaGetLastError();
}
