/* The small copy of a picture (struct gf_cells): a warp adds up the samples of a cell, its lanes
 * those of neighbouring columns. */
#include "cuda/common/launch.cuh"
#include "cuda/common/scan.cuh"
#include "cuda/common/view_pair.cuh"
#include "pixel/histogram/histogram.h"

enum { CELLS_WARPS = 8, CELLS_THREADS = CELLS_WARPS * WARP };

struct cells_task {
    struct view_pair p;
    struct gf_cells cells;
    int first_cell, end_cell; /* the cells that the view touches */
    unsigned long long *count;
};

/* A cell's samples in one row of a view have less than 2^32 times 65535 as their sum. */
template <class T, int CHANNELS>
static __global__ void __launch_bounds__(CELLS_THREADS) cells_kernel(const struct cells_task task)
{
    constexpr bool HAS_ALPHA = CHANNELS % 2 == 0;
    const struct view_pair &p = task.p;
    const int side = task.cells.side, columns = task.cells.columns;
    const int cell = task.first_cell + (int)blockIdx.x * CELLS_WARPS + (int)threadIdx.x / WARP;
    if (cell >= task.end_cell)
        return;
    const int left = cell % columns * side, right = min(left + side, p.width);
    const int top = max(cell / columns * side, p.in_y) - p.in_y;
    const int bottom = min((cell / columns + 1) * side - p.in_y, p.rows);
    unsigned long long sum[CHANNELS] = {};
    for (int y = top; y < bottom; y++) {
        const T *const row = (const T *)(p.in + (size_t)y * p.in_pitch);
        for (int x = left + (int)threadIdx.x % WARP; x < right; x += WARP) {
            const T *const pixel = row + (size_t)x * CHANNELS;
            const unsigned long long alpha = HAS_ALPHA ? pixel[CHANNELS - 1] : 1;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                sum[c] += HAS_ALPHA && c < CHANNELS - 1 ? alpha * pixel[c] : pixel[c];
        }
    }
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        const unsigned long long all = warp_sum(sum[c]);
        if (threadIdx.x % WARP == 0)
            atomicAdd(&task.count[(size_t)cell * CHANNELS + c], all);
    }
}

extern "C" int gf_cells_cuda(const struct gf_view *view, enum gf_statistic,
                             unsigned long long *count, const void *, cudaStream_t stream)
{
    struct cells_task task = {};
    task.p = input_view(view);
    task.cells = gf_cells_of(view->format);
    task.first_cell = view->y / task.cells.side * task.cells.columns;
    task.end_cell = ((view->y + view->rows - 1) / task.cells.side + 1) * task.cells.columns;
    task.count = count;
    if (!view->rows)
        return cudaSuccess;
    return for_samples(view->format, [&](auto sample, auto channels) -> int {
        return launch_kernel(cells_kernel<decltype(sample), decltype(channels)::value>,
                             ceil_div(task.end_cell - task.first_cell, CELLS_WARPS), CELLS_THREADS,
                             0, stream, task);
    });
}
