/* clahe on a device. Pictures of 8 bits use tables in shared memory. Tables for 16 bits are too
 * large for shared memory and stay in global memory. */
#include "filters/clahe/clahe.h"

#include "cuda/common/launch.cuh"
#include "cuda/filters/point/point_tile.cuh"
#include "pixel/sample.h"

enum {
    CLAHE_WARPS = 8,
    CLAHE_ROWS = 8, /* rows of a block */
    CLAHE_THREADS = CLAHE_WARPS * WARP,
    REGION_COLUMNS = 64, /* columns of a block for 16 bits */
    REGION_ROWS = 32
};

struct clahe_args {
    struct view_pair p;
    struct gf_tiles tiles;
    float inverse_width, inverse_height;
    unsigned row_tiles; /* pieces of TILE pixels in a row: a warp works on one piece of a row at a
                           time */
    const void *tables; /* the tables that follow struct gf_clahe in memory */
};

static __device__ __forceinline__ int limited(int v, int most)
{
    return min(max(v, 0), most);
}

/* Interpolates between the four bytes of a word, which are the values of four neighbouring
 * tiles. */
static __device__ __forceinline__ int mix_bytes(unsigned four, float right, float below)
{
    return gf_clahe_mix((float)(four & 255u), (float)(four >> 8 & 255u), (float)(four >> 16 & 255u),
                        (float)(four >> 24), right, below);
}

/* Equalises one pixel in place: adds the change of its luma to its colour samples. */
template <int COUNT>
static __device__ __forceinline__ void change_pixel(unsigned char *v, const unsigned *table,
                                                    struct gf_clahe_place column, float below)
{
    const int luma =
        COUNT >= 3 ? gf_luma601_8(v[0], v[COUNT >= 3 ? 1 : 0], v[COUNT >= 3 ? 2 : 0]) : v[0];
    const int to = mix_bytes(table[column.centres * 256 + luma], column.part, below);
    if (COUNT < 3)
        v[0] = (unsigned char)to;
#pragma unroll
    for (int c = 0; c < (COUNT >= 3 ? 3 : 0); c++)
        v[c] = (unsigned char)limited(v[c] + to - luma, 255);
}

/* Equalises the rows of a block. The rows between the same two rows of centres are processed
 * together; the tables of their tiles are loaded first. */
template <int COUNT>
static __global__ void __launch_bounds__(CLAHE_THREADS) clahe8_kernel(const struct clahe_args args)
{
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    unsigned *const table = (unsigned *)shared;
    const int words = (args.tiles.columns + 1) * 256;
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    unsigned char *const pixels = (unsigned char *)(table + words) + warp * (TILE * COUNT);
    const int end = min(((int)blockIdx.x + 1) * CLAHE_ROWS, p.rows);
    early_next();
    early_wait();
    for (int first = (int)blockIdx.x * CLAHE_ROWS, next; first < end; first = next) {
        const int centres = gf_clahe_place_of(p.out_y + first, args.inverse_height).centres;
        next = first + 1;
        while (next < end &&
               gf_clahe_place_of(p.out_y + next, args.inverse_height).centres == centres)
            next++;
        __syncthreads();
        const uint4 *const from = (const uint4 *)args.tables + centres * (words / 4);
        for (int i = (int)threadIdx.x; i < words / 4; i += CLAHE_THREADS)
            shared[i] = from[i];
        __syncthreads();
        const unsigned items = (unsigned)(next - first) * args.row_tiles;
        for (unsigned item = warp; item < items; item += CLAHE_WARPS) {
            struct tile tile = tile_of(item, &p, args.row_tiles, TILE);
            tile.row += (unsigned)first;
            const float below =
                gf_clahe_place_of(p.out_y + (int)tile.row, args.inverse_height).part;
            const size_t offset = (size_t)tile.first * COUNT;
            copy_tile<COUNT, uint4>(pixels, p.in + tile.row * p.in_pitch + offset,
                                    tile.pixels * COUNT, lane);
            __syncwarp();
#pragma unroll 4
            for (unsigned i = lane; i < tile.pixels; i += WARP) {
                const struct gf_clahe_place column =
                    gf_clahe_place_of((int)(tile.first + i), args.inverse_width);
                change_pixel<COUNT>(pixels + i * COUNT, table, column, below);
            }
            __syncwarp();
            copy_tile<COUNT, uint4>(p.out + tile.row * p.out_pitch + offset, pixels,
                                    tile.pixels * COUNT, lane);
            __syncwarp();
        }
    }
}

/* Returns the value of a level in the table of tile (x, y), or of the nearest tile if there is no
 * such tile. */
static __device__ __forceinline__ float level_at(const struct clahe_args &args, int x, int y,
                                                 int level)
{
    const int column = limited(x, args.tiles.columns - 1), row = limited(y, args.tiles.rows - 1);
    const size_t tile = (size_t)(row * args.tiles.columns + column);
    return (float)((const unsigned short *)args.tables)[(tile << 16) + level];
}

/* Equalises pixel x of row `row` of the band, and stores it if `stores` is set. */
template <int COUNT>
static __device__ __forceinline__ void change_samples(const struct clahe_args &args, int x, int row,
                                                      bool stores)
{
    const struct view_pair &p = args.p;
    const unsigned short *const in =
        (const unsigned short *)(p.in + (size_t)row * p.in_pitch) + (size_t)x * COUNT;
    unsigned short *const out =
        (unsigned short *)(p.out + (size_t)row * p.out_pitch) + (size_t)x * COUNT;
    const struct gf_clahe_place column = gf_clahe_place_of(x, args.inverse_width);
    const struct gf_clahe_place line = gf_clahe_place_of(p.out_y + row, args.inverse_height);
    int v[COUNT];
#pragma unroll
    for (int c = 0; c < COUNT; c++)
        v[c] = in[c];
    const int luma =
        COUNT >= 3 ? gf_luma601_16(v[0], v[COUNT >= 3 ? 1 : 0], v[COUNT >= 3 ? 2 : 0]) : v[0];
    const int to =
        gf_clahe_mix(level_at(args, column.centres - 1, line.centres - 1, luma),
                     level_at(args, column.centres, line.centres - 1, luma),
                     level_at(args, column.centres - 1, line.centres, luma),
                     level_at(args, column.centres, line.centres, luma), column.part, line.part);
#pragma unroll
    for (int c = 0; c < COUNT; c++) {
        const bool alpha = COUNT % 2 == 0 && c == COUNT - 1;
        v[c] = alpha ? v[c] : COUNT < 3 ? to : limited(v[c] + to - luma, 65535);
        if (stores)
            out[c] = (unsigned short)v[c];
    }
}

/* A block computes a region whose pixels are near each other, so that the first-level cache has
 * what they look up in the tables. */
template <int COUNT>
static __global__ void __launch_bounds__(CLAHE_THREADS) clahe16_kernel(const struct clahe_args args)
{
    const struct view_pair &p = args.p;
    const struct tile_origin origin = block_tile(p.width, REGION_COLUMNS, REGION_ROWS);
    const int line = origin.row + (int)threadIdx.x / WARP;
    early_next();
    early_wait();
    for (int x = origin.x + (int)threadIdx.x % WARP; x < min(origin.x + REGION_COLUMNS, p.width);
         x += WARP) {
#pragma unroll
        for (int row = 0; row < REGION_ROWS; row += CLAHE_WARPS)
            change_samples<COUNT>(args, x, min(line + row, p.rows - 1), line + row < p.rows);
    }
}

template <int COUNT> static int launch_8(struct clahe_args args, cudaStream_t stream)
{
    args.row_tiles = blocks_for(args.p.width, TILE);
    const size_t bytes = (size_t)(args.tiles.columns + 1) * 256 * sizeof(unsigned) +
                         (size_t)CLAHE_WARPS * TILE * COUNT;
    return launch_early(clahe8_kernel<COUNT>, blocks_for(args.p.rows, CLAHE_ROWS), CLAHE_THREADS,
                        bytes, stream, args);
}

template <int COUNT> static int launch_16(const struct clahe_args &args, cudaStream_t stream)
{
    const int blocks = tile_blocks(args.p.width, args.p.rows, REGION_COLUMNS, REGION_ROWS);
    return launch_early(clahe16_kernel<COUNT>, (unsigned)blocks, CLAHE_THREADS, 0, stream, args);
}

extern "C" int gf_clahe_cuda(const struct gf_launch *launch)
{
    const struct gf_clahe *const clahe = (const struct gf_clahe *)launch->stage->constants;
    const cudaStream_t stream = launch->stream;
    struct clahe_args args = {};
    args.p = aligned_views(launch);
    args.tiles = clahe->tiles;
    args.inverse_width = clahe->inverse_width;
    args.inverse_height = clahe->inverse_height;
    args.tables = (const struct gf_clahe *)launch->constants + 1;
    if (!args.p.rows)
        return cudaSuccess;
    return for_channels(args.p.channels, [&](auto channels) {
        constexpr int COUNT = decltype(channels)::value;
        return args.p.bits == 8 ? launch_8<COUNT>(args, stream) : launch_16<COUNT>(args, stream);
    });
}
