/* The steps that lead to the networks of cuda/filters/median, one technique at a time. */
#include "cuda/study/variants/variants.h"
#include "filters/median/median.h"
#include "cuda/study/variants/window.cuh"

#define NET static __device__ __forceinline__
#define NET_TYPE unsigned
#define NET_MIN(a, b) min(a, b)
#define NET_MAX(a, b) max(a, b)
#define NET_NAME(name) name
#include "filters/median/median_net.h"

/* Sorts the window in an array. The compiler does not know the indices, so that the array is in
 * local memory, which is off the chip except for the caches (Best Practices 9.2.4). */
template <class Sample>
__global__ void __launch_bounds__(WINDOW_COLUMNS *WINDOW_ROWS)
    median_local_kernel(const struct view_pair p, const int radius)
{
    constexpr int SIDES_MAX = 2 * GF_MEDIAN_LOCAL_MAX + 1;
    unsigned sorted[SIDES_MAX * SIDES_MAX];
    struct spot spot;
    if (!find_spot(p, &spot))
        return;
    const bool inner = is_inner(p, spot, radius, radius);
    const unsigned char *const centre = centre_of<Sample>(p, spot);
    int count = 0;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            const unsigned v =
                inner ? *(const Sample *)(centre + dy * (int)p.in_pitch +
                                          dx * p.channels * (int)sizeof(Sample))
                      : sample_of<Sample>(p, spot.x + dx, spot.channel, p.out_y + spot.row + dy);
            int at = count++;
            for (; at > 0 && sorted[at - 1] > v; at--)
                sorted[at] = sorted[at - 1];
            sorted[at] = v;
        }
    }
    *out_sample<Sample>(p, spot) = (Sample)sorted[count / 2];
}

static __device__ __forceinline__ void sort_column(unsigned (&v)[3])
{
    net_sort3(v);
}
static __device__ __forceinline__ void sort_column(unsigned (&v)[5])
{
    net_sort5(v);
}
static __device__ __forceinline__ unsigned median_of(unsigned (&rank)[3][3])
{
    return net_median3(rank);
}
static __device__ __forceinline__ unsigned median_of(unsigned (&rank)[5][5])
{
    return net_median5(rank);
}

/* Sorts the window in registers: the compiler knows every index, and no comparison branches (Best
 * Practices 9.2.7, 12.1). */
template <int RADIUS, class At>
static __device__ __forceinline__ unsigned window_median(const At &at)
{
    constexpr int SIDES = 2 * RADIUS + 1;
    unsigned rank[SIDES][SIDES];
#pragma unroll
    for (int i = 0; i < SIDES; i++) {
        unsigned v[SIDES];
#pragma unroll
        for (int j = 0; j < SIDES; j++)
            v[j] = at(i - RADIUS, j - RADIUS);
        sort_column(v);
#pragma unroll
        for (int j = 0; j < SIDES; j++)
            rank[j][i] = v[j];
    }
    return median_of(rank);
}

template <class Sample, int RADIUS>
__global__ void __launch_bounds__(WINDOW_COLUMNS *WINDOW_ROWS)
    median_registers_kernel(const struct view_pair p)
{
    struct spot spot;
    if (!find_spot(p, &spot))
        return;
    Sample *const to = out_sample<Sample>(p, spot);
    if (is_inner(p, spot, RADIUS, RADIUS)) {
        const unsigned char *const centre = centre_of<Sample>(p, spot);
        *to = (Sample)window_median<RADIUS>([&](int dx, int dy) -> unsigned {
            return ((const Sample *)(centre + dy * (int)p.in_pitch))[dx * p.channels];
        });
    } else {
        *to = (Sample)window_median<RADIUS>([&](int dx, int dy) {
            return sample_of<Sample>(p, spot.x + dx, spot.channel, p.out_y + spot.row + dy);
        });
    }
}

/* Reads the window from a tile in shared memory (Best Practices 9.2.3). */
template <class Sample, int RADIUS>
__global__ void __launch_bounds__(TILE_THREADS, 4)
    median_shared_kernel(const struct view_pair p, const struct raw_tile tile)
{
    extern __shared__ uint4 shared[];
    const struct tile_position position = position_of_tile(p, tile.width);
    const unsigned char *const raw = (unsigned char *)shared;
    const int skipped = load_tile<Sample, false>(p, tile, position, (unsigned char *)shared);
    for (int i = threadIdx.x; i < position.lines * tile.width; i += TILE_THREADS) {
        const int line = i / tile.width, column = i - line * tile.width;
        const unsigned char *const centre = raw + (line + RADIUS) * tile.pitch + skipped +
                                            (tile.halo + column) * (int)sizeof(Sample);
        if (position.sample + column >= p.width * p.channels)
            continue;
        Sample *const to = (Sample *)(p.out + (size_t)(position.row + line) * p.out_pitch);
        to[position.sample + column] =
            (Sample)window_median<RADIUS>([&](int dx, int dy) -> unsigned {
                return ((const Sample *)(centre + dy * tile.pitch))[dx * p.channels];
            });
    }
}

static const struct gf_median *median_of_launch(const struct gf_launch *launch)
{
    return (const struct gf_median *)launch->stage->params;
}

extern "C" int gf_median_local_cuda(const struct gf_launch *launch)
{
    const struct gf_median *const median = median_of_launch(launch);
    const struct view_pair p = view_pair_of(launch, median->border);
    void (*const kernel)(struct view_pair, int) = launch->in.format.bits == 8
                                                      ? median_local_kernel<unsigned char>
                                                      : median_local_kernel<unsigned short>;
    return launch_kernel(kernel, window_blocks(p), dim3(WINDOW_COLUMNS, WINDOW_ROWS), 0,
                         launch->stream, p, median->radius);
}

template <class Sample, int RADIUS> static int launch_registers(const struct gf_launch *launch)
{
    const struct view_pair p = view_pair_of(launch, median_of_launch(launch)->border);
    return launch_kernel(median_registers_kernel<Sample, RADIUS>, window_blocks(p),
                         dim3(WINDOW_COLUMNS, WINDOW_ROWS), 0, launch->stream, p);
}

template <class Sample, int RADIUS> static int launch_shared(const struct gf_launch *launch)
{
    const struct view_pair p = view_pair_of(launch, median_of_launch(launch)->border);
    const struct raw_tile tile =
        raw_tile_of(p, 8 * (int)sizeof(Sample), TILE_WIDTH, RADIUS, RADIUS);
    return launch_kernel(median_shared_kernel<Sample, RADIUS>, raw_tile_blocks(p, TILE_WIDTH),
                         TILE_THREADS, raw_tile_bytes(tile), launch->stream, p, tile);
}

extern "C" int gf_median_registers_cuda(const struct gf_launch *launch)
{
    const bool small = median_of_launch(launch)->radius == 1;
    if (launch->in.format.bits == 8)
        return small ? launch_registers<unsigned char, 1>(launch)
                     : launch_registers<unsigned char, 2>(launch);
    return small ? launch_registers<unsigned short, 1>(launch)
                 : launch_registers<unsigned short, 2>(launch);
}

extern "C" int gf_median_shared_cuda(const struct gf_launch *launch)
{
    const bool small = median_of_launch(launch)->radius == 1;
    if (launch->in.format.bits == 8)
        return small ? launch_shared<unsigned char, 1>(launch)
                     : launch_shared<unsigned char, 2>(launch);
    return small ? launch_shared<unsigned short, 1>(launch)
                 : launch_shared<unsigned short, 2>(launch);
}
