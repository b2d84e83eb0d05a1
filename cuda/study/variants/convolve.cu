/* The steps that lead to the kernels of cuda/filters/convolve/convolve.cu, one technique at a time:
 * first the weights are in constant, global and shared memory, then the picture is in global
 * memory, textures and tiles. */
#include "cuda/filters/convolve/convolve.cuh"
#include "cuda/study/variants/texture.cuh"
#include "cuda/study/variants/window.cuh"
#include "pixel/sample.h"
#include "stage/border.h"

enum { WEIGHTS_MAX = GF_MATRIX_SIDE_MAX * GF_MATRIX_SIDE_MAX };

/* Weights in the kernel's parameters, which are in constant memory (Best Practices 9.2.6). */
struct constant_weights {
    float value[WEIGHTS_MAX];
};

struct global_weights {
    const float *value;
};

template <class Weights> struct correlate_args {
    struct view_pair p;
    int width, height, keep_alpha; /* size of the matrix in weights */
    float divisor, bias, max;
    struct raw_tile tile;
    cudaTextureObject_t texture;
    /* texture_y: the first row of the texture; columns_by_texture: the texture also handles columns
     * outside of the picture. */
    int texture_y, columns_by_texture;
    Weights weights;
};

/* Computes one result. row_at(dy) returns a function of dx that returns a sample of that row.
 * Products are added row by row and from left to right, as on the CPU. */
template <class Args, class RowAt>
static __device__ __forceinline__ float correlate(const Args &args, const float *weight,
                                                  const RowAt &row_at)
{
    const int left = args.width / 2, top = args.height / 2;
    float sum = 0.0f;
    for (int j = 0; j < args.height; j++) {
        const auto row = row_at(j - top);
        for (int i = 0; i < args.width; i++)
            sum = sum + weight[j * args.width + i] * row(i - left);
    }
    return sum;
}

template <class Sample, class Args>
static __device__ __forceinline__ void finish_spot(const Args &args, const struct spot &spot,
                                                   float sum)
{
    const struct view_pair &p = args.p;
    float alpha = 0.0f;
    if (p.channels % 2 == 0)
        alpha = sample_of<Sample>(p, spot.x, p.channels - 1, p.out_y + spot.row);
    const bool is_alpha = p.channels % 2 == 0 && spot.channel == p.channels - 1;
    *out_sample<Sample>(p, spot) =
        (Sample)gf_round_flat(finish(args, sum, is_alpha, &alpha), args.max);
}

/* Reads the picture from global memory, a sample for each thread (Best Practices 9.2.1). */
template <class Sample, class Args>
static __device__ __forceinline__ void correlate_global(const Args &args, const float *weight)
{
    const struct view_pair &p = args.p;
    struct spot spot;
    if (!find_spot(p, &spot))
        return;
    float sum;
    if (is_inner(p, spot, args.width / 2, args.height / 2)) {
        const unsigned char *const centre = centre_of<Sample>(p, spot);
        sum = correlate(args, weight, [&](int dy) {
            const Sample *const row = (const Sample *)(centre + dy * (int)p.in_pitch);
            return [&, row](int dx) -> float { return row[dx * p.channels]; };
        });
    } else {
        sum = correlate(args, weight, [&](int dy) {
            return [&, dy](int dx) -> float {
                return sample_of<Sample>(p, spot.x + dx, spot.channel, p.out_y + spot.row + dy);
            };
        });
    }
    finish_spot<Sample>(args, spot, sum);
}

template <class Sample, class Weights>
__global__ void __launch_bounds__(WINDOW_COLUMNS *WINDOW_ROWS)
    convolve_window_kernel(const struct correlate_args<Weights> args)
{
    correlate_global<Sample>(args, args.weights.value);
}

/* Copies the weights to shared memory first, where one word that a whole warp reads is broadcast
 * (Best Practices 9.2.3.1). */
template <class Sample>
__global__ void __launch_bounds__(WINDOW_COLUMNS *WINDOW_ROWS)
    convolve_shared_taps_kernel(const struct correlate_args<struct global_weights> args)
{
    __shared__ float weight[WEIGHTS_MAX];
    for (int i = threadIdx.y * WINDOW_COLUMNS + threadIdx.x; i < args.width * args.height;
         i += WINDOW_COLUMNS * WINDOW_ROWS)
        weight[i] = args.weights.value[i];
    __syncthreads();
    correlate_global<Sample>(args, weight);
}

/* Reads the picture through the texture unit (Best Practices 9.2.5). The unit handles rows outside
 * of the picture, but columns only if a texel is a pixel or the border is constant: a texel cannot
 * have three samples, and clamping a column of interleaved samples would give the wrong channel. It
 * cannot reflect without repeating the edge, and wraps only normalised coordinates; for these
 * borders the kernel computes the index. */
template <class Sample>
__global__ void __launch_bounds__(WINDOW_COLUMNS *WINDOW_ROWS)
    convolve_texture_kernel(const struct correlate_args<struct constant_weights> args)
{
    const struct view_pair &p = args.p;
    struct spot spot;
    if (!find_spot(p, &spot))
        return;
    const bool inner = is_inner(p, spot, args.width / 2, args.height / 2);
    const bool rows_as_they_are =
        inner || p.border == GF_BORDER_EDGE || p.border == GF_BORDER_CONSTANT;
    const bool columns_as_they_are = inner || args.columns_by_texture;
    const float sum = correlate(args, args.weights.value, [&](int dy) {
        int y = p.out_y + spot.row + dy;
        if (!rows_as_they_are)
            y = gf_border_index(y, p.height, p.border);
        return [&, y](int dx) -> float {
            int x = spot.x + dx;
            if (!columns_as_they_are)
                x = gf_border_index(x, p.width, p.border);
            return tex2D<Sample>(args.texture, (float)(x * p.channels + spot.channel) + 0.5f,
                                 (float)(y - args.texture_y) + 0.5f);
        };
    });
    finish_spot<Sample>(args, spot, sum);
}

/* Reads the picture from a tile in shared memory, which the block loads once (Best Practices
 * 9.2.3). The lanes of a warp read along a line without bank conflicts, so that padding would not
 * help. */
template <class Sample, bool ASYNC>
__global__ void __launch_bounds__(TILE_THREADS)
    convolve_tile_kernel(const struct correlate_args<struct constant_weights> args)
{
    extern __shared__ uint4 shared[];
    const struct view_pair &p = args.p;
    const struct raw_tile &tile = args.tile;
    const struct tile_position position = position_of_tile(p, tile.width);
    const unsigned char *const raw = (unsigned char *)shared;
    const int skipped = load_tile<Sample, ASYNC>(p, tile, position, (unsigned char *)shared);
    for (int i = threadIdx.x; i < position.lines * tile.width; i += TILE_THREADS) {
        const int line = i / tile.width, column = i - line * tile.width;
        struct spot spot;
        spot.sample = (size_t)(position.sample + column);
        spot.row = position.row + line;
        spot.x = (position.sample + column) / p.channels;
        spot.channel = position.sample + column - spot.x * p.channels;
        if (spot.x >= p.width)
            continue;
        const float sum = correlate(args, args.weights.value, [&](int dy) {
            const Sample *const centre =
                (const Sample *)(raw + (line + tile.reach_y + dy) * tile.pitch + skipped) +
                tile.halo + column;
            return [&, centre](int dx) -> float { return centre[dx * p.channels]; };
        });
        finish_spot<Sample>(args, spot, sum);
    }
}

template <class Weights>
static struct correlate_args<Weights> args_of(const struct gf_launch *launch) {
    const struct gf_convolve *const convolve = (const struct gf_convolve *)launch->stage->constants;
    struct correlate_args<Weights> args = {
    };
    args.p = view_pair_of(launch, convolve->border);
    args.width = convolve->width;
    args.height = convolve->height;
    args.keep_alpha = convolve->keep_alpha;
    args.divisor = convolve->divisor;
    args.bias = convolve->bias;
    args.max = launch->in.format.bits == 8 ? 255.0f : 65535.0f;
    return args;
}

static struct correlate_args<struct global_weights>
global_args(const struct gf_launch *launch) {
    struct correlate_args<struct global_weights> args = args_of<struct global_weights>(launch);
    args.weights.value = ((const struct gf_convolve *)launch->constants)->weight;
    return args;
}

static struct correlate_args<struct constant_weights>
constant_args(const struct gf_launch *launch) {
    const struct gf_convolve *const convolve = (const struct gf_convolve *)launch->stage->constants;
    struct correlate_args<struct constant_weights> args = args_of<struct constant_weights>(launch);
    for (int i = 0; i < convolve->width * convolve->height; i++)
        args.weights.value[i] = convolve->weight[i];
    return args;
}

/* Launches the kernel for the picture's depth, with blocks of window.cuh. */
template <class Args>
static int launch_window(const struct gf_launch *launch, const Args &args, void (*kernel8)(Args),
                         void (*kernel16)(Args))
{
    void (*const kernel)(Args) = launch->in.format.bits == 8 ? kernel8 : kernel16;
    return launch_kernel(kernel, window_blocks(args.p), dim3(WINDOW_COLUMNS, WINDOW_ROWS), 0,
                         launch->stream, args);
}

GF_LAUNCHES(gf_convolve_global_cuda,
            launch_window(launch, global_args(launch),
                          convolve_window_kernel<unsigned char, struct global_weights>,
                          convolve_window_kernel<unsigned short, struct global_weights>))
GF_LAUNCHES(gf_convolve_shared_taps_cuda,
            launch_window(launch, global_args(launch), convolve_shared_taps_kernel<unsigned char>,
                          convolve_shared_taps_kernel<unsigned short>))
GF_LAUNCHES(gf_convolve_constant_cuda,
            launch_window(launch, constant_args(launch),
                          convolve_window_kernel<unsigned char, struct constant_weights>,
                          convolve_window_kernel<unsigned short, struct constant_weights>))

extern "C" int gf_convolve_texture_cuda(const struct gf_launch *launch)
{
    struct correlate_args<struct constant_weights> args = constant_args(launch);
    struct gf_texture_sampling sampling = {};
    sampling.channels = 1;
    sampling.address =
        args.p.border == GF_BORDER_CONSTANT ? cudaAddressModeBorder : cudaAddressModeClamp;
    sampling.filter = cudaFilterModePoint;
    sampling.read = cudaReadModeElementType;
    int first, end;
    struct gf_texture texture;
    gf_stage_input_rows(launch->stage, launch->out.y, launch->out.y + launch->out.rows, &first,
                        &end);
    LAUNCH_TRY(gf_texture_open(&launch->in, first, end, &sampling, launch->scratch, launch->stream,
                               &texture));
    args.texture = texture.object;
    args.texture_y = texture.y;
    args.columns_by_texture = args.p.border == GF_BORDER_CONSTANT ||
                              (args.p.border == GF_BORDER_EDGE && args.p.channels == 1);
    const int status = launch_window(launch, args, convolve_texture_kernel<unsigned char>,
                                     convolve_texture_kernel<unsigned short>);
    const int closed = gf_texture_close(&texture, launch->stream);
    return status ? status : closed;
}

template <class Sample, bool ASYNC> static int launch_tile_of(const struct gf_launch *launch)
{
    struct correlate_args<struct constant_weights> args = constant_args(launch);
    args.tile =
        raw_tile_of(args.p, 8 * (int)sizeof(Sample), TILE_WIDTH, args.width / 2, args.height / 2);
    return launch_kernel(convolve_tile_kernel<Sample, ASYNC>, raw_tile_blocks(args.p, TILE_WIDTH),
                         TILE_THREADS, raw_tile_bytes(args.tile), launch->stream, args);
}

GF_LAUNCHES(gf_convolve_shared_cuda, launch->in.format.bits == 8
                                         ? launch_tile_of<unsigned char, false>(launch)
                                         : launch_tile_of<unsigned short, false>(launch))
GF_LAUNCHES(gf_convolve_async_cuda, launch->in.format.bits == 8
                                        ? launch_tile_of<unsigned char, true>(launch)
                                        : launch_tile_of<unsigned short, true>(launch))
