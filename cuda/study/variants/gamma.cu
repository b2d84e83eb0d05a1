/* Computes gamma for each sample, where gf_point has a table, to show the cost of a power by three
 * functions (Best Practices Guide 11.1.6). The kernels are otherwise equal; a thread processes 16
 * bytes. */
#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "filters/gamma/gamma.h"
#include "pixel/point/point.h"

enum { GAMMA_THREADS = 256 };

struct by_powf {
    static __device__ __forceinline__ float of(float v, float exponent)
    {
        return powf(v, exponent);
    }
};

/* Computes the power by exp2f and log2f. It lacks the extended precision of powf's logarithm, which
 * only exponents above 100 need. */
struct by_exp2f {
    static __device__ __forceinline__ float of(float v, float exponent)
    {
        return exp2f(exponent * log2f(v));
    }
};

/* Computes the power by the special function unit. Near 1 its logarithm has an error of up to
 * 2^-21.4, which an exponent of 100 enlarges to 2.5e-5 of the result. */
struct by_intrinsic {
    static __device__ __forceinline__ float of(float v, float exponent)
    {
        return __powf(v, exponent);
    }
};

struct gamma_args {
    struct view_pair p;
    unsigned full, tail; /* number of vectors in a row; bytes after them */
    int channels;
    float exponent, max;
};

template <class POWER, class SAMPLE>
static __device__ __forceinline__ SAMPLE corrected(const struct gamma_args &args, SAMPLE v)
{
    const float part = (float)v * (1.0f / (sizeof(SAMPLE) == 1 ? 255.0f : 65535.0f));
    return (SAMPLE)(int)(fminf(POWER::of(part, args.exponent) * args.max, args.max) + 0.5f);
}

/* Whether a sample of a vector is alpha: vectors begin with a pixel, except for three channels,
 * which have no alpha. */
static __device__ __forceinline__ bool is_alpha(const struct gamma_args &args, int sample)
{
    return args.channels % 2 == 0 && (sample + 1) % args.channels == 0;
}

template <class POWER, class SAMPLE>
__global__ void __launch_bounds__(GAMMA_THREADS) gamma_kernel(const struct gamma_args args)
{
    constexpr int SAMPLES = VECTOR / sizeof(SAMPLE);
    const struct view_pair &p = args.p;
    const unsigned row_items = args.full + (args.tail ? 1 : 0);
    const struct position at =
        position_of(blockIdx.x * GAMMA_THREADS + threadIdx.x, p.rows, row_items);
    if (at.row >= p.rows || at.column >= row_items)
        return;
    const size_t offset = (size_t)at.column * VECTOR;
    const unsigned char *const in = p.in + at.row * p.in_pitch + offset;
    unsigned char *const out = p.out + at.row * p.out_pitch + offset;
    if (at.column < args.full) {
        uint4 v = *(const uint4 *)in;
        SAMPLE sample[SAMPLES];
        memcpy(sample, &v, sizeof v);
#pragma unroll
        for (int i = 0; i < SAMPLES; i++)
            sample[i] = is_alpha(args, i) ? sample[i] : corrected<POWER>(args, sample[i]);
        memcpy(&v, sample, sizeof v);
        *(uint4 *)out = v;
    } else {
#pragma unroll 1
        for (int i = 0; i < (int)(args.tail / sizeof(SAMPLE)); i++) {
            const SAMPLE v = ((const SAMPLE *)in)[i];
            ((SAMPLE *)out)[i] = is_alpha(args, i) ? v : corrected<POWER>(args, v);
        }
    }
}

template <class POWER> static int launch_gamma(const struct gf_launch *launch)
{
    const struct gf_stage *const stage = launch->stage;
    const struct gf_point_run *const run = (const struct gf_point_run *)stage->params;
    const size_t row_bytes = gf_row_bytes(stage->in),
                 pixel_bytes = row_bytes / (size_t)stage->in.width;
    const struct view_pair p = aligned_views(launch);
    struct gamma_args args = {};
    args.p = join_rows(p, row_bytes, row_bytes);
    args.full = whole_items(args.p.width * pixel_bytes, VECTOR, &args.tail);
    args.channels = stage->in.channels;
    args.exponent = (float)(1 / ((const struct gf_gamma *)run->item[0].params)->value);
    args.max = stage->in.bits == 8 ? 255.0f : 65535.0f;
    const unsigned blocks = blocks_for(args.p.rows * (args.full + !!args.tail), GAMMA_THREADS);
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    if (!blocks)
        return cudaSuccess;
    if (stage->in.bits == 8)
        gamma_kernel<POWER, uint8_t><<<blocks, GAMMA_THREADS, 0, stream>>>(args);
    else
        gamma_kernel<POWER, uint16_t><<<blocks, GAMMA_THREADS, 0, stream>>>(args);
    return cudaGetLastError();
}

extern "C" int gf_gamma_powf_cuda(const struct gf_launch *launch)
{
    return launch_gamma<by_powf>(launch);
}

extern "C" int gf_gamma_exp2f_cuda(const struct gf_launch *launch)
{
    return launch_gamma<by_exp2f>(launch);
}

extern "C" int gf_gamma_intrinsic_cuda(const struct gf_launch *launch)
{
    return launch_gamma<by_intrinsic>(launch);
}
