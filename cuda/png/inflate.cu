/* Decompresses the stripes that inflate_parts.cu leaves. A warp processes a stripe: all lanes
 * decode the stream together, so that each look-up is one access, and each lane keeps every 32nd
 * byte until all lanes store their bytes. */
#include "cuda/png/inflate.cuh"

#include "cuda/common/launch.cuh"
#include "cuda/png/stripes.cuh"

enum { WARPS = 2 /* of a block */ };

static __device__ __forceinline__ unsigned lane_of_thread(void)
{
    return threadIdx.x % WARP;
}

struct sink {
    unsigned char *data;
    unsigned size, at;  /* `at` may exceed `size`; nothing is written there */
    unsigned kept_from; /* start of the bytes, up to `at`, that lanes have not stored */
    unsigned mine;      /* the lane's byte of these bytes */
    unsigned last;      /* the last byte that was written */
};

/* Stores the kept bytes that are within the 32 bytes from `block` on. */
static __device__ __forceinline__ void store_kept(struct sink *sink, unsigned block, unsigned end)
{
    const unsigned place = block + lane_of_thread();
    if (place >= sink->kept_from && place < end && place < sink->size)
        sink->data[place] = (unsigned char)sink->mine;
    sink->kept_from = end;
}

/* Adds up to three bytes, the first one lowest. */
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

/* Copies a match. Returns false if it begins before the stripe or does not end within it. */
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

static __device__ bool copy_stored(struct bits *bits, struct sink *sink)
{
    drop(bits, bits->count % 8);
    refill(bits);
    const unsigned length = take(bits, 16), check = take(bits, 16);
    const int64_t rest = left(bits) / 8 - length;
    if (length != (check ^ 0xffff) || length > sink->size - sink->at || rest < 0)
        return false;
    const unsigned char *const end = (const unsigned char *)bits->words + bits->total / 8,
                               *const from = end - rest - length;
    store_kept(sink, sink->at / WARP * WARP, sink->at);
    for (unsigned i = lane_of_thread(); i < length; i += WARP)
        sink->data[sink->at + i] = from[i];
    sink->last = length ? from[length - 1] : sink->last;
    sink->at += length;
    sink->kept_from = sink->at;
    open_bits(bits, end - rest, (unsigned)rest);
    return true;
}

/* Reads the rest of a match, after the symbol of its length. */
static __device__ bool read_match(struct bits *bits, const struct codes *codes, struct sink *sink,
                                  unsigned length)
{
    refill(bits);
    const unsigned symbol = decode(bits, &codes->distance);
    if (symbol >= DISTANCES)
        return false;
    const unsigned extra = symbol < 4 ? 0 : symbol / 2 - 1,
                   base = symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1;
    return copy_match(sink, length, base + take(bits, extra));
}

/* Copies literals and matches up to the symbol that ends the block. Each turn writes at least one
 * byte, or ends. Bits that were read after the stream's end are noticed later. */
static __device__ bool copy_coded(struct bits *bits, struct codes *codes, struct sink *sink)
{
    fill_table<WARP>(codes);
    while (sink->at <= sink->size) {
        refill(bits);
        unsigned entry = codes->table[bits->held & (TABLE - 1)];
        if (!entry)
            entry = single_entry(&codes->literal, (unsigned)bits->held, TABLE_BITS + 1, LONGEST);
        if (!entry)
            return false;
        drop(bits, entry & ENTRY_BITS);
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
    if (index >= group.count || group.unpacked[index])
        return;
    const struct png_stripe stripe = group.stripes[index];
    if (!unpack_stripe(stripe, codes + warp) && !lane_of_thread())
        atomicOr(group.flags + stripe.picture, 1u);
}

cudaError_t gf_png_inflate_rest(const struct png_decode_group *group, cudaStream_t stream)
{
    inflate_kernel<<<blocks_for(group->count, WARPS), WARPS * WARP, 0, stream>>>(*group);
    return cudaGetLastError();
}
