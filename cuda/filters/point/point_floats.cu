/* Runs lists of point filters on floats: a program on a warp's tile of a row, operation by
 * operation, each for all of a thread's pixels. A thread reads and writes vectors of 16 bytes or,
 * of gray beside colour, less; pixels of three samples pass through shared memory, and so do tiles
 * at the end of a row, so that every access to a picture is next to those of the neighbouring
 * lanes. */
#include "pixel/point/point_floats.h"

#include "cuda/common/floats.cuh"
#include "cuda/filters/point/point_program.cuh"

enum { FLOATS_WARPS = 4 };

/* The operations that a kernel contains: those of a few instructions a sample, those and fields and
 * noise, or all, which need many registers. */
enum floats_width { FLOATS_SHORT, FLOATS_PLACED, FLOATS_ALL };

/* The pixels of a thread. MOST is the most channels of input and result, 1, 2 or 4, for 3 as well.
 * A unit is neighbouring pixels that have at most 16 bytes; a thread's units are WARP units apart.
 */
template <class Sample, int MOST> struct floats_tile {
    typedef Sample sample;
    static constexpr int PIXELS = 4;
    static constexpr int MOST_IN_UNIT = VECTOR / MOST / sizeof(Sample);
    static constexpr int UNIT = PIXELS < MOST_IN_UNIT ? PIXELS : MOST_IN_UNIT;
    static constexpr int UNITS = PIXELS / UNIT;
    static constexpr unsigned ALL = PIXELS * WARP; /* the pixels of a tile */
    /* The vectors of a lane, which hold a tile together. */
    static constexpr int VECTORS = (PIXELS * MOST * sizeof(Sample) + VECTOR - 1) / VECTOR;
};

/* Converts neighbouring pixels i, i + 1 .. of the thread's to samples, and back. */
template <int CHANNELS, int UNIT, int PIXELS, class Sample>
static __device__ __forceinline__ void samples_to_pixels(const Sample *sample, int i,
                                                         struct pixels<PIXELS> *p)
{
#pragma unroll
    for (int k = 0; k < UNIT; k++) {
        const Sample *const own = sample + k * CHANNELS;
#pragma unroll
        for (int c = 0; c < 3; c++)
            p->colour[c][i + k] = c < CHANNELS - !(CHANNELS % 2) ? float_of(own[c]) : 0.0f;
        p->alpha[i + k] = CHANNELS % 2 ? 0.0f : float_of(own[CHANNELS - 1]);
    }
}

template <int CHANNELS, int UNIT, int PIXELS, class Sample>
static __device__ __forceinline__ void pixels_to_samples(const struct pixels<PIXELS> &p, int i,
                                                         Sample *sample)
{
#pragma unroll
    for (int k = 0; k < UNIT; k++) {
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            store_float(sample + k * CHANNELS + c, CHANNELS % 2 == 0 && c == CHANNELS - 1
                                                       ? p.alpha[i + k]
                                                       : p.colour[c < 3 ? c : 0][i + k]);
    }
}

/* Words that a thread accesses at once; three are three accesses. */
template <int WORDS> struct __align__(WORDS == 3 ? 4 : 4 * WORDS) words_of
{
    unsigned word[WORDS];
};

template <class Shape, int CHANNELS>
static __device__ __forceinline__ void take_units(const unsigned char *tile, unsigned lane,
                                                  struct pixels<Shape::PIXELS> *p)
{
    typedef typename Shape::sample Sample;
    constexpr int UNIT = Shape::UNIT, WORDS = UNIT * CHANNELS * (int)sizeof(Sample) / 4;
    const words_of<WORDS> *const from = (const words_of<WORDS> *)tile + lane;
    words_of<WORDS> read[Shape::UNITS];
#pragma unroll
    for (int u = 0; u < Shape::UNITS; u++)
        read[u] = from[u * WARP];
#pragma unroll
    for (int u = 0; u < Shape::UNITS; u++) {
        Sample sample[UNIT * CHANNELS];
        memcpy(sample, &read[u], sizeof sample);
        samples_to_pixels<CHANNELS, UNIT>(sample, u * UNIT, p);
    }
}

template <class Shape, int CHANNELS>
static __device__ __forceinline__ void put_units(const struct pixels<Shape::PIXELS> &p,
                                                 unsigned lane, unsigned char *tile)
{
    typedef typename Shape::sample Sample;
    constexpr int UNIT = Shape::UNIT, WORDS = UNIT * CHANNELS * (int)sizeof(Sample) / 4;
    words_of<WORDS> *const to = (words_of<WORDS> *)tile + lane;
#pragma unroll
    for (int u = 0; u < Shape::UNITS; u++) {
        Sample sample[UNIT * CHANNELS];
        words_of<WORDS> made;
        pixels_to_samples<CHANNELS, UNIT>(p, u * UNIT, sample);
        memcpy(&made, sample, sizeof sample);
        to[u * WARP] = made;
    }
}

/* Loads the first `width` pixels of a tile; the others are any. */
template <class Shape, int CHANNELS>
static __device__ __forceinline__ void load_tile(const unsigned char *from, unsigned width,
                                                 unsigned lane, uint4 *shared,
                                                 struct pixels<Shape::PIXELS> *p)
{
    if (CHANNELS != 3 && width == Shape::ALL) {
        take_units<Shape, CHANNELS>(from, lane, p);
        return;
    }
    copy_tile<Shape::VECTORS, uint4>((unsigned char *)shared, from,
                                     width * CHANNELS * (unsigned)sizeof(typename Shape::sample),
                                     lane);
    __syncwarp();
    take_units<Shape, CHANNELS>((const unsigned char *)shared, lane, p);
}

template <class Shape, int CHANNELS>
static __device__ __forceinline__ void store_tile(const struct pixels<Shape::PIXELS> &p,
                                                  unsigned width, unsigned lane, uint4 *shared,
                                                  unsigned char *to)
{
    if (CHANNELS != 3 && width == Shape::ALL) {
        put_units<Shape, CHANNELS>(p, lane, to);
        return;
    }
    __syncwarp();
    put_units<Shape, CHANNELS>(p, lane, (unsigned char *)shared);
    __syncwarp();
    copy_tile<Shape::VECTORS, uint4>(to, (const unsigned char *)shared,
                                     width * CHANNELS * (unsigned)sizeof(typename Shape::sample),
                                     lane);
}

/* Calls function(channels) with 1 .. MOST channels as a compile-time constant. */
template <int MOST, class Function>
static __device__ __forceinline__ void for_channels_within(int channels, const Function &function)
{
    if (MOST == 4 && channels == 4)
        function(constant<4>());
    else if (MOST == 4 && channels == 3)
        function(constant < MOST == 4 ? 3 : 1 > ());
    else if (MOST >= 2 && channels == 2)
        function(constant < MOST == 1 ? 1 : 2 > ());
    else
        function(constant<1>());
}

/* Applies MIX, ADD or FADE. Pixel i is in column x + column_of(i). */
template <int KIND, int PIXELS, class Column>
static __device__ __forceinline__ void
blend_field(const struct program &program, const struct gf_point_op &op, unsigned x, unsigned y,
            const Column &column_of, struct pixels<PIXELS> *p)
{
    const float *const curve =
        (const float *)(program.block + program.field_at + (unsigned)op.d * program.field_bytes);
    const float *const columns = curve + GF_POINT_CURVE_ROOM;
    const float row = columns[program.columns + y];
    const float colour[3] = {op.a, op.b, op.c};
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        const float field = gf_point_field_of(curve, columns[x + column_of(i)], row);
        if (KIND == GF_POINT_FADE)
            p->alpha[i] = gf_float_blend(KIND, p->alpha[i], 0.0f, field);
#pragma unroll
        for (int c = 0; c < 3 && KIND != GF_POINT_FADE; c++)
            p->colour[c][i] = gf_float_blend(KIND, p->colour[c][i], colour[c], field);
    }
}

/* Applies NOISE, likewise. */
template <bool NORMAL, int PIXELS, class Column>
static __device__ __forceinline__ void add_noise(const struct gf_point_op &op, unsigned x,
                                                 unsigned y, int colours, const Column &column_of,
                                                 struct pixels<PIXELS> *p)
{
    const bool same = op.d != 0.0f;
    struct gf_noise noise[PIXELS];
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
        noise[i] = gf_noise_at(x + column_of(i), y, (uint32_t)op.c);
#pragma unroll
    for (int c = 0; c < 3; c++) {
        if (c && colours == 1)
            break;
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            const uint32_t first = noise[i].word[0], own = noise[i].word[c];
            p->colour[c][i] = gf_float_noise(NORMAL, op.a, p->colour[c][i], same ? first : own);
        }
    }
}

/* Returns the first width that has the operation. */
static __host__ __device__ constexpr int width_of(int kind)
{
    if (kind >= GF_POINT_MIX && kind <= GF_POINT_NOISE)
        return FLOATS_PLACED;
    return kind == GF_POINT_POWER || kind == GF_POINT_DECODE || kind == GF_POINT_ENCODE ||
                   kind == GF_POINT_SATURATE || kind == GF_POINT_KEY || kind == GF_POINT_CURVE ||
                   kind == GF_POINT_TABLE3D
               ? FLOATS_ALL
               : FLOATS_SHORT;
}

/* Replaces each colour sample by function(sample, the operation's number for its channel, alpha).
 * LEAVES: but those of the channels whose bit is set in d. Each is tested once for all pixels,
 * whose instructions the compiler then interleaves. */
template <bool LEAVES, int PIXELS, class Function>
static __device__ __forceinline__ void each_float(const struct gf_point_op &op, int colours,
                                                  const Function &function,
                                                  struct pixels<PIXELS> *p)
{
    const float own[3] = {op.a, op.b, op.c};
    const int left = LEAVES ? (int)op.d : 0;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        if (c && colours == 1)
            break;
#pragma unroll
        for (int i = 0; i < PIXELS && !(left >> c & 1); i++)
            p->colour[c][i] = function(p->colour[c][i], own[c], p->alpha[i]);
    }
}

#define FLOAT_SAMPLES_CASE(kind_, name, result) \
    case GF_POINT_##kind_: \
        if (width_of(GF_POINT_##kind_) <= WIDTH) \
            each_float<(GF_POINT_##kind_ <= GF_POINT_POWER)>( \
                op, *colours, \
                [&](float v, float own, float a) { \
                    (void)a, (void)own; \
                    return result; \
                }, \
                p); \
        break;

/* Applies the operations that only FLOATS_ALL has. */
template <int PIXELS>
static __device__ __forceinline__ void apply_long(const struct program &program,
                                                  const struct gf_point_op &op, int *colours,
                                                  struct pixels<PIXELS> *p)
{
    const float *const data = (const float *)(program.block + program.data_at);
    switch (op.kind) {
    case GF_POINT_CURVE:
        each_sample(p, *colours, [&](float v, int c, float) {
            return gf_float_curve(&op, data + (int)op.c + c * ((int)op.d + 2), v);
        });
        break;
    case GF_POINT_SATURATE:
        each_pixel(p, [&](struct gf_rgb v) { return gf_saturate_to(v, op.a, false); });
        break;
    case GF_POINT_KEY:
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            p->alpha[i] *=
                gf_point_key_of(&op, {p->colour[0][i], p->colour[1][i], p->colour[2][i]});
        break;
    case GF_POINT_TABLE3D:
        make_colour(p, colours);
        each_pixel(p, [&](struct gf_rgb v) {
            return gf_float_table3d(&op, (const uint32_t *)data + (int)op.c, v);
        });
        break;
    }
}

/* Applies the operations that depend on the pixel's position. */
template <int PIXELS, class Column>
static __device__ __forceinline__ void
apply_placed(const struct program &program, const struct gf_point_op &op, unsigned x, unsigned y,
             int colours, const Column &column_of, struct pixels<PIXELS> *p)
{
    switch (op.kind) {
    case GF_POINT_MIX:
        blend_field<GF_POINT_MIX>(program, op, x, y, column_of, p);
        break;
    case GF_POINT_ADD:
        blend_field<GF_POINT_ADD>(program, op, x, y, column_of, p);
        break;
    case GF_POINT_FADE:
        blend_field<GF_POINT_FADE>(program, op, x, y, column_of, p);
        break;
    case GF_POINT_NOISE:
        if (op.b != 0.0f)
            add_noise<true>(op, x, y, colours, column_of, p);
        else
            add_noise<false>(op, x, y, colours, column_of, p);
        break;
    }
}

template <int WIDTH, int PIXELS, class Column>
static __device__ __forceinline__ void
apply_floats(const struct program &program, const struct gf_point_op &op, unsigned x, unsigned y,
             int *colours, const Column &column_of, struct pixels<PIXELS> *p)
{
    switch (op.kind) {
        GF_FLOAT_SAMPLES(FLOAT_SAMPLES_CASE)
    case GF_POINT_GRAY:
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            p->colour[0][i] =
                gf_point_gray_of(&op, p->colour[0][i], p->colour[1][i], p->colour[2][i]);
        *colours = 1;
        break;
    case GF_POINT_VIBRANCE:
        each_pixel(p, [&](struct gf_rgb v) { return gf_float_vibrance(&op, v); });
        break;
    case GF_POINT_MATRIX:
        make_colour(p, colours);
        each_pixel(p, [&](struct gf_rgb v) { return gf_float_matrix(&op, v); });
        break;
    case GF_POINT_OPAQUE:
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            p->alpha[i] = 1.0f;
        break;
    default:
        if (WIDTH == FLOATS_ALL)
            apply_long(program, op, colours, p);
        if (WIDTH >= FLOATS_PLACED)
            apply_placed(program, op, x, y, *colours, column_of, p);
    }
}

template <class Sample, int MOST, int WIDTH>
static __global__ void __launch_bounds__(FLOATS_WARPS *WARP, 7 - WIDTH)
    floats_kernel(const __grid_constant__ struct program program)
{
    typedef floats_tile<Sample, MOST> Shape;
    __shared__ uint4 shared[FLOATS_WARPS * Shape::VECTORS * WARP];
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned index = blockIdx.x * FLOATS_WARPS + warp;
    uint4 *const own = shared + warp * (Shape::VECTORS * WARP);
    const struct view_pair &band = program.band;
    early_next();
    early_wait();
    if (index >= (unsigned)band.rows * program.row_tiles)
        return;
    const struct tile tile = tile_of(index, &band, program.row_tiles, Shape::ALL);
    struct pixels<Shape::PIXELS> p;
    int colours = program.in_channels >= 3 ? 3 : 1;
    const unsigned char *const in = band.in + tile.row * band.in_pitch;
    unsigned char *const out = band.out + tile.row * band.out_pitch;
    for_channels_within<MOST>(program.in_channels, [&](auto channels) {
        constexpr int CHANNELS = decltype(channels)::value;
        load_tile<Shape, CHANNELS>(in + (size_t)tile.first * CHANNELS * sizeof(Sample), tile.pixels,
                                   lane, own, &p);
    });
    const auto column_of = [](int i) -> unsigned {
        return (unsigned)(i / Shape::UNIT * (Shape::UNIT * WARP) + i % Shape::UNIT);
    };
#pragma unroll 1
    for (int i = 0; i < program.count; i++)
        apply_floats<WIDTH>(program, program.op[i], tile.first + lane * Shape::UNIT,
                            program.first_row + tile.row, &colours, column_of, &p);
    for_channels_within<MOST>(program.out_channels, [&](auto channels) {
        constexpr int CHANNELS = decltype(channels)::value;
        store_tile<Shape, CHANNELS>(p, tile.pixels, lane, own,
                                    out + (size_t)tile.first * CHANNELS * sizeof(Sample));
    });
}

template <class Sample, int MOST>
static int launch_floats(struct program *program, cudaStream_t stream)
{
    int width = FLOATS_SHORT;
    for (int i = 0; i < program->count; i++)
        width = max(width, width_of(program->op[i].kind));
    program->tile = floats_tile<Sample, MOST>::ALL;
    program->row_tiles = blocks_for((unsigned)program->band.width, program->tile);
    const unsigned blocks =
        blocks_for((unsigned)program->band.rows * program->row_tiles, FLOATS_WARPS);
    const auto kernel = width == FLOATS_SHORT    ? floats_kernel<Sample, MOST, FLOATS_SHORT>
                        : width == FLOATS_PLACED ? floats_kernel<Sample, MOST, FLOATS_PLACED>
                                                 : floats_kernel<Sample, MOST, FLOATS_ALL>;
    return launch_early(kernel, blocks, FLOATS_WARPS * WARP, 0, stream, *program);
}

extern "C" gf_launcher gf_point_cuda;

extern "C" int gf_point_floats_cuda(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    if (((const struct gf_point_program *)stage->constants)->table == GF_POINT_SAMPLES)
        return gf_point_cuda(launch); /* which looks up the bits of halves like 16-bit samples */
    const struct view_pair band = aligned_views(launch);
    const int from = stage->in.channels, to = stage->out.channels, most = from > to ? from : to;
    struct program program;
    if (!band.rows)
        return cudaSuccess;
    fill_program(&program, launch, &band);
    return for_float_type(stage->in, [&](auto sample) -> int {
        typedef decltype(sample) Sample;
        return most == 1   ? launch_floats<Sample, 1>(&program, launch->stream)
               : most == 2 ? launch_floats<Sample, 2>(&program, launch->stream)
                           : launch_floats<Sample, 4>(&program, launch->stream);
    });
}
