/* Compares the same polynomial in single precision, in double precision, and with literals that
 * lack the suffix f (Best Practices Guide, 11.1.4 and 6.3.1). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/arithmetic.cuh"

/* Computes a few products with constants and their sum, as in the conversion of RGB to gray. T is
 * the type of the literals; the argument and the result are floats. */
template <typename T> static __host__ __device__ T polynomial(T x)
{
    return (((T)0.1 * x + (T)0.7) * x - (T)0.3) * x + (T)1.9;
}

struct with_f {
    static __device__ float of(float x)
    {
        return ((0.1f * x + 0.7f) * x - 0.3f) * x + 1.9f;
    }
};

/* Computes the polynomial with one literal without the suffix f. From this literal on the
 * expression is computed in double, and then converted back. */
struct one_without_f {
    static __device__ float of(float x)
    {
        return ((0.1f * x + 0.7f) * x - 0.3f) * x + 1.9;
    }
};

struct all_without_f {
    static __device__ float of(float x)
    {
        return ((0.1 * x + 0.7) * x - 0.3) * x + 1.9;
    }
};

/* Computes the polynomial in doubles alone. */
static __global__ void __launch_bounds__(EVALUATE_THREADS)
    doubles_kernel(const double *x, double *out, int arguments)
{
    const int i = (int)(blockIdx.x * EVALUATE_THREADS + threadIdx.x);
    const long long bits = __double_as_longlong(x[i % arguments]);
    double sum = 0.0;
#pragma unroll 4
    for (int k = 0; k < CALLS; k++)
        sum += polynomial(__longlong_as_double(bits ^ (long long)k << 33));
    out[i] = sum;
}

/* The values of a thread, 16 bytes for floats and doubles alike, in a kernel that is limited by
 * memory. */
template <typename T> struct alignas(16) pack {
    T value[16 / sizeof(T)];
};

template <typename T>
static __global__ void __launch_bounds__(EVALUATE_THREADS)
    scale_kernel(const pack<T> *in, pack<T> *out, int packs)
{
    const int i = (int)(blockIdx.x * EVALUATE_THREADS + threadIdx.x);
    if (i >= packs)
        return;
    pack<T> all = in[i];
#pragma unroll
    for (T &value : all.value)
        value = polynomial(value);
    out[i] = all;
}

/* Times the doubles. *worst becomes the largest relative error. */
static struct lab_time time_doubles(const struct gf_lab_run *run, const struct arguments &x,
                                    double *worst)
{
    const std::vector<double> values(x.host.begin(), x.host.end());
    const lab_memory<double> in(run, values.size()), out(run, EVALUATED);
    in.set(values);
    out.poison();
    const struct lab_time time = lab_time(run, [&] {
        doubles_kernel<<<EVALUATED / EVALUATE_THREADS, EVALUATE_THREADS>>>(in.data, out.data,
                                                                           (int)values.size());
    });
    const std::vector<double> sums = out.host(SUMS_CHECKED);
    *worst = 0.0;
    for (int i = 0; i < SUMS_CHECKED; i++) {
        double expected = 0.0, argument;
        long long bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (int k = 0; k < CALLS; k++) {
            const long long changed = bits ^ (long long)k << 33;
            memcpy(&argument, &changed, sizeof argument);
            expected += polynomial(argument);
        }
        *worst = std::max(*worst, fabs(sums[i] - expected) / fabs(expected));
    }
    return time;
}

/* Times an array of count elements and checks all of them. *worst becomes the largest error. */
template <typename T>
static struct lab_time time_scale(const struct gf_lab_run *run, size_t count, double *worst)
{
    const std::vector<float> random = lab_memory<float>(run, count, 5).host();
    const std::vector<T> before(random.begin(), random.end());
    const lab_memory<T> in(run, count), out(run, count);
    const int packs = (int)(in.bytes() / sizeof(pack<T>));
    in.set(before);
    out.poison();
    const struct lab_time time = lab_time(run, [&] {
        scale_kernel<<<lab_blocks(packs, EVALUATE_THREADS), EVALUATE_THREADS>>>(
            (const pack<T> *)in.data, (pack<T> *)out.data, packs);
    });
    const std::vector<T> after = out.host();
    *worst = 0.0;
    for (size_t i = 0; i < count; i++)
        *worst = std::max(*worst, fabs((double)after[i] - polynomial((double)before[i])));
    return time;
}

enum { LITERALS = 3 }; /* forms of the literals */

static const struct {
    const char *name;
    evaluate *kernel;
    double most_ulp;
} methods[LITERALS] = {
    {"float", evaluate_kernel<with_f>, 2.0},
    {"float, one literal without f", evaluate_kernel<one_without_f>, 2.0},
    {"float, no literal with f", evaluate_kernel<all_without_f>, 0.51},
};

static void run(const struct gf_lab_run *run)
{
    const size_t count = run->param[0] * LAB_MB / sizeof(float4) * 4;
    const struct arguments x(run, {false, -1.0, 1.0}, run->param[1], 1);
    struct measured floats[LITERALS];
    double worst_sum, worst_float, worst_double;
    for (int i = 0; i < LITERALS; i++)
        floats[i] = measure(run, methods[i].kernel, [](double value) { return polynomial(value); },
                            x, {methods[i].most_ulp, 0.0});
    const struct lab_time doubles = time_doubles(run, x, &worst_sum);
    const struct lab_time of_floats = time_scale<float>(run, count, &worst_float);
    const struct lab_time of_doubles = time_scale<double>(run, count, &worst_double);
    const double bytes = 2.0 * count * sizeof(float);
    for (int i = 0; i < LITERALS; i++)
        lab_row(run, NAN,
                {floats[i].ps_a_call(), floats[i].time / floats[0].time, floats[i].worst_ulp,
                 i ? NAN : of_floats.us(), i ? NAN : of_floats.gb_s(bytes)},
                "%s", methods[i].name);
    lab_row(run, NAN,
            {doubles.median_s * 1e12 / ((double)EVALUATED * CALLS), doubles / floats[0].time, NAN,
             of_doubles.us(), of_doubles.gb_s(2.0 * bytes)},
            "double");
    gf_lab_check(
        run, !run->result->wrong && worst_sum < 1e-12 && worst_float < 1e-6 && worst_double < 1e-14,
        "polynomials are the CPU's in double: arrays within %.1g (float) and %.1g (double)",
        worst_float, worst_double);
    gf_lab_above(run, 1.1, "a literal without f takes %.1f times as long, all of them %.1f times",
                 floats[1].time / floats[0].time, floats[2].time / floats[0].time);
    gf_lab_above(run, 1.0,
                 "doubles take %.1f times as long in registers (this GPU has %d times as many "
                 "units for float), %.2f times as long from memory",
                 doubles / floats[0].time,
                 lab_attribute(run, cudaDevAttrSingleToDoublePrecisionPerfRatio),
                 of_doubles / of_floats);
}
#endif

const struct gf_lab gf_lab_precision = {
    .name = "precision",
    .summary = "floats against doubles, and what a literal without its f costs",
    .guide = "4, 11.1.4 and 6.3.1",
    .figure = "a conversion costs execution cycles; floats are fastest",
    .params = {GF_LAB_INT("size", 128, 1, 4096, "of the array of floats that is scaled, in MB"),
               GF_LAB_INT("arguments", 262144, 1024, 16777216,
                          "random arguments that the errors are the worst of")},
    .rows = "polynomial of degree 3",
    .columns = {{"in registers", "ps/call", 3},
                {"of float", "times", 2},
                {"worst error", "ulp", 2},
                {"array", "us", 1},
                {"array", "GB/s", 0}},
    .run = GF_LAB_RUN(run),
};
