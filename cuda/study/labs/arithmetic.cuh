/* Measures the time and the largest error of functions of one float, for the labs of chapter 11
 * (Best Practices Guide). A function is a type F with static __device__ float of(float). Its time
 * is the time of many calls on arguments in registers; its error is the error of of(x) for each
 * argument, compared with the CPU in double, in units of the last place of the exact value. */
#pragma once

#include <cmath>
#include <cstring>

#include "cuda/study/labs/lab.cuh"

constexpr int EVALUATE_THREADS = 256;
constexpr int EVALUATED = 1 << 20; /* threads, which are a few waves on the largest GPU */
constexpr int CALLS = 64; /* calls of a thread, with arguments that differ in the last bits */
constexpr int SUMS_CHECKED = 1024;

/* Computes the argument of call k from x in one instruction, which changes its last bits. */
static __host__ __device__ __forceinline__ int argument_bits(int bits, int k)
{
    return bits ^ k << 2;
}

/* Evaluates F. With calls = 1 the result is F::of(x) itself. The loop is unrolled, so that calls
 * overlap in each thread and the instructions of the loop take little time. */
template <typename F>
static __global__ void __launch_bounds__(EVALUATE_THREADS)
    evaluate_kernel(const float *x, float *out, int arguments, int threads, int calls)
{
    const int i = (int)(blockIdx.x * EVALUATE_THREADS + threadIdx.x);
    if (i >= threads)
        return;
    const int bits = __float_as_int(x[i % arguments]);
    float sum = 0.0f;
#pragma unroll 4
    for (int k = 0; k < calls; k++)
        sum += F::of(__int_as_float(argument_bits(bits, k)));
    out[i] = sum;
}

typedef void evaluate(const float *x, float *out, int arguments, int threads, int calls);

/* The empty function. Its time is the time of the loop, which is subtracted. */
struct nothing {
    static __device__ float of(float x)
    {
        return x;
    }
};

struct argument_range {
    bool logarithmic; /* least and most are exponents of two; otherwise they are values */
    double least, most;
};

/* Random arguments in a range, on the host and on the device. */
struct arguments {
    lab_memory<float> device;
    std::vector<float> host;

    arguments(const struct gf_lab_run *run, const struct argument_range &range, int count,
              uint32_t seed)
        : device(run, count, seed), host(device.host())
    {
        for (float &x : host) {
            const double place = range.least + (range.most - range.least) * (x + 1.0) / 2;
            x = (float)(range.logarithmic ? exp2(place) : place);
        }
        device.set(host);
    }
};

static inline double ulp_error(float value, double exact)
{
    const int exponent = exact == 0.0 ? -126 : std::max(ilogb(exact), -126);
    const double distance = fabs((double)value - exact);
    return std::isnan(distance) ? INFINITY : ldexp(distance, 23 - exponent);
}

/* The allowed error of a result: in ulp of the exact value, or absolute. The larger one applies. */
struct bounds {
    double ulp, absolute;
};

struct measured {
    struct lab_time time;
    double worst_ulp; /* the greatest error in ulp of the exact value */
    double worst;     /* the greatest absolute error */

    double ps_a_call() const
    {
        return time.median_s * 1e12 / ((double)EVALUATED * CALLS);
    }
};

/* Whether a sum is right: each call may have the error of the bounds, and each addition is
 * rounded. */
template <typename Exact>
static bool sum_is_right(float sum, float x, Exact exact, const struct bounds &bounds)
{
    double expected = 0.0, size = 0.0;
    int bits;
    memcpy(&bits, &x, sizeof bits);
    for (int k = 0; k < CALLS; k++) {
        const int changed = argument_bits(bits, k);
        float argument;
        memcpy(&argument, &changed, sizeof argument);
        expected += exact((double)argument);
        size += fabs(exact((double)argument));
    }
    return fabs(sum - expected) <= CALLS * bounds.absolute + size * ldexp(bounds.ulp + CALLS, -23);
}

/* Measures a function. `exact` is a function double(double). Results beyond the bounds count as
 * wrong. */
template <typename Exact>
static struct measured measure(const struct gf_lab_run *run, evaluate *kernel, Exact exact,
                               const struct arguments &x, const struct bounds &bounds)
{
    const int count = (int)x.host.size();
    const lab_memory<float> out(run, std::max(count, EVALUATED));
    struct measured measured = {};
    out.poison();
    kernel<<<lab_blocks(count, EVALUATE_THREADS), EVALUATE_THREADS>>>(x.device.data, out.data,
                                                                      count, count, 1);
    std::vector<float> values = out.host(count);
    for (int i = 0; i < count; i++) {
        const double y = exact((double)x.host[i]);
        const double ulp = ulp_error(values[i], y), absolute = fabs(values[i] - y);
        measured.worst_ulp = std::max(measured.worst_ulp, ulp);
        measured.worst = std::max(measured.worst, absolute);
        gf_lab_count(run, !(ulp <= bounds.ulp || absolute <= bounds.absolute));
    }
    measured.time = lab_time(run, [&] {
        kernel<<<EVALUATED / EVALUATE_THREADS, EVALUATE_THREADS>>>(x.device.data, out.data, count,
                                                                   EVALUATED, CALLS);
    });
    values = out.host(std::min(count, SUMS_CHECKED));
    for (size_t i = 0; i < values.size(); i++)
        gf_lab_count(run, !sum_is_right(values[i], x.host[i], exact, bounds));
    return measured;
}
