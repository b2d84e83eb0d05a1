/* Undoes the filters of rows; before that, computes the rows' checksums. */
#include "cuda/common/scan.cuh"
#include "cuda/png/stripes.cuh"

enum { SUM_THREADS = 512, ADLER = 65521, WORD = 4 };

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
 * - i) b(i), modulo ADLER. A stripe has at most 2^26 bytes, so that no sum exceeds 64 bits. */
static __global__ void __launch_bounds__(SUM_THREADS)
    sum_kernel(const struct png_decode_group group)
{
    __shared__ uint64_t warps[SUM_THREADS / WARP];
    const struct png_stripe stripe = group.stripes[blockIdx.x];
    if (group.flags[stripe.picture]) /* the bytes may be missing */
        return;
    const unsigned n = stripe.filtered_bytes;
    uint64_t a = 0, b = 0;
    const unsigned whole = n / WORD * WORD;
    for (unsigned i = WORD * threadIdx.x; i < whole; i += WORD * SUM_THREADS) {
        const unsigned word = *(const unsigned *)(stripe.filtered + i),
                       sum = __dp4a(word, 0x01010101u, 0u);
        a += sum;
        b += (uint64_t)(n - i) * sum - __dp4a(word, 0x03020100u, 0u);
    }
    if (threadIdx.x < n - whole) {
        const unsigned byte = stripe.filtered[whole + threadIdx.x];
        a += byte;
        b += (uint64_t)(n - whole - threadIdx.x) * byte;
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
    return launch_kernel(sum_kernel, group->count, SUM_THREADS, 0, stream, *group);
}

/* Rows are processed in quads of four pixels. A quad has as many words as a pixel has bytes. */
enum { QUAD = 4 };

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

/* Undoes the filters of 32 rows of a stripe, `first` and those below it, in steps that all warps of
 * the block take together. Each lane processes a quad after the lane above has processed it. That
 * lane supplies the row above; the first lane reads it from the picture. */
template <int BYTES>
struct rows {
    int row;
    bool is_row, from_picture;
    struct filter filter;
    unsigned char *out;
    struct quad<BYTES> done, upper;
    struct pixel<BYTES> left, corner;
    struct reader<BYTES> reader;
};

template <int BYTES>
static __device__ __forceinline__ void
open_rows(struct rows<BYTES> *rows, const struct png_stripe &stripe,
          const struct png_target &target, int first, unsigned *flag)
{
    const int lane = threadIdx.x % WARP;
    *rows = {};
    rows->row = first + lane;
    rows->is_row = rows->row < stripe.rows;
    rows->from_picture = !lane && first;
    const unsigned begin = rows->is_row ? (unsigned)rows->row * stripe.row_bytes : 0;
    const int number = stripe.filtered[begin];
    rows->filter = filter_of(number);
    rows->out =
        target.data + (uint64_t)(stripe.first_row + (rows->is_row ? rows->row : 0)) * target.pitch;
    if (rows->is_row && number >= (rows->row || !stripe.marked ? FILTERS : UP))
        atomicOr(flag, 1u);
    open_row(&rows->reader, stripe, begin + 1);
    if (rows->from_picture)
        rows->upper = load_quad<BYTES>(rows->out - target.pitch, (unsigned)target.width * BYTES);
}

template <int BYTES>
static __device__ __forceinline__ void
undo_quad(struct rows<BYTES> *rows, const struct png_target &target, int step, int quads)
{
    const int at = step - (int)(threadIdx.x % WARP);
    struct quad<BYTES> above = from_lane_above(rows->done);
    if (!rows->is_row || at < 0 || at >= quads)
        return;
    const unsigned place = (unsigned)at * QUAD * BYTES,
                   bytes = (unsigned)target.width * BYTES - place;
    if (rows->from_picture) {
        above = swapped(rows->upper, target.wide);
        if (at + 1 < quads)
            rows->upper = load_quad<BYTES>(rows->out - target.pitch + place + QUAD * BYTES,
                                           bytes - QUAD * BYTES);
    } else if (!rows->row) {
        above = {};
    }
    const struct quad<BYTES> filtered = take(&rows->reader);
    rows->done = {};
#pragma unroll
    for (int i = 0; i < QUAD; i++) {
        const struct pixel<BYTES> up = pixel_of(above, i);
        rows->left = undo<BYTES>(rows->filter, pixel_of(filtered, i), rows->left, up, rows->corner);
        rows->corner = up;
        add_pixel(&rows->done, i, rows->left);
    }
    store_quad(swapped(rows->done, target.wide), rows->out + place, bytes);
}

/* Undoes the filters of a stripe. Warp w of the block processes rows 32 w to 32 w + 31, then those
 * 32 * WARPS rows further down, and so on. It is so many steps behind the warp above that the row
 * which its first lane reads has been stored. */
template <int BYTES, int WARPS>
static __device__ void undo_stripe(const struct png_stripe &stripe, const struct png_target &target,
                                   unsigned *flag)
{
    enum { BEHIND = WARP + 1 };
    const int warp = threadIdx.x / WARP, quads = (target.width + QUAD - 1) / QUAD,
              own = quads + WARP - 1,
              behind = BEHIND * WARPS > own ? BEHIND : (own + WARPS - 1) / WARPS,
              every = behind * WARPS, /* steps from a warp's rows to its next ones */
        groups = (stripe.rows + WARP - 1) / WARP,
              steps = (groups - 1) / WARPS * every + (groups - 1) % WARPS * behind + own;
    struct rows<BYTES> rows = {
    };
    /* at: the warp's step in its present 32 rows; before 0 it waits. first: the index of these rows
     * in the stripe, in units of 32 rows. */
    int at = -warp * behind, first = warp;
    for (int step = 0; step < steps; step++) {
        if (at >= 0 && at < own && first < groups) {
            if (!at)
                open_rows(&rows, stripe, target, first * WARP, flag);
            undo_quad(&rows, target, at, quads);
        }
        if (++at == every) {
            at = 0;
            first += WARPS;
        }
        if (WARPS > 1)
            __syncthreads();
        else if (!at)
            __syncwarp();
    }
}

/* Undoes the filters of the stripes from `first` on, one for each thread block. */
template <int WARPS>
static __global__ void __launch_bounds__(WARP *WARPS)
    unfilter_kernel(const struct png_decode_group group, unsigned first)
{
    const struct png_stripe stripe = group.stripes[first + blockIdx.x];
    const struct png_target target = group.targets[stripe.picture];
    unsigned *const flag = group.flags + stripe.picture;
    __shared__ unsigned flagged;
    /* One thread reads the flag, because other blocks may set it at the same time. */
    if (!threadIdx.x)
        flagged = *(volatile unsigned *)flag;
    __syncthreads();
    if (flagged)
        return;
    switch (target.pixel_bytes) {
    case 1:
        return undo_stripe<1, WARPS>(stripe, target, flag);
    case 2:
        return undo_stripe<2, WARPS>(stripe, target, flag);
    case 3:
        return undo_stripe<3, WARPS>(stripe, target, flag);
    case 4:
        return undo_stripe<4, WARPS>(stripe, target, flag);
    case 6:
        return undo_stripe<6, WARPS>(stripe, target, flag);
    default:
        return undo_stripe<8, WARPS>(stripe, target, flag);
    }
}

cudaError_t gf_png_unfilter(const struct png_decode_group *group, cudaStream_t stream)
{
    enum { STREAM_WARPS = 16 };
    const unsigned streams = group->count - group->marked;
    if (group->marked)
        unfilter_kernel<1><<<group->marked, WARP, 0, stream>>>(*group, 0);
    if (streams)
        unfilter_kernel<STREAM_WARPS>
            <<<streams, STREAM_WARPS * WARP, 0, stream>>>(*group, group->marked);
    return cudaGetLastError();
}
