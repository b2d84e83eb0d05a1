/* SSIM and MS-SSIM of two pictures on a CUDA device; src/measure/ssim.h tells what they are. All
 * scales stay on the device, and only the sums of their tiles are copied to the host. Two kernels
 * make a scale, of the pictures' own samples first, then of planes of floats:
 *
 * - add_windows: a block adds the windows of a tile of a channel. It weighs the columns of a few
 *   rows of windows, a thread a column, whose sums pass through shared memory; then a thread weighs
 *   two neighbours in each row;
 * - halve: a thread makes a sample of the next scale. */
#include "cuda/measure/ssim.cuh"

#include "pixel/sample.h"

enum {
    THREADS = GF_SSIM_ACROSS / 2,
    WARP = 32,
    AT_ONCE = 4, /* rows of windows between two barriers */
    DEEP = AT_ONCE + GF_SSIM_SIDE - 1,
    PIXELS = 256 /* the threads of a block of halve() */
};

/* A scale. Samples of neighbouring columns are `step` bytes apart, those of channels `plane`. */
struct job {
    const unsigned char *picture[2];
    size_t pitch[2], step, plane;
    int width, height, channels, tiles_across;
    struct gf_ssim_constants constants;
    struct gf_ssim_sums *tiles; /* [channel][tile] */
    float *next;                /* [picture][channel], the planes of the next scale */
};

template <class Sample>
static __device__ __forceinline__ float sample_at(const struct job &job, int picture, int channel,
                                                  int x, int y)
{
    return (float)*(const Sample *)(job.picture[picture] + y * job.pitch[picture] + x * job.step +
                                    channel * job.plane);
}

/* ---- the sums of tiles ---- */

typedef double weighed_rows[GF_SSIM_QUANTITIES][AT_ONCE][GF_SSIM_ACROSS];

/* Weighs the quantities of column x of the picture. Rows below it repeat the last one, for windows
 * that do not count. */
template <class Sample>
static __device__ __forceinline__ void weigh_column(const struct job &job, int x, int y, int to,
                                                    weighed_rows &weighed)
{
    double a[DEEP], b[DEEP], products[DEEP];
#pragma unroll
    for (int i = 0; i < DEEP; i++) {
        const int row = min(y + i, job.height - 1);
        a[i] = sample_at<Sample>(job, 0, blockIdx.y, x, row);
        b[i] = sample_at<Sample>(job, 1, blockIdx.y, x, row);
    }
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
        weighed[0][i][to] = gf_ssim_weigh(&job.constants, a + i);
        weighed[1][i][to] = gf_ssim_weigh(&job.constants, b + i);
    }
#pragma unroll
    for (int i = 0; i < DEEP; i++)
        products[i] = gf_ssim_squares(a[i], b[i]);
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
        weighed[2][i][to] = gf_ssim_weigh(&job.constants, products + i);
#pragma unroll
    for (int i = 0; i < DEEP; i++)
        products[i] = a[i] * b[i];
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
        weighed[3][i][to] = gf_ssim_weigh(&job.constants, products + i);
}

/* Weighs a quantity of the windows of columns x and x + 1, an even x. */
static __device__ __forceinline__ void weigh_pair(const struct job &job, const double *row, int x,
                                                  double to[2])
{
    double v[GF_SSIM_SIDE + 1];
#pragma unroll
    for (int i = 0; i <= GF_SSIM_SIDE; i += 2) {
        const double2 two = *(const double2 *)(row + x + i);
        v[i] = two.x;
        v[i + 1] = two.y;
    }
    to[0] = gf_ssim_weigh(&job.constants, v);
    to[1] = gf_ssim_weigh(&job.constants, v + 1);
}

/* Adds the sums of the block's threads, each of two columns, in pairs. */
static __device__ __forceinline__ double fold(const double columns[2], double *of_warps)
{
    double sum = columns[0] + columns[1];
#pragma unroll
    for (int apart = 1; apart < WARP; apart *= 2)
        sum += __shfl_xor_sync(~0u, sum, apart);
    if (threadIdx.x % WARP == 0)
        of_warps[threadIdx.x / WARP] = sum;
    __syncthreads();
    static_assert(THREADS == 4 * WARP, "the warps' sums are four");
    return (of_warps[0] + of_warps[1]) + (of_warps[2] + of_warps[3]);
}

template <class Sample>
static __global__ void __launch_bounds__(THREADS, 4) add_windows(const struct job job)
{
    __shared__ __align__(16) weighed_rows weighed;
    __shared__ double of_warps[2][THREADS / WARP];
    const int left = blockIdx.x % job.tiles_across * GF_SSIM_COLUMNS,
              top = blockIdx.x / job.tiles_across * GF_SSIM_ROWS, x = 2 * threadIdx.x;
    const int columns = min(GF_SSIM_COLUMNS, job.width - left - GF_SSIM_SIDE + 1),
              end = min(top + GF_SSIM_ROWS, job.height - GF_SSIM_SIDE + 1);
    double whole[2] = {}, contrast[2] = {};
    for (int y = top; y < end; y += AT_ONCE) {
#pragma unroll 1
        for (int to = threadIdx.x; to < GF_SSIM_ACROSS; to += THREADS)
            weigh_column<Sample>(job, min(left + to, job.width - 1), y, to, weighed);
        __syncthreads();
#pragma unroll 1
        for (int i = 0; i < AT_ONCE && y + i < end && x < columns; i++) {
            double of[GF_SSIM_QUANTITIES][2];
#pragma unroll
            for (int quantity = 0; quantity < GF_SSIM_QUANTITIES; quantity++)
                weigh_pair(job, weighed[quantity][i], x, of[quantity]);
#pragma unroll
            for (int k = 0; k < 2; k++) {
                const struct gf_ssim_sums window =
                    gf_ssim_window(&job.constants, of[0][k], of[1][k], of[2][k], of[3][k]);
                whole[k] += x + k < columns ? window.whole : 0;
                contrast[k] += x + k < columns ? window.contrast : 0;
            }
        }
        __syncthreads();
    }
    const struct gf_ssim_sums sums = {fold(whole, of_warps[0]), fold(contrast, of_warps[1])};
    if (threadIdx.x == 0)
        job.tiles[(size_t)blockIdx.y * gridDim.x + blockIdx.x] = sums;
}

/* ---- the next scale ---- */

/* Of a channel of a picture for each y. A last column or row without a partner counts twice. */
template <class Sample> static __global__ void __launch_bounds__(PIXELS) halve(const struct job job)
{
    const int width = (job.width + 1) / 2, height = (job.height + 1) / 2,
              picture = blockIdx.y / job.channels, channel = blockIdx.y % job.channels;
    const size_t at = (size_t)blockIdx.x * PIXELS + threadIdx.x;
    const int x = at % width * 2, y = at / width * 2, right = min(x + 1, job.width - 1),
              under = min(y + 1, job.height - 1);
    if (y >= job.height)
        return;
    job.next[(size_t)blockIdx.y * width * height + at] =
        gf_ssim_mean(sample_at<Sample>(job, picture, channel, x, y),
                     sample_at<Sample>(job, picture, channel, right, y),
                     sample_at<Sample>(job, picture, channel, x, under),
                     sample_at<Sample>(job, picture, channel, right, under));
}

/* ---- the host ---- */

template <class Sample> static void launch_scale(const struct job &job, cudaStream_t stream)
{
    const size_t quarter = (size_t)((job.width + 1) / 2) * ((job.height + 1) / 2);
    const dim3 tiles(gf_ssim_tiles(job.width, job.height), job.channels),
        halves((unsigned)((quarter + PIXELS - 1) / PIXELS), 2 * job.channels);
    add_windows<Sample><<<tiles, THREADS, 0, stream>>>(job);
    if (job.next)
        halve<Sample><<<halves, PIXELS, 0, stream>>>(job);
}

/* Calls use(number, width, height) for each scale. */
template <class Use> static void for_scales(const struct ssim_pair *pair, const Use &use)
{
    int width = pair->format.width, height = pair->format.height;
    for (int i = 0; i < pair->scales; i++) {
        use(i, width, height);
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
}

uint64_t ssim_bytes_of_sums(const struct ssim_pair *pair)
{
    uint64_t tiles = 0;
    for_scales(pair, [&](int, int width, int height) {
        tiles += (uint64_t)gf_ssim_tiles(width, height) * pair->format.channels;
    });
    return tiles * sizeof(struct gf_ssim_sums);
}

void ssim_lay_out(struct ssim_pair *pair, struct arena *arena)
{
    for_scales(pair, [&](int i, int width, int height) {
        if (i == 1 || i == 2)
            take(arena, pair->planes[i % 2], 2 * (uint64_t)width * height * pair->format.channels);
    });
    take(arena, pair->tiles, ssim_bytes_of_sums(pair) / sizeof *pair->tiles);
}

cudaError_t ssim_queue(const struct ssim_pair *pair, cudaStream_t stream)
{
    const struct gf_format format = pair->format;
    const size_t bytes = format.bits / 8;
    struct job job = {};
    for (int i = 0; i < 2; i++) {
        job.picture[i] = pair->picture[i];
        job.pitch[i] = pair->pitch[i];
    }
    job.step = format.channels * bytes;
    job.plane = bytes;
    job.channels = format.channels;
    job.constants = gf_ssim_constants_make(gf_sample_max(format));
    job.tiles = pair->tiles;
    for_scales(pair, [&](int i, int width, int height) {
        job.width = width;
        job.height = height;
        job.tiles_across = gf_ssim_tiles_across(width);
        job.next = i + 1 < pair->scales ? pair->planes[(i + 1) % 2] : NULL;
        if (i > 0) {
            job.step = sizeof(float);
            job.pitch[0] = job.pitch[1] = width * sizeof(float);
            job.plane = job.pitch[0] * height;
            job.picture[0] = (const unsigned char *)pair->planes[i % 2];
            job.picture[1] = job.picture[0] + job.plane * format.channels;
        }
        if (i > 0)
            launch_scale<float>(job, stream);
        else if (format.bits == 16)
            launch_scale<uint16_t>(job, stream);
        else
            launch_scale<uint8_t>(job, stream);
        job.tiles += (size_t)gf_ssim_tiles(width, height) * format.channels;
    });
    const cudaError_t failure = cudaGetLastError();
    return failure ? failure
                   : cudaMemcpyAsync(pair->on_host, pair->tiles, ssim_bytes_of_sums(pair),
                                     cudaMemcpyDeviceToHost, stream);
}

void ssim_take(const struct ssim_pair *pair, double *ssim, double *ms_ssim)
{
    const int channels = pair->format.channels;
    struct gf_ssim_sums mean[GF_SSIM_SCALES];
    *ssim = *ms_ssim = 0;
    for (int c = 0; c < channels; c++) {
        const struct gf_ssim_sums *tiles = pair->on_host;
        for_scales(pair, [&](int i, int width, int height) {
            const size_t count = gf_ssim_tiles(width, height);
            mean[i] = gf_ssim_means(tiles + c * count, width, height);
            tiles += channels * count;
        });
        gf_ssim_add_channel(mean, pair->scales, channels, ssim, ms_ssim);
    }
}
