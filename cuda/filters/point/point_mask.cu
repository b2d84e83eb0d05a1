/* mask on 8-bit colour, without another point filter beside it: a thread multiplies the alpha of
 * four pixels, and reads and writes whole words. */
#include "cuda/common/early.cuh"
#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "cuda/filters/point/point_layers.cuh"
#include "pixel/point/point_program.h"

enum { MASK_THREADS = 256, MASK_EACH = 4 };

struct masking {
    struct view_pair band;
    unsigned items; /* groups of four pixels in a row */
    struct layer_source mask;
    struct gf_layer layer;
};

/* Loads words from any address. It reads only words that contain one of their bytes. */
template <int COUNT>
static __device__ __forceinline__ void load_words(const unsigned char *at, unsigned (&to)[COUNT])
{
    const unsigned bits = (unsigned)((size_t)at % 4) * 8;
    const unsigned *const words = (const unsigned *)(at - bits / 8);
    unsigned word[COUNT + 1];
#pragma unroll
    for (int i = 0; i <= COUNT; i++)
        word[i] = i < COUNT || bits ? __ldg(words + i) : 0;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        to[i] = __funnelshift_r(word[i], word[i + 1], bits);
}

template <int COUNT>
static __device__ __forceinline__ unsigned byte_of(const unsigned (&word)[COUNT], int i)
{
    return word[i / 4] >> 8 * (i % 4) & 255;
}

/* Finds the mask's values of four pixels from (x, y) on. */
template <int CHANNELS>
static __device__ __forceinline__ void masks_at(const struct masking &args, int x, int y,
                                                float (&part)[MASK_EACH])
{
    const struct layer_source &mask = args.mask;
    const int column = x - args.layer.mask_x, row = y - args.layer.mask_y;
    if (row < 0 || row >= mask.height || column < 0 || column + MASK_EACH > mask.width) {
#pragma unroll 1
        for (int i = 0; i < MASK_EACH; i++)
            part[i] = mask_at(args.layer, mask, x + i, y);
        return;
    }
    unsigned word[CHANNELS];
    load_words(mask.data + (size_t)row * mask.pitch + (size_t)column * CHANNELS, word);
#pragma unroll
    for (int i = 0; i < MASK_EACH; i++) {
        const auto sample = [&](int c) { return (float)(int)byte_of(word, i * CHANNELS + c); };
        const int g = CHANNELS < 3 ? 0 : 1, b = CHANNELS < 3 ? 0 : 2;
        const float alpha = CHANNELS % 2 ? 1.0f : sample(CHANNELS - 1) * args.layer.mask_scale;
        part[i] = gf_layer_mask_of(&args.layer, {sample(0), sample(g), sample(b)}, alpha);
    }
}

/* IN is the channels of the picture, CHANNELS those of the mask. */
template <int IN, int CHANNELS>
static __global__ void __launch_bounds__(MASK_THREADS)
    mask8_kernel(const __grid_constant__ struct masking args)
{
    const struct view_pair &band = args.band;
    const struct position at =
        position_of(blockIdx.x * MASK_THREADS + threadIdx.x, band.rows, args.items);
    early_next();
    if (at.row >= (unsigned)band.rows || at.column >= args.items)
        return;
    const int x = (int)at.column * MASK_EACH, count = min((int)MASK_EACH, band.width - x);
    const unsigned char *const in = band.in + at.row * band.in_pitch + (size_t)x * IN;
    uint4 *const out = (uint4 *)(band.out + at.row * band.out_pitch) + at.column;
    unsigned word[IN] = {}, to[MASK_EACH];
    float part[MASK_EACH] = {};
    early_wait();
    if (count == MASK_EACH) {
#pragma unroll
        for (int i = 0; i < IN; i++)
            word[i] = ((const unsigned *)in)[i];
    } else {
#pragma unroll
        for (int i = 0; i < IN * MASK_EACH; i++)
            word[i / 4] |= i < IN * count ? (unsigned)in[i] << 8 * (i % 4) : 0;
    }
    masks_at<CHANNELS>(args, x, band.out_y + (int)at.row, part);
#pragma unroll
    for (int i = 0; i < MASK_EACH; i++) {
        const float alpha = IN == 4 ? (float)(int)(word[i % IN] >> 24) : 255.0f;
        const unsigned colour = IN == 4 ? word[i % IN]
                                : i     ? __funnelshift_r(word[i - 1], word[i % IN], 32 - 8 * i)
                                        : word[0];
        to[i] = (colour & 0xFFFFFF) | (unsigned)(int)(alpha * part[i] + 0.5f) << 24;
    }
    if (count == MASK_EACH) {
        *out = make_uint4(to[0], to[1], to[2], to[3]);
    } else {
#pragma unroll
        for (int i = 0; i < MASK_EACH; i++) {
            if (i < count)
                ((unsigned *)out)[i] = to[i];
        }
    }
}

static bool is_mask8(const struct gf_stage *stage, const struct gf_point_program *program)
{
    const int made = stage->in.channels == 3; /* OPAQUE precedes MASK */
    return stage->in.bits == 8 && stage->out.bits == 8 && stage->in.channels >= 3 &&
           program->table == GF_POINT_NO_TABLE && program->count == 1 + made &&
           program->op[made].kind == GF_POINT_MASK &&
           (!made || program->op[0].kind == GF_POINT_OPAQUE);
}

int gf_point_mask8(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_program *const program =
        (const struct gf_point_program *)stage->constants;
    if (!is_mask8(stage, program))
        return cudaErrorNotSupported;
    struct masking args = {};
    args.band = aligned_views(launch);
    args.items = (unsigned)ceil_div(args.band.width, MASK_EACH);
    args.layer = program->layer[0];
    args.mask = layer_source_of(launch->pictures[args.layer.mask]);
    if (args.mask.bits != 8)
        return cudaErrorNotSupported;
    const unsigned blocks = blocks_for((unsigned)args.band.rows * args.items, MASK_THREADS);
    return for_channels(args.mask.channels, [&](auto channels) -> int {
        constexpr int CHANNELS = decltype(channels)::value;
        const auto kernel =
            stage->in.channels == 3 ? mask8_kernel<3, CHANNELS> : mask8_kernel<4, CHANNELS>;
        return launch_early(kernel, blocks, MASK_THREADS, 0, (cudaStream_t)launch->stream, args);
    });
}
