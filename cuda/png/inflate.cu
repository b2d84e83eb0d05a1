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
    unsigned mine;
};

static __device__ __forceinline__ void store_kept(struct sink *sink, unsigned block)
{
    const unsigned place = block + lane_of_thread();
    if (place >= sink->kept_from && place < sink->at && place < sink->size)
        sink->data[place] = (unsigned char)sink->mine;
    sink->kept_from = sink->at;
}

static __device__ __forceinline__ void put(struct sink *sink, unsigned byte)
{
    if (lane_of_thread() == sink->at % WARP)
        sink->mine = byte;
    sink->at++;
    if (sink->at % WARP == 0)
        store_kept(sink, sink->at - WARP);
}

/* False: it begins before the stripe or does not end within it. */
static __device__ bool copy_match(struct sink *sink, unsigned length, unsigned distance)
{
    if (distance > sink->at || sink->at + length > sink->size)
        return false;
    store_kept(sink, sink->at / WARP * WARP);
    __syncwarp();
    for (unsigned i = lane_of_thread(); i < length; i += WARP) {
        const unsigned back = i < distance ? i : i % distance;
        sink->data[sink->at + i] = sink->data[sink->at - distance + back];
    }
    sink->at += length;
    sink->kept_from = sink->at;
    __syncwarp();
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
        put(sink, take(bits, 8));
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

static __device__ __forceinline__ unsigned length_entry(unsigned symbol)
{
    const unsigned over = symbol - (END + 1), extra = over < 8 || over == 28 ? 0 : over / 4 - 1,
                   base = over == 28 ? 258
                          : over < 8 ? over + 3
                                     : ((4 + over % 4) << extra) + 3;
    return IS_LENGTH | base << ENTRY_VALUE | extra << ENTRY_EXTRA;
}

static __device__ __forceinline__ unsigned entry_of(unsigned symbol)
{
    return symbol < END ? symbol << ENTRY_VALUE : symbol == END ? IS_LENGTH : length_entry(symbol);
}

/* Up to the symbol that ends the block. Each turn takes a bit at least, or ends. */
static __device__ bool copy_coded(struct bits *bits, const struct codes *codes, struct sink *sink)
{
    while (sink->at <= sink->size && !is_over(bits)) {
        refill(bits);
        unsigned entry = codes->table[bits->held & (TABLE - 1)];
        if (!entry) {
            const unsigned symbol = decode_slowly(bits, &codes->literal);
            if (symbol >= SYMBOLS)
                return false;
            entry = entry_of(symbol);
        } else {
            drop(bits, entry & 15);
        }
        if (entry & IS_LENGTH) {
            const unsigned length = entry >> ENTRY_VALUE & 511;
            if (!length)
                return true;
            if (!read_match(bits, codes, sink, length + take(bits, entry >> ENTRY_EXTRA & 7)))
                return false;
            continue;
        }
        put(sink, entry >> ENTRY_VALUE & 255);
        if (entry & IS_PAIR)
            put(sink, entry >> ENTRY_SECOND & 255);
    }
    return false;
}

/* Makes the table of the next bits: the symbol of each that begins with a short code, or two
 * literals. The warp calls it. */
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
    /* The second symbol's entry has a smaller index, and is changed later. */
    for (int block = TABLE - WARP; block >= 0; block -= WARP) {
        const unsigned i = (unsigned)block + lane, one = codes->table[i], length = one & 15,
                       two = one ? codes->table[i >> length] : 0;
        __syncwarp();
        if (one && two && !((one | two) & IS_LENGTH) && length + (two & 15) <= TABLE_BITS)
            codes->table[i] = IS_PAIR | (two >> ENTRY_VALUE & 255) << ENTRY_SECOND | (one & ~15u) |
                              (length + (two & 15));
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
    struct sink sink = {stripe.filtered, stripe.filtered_bytes, 0, 0, 0};
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
    store_kept(&sink, sink.at / WARP * WARP);
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
