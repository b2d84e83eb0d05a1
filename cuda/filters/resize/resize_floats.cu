/* Resizing of floats, both passes in one kernel or, where tiles would need many of the same rows,
 * in two. Each output adds its own inputs and no others, since 0 times an infinity is a NaN.
 * Straight RGBA is multiplied by alpha as it is loaded and divided before it is stored, with the
 * roundings of the stages that do so for other filters. */
#include <cuda_pipeline_primitives.h>
#include <type_traits>

#include "cuda/common/straight_floats.cuh"
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

/* A block computes a tile of 32 columns. It goes down the input in strips of 32 rows, and through
 * each strip from left to right in chunks in shared memory. Each warp adds the chunk to four
 * columns of the first pass, one lane for each row: a weight is the same for all lanes. While the
 * next chunk is on its way, the finished strip goes to a ring of rows, from which the warps make
 * all rows of the result that it completes, one lane for each column. With scratch memory the first
 * kernel ends with a strip, which it keeps there for the second one. */
constexpr int TILE = 32, OWN = TILE / WARPS;
constexpr int RING = 2 * TILE; /* rows; two adjacent rows of the result need at most 30 */
constexpr int TAPS_MOST = 12, TILES_MOST = 256; /* tiles one below the other */

/* Chunks have the picture's samples or, if those are converted to linear light, floats. When the
 * lanes read 16 bytes each from the same columns, each quarter of the warp accesses every bank
 * once, since a row has an odd number of such pieces. A chunk has what a tile of RGBA needs
 * that becomes half as wide. PIXELS is the fewest pixels that fill pieces of EACH samples. */
template <class Sample, int CHANNELS, bool LIGHT> struct chunk_shape {
    typedef typename std::conditional<LIGHT, float, Sample>::type type;
    static constexpr int PITCH = sizeof(type) == 2 ? 312 : 308;
    static constexpr int EACH = 16 / sizeof(Sample);
    static constexpr int PIXELS = CHANNELS == 3 ? EACH : EACH / CHANNELS;
    static constexpr int STEP = PITCH / (PIXELS * CHANNELS) * PIXELS; /* pixels of a chunk */
    static constexpr int RING_PITCH = (TILE + 1) * CHANNELS; /* lanes write a column to all banks */
    static constexpr int BYTES = TILE * PITCH * sizeof(type) + RING * RING_PITCH * sizeof(float);
};

struct floats_args {
    struct view_pair p;
    int out_width, tile_rows;
    struct axis_tables columns, rows;
    /* For halves: the number and the weights of the inputs of a column, or a row, that is not at an
     * edge. Column i begins 2 inputs behind column i - 1. */
    int taps, row_taps;
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

/* Converts a pixel to floats and multiplies its colour by alpha, or by 1 if it is not straight: a
 * branch for each pixel would cost more. */
static __device__ __forceinline__ void multiplied(const __half *four, bool straight, float v[4])
{
    const unsigned last = ((const unsigned *)four)[1], one = 0x3C003C00u;
    const unsigned factor[2] = {__byte_perm(last, one, straight ? 0x3232 : 0x5454),
                                __byte_perm(last, one, straight ? 0x5432 : 0x5454)};
    __half2 pair[2];
#pragma unroll
    for (int i = 0; i < 2; i++)
        pair[i] = __hmul2(((const __half2 *)four)[i], ((const __half2 *)factor)[i]);
    floats_of_four((const __half *)pair, false, v);
}

static __device__ __forceinline__ void multiplied(const float *four, bool straight, float v[4])
{
    const float alpha = straight ? four[3] : 1.0f;
#pragma unroll
    for (int j = 0; j < 4; j++)
        v[j] = j < 3 ? four[j] * alpha : four[j];
}

/* Loads samples as floats, in pieces of 16 bytes if there are so many. */
template <bool RGBA, int COUNT, class Sample>
static __device__ __forceinline__ void load_floats(const Sample *from, bool straight,
                                                   float (&v)[COUNT])
{
    constexpr int EACH = COUNT % (16 / sizeof(Sample)) ? 1 : 16 / sizeof(Sample);
#pragma unroll
    for (int i = 0; i < COUNT; i += EACH) {
        const samples_of<Sample, EACH> piece = *(const samples_of<Sample, EACH> *)(from + i);
#pragma unroll
        for (int j = 0; j < EACH; j += 4) {
            if constexpr (EACH == 1)
                v[i] = float_of(piece.sample[0]);
            else if constexpr (RGBA)
                multiplied(piece.sample + j, straight, v + i + j);
            else
                floats_of_four(piece.sample + j, false, v + i + j);
        }
    }
}

template <int COUNT>
static __device__ __forceinline__ void store_floats(const float (&v)[COUNT], float *to)
{
    if constexpr (COUNT % 4 == 0) {
#pragma unroll
        for (int i = 0; i < COUNT; i += 4)
            *(float4 *)(to + i) = make_float4(v[i], v[i + 1], v[i + 2], v[i + 3]);
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            to[i] = v[i];
    }
}

/* Calls function(at, to, row) for each piece of 16 bytes that the thread copies: EACH samples from
 * sample `at` of row `row` of the chunk on. `to` is the end of its place. */
template <class Sample, class Stored, int PITCH, class Function>
static __device__ __forceinline__ void for_pieces(int samples, int rows, Stored (*chunk)[PITCH],
                                                  const Function &function)
{
    constexpr int EACH = 16 / sizeof(Sample), LANES = THREADS / TILE;
    const int row = threadIdx.x / LANES;
    if (row >= rows)
        return;
#pragma unroll 2
    for (int at = threadIdx.x % LANES * EACH; at < samples; at += LANES * EACH)
        function(at, (Sample *)(chunk[row] + at + EACH) - EACH, row);
}

/* Starts to copy pixels x .. x1 - 1 of `rows` rows to the chunk; x and x1 are multiples of PIXELS,
 * and samples beyond the picture are 0. */
template <class Sample, int CHANNELS, class Stored, int PITCH>
static __device__ __forceinline__ void start_chunk(const struct view_pair &p, int x, int x1, int y,
                                                   int rows, Stored (*chunk)[PITCH])
{
    constexpr int EACH = 16 / sizeof(Sample);
    const int inside = (p.width - x) * CHANNELS;
    const unsigned char *const top =
        p.in + (y - p.in_y) * (ptrdiff_t)p.in_pitch + x * (ptrdiff_t)(CHANNELS * sizeof(Sample));
    for_pieces<Sample>((x1 - x) * CHANNELS, rows, chunk, [&](int at, Sample *to, int row) {
        const Sample *const from = (const Sample *)(top + row * p.in_pitch) + at;
        if (at + EACH <= inside) {
            __pipeline_memcpy_async(to, from, 16);
        } else {
#pragma unroll 1
            for (int j = 0; j < EACH; j++)
                to[j] = at + j < inside ? from[j] : Sample();
        }
    });
    __pipeline_commit();
}

/* Waits for the thread's copies and converts them to linear light, which takes the place of the
 * samples. */
template <class Sample, int CHANNELS, bool LIGHT, class Stored, int PITCH>
static __device__ __forceinline__ void finish_chunk(const struct view_pair &p, int samples,
                                                    int rows, Stored (*chunk)[PITCH])
{
    __pipeline_wait_prior(0);
    if constexpr (LIGHT)
        for_pieces<Sample>(samples, rows, chunk, [&](int at, const Sample *from, int row) {
            float v[16 / sizeof(Sample)];
            load_floats<CHANNELS == 4>(from, p.straight, v);
            convert_light<true, CHANNELS>(v);
            store_floats(v, chunk[row] + at);
        });
}

/* Adds pixels from .. to - 1 of a row to the sums of a column. `row` and `weight` are those of
 * pixel 0. */
template <bool LIGHT, int PIXELS, int CHANNELS, class Stored>
static __device__ __forceinline__ void add_pixels(const Stored *row, bool straight,
                                                  const float *weight, int from, int to,
                                                  float (&sum)[CHANNELS])
{
#pragma unroll 2
    for (int at = from & -PIXELS; at < to; at += PIXELS) {
        float v[PIXELS * CHANNELS];
        load_floats<CHANNELS == 4 && !LIGHT>(row + at * CHANNELS, straight, v);
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

/* Computes adjacent columns, or rows, of halves, of which each reads TAPS inputs. load(k, v) loads
 * PIXELS inputs from the k-th one of the first column on. */
template <int PIXELS, int TAPS, int COUNT, int CHANNELS, class Load>
static __device__ __forceinline__ void add_halves(const struct floats_args &args,
                                                  float (&sum)[COUNT][CHANNELS], const Load &load)
{
    constexpr int OFFSET = -(TAPS / 2 - 1) & (PIXELS - 1); /* of the first input in its piece */
#pragma unroll
    for (int k = -OFFSET; k < TAPS + 2 * (COUNT - 1); k += PIXELS) {
        float v[PIXELS * CHANNELS];
        load(k, v);
#pragma unroll
        for (int j = 0; j < PIXELS * COUNT; j++) {
            const int i = j % COUNT, pixel = j / COUNT, tap = k + pixel - 2 * i;
#pragma unroll
            for (int c = 0; tap >= 0 && tap < TAPS && c < CHANNELS; c++)
                sum[i][c] = sum[i][c] + args.weight[tap] * v[pixel * CHANNELS + c];
        }
    }
}

/* Calls function(n) if halves have kernels for so many inputs. */
template <class Function>
static __device__ __forceinline__ bool for_taps(int taps, const Function &function)
{
    if (taps == 2)
        function(constant<2>());
    else if (taps == 4)
        function(constant<4>());
    else if (taps == 8)
        function(constant<8>());
    else if (taps == 12)
        function(constant<12>());
    else
        return false;
    return true;
}

/* Adds rows from .. end - 1 to results of ROWS adjacent rows. weight[r] is that of row 0. */
template <int ROWS, int CHANNELS, class Load>
static __device__ __forceinline__ void add_rows(const float *const (&weight)[2], int from, int end,
                                                float (*sum)[CHANNELS], const Load &load)
{
#pragma unroll 2
    for (int y = from; y < end; y++) {
        float v[CHANNELS];
        load(y, v);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const float w = __ldg(weight[r] + y);
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                sum[r][c] = sum[r][c] + w * v[c];
        }
    }
}

template <class Sample, int CHANNELS, bool LIGHT>
static __device__ __forceinline__ void store_pixel(const struct view_pair &p,
                                                   float (&sum)[CHANNELS], Sample *to)
{
    if (LIGHT)
        convert_light<false, CHANNELS>(sum);
    if constexpr (CHANNELS == 4) {
        if (p.straight) {
            round_four<Sample>(sum);
#pragma unroll
            for (int c = 0; c < 3; c++)
                sum[c] = straight_sample<Sample>(sum[c], sum[3]);
        }
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

/* Makes rows `row` and row + 1 of the band, if that is less than `past`, in column x. Row y of the
 * first pass is row y & mask of the strip. */
template <class Sample, int CHANNELS, bool LIGHT>
static __device__ __forceinline__ void make_rows(const struct floats_args &args, const float *strip,
                                                 ptrdiff_t pitch, int mask, int x, int row,
                                                 int past)
{
    const struct view_pair &p = args.p;
    int first[2], last[2];
    const float *weight[2];
    float sum[2][CHANNELS] = {};
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int at = p.out_y + min(row + r, past - 1);
        first[r] = __ldg(args.rows.start + at);
        last[r] = first[r] + __ldg(args.rows.count + at);
        weight[r] = args.rows.weight + (size_t)at * args.rows.taps - first[r];
    }
    const auto load = [&](int y, float(&v)[CHANNELS]) {
        load_floats<false>(strip + (y & mask) * pitch, false, v);
    };
    const bool halves = last[0] - first[0] == args.row_taps &&
                        last[1] - first[1] == args.row_taps && first[1] == first[0] + 2;
    if (!for_taps(halves ? args.row_taps : 0, [&](auto taps) {
            add_halves<1, decltype(taps)::value>(
                args, sum, [&](int k, float(&v)[CHANNELS]) { load(first[0] + k, v); });
        })) {
        const float *const below[2] = {weight[1], weight[1]};
        add_rows<1>(weight, first[0], min(last[0], first[1]), sum, load);
        add_rows<2>(weight, first[1], last[0], sum, load);
        add_rows<1>(below, max(last[0], first[1]), last[1], sum + 1, load);
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        if (row + r < past && x < args.out_width)
            store_pixel<Sample, CHANNELS, LIGHT>(
                p, sum[r], (Sample *)(p.out + (row + r) * p.out_pitch) + x * CHANNELS);
    }
}

template <class Sample, int CHANNELS, bool LIGHT>
static __global__ void __launch_bounds__(THREADS, LIGHT                 ? 2
                                                  : sizeof(Sample) == 2 ? 4
                                                                        : 3)
    floats_kernel(const __grid_constant__ struct floats_args args)
{
    typedef chunk_shape<Sample, CHANNELS, LIGHT> shape;
    constexpr int PIXELS = shape::PIXELS, STEP = shape::STEP, PITCH = shape::RING_PITCH;
    typedef typename shape::type stored;
    extern __shared__ uint4 shared[];
    float *const ring = (float *)shared;
    stored(*const chunk)[shape::PITCH] = (stored(*)[shape::PITCH])(ring + RING * PITCH);
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
    const int top = args.mid ? args.first + origin.row : args.rows.start[p.out_y + origin.row];
    const int bottom = args.mid ? args.first + past : args.rows.start[last] + args.rows.count[last];
    const auto copy = [&](int x, int y) {
        start_chunk<Sample, CHANNELS>(p, x, min(x + STEP, right), y, min(TILE, bottom - y), chunk);
    };
    int row = origin.row + 2 * warp; /* the next two rows of the result that the warp makes */
    copy(left, top);
    for (int y = top; y < bottom; y += TILE) {
        const int rows = min(TILE, bottom - y);
        float sum[OWN][CHANNELS] = {};
        for (int x = left; x < right; x += STEP) {
            const int x1 = min(x + STEP, right);
            const stored *const from = chunk[lane] - x * CHANNELS;
            finish_chunk<Sample, CHANNELS, LIGHT>(p, (x1 - x) * CHANNELS, rows, chunk);
            __syncthreads();
            if (!for_taps(taps, [&](auto n) {
                    add_halves<PIXELS, decltype(n)::value>(
                        args, sum, [&](int k, float(&v)[PIXELS * CHANNELS]) {
                            load_floats<CHANNELS == 4 && !LIGHT>(from + (start + k) * CHANNELS,
                                                                 p.straight, v);
                        });
                })) {
#pragma unroll
                for (int i = 0; i < OWN; i++) {
                    const int at = min(column + i, edge), own = __ldg(args.columns.start + at);
                    add_pixels<LIGHT, PIXELS>(
                        from, p.straight,
                        args.columns.weight + (size_t)at * args.columns.taps - own, max(own, x),
                        min(own + __ldg(args.columns.count + at), x1), sum[i]);
                }
            }
            if (x1 == right && !args.mid) {
#pragma unroll
                for (int i = 0; i < OWN; i++)
                    store_floats(sum[i],
                                 ring + ((y + lane) % RING) * PITCH + (warp * OWN + i) * CHANNELS);
            }
            __syncthreads();
            if (x1 < right)
                copy(x1, y);
            else if (y + TILE < bottom)
                copy(left, y + TILE);
        }
        if (args.mid) {
            float *const to = args.mid + (origin.row + lane) * args.mid_floats + column * CHANNELS;
#pragma unroll
            for (int i = 0; i < OWN; i++) {
                if (lane < rows && column + i <= edge)
                    store_floats(sum[i], to + i * CHANNELS);
            }
            return;
        }
        for (; row < past; row += 2 * WARPS) {
            const int at = p.out_y + min(row + 1, past - 1);
            if (__ldg(args.rows.start + at) + __ldg(args.rows.count + at) > y + rows)
                break;
            make_rows<Sample, CHANNELS, LIGHT>(args, ring + lane * CHANNELS, PITCH, RING - 1,
                                               origin.x + lane, row, past);
        }
    }
}

/* Makes two rows of the result, one lane for each column. */
template <class Sample, int CHANNELS, bool LIGHT>
static __global__ void __launch_bounds__(THREADS)
    floats_rows_kernel(const __grid_constant__ struct floats_args args)
{
    const struct tile_origin origin = block_tile(args.out_width, TILE, 2 * WARPS);
    const int x = origin.x + threadIdx.x % 32, row = origin.row + 2 * (threadIdx.x / 32);
    const ptrdiff_t pitch = (ptrdiff_t)args.mid_floats;
    if (x < args.out_width && row < args.p.rows)
        make_rows<Sample, CHANNELS, LIGHT>(args, args.mid + x * CHANNELS - args.first * pitch,
                                           pitch, -1, x, row, args.p.rows);
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
    const int bytes = format.channels * format.bits / 8;
    struct resize_args args = {};
    args.p = view_pair_of(launch, 0);
    args.out_width = format.width;
    args.column_start = gf_resample_ints(launch->constants, resample->columns.start);
    args.row_start = gf_resample_ints(launch->constants, resample->rows.start);
    if (bytes <= 8 && !args.p.straight)
        return gf_resize_pick(args, bytes, launch->stream);
    const int units = bytes == 12 ? 3 : 1;
    const auto kernel = bytes == 8    ? pick_units_kernel<__half, uint2, 1>
                        : bytes == 16 ? pick_units_kernel<float, uint4, 1>
                                      : pick_units_kernel<float, unsigned, 3>;
    return launch_kernel(kernel,
                         tile_blocks(format.width * units, args.p.rows, THREADS, PICKED_ROWS),
                         THREADS, 0, launch->stream, args);
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
    if (resample->row_axis.scale == 2 && !resample->row_axis.offset &&
        resample->rows.taps == columns.taps)
        args->row_taps = columns.taps;
    for (int k = 0; k < columns.taps; k++)
        args->weight[k] = columns.weight[(size_t)middle * columns.taps + k];
}

/* Chooses the height of tiles by the strips of a tile and by how many tiles each place for a block
 * gets one after the other. */
static int best_tile_rows(const struct gf_resample *resample, int across, int rows, int places)
{
    int best = 1;
    double best_cost = INFINITY;
    for (int down = 1; down <= rows && down <= TILES_MOST; down++) {
        const int n = ceil_div(rows, down);
        const double strips =
            ceil(((n - 1) * resample->row_axis.scale + resample->rows.taps) / TILE);
        const double cost = ceil((double)across * ceil_div(rows, n) / places) * (strips + 1);
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
        constexpr int SHARED = chunk_shape<Sample, CHANNELS, LIGHT>::BYTES;
        unsigned places;
        LAUNCH_TRY(allow_shared(kernel, SHARED));
        LAUNCH_TRY(resident_blocks(kernel, THREADS, SHARED, ~0u, &places));
        args.tile_rows =
            args.mid ? TILE : best_tile_rows(resample, ceil_div(width, TILE), rows, (int)places);
        const int tiles = tile_blocks(width, args.mid ? args.in_rows : rows, TILE, args.tile_rows);
        LAUNCH_TRY(launch_kernel(kernel, tiles, THREADS, SHARED, stream, args));
        return args.mid ? launch_kernel(floats_rows_kernel<Sample, CHANNELS, LIGHT>,
                                        tile_blocks(width, rows, TILE, 2 * WARPS), THREADS, 0,
                                        stream, args)
                        : cudaSuccess;
    });
}

extern "C" int gf_resize_floats_cuda(const struct gf_launch *launch)
{
    const struct gf_resample *const resample = (const struct gf_resample *)launch->stage->constants;
    const struct gf_format format = launch->out.format;
    const cudaStream_t stream = launch->stream;
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
