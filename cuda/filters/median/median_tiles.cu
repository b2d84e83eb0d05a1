#include "cuda/filters/median/median.cuh"

/* Medians of 5x5 windows, four at a time. A thread sorts the four middle samples of each of its
 * columns of six samples, and the threads of a block exchange the sorted samples. Then a thread
 * reads six columns and computes a tile of two by two results. A word holds samples of two tiles,
 * one above the other. The kernel does not use walk.cuh, because a thread owns two columns and
 * shares its sorted samples with other threads. */
#define NET static __device__ __forceinline__
#define NET_TYPE uint32_t
#define NET_MIN(a, b) __vminu2(a, b)
#define NET_MAX(a, b) __vmaxu2(a, b)
#define NET_NAME(name) name
#include "filters/median/median_net.h"

constexpr int THREADS = 128;
constexpr int COLUMNS = 2 * THREADS; /* columns of a block, at most */
constexpr int SIDE = 6;              /* the side of the square that the four windows cover */
constexpr int REACH = 2;
constexpr int STEP = 4;  /* rows of two tiles */
constexpr int ROWS = 96; /* rows of a block */

/* The layout of a plane, a row of shared memory with one sample of each column of a block: the top
 * sample, the bottom sample, or the sample of a given rank among the four between. For each channel
 * the even columns come first, then the odd columns, so that lanes with adjacent tiles read
 * adjacent words. */
struct plane {
    int pixels; /* pixels of a row, an even number */
    __host__ __device__ explicit plane(int channels) : pixels(COLUMNS / channels / 2 * 2)
    {
    }
    __host__ __device__ int results() const
    {
        return pixels - 2 * REACH;
    }
    __device__ int at(int channel, int pixel) const
    {
        return channel * pixels + (pixel & 1) * (pixels / 2) + pixel / 2;
    }
};

/* A column of the picture, with the rows that two tiles need. */
template <class Sample> struct column {
    /* The column's sample in the view's first row; NULL: the border's constant. */
    const Sample *top;
    int to; /* the column's place in a plane */
    uint32_t v[STEP + 2 * REACH];

    __device__ __forceinline__ void load(int i, long long offset)
    {
        v[i] = top && offset >= 0 ? __ldg((const Sample *)((const char *)top + offset)) : 0;
    }
    __device__ __forceinline__ void sort(uint32_t (&planes)[SIDE][COLUMNS]) const
    {
        uint32_t both[SIDE];
#pragma unroll
        for (int i = 0; i < SIDE; i++)
            both[i] = v[i] | v[i + 2] << 16;
        net_sort4(both + 1);
#pragma unroll
        for (int i = 0; i < SIDE; i++)
            planes[i][to] = both[i];
    }
};

static __device__ __forceinline__ void make_tile(const uint32_t (&planes)[SIDE][COLUMNS], int even,
                                                 int odd, uint32_t (&result)[2][2])
{
    uint32_t core[SIDE][4], top[SIDE], bottom[SIDE];
#pragma unroll
    for (int x = 0; x < SIDE; x++) {
        const int at = (x % 2 ? odd : even) + x / 2;
        top[x] = planes[0][at];
        bottom[x] = planes[SIDE - 1][at];
#pragma unroll
        for (int i = 0; i < 4; i++)
            core[x][i] = planes[1 + i][at];
    }
    net_medians5(core, top, bottom, result);
}

/* Stores the part of a tile that is in the picture at `out`: `rows` rows, and one or two pixels of
 * each. */
template <class Sample>
static __device__ __forceinline__ void store_tile(unsigned char *out, size_t pitch, int rows,
                                                  bool two, int channels,
                                                  const uint32_t (&result)[2][2])
{
#pragma unroll
    for (int y = 0; y < STEP; y++) {
        if (y >= rows)
            break;
        Sample *const row = (Sample *)(out + y * pitch);
        row[0] = (Sample)(y < 2 ? result[y][0] & 0xffff : result[y - 2][0] >> 16);
        if (two)
            row[channels] = (Sample)(y < 2 ? result[y][1] & 0xffff : result[y - 2][1] >> 16);
    }
}

template <class Sample>
static __global__ void __launch_bounds__(THREADS) median_tiles_kernel(struct view_pair p)
{
    /* There are two sets of planes, which alternate, so that one barrier for each step is
     * enough. */
    __shared__ uint32_t planes[2][SIDE][COLUMNS];
    __shared__ long long offset[ROWS + 2 * REACH];
    const struct plane plane(p.channels);
    const int thread = threadIdx.x, x0 = (int)blockIdx.x * plane.results();
    struct column<Sample> columns[2];
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int sample = thread + k * THREADS, pixel = sample / p.channels;
        const int from =
            median_column((x0 - REACH) * p.channels + sample, p.channels, p.width, p.border, REACH);
        columns[k].top = from < 0 ? NULL : (const Sample *)p.in + from;
        columns[k].to = pixel < plane.pixels ? plane.at(sample - pixel * p.channels, pixel) : -1;
    }
    const int tiles = plane.results() / 2, channel = thread / tiles;
    const int pixel = 2 * (thread - channel * tiles), x = x0 + pixel;
    const bool has_tile = channel < p.channels && x < p.width;
    const int even = plane.at(channel, pixel), odd = plane.at(channel, pixel + 1);
    for (int start = blockIdx.y * ROWS; start < p.rows; start += GRID_ROWS_MAX * ROWS) {
        __syncthreads();
        find_rows(p, offset, p.out_y + start - REACH, ROWS + 2 * REACH, p.out_y + p.rows + REACH);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < STEP + 2 * REACH; i++) {
#pragma unroll
            for (int k = 0; k < 2; k++)
                columns[k].load(i, offset[i]);
        }
        const int lines = min(ROWS, p.rows - start);
        unsigned char *out = p.out + start * (ptrdiff_t)p.out_pitch +
                             ((size_t)x * p.channels + channel) * sizeof(Sample);
#pragma unroll 1
        for (int line = 0, set = 0; line < lines; line += STEP, set ^= 1) {
#pragma unroll
            for (int k = 0; k < 2; k++) {
                if (columns[k].to >= 0)
                    columns[k].sort(planes[set]);
#pragma unroll
                for (int i = 0; i < 2 * REACH; i++)
                    columns[k].v[i] = columns[k].v[i + STEP];
            }
            if (line + STEP < lines) {
#pragma unroll
                for (int i = 2 * REACH; i < STEP + 2 * REACH; i++) {
#pragma unroll
                    for (int k = 0; k < 2; k++)
                        columns[k].load(i, offset[line + STEP + i]);
                }
            }
            __syncthreads();
            if (has_tile) {
                uint32_t result[2][2];
                make_tile(planes[set], even, odd, result);
                store_tile<Sample>(out, p.out_pitch, lines - line, x + 1 < p.width, p.channels,
                                   result);
                out += STEP * p.out_pitch;
            }
        }
    }
}

int gf_median_tiles(const struct view_pair &p, cudaStream_t stream)
{
    const int strips = ceil_div(p.rows, ROWS);
    const dim3 grid(ceil_div(p.width, plane(p.channels).results()),
                    strips < GRID_ROWS_MAX ? strips : GRID_ROWS_MAX);
    if (p.bits == 8)
        median_tiles_kernel<unsigned char><<<grid, THREADS, 0, stream>>>(p);
    else
        median_tiles_kernel<unsigned short><<<grid, THREADS, 0, stream>>>(p);
    return cudaGetLastError();
}
