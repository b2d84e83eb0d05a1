#include "cuda/filters/median/median.cuh"
#include "stage/border.h"

/* Windows of 7x7 to 31x31. A thread moves down one column of samples with a histogram of its window
 * in shared memory; each step adds a row of the window and removes one. For 16-bit samples the
 * histogram holds the upper bytes, and the lower byte of the median is found four bits at a time
 * among the samples of that bin. */

constexpr int THREADS = 64;
constexpr int ROWS = 128; /* of a thread */
constexpr int BINS = 256, NIBBLES = 16;

/* The counters of a thread are halves of words that lie THREADS apart, so that each lane has a bank
 * of its own. */
struct counters {
    uint32_t *word;

    __device__ __forceinline__ void clear(int bins) const
    {
        for (int i = 0; i < bins / 2; i++)
            word[i * THREADS] = 0;
    }
    /* No other thread uses the word. The atomic operation is faster than a load and a store because
     * the thread does not wait for the old value. */
    __device__ __forceinline__ void add(int bin, int change) const
    {
        atomicAdd(word + (bin >> 1) * THREADS, (uint32_t)change << (16 * (bin & 1)));
    }
    __device__ __forceinline__ int count(int bin) const
    {
        return word[(bin >> 1) * THREADS] >> (16 * (bin & 1)) & 0xffff;
    }
};

struct column {
    int pixel, channel;
    bool is_inner; /* the window lies between the left and right edges */
};

template <int BITS>
static __device__ __forceinline__ int sample_at(const struct view_pair &p, const unsigned char *row,
                                                const struct column &column, int dx)
{
    int pixel = column.pixel + dx;
    if (!column.is_inner)
        pixel = gf_border_index(pixel, p.width, p.border);
    if (!row || pixel < 0)
        return 0;
    const int at = pixel * p.channels + column.channel;
    return BITS == 8 ? __ldg(row + at) : __ldg((const uint16_t *)row + at);
}

/* Adds row y of the window (change 1) or removes it (-1). Returns how many of its samples lie below
 * the bin `limit`. */
template <int BITS>
static __device__ __forceinline__ int
count_row(const struct view_pair &p, int radius, const struct counters &histogram,
          const struct column &column, int y, int change, int limit)
{
    const unsigned char *const row = median_row(p, y);
    int below = 0;
#pragma unroll 4
    for (int dx = -radius; dx <= radius; dx++) {
        const int bin = sample_at<BITS>(p, row, column, dx) >> (BITS - 8);
        histogram.add(bin, change);
        below += bin < limit;
    }
    return below;
}

/* The next four bits of the sample of rank `rank` among those of the window that start with
 * `prefix`. */
static __device__ int next_nibble(const struct view_pair &p, int radius,
                                  const struct counters &nibbles, const struct column &column,
                                  int y, int prefix, int shift, int *rank)
{
    nibbles.clear(NIBBLES);
    for (int dy = -radius; dy <= radius; dy++) {
        const unsigned char *const row = median_row(p, y + dy);
#pragma unroll 4
        for (int dx = -radius; dx <= radius; dx++) {
            const int v = sample_at<16>(p, row, column, dx);
            if (v >> (shift + 4) == prefix)
                nibbles.add(v >> shift & 15, 1);
        }
    }
    int nibble = 0;
    for (int count; nibble < NIBBLES - 1 && (count = nibbles.count(nibble)) <= *rank; nibble++)
        *rank -= count;
    return prefix << 4 | nibble;
}

template <int BITS>
static __global__ void __launch_bounds__(THREADS)
    median_slide_kernel(struct view_pair p, int radius)
{
    __shared__ uint32_t words[(BINS + (BITS > 8 ? NIBBLES : 0)) / 2][THREADS];
    const int sample = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (sample >= p.width * p.channels)
        return;
    const struct counters histogram = {&words[0][threadIdx.x]};
    const int pixel = sample / p.channels;
    const struct column column = {pixel, sample - pixel * p.channels,
                                  pixel >= radius && pixel + radius < p.width};
    const int rank = (2 * radius + 1) * (2 * radius + 1) / 2;
    for (int start = blockIdx.y * ROWS; start < p.rows; start += GRID_ROWS_MAX * ROWS) {
        const int first = p.out_y + start, end = p.out_y + min(start + ROWS, p.rows);
        histogram.clear(BINS);
        int bin = 0, below = 0; /* where the last search ended, and how many samples lie below */
        for (int y = first - radius; y < first + radius; y++)
            count_row<BITS>(p, radius, histogram, column, y, 1, 0);
        for (int y = first; y < end; y++) {
            below += count_row<BITS>(p, radius, histogram, column, y + radius, 1, bin);
            while (below > rank)
                below -= histogram.count(--bin);
            for (int count; below + (count = histogram.count(bin)) <= rank; bin++)
                below += count;
            unsigned char *const out = p.out + (y - p.out_y) * p.out_pitch;
            if (BITS == 8) {
                out[sample] = (unsigned char)bin;
            } else {
                const struct counters nibbles = {&words[BINS / 2][threadIdx.x]};
                int rest = rank - below;
                const int upper = next_nibble(p, radius, nibbles, column, y, bin, 4, &rest);
                ((uint16_t *)out)[sample] =
                    (uint16_t)next_nibble(p, radius, nibbles, column, y, upper, 0, &rest);
            }
            below -= count_row<BITS>(p, radius, histogram, column, y - radius, -1, bin);
        }
    }
}

int gf_median_large(const struct view_pair &p, int radius, cudaStream_t stream)
{
    const size_t samples = (size_t)p.width * p.channels;
    const int strips = (p.rows + ROWS - 1) / ROWS;
    const dim3 grid((unsigned int)((samples + THREADS - 1) / THREADS),
                    strips < GRID_ROWS_MAX ? strips : GRID_ROWS_MAX);
    if (p.bits == 8)
        median_slide_kernel<8><<<grid, THREADS, 0, stream>>>(p, radius);
    else
        median_slide_kernel<16><<<grid, THREADS, 0, stream>>>(p, radius);
    return cudaGetLastError();
}
