/* Undoes the filters of rows; before that, computes the rows' checksums. */
#include "cuda/common/scan.cuh"
#include "cuda/png/stripes.cuh"

enum { SUM_THREADS = 256, ADLER = 65521 };

/* ---- checksums: Adler-32, RFC 1950 ---- */

static __device__ __forceinline__ uint64_t sum_block(uint64_t value, uint64_t *warps)
{
    value = warp_sum(value);
    __syncthreads();
    if (threadIdx.x % WARP == 0)
        warps[threadIdx.x / WARP] = value;
    __syncthreads();
    value = 0;
    for (int i = 0; i < SUM_THREADS / WARP; i++)
        value += warps[i];
    return value;
}

/* Computes the Adler-32 of a stripe's n bytes b(i): a = 1 + the sum of b(i), b = n + the sum of (n
 * - i) b(i), modulo ADLER. A stripe has fewer than 2^25 bytes, so that no sum exceeds 64 bits. */
static __global__ void __launch_bounds__(SUM_THREADS)
    sum_kernel(const struct png_decode_group group)
{
    __shared__ uint64_t warps[SUM_THREADS / WARP];
    const struct png_stripe stripe = group.stripes[blockIdx.x];
    if (group.flags[stripe.picture]) /* the bytes may be missing */
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
    if (threadIdx.x)
        return;
    group.adlers[blockIdx.x] = (unsigned)(b << 16 | a);
    for (unsigned i = n; i % 4; i++) /* the last word is read as a whole */
        stripe.filtered[i] = 0;
}

cudaError_t gf_png_sum_stripes(const struct png_decode_group *group, cudaStream_t stream)
{
    sum_kernel<<<group->count, SUM_THREADS, 0, stream>>>(*group);
    return cudaGetLastError();
}

/* Rows are processed in quads of four pixels. A quad has as many words as a pixel has bytes. */
enum { QUAD = 4, WORD = 4 };

template <int BYTES> struct quad {
    unsigned word[BYTES];
};

/* A pixel, with its first byte lowest, followed by zeros. */
template <int BYTES> struct pixel {
    unsigned word[(BYTES + WORD - 1) / WORD];
};

/* Extracts pixel i, a number that the compiler knows. */
template <int BYTES>
static __device__ __forceinline__ struct pixel<BYTES> pixel_of(const struct quad<BYTES> &quad,
                                                               int i) {
    struct pixel<BYTES> pixel;
    constexpr int WORDS = sizeof pixel / WORD;
    const int first = i * BYTES / WORD;
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        const int next = first + k + 1 < BYTES ? first + k + 1 : BYTES - 1;
        pixel.word[k] =
            __funnelshift_r(quad.word[first + k], quad.word[next], i * BYTES % WORD * 8);
    }
    if (BYTES % WORD)
        pixel.word[WORDS - 1] &= (1u << BYTES % WORD * 8) - 1;
    return pixel;
}

/* Adds pixel i to a quad, in which it must be 0. */
template <int BYTES>
static __device__ __forceinline__ void add_pixel(struct quad<BYTES> *quad, int i,
                                                 const struct pixel<BYTES> &pixel)
{
    const int first = i * BYTES / WORD, shift = i * BYTES % WORD * 8;
#pragma unroll
    for (int k = 0; k < (int)sizeof pixel / WORD; k++) {
        quad->word[first + k] |= pixel.word[k] << shift;
        if (shift && first + k + 1 < BYTES)
            quad->word[first + k + 1] |= pixel.word[k] >> (32 - shift);
    }
}

/* Converts samples of 16 bits from the file's order to the host's, or back. */
template <int BYTES>
static __device__ __forceinline__ struct quad<BYTES> swapped(struct quad<BYTES> quad, bool wide) {
#pragma unroll
    for (int i = 0; i < BYTES; i++) {
        if (BYTES % 2 == 0 && wide)
            quad.word[i] = (quad.word[i] & 0xff00ff) << 8 | (quad.word[i] >> 8 & 0xff00ff);
    }
    return quad;
}

/* Reads a row of the stripe from its first pixel on. The next quad is loaded while the current one
 * is processed. */
template <int BYTES>
struct reader {
    const unsigned *words;
    unsigned next, last, shift; /* next and last word of the stripe; bits to shift by */
    unsigned held, ahead[BYTES];
};

template <int BYTES> static __device__ __forceinline__ void load_ahead(struct reader<BYTES> *reader)
{
#pragma unroll
    for (int i = 0; i < BYTES; i++)
        reader->ahead[i] = reader->words[min(reader->next + (unsigned)i, reader->last)];
    reader->next += BYTES;
}

template <int BYTES>
static __device__ __forceinline__ void open_row(struct reader<BYTES> *reader,
                                                const struct png_stripe &stripe, unsigned at)
{
    reader->words = (const unsigned *)stripe.filtered;
    reader->last = (stripe.filtered_bytes - 1) / WORD;
    reader->shift = 8 * (at % WORD);
    reader->held = reader->words[min(at / WORD, reader->last)];
    reader->next = at / WORD + 1;
    load_ahead(reader);
}

template <int BYTES>
static __device__ __forceinline__ struct quad<BYTES> take(struct reader<BYTES> *reader) {
    struct quad<BYTES> quad;
    quad.word[0] = __funnelshift_r(reader->held, reader->ahead[0], reader->shift);
#pragma unroll
    for (int i = 1; i < BYTES; i++)
        quad.word[i] = __funnelshift_r(reader->ahead[i - 1], reader->ahead[i], reader->shift);
    reader->held = reader->ahead[BYTES - 1];
    load_ahead(reader);
    return quad;
}

/* Loads a quad from a row of the picture. The row has `bytes` more bytes, and zeros follow them. */
template <int BYTES>
static __device__ __forceinline__ struct quad<BYTES> load_quad(const unsigned char *from,
                                                               unsigned bytes) {
    struct quad<BYTES> quad = {
    };
#pragma unroll
    for (int i = 0; i < BYTES; i++) {
        if (WORD * (unsigned)i + WORD <= bytes) {
            quad.word[i] = *(const unsigned *)(from + WORD * i);
            continue;
        }
#pragma unroll
        for (int k = 0; k < WORD; k++)
            quad.word[i] |= (unsigned)(WORD * i + k < (int)bytes ? from[WORD * i + k] : 0) << 8 * k;
    }
    return quad;
}

template <int BYTES>
static __device__ __forceinline__ void store_quad(const struct quad<BYTES> &quad, unsigned char *to,
                                                  unsigned bytes)
{
#pragma unroll
    for (int i = 0; i < BYTES; i++) {
        if (WORD * (unsigned)i + WORD <= bytes) {
            *(unsigned *)(to + WORD * i) = quad.word[i];
            continue;
        }
#pragma unroll
        for (int k = 0; k < WORD; k++) {
            if (WORD * i + k < (int)bytes)
                to[WORD * i + k] = (unsigned char)(quad.word[i] >> 8 * k);
        }
    }
}

enum { NONE, SUB, UP, AVERAGE, PAETH, FILTERS };

/* The filter of a row as masks: all bits of one member are set. This avoids branches, since the
 * lanes have different filters. */
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

/* Adds four bytes, without carries between them. */
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
static __device__ __forceinline__ struct quad<BYTES> from_lane_above(struct quad<BYTES> quad) {
#pragma unroll
    for (int i = 0; i < BYTES; i++)
        quad.word[i] = __shfl_up_sync(~0u, quad.word[i], 1);
    return quad;
}

/* Undoes the filters of a stripe. A warp processes 32 rows at a time, one in each lane. Each lane
 * processes a quad after the lane above has processed it. That lane supplies the row above; the
 * first lane reads it from the picture. */
template <int BYTES>
static __device__ void undo_stripe(const struct png_stripe &stripe, const struct png_target &target,
                                   unsigned *flag)
{
    const int lane = threadIdx.x % WARP, quads = (target.width + QUAD - 1) / QUAD;
    for (int first = 0; first < stripe.rows; first += WARP) {
        const int row = first + lane;
        const bool is_row = row < stripe.rows, from_picture = !lane && first;
        const unsigned begin = is_row ? (unsigned)row * stripe.row_bytes : 0;
        const int number = stripe.filtered[begin];
        const struct filter filter = filter_of(number);
        unsigned char *const out =
            target.data + (uint64_t)(stripe.first_row + (is_row ? row : 0)) * target.pitch;
        struct quad<BYTES> done = {
        };
        struct pixel<BYTES> left = {
        };
        struct pixel<BYTES> corner = {
        };
        struct reader<BYTES> reader;
        if (is_row && number >= (row ? FILTERS : UP))
            atomicOr(flag, 1u);
        open_row(&reader, stripe, begin + 1);
        struct quad<BYTES> upper = {
        };
        if (from_picture)
            upper = load_quad<BYTES>(out - target.pitch, (unsigned)target.width * BYTES);
        for (int step = 0; step < quads + WARP - 1; step++) {
            const int at = step - lane;
            struct quad<BYTES> above = from_lane_above(done);
            if (!is_row || at < 0 || at >= quads)
                continue;
            const unsigned place = (unsigned)at * QUAD * BYTES,
                           bytes = (unsigned)target.width * BYTES - place;
            if (from_picture) {
                above = swapped(upper, target.wide);
                if (at + 1 < quads)
                    upper = load_quad<BYTES>(out - target.pitch + place + QUAD * BYTES,
                                             bytes - QUAD * BYTES);
            } else if (!row) {
                above = {};
            }
            const struct quad<BYTES> filtered = take(&reader);
            done = {};
#pragma unroll
            for (int i = 0; i < QUAD; i++) {
                const struct pixel<BYTES> up = pixel_of(above, i);
                left = undo<BYTES>(filter, pixel_of(filtered, i), left, up, corner);
                corner = up;
                add_pixel(&done, i, left);
            }
            store_quad(swapped(done, target.wide), out + place, bytes);
        }
        __syncwarp();
    }
}

static __global__ void __launch_bounds__(WARP) unfilter_kernel(const struct png_decode_group group)
{
    const struct png_stripe stripe = group.stripes[blockIdx.x];
    const struct png_target target = group.targets[stripe.picture];
    unsigned *const flag = group.flags + stripe.picture;
    /* One lane reads the flag, because other warps may set it at the same time. */
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
