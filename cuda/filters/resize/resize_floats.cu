/* Resizing of floats, both passes in one kernel or, where tiles would need many of the same rows,
 * in two. Each output adds its own inputs and no others, since 0 times an infinity is a NaN.
 * Straight RGBA is multiplied by alpha as it is loaded and divided before it is stored, with the
 * roundings of the stages that do so for other filters. */
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

/* A block computes a tile of 32 columns and up to TILE_ROWS rows. It goes down the input in strips
 * of 32 rows, and through each strip from left to right in chunks of floats in shared memory. Each
 * warp adds the chunk to four columns of the first pass, one lane for each row: a weight is the
 * same for all lanes. The finished strip of the first pass goes through shared memory and is added
 * to the results, one lane for each column. With scratch memory the first kernel ends with a strip,
 * which it keeps there for the second one. */
constexpr int TILE = 32, OWN = TILE / WARPS;
constexpr int ROWS_EACH = 6, TILE_ROWS = ROWS_EACH * WARPS; /* rows of a thread and of a tile */
/* The floats in a row of a chunk. When the lanes read four floats each from the same columns, each
 * quarter of the warp accesses every bank once, since 300 / 4 is odd. A chunk has what a tile of
 * RGBA needs that becomes half as wide. */
constexpr int CHUNK = 300;
constexpr int TAPS_MOST = 12;

struct floats_args {
    struct view_pair p;
    int out_width, tile_rows;
    struct axis_tables columns, rows;
    /* For halves: the number and the weights of the inputs of a column that is not at an edge.
     * Column i begins 2 inputs behind column i - 1. */
    int taps;
    float weight[TAPS_MOST];
    /* Scratch memory: rows first .. first + in_rows - 1 of the first pass; NULL: there is none. */
    float *mid;
    size_t mid_floats; /* from one row to the next */
    int first, in_rows;
};

template <class Sample> static __device__ __forceinline__ float rounded(float v)
{
    Sample made;
    store_float(&made, v);
    return float_of(made);
}

/* Converts whole pixels. A colour that alpha has multiplied is divided by it first. */
template <bool TO_LIGHT, int CHANNELS, int COUNT>
static __device__ __forceinline__ void convert_light(float (&v)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        constexpr bool HAS_ALPHA = CHANNELS % 2 == 0;
        const int last = HAS_ALPHA ? i / CHANNELS * CHANNELS + CHANNELS - 1 : COUNT;
        const float alpha = HAS_ALPHA ? v[last % COUNT] : 1.0f;
        const float colour = HAS_ALPHA ? v[i] / alpha : v[i];
        if (i != last && alpha != 0.0f)
            v[i] = (TO_LIGHT ? gf_float_decode(colour) : gf_float_encode(colour)) * alpha;
    }
}

/* The fewest pixels that fill vectors of four floats. */
template <int CHANNELS> struct vectors {
    static constexpr int PIXELS = CHANNELS == 4 ? 1 : CHANNELS == 2 ? 2 : 4;
    static constexpr int FLOATS = PIXELS * CHANNELS;
    static constexpr int CHUNK_PIXELS = CHUNK / FLOATS * PIXELS;
};

template <int COUNT>
static __device__ __forceinline__ void load_floats(const float *from, float (&v)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
        unpack(*(const float4 *)(from + i), v + i);
}

template <int COUNT>
static __device__ __forceinline__ void store_floats(const float (&v)[COUNT], float *to)
{
    if constexpr (COUNT == 4) {
        *(float4 *)to = make_float4(v[0], v[1], v[2], v[3]);
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            to[i] = v[i];
    }
}

/* Loads pixels x .. x1 - 1 of `rows` rows into the chunk; x and x1 are multiples of PIXELS, and
 * floats beyond the picture are 0. */
template <class Sample, int CHANNELS, bool LIGHT>
static __device__ __forceinline__ void load_chunk(const struct floats_args &args, int x, int x1,
                                                  int y, int rows, float (*chunk)[CHUNK])
{
    constexpr int BATCH =
        sizeof(Sample) == 4 || CHANNELS == 3 ? 2 : 4; /* rows whose loads are in flight together */
    const struct view_pair &p = args.p;
    const int warp = threadIdx.x / 32, samples = p.width * CHANNELS;
    for (int n = threadIdx.x % 32; n < (x1 - x) * CHANNELS / 4; n += 32) {
        const int at = x * CHANNELS + 4 * n;
        const unsigned char *const top =
            p.in + (y - p.in_y) * (ptrdiff_t)p.in_pitch + at * sizeof(Sample);
#pragma unroll 1
        for (int row = warp; row < rows; row += BATCH * WARPS) {
            samples_of<Sample, 4> four[BATCH] = {};
#pragma unroll
            for (int k = 0; k < BATCH; k++) {
                const Sample *const from = (const Sample *)(top + (row + k * WARPS) * p.in_pitch);
                if (row + k * WARPS < rows && at + 4 <= samples)
                    four[k] = *(const samples_of<Sample, 4> *)from;
#pragma unroll
                for (int j = 0; CHANNELS < 4 && j < 3; j++) {
                    if (row + k * WARPS < rows && at + 4 > samples && at + j < samples)
                        four[k].sample[j] = from[j];
                }
            }
#pragma unroll
            for (int k = 0; k < BATCH; k++) {
                float v[4];
#pragma unroll
                for (int j = 0; j < 4; j++)
                    v[j] = float_of(four[k].sample[j]);
#pragma unroll
                for (int j = 0; CHANNELS == 4 && p.straight && j < 3; j++)
                    v[j] = rounded<Sample>(v[j] * v[3]);
                if (LIGHT)
                    convert_light<true, CHANNELS>(v);
                if (row + k * WARPS < rows)
                    store_floats(v, &chunk[row + k * WARPS][4 * n]);
            }
        }
    }
}

/* Brings the pixels of `rows` rows into the second-level cache. */
static __device__ __forceinline__ void prefetch(const struct view_pair &p, size_t from, size_t end,
                                                int y, int rows)
{
    constexpr int LINE = 128, EACH = THREADS / TILE;
    const int row = threadIdx.x / EACH;
    const unsigned char *const top = p.in + (y + row - p.in_y) * (ptrdiff_t)p.in_pitch;
    for (size_t at = from + threadIdx.x % EACH * LINE; row < rows && at < end; at += EACH * LINE)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(top + at));
}

/* Adds pixels from .. to - 1 of a row to the sums of a column. `row` and `weight` are those of
 * pixel 0. */
template <int CHANNELS>
static __device__ __forceinline__ void add_pixels(const float *row, const float *weight, int from,
                                                  int to, float (&sum)[CHANNELS])
{
    constexpr int PIXELS = vectors<CHANNELS>::PIXELS;
#pragma unroll 2
    for (int at = from & -PIXELS; at < to; at += PIXELS) {
        float v[PIXELS * CHANNELS];
        load_floats(row + at * CHANNELS, v);
#pragma unroll
        for (int j = 0; j < PIXELS; j++) {
            if (PIXELS > 1 && (at + j < from || at + j >= to))
                continue;
            const float w = __ldg(weight + at + j);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                sum[c] = sum[c] + w * v[j * CHANNELS + c];
        }
    }
}

/* Computes four columns of halves, of which each reads TAPS pixels. `row` is that of pixel 0, and
 * `start` the first pixel of the first column. */
template <int CHANNELS, int TAPS>
static __device__ __forceinline__ void add_halves(const struct floats_args &args, const float *row,
                                                  int start, float (&sum)[OWN][CHANNELS])
{
    constexpr int PIXELS = vectors<CHANNELS>::PIXELS;
    constexpr int OFFSET = -(TAPS / 2 - 1) & (PIXELS - 1); /* start modulo PIXELS */
#pragma unroll
    for (int k = -OFFSET; k < TAPS + 2 * (OWN - 1); k += PIXELS) {
        float v[PIXELS * CHANNELS];
        load_floats(row + (start + k) * CHANNELS, v);
#pragma unroll
        for (int j = 0; j < PIXELS * OWN; j++) {
            const int i = j % OWN, pixel = j / OWN, tap = k + pixel - 2 * i;
#pragma unroll
            for (int c = 0; tap >= 0 && tap < TAPS && c < CHANNELS; c++)
                sum[i][c] = sum[i][c] + args.weight[tap] * v[pixel * CHANNELS + c];
        }
    }
}

/* Adds rows from .. end - 1 of a strip of `pitch` floats a row to results of ROWS adjacent rows.
 * `strip` and weight[r] are those of row 0. */
template <int ROWS, int CHANNELS>
static __device__ __forceinline__ void add_rows(const float *strip, size_t pitch,
                                                const float *const (&weight)[2], int from, int end,
                                                float (*sum)[CHANNELS])
{
    const float *at = strip + from * (ptrdiff_t)pitch, *first = weight[0] + from,
                *second = weight[1] + from;
#pragma unroll 2
    for (int y = from; y < end; y++, at += pitch) {
        float v[CHANNELS];
        if constexpr (CHANNELS == 4) {
            load_floats(at, v);
        } else {
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                v[c] = at[c];
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const float w = __ldg(r ? second++ : first++);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                sum[r][c] = sum[r][c] + w * v[c];
        }
    }
}

/* Adds rows y .. end - 1 of the input, which are the strip, to results `row` and row + 1 of the
 * band, which has `past` of the tile. */
template <int CHANNELS>
static __device__ __forceinline__ void add_strip(const struct floats_args &args, const float *strip,
                                                 size_t pitch, int y, int end, int row, int past,
                                                 float (*sum)[CHANNELS])
{
    int first[2], last[2];
    const float *weight[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int at = args.p.out_y + row + r, start = row + r < past ? args.rows.start[at] : end;
        first[r] = max(start, y);
        last[r] = row + r < past ? min(start + args.rows.count[at], end) : y;
        weight[r] = args.rows.weight + (size_t)at * args.rows.taps - start;
    }
    strip -= y * (ptrdiff_t)pitch;
    add_rows<1>(strip, pitch, weight, first[0], min(last[0], first[1]), sum);
    add_rows<2>(strip, pitch, weight, max(first[0], first[1]), min(last[0], last[1]), sum);
    const float *const below[2] = {weight[1], weight[1]};
    add_rows<1>(strip, pitch, below, max(last[0], first[1]), last[1], sum + 1);
}

template <class Sample, int CHANNELS, bool LIGHT>
static __device__ __forceinline__ void store_pixel(const struct view_pair &p,
                                                   float (&sum)[CHANNELS], Sample *to)
{
    if (LIGHT)
        convert_light<false, CHANNELS>(sum);
    if (CHANNELS == 4 && p.straight) {
        const float alpha = rounded<Sample>(sum[CHANNELS - 1]);
#pragma unroll
        for (int c = 0; c < CHANNELS - 1; c++)
            sum[c] = alpha != 0.0f ? rounded<Sample>(sum[c]) / alpha : 0.0f;
    }
    if constexpr (CHANNELS == 3) {
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            store_float(to + c, sum[c]);
    } else {
        samples_of<Sample, CHANNELS> made;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            store_float(made.sample + c, sum[c]);
        *(samples_of<Sample, CHANNELS> *)to = made;
    }
}

template <class Sample, int CHANNELS, bool LIGHT>
static __global__ void __launch_bounds__(THREADS, LIGHT ? 2 : 3)
    floats_kernel(const __grid_constant__ struct floats_args args)
{
    constexpr int PIXELS = vectors<CHANNELS>::PIXELS, STEP = vectors<CHANNELS>::CHUNK_PIXELS;
    constexpr int PITCH = (TILE + 1) * CHANNELS; /* lanes that write a column use all banks */
    __shared__ __align__(16) float chunk[TILE][CHUNK];
    const struct view_pair &p = args.p;
    const struct tile_origin origin = block_tile(args.out_width, TILE, args.tile_rows);
    const int past = min(origin.row + args.tile_rows, args.mid ? args.in_rows : p.rows);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = origin.x + warp * OWN;
    const int edge = min(origin.x + TILE, args.out_width) - 1;
    const int start = args.columns.start[min(column, edge)];
    int taps = column + OWN - 1 <= edge ? args.taps : 0; /* 0 if a column is at an edge */
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const int at = min(column + i, edge);
        if (args.columns.count[at] != taps || args.columns.start[at] != start + 2 * i)
            taps = 0;
    }
    const int left = args.columns.start[origin.x] & -PIXELS;
    const int right = (args.columns.start[edge] + args.columns.count[edge] + PIXELS - 1) & -PIXELS;
    const int last = p.out_y + past - 1;
    const int bottom = args.mid ? args.first + past : args.rows.start[last] + args.rows.count[last];
    float result[ROWS_EACH][CHANNELS] = {};
    for (int y = args.mid ? args.first + origin.row : args.rows.start[p.out_y + origin.row];
         y < bottom; y += TILE) {
        const int rows = min(TILE, bottom - y);
        float sum[OWN][CHANNELS] = {};
        for (int x = left; x < right; x += STEP) {
            const int x1 = min(x + STEP, right);
            const float *const row = chunk[lane] - x * CHANNELS;
            __syncthreads();
            load_chunk<Sample, CHANNELS, LIGHT>(args, x, x1, y, rows, chunk);
            __syncthreads();
            if (taps == 2) {
                add_halves<CHANNELS, 2>(args, row, start, sum);
            } else if (taps == 4) {
                add_halves<CHANNELS, 4>(args, row, start, sum);
            } else if (taps == 8) {
                add_halves<CHANNELS, 8>(args, row, start, sum);
            } else if (taps == 12) {
                add_halves<CHANNELS, 12>(args, row, start, sum);
            } else {
#pragma unroll
                for (int i = 0; i < OWN; i++) {
                    const int at = min(column + i, edge), own = __ldg(args.columns.start + at);
                    add_pixels<CHANNELS>(
                        row, args.columns.weight + (size_t)at * args.columns.taps - own,
                        max(own, x), min(own + __ldg(args.columns.count + at), x1), sum[i]);
                }
            }
        }
        prefetch(p, (size_t)left * CHANNELS * sizeof(Sample),
                 (size_t)min(right, p.width) * CHANNELS * sizeof(Sample), y + TILE,
                 min(TILE, bottom - y - TILE));
        if (args.mid) {
            float *const to = args.mid + (origin.row + lane) * args.mid_floats + column * CHANNELS;
#pragma unroll
            for (int i = 0; i < OWN; i++) {
                if (lane < rows && column + i <= edge)
                    store_floats(sum[i], to + i * CHANNELS);
            }
            return;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < OWN; i++)
            store_floats(sum[i], &chunk[0][0] + lane * PITCH + (warp * OWN + i) * CHANNELS);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ROWS_EACH; k += 2)
            add_strip<CHANNELS>(args, &chunk[0][0] + lane * CHANNELS, PITCH, y, y + rows,
                                origin.row + k * WARPS + 2 * warp, past, result + k);
    }
#pragma unroll
    for (int k = 0; k < ROWS_EACH; k++) {
        const int row = origin.row + k / 2 * 2 * WARPS + 2 * warp + k % 2;
        if (row < past && origin.x + lane <= edge)
            store_pixel<Sample, CHANNELS, LIGHT>(
                p, result[k], (Sample *)(p.out + row * p.out_pitch) + (origin.x + lane) * CHANNELS);
    }
}

/* Makes two rows of the result, one lane for each column. */
template <class Sample, int CHANNELS, bool LIGHT>
static __global__ void __launch_bounds__(THREADS)
    floats_rows_kernel(const __grid_constant__ struct floats_args args)
{
    const struct view_pair &p = args.p;
    const struct tile_origin origin = block_tile(args.out_width, TILE, 2 * WARPS);
    const int x = origin.x + threadIdx.x % 32, row = origin.row + 2 * (threadIdx.x / 32);
    float result[2][CHANNELS] = {};
    if (x >= args.out_width || row >= p.rows)
        return;
    add_strip<CHANNELS>(args, args.mid + x * CHANNELS, args.mid_floats, args.first,
                        args.first + args.in_rows, row, p.rows, result);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        if (row + r < p.rows)
            store_pixel<Sample, CHANNELS, LIGHT>(
                p, result[r], (Sample *)(p.out + (row + r) * p.out_pitch) + x * CHANNELS);
    }
}

/* The nearest pixels of straight RGBA, and others of 12 or 16 bytes. A thread copies a Unit, of
 * which a pixel has UNITS, in some rows. RGBA whose colour is multiplied and divided by alpha can
 * lose its last bits. */
constexpr int PICKED_ROWS = 4;

template <class Sample, class Unit>
static __device__ __forceinline__ void through_alpha(const struct view_pair &p, Unit *unit)
{
    Sample *const sample = (Sample *)unit;
    float v[4];
#pragma unroll
    for (int c = 0; c < 4; c++)
        v[c] = rounded<Sample>(float_of(sample[c]) * (c < 3 ? float_of(sample[3]) : 1.0f));
    store_pixel<Sample, 4, false>(p, v, sample);
}

template <class Sample, class Unit, int UNITS>
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
        if constexpr (sizeof(Unit) == 4 * sizeof(Sample)) {
            if (p.straight)
                through_alpha<Sample>(p, &unit[i]);
        }
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
    if (bytes <= 8 && !args.p.straight)
        return gf_resize_pick(args, bytes, stream);
    const int units = bytes == 12 ? 3 : 1;
    const auto kernel = bytes == 8    ? pick_units_kernel<__half, uint2, 1>
                        : bytes == 16 ? pick_units_kernel<float, uint4, 1>
                                      : pick_units_kernel<float, unsigned, 3>;
    kernel<<<tile_blocks(format.width * units, args.p.rows, THREADS, PICKED_ROWS), THREADS, 0,
             stream>>>(args);
    return cudaGetLastError();
}

static struct axis_tables tables_of(const void *block, const struct gf_resample_table *table)
{
    return {gf_resample_ints(block, table->start), gf_resample_ints(block, table->count),
            gf_resample_floats(block, table->weight), table->taps};
}

/* Finds the weights of halves, where all columns that are not at an edge have the same. */
static void find_taps(const struct gf_resample *resample, struct floats_args *args)
{
    const struct axis_tables columns = tables_of(resample, &resample->columns);
    const int middle = args->out_width / 2;
    if (resample->column_axis.scale != 2 || resample->column_axis.offset ||
        columns.count[middle] != columns.taps || columns.taps > TAPS_MOST ||
        columns.start[middle] != 2 * middle - (columns.taps / 2 - 1))
        return;
    args->taps = columns.taps;
    for (int k = 0; k < columns.taps; k++)
        args->weight[k] = columns.weight[(size_t)middle * columns.taps + k];
}

/* Chooses the height of tiles by the strips of a tile, of which the last one is seldom full, and by
 * how many tiles each place for a block gets. */
static int best_tile_rows(const struct gf_resample *resample, int across, int rows, int places)
{
    int best = 1;
    double best_cost = INFINITY;
    for (int n = 1; n <= TILE_ROWS; n++) {
        const double strips =
            ceil(((n - 1) * resample->row_axis.scale + resample->rows.taps) / TILE);
        const double tiles = (double)across * ceil_div(rows, n) / places;
        const double cost = fmax(tiles, 1) * strips;
        if (cost < best_cost) {
            best_cost = cost;
            best = n;
        }
    }
    return best;
}

template <class Sample, bool LIGHT>
static int launch_floats(struct floats_args args, const struct gf_resample *resample,
                         cudaStream_t stream)
{
    const int width = args.out_width, rows = args.p.rows;
    return for_channels(args.p.channels, [&](auto channels) -> int {
        constexpr int CHANNELS = decltype(channels)::value;
        const auto kernel = floats_kernel<Sample, CHANNELS, LIGHT>;
        unsigned places;
        LAUNCH_TRY(resident_blocks((const void *)kernel, THREADS, 0, ~0u, &places));
        args.tile_rows =
            args.mid ? TILE : best_tile_rows(resample, ceil_div(width, TILE), rows, (int)places);
        kernel<<<tile_blocks(width, args.mid ? args.in_rows : rows, TILE, args.tile_rows), THREADS,
                 0, stream>>>(args);
        if (args.mid)
            floats_rows_kernel<Sample, CHANNELS, LIGHT>
                <<<tile_blocks(width, rows, TILE, 2 * WARPS), THREADS, 0, stream>>>(args);
        return cudaGetLastError();
    });
}

extern "C" int gf_resize_floats_cuda(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    const struct gf_format format = launch->out.format;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    struct floats_args args = {};
    int end;
    if (resample->kernel == GF_RESAMPLE_NEAREST)
        return pick_floats(launch, resample);
    args.p = view_pair_of(launch, 0);
    args.out_width = format.width;
    args.columns = tables_of(launch->constants, &resample->columns);
    args.rows = tables_of(launch->constants, &resample->rows);
    find_taps(resample, &args);
    if (gf_resample_has_mid(&resample->row_axis)) {
        gf_stage_input_rows(launch->stage, launch->out.y, launch->out.y + launch->out.rows,
                            &args.first, &end);
        args.in_rows = end - args.first;
        args.mid = (float *)launch->scratch;
        args.mid_floats = gf_resample_mid_pitch(format) / sizeof(float);
    }
    return for_float_type(format, [&](auto sample) -> int {
        return resample->linear ? launch_floats<decltype(sample), true>(args, resample, stream)
                                : launch_floats<decltype(sample), false>(args, resample, stream);
    });
}
