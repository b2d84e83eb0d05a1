/* Histograms of the tiles of a picture (struct gf_tiles). A block counts a part of one tile's rows.
 * It counts 8-bit samples in shared memory as histogram_8.cuh does, and 16-bit samples by atomic
 * additions in the second-level cache, where two threads seldom use the same counter. */
#include "cuda/filters/histogram/histogram_8.cuh"
#include "pixel/histogram/histogram_counters.h"
#include "pixel/sample.h"
#include "stage/border.h"

enum {
    LEAST_ROWS = 4, /* rows of a block, at least */
    TILE_THREADS = 512,
    THREADS_16 = 256,
    /* The largest distance from the edge of pixels that are counted again beyond the edge. */
    NEAR_EDGE = GF_TILES_MAX + 2
};

struct tile_task {
    struct view_pair p;
    struct gf_tiles tiles;
    int first_down; /* the first row of tiles that the view touches */
    int rows;       /* rows of a block, at most */
    int parts;      /* the number of parts of a tile */
    unsigned long long *count;
};

/* The pixels that a thread loads together. */
template <int COUNT> struct group {
    static constexpr int vectors = COUNT == 3 ? 3 : 1;
    static constexpr int pixels = vectors * VECTOR / COUNT;
};

template <int SOURCE, int COUNT>
static __device__ __forceinline__ void count_byte_pixel(unsigned *counters, unsigned copy,
                                                        const unsigned char *row, int x)
{
    unsigned word[1] = {0};
#pragma unroll
    for (int c = 0; c < COUNT; c++)
        word[0] |= (unsigned)row[(size_t)x * COUNT + c] << 8 * c;
    count_pixel<SOURCE, COUNT>(counters, copy, word, 0, NULL);
}

/* Counts pixels first .. end - 1 of the row that are in group number `index`. */
template <int SOURCE, int COUNT>
static __device__ __forceinline__ void count_group(unsigned *counters, unsigned copy,
                                                   const unsigned char *row, int index, int first,
                                                   int end)
{
    constexpr int pixels = group<COUNT>::pixels, vectors = group<COUNT>::vectors;
    const int x = index * pixels;
    if (x < first || x + pixels > end) {
#pragma unroll 1
        for (int i = max(x, first); i < min(x + pixels, end); i++)
            count_byte_pixel<SOURCE, COUNT>(counters, copy, row, i);
        return;
    }
    unsigned w[4 * vectors];
#pragma unroll
    for (int i = 0; i < vectors; i++)
        unpack(((const uint4 *)row)[(size_t)index * vectors + i], w + 4 * i);
#pragma unroll
    for (int i = 0; i < pixels; i++)
        count_pixel<SOURCE, COUNT>(counters, copy, w, i * COUNT, NULL);
}

template <int SOURCE, int COUNT>
static __global__ void __launch_bounds__(TILE_THREADS) tiles8_kernel(const struct tile_task task)
{
    extern __shared__ unsigned counters[];
    const struct view_pair &p = task.p;
    const int across = (int)blockIdx.x / task.parts, part = (int)blockIdx.x % task.parts;
    const int down = task.first_down + (int)blockIdx.y;
    for (int i = (int)threadIdx.x; i < layout<SOURCE>::counters; i += TILE_THREADS)
        counters[i] = 0;
    __syncthreads();
    const unsigned copy = 4 * (threadIdx.x % layout<SOURCE>::copies);
    const int left = across * task.tiles.width, right = left + task.tiles.width;
    const int end = min(right, p.width);
    const int first_group = left / group<COUNT>::pixels;
    const int groups = end > left ? (end - 1) / group<COUNT>::pixels + 1 - first_group : 0;
    /* The pixels beyond the right edge are one more item of the row. */
    const int row_items = groups + (right > p.width ? 1 : 0);
    const int top = down * task.tiles.height + part * task.rows;
    const int bottom = min(top + task.rows, (down + 1) * task.tiles.height);
    /* The block counts the rows of the view that are in its part, then the rows beyond the
     * picture's lower edge. */
    const int from = max(top, p.in_y), to = max(from, min(min(bottom, p.height), p.in_y + p.rows));
    const int below = max(top, p.height), rows = to - from + max(0, bottom - below);
    for (int item = (int)threadIdx.x; item < rows * row_items; item += TILE_THREADS) {
        const int i = (int)((unsigned)item / (unsigned)row_items), k = item - i * row_items;
        const int place = i < to - from ? from + i : below + i - (to - from);
        const int y = gf_border_index(place, p.height, GF_BORDER_REFLECT) - p.in_y;
        if (y < 0 || y >= p.rows)
            continue;
        const unsigned char *const row = p.in + (size_t)y * p.in_pitch;
        if (k < groups) {
            count_group<SOURCE, COUNT>(counters, copy, row, first_group + k, left, end);
            continue;
        }
#pragma unroll 1
        for (int x = max(left, p.width); x < right; x++)
            count_byte_pixel<SOURCE, COUNT>(counters, copy, row,
                                            gf_border_index(x, p.width, GF_BORDER_REFLECT));
    }
    __syncthreads();
    add_up<SOURCE>(counters, task.count + (size_t)(down * task.tiles.columns + across) * BINS_8);
}

/* Counts 16-bit samples. A thread counts a pixel in every tile that contains it. */
template <int COUNT>
static __global__ void __launch_bounds__(THREADS_16) tiles16_kernel(const struct tile_task task)
{
    const struct view_pair &p = task.p;
    const unsigned index = blockIdx.x * THREADS_16 + threadIdx.x;
    const unsigned row = index / (unsigned)p.width;
    if (row >= (unsigned)p.rows)
        return;
    const int x = (int)(index - row * (unsigned)p.width), y = p.in_y + (int)row;
    const unsigned short *const v = (const unsigned short *)(p.in + row * p.in_pitch) + x * COUNT;
    if (COUNT % 2 == 0 && !v[COUNT - 1])
        return;
    const int level =
        COUNT >= 3 ? gf_luma601_16(v[0], v[COUNT >= 3 ? 1 : 0], v[COUNT >= 3 ? 2 : 0]) : v[0];
    const int width = task.tiles.columns * task.tiles.width;
    const int height = task.tiles.rows * task.tiles.height;
    const int columns = x >= p.width - NEAR_EDGE ? width - p.width : 0;
    const int rows = y >= p.height - NEAR_EDGE ? height - p.height : 0;
    for (int j = 0; j <= rows; j++) {
        const int place_y = j ? p.height + j - 1 : y;
        for (int i = 0; i <= columns; i++) {
            const int place_x = i ? p.width + i - 1 : x;
            if (gf_border_index(place_x, p.width, GF_BORDER_REFLECT) != x ||
                gf_border_index(place_y, p.height, GF_BORDER_REFLECT) != y)
                continue;
            const int tile =
                place_y / task.tiles.height * task.tiles.columns + place_x / task.tiles.width;
            atomicAdd(&task.count[((size_t)tile << 16) + level], 1ull);
        }
    }
}

/* Divides the rows of the tiles among as many blocks as the GPU holds at once. */
template <int SOURCE, int COUNT>
static cudaError_t launch_8(struct tile_task task, cudaStream_t stream)
{
    const void *const kernel = (const void *)tiles8_kernel<SOURCE, COUNT>;
    constexpr int bytes = layout<SOURCE>::bytes;
    const struct view_pair &p = task.p;
    const struct gf_tiles &tiles = task.tiles;
    const bool drawn_out = tiles.rows * tiles.height > p.height;
    const bool at_end = p.in_y + p.rows > p.height - NEAR_EDGE;
    const int last = drawn_out && at_end ? tiles.rows - 1 : (p.in_y + p.rows - 1) / tiles.height;
    task.first_down = p.in_y / tiles.height;
    const int downs = last - task.first_down + 1;
    unsigned blocks = 0;
    cudaError_t status = resident_blocks(kernel, TILE_THREADS, bytes, ~0u, &blocks);
    if (status != cudaSuccess)
        return status;
    const int each = (int)blocks / (tiles.columns * downs);
    const int rows = ceil_div(tiles.height, each > 1 ? each : 1);
    task.rows = rows > LEAST_ROWS ? rows : LEAST_ROWS;
    task.parts = ceil_div(tiles.height, task.rows);
    const dim3 grid(tiles.columns * task.parts, downs);
    tiles8_kernel<SOURCE, COUNT><<<grid, TILE_THREADS, bytes, stream>>>(task);
    return cudaGetLastError();
}

template <int COUNT>
static cudaError_t launch_16(const struct tile_task &whole, cudaStream_t stream)
{
    const unsigned most = (1u << 30) / (unsigned)whole.p.width;
    return (cudaError_t)for_parts_of_rows(
        whole.p, most ? most : 1, [&](const struct view_pair &part) {
            struct tile_task task = whole;
            task.p = part;
            const unsigned pixels = (unsigned)part.width * (unsigned)part.rows;
            tiles16_kernel<COUNT><<<blocks_for(pixels, THREADS_16), THREADS_16, 0, stream>>>(task);
            return cudaGetLastError();
        });
}

extern "C" int gf_histogram_tiles_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                       unsigned long long *count, const void *tables, void *stream)
{
    (void)tables;
    struct tile_task task = {};
    task.p = input_view(view);
    task.tiles = gf_tiles_of(statistic, view->format);
    task.count = count;
    if (!view->rows)
        return cudaSuccess;
    return for_channels(view->format.channels, [&](auto channels) {
        constexpr int COUNT = decltype(channels)::value;
        return (int)(view->format.bits == 8
                         ? launch_8<(COUNT >= 3 ? LUMA : SAMPLE), COUNT>(task, (cudaStream_t)stream)
                         : launch_16<COUNT>(task, (cudaStream_t)stream));
    });
}
