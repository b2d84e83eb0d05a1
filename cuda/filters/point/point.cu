/* Point filters: a table look-up if the whole list is one table, otherwise a program on unrounded
 * floats. Frequent lists have kernels of their own. All except saturation are limited by memory:
 * every access to a picture has 16 bytes, next to the accesses of the neighbouring threads (Best
 * Practices Guide 9.2.1). */
#include "cuda/common/view_pair.cuh"
#include "cuda/filters/point/point_launch.cuh"
#include "cuda/filters/point/point_program.cuh"
#include "pixel/point/point_program.h"

/* Point filters with one thread for each pixel. The thread reads its samples one by one, and tables
 * from global memory. */

enum {
    PIXEL_THREADS = 256,
    LAUNCH_PIXELS = 1 << 30, /* so that indices fit in 32 bits */
};

template <typename SAMPLE>
static __device__ __forceinline__ void look_up_pixel(const struct program &program,
                                                     const SAMPLE *from, SAMPLE *to)
{
    const int channels = program.in_channels, colours = channels - (channels % 2 == 0);
    const SAMPLE *const table = (const SAMPLE *)(program.block + program.table_at);
    const int step = program.tables == 1 ? 0 : 1 << 8 * sizeof(SAMPLE);
#pragma unroll 1
    for (int c = 0; c < channels; c++)
        to[c] = c < colours ? table[from[c] + c * step] : from[c];
}

template <typename IN, typename OUT>
static __device__ __forceinline__ void compute_pixel(const struct program &program, const IN *from,
                                                     OUT *to)
{
    struct pixels<1> p;
    int colours = program.in_channels >= 3 ? 3 : 1;
    take_pixels(program, from, 0, &p);
#pragma unroll 1
    for (int i = 0; i < program.count; i++)
        apply<false>(program, program.op[i], 0, 0, &colours, &p);
    put_pixels(program.out_channels, to, 0, &p);
}

/* With COMPUTES the program is more than a table look-up. A thread processes pixels that are as far
 * apart as the grid has threads; a grid of as many threads as pixels gives each thread one
 * pixel. */
template <typename IN, typename OUT, bool COMPUTES>
static __global__ void __launch_bounds__(PIXEL_THREADS)
    pixel_kernel(const __grid_constant__ struct program program)
{
    const struct view_pair &band = program.band;
    const unsigned pixels = band.rows * band.width;
    for (unsigned i = blockIdx.x * PIXEL_THREADS + threadIdx.x; i < pixels;
         i += gridDim.x * PIXEL_THREADS) {
        const struct position at = position_of(i, band.rows, band.width);
        const IN *const from = (const IN *)(band.in + at.row * band.in_pitch) +
                               (size_t)at.column * program.in_channels;
        OUT *const to =
            (OUT *)(band.out + at.row * band.out_pitch) + (size_t)at.column * program.out_channels;
        if (COMPUTES)
            compute_pixel(program, from, to);
        else
            look_up_pixel(program, (const OUT *)from, to);
    }
}

typedef void kernel(const struct program program);

static kernel *kernel_of(const struct gf_stage *stage, int table)
{
    const bool wide_in = stage->in.bits == 16, wide_out = stage->out.bits == 16;
    if (table == GF_POINT_SAMPLES)
        return wide_in ? pixel_kernel<uint16_t, uint16_t, false>
                       : pixel_kernel<uint8_t, uint8_t, false>;
    if (wide_in)
        return wide_out ? pixel_kernel<uint16_t, uint16_t, true>
                        : pixel_kernel<uint16_t, uint8_t, true>;
    return wide_out ? pixel_kernel<uint8_t, uint16_t, true> : pixel_kernel<uint8_t, uint8_t, true>;
}

static int launch_part(const struct gf_launch *launch, struct view_pair band, bool resident)
{
    const struct gf_stage *const stage = launch->stage;
    struct program program;
    band = join_rows(band, gf_row_bytes(stage->in), gf_row_bytes(stage->out));
    fill_program(&program, launch, &band);
    kernel *const run = kernel_of(stage, program.table);
    unsigned blocks = blocks_for(band.rows * band.width, PIXEL_THREADS);
    if (resident) {
        LAUNCH_TRY(resident_blocks(run, PIXEL_THREADS, 0, blocks, &blocks));
    }
    return launch_kernel(run, blocks, PIXEL_THREADS, 0, launch->stream, program);
}

static int launch_pixels(const struct gf_launch *launch, bool resident)
{
    if (gf_point_is_wide((const struct gf_point_program *)launch->stage->constants))
        return gf_point_wide_cuda(launch);
    const struct view_pair band = aligned_views(launch);
    return for_parts_of_rows(band, LAUNCH_PIXELS / band.width, [&](const struct view_pair &part) {
        return launch_part(launch, part, resident);
    });
}

/* Launches as many threads as pixels, as in the first kernel of the programming guides. */
GF_LAUNCHES(gf_point_pixel_cuda, launch_pixels(launch, false))

/* Starts as many blocks as the multiprocessors hold at once; each thread makes several pixels (CUDA
 * Performance Optimization, grid size heuristics: thousands of blocks are enough to scale, and
 * starting more costs time). */
GF_LAUNCHES(gf_point_grid_stride_cuda, launch_pixels(launch, true))

/* Lists of point filters with operations that the other kernels do not contain: operations that mix
 * channels, read curves or tables, make alpha, or need a pixel's position. Short programs have
 * kernels of their own; all others share one kernel, for every variant. Rows are not joined,
 * because a joined row has no positions. */

extern "C" gf_launcher gf_point_layers_cuda;
extern "C" gf_launcher gf_point_noise_cuda;
extern "C" gf_launcher gf_point_short_cuda;
extern "C" gf_launcher gf_point_table3d_cuda;

extern "C" int gf_point_wide_cuda(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct view_pair band = aligned_views(launch);
    if (((const struct gf_point_program *)stage->constants)->layers)
        return gf_point_layers_cuda(launch);
    if (!band.rows)
        return cudaSuccess;
    int status = gf_point_noise_cuda(launch);
    if (status == cudaErrorNotSupported)
        status = gf_point_short_cuda(launch);
    if (status == cudaErrorNotSupported)
        status = gf_point_table3d_cuda(launch);
    if (status != cudaErrorNotSupported)
        return status;
    struct program program;
    fill_program(&program, launch, &band);
    return launch_program<uint4, POINT_WIDE>(&program, stage->in.bits, stage->out.bits,
                                             launch->stream);
}

extern "C" int gf_point_cuda(const struct gf_launch *launch)
{
    const struct gf_point_program *const program =
        (const struct gf_point_program *)launch->stage->constants;
    /* Two tables for 16-bit samples need the whole L1 cache, so that no tiles fit in shared
     * memory. */
    if (launch->stage->in.bits == 16 && program->level_at)
        return gf_point_pixel_cuda(launch);
    return launch_point<uint4>(launch);
}

extern "C" int gf_point_stacked_cuda(const struct gf_launch *launch)
{
    const struct gf_point_program *const program =
        (const struct gf_point_program *)launch->stage->constants;
    for (int i = 0; i < program->count; i++) {
        if (program->op[i].kind >= GF_POINT_MIX) /* it depends on the pixel's position */
            return cudaErrorNotSupported;
    }
    return launch_tall(launch, gf_point_cuda);
}
