#include "cuda/filters/resize/resize.cuh"
#include "pixel/sample.h"

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int GROUP = GF_RESAMPLE_GROUP;

/* Both passes of resampling in one kernel, for every ratio. A block computes a tile of 32 columns
 * and up to 32 rows. It goes down the input in strips of 32 rows, and through each strip from left
 * to right in chunks. A chunk is converted to floats in shared memory. Each warp adds the
 * chunk to four columns of the first pass, one lane for each row. The finished strip of the first
 * pass goes through shared memory and is added to the sums of the second pass, one lane for each
 * column. Global memory holds only the input and the result. The kernel does not use the stencils'
 * tiles of cuda/common, because tables and not a halo determine a tile's input. */
constexpr int TILE = 32;
constexpr int STRIP = 32;           /* input rows of a strip, one for each lane of a warp */
constexpr int QUADS = TILE / GROUP; /* groups of columns: one for each warp */
static_assert(QUADS == WARPS, "a warp for each group of columns");
/* The floats in a row of a chunk. When the lanes of a warp read four floats each from the same
 * columns of 32 rows, each quarter of the warp accesses every bank once, since 252 / 4 is odd. */
constexpr int CHUNK = 252;

/* Returns four samples, with 0 for samples after the end of the row. The function is not inlined,
 * since it is seldom called. */
static __device__ __noinline__ uint2 load_tail(const unsigned char *row, int at, int samples,
                                               int bits)
{
    uint64_t four = 0;
    for (int i = 0; at + i < samples && i < 4; i++) {
        const uint64_t v = bits == 8 ? row[at + i] : ((const uint16_t *)row)[at + i];
        four |= v << (i * bits);
    }
    return make_uint2((uint32_t)four, (uint32_t)(four >> 32));
}

/* Returns samples at .. at + 3 of a row, packed. */
static __device__ __forceinline__ uint2 load_four(const unsigned char *row, int at, int samples,
                                                  int bits)
{
    if (at + 4 > samples)
        return load_tail(row, at, samples, bits);
    if (bits == 8)
        return make_uint2(__ldg((const uint32_t *)(row + at)), 0);
    return __ldg((const uint2 *)((const uint16_t *)row + at));
}

template <int CHANNELS>
static __device__ __forceinline__ float4 convert(const struct resize_args &args, uint2 four)
{
    const struct view_pair &p = args.p;
    uint32_t v[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        v[i] = p.bits == 8 ? four.x >> (8 * i) & 0xff
                           : (i < 2 ? four.x : four.y) >> (16 * (i % 2)) & 0xffff;
    const uint32_t max = p.bits == 8 ? 255 : 65535;
    float f[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        /* Where the alpha of sample i is: with alpha, a word of four samples has whole pixels. */
        const int alpha = i / CHANNELS * CHANNELS + CHANNELS - 1;
        if (!args.linear)
            f[i] = (float)v[i];
        else if (CHANNELS % 2 == 1)
            f[i] = __ldg(args.decode + v[i]);
        else if (i == alpha)
            f[i] = (float)v[i] / (float)max;
        else
            f[i] = gf_resample_decode_premultiplied(v[i], v[alpha % 4], max, args.decode);
    }
    return make_float4(f[0], f[1], f[2], f[3]);
}

/* Loads pixels x .. x1 - 1 of a strip into the chunk. Each warp loads every eighth row, and a
 * thread issues all its loads before it converts. */
template <int CHANNELS>
static __device__ __forceinline__ void load_chunk(const struct resize_args &args, int x, int x1,
                                                  int strip_y, int strip_end, float (*chunk)[CHUNK])
{
    const struct view_pair &p = args.p;
    constexpr int ROWS = STRIP / WARPS;
    const int warp = threadIdx.x / 32, samples = p.width * CHANNELS;
    const unsigned char *const top = picture_in(p, args.stack, (int)blockIdx.z) +
                                     (strip_y + warp - p.in_y) * (ptrdiff_t)p.in_pitch;
    for (int i = threadIdx.x % 32; i < (x1 - x) * CHANNELS / 4; i += 32) {
        uint2 four[ROWS];
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            if (strip_y + warp + k * WARPS < strip_end)
                four[k] =
                    load_four(top + k * WARPS * p.in_pitch, x * CHANNELS + 4 * i, samples, p.bits);
        }
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            if (strip_y + warp + k * WARPS < strip_end)
                *(float4 *)&chunk[warp + k * WARPS][4 * i] = convert<CHANNELS>(args, four[k]);
        }
    }
}

/* Adds four pixels of the chunk to the sums of four columns. If a strip has fewer rows than a
 * warp has lanes, the other lanes add undefined values, and their sums are not read. */
template <int CHANNELS>
static __device__ __forceinline__ void add_four_pixels(const float *chunk, const float *weight,
                                                       float (&sum)[GROUP][CHANNELS])
{
    float v[4 * CHANNELS];
#pragma unroll
    for (int i = 0; i < CHANNELS; i++) {
        unpack(((const float4 *)chunk)[i], v + 4 * i);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float4 w = __ldg((const float4 *)weight + i);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            sum[0][c] += w.x * v[i * CHANNELS + c];
            sum[1][c] += w.y * v[i * CHANNELS + c];
            sum[2][c] += w.z * v[i * CHANNELS + c];
            sum[3][c] += w.w * v[i * CHANNELS + c];
        }
    }
}

static __device__ __forceinline__ void store_sample(const struct resize_args &args, int row, int at,
                                                    float v)
{
    const struct view_pair &p = args.p;
    unsigned char *const to = p.out + row * p.out_pitch;
    if (p.bits == 8)
        to[at] = (unsigned char)gf_round_sample(v, 255.0f);
    else
        ((uint16_t *)to)[at] = (uint16_t)gf_round_sample(v, 65535.0f);
}

/* Returns the column in the tile, counted in samples, of the thread's sums result[k], which are
 * below each other. item_row() returns the row of the first of them. */
template <int CHANNELS> static __device__ __forceinline__ int item_column(int k)
{
    return (threadIdx.x + k * THREADS) % (TILE * CHANNELS);
}

template <int CHANNELS> static __device__ __forceinline__ int item_row(int k)
{
    return (threadIdx.x + k * THREADS) / (TILE * CHANNELS) * GROUP;
}

/* Converts light to a sample. The function is not inlined, since a dozen copies would take
 * registers in kernels that do not use it. `alpha` is 1 if there is none. */
static __device__ __noinline__ float encode(float light, float alpha)
{
    return gf_resample_encode_premultiplied(light, alpha);
}

/* Converts the sums to samples. Sums of linear light with alpha are first exchanged through
 * `floats` in shared memory, because a colour needs the alpha of its pixel. */
template <int CHANNELS>
static __device__ __forceinline__ void
finish_tile(const struct resize_args &args, int tile_y, int tile_rows,
            const float (&result)[CHANNELS][GROUP], float *floats)
{
    const struct view_pair &p = args.p;
    constexpr int COLUMNS = TILE * CHANNELS;
    const bool is_exchanged = args.linear && CHANNELS % 2 == 0;
    if (is_exchanged) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < CHANNELS; k++) {
#pragma unroll
            for (int i = 0; i < GROUP; i++)
                floats[(item_row<CHANNELS>(k) + i) * COLUMNS + item_column<CHANNELS>(k)] =
                    result[k][i];
        }
        __syncthreads();
    }
    const float max = p.bits == 8 ? 255.0f : 65535.0f;
#pragma unroll
    for (int k = 0; k < CHANNELS; k++) {
        const int column = item_column<CHANNELS>(k), at = (int)blockIdx.x * COLUMNS + column;
        if (at >= args.out_width * CHANNELS)
            continue;
#pragma unroll
        for (int i = 0; i < GROUP; i++) {
            const int row = item_row<CHANNELS>(k) + i, y = tile_y + row - p.out_y;
            if (row >= tile_rows || y < 0 || y >= p.rows)
                continue;
            float v = result[k][i];
            if (is_exchanged) {
                const float alpha =
                    floats[row * COLUMNS + column / CHANNELS * CHANNELS + CHANNELS - 1];
                v = (column % CHANNELS == CHANNELS - 1 ? v : encode(v, alpha)) * max;
            } else if (args.linear) {
                v = encode(v, 1.0f) * max;
            }
            store_sample(args, y + (int)blockIdx.z * args.stack.out_rows, at, v);
        }
    }
}

/* Computes a tile of `tile_rows` rows, a multiple of 4 and at most 32. Tiles begin at multiples of
 * 4 rows of the result, as groups of rows do. */
template <int CHANNELS>
static __global__ void __launch_bounds__(THREADS)
    resize_kernel(const __grid_constant__ struct resize_args args, int tile_rows)
{
    const struct view_pair &p = args.p;
    constexpr int CHUNK_PIXELS = CHUNK / CHANNELS / 4 * 4;
    /* The pitch is odd, so that lanes that write a column of the strip access different banks. */
    constexpr int PITCH = TILE * CHANNELS + 1;
    __shared__ __align__(16) float chunk[STRIP][CHUNK];
    __shared__ float strip[STRIP][PITCH];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int quad = (int)blockIdx.x * QUADS + warp; /* this warp's group of columns */
    const int last_quad = (args.out_width - 1) / GROUP;
    const int quad_start = quad <= last_quad ? args.column_start[quad] : 0;
    const int quad_end = quad <= last_quad ? quad_start + args.column_count[quad] : 0;
    const float *const quad_weight = args.column_weight + (size_t)quad * args.column_taps * GROUP;
    const int end_quad = min((int)blockIdx.x * QUADS + QUADS - 1, last_quad);
    const int left = args.column_start[blockIdx.x * QUADS];
    const int right = args.column_start[end_quad] + args.column_count[end_quad];
    const int band_end = p.out_y + p.rows, origin = p.out_y / GROUP * GROUP;
    for (int tile_y = origin + blockIdx.y * tile_rows; tile_y < band_end;
         tile_y += GRID_ROWS_MAX * tile_rows) {
        /* The rows that this tile computes. A group may extend beyond the band, where there is no
         * input. */
        const int y0 = max(tile_y, p.out_y), y1 = min(tile_y + tile_rows, band_end);
        const int top = args.row_start[y0],
                  bottom = args.row_start[y1 - 1] + args.row_count[y1 - 1];
        float result[CHANNELS][GROUP] = {};
        for (int strip_y = top; strip_y < bottom; strip_y += STRIP) {
            const int strip_end = min(strip_y + STRIP, bottom);
            float sum[GROUP][CHANNELS] = {};
            for (int x = left; x < right; x += CHUNK_PIXELS) {
                const int x1 = min(x + CHUNK_PIXELS, right);
                __syncthreads();
                load_chunk<CHANNELS>(args, x, x1, strip_y, strip_end, chunk);
                __syncthreads();
                const int from = max(quad_start, x), to = min(quad_end, x1);
                for (int at = from; at < to; at += 4)
                    add_four_pixels<CHANNELS>(&chunk[lane][(at - x) * CHANNELS],
                                              quad_weight + (size_t)(at - quad_start) * GROUP, sum);
            }
#pragma unroll
            for (int i = 0; i < GROUP; i++) {
#pragma unroll
                for (int c = 0; c < CHANNELS; c++)
                    strip[lane][(warp * GROUP + i) * CHANNELS + c] =
                        fminf(fmaxf(sum[i][c], 0.0f), args.max);
            }
            __syncthreads();
#pragma unroll
            for (int k = 0; k < CHANNELS; k++) {
                const int row = tile_y + item_row<CHANNELS>(k), group = row / GROUP;
                if (item_row<CHANNELS>(k) >= tile_rows || row >= band_end)
                    continue;
                const int column = item_column<CHANNELS>(k);
                const int start = args.group_start[group], count = args.group_count[group];
                const float *const weight =
                    args.group_weight + (size_t)group * args.group_taps * GROUP;
                const int end = min(start + count, strip_end);
                for (int y = max(start, strip_y); y < end; y++) {
                    const float4 w = __ldg((const float4 *)weight + (y - start));
                    const float v = strip[y - strip_y][column];
                    result[k][0] += w.x * v;
                    result[k][1] += w.y * v;
                    result[k][2] += w.z * v;
                    result[k][3] += w.w * v;
                }
            }
        }
        finish_tile<CHANNELS>(args, tile_y, tile_rows, result, &chunk[0][0]);
    }
}

/* Returns the height of tiles that needs the fewest strips for each row of the result. The last
 * strip of a tile is seldom full. */
static int best_tile_rows(const struct gf_resample *resample)
{
    const double scale = resample->row_axis.scale;
    int best = GROUP;
    double best_cost = INFINITY;
    for (int rows = GROUP; rows <= TILE; rows += GROUP) {
        const double input = (rows - 1) * scale + resample->rows.taps;
        const double cost = ceil(input / STRIP) / rows;
        if (cost <= best_cost) {
            best_cost = cost;
            best = rows;
        }
    }
    return best;
}

template <int CHANNELS>
static int launch_tiles(const struct resize_args &args, int tile_rows, cudaStream_t stream)
{
    const struct view_pair &p = args.p;
    const int rows = p.out_y % GROUP + p.rows;
    dim3 grid = grid_of_rows(ceil_div(args.out_width, TILE), ceil_div(rows, tile_rows));
    grid.z = args.stack.count;
    return launch_kernel(resize_kernel<CHANNELS>, grid, THREADS, 0, stream, args, tile_rows);
}

int gf_resize_tiles(const struct resize_args &args, const struct gf_resample *resample,
                    cudaStream_t stream)
{
    const int tile_rows = best_tile_rows(resample);
    return for_channels(args.p.channels, [&](auto channels) {
        return launch_tiles<decltype(channels)::value>(args, tile_rows, stream);
    });
}
