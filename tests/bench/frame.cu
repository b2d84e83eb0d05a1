/* The frame that the benchmark filters, and the comparison of results. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "bench.h"

enum { THREADS = 256 };

static __device__ unsigned int hash(unsigned int x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static __device__ unsigned long long spread(unsigned long long x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15ull;
    return x ^ x >> 29;
}

__global__ __launch_bounds__(THREADS) void digest_kernel(const unsigned char *data, size_t pitch,
                                                         size_t row_bytes, int rows,
                                                         struct bench_digest *digest)
{
    const size_t total = row_bytes * (size_t)rows;
    const size_t stride = (size_t)gridDim.x * THREADS;
    const unsigned char first = data[0];
    unsigned long long sum = 0, differing = 0;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < total; i += stride) {
        const unsigned char byte = data[i / row_bytes * pitch + i % row_bytes];
        sum += (byte + 1ull) * spread(i + 1);
        differing += byte != first;
    }
    for (int lane = 16; lane; lane /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, lane);
        differing += __shfl_down_sync(0xffffffffu, differing, lane);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&digest->sum, sum);
        atomicAdd(&digest->differing, differing);
    }
}

/* Noise at the corners of a grid of that cell, interpolated smoothly: -1..1. */
static __device__ float smooth_noise(int x, int y, int cell, unsigned int seed)
{
    const int i = x / cell, j = y / cell;
    float fx = (float)(x % cell) / (float)cell, fy = (float)(y % cell) / (float)cell;
    fx = fx * fx * (3.0f - 2.0f * fx);
    fy = fy * fy * (3.0f - 2.0f * fy);
    float corner[4];
    for (int k = 0; k < 4; k++)
        corner[k] =
            (float)(hash(hash((unsigned int)(i + k % 2) + seed) + (unsigned int)(j + k / 2)) >> 8) /
                8388608.0f -
            1.0f;
    const float top = corner[0] + (corner[1] - corner[0]) * fx;
    const float bottom = corner[2] + (corner[3] - corner[2]) * fx;
    return top + (bottom - top) * fy;
}

__global__ __launch_bounds__(THREADS) void frame_kernel(unsigned char *frame, int width, int height)
{
    enum { LARGEST_CELL = 1024, SMALLEST_CELL = 2 };
    const int x = (int)(blockIdx.x * THREADS + threadIdx.x), y = (int)blockIdx.y;
    if (x >= width || y >= height)
        return;
    /* The amplitude is proportional to the wavelength, as in photographs; only the large shapes
     * have colour. */
    float light = 0.0f, tint[3] = {0.0f, 0.0f, 0.0f}, amplitude = 0.30f;
    for (int cell = LARGEST_CELL; cell >= SMALLEST_CELL; cell /= 2, amplitude *= 0.62f) {
        light += amplitude * smooth_noise(x, y, cell, (unsigned int)cell);
        for (int c = 0; cell >= 64 && c < 3; c++)
            tint[c] +=
                0.4f * amplitude * smooth_noise(x, y, cell, (unsigned int)(cell + 7919 * (c + 1)));
    }
    for (int c = 0; c < 3; c++) {
        const unsigned int h = hash((unsigned int)(y * width + x) * 3u + (unsigned int)c);
        const float grain = (float)(h & 0xffu) + (float)(h >> 8 & 0xffu) - 255.0f; /* -255..255 */
        const float v = 255.0f * (0.45f + light + tint[c]) + grain * (1.0f / 80.0f) + 0.5f;
        frame[((size_t)y * (size_t)width + (size_t)x) * 3 + (size_t)c] =
            (unsigned char)fminf(fmaxf(v, 0.0f), 255.0f);
    }
}

__global__ __launch_bounds__(THREADS) void convert_kernel(const unsigned char *frame,
                                                          unsigned char *out, int channels,
                                                          int bits, bool floats, size_t pixels)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= pixels)
        return;
    const unsigned char *const p = frame + 3 * i;
    const int alpha = (int)(hash((unsigned int)(i / 64)) & 0xffu);
    for (int c = 0; c < channels; c++) {
        const bool is_alpha = channels % 2 == 0 && c == channels - 1;
        const int v = is_alpha ? (alpha < 160 ? 255 : alpha) : p[channels < 3 ? 1 : c];
        const size_t at = i * (size_t)channels + (size_t)c;
        if (bits == 8)
            out[at] = (unsigned char)v;
        else if (floats && bits == 16)
            ((__half *)out)[at] = __float2half_rn((float)v / 255.0f);
        else if (floats)
            ((float *)out)[at] = (float)v / 255.0f;
        else
            ((unsigned short *)out)[at] =
                (unsigned short)(is_alpha ? v * 257
                                          : (v << 8) +
                                                (int)(hash((unsigned int)i * 4u + (unsigned int)c) &
                                                      0xffu));
    }
}

/* ---- launchers ---- */

bool bench_digest(const void *data, size_t pitch, size_t row_bytes, int rows,
                  struct bench_digest *digest)
{
    enum { BLOCKS = 1056 };
    struct bench_digest *const sums = (struct bench_digest *)bench_alloc(sizeof *sums);
    bool ok = sums && bench_fill(sums, 0, sizeof *sums);
    if (ok) {
        digest_kernel<<<BLOCKS, THREADS>>>((const unsigned char *)data, pitch, row_bytes, rows,
                                           sums);
        ok = cudaGetLastError() == cudaSuccess && bench_copy_out(digest, sums, sizeof *digest);
    }
    bench_free(sums);
    return ok;
}

bool bench_make_frame(unsigned char *frame, int width, int height)
{
    const dim3 grid((unsigned int)((width + THREADS - 1) / THREADS), (unsigned int)height);
    frame_kernel<<<grid, THREADS>>>(frame, width, height);
    return cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
}

bool bench_convert_frame(const unsigned char *frame, unsigned char *out, struct gf_format format)
{
    const size_t pixels = (size_t)format.width * (size_t)format.height;
    convert_kernel<<<(unsigned int)((pixels + THREADS - 1) / THREADS), THREADS>>>(
        frame, out, format.channels, format.bits, format.samples == GF_SAMPLES_FLOAT, pixels);
    return cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
}
