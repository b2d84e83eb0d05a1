/* Writes the chunks: where they are and what stands around the data, then the data. */
#include "cuda/common/launch.cuh"
#include "cuda/common/scan.cuh"
#include "cuda/png/granules.cuh"
#include "cuda/png/encode_group.cuh"

/* Computes the position of each stripe's chunk in the output, and writes everything except the
 * stripes' data. */

enum { PLACE_THREADS = 1024, HEAD_THREADS = 128, BASE = 65521 };

static __device__ struct png_chunk chunk_of(const struct png_group &group, unsigned index)
{
    const struct png_stripe stripe = group.stripes[index];
    const uint64_t runs = group.codes[RUNS][index].bits;
    struct png_chunk chunk = {};
    chunk.coding = RUNS;
    uint64_t bits = runs;
    if (group.counts[index].drawing && group.codes[REPEATS][index].bits < runs) {
        chunk.coding = REPEATS;
        bits = group.codes[REPEATS][index].bits;
    }
    chunk.size = stripe.last ? (bits + 7) / 8 : (bits + EMPTY_BITS + 7) / 8 + EMPTY_BLOCK;
    if (chunk.size >= stripe.size + (stripe.size / STORED_MAX + 1) * (uint64_t)STORED_HEAD) {
        chunk.coding = STORED;
        chunk.size =
            stripe.size + (stripe.size + STORED_MAX - 1) / STORED_MAX * (uint64_t)STORED_HEAD;
    }
    chunk.size += (stripe.first ? ZLIB_HEAD : 0) + (stripe.last ? ADLER : 0);
    return chunk;
}

static __global__ void __launch_bounds__(PLACE_THREADS) place_kernel(const struct png_group group)
{
    __shared__ unsigned long long warps[WARP];
    unsigned long long before = 0, all;
    for (unsigned first = 0; first < group.count; first += PLACE_THREADS) {
        const unsigned index = first + threadIdx.x;
        struct png_chunk chunk = {};
        unsigned long long size = 0;
        if (index < group.count) {
            chunk = chunk_of(group, index);
            size = CHUNK_HEAD + chunk.size + CHUNK_CRC;
        }
        chunk.at = before + block_exclusive_sum<PLACE_THREADS>(size, warps, &all);
        before += all;
        if (index < group.count) {
            group.chunks[index] = chunk;
            group.starts[index] = chunk.at;
        }
    }
    if (threadIdx.x == 0)
        group.starts[group.count] = before;
}

static __device__ unsigned adler_of(const struct png_group &group, unsigned index)
{
    const struct png_picture picture = group.pictures[index];
    const struct png_adler sums = group.adler[index];
    const uint64_t bytes = (uint64_t)(picture.row_bytes + 1) * (uint64_t)picture.height;
    return (unsigned)((sums.weighted + bytes) % BASE << 16 | (sums.plain + 1) % BASE);
}

/* Writes the chunk's length and type, zlib's head, and Adler-32. */
static __device__ void put_frame(const struct png_group &group, const struct png_stripe &stripe,
                                 const struct png_chunk &chunk)
{
    put_bits(group.out, 8 * chunk.at, byte_swapped((unsigned)chunk.size), 32);
    put_bits(group.out, 8 * (chunk.at + 4), 'I' | 'D' << 8 | 'A' << 16 | 'T' << 24, 32);
    if (stripe.first)
        put_bits(group.out, 8 * (chunk.at + CHUNK_HEAD), 0x0178, 16);
    if (stripe.last)
        put_bits(group.out, 8 * (chunk.at + CHUNK_HEAD + chunk.size - ADLER),
                 byte_swapped(adler_of(group, stripe.picture)), 32);
}

static __global__ void __launch_bounds__(HEAD_THREADS)
    head_kernel(const struct png_group group, unsigned first)
{
    const unsigned index = first + blockIdx.x;
    const struct png_stripe stripe = group.stripes[index];
    const struct png_chunk chunk = group.chunks[index];
    if (threadIdx.x == 0)
        put_frame(group, stripe, chunk);
    if (chunk.coding == STORED)
        return;
    const struct png_code *const code = group.codes[chunk.coding] + index;
    const uint64_t begin = data_bit(stripe, chunk);
    for (unsigned i = threadIdx.x; 32 * i < code->head_bits; i += HEAD_THREADS)
        put_bits(group.out, begin + 32 * i, code->head[i], 32);
    if (threadIdx.x)
        return;
    const unsigned end = code->codes[END];
    put_bits(group.out, begin + code->bits - (end >> 16), end & 0xffff, end >> 16);
    if (!stripe.last) /* the end of an empty stored block: 00 00 ff ff */
        put_bits(group.out, 8 * (chunk.at + CHUNK_HEAD + chunk.size - 2), 0xffff, 16);
}

cudaError_t gf_png_place_launch(const struct png_group *group, cudaStream_t stream)
{
    return launch_kernel(place_kernel, 1, PLACE_THREADS, 0, stream, *group);
}

cudaError_t gf_png_head_launch(const struct png_group *group, unsigned first, unsigned count,
                               cudaStream_t stream)
{
    return launch_kernel(head_kernel, count, HEAD_THREADS, 0, stream, *group, first);
}

/* Writes the deflate data of the stripes. A thread block processes a tile of granules: it adds
 * their bits, gets their position from the tiles before, joins the bits in shared memory and writes
 * whole words. A tile with a long match can have more bits than fit in shared memory; these bits
 * are written directly. */

enum {
    THREADS = 256,
    OWN = 2, /* granules of a thread */
    TILE = THREADS * OWN,
    GRANULE_BITS = 112, /* the most bits of a granule: 14 for each byte; in a stored block 8 for
                         * each byte, and 40 for a head */
    STAGE = TILE * GRANULE_BITS / 32 + 1
};

static __device__ __forceinline__ unsigned code_bits(unsigned code)
{
    return code >> 16;
}

static __device__ __forceinline__ unsigned match_bits(const unsigned *codes,
                                                      const struct written &written)
{
    const struct parts parts = parts_of(written.length);
    const struct symbol distance = distance_symbol(written.distance);
    const unsigned each = code_bits(codes[SYMBOLS + distance.symbol]) + distance.extra;
    unsigned bits = parts.whole ? parts.whole * (code_bits(codes[SYMBOLS - 1]) + each) : 0;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        if (!parts.last[i])
            continue;
        const struct symbol length = length_symbol(parts.last[i]);
        bits += code_bits(codes[length.symbol]) + length.extra + each;
    }
    return bits;
}

static __device__ __forceinline__ unsigned bits_of(const unsigned *codes,
                                                   const struct written &written, uint64_t bytes)
{
    unsigned bits = written.length ? match_bits(codes, written) : 0;
#pragma unroll
    for (int i = 0; i < GRANULE; i++) {
        if (i >= written.from && i < written.end)
            bits += code_bits(codes[bytes >> 8 * i & 255]);
    }
    return bits;
}

/* Writes bits from bit `count` of *word on. Other threads may write to the first and the last word,
 * too, which contained zeros. */
struct writer {
    unsigned *word;
    uint64_t held;
    unsigned count;
    bool shared;
};

static __device__ __forceinline__ void put(struct writer *writer, unsigned value, unsigned count)
{
    writer->held |= (uint64_t)value << writer->count;
    writer->count += count;
    if (writer->count < 32)
        return;
    if (writer->shared)
        atomicOr(writer->word, (unsigned)writer->held);
    else
        *writer->word = (unsigned)writer->held;
    writer->shared = false;
    writer->word++;
    writer->held >>= 32;
    writer->count -= 32;
}

static __device__ __forceinline__ void put_part(struct writer *writer, const unsigned *codes,
                                                unsigned length, const struct symbol &distance)
{
    const struct symbol symbol = length_symbol(length);
    const unsigned code = codes[symbol.symbol], behind = codes[SYMBOLS + distance.symbol];
    put(writer, (code & 0xffff) | symbol.rest << code_bits(code), code_bits(code) + symbol.extra);
    put(writer, (behind & 0xffff) | distance.rest << code_bits(behind),
        code_bits(behind) + distance.extra);
}

static __device__ __forceinline__ void put_match(struct writer *writer, const unsigned *codes,
                                                 const struct written &written)
{
    const struct parts parts = parts_of(written.length);
    const struct symbol distance = distance_symbol(written.distance);
    for (unsigned i = 0; i < parts.whole; i++)
        put_part(writer, codes, LONGEST, distance);
    for (int i = 0; i < 2; i++) {
        if (parts.last[i])
            put_part(writer, codes, parts.last[i], distance);
    }
}

static __device__ __forceinline__ void put_granule(struct writer *writer, const unsigned *codes,
                                                   const struct written &written, uint64_t bytes)
{
#pragma unroll
    for (int i = 0; i < GRANULE; i += 2) { /* a code has up to 14 bits */
        const unsigned own = i >= written.from && i < written.end ? codes[bytes >> 8 * i & 255] : 0,
                       next = i + 1 >= written.from && i + 1 < written.end
                                  ? codes[bytes >> (8 * i + 8) & 255]
                                  : 0;
        put(writer, (own & 0xffff) | (next & 0xffff) << code_bits(own),
            code_bits(own) + code_bits(next));
    }
    if (written.length)
        put_match(writer, codes, written);
}

/* Returns the position of a stored block's head in granule k; GRANULE if the granule has none. */
static __device__ __forceinline__ int stored_head(unsigned k, int bytes)
{
    const unsigned next = (GRANULE * k + STORED_MAX - 1) / STORED_MAX * STORED_MAX - GRANULE * k;
    return next < (unsigned)bytes ? (int)next : GRANULE;
}

static __device__ void put_stored(struct writer *writer, const struct png_stripe &stripe,
                                  unsigned k, int bytes, uint64_t data)
{
    const int head = stored_head(k, bytes);
    for (int i = 0; i < bytes; i++) {
        if (i == head) {
            const unsigned rest = stripe.size - (GRANULE * k + i);
            const unsigned length = rest < STORED_MAX ? rest : STORED_MAX;
            put(writer, stripe.last && length == rest, 8);
            put(writer, length | (~length & 0xffff) << 16, 32);
        }
        put(writer, data >> 8 * i & 255, 8);
    }
}

struct own_granules {
    /* What each granule writes; only `end`, the number of its bytes, if the stripe is stored. */
    struct written written[OWN];
    uint64_t bytes[OWN];
};

static __device__ __forceinline__ unsigned read_granules(const struct png_group &group,
                                                         const struct png_stripe &stripe,
                                                         enum coding coding, const unsigned *codes,
                                                         unsigned k, struct own_granules *own)
{
    const struct granules granules = granules_at(group, stripe, coding == STORED ? RUNS : coding);
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        own->written[i] = {};
        own->bytes[i] = 0;
        if (GRANULE * (k + i) >= stripe.size)
            continue;
        own->bytes[i] = granules.data[k + i];
        if (coding != STORED) {
            own->written[i] = written_by(granules, k + i);
            bits += bits_of(codes, own->written[i], own->bytes[i]);
        } else {
            const unsigned rest = stripe.size - GRANULE * (k + i);
            const int count = rest < GRANULE ? rest : GRANULE;
            own->written[i].end = count;
            bits += 8 * (count + (stored_head(k + i, count) < GRANULE ? STORED_HEAD : 0));
        }
    }
    return bits;
}

/* Writes the granules from bit `at` of `words` on. */
static __device__ __forceinline__ void write_granules(const struct png_stripe &stripe,
                                                      enum coding coding, const unsigned *codes,
                                                      unsigned k, const struct own_granules &own,
                                                      unsigned *words, unsigned at)
{
    struct writer writer = {words + at / 32, 0, at % 32, true};
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        if (coding == STORED)
            put_stored(&writer, stripe, k + i, own.written[i].end, own.bytes[i]);
        else
            put_granule(&writer, codes, own.written[i], own.bytes[i]);
    }
    if ((unsigned)writer.held)
        atomicOr(writer.word, (unsigned)writer.held);
}

/* Returns the number of bits in the stripe's tiles before this one. A warp calls this function. */
static __device__ __forceinline__ uint64_t bits_before(uint64_t *states,
                                                       const struct png_stripe &stripe,
                                                       unsigned index, unsigned tile, unsigned bits)
{
    uint64_t *const place = states + stripe.granules / TILE + index + tile;
    if (threadIdx.x == 0)
        tell_own(place, tile, bits);
    return sum_before<1>(place, tile, bits);
}

static __global__ void __launch_bounds__(THREADS)
    pack_kernel(const struct png_group group, unsigned first)
{
    __shared__ unsigned codes[CODES];
    __shared__ unsigned stage[STAGE];
    __shared__ unsigned warps[WARP];
    __shared__ uint64_t told;
    const unsigned index = first + blockIdx.y, tile = blockIdx.x;
    const struct png_stripe stripe = group.stripes[index];
    if ((uint64_t)tile * TILE * GRANULE >= stripe.size)
        return;
    const struct png_chunk chunk = group.chunks[index];
    const struct png_code *const code =
        group.codes[chunk.coding == STORED ? RUNS : chunk.coding] + index;
    for (int i = threadIdx.x; i < CODES; i += THREADS)
        codes[i] = code->codes[i];
    __syncthreads();
    struct own_granules own;
    const unsigned k = tile * TILE + threadIdx.x * OWN;
    const unsigned bits = read_granules(group, stripe, chunk.coding, codes, k, &own);
    unsigned all;
    const unsigned mine = block_exclusive_sum<THREADS>(bits, warps, &all);
    if (threadIdx.x < WARP) {
        const uint64_t sum = bits_before(group.states, stripe, index, tile, all);
        if (threadIdx.x == 0)
            told = sum;
    }
    for (unsigned i = threadIdx.x; i < STAGE; i += THREADS)
        stage[i] = 0;
    __syncthreads();
    const uint64_t begin =
        data_bit(stripe, chunk) + (chunk.coding == STORED ? 0 : code->head_bits) + told;
    unsigned *const out = group.out + begin / 32;
    const unsigned shift = begin % 32, words = (shift + all + 31) / 32;
    if (words > STAGE) {
        write_granules(stripe, chunk.coding, codes, k, own, out, shift + mine);
        return;
    }
    write_granules(stripe, chunk.coding, codes, k, own, stage, shift + mine);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < words; i += THREADS) {
        if (i == 0 || i == words - 1)
            atomicOr(out + i, stage[i]);
        else
            out[i] = stage[i];
    }
}

uint64_t gf_png_pack_states(uint64_t granules, unsigned stripes)
{
    return granules / TILE + stripes + 1;
}

cudaError_t gf_png_pack_load(void)
{
    return load_all(place_kernel, head_kernel, pack_kernel);
}

cudaError_t gf_png_pack_launch(const struct png_group *group, unsigned first, unsigned count,
                               cudaStream_t stream)
{
    const dim3 grid(blocks_for(group->granules_most, TILE), count);
    return launch_kernel(pack_kernel, grid, THREADS, 0, stream, *group, first);
}
