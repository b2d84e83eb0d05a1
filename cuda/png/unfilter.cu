/* Undoes the filters of rows, and sums the rows up before. */
#include "cuda/common/launch.cuh"
#include "cuda/png/stripes.cuh"

enum { SUM_THREADS = 256, ADLER = 65521 };

/* ---- checksums: Adler-32, RFC 1950 ---- */

static __device__ __forceinline__ uint64_t sum_block(uint64_t value, uint64_t *warps)
{
    for (int step = WARP / 2; step; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    __syncthreads();
    if (threadIdx.x % WARP == 0)
        warps[threadIdx.x / WARP] = value;
    __syncthreads();
    value = 0;
    for (int i = 0; i < SUM_THREADS / WARP; i++)
        value += warps[i];
    return value;
}

/* Of n bytes b(i): a = 1 + the sum of b(i), b = n + the sum of (n - i) b(i), modulo ADLER. A stripe
 * has less than 2^25 bytes, so that no sum overflows 64 bits. */
static __global__ void __launch_bounds__(SUM_THREADS)
    sum_kernel(const struct png_decode_group group)
{
    __shared__ uint64_t warps[SUM_THREADS / WARP];
    const struct png_stripe stripe = group.stripes[blockIdx.x];
    if (group.flags[stripe.picture]) /* the bytes may not be there */
        return;
    const unsigned n = stripe.filtered_bytes;
    uint64_t a = 0, b = 0;
    for (unsigned i = threadIdx.x; i < n; i += SUM_THREADS) {
        const unsigned byte = stripe.filtered[i];
        a += byte;
        b += (uint64_t)(n - i) * byte;
    }
    a = (1 + sum_block(a, warps)) % ADLER;
    b = (n + sum_block(b, warps)) % ADLER;
    if (!threadIdx.x)
        group.adlers[blockIdx.x] = (unsigned)(b << 16 | a);
}

cudaError_t gf_png_sum_stripes(const struct png_decode_group *group, cudaStream_t stream)
{
    sum_kernel<<<group->count, SUM_THREADS, 0, stream>>>(*group);
    return cudaGetLastError();
}

/* ---- bytes in and out ---- */

/* Takes bytes one after another from where a row begins; what is loaded is needed AHEAD words
 * later. */
enum { AHEAD = 5, WORD = 4 };

struct reader {
    const unsigned char *from; /* a multiple of WORD */
    unsigned size, next, bits; /* bytes; of the next word; of the first held word, those taken */
    unsigned held[AHEAD];
};

/* Bytes behind the end are not read. */
static __device__ __forceinline__ unsigned load_word(const struct reader *reader, unsigned at)
{
    if (at + WORD <= reader->size)
        return *(const unsigned *)(reader->from + at);
    unsigned word = 0;
    for (unsigned i = 0; at + i < reader->size; i++)
        word |= (unsigned)reader->from[at + i] << 8 * i;
    return word;
}

static __device__ __forceinline__ void open_row(struct reader *reader, const unsigned char *from,
                                                unsigned size, unsigned at)
{
    reader->from = from;
    reader->size = size;
    reader->next = at / WORD * WORD;
    reader->bits = 8 * (at % WORD);
#pragma unroll
    for (int i = 0; i < AHEAD; i++, reader->next += WORD)
        reader->held[i] = load_word(reader, reader->next);
}

/* A pixel, its first byte lowest; what is behind its bytes is 0. */
template <int BYTES> struct pixel {
    static constexpr int WORDS = (BYTES + WORD - 1) / WORD;
    unsigned word[WORDS];
};

template <int BYTES>
static __device__ __forceinline__ struct pixel<BYTES> take(struct reader *reader) {
    struct pixel<BYTES> pixel;
    constexpr int WORDS = sizeof pixel / WORD;
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        pixel.word[i] = __funnelshift_r(reader->held[i], reader->held[i + 1], reader->bits);
    if (BYTES % WORD)
        pixel.word[WORDS - 1] &= (1u << BYTES % WORD * 8) - 1;
    reader->bits += 8 * BYTES;
#pragma unroll
    for (int turn = 0; turn < WORDS; turn++) {
        if (reader->bits < 32)
            continue;
        reader->bits -= 32;
#pragma unroll
        for (int i = 0; i + 1 < AHEAD; i++)
            reader->held[i] = reader->held[i + 1];
        reader->held[AHEAD - 1] = load_word(reader, reader->next);
        reader->next += WORD;
    }
    return pixel;
}

/* Samples of 16 bits from the file's order to the host's, or back. */
template <int BYTES>
static __device__ __forceinline__ struct pixel<BYTES> swapped(struct pixel<BYTES> pixel,
                                                              bool wide) {
    for (int i = 0; i < (BYTES % 2 ? 0 : (int)sizeof pixel / WORD); i++) {
        if (wide)
            pixel.word[i] = (pixel.word[i] & 0xff00ff) << 8 | (pixel.word[i] >> 8 & 0xff00ff);
    }
    return pixel;
}

/* Words of a row that begins at a multiple of WORD. */
struct writer {
    unsigned char *to; /* the next word */
    uint64_t held;
    unsigned held_bytes;
};

template <int BYTES>
static __device__ __forceinline__ void put(struct writer *writer, struct pixel<BYTES> pixel)
{
    uint64_t bytes = pixel.word[0];
    if (BYTES > WORD)
        bytes |= (uint64_t)pixel.word[BYTES > WORD] << 32;
    writer->held |= bytes << 8 * writer->held_bytes;
    writer->held_bytes += BYTES;
#pragma unroll
    for (int turn = 0; turn < (BYTES + WORD - 1) / WORD; turn++) {
        if (writer->held_bytes < WORD)
            continue;
        *(unsigned *)writer->to = (unsigned)writer->held;
        writer->to += WORD;
        writer->held >>= 32;
        writer->held_bytes -= WORD;
    }
}

static __device__ __forceinline__ void end_row(struct writer *writer)
{
    for (unsigned i = 0; i < writer->held_bytes; i++)
        writer->to[i] = (unsigned char)(writer->held >> 8 * i);
}

/* ---- filters ---- */

enum { NONE, SUB, UP, AVERAGE, PAETH, FILTERS };

/* All bits where the row has that filter, which saves branches: the lanes' filters differ. */
struct filter {
    unsigned sub, up, average, paeth;
};

static __device__ __forceinline__ struct filter filter_of(int number)
{
    return {number == SUB ? ~0u : 0, number == UP ? ~0u : 0, number == AVERAGE ? ~0u : 0,
            number == PAETH ? ~0u : 0};
}

static __device__ __forceinline__ int paeth(int left, int above, int corner)
{
    const int to_left = abs(above - corner), to_above = abs(left - corner),
              to_corner = abs(left + above - 2 * corner);
    const int nearer = to_above <= to_corner ? above : corner;
    return to_left <= to_above && to_left <= to_corner ? left : nearer;
}

static __device__ __forceinline__ unsigned paeth_of_bytes(unsigned left, unsigned above,
                                                          unsigned corner, int bytes)
{
    unsigned word = 0;
#pragma unroll
    for (int i = 0; i < WORD; i++) {
        if (i < bytes)
            word |=
                (unsigned)paeth(left >> 8 * i & 255, above >> 8 * i & 255, corner >> 8 * i & 255)
                << 8 * i;
    }
    return word;
}

/* Four bytes at once, without carries. */
static __device__ __forceinline__ unsigned add_bytes(unsigned a, unsigned b)
{
    const unsigned LOW = 0x7f7f7f7f;
    return ((a & LOW) + (b & LOW)) ^ ((a ^ b) & ~LOW);
}

static __device__ __forceinline__ unsigned mean_bytes(unsigned a, unsigned b)
{
    return (a & b) + ((a ^ b) >> 1 & 0x7f7f7f7f);
}

template <int BYTES>
static __device__ __forceinline__ struct pixel<BYTES>
undo(struct filter filter, struct pixel<BYTES> filtered, struct pixel<BYTES> left,
     struct pixel<BYTES> above, struct pixel<BYTES> corner) {
    struct pixel<BYTES> pixel;
#pragma unroll
    for (int i = 0; i < (int)sizeof pixel / WORD; i++) {
        const unsigned a = left.word[i], b = above.word[i],
                       most = paeth_of_bytes(a, b, corner.word[i], BYTES - WORD * i);
        pixel.word[i] = add_bytes(filtered.word[i], (a & filter.sub) | (b & filter.up) |
                                                        (mean_bytes(a, b) & filter.average) |
                                                        (most & filter.paeth));
    }
    return pixel;
}

template <int BYTES>
static __device__ __forceinline__ struct pixel<BYTES> from_lane_above(struct pixel<BYTES> pixel) {
#pragma unroll
    for (int i = 0; i < (int)sizeof pixel / WORD; i++)
        pixel.word[i] = __shfl_up_sync(~0u, pixel.word[i], 1);
    return pixel;
}

/* A warp does 32 rows at a time, a lane each, a pixel behind the lane above: what lies above comes
 * from that lane, and for the first one from the picture. */
template <int BYTES>
static __device__ void undo_stripe(const struct png_stripe &stripe, const struct png_target &target,
                                   unsigned *flag)
{
    const int lane = threadIdx.x % WARP;
    for (int first = 0; first < stripe.rows; first += WARP) {
        const int row = first + lane;
        const bool is_row = row < stripe.rows, from_picture = !lane && first;
        const unsigned begin = is_row ? (unsigned)row * stripe.row_bytes : 0;
        const int number = stripe.filtered[begin];
        const struct filter filter = filter_of(number);
        struct pixel<BYTES> current = {
        };
        struct pixel<BYTES> above = {
        };
        struct reader reader, row_above;
        struct writer writer = {};
        if (is_row && number >= (row ? FILTERS : UP))
            atomicOr(flag, 1u);
        open_row(&reader, stripe.filtered, stripe.filtered_bytes, begin + 1);
        if (is_row)
            writer.to = target.data + (uint64_t)(stripe.first_row + row) * target.pitch;
        if (from_picture)
            open_row(&row_above, writer.to - target.pitch, (unsigned)target.width * BYTES, 0);
        for (int step = 0; step < target.width + WARP - 1; step++) {
            const int x = step - lane;
            const struct pixel<BYTES> corner = above;
            above = from_lane_above(current);
            if (!is_row || x < 0 || x >= target.width)
                continue;
            if (from_picture)
                above = swapped(take<BYTES>(&row_above), target.wide);
            else if (!row)
                above = {};
            current = undo<BYTES>(filter, take<BYTES>(&reader), current, above, corner);
            put(&writer, swapped(current, target.wide));
        }
        end_row(&writer);
        __syncwarp();
    }
}

static __global__ void __launch_bounds__(WARP) unfilter_kernel(const struct png_decode_group group)
{
    const struct png_stripe stripe = group.stripes[blockIdx.x];
    const struct png_target target = group.targets[stripe.picture];
    unsigned *const flag = group.flags + stripe.picture;
    /* One lane reads, since others may flag the picture meanwhile. */
    if (__shfl_sync(~0u, threadIdx.x ? 0 : *(volatile unsigned *)flag, 0))
        return;
    switch (target.pixel_bytes) {
    case 1:
        return undo_stripe<1>(stripe, target, flag);
    case 2:
        return undo_stripe<2>(stripe, target, flag);
    case 3:
        return undo_stripe<3>(stripe, target, flag);
    case 4:
        return undo_stripe<4>(stripe, target, flag);
    case 6:
        return undo_stripe<6>(stripe, target, flag);
    default:
        return undo_stripe<8>(stripe, target, flag);
    }
}

cudaError_t gf_png_unfilter(const struct png_decode_group *group, cudaStream_t stream)
{
    unfilter_kernel<<<group->count, WARP, 0, stream>>>(*group);
    return cudaGetLastError();
}
