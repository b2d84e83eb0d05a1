/* Resizing of floats. The first kernel makes rows of the result's width in scratch memory, and the
 * second one adds them. Each output adds its own inputs and no others, since 0 times an infinity is
 * a NaN. */
#include "cuda/common/floats.cuh"
#include "cuda/filters/resize/resize.cuh"
#include "pixel/point/point_floats.h"

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

/* The tables of an axis, as in struct gf_resample_table. */
struct axis_tables {
    const int *start, *count;
    const float *weight;
    int taps;
};

struct floats_args {
    struct view_pair p;
    int out_width, first; /* `first` is the input row in the first row of scratch memory */
    unsigned char *mid;
    size_t mid_pitch;
    struct axis_tables columns, rows;
};

/* Converts four samples, from a multiple of four on. A colour that alpha has multiplied is divided
 * by it first. */
template <bool TO_LIGHT>
static __device__ __forceinline__ void convert_light(int channels, float v[4])
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float alpha = channels == 4 ? v[3] : channels == 2 ? v[i | 1] : 1.0f;
        const bool is_alpha = channels % 2 == 0 && i % channels == channels - 1;
        const float colour = channels % 2 == 0 ? v[i] / alpha : v[i];
        if (!is_alpha && alpha != 0.0f)
            v[i] = (TO_LIGHT ? gf_float_decode(colour) : gf_float_encode(colour)) * alpha;
    }
}

/* The columns. A block computes a tile of 32 columns of 32 input rows, through which it goes from
 * left to right in chunks of floats in shared memory. Each warp adds the chunk to four columns, one
 * lane for each row: a weight is the same for all lanes. When the lanes read four floats each from
 * the same columns, each quarter of the warp accesses every bank once, since 252 / 4 is odd. */
constexpr int TILE = 32, CHUNK = 252, OWN = TILE / WARPS;

/* Loads pixels x .. x1 - 1 of `rows` rows into the chunk; x and x1 are multiples of 4, and floats
 * beyond the picture are 0. */
template <class Sample, int CHANNELS, bool LIGHT>
static __device__ __forceinline__ void load_chunk(const struct floats_args &args, int x, int x1,
                                                  int y, int rows, float (*chunk)[CHUNK])
{
    constexpr int EACH = TILE / WARPS;
    const struct view_pair &p = args.p;
    const int warp = threadIdx.x / 32, samples = p.width * CHANNELS;
    const unsigned char *const top = p.in + (y + warp - p.in_y) * (ptrdiff_t)p.in_pitch;
    for (int i = threadIdx.x % 32; i < (x1 - x) * CHANNELS / 4; i += 32) {
        const int at = x * CHANNELS + 4 * i;
        samples_of<Sample, 4> four[EACH] = {};
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const Sample *const from = (const Sample *)(top + k * WARPS * p.in_pitch) + at;
            if (warp + k * WARPS < rows && at + 4 <= samples)
                four[k] = *(const samples_of<Sample, 4> *)from;
#pragma unroll
            for (int j = 0; j < 3; j++) {
                if (warp + k * WARPS < rows && at + 4 > samples && at + j < samples)
                    four[k].sample[j] = from[j];
            }
        }
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            float v[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                v[j] = float_of(four[k].sample[j]);
            if (LIGHT)
                convert_light<true>(CHANNELS, v);
            *(float4 *)&chunk[warp + k * WARPS][4 * i] = make_float4(v[0], v[1], v[2], v[3]);
        }
    }
}

/* Adds pixels from .. to - 1 of a row to the sums of a column. `row` and `weight` are those of
 * pixel 0. */
template <int CHANNELS>
static __device__ __forceinline__ void add_pixels(const float *row, const float *weight, int from,
                                                  int to, float (&sum)[CHANNELS])
{
#pragma unroll 2
    for (int at = from & ~3; at < to; at += 4) {
        float v[4 * CHANNELS];
#pragma unroll
        for (int i = 0; i < CHANNELS; i++)
            unpack(((const float4 *)(row + at * CHANNELS))[i], v + 4 * i);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (at + j < from || at + j >= to)
                continue;
            const float w = __ldg(weight + at + j);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                sum[c] = sum[c] + w * v[j * CHANNELS + c];
        }
    }
}

template <class Sample, int CHANNELS, bool LIGHT>
static __global__ void __launch_bounds__(THREADS, 3)
    floats_columns_kernel(const __grid_constant__ struct floats_args args, int rows)
{
    constexpr int CHUNK_PIXELS = CHUNK / CHANNELS / 4 * 4;
    constexpr int PITCH = TILE * CHANNELS + 1; /* odd, for lanes that write a column */
    __shared__ __align__(16) float chunk[TILE][CHUNK];
    const struct tile_origin origin = block_tile(args.out_width, TILE, TILE);
    const int lines = min(TILE, rows - origin.row), y = args.first + origin.row;
    const int lane = threadIdx.x % 32, column = origin.x + threadIdx.x / 32 * OWN;
    const int last = min(origin.x + TILE, args.out_width) - 1;
    int start[OWN], end[OWN];
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const bool is_inside = column + i <= last;
        start[i] = is_inside ? args.columns.start[column + i] : 0;
        end[i] = is_inside ? start[i] + args.columns.count[column + i] : 0;
    }
    const int left = args.columns.start[origin.x] & ~3;
    const int right = (args.columns.start[last] + args.columns.count[last] + 3) & ~3;
    float sum[OWN][CHANNELS] = {};
    for (int x = left; x < right; x += CHUNK_PIXELS) {
        const int x1 = min(x + CHUNK_PIXELS, right);
        __syncthreads();
        load_chunk<Sample, CHANNELS, LIGHT>(args, x, x1, y, lines, chunk);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < OWN; i++)
            add_pixels<CHANNELS>(chunk[lane] - x * CHANNELS,
                                 args.columns.weight + (size_t)(column + i) * args.columns.taps -
                                     start[i],
                                 max(start[i], x), min(end[i], x1), sum[i]);
    }
    __syncthreads();
    float *const made = &chunk[0][0];
#pragma unroll
    for (int i = 0; i < OWN * CHANNELS; i++)
        made[lane * PITCH + (column - origin.x) * CHANNELS + i] = sum[i / CHANNELS][i % CHANNELS];
    __syncthreads();
    for (int i = threadIdx.x; i < lines * TILE * CHANNELS / 4; i += THREADS) {
        const int row = i / (TILE * CHANNELS / 4), at = 4 * (i % (TILE * CHANNELS / 4));
        const float *const from = made + row * PITCH + at;
        /* Rows of scratch memory have room for the rest of a vector. */
        if (origin.x * CHANNELS + at < args.out_width * CHANNELS)
            *(float4 *)(args.mid + (origin.row + row) * args.mid_pitch +
                        (origin.x * CHANNELS + at) * sizeof(float)) =
                make_float4(from[0], from[1], from[2], from[3]);
    }
}

/* The rows. A thread adds four neighbouring samples of a row of the result. */
constexpr int LINES = WARPS; /* rows of a block, which share most of their inputs */

template <class Sample, bool LIGHT>
static __global__ void __launch_bounds__(THREADS)
    floats_rows_kernel(const __grid_constant__ struct floats_args args)
{
    const struct view_pair &p = args.p;
    const int samples = args.out_width * p.channels;
    const struct tile_origin origin = block_tile(samples, 4 * 32, LINES);
    const int at = origin.x + 4 * (int)(threadIdx.x % 32);
    const int row = origin.row + (int)(threadIdx.x / 32), y = p.out_y + row;
    if (at >= samples || row >= p.rows)
        return;
    const int count = args.rows.count[y];
    const float *const weight = args.rows.weight + (size_t)y * args.rows.taps;
    const unsigned char *from = args.mid +
                                (args.rows.start[y] - args.first) * (ptrdiff_t)args.mid_pitch +
                                at * sizeof(float);
    float sum[4] = {};
#pragma unroll 6
    for (int k = 0; k < count; k++, from += args.mid_pitch) {
        const float w = __ldg(weight + k);
        float v[4];
        unpack(__ldg((const float4 *)from), v);
#pragma unroll
        for (int i = 0; i < 4; i++)
            sum[i] = sum[i] + w * v[i];
    }
    if (LIGHT)
        convert_light<false>(p.channels, sum);
    samples_of<Sample, 4> made;
#pragma unroll
    for (int i = 0; i < 4; i++)
        store_float(made.sample + i, sum[i]);
    Sample *const to = (Sample *)(p.out + row * p.out_pitch) + at;
    if (at + 4 <= samples) {
        *(samples_of<Sample, 4> *)to = made;
        return;
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        if (at + i < samples)
            to[i] = made.sample[i];
    }
}

/* The nearest pixels of 12 or 16 bytes. A thread copies a Unit, of which a pixel has UNITS, in some
 * rows. */
constexpr int PICKED_ROWS = 4;

template <class Unit, int UNITS>
static __global__ void __launch_bounds__(THREADS)
    pick_units_kernel(const __grid_constant__ struct resize_args args)
{
    const struct view_pair &p = args.p;
    const struct tile_origin origin = block_tile(args.out_width * UNITS, THREADS, PICKED_ROWS);
    const int at = origin.x + (int)threadIdx.x, pixel = (unsigned)at / UNITS;
    if (pixel >= args.out_width)
        return;
    const int from = __ldg(args.column_start + pixel) * UNITS + at % UNITS;
    Unit unit[PICKED_ROWS];
#pragma unroll
    for (int i = 0; i < PICKED_ROWS; i++) {
        const int y = __ldg(args.row_start + p.out_y + min(origin.row + i, p.rows - 1));
        unit[i] = __ldg((const Unit *)(p.in + (y - p.in_y) * (ptrdiff_t)p.in_pitch) + from);
    }
#pragma unroll
    for (int i = 0; i < PICKED_ROWS; i++) {
        if (origin.row + i < p.rows)
            ((Unit *)(p.out + (origin.row + i) * p.out_pitch))[at] = unit[i];
    }
}

static int pick_floats(const struct gf_launch *launch, const struct gf_resample *resample)
{
    const struct gf_format format = launch->out.format;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    const int bytes = format.channels * format.bits / 8;
    struct resize_args args = {};
    args.p = view_pair_of(launch, 0);
    args.out_width = format.width;
    args.column_start = gf_resample_ints(launch->constants, resample->columns.start);
    args.row_start = gf_resample_ints(launch->constants, resample->rows.start);
    if (bytes <= 8)
        return gf_resize_pick(args, bytes, stream);
    const int units = bytes == 16 ? 1 : 3;
    const auto kernel = bytes == 16 ? pick_units_kernel<uint4, 1> : pick_units_kernel<unsigned, 3>;
    kernel<<<tile_blocks(format.width * units, args.p.rows, THREADS, PICKED_ROWS), THREADS, 0,
             stream>>>(args);
    return cudaGetLastError();
}

static struct axis_tables tables_of(const void *block, const struct gf_resample_table *table)
{
    return {gf_resample_ints(block, table->start), gf_resample_ints(block, table->count),
            gf_resample_floats(block, table->weight), table->taps};
}

template <class Sample, bool LIGHT>
static int launch_passes(const struct floats_args &args, int in_rows, cudaStream_t stream)
{
    const struct view_pair &p = args.p;
    LAUNCH_TRY(for_channels(p.channels, [&](auto channels) {
        floats_columns_kernel<Sample, decltype(channels)::value, LIGHT>
            <<<tile_blocks(args.out_width, in_rows, TILE, TILE), THREADS, 0, stream>>>(args,
                                                                                       in_rows);
        return (int)cudaGetLastError();
    }));
    floats_rows_kernel<Sample, LIGHT>
        <<<tile_blocks(args.out_width * p.channels, p.rows, 4 * 32, LINES), THREADS, 0, stream>>>(
            args);
    return cudaGetLastError();
}

extern "C" int gf_resize_floats_cuda(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    const struct gf_format format = launch->out.format;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    if (resample->kernel == GF_RESAMPLE_NEAREST)
        return pick_floats(launch, resample);
    int first, end;
    gf_stage_input_rows(launch->stage, launch->out.y, launch->out.y + launch->out.rows, &first,
                        &end);
    struct floats_args args = {};
    args.p = view_pair_of(launch, 0);
    args.out_width = format.width;
    args.first = first;
    args.mid = (unsigned char *)launch->scratch;
    args.mid_pitch = gf_resample_mid_pitch(format);
    args.columns = tables_of(launch->constants, &resample->columns);
    args.rows = tables_of(launch->constants, &resample->rows);
    return for_float_type(format, [&](auto sample) -> int {
        return resample->linear ? launch_passes<decltype(sample), true>(args, end - first, stream)
                                : launch_passes<decltype(sample), false>(args, end - first, stream);
    });
}
