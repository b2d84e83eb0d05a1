/* Filters rows: computes the sums of the five filters, chooses one, writes the filtered bytes, and
 * adds the sums for Adler-32. A thread block processes a row at a time in two passes that read
 * words of four bytes. The second pass reads at the offsets of the filtered words, which are
 * written whole. */
#include "cuda/common/scan.cuh"
#include "cuda/png/encode_group.cuh"

enum { THREADS = 256, ROW_BLOCKS = 256, FILTERS = 5, BASE = 65521, FIRST_ROW_FILTERS = 2 };
enum { NONE, SUB, UP, AVERAGE, PAETH };

static constexpr unsigned ONES = 0x01010101u, LOW_BITS = 0x7f7f7f7fu;

/* A row in PNG's byte order; words is NULL for a row of zeros. */
struct row {
    const unsigned *words;
    unsigned bytes;
    bool swapped;
};

/* Returns bytes 4 * i .. 4 * i + 3, with zeros outside of the row. Memory after the last byte is
 * not read. */
static __device__ __forceinline__ unsigned word_of(const struct row &row, int i)
{
    if (i < 0 || 4u * i >= row.bytes || !row.words)
        return 0;
    unsigned word = 0;
    if (4u * i + 4 <= row.bytes) {
        word = row.words[i];
    } else {
        const unsigned char *const from = (const unsigned char *)(row.words + i);
        for (unsigned b = 0; 4u * i + b < row.bytes; b++)
            word |= (unsigned)from[b] << 8 * b;
    }
    return row.swapped ? __byte_perm(word, 0, 0x2301) : word;
}

/* Returns bytes x .. x + 3. */
static __device__ __forceinline__ unsigned bytes_at(const struct row &row, int x)
{
    const int i = x >> 2;
    const unsigned low = word_of(row, i);
    return x & 3 ? __funnelshift_r(low, word_of(row, i + 1), 8 * (x & 3)) : low;
}

static __device__ __forceinline__ unsigned subtract(unsigned a, unsigned b)
{
    return ((a | ~LOW_BITS) - (b & LOW_BITS)) ^ ((a ^ ~b) & ~LOW_BITS);
}

static __device__ __forceinline__ unsigned average(unsigned a, unsigned b)
{
    return (a & b) + ((a ^ b) >> 1 & LOW_BITS);
}

static __device__ __forceinline__ unsigned paeth(unsigned left, unsigned above, unsigned corner)
{
    unsigned word = 0;
#pragma unroll
    for (int shift = 0; shift < 32; shift += 8) {
        const int a = left >> shift & 255, b = above >> shift & 255, c = corner >> shift & 255;
        const int to_left = abs(b - c), to_above = abs(a - c), to_corner = abs(a + b - 2 * c);
        const int best = to_left <= to_above && to_left <= to_corner ? a
                         : to_above <= to_corner                     ? b
                                                                     : c;
        word |= (unsigned)best << shift;
    }
    return word;
}

/* The bytes on which four filtered bytes depend. */
struct neighbours {
    unsigned own, left, above, corner;
};

static __device__ __forceinline__ struct neighbours
neighbours_at(const struct row &row, const struct row &above, int x, int pixel_bytes)
{
    return {bytes_at(row, x), bytes_at(row, x - pixel_bytes), bytes_at(above, x),
            bytes_at(above, x - pixel_bytes)};
}

static __device__ __forceinline__ unsigned filtered(int filter, const struct neighbours &at)
{
    const unsigned guess = filter == NONE      ? 0
                           : filter == SUB     ? at.left
                           : filter == UP      ? at.above
                           : filter == AVERAGE ? average(at.left, at.above)
                                               : paeth(at.left, at.above, at.corner);
    return subtract(at.own, guess);
}

/* Returns the sum of the absolute values of four signed bytes. */
static __device__ __forceinline__ unsigned distance(unsigned word)
{
    const unsigned negative = word >> 7 & ONES;
    return __dp4a((word ^ ((negative << 8) - negative)) + negative, ONES, 0u);
}

/* Keeps bytes from .. end - 1 of a word and clears the others. */
static __device__ __forceinline__ unsigned keep(unsigned word, int from, int end)
{
    if (from > 0)
        word &= ~0u << 8 * from;
    return end < 4 ? word & ~(~0u << 8 * end) : word;
}

/* Adds each filter's sum to `sums` in shared memory. */
static __device__ void add_sums(const struct row &row, const struct row &above, int pixel_bytes,
                                unsigned long long *sums)
{
    unsigned own[FILTERS] = {};
    for (unsigned i = threadIdx.x; 4 * i < row.bytes; i += THREADS) {
        const struct neighbours at = neighbours_at(row, above, 4 * i, pixel_bytes);
        const int end = row.bytes - 4 * i < 4 ? row.bytes - 4 * i : 4;
#pragma unroll
        for (int filter = 0; filter < FILTERS; filter++)
            own[filter] += distance(keep(filtered(filter, at), 0, end));
    }
#pragma unroll
    for (int filter = 0; filter < FILTERS; filter++) {
        const unsigned long long sum = warp_sum((unsigned long long)own[filter]);
        if (threadIdx.x % WARP == 0)
            atomicAdd(sums + filter, sum);
    }
}

static __device__ int choose(const unsigned long long *sums, int filters)
{
    int best = NONE;
    for (int filter = 1; filter < filters; filter++)
        best = sums[filter] < sums[best] ? filter : best;
    return best;
}

/* Writes the filter's number and the filtered row from byte `start` of the stripe on, and adds
 * their sums for Adler-32. */
static __device__ void write_row(const struct row &row, const struct row &above, int pixel_bytes,
                                 int filter, unsigned char *stripe, unsigned start,
                                 unsigned long long *adler)
{
    const int length = row.bytes + 1;
    unsigned plain = 0;
    long long weighted = 0;
    for (unsigned w = start / 4 + threadIdx.x; w <= (start + length - 1) / 4; w += THREADS) {
        const int i = 4 * w - start; /* byte 0 is the filter's number, the row follows */
        const int from = i < 0 ? -i : 0, end = length - i < 4 ? length - i : 4;
        unsigned word = filtered(filter, neighbours_at(row, above, i - 1, pixel_bytes));
        if (i <= 0)
            word = (word & ~(255u << 8 * -i)) | (unsigned)filter << 8 * -i;
        word = keep(word, from, end);
        const unsigned sum = __dp4a(word, ONES, 0u);
        plain += sum;
        weighted += (long long)(length - i) * sum - __dp4a(word, 0x03020100u, 0u);
        if (from == 0 && end == 4) {
            ((unsigned *)stripe)[w] = word;
        } else {
            for (int b = from; b < end; b++)
                stripe[4 * w + b] = (unsigned char)(word >> 8 * b);
        }
    }
    const unsigned long long all = warp_sum((unsigned long long)plain);
    const unsigned long long all_weighted = warp_sum((unsigned long long)weighted);
    if (threadIdx.x % WARP == 0) {
        atomicAdd(adler, all);
        atomicAdd(adler + 1, all_weighted);
    }
}

static __device__ void filter_row(const struct png_group &group, const struct png_stripe &stripe,
                                  int r, unsigned long long *sums)
{
    const struct png_picture picture = group.pictures[stripe.picture];
    const int y = stripe.row + r;
    const unsigned char *const pixels = picture.pixels + (size_t)y * picture.pitch;
    const struct row own = {(const unsigned *)pixels, picture.row_bytes, picture.swapped};
    const struct row above = {r ? (const unsigned *)(pixels - picture.pitch) : NULL,
                              picture.row_bytes, picture.swapped};
    unsigned long long *const adler = sums + FILTERS;
    __syncthreads(); /* the previous row may still be read */
    if (threadIdx.x < FILTERS + 2)
        sums[threadIdx.x] = 0;
    __syncthreads();
    add_sums(own, above, picture.pixel_bytes, sums);
    __syncthreads();
    const int filter = choose(sums, r ? FILTERS : FIRST_ROW_FILTERS);
    write_row(own, above, picture.pixel_bytes, filter, group.filtered + stripe.granules * GRANULE,
              (unsigned)r * (picture.row_bytes + 1), adler);
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned long long behind =
            (unsigned long long)(picture.height - 1 - y) * (picture.row_bytes + 1) % BASE;
        struct png_adler *const to = group.adler + stripe.picture;
        atomicAdd(&to->plain, adler[0] % BASE);
        atomicAdd(&to->weighted, (adler[1] + adler[0] % BASE * behind) % BASE);
    }
}

static __global__ void __launch_bounds__(THREADS)
    filter_kernel(const struct png_group group, unsigned first)
{
    __shared__ unsigned long long sums[FILTERS + 2];
    const struct png_stripe stripe = group.stripes[first + blockIdx.y];
    for (int r = blockIdx.x; r < stripe.rows; r += gridDim.x)
        filter_row(group, stripe, r, sums);
    if (blockIdx.x)
        return;
    unsigned char *const bytes = group.filtered + stripe.granules * GRANULE;
    const unsigned end = (stripe.size / (GRANULE * WARP) + 1) * (GRANULE * WARP);
    for (unsigned i = stripe.size + threadIdx.x; i < end; i += THREADS)
        bytes[i] = 0;
}

cudaError_t gf_png_filter_load(void)
{
    return load_all(filter_kernel);
}

cudaError_t gf_png_filter_launch(const struct png_group *group, cudaStream_t stream)
{
    const unsigned across = min((unsigned)group->rows_most, (unsigned)ROW_BLOCKS);
    for (unsigned first = 0; first < group->count; first += GRID_ROWS_MAX) {
        const dim3 grid(across, min(group->count - first, (unsigned)GRID_ROWS_MAX));
        filter_kernel<<<grid, THREADS, 0, stream>>>(*group, first);
    }
    return cudaGetLastError();
}
