/* The steps that lead to the kernels of cuda/filters/gauss, and to the running sums of
 * cuda/filters/boxblur, one technique at a time. */
#include "cuda/study/variants/window.cuh"
#include "filters/blur/blur.h"
#include "filters/boxblur/boxblur.h"
#include "pixel/sample.h"

/* ---- the Gaussian as an Op of window.cuh, with the arithmetic of pixel/gauss/gauss.h ---- */

/* The taps in the kernel's parameters, which are in constant memory. Its cache serves a warp that
 * reads one address in a single access (Best Practices 9.2.6). */
template <class Tap> struct constant_taps {
    Tap value[GF_GAUSS_RADIUS_MAX + 1];
    __device__ __forceinline__ Tap operator[](int k) const
    {
        return value[k];
    }
};

template <class Tap> struct global_taps {
    const Tap *value;
    __device__ __forceinline__ Tap operator[](int k) const
    {
        return value[k];
    }
};

template <class Taps> struct gauss_op8 {
    typedef unsigned char sample;
    typedef unsigned middle;
    typedef unsigned short stored;
    int radius, shift;
    Taps tap;

    template <class At> __device__ __forceinline__ unsigned sum(const At &at, int drop) const
    {
        unsigned sum = (1u << (drop - 1)) + tap[0] * at(0);
        for (int k = 1; k <= radius; k++)
            sum += tap[k] * (at(-k) + at(k));
        return sum >> drop;
    }
    template <class At> __device__ __forceinline__ middle column(const At &at) const
    {
        return sum(at, shift - GF_GAUSS_FRACTION);
    }
    template <class At> __device__ __forceinline__ sample row(const At &at) const
    {
        return (sample)sum(at, shift + GF_GAUSS_FRACTION);
    }
};

template <class Taps> struct gauss_op16 {
    typedef unsigned short sample;
    typedef float middle;
    typedef float stored;
    int radius;
    Taps tap;

    template <class At> __device__ __forceinline__ middle column(const At &at) const
    {
        float sum = tap[0] * at(0);
        for (int k = 1; k <= radius; k++)
            sum = sum + tap[k] * (at(-k) + at(k));
        return sum;
    }
    template <class At> __device__ __forceinline__ sample row(const At &at) const
    {
        return (sample)gf_round_flat(column(at), 65535.0f);
    }
};

typedef gauss_op8<constant_taps<uint16_t>> gauss_constant8;
typedef gauss_op16<constant_taps<float>> gauss_constant16;

static inline gauss_constant8 gauss_constant_op8(const struct gf_gauss *gauss)
{
    gauss_constant8 op = {gauss->radius, gauss->shift, {}};
    for (int k = 0; k <= gauss->radius; k++)
        op.tap.value[k] = gauss->fixed[k];
    return op;
}

static inline gauss_constant16 gauss_constant_op16(const struct gf_gauss *gauss)
{
    gauss_constant16 op = {gauss->radius, {}};
    for (int k = 0; k <= gauss->radius; k++)
        op.tap.value[k] = gauss->real[k];
    return op;
}

static const struct gf_blur *blur_of(const struct gf_launch *launch)
{
    return (const struct gf_blur *)launch->stage->constants;
}

/* ---- blur: the whole window ---- */

extern "C" int gf_blur_global_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = blur_of(launch);
    const struct gf_gauss *const taps = &((const struct gf_blur *)launch->constants)->gauss;
    if (launch->in.format.bits == 8) {
        const gauss_op8<global_taps<uint16_t>> op = {
            blur->gauss.radius, blur->gauss.shift, {taps->fixed}};
        return launch_square(launch, blur->border, op);
    }
    const gauss_op16<global_taps<float>> op = {blur->gauss.radius, {taps->real}};
    return launch_square(launch, blur->border, op);
}

extern "C" int gf_blur_constant_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = blur_of(launch);
    return launch->in.format.bits == 8
               ? launch_square(launch, blur->border, gauss_constant_op8(&blur->gauss))
               : launch_square(launch, blur->border, gauss_constant_op16(&blur->gauss));
}

extern "C" int gf_blur_separable_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = blur_of(launch);
    const size_t pitch = gf_gauss_mid_pitch(launch->in.format);
    return launch->in.format.bits == 8
               ? launch_separable(launch, blur->border, pitch, gauss_constant_op8(&blur->gauss))
               : launch_separable(launch, blur->border, pitch, gauss_constant_op16(&blur->gauss));
}

/* ---- blur: two passes on a tile ---- */

template <bool ASYNC> static int launch_tiled(const struct gf_launch *launch, bool padded)
{
    const struct gf_blur *const blur = blur_of(launch);
    return launch->in.format.bits == 8
               ? launch_tile_stencil<gauss_constant8, ASYNC>(
                     launch, blur->border, gauss_constant_op8(&blur->gauss), padded)
               : launch_tile_stencil<gauss_constant16, ASYNC>(
                     launch, blur->border, gauss_constant_op16(&blur->gauss), padded);
}

GF_LAUNCHES(gf_blur_shared_cuda, launch_tiled<false>(launch, false))
GF_LAUNCHES(gf_blur_padded_cuda, launch_tiled<false>(launch, true))
GF_LAUNCHES(gf_blur_async_cuda, launch_tiled<true>(launch, true))

/* ---- blur: several results per thread ---- */

enum { STRETCH = 8 }; /* results of a thread, one below or beside the other */

struct vector_args {
    struct view_pair p;
    struct raw_tile tile;
    int middle_pitch, results_pitch; /* as in struct tile_stencil_args */
    int radius, shift;
    /* Tap t, counted from the topmost one, is at STRETCH - 1 + t. Zeros are around the taps. */
    unsigned short tap[STRETCH - 1 + 2 * GF_GAUSS_FUSED_MAX + 1 + 2 * STRETCH];
};

/* Computes STRETCH results in each of COLUMNS columns. Each value is read once and used for all of
 * them (Best Practices 9.2.7). load(i, v) reads the values that are i rows below the topmost tap of
 * the first result. */
template <int COLUMNS, class Load>
static __device__ __forceinline__ void blur_stretch(const struct vector_args &args, int drop,
                                                    const Load &load,
                                                    unsigned sum[STRETCH][COLUMNS])
{
    unsigned
        tap[2 * STRETCH - 1]; /* tap[STRETCH - 1 + i - j] belongs to value base + i and result j */
#pragma unroll
    for (int i = 0; i < STRETCH - 1; i++)
        tap[STRETCH + i] = 0;
#pragma unroll
    for (int i = 0; i < STRETCH * COLUMNS; i++)
        sum[i / COLUMNS][i % COLUMNS] = 1u << (drop - 1);
    for (int base = 0; base < STRETCH + 2 * args.radius; base += STRETCH) {
#pragma unroll
        for (int i = 0; i < STRETCH - 1; i++)
            tap[i] = tap[STRETCH + i];
#pragma unroll
        for (int i = 0; i < STRETCH; i++)
            tap[STRETCH - 1 + i] = args.tap[STRETCH - 1 + base + i];
#pragma unroll
        for (int i = 0; i < STRETCH; i++) {
            unsigned v[COLUMNS];
            load(base + i, v);
#pragma unroll
            for (int j = 0; j < STRETCH; j++) {
#pragma unroll
                for (int c = 0; c < COLUMNS; c++)
                    sum[j][c] += tap[STRETCH - 1 + i - j] * v[c];
            }
        }
    }
#pragma unroll
    for (int i = 0; i < STRETCH * COLUMNS; i++)
        sum[i / COLUMNS][i % COLUMNS] >>= drop;
}

/* Blurs down the columns: STRETCH rows of four samples, which are read as one word (Best Practices
 * 9.2.3: a bank delivers 32 bits a cycle, so that four separate bytes take four cycles). */
static __device__ __forceinline__ void vector_columns(const struct vector_args &args,
                                                      const struct tile_position &position,
                                                      const unsigned char *raw, int skipped,
                                                      unsigned *middle)
{
    const int columns = args.tile.width + 2 * args.tile.halo, words = (skipped + columns + 3) / 4;
    const int last = position.lines + 2 * args.radius - 1;
    for (int i = threadIdx.x; i < words * (TILE_LINES / STRETCH); i += TILE_THREADS) {
        const int stretch = i / words, word = i - stretch * words;
        unsigned sum[STRETCH][4];
        blur_stretch<4>(
            args, args.shift - GF_GAUSS_FRACTION,
            [&](int k, unsigned v[4]) {
                /* Values below the last row have no tap, or are used only for results below the
                 * last line. */
                const int row = min(stretch * STRETCH + k, last);
                const unsigned four = ((const unsigned *)(raw + row * args.tile.pitch))[word];
#pragma unroll
                for (int c = 0; c < 4; c++)
                    v[c] = four >> 8 * c & 0xFFu;
            },
            sum);
        const int first = 4 * word - skipped;
#pragma unroll
        for (int c = 0; c < 4; c++) {
            if (first + c < 0 || first + c >= columns)
                continue;
#pragma unroll
            for (int j = 0; j < STRETCH; j++)
                middle[(stretch * STRETCH + j) * args.middle_pitch + first + c] = sum[j][c];
        }
    }
}

/* Blurs along the lines: STRETCH neighbouring pixels of a channel at a time. Each lane processes a
 * line of its own. */
static __device__ __forceinline__ void vector_rows(const struct vector_args &args,
                                                   const struct tile_position &position,
                                                   const unsigned *middle, unsigned char *results)
{
    const int channels = args.p.channels, lane = threadIdx.x % 32;
    for (int i = threadIdx.x / 32; lane < position.lines && i < args.tile.width / STRETCH;
         i += TILE_WARPS) {
        const int stretch = i / channels,
                  first = stretch * STRETCH * channels + i - stretch * channels;
        const unsigned *const from = middle + lane * args.middle_pitch + first;
        unsigned sum[STRETCH][1];
        blur_stretch<1>(
            args, args.shift + GF_GAUSS_FRACTION,
            [&](int k, unsigned v[1]) { v[0] = from[k * channels]; }, sum);
#pragma unroll
        for (int j = 0; j < STRETCH; j++)
            results[lane * args.results_pitch + first + j * channels] = (unsigned char)sum[j][0];
    }
}

__global__ void __launch_bounds__(TILE_THREADS) blur_vector_kernel(const struct vector_args args)
{
    extern __shared__ uint4 shared[];
    const struct tile_position position = position_of_tile(args.p, args.tile.width);
    unsigned char *const raw = (unsigned char *)shared;
    unsigned *const middle = (unsigned *)(raw + (TILE_LINES + 2 * args.radius) * args.tile.pitch);
    const int skipped = load_tile<unsigned char, false>(args.p, args.tile, position, raw);
    vector_columns(args, position, raw, skipped, middle);
    __syncthreads();
    vector_rows(args, position, middle, raw);
    __syncthreads();
    store_lines(args.p, position, raw, args.results_pitch, args.tile.width, 1);
}

extern "C" int gf_blur_vector_cuda(const struct gf_launch *launch)
{
    const struct gf_blur *const blur = blur_of(launch);
    struct vector_args args = {};
    args.p = view_pair_of(launch, blur->border);
    args.radius = blur->gauss.radius;
    args.shift = blur->gauss.shift;
    args.tile = raw_tile_of(args.p, 8, TILE_WIDE, args.radius, args.radius);
    args.middle_pitch = (TILE_WIDE + 2 * args.tile.halo) | 1; /* odd, see launch_tile_stencil() */
    args.results_pitch = TILE_WIDE + 4;
    for (int t = 0; t <= 2 * args.radius; t++)
        args.tap[STRETCH - 1 + t] = (unsigned short)gf_gauss_tap(&blur->gauss, t - args.radius);
    /* The last stretch of the last line reads up to STRETCH - 1 more pixels, whose taps are 0. */
    const size_t words = (size_t)TILE_LINES * args.middle_pitch + STRETCH * args.p.channels;
    const size_t shared = raw_tile_bytes(args.tile) + 4 * words;
    LAUNCH_TRY(cudaFuncSetAttribute(blur_vector_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    TILE_SHARED_MOST));
    return launch_kernel(blur_vector_kernel, raw_tile_blocks(args.p, TILE_WIDE), TILE_THREADS,
                         shared, launch->stream, args);
}

/* ---- boxblur ---- */

/* The box blur as an Op of window.cuh: it sums the window's columns, and then these sums. */
template <class Sample, class Sum> struct box_op {
    typedef Sample sample;
    typedef unsigned middle;
    typedef unsigned stored;
    int radius;
    struct gf_box_mean mean;

    template <class Total, class At> __device__ __forceinline__ Total sum(const At &at) const
    {
        Total sum = 0;
        for (int k = -radius; k <= radius; k++)
            sum += at(k);
        return sum;
    }
    template <class At> __device__ __forceinline__ middle column(const At &at) const
    {
        return sum<unsigned>(at);
    }
    template <class At> __device__ __forceinline__ sample row(const At &at) const
    {
        const Sum all = sum<Sum>(at);
        return (sample)(sizeof(Sample) == 1 ? gf_box_mean8(&mean, (unsigned)all)
                                            : gf_box_mean16(&mean, all));
    }
};

typedef box_op<unsigned char, unsigned> box_op8;
typedef box_op<unsigned short, unsigned long long> box_op16;

static const struct gf_box *box_of(const struct gf_launch *launch)
{
    return (const struct gf_box *)launch->stage->constants;
}

template <class Op> static Op box_op_of(const struct gf_launch *launch)
{
    return {box_of(launch)->radius, box_of(launch)->mean};
}

extern "C" int gf_boxblur_global_cuda(const struct gf_launch *launch)
{
    const int border = box_of(launch)->border;
    return launch->in.format.bits == 8 ? launch_square(launch, border, box_op_of<box_op8>(launch))
                                       : launch_square(launch, border, box_op_of<box_op16>(launch));
}

extern "C" int gf_boxblur_separable_cuda(const struct gf_launch *launch)
{
    const int border = box_of(launch)->border;
    const size_t pitch = gf_box_wide_pitch(launch->in.format);
    return launch->in.format.bits == 8
               ? launch_separable(launch, border, pitch, box_op_of<box_op8>(launch))
               : launch_separable(launch, border, pitch, box_op_of<box_op16>(launch));
}

template <bool ASYNC> static int launch_box_tiled(const struct gf_launch *launch, bool padded)
{
    const int border = box_of(launch)->border;
    return launch->in.format.bits == 8
               ? launch_tile_stencil<box_op8, ASYNC>(launch, border, box_op_of<box_op8>(launch),
                                                     padded)
               : launch_tile_stencil<box_op16, ASYNC>(launch, border, box_op_of<box_op16>(launch),
                                                      padded);
}

GF_LAUNCHES(gf_boxblur_shared_cuda, launch_box_tiled<false>(launch, false))
GF_LAUNCHES(gf_boxblur_padded_cuda, launch_box_tiled<false>(launch, true))
GF_LAUNCHES(gf_boxblur_async_cuda, launch_box_tiled<true>(launch, true))
