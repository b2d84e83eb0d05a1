/* SSIMULACRA2 of two pictures on a CUDA device; src/measure/ssimulacra2.c tells what it is. All
 * scales stay on the device, and only the sums of their tiles are copied to the host, which makes
 * the score of them. Five kernels make a scale:
 *
 * - to_xyb: a thread makes 2x2 pixels of XYB, and their mean for the next scale;
 * - blur_across: a block takes 32 rows of a channel from left to right, a thread for each row and
 *   blurred quantity. Tiles of 32 columns pass through shared memory, so that loads and stores are
 *   of neighbours, although the threads of a warp are below one another;
 * - make_maps: a block takes 32 columns of a channel down, a thread for each column and quantity.
 *   The maps replace the channel's samples;
 * - add_rows: eight threads, the lanes, add a tile's part of a row;
 * - add_tiles: a thread adds the rows of a tile, which others have loaded.
 *
 * add_differences, a warp for each row, makes the exact sums of the samples' differences. The same
 * measurer has ssim.cu make SSIM. */
#include "cuda/measure/coders.h"

#include "base/process/machine.h"
#include "cuda/common/coder.cuh"
#include "cuda/measure/ssim.cuh"
#include "gpufilter/image.h"
#include "measure/ssimulacra2_formula.h"
#include "pixel/sample.h"

enum {
    SIDE = 32,               /* of the tiles in shared memory, whose columns are a warp */
    BATCH = 2 * GF_S2_REACH, /* rows that make_maps() takes at once: a step's inputs are as
                              * far apart, so that each row is loaded once */
    LAG = GF_S2_REACH - 1,   /* the columns by which results of the blur lag behind its inputs */
    SUMS_OF_TILE = GF_S2_CHANNELS * GF_S2_SUMS,
    ACROSS = 32, /* the blocks of to_xyb() */
    DOWN = 8,
    ADDING = 256 /* threads of the blocks that add */
};

struct gf_measurer : coder {
};

/* The sums of a row's differences, and the largest. */
struct difference {
    unsigned long long sum, squares;
    int largest;
};

/* A scale, whose planes are `stride` floats wide. */
struct job {
    unsigned char *picture[2]; /* of the first scale */
    size_t pitch[2];
    int channels;
    float unit, gray; /* 1 / the largest sample; what pictures with alpha are blended on */
    float *planes[2]; /* memory for planes in linear light */
    float *from;      /* one of them; NULL for the first scale */
    float *next;      /* the planes of the next scale; NULL: there is none */
    float *xyb;       /* [PLANES], XYB, then the maps: structure and detail of channel c are planes
                       * c and c + 3; by place_of() */
    float *blurred;   /* [channel - first][QUANTITIES], blurred across; likewise, but LAG columns to
                       * the right, so that a tile's results are a strip's */
    double *rows;     /* [height][tiles][CHANNELS][SUMS] */
    double *totals;   /* [tiles][CHANNELS][SUMS] */
    struct difference *differences; /* [height] of the first scale */
    int width, height, tiles;
    int first, at_once; /* the channels of a launch of the blur */
    size_t stride;
    struct gf_s2_blur blur;
};

static __host__ __device__ inline size_t stride_of(int width)
{
    return (size_t)(width + LAG + SIDE - 1) / SIDE * SIDE;
}

/* Returns the place of a pixel in planes that are stored as strips of SIDE columns, from top to
 * bottom: what a block of 32 rows or columns takes lies together, where rows as a whole would be in
 * as many pages of the memory as there are rows. */
static __device__ __forceinline__ float *place_of(const struct job &job, float *planes, int plane,
                                                  int x, int y)
{
    return planes + (plane * job.stride + x / SIDE * SIDE) * job.height + y * SIDE + x % SIDE;
}

/* ---- XYB ---- */

/* Returns a pixel of a picture, or of the planes of a scale, in linear light. `linear` is a table
 * for samples of 8 bits. */
template <class Sample>
static __device__ __forceinline__ void read_pixel(const struct job &job, const float *linear,
                                                  int picture, int x, int y, float rgb[3])
{
    const Sample *const row = (const Sample *)(job.picture[picture] + y * job.pitch[picture]);
    const Sample *const pixel = row + (size_t)x * job.channels;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        if (sizeof(Sample) == sizeof(float)) {
            rgb[c] = job.from[((picture * 3 + c) * (size_t)job.height + y) * job.stride + x];
            continue;
        }
        const Sample sample = pixel[job.channels < 3 ? 0 : c];
        if (sizeof(Sample) == 1 && job.channels % 2) {
            rgb[c] = linear[(int)sample];
            continue;
        }
        float v = (float)sample * job.unit;
        if (job.channels % 2 == 0)
            v = gf_s2_blend(v, (float)pixel[job.channels - 1] * job.unit, job.gray);
        rgb[c] = gf_s2_linear(v);
    }
}

static __device__ __forceinline__ void store_xyb(const struct job &job, int picture, int x, int y,
                                                 const float pair[2][3])
{
    float left[3], right[3];
    gf_s2_xyb(pair[0], left);
    gf_s2_xyb(pair[1], right);
#pragma unroll
    for (int c = 0; c < 3; c++)
        *(float2 *)place_of(job, job.xyb, picture * 3 + c, x, y) = make_float2(left[c], right[c]);
}

/* Of a picture for each y. A last column or row without a partner counts twice. The float after the
 * last column may be written: rows are padded. */
template <class Sample>
static __global__ void __launch_bounds__(ACROSS *DOWN) to_xyb(const struct job job)
{
    const int across = (job.width + 2 * ACROSS - 1) / (2 * ACROSS), picture = blockIdx.y,
              half_x = blockIdx.x % across * ACROSS + threadIdx.x,
              half_y = blockIdx.x / across * DOWN + threadIdx.y, x = 2 * half_x, y = 2 * half_y;
    __shared__ float linear[ACROSS * DOWN];
    float above[2][3], below[2][3];
    if (sizeof(Sample) == 1) {
        const int sample = threadIdx.y * ACROSS + threadIdx.x;
        linear[sample] = gf_s2_linear((float)sample * job.unit);
        __syncthreads();
    }
    if (x >= job.width || y >= job.height)
        return;
    const int right = min(x + 1, job.width - 1), under = min(y + 1, job.height - 1);
    read_pixel<Sample>(job, linear, picture, x, y, above[0]);
    read_pixel<Sample>(job, linear, picture, right, y, above[1]);
    read_pixel<Sample>(job, linear, picture, x, under, below[0]);
    read_pixel<Sample>(job, linear, picture, right, under, below[1]);
    store_xyb(job, picture, x, y, above);
    if (y + 1 < job.height)
        store_xyb(job, picture, x, y + 1, below);
    if (!job.next)
        return;
    const size_t height = (job.height + 1) / 2, stride = stride_of((job.width + 1) / 2);
#pragma unroll
    for (int c = 0; c < 3; c++)
        job.next[((picture * 3 + c) * height + half_y) * stride + half_x] =
            gf_s2_mean(above[0][c], above[1][c], below[0][c], below[1][c]);
}

/* ---- the blur ---- */

/* The last results of a thread's recursions, and those before. */
struct results {
    float last[GF_S2_TERMS], before[GF_S2_TERMS];
};

/* Takes four steps across, from column n on. */
static __device__ __forceinline__ float4 four_across(const struct job &job, int n,
                                                     const float sum[4], struct results *of)
{
    float y[GF_S2_TERMS][4];
    if (gf_s2_takes_four(n, job.width)) {
#pragma unroll
        for (int k = 0; k < GF_S2_TERMS; k++)
            gf_s2_four_steps(&job.blur.term[k], sum, of->last[k], of->before[k], y[k]);
    } else {
#pragma unroll
        for (int k = 0; k < GF_S2_TERMS; k++) {
            const struct gf_s2_four *const four = &job.blur.term[k];
            y[k][0] = gf_s2_step(four, sum[0], of->last[k], of->before[k]);
            y[k][1] = gf_s2_step(four, sum[1], y[k][0], of->last[k]);
            y[k][2] = gf_s2_step(four, sum[2], y[k][1], y[k][0]);
            y[k][3] = gf_s2_step(four, sum[3], y[k][2], y[k][1]);
        }
    }
#pragma unroll
    for (int k = 0; k < GF_S2_TERMS; k++) {
        of->before[k] = y[k][2];
        of->last[k] = y[k][3];
    }
    return make_float4(
        gf_s2_blurred(y[0][0], y[1][0], y[2][0]), gf_s2_blurred(y[0][1], y[1][1], y[2][1]),
        gf_s2_blurred(y[0][2], y[1][2], y[2][2]), gf_s2_blurred(y[0][3], y[1][3], y[2][3]));
}

/* A tile has SIDE columns of the rows of both pictures, as quads of columns. Of those in shared
 * memory a row is one longer than it must be, so that a warp reads a quad of each row without
 * conflicts. */
enum {
    QUADS = SIDE / 4,
    THREADS = SIDE * GF_S2_QUANTITIES,
    LOADS = (2 * SIDE * QUADS + THREADS - 1) / THREADS /* quads that a thread loads */
};

/* Returns the quad that begins at column x without what lies beyond the width. */
static __device__ __forceinline__ float4 within(float4 quad, int x, int width)
{
    return make_float4(x < width ? quad.x : 0, x + 1 < width ? quad.y : 0,
                       x + 2 < width ? quad.z : 0, x + 3 < width ? quad.w : 0);
}

/* Results lag behind the inputs: with the tile that begins at column x, those of columns x - 4 to x
 * + 27 are made. So the first tile has the recursions' first step. A thread keeps the last quads of
 * its quantity, of which it needs those of 10 columns before. What it has loaded for the next tile
 * is not touched before it is stored, so that nothing waits for it. */
static __global__ void __launch_bounds__(THREADS, 4) blur_across(const struct job job)
{
    __shared__ float4 in[2][2 * SIDE][QUADS + 1]; /* this tile and the next */
    __shared__ float4 out[GF_S2_QUANTITIES][SIDE][QUADS + 1];
    const int lane = threadIdx.x, quantity = threadIdx.y, top = blockIdx.x * SIDE;
    const int channel = job.first + blockIdx.y, plane = blockIdx.y * GF_S2_QUANTITIES + quantity;
    const int own_row = lane / QUADS, own_quad = lane % QUADS; /* of the quads that it stores */
    const ptrdiff_t strip = (ptrdiff_t)SIDE * job.height;      /* from a strip to the next */
    float *to = place_of(job, job.blurred, plane, 4 * own_quad, top + own_row);
    const float *from[LOADS];
    float4 ahead[LOADS], last[4] = {};
    struct results results = {};
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        const int part = i * THREADS + quantity * SIDE + lane, row = part / QUADS,
                  y = top + row % SIDE;
        from[i] = row < 2 * SIDE && y < job.height
                      ? place_of(job, job.xyb, channel + row / SIDE * 3, 4 * own_quad, y)
                      : NULL;
        ahead[i] = from[i] ? *(const float4 *)from[i] : float4{};
    }
    for (int x = 0; x - LAG < job.width; x += SIDE) {
        float4(*const tile)[QUADS + 1] = in[x / SIDE % 2];
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const int row = (i * THREADS + quantity * SIDE + lane) / QUADS;
            if (row < 2 * SIDE)
                tile[row][own_quad] = within(ahead[i], x + 4 * own_quad, job.width);
        }
        __syncthreads(); /* of the tile before, all have read when they come here */
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            if (from[i] && x + SIDE < job.width)
                ahead[i] = *(const float4 *)(from[i] += strip);
        }
        /* A quantity is a sample, or the product of two. */
        const float4 *const one = tile[(quantity == 1 || quantity == 3) * SIDE + lane];
        const float4 *const other = tile[(quantity >= 3) * SIDE + lane];
#pragma unroll 1
        for (int i = 0; i < QUADS; i += 4) {
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float4 quad = one[i + k];
                if (quantity >= 2) {
                    const float4 factor = other[i + k];
                    quad = make_float4(quad.x * factor.x, quad.y * factor.y, quad.z * factor.z,
                                       quad.w * factor.w);
                }
                const float4 third = last[(k + 1) % 4], second = last[(k + 2) % 4];
                const float sum[4] = {third.z + quad.x, third.w + quad.y, second.x + quad.z,
                                      second.y + quad.w};
                last[k] = quad;
                out[quantity][lane][i + k] = four_across(job, x - LAG + 4 * (i + k), sum, &results);
            }
        }
        __syncwarp(); /* a warp stores what it has made */
#pragma unroll
        for (int row = 0; row < SIDE; row += SIDE / QUADS) {
            if (top + own_row + row < job.height)
                *(float4 *)(to + row * SIDE) = out[quantity][own_row + row][own_quad];
        }
        to += strip;
        __syncwarp();
    }
}

/* ---- the maps ---- */

/* Beyond the width of a picture its planes have columns whose values nobody uses. */
static __global__ void __launch_bounds__(THREADS) make_maps(const struct job job)
{
    enum { PIXELS = BATCH / GF_S2_QUANTITIES };
    __shared__ float blurred[2][GF_S2_QUANTITIES][BATCH][SIDE]; /* of this batch and the next */
    const int lane = threadIdx.x, quantity = threadIdx.y, x = blockIdx.x * SIDE + lane;
    const int channel = job.first + blockIdx.y, plane = blockIdx.y * GF_S2_QUANTITIES + quantity;
    const float *from = place_of(job, job.blurred, plane, min(x, job.width - 1) + LAG, 0);
    /* The first of the thread's pixels of this batch, of both pictures. */
    float *of_a = place_of(job, job.xyb, channel, x, 1 - GF_S2_REACH + quantity),
          *of_b = place_of(job, job.xyb, channel + 3, x, 1 - GF_S2_REACH + quantity);
    struct results results = {};
    float top[BATCH] = {}, bottom[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++)
        bottom[i] = i < job.height ? from[i * SIDE] : 0.0f;
    for (int begin = 1 - GF_S2_REACH, turn = 0; begin < job.height; begin += BATCH, turn ^= 1) {
        from += BATCH * SIDE;
        float a[PIXELS], b[PIXELS], sum[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            sum[i] = top[i] + bottom[i];
            top[i] = bottom[i];
            bottom[i] = begin + BATCH + GF_S2_REACH - 1 + i < job.height ? from[i * SIDE] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            const int y = begin + quantity + i * GF_S2_QUANTITIES;
            const bool inside = y >= 0 && y < job.height;
            a[i] = inside ? of_a[i * GF_S2_QUANTITIES * SIDE] : 0.0f;
            b[i] = inside ? of_b[i * GF_S2_QUANTITIES * SIDE] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            float y[GF_S2_TERMS];
#pragma unroll
            for (int k = 0; k < GF_S2_TERMS; k++) {
                y[k] =
                    gf_s2_step_down(&job.blur.term[k], sum[i], results.last[k], results.before[k]);
                results.before[k] = results.last[k];
                results.last[k] = y[k];
            }
            blurred[turn][quantity][i][lane] = gf_s2_blurred(y[0], y[1], y[2]);
        }
        __syncthreads(); /* of the batch before, all have read when they come here */
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            const int row = quantity + i * GF_S2_QUANTITIES, y = begin + row;
            const float(*const of)[BATCH][SIDE] = blurred[turn];
            float structure, detail;
            gf_s2_maps(of[0][row][lane], of[1][row][lane], of[2][row][lane], of[3][row][lane],
                       of[4][row][lane], a[i], b[i], &structure, &detail);
            if (x < job.width && y >= 0 && y < job.height) {
                of_a[i * GF_S2_QUANTITIES * SIDE] = structure;
                of_b[i * GF_S2_QUANTITIES * SIDE] = detail;
            }
        }
        of_a += BATCH * SIDE;
        of_b += BATCH * SIDE;
    }
}

/* ---- the sums ---- */

/* Of a channel for each y. */
static __global__ void __launch_bounds__(ADDING) add_rows(const struct job job)
{
    const unsigned at = blockIdx.x * ADDING + threadIdx.x, lane = at % GF_S2_LANES,
                   part = at / GF_S2_LANES, tile = part / job.height, row = part % job.height,
                   channel = blockIdx.y;
    const bool inside = tile < (unsigned)job.tiles;
    double sums[GF_S2_SUMS] = {};
    if (inside) {
        enum { STEPS = SIDE / GF_S2_LANES }; /* in a strip */
        const int end = min(job.width, (int)(tile + 1) * GF_S2_TILE);
        const size_t strip = (size_t)SIDE * job.height;
        int x = tile * GF_S2_TILE + lane;
        const float *const structure = place_of(job, job.xyb, channel, x, row);
        const float *const detail = place_of(job, job.xyb, channel + 3, x, row);
#pragma unroll 4
        for (int step = 0; x < end; x += GF_S2_LANES, step++) {
            const size_t at = step / STEPS * strip + step % STEPS * GF_S2_LANES;
            const double d = structure[at], both = detail[at], more = both > 0 ? both : 0,
                         less = more - both;
            GF_S2_ADD(sums, d, more, less);
        }
    }
#pragma unroll
    for (int i = 0; i < GF_S2_SUMS; i++) {
#pragma unroll
        for (int apart = 1; apart < GF_S2_LANES; apart *= 2)
            sums[i] += __shfl_xor_sync(~0u, sums[i], apart);
        if (inside && lane == 0)
            job.rows[(((size_t)row * job.tiles + tile) * GF_S2_CHANNELS + channel) * GF_S2_SUMS +
                     i] = sums[i];
    }
}

/* The first warp adds the rows that all warps have loaded, each several at once. */
static __global__ void __launch_bounds__(ADDING) add_tiles(const struct job job)
{
    enum { WARPS = ADDING / SIDE, LOADED = 8, AT_ONCE = LOADED * WARPS };
    __shared__ double rows[AT_ONCE][SIDE];
    const int lane = threadIdx.x % SIDE, warp = threadIdx.x / SIDE, at = blockIdx.x * SIDE + lane,
              across = job.tiles * SUMS_OF_TILE;
    const double *const from = job.rows + min(at, across - 1);
    double sum = 0;
    for (int y = 0; y < job.height; y += AT_ONCE) {
        double row[LOADED];
#pragma unroll
        for (int i = 0; i < LOADED; i++)
            row[i] = from[min(y + i * WARPS + warp, job.height - 1) * (size_t)across];
#pragma unroll
        for (int i = 0; i < LOADED; i++)
            rows[i * WARPS + warp][lane] = row[i];
        __syncthreads();
        const int count = warp ? 0 : min((int)AT_ONCE, job.height - y);
#pragma unroll 16
        for (int i = 0; i < count; i++)
            sum += rows[i][lane];
        __syncthreads();
    }
    if (warp == 0 && at < across)
        job.totals[at] = sum;
}

/* ---- the differences of the samples ---- */

template <class Sample>
static __global__ void __launch_bounds__(ADDING) add_differences(const struct job job)
{
    const int lane = threadIdx.x % SIDE, y = blockIdx.x * (ADDING / SIDE) + threadIdx.x / SIDE;
    struct difference found = {};
    if (y >= job.height)
        return;
    const Sample *const a = (const Sample *)(job.picture[0] + y * job.pitch[0]),
                        *const b = (const Sample *)(job.picture[1] + y * job.pitch[1]);
    for (int i = lane; i < job.width * job.channels; i += SIDE) {
        const int d = abs((int)a[i] - (int)b[i]);
        found.sum += d;
        found.squares += (unsigned long long)d * d;
        found.largest = max(found.largest, d);
    }
#pragma unroll
    for (int apart = 1; apart < SIDE; apart *= 2) {
        found.sum += __shfl_xor_sync(~0u, found.sum, apart);
        found.squares += __shfl_xor_sync(~0u, found.squares, apart);
        found.largest = max(found.largest, __shfl_xor_sync(~0u, found.largest, apart));
    }
    if (lane == 0)
        job.differences[y] = found;
}

/* ---- launches ---- */

static unsigned blocks_for(uint64_t count, unsigned block)
{
    return (unsigned)((count + block - 1) / block);
}

static cudaError_t launch_scale(struct job job, int bits, cudaStream_t stream)
{
    const dim3 quads(ACROSS, DOWN), threads(SIDE, GF_S2_QUANTITIES);
    const dim3 halves(blocks_for(job.width, 2 * ACROSS) * blocks_for(job.height, 2 * DOWN), 2);
    if (job.from)
        to_xyb<float><<<halves, quads, 0, stream>>>(job);
    else if (bits == 16)
        to_xyb<uint16_t><<<halves, quads, 0, stream>>>(job);
    else
        to_xyb<uint8_t><<<halves, quads, 0, stream>>>(job);
    for (job.first = 0; job.first < GF_S2_CHANNELS; job.first += job.at_once) {
        blur_across<<<dim3(blocks_for(job.height, SIDE), job.at_once), threads, 0, stream>>>(job);
        make_maps<<<dim3(blocks_for(job.width, SIDE), job.at_once), threads, 0, stream>>>(job);
    }
    const uint64_t lanes = (uint64_t)job.height * job.tiles * GF_S2_LANES;
    add_rows<<<dim3(blocks_for(lanes, ADDING), GF_S2_CHANNELS), ADDING, 0, stream>>>(job);
    add_tiles<<<blocks_for(job.tiles * SUMS_OF_TILE, SIDE), ADDING, 0, stream>>>(job);
    return cudaGetLastError();
}

static int tiles_of(int width)
{
    return (width + GF_S2_TILE - 1) / GF_S2_TILE;
}

/* The tiles of all scales are fewer than twice those of the first, and one for each. */
static uint64_t bytes_of_sums(int width)
{
    return (2 * (uint64_t)tiles_of(width) + GF_S2_SCALES) * sizeof(double[SUMS_OF_TILE]);
}

static size_t picture_bytes(const struct gf_image *image)
{
    return image->pitch * (size_t)(image->format.height - 1) + gf_row_bytes(image->format);
}

/* Cuts the memory for a pair, and returns how much there must be. SSIM and SSIMULACRA2 are made one
 * after the other in the same memory. */
static uint64_t lay_out(const struct gf_measure_picture *pair, unsigned char *memory,
                        struct job *job, struct ssim_pair *ssim)
{
    const int width = pair->original->format.width;
    const uint64_t height = pair->original->format.height, plane = stride_of(width) * height;
    struct arena arena = {memory, 0};
    take(&arena, job->picture[0], picture_bytes(pair->original));
    take(&arena, job->picture[1], picture_bytes(pair->changed));
    take(&arena, job->differences, height);
    struct arena of_ssim = arena;
    ssim_lay_out(ssim, &of_ssim);
    if (!(pair->wanted & GF_SCORE_SSIMULACRA2))
        return of_ssim.used;
    take(&arena, job->planes[0], GF_S2_PLANES * stride_of((width + 1) / 2) * ((height + 1) / 2));
    take(&arena, job->planes[1], GF_S2_PLANES * stride_of((width + 3) / 4) * ((height + 3) / 4));
    take(&arena, job->xyb, GF_S2_PLANES * plane);
    take(&arena, job->blurred, job->at_once * GF_S2_QUANTITIES * plane);
    take(&arena, job->rows, height * tiles_of(width) * SUMS_OF_TILE);
    take(&arena, job->totals, bytes_of_sums(width) / sizeof *job->totals);
    return arena.used > of_ssim.used ? arena.used : of_ssim.used;
}

/* Makes the score of the pictures in the device's memory. */
static enum gf_status measure(const struct gf_measurer *measurer, struct job job,
                              struct gf_format format, double *score, struct gf_error *error)
{
    double norms[GF_S2_SCALES][GF_S2_CHANNELS][GF_S2_SUMS];
    const double(*sums)[GF_S2_CHANNELS][GF_S2_SUMS] =
        (const double(*)[GF_S2_CHANNELS][GF_S2_SUMS])measurer->pinned;
    const double *const totals = job.totals;
    int scales = 0;
    for (bool last = false; !last; scales++) {
        last = gf_s2_is_last(scales, job.width, job.height);
        job.next = last ? NULL : job.planes[scales % 2];
        job.tiles = tiles_of(job.width);
        job.stride = stride_of(job.width);
        CODER_TRY(measurer, launch_scale(job, format.bits, measurer->stream));
        job.totals += job.tiles * SUMS_OF_TILE;
        job.from = job.next;
        job.width = (job.width + 1) / 2;
        job.height = (job.height + 1) / 2;
    }
    CODER_TRY(measurer,
              cudaMemcpyAsync(measurer->pinned, totals, (job.totals - totals) * sizeof *totals,
                              cudaMemcpyDeviceToHost, measurer->stream));
    CODER_TRY(measurer, coder_mark(measurer, 2, measurer->stream));
    CODER_TRY(measurer, coder_wait(measurer));
    for (int i = 0; i < scales; i++) {
        gf_s2_norms(sums, format.width, format.height, norms[i]);
        sums += tiles_of(format.width);
        format.width = (format.width + 1) / 2;
        format.height = (format.height + 1) / 2;
    }
    *score = gf_s2_score(norms, scales);
    return GF_OK;
}

static enum gf_status upload(const struct gf_measurer *measurer, void *to,
                             const struct gf_image *image, struct gf_error *error)
{
    CODER_TRY(measurer, cudaMemcpyAsync(to, image->data, picture_bytes(image), cudaMemcpyDefault,
                                        measurer->stream));
    return GF_OK;
}

/* Queues what finds the differences of the samples. */
static enum gf_status find_differences(const struct gf_measurer *measurer, const struct job &job,
                                       int bits, struct difference *found, struct gf_error *error)
{
    const unsigned blocks = blocks_for(job.height, ADDING / SIDE);
    if (bits == 16)
        add_differences<uint16_t><<<blocks, ADDING, 0, measurer->stream>>>(job);
    else
        add_differences<uint8_t><<<blocks, ADDING, 0, measurer->stream>>>(job);
    CODER_TRY(measurer, cudaGetLastError());
    CODER_TRY(measurer, cudaMemcpyAsync(found, job.differences, job.height * sizeof *found,
                                        cudaMemcpyDeviceToHost, measurer->stream));
    return GF_OK;
}

static void take_differences(struct gf_measure_picture *pair, const struct difference *found)
{
    pair->largest = 0;
    pair->sum = pair->squares = 0;
    for (int y = 0; y < pair->original->format.height; y++) {
        pair->largest = found[y].largest > pair->largest ? found[y].largest : pair->largest;
        pair->sum += (double)found[y].sum;
        pair->squares += (double)found[y].squares;
    }
}

/* The differences follow the sums in pinned memory. */
static enum gf_status measure_pair(const struct gf_measurer *measurer, struct job job,
                                   const struct ssim_pair *ssim, struct gf_measure_picture *pair,
                                   struct gf_error *error)
{
    const struct gf_format format = pair->original->format;
    const bool scored = pair->wanted & GF_SCORE_SSIMULACRA2, alpha = gf_has_alpha(format);
    struct difference *const differences =
        (struct difference *)((unsigned char *)ssim->on_host + ssim_bytes_of_sums(ssim));
    double bright;
    job.pitch[0] = pair->original->pitch;
    job.pitch[1] = pair->changed->pitch;
    job.channels = format.channels;
    job.unit = 1.0f / (float)gf_sample_max(format);
    job.gray = alpha ? 0.1f : 0.5f;
    job.width = format.width;
    job.height = format.height;
    job.blur = gf_s2_blur_make();
    CODER_TRY(measurer, coder_mark(measurer, 0, measurer->stream));
    GF_TRY(upload(measurer, job.picture[0], pair->original, error));
    GF_TRY(upload(measurer, job.picture[1], pair->changed, error));
    CODER_TRY(measurer, coder_mark(measurer, 1, measurer->stream));
    GF_TRY(find_differences(measurer, job, format.bits, differences, error));
    CODER_TRY(measurer, ssim_queue(ssim, measurer->stream));
    if (scored) {
        GF_TRY(measure(measurer, job, format, &pair->score, error));
    } else {
        CODER_TRY(measurer, coder_mark(measurer, 2, measurer->stream));
        CODER_TRY(measurer, coder_wait(measurer));
    }
    take_differences(pair, differences);
    ssim_take(ssim, &pair->ssim, &pair->ms_ssim);
    if (scored && alpha) {
        job.gray = 0.9f;
        GF_TRY(measure(measurer, job, format, &bright, error));
        pair->score = bright < pair->score ? bright : pair->score;
    }
    return coder_add_times(measurer, error);
}

static enum gf_status run(struct gf_measurer *measurer, struct gf_measure_picture *pair,
                          struct gf_error *error)
{
    const struct gf_format format = pair->original->format;
    struct job job = {};
    struct ssim_pair ssim = {};
    enum gf_status status = GF_ERROR_DEVICE_MEMORY;
    ssim.format = format;
    ssim.pitch[0] = pair->original->pitch;
    ssim.pitch[1] = pair->changed->pitch;
    if (pair->wanted & (GF_SCORE_SSIM | GF_SCORE_MS_SSIM))
        ssim.scales = gf_ssim_scales(format.width, format.height, pair->wanted & GF_SCORE_MS_SSIM);
    for (job.at_once = GF_S2_CHANNELS; job.at_once; job.at_once = job.at_once > 1) {
        const uint64_t bytes = lay_out(pair, NULL, &job, &ssim);
        if (bytes <= measurer->memory_most)
            status = coder_reserve(measurer, bytes, 1, error);
        if (status != GF_ERROR_DEVICE_MEMORY)
            break;
    }
    pair->measured = !status;
    if (status)
        return status == GF_ERROR_DEVICE_MEMORY ? GF_OK : status;
    lay_out(pair, measurer->memory, &job, &ssim);
    ssim.picture[0] = job.picture[0];
    ssim.picture[1] = job.picture[1];
    const uint64_t sums = bytes_of_sums(format.width);
    GF_TRY(coder_reserve_pinned(measurer,
                                sums + ssim_bytes_of_sums(&ssim) +
                                    (uint64_t)format.height * sizeof(struct difference),
                                0, 1, error));
    ssim.on_host = (struct gf_ssim_sums *)(measurer->pinned + sums);
    return measure_pair(measurer, job, &ssim, pair, error);
}

extern "C" enum gf_status gf_measurer_run(struct gf_measurer *measurer,
                                          struct gf_measure_picture *pictures, int count,
                                          struct gf_error *error)
{
    enum gf_status status = GF_OK;
    coder_begin_times(measurer);
    /* Threads take a measurer in turn. */
    CODER_TRY(measurer, cudaSetDevice(gf_device_ordinal(measurer->device)));
    for (int i = 0; i < count && !status; i++)
        status = run(measurer, pictures + i, error);
    if (status) /* the caller may free the pictures after this call */
        (void)cudaStreamSynchronize(measurer->stream);
    return status;
}

DEFINE_CODER(measure, prepare_nothing, clear_nothing)
