/* Geometric warps. A block computes 32 x 32 pixels, and each of its warps computes rows of 32. If
 * the map is straight and the block's part of the input fits in shared memory, the block loads that
 * part once, with one or two words for a pixel, and with the border beyond the picture; otherwise
 * each thread reads its window from global memory. With cubic and Lanczos kernels, for which a
 * block has to load a table of weights, blocks compute one tile after another; otherwise each block
 * computes one tile. */
#include "cuda/filters/warp/warp.cuh"
#include "cuda/filters/warp/warp_curved.cuh"
#include "cuda/filters/warp/warp_quad.cuh"

/* The number of blocks for 8-bit pictures that a multiprocessor holds at once. Devices before
 * compute capability 8.0 have room for 1,024 threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
constexpr int TILED_BLOCKS = 6;
#else
constexpr int TILED_BLOCKS = 4;
#endif

struct warp_launch {
    struct warp_source source;
    const int16_t *weights; /* the weights and the counts of zones in device memory */
    const struct gf_warp_counts *zones;
    unsigned char *out; /* row out_y of the result */
    size_t out_pitch;
    int in_end, out_y, rows, width; /* the rows and columns of the result; in_end is the end of the
                                     * input's rows */
    unsigned across, tiles;
    struct warp_reach reach; /* how far the pixels of a whole tile reach in the input */
    int pitch;               /* pixels from row to row of a tile in shared memory */
};

/* Stores a row of up to 32 pixels of 8-bit RGB, one for each lane. A full row is stored as whole
 * words. */
static __device__ __forceinline__ void store_rgb8(uint32_t pixel, unsigned char *row, int x,
                                                  int columns)
{
    const int lane = threadIdx.x % WARP;
    if (columns == TILE) {
        const int word = min(lane, TILE * 3 / 4 - 1), first = word * 4 / 3, part = word % 3;
        const uint32_t a = __shfl_sync(~0u, pixel, first), b = __shfl_sync(~0u, pixel, first + 1);
        const unsigned selector = part == 0 ? 0x4210 : part == 1 ? 0x5421 : 0x6542;
        if (lane < TILE * 3 / 4)
            *(uint32_t *)(row + 3 * (size_t)x + 4 * lane) = __byte_perm(a, b, selector);
    } else if (lane < columns) {
        unsigned char *const to = row + 3 * ((size_t)x + lane);
        to[0] = (unsigned char)pixel, to[1] = (unsigned char)(pixel >> 8);
        to[2] = (unsigned char)(pixel >> 16);
    }
}

/* Stores a row of up to 32 pixels, one for each lane. stored: see struct warp_source. */
template <typename SAMPLE, int CHANNELS, class Pixel>
static __device__ __forceinline__ void store_pixel(Pixel pixel, unsigned char *row, int x,
                                                   int columns, int stored)
{
    const int lane = threadIdx.x % WARP;
    if constexpr (sizeof(SAMPLE) == 2 && CHANNELS == 4) {
        if (stored == STRAIGHT_8 || stored == OPAQUE_8) {
            if (lane < columns)
                ((unsigned *)row)[x + lane] = straightened<unsigned>(pixel);
            return;
        }
        if (stored == STRAIGHT_16)
            pixel = straightened<uint2>(pixel);
    }
    if constexpr (sizeof(SAMPLE) == 1 && CHANNELS == 3) {
        store_rgb8(pixel, row, x, columns);
    } else if (lane < columns) {
        SAMPLE *const to = (SAMPLE *)row + ((size_t)x + lane) * CHANNELS;
        if constexpr (sizeof(Pixel) == CHANNELS * sizeof(SAMPLE)) {
            *(Pixel *)to = pixel;
        } else {
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                to[c] = (SAMPLE)sample_of<SAMPLE>(pixel, c);
        }
    }
}

/* The tile of the result that a block computes: its first pixel and its size. */
struct warp_tile {
    int x, y, columns, rows;
};

static __device__ __forceinline__ struct warp_tile tile_of(const struct warp_launch &launch,
                                                           unsigned index)
{
    const unsigned down = index / launch.across;
    struct warp_tile tile;
    tile.x = (int)(index - down * launch.across) * TILE;
    tile.y = launch.out_y + (int)down * TILE;
    tile.columns = min(TILE, launch.width - tile.x);
    tile.rows = min(TILE, launch.out_y + launch.rows - tile.y);
    return tile;
}

static __device__ __forceinline__ unsigned char *out_row(const struct warp_launch &launch, int y)
{
    return launch.out + (size_t)(y - launch.out_y) * launch.out_pitch;
}

/* The block's own copy of the table of weights, for cubic and Lanczos kernels. */
template <int KERNEL> struct shared_weights {
    static constexpr int BYTES =
        KERNEL == TABLE_KERNEL ? GF_WARP_PHASES * GF_WARP_TAPS * (int)sizeof(int16_t) : 16;
};

template <int KERNEL>
static __device__ __forceinline__ void fetch_weights(const struct warp_launch &launch, uint4 *to)
{
    if constexpr (KERNEL == TABLE_KERNEL) {
        for (int i = threadIdx.x; i < GF_WARP_PHASES; i += THREADS)
            to[i] = __ldg((const uint4 *)launch.weights + i);
    }
}

template <typename SAMPLE, int CHANNELS, int KERNEL, int TAPS>
static __global__ void __launch_bounds__(THREADS, KERNEL != TABLE_KERNEL ? TILED_BLOCKS
                                                  : sizeof(SAMPLE) == 2  ? 2
                                                                         : 4)
    warp_tiled_kernel(const __grid_constant__ struct warp_launch launch)
{
    typedef typename pixel_type<SAMPLE, CHANNELS>::type Pixel;
    __shared__ __align__(16) Pixel tile[ROWS * PITCH_MOST];
    __shared__ uint4 weights[shared_weights<KERNEL>::BYTES / 16];
    const struct gf_warp &warp = launch.source.warp;
    constexpr bool STAYS = KERNEL == TABLE_KERNEL;
    const int lane = threadIdx.x % WARP, line = threadIdx.x / WARP;
    fetch_weights<KERNEL>(launch, weights);
    const int64_t own_u = lane * warp.ux + line * warp.uy, own_v = lane * warp.vx + line * warp.vy;
    for (unsigned index = blockIdx.x; index < launch.tiles; index += gridDim.x) {
        const struct warp_tile own = tile_of(launch, index);
        const bool whole = own.columns == TILE && own.rows == TILE;
        int64_t u = warp.u + own.x * warp.ux + own.y * warp.uy;
        int64_t v = warp.v + own.x * warp.vx + own.y * warp.vy;
        const struct warp_box box =
            box_of(whole ? launch.reach : reach_of(warp, own.columns, own.rows), TAPS, u, v);
        if (STAYS)
            __syncthreads();
        fill_tile<SAMPLE, CHANNELS, true, Pixel>(launch.source, box, tile, launch.pitch);
        __syncthreads();
        constexpr int ORIGIN = TAPS > 1 ? TAPS / 2 - 1 : 0;
        const int origin = (box.y + ORIGIN) * launch.pitch + box.x + ORIGIN;
        /* Lanes beyond the result compute the last pixel again. */
        const int beyond = max(lane - own.columns + 1, 0);
        u += own_u - beyond * warp.ux;
        v += own_v - beyond * warp.vx;
        unsigned char *to = out_row(launch, own.y + line);
        constexpr int AT_ONCE = KERNEL == TABLE_KERNEL ? 1 : TILE / WARPS;
#pragma unroll AT_ONCE
        for (int k = 0; k < TILE / WARPS; k++) {
            if (line + k * WARPS >= own.rows)
                break;
            const tile_window<Pixel> window = {
                tile + ((int)(v >> 32) * launch.pitch + (int)(u >> 32) - origin), launch.pitch};
            const Pixel pixel = value_of<SAMPLE, CHANNELS, KERNEL, TAPS, Pixel>(
                window, (uint32_t)u >> 20, (uint32_t)v >> 20, weights);
            store_pixel<SAMPLE, CHANNELS, Pixel>(pixel, to, own.x, own.columns,
                                                 launch.source.stored);
            u += WARPS * warp.uy;
            v += WARPS * warp.vy;
            to += WARPS * launch.out_pitch;
        }
        if (!STAYS)
            return;
    }
}

template <typename SAMPLE, int CHANNELS, int KERNEL, int TAPS>
static __global__ void __launch_bounds__(THREADS, 3)
    warp_direct_kernel(const __grid_constant__ struct warp_launch launch)
{
    typedef typename pixel_type<SAMPLE, CHANNELS>::type Pixel;
    const int lane = threadIdx.x % WARP, line = threadIdx.x / WARP;
    for (unsigned index = blockIdx.x; index < launch.tiles; index += gridDim.x) {
        const struct warp_tile own = tile_of(launch, index);
        const int x = own.x + min(lane, own.columns - 1);
        for (int row = line; row < own.rows; row += WARPS) {
            const Pixel pixel = mean_of<SAMPLE, CHANNELS, KERNEL, TAPS, Pixel>(
                launch.source, launch.zones, x, own.y + row, (const uint4 *)launch.weights);
            store_pixel<SAMPLE, CHANNELS, Pixel>(pixel, out_row(launch, own.y + row), own.x,
                                                 own.columns, launch.source.stored);
        }
    }
}

template <class FORMAT> static int start_quads(const struct warp_launch *from, cudaStream_t stream)
{
    const struct gf_warp *const warp = &from->source.warp;
    struct quad_launch launch = {};
    launch.source = from->source;
    launch.in_end = from->in_end;
    launch.out = from->out;
    launch.out_pitch = from->out_pitch;
    launch.rows = from->rows;
    launch.width = from->width;
    launch.u = warp->u + from->out_y * warp->uy;
    launch.v = warp->v + from->out_y * warp->vy;
    typedef quad_shape<256, 1, 3, 3, 5> large;
    const bool means = warp->nx * warp->ny > 1;
    const int status =
        means ? launch_quads<large, FORMAT, true>(launch, stream)
              : launch_quads<quad_shape<128, 2, 2, 4, FORMAT::STRAIGHT ? 8 : 12>, FORMAT, false>(
                    launch, stream);
    return status != cudaErrorNotSupported ? status
           : means ? launch_quads<quad_shape<128, 1, 4, 4, 8>, FORMAT, true>(launch, stream)
                   : launch_quads<large, FORMAT, false>(launch, stream);
}

template <class FORMAT> static int start_curved(const struct warp_launch *from, cudaStream_t stream)
{
    struct curved_launch launch = {};
    launch.quad.source = from->source;
    launch.quad.in_end = from->in_end;
    launch.quad.out = from->out;
    launch.quad.out_pitch = from->out_pitch;
    launch.quad.rows = from->rows;
    launch.quad.width = from->width;
    launch.zones = from->zones;
    launch.out_y = from->out_y;
    return launch_curved<FORMAT>(launch, stream);
}

template <class FORMAT>
static int start_boxes(const struct warp_launch *launch, cudaStream_t stream)
{
    return launch->source.warp.map.kind == GF_WARP_AFFINE ? start_quads<FORMAT>(launch, stream)
                                                          : start_curved<FORMAT>(launch, stream);
}

/* Launches a kernel of warp_quad.cuh or warp_curved.cuh. Returns cudaErrorNotSupported if none
 * accepts the warp. */
template <typename SAMPLE, int CHANNELS>
static int start_format_boxes(const struct warp_launch *launch, cudaStream_t stream)
{
    if constexpr (sizeof(SAMPLE) == 1) {
        return start_boxes<quad_format<CHANNELS>>(launch, stream);
    } else if constexpr (CHANNELS == 4) {
        switch (launch->source.stored) {
        case STRAIGHT_8:
            return start_boxes<quad_format<4, 8>>(launch, stream);
        case STRAIGHT_16:
            return start_boxes<quad_format<4, 16>>(launch, stream);
        case OPAQUE_8:
            return start_boxes<quad_format<3, 8>>(launch, stream);
        }
    }
    return cudaErrorNotSupported;
}

template <typename SAMPLE, int CHANNELS, int KERNEL, int TAPS>
static int start(const struct warp_launch *launch, bool tiled, bool may_tile, cudaStream_t stream)
{
    const auto kernel = tiled ? warp_tiled_kernel<SAMPLE, CHANNELS, KERNEL, TAPS>
                              : warp_direct_kernel<SAMPLE, CHANNELS, KERNEL, TAPS>;
    unsigned blocks = launch->tiles;
    if constexpr (KERNEL == LINEAR_KERNEL) {
        const int status = may_tile ? start_format_boxes<SAMPLE, CHANNELS>(launch, stream)
                                    : (int)cudaErrorNotSupported;
        if (status != cudaErrorNotSupported)
            return status;
    }
    const bool stays = !tiled || KERNEL == TABLE_KERNEL;
    LAUNCH_TRY(stays ? resident_blocks(kernel, THREADS, 0, launch->tiles, &blocks) : cudaSuccess);
    return launch_kernel(kernel, blocks, THREADS, 0, stream, *launch);
}

template <typename SAMPLE, int CHANNELS>
static int start_kernel(const struct warp_launch *launch, bool tiled, bool may_tile,
                        cudaStream_t stream)
{
    switch (launch->source.warp.kernel) {
    case GF_WARP_LINEAR:
        return start<SAMPLE, CHANNELS, LINEAR_KERNEL, 2>(launch, tiled, may_tile, stream);
    case GF_WARP_CUBIC:
        return start<SAMPLE, CHANNELS, TABLE_KERNEL, 4>(launch, tiled, may_tile, stream);
    case GF_WARP_LANCZOS3:
        return start<SAMPLE, CHANNELS, TABLE_KERNEL, 6>(launch, tiled, may_tile, stream);
    default:
        return start<SAMPLE, CHANNELS, NEAREST_KERNEL, 1>(launch, tiled, may_tile, stream);
    }
}

static int start_format(const struct gf_launch *from, bool may_tile)
{
    const struct gf_view *const in = &from->in, *const out = &from->out;
    const struct gf_warp *const warp = (const struct gf_warp *)from->stage->constants;
    struct warp_launch launch = {};
    launch.source.warp = *warp;
    launch.source.in = in->data;
    launch.source.pitch = in->pitch;
    launch.source.in_y = in->y;
    launch.source.stored = !from->straight            ? NOT_STRAIGHT
                           : in->format.channels == 3 ? OPAQUE_8
                           : from->straight == 8      ? STRAIGHT_8
                                                      : STRAIGHT_16;
    launch.in_end = in->y + in->rows;
    launch.weights = (const int16_t *)((const char *)from->constants + warp->table);
    launch.zones = (const struct gf_warp_counts *)((const char *)from->constants + warp->zones);
    launch.out = out->data;
    launch.out_pitch = out->pitch;
    launch.out_y = out->y;
    launch.rows = out->rows;
    launch.width = out->format.width;
    launch.across = (unsigned)ceil_div(out->format.width, TILE);
    launch.tiles = launch.across * (unsigned)ceil_div(out->rows, TILE);
    launch.reach = reach_of(*warp, TILE, TILE);
    launch.pitch = pitch_of(warp);
    const bool tiled = may_tile && fits_tile(warp);
    struct gf_format warped = in->format;
    if (from->straight)
        warped.channels = 4, warped.bits = 16;
    return for_stencil_samples(warped, [&](auto sample, auto channels) -> int {
        return start_kernel<decltype(sample), decltype(channels)::value>(&launch, tiled, may_tile,
                                                                         from->stream);
    });
}

GF_LAUNCHES(gf_warp_cuda, start_format(launch, true))
GF_LAUNCHES(gf_warp_direct_cuda, start_format(launch, false))
