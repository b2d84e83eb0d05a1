/* The steps that lead to the kernel of cuda/filters/orient/orient.cu. All of them move single
 * pixels (CME 213's lecture; Programming Guide, 2.2.4). */
#include "cuda/filters/orient/orient.cuh"

enum {
    THREADS = 256,
    SIDE = 32, /* the side of a tile, which is the number of lanes of a warp */
    WARPS = 8, /* warps of a block that uses shared memory */
    GRID_Y = 65535,
};

template <int PIXEL> struct pixel;
template <> struct pixel<1> {
    typedef uint8_t type;
};
template <> struct pixel<2> {
    typedef uint16_t type;
};
template <> struct pixel<3> {
    typedef struct {
        uint8_t sample[3];
    } type;
};
template <> struct pixel<4> {
    typedef uint32_t type;
};
template <> struct pixel<6> {
    typedef struct {
        uint16_t sample[3];
    } type;
};
template <> struct pixel<8> {
    typedef uint2 type;
};

/* The columns of the input that become the band's rows, and the rows of the input that one launch
 * processes. */
struct part {
    struct orient_args args;
    int first_column, columns, first_row, rows;
};

template <int PIXEL>
static __device__ __forceinline__ const typename pixel<PIXEL>::type *source(const struct part &part,
                                                                            int column, int row)
{
    const unsigned char *const from =
        part.args.p.in + (part.first_row + row) * (ptrdiff_t)part.args.p.in_pitch;
    return (const typename pixel<PIXEL>::type *)from + part.first_column + column;
}

template <int PIXEL>
static __device__ __forceinline__ typename pixel<PIXEL>::type *target(const struct part &part,
                                                                      int column, int row)
{
    const int y = part.args.mirror_y ? part.columns - 1 - column : column;
    const int from = part.first_row + row;
    unsigned char *const to = part.args.p.out + y * (ptrdiff_t)part.args.p.out_pitch;
    return (typename pixel<PIXEL>::type *)to +
           (part.args.mirror_x ? part.args.p.height - 1 - from : from);
}

/* Transposes with a thread for each pixel. Threads are numbered along the rows of the input, so
 * that a warp reads 32 adjacent pixels and writes them to 32 rows (CME 213; Programming Guide
 * 2.2.4.1). */
template <int PIXEL>
static __global__ void __launch_bounds__(THREADS) naive_kernel(const struct part part)
{
    const unsigned index = blockIdx.x * THREADS + threadIdx.x;
    const int column = (int)(index % (unsigned)part.columns);
    const int row = (int)(index / (unsigned)part.columns);
    if (row < part.rows)
        *target<PIXEL>(part, column, row) = *source<PIXEL>(part, column, row);
}

/* Transposes with a block for each rectangle of pixels; the caches combine what its warps write to
 * one row. 32 x 32 is the block of the Programming Guide (2.2.4.1.1). In blocks of 8 x 32 a warp
 * reads 8 pixels of 4 rows and writes 4 pixels of 8 rows, which balances reads and writes (CME 213,
 * "2D kernel"). */
template <int PIXEL, int WIDTH, int HEIGHT>
static __global__ void __launch_bounds__(WIDTH *HEIGHT) blocks_kernel(const struct part part)
{
    const int column = (int)(blockIdx.x * WIDTH + threadIdx.x);
    const int row = (int)(blockIdx.y * HEIGHT + threadIdx.y);
    if (column < part.columns && row < part.rows)
        *target<PIXEL>(part, column, row) = *source<PIXEL>(part, column, row);
}

/* Moves pixels through a tile in shared memory: whole rows are read and written, and the tile is
 * read by columns (CME 213, "fastTranspose"; Best Practices Guide 9.2.3.3; Programming Guide
 * 2.2.4.2.1). Without padding the pixels of a column are 32 pixels apart, which for pixels of four
 * bytes is the same bank; a pixel of padding moves them to different banks (2.2.4.2.2). */
template <int PIXEL, int PADDING>
static __global__ void __launch_bounds__(SIDE *WARPS) shared_kernel(const struct part part)
{
    __shared__ typename pixel<PIXEL>::type tile[SIDE][SIDE + PADDING];
    const int lane = (int)threadIdx.x, warp = (int)threadIdx.y;
    const int column0 = (int)blockIdx.x * SIDE, row0 = (int)blockIdx.y * SIDE;
#pragma unroll
    for (int i = warp; i < SIDE; i += WARPS) {
        if (column0 + lane < part.columns && row0 + i < part.rows)
            tile[i][lane] = *source<PIXEL>(part, column0 + lane, row0 + i);
    }
    __syncthreads();
#pragma unroll
    for (int i = warp; i < SIDE; i += WARPS) {
        if (column0 + i < part.columns && row0 + lane < part.rows)
            *target<PIXEL>(part, column0 + i, row0 + lane) = tile[lane][i];
    }
}

struct naive {
    static int rows_most(const struct part &part)
    {
        return 0x40000000 / part.columns;
    }
    template <int PIXEL> static int launch(const struct part &part, cudaStream_t stream)
    {
        const unsigned blocks = blocks_for((unsigned)part.columns * (unsigned)part.rows, THREADS);
        return launch_kernel(naive_kernel<PIXEL>, blocks, THREADS, 0, stream, part);
    }
};

template <int WIDTH, int HEIGHT> struct blocks {
    static int rows_most(const struct part &)
    {
        return GRID_Y * HEIGHT;
    }
    template <int PIXEL> static int launch(const struct part &part, cudaStream_t stream)
    {
        const dim3 grid(ceil_div(part.columns, WIDTH), ceil_div(part.rows, HEIGHT));
        return launch_kernel(blocks_kernel<PIXEL, WIDTH, HEIGHT>, grid, dim3(WIDTH, HEIGHT), 0,
                             stream, part);
    }
};

template <int PADDING> struct shared {
    static int rows_most(const struct part &)
    {
        return GRID_Y * SIDE;
    }
    template <int PIXEL> static int launch(const struct part &part, cudaStream_t stream)
    {
        const dim3 grid(ceil_div(part.columns, SIDE), ceil_div(part.rows, SIDE));
        return launch_kernel(shared_kernel<PIXEL, PADDING>, grid, dim3(SIDE, WARPS), 0, stream,
                             part);
    }
};

/* Launches the kernel, once for each part of rows_most() rows of the input: a grid cannot cover
 * more than 2^30 pixels or two million rows. */
template <class KERNEL> static int launch_all(const struct gf_launch *launch)
{
    struct part part = {};
    part.args = orient_args_of(launch);
    part.first_column = first_column_of(part.args);
    part.columns = part.args.p.rows;
    const int most = KERNEL::rows_most(part);
    for (int row = 0; row < part.args.p.height; row += part.rows) {
        part.first_row = row;
        part.rows = part.args.p.height - row < most ? part.args.p.height - row : most;
        LAUNCH_TRY(for_pixel_bytes(pixel_bytes_of(part.args.p), [&](auto bytes) {
            return KERNEL::template launch<decltype(bytes)::value>(part, launch->stream);
        }));
    }
    return cudaSuccess;
}

GF_LAUNCHES(gf_transpose_naive_cuda, launch_all<naive>(launch))
GF_LAUNCHES(gf_transpose_blocks_cuda, launch_all<blocks<SIDE, SIDE>>(launch))
GF_LAUNCHES(gf_transpose_narrow_cuda, launch_all<blocks<8, SIDE>>(launch))
GF_LAUNCHES(gf_transpose_shared_cuda, launch_all<shared<0>>(launch))
GF_LAUNCHES(gf_transpose_padded_cuda, launch_all<shared<1>>(launch))
