/* Compares the same polynomial in single precision, in double precision, and with literals that
 * lack the suffix f (Best Practices Guide, 11.1.4 and 6.3.1). */
#include "study/labs/lab.h"

struct precision {
    int size, arguments;
};

static const struct gf_param precision_params[] = {
    GF_PARAM_INT(struct precision, size, 128, 1, 4096,
                 "of the array of floats that is scaled, in MB"),
    GF_PARAM_INT(struct precision, arguments, 262144, 1024, 16777216,
                 "random arguments that the errors are the worst of"),
    {0},
};

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

static enum gf_status time_doubles(const struct gf_lab_run *run, const struct arguments &x,
                                   struct lab_time *time, double *worst)
{
    const std::vector<double> values(x.host.begin(), x.host.end());
    std::vector<double> sums(SUMS_CHECKED);
    lab_memory<double> in, out;
    GF_TRY(in.alloc(run, values.size()));
    GF_TRY(out.poison(run, EVALUATED));
    LAB_TRY(cudaMemcpy(in.data, values.data(), in.bytes(), cudaMemcpyHostToDevice));
    GF_TRY(lab_time(
        run, LAB_WARM,
        [&] {
            doubles_kernel<<<EVALUATED / EVALUATE_THREADS, EVALUATE_THREADS>>>(in.data, out.data,
                                                                               (int)values.size());
        },
        time));
    LAB_TRY(
        cudaMemcpy(sums.data(), out.data, SUMS_CHECKED * sizeof(double), cudaMemcpyDeviceToHost));
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
    return GF_OK;
}

/* Times an array of count elements and checks all of them. */
template <typename T>
static enum gf_status time_scale(const struct gf_lab_run *run, int count, double *gb_s, double *us,
                                 double *worst)
{
    lab_memory<float> floats;
    lab_memory<T> in, out;
    std::vector<T> before(count), after(count);
    std::vector<float> random(count);
    struct lab_time time;
    GF_TRY(floats.random(run, count, 5));
    GF_TRY(in.alloc(run, count));
    GF_TRY(out.poison(run, count));
    LAB_TRY(cudaMemcpy(random.data(), floats.data, floats.bytes(), cudaMemcpyDeviceToHost));
    std::copy(random.begin(), random.end(), before.begin());
    LAB_TRY(cudaMemcpy(in.data, before.data(), in.bytes(), cudaMemcpyHostToDevice));
    const int packs = (int)(in.bytes() / sizeof(pack<T>));
    const auto launch = [&] {
        scale_kernel<<<lab_blocks(packs, EVALUATE_THREADS), EVALUATE_THREADS>>>(
            (const pack<T> *)in.data, (pack<T> *)out.data, packs);
    };
    GF_TRY(lab_time(run, LAB_WARM, launch, &time));
    LAB_TRY(cudaMemcpy(after.data(), out.data, out.bytes(), cudaMemcpyDeviceToHost));
    *worst = 0.0;
    for (int i = 0; i < count; i++)
        *worst = std::max(*worst, fabs((double)after[i] - polynomial((double)before[i])));
    *us = time.median_s * 1e6;
    *gb_s = lab_gb_s(2.0 * in.bytes(), time);
    return GF_OK;
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

struct findings {
    struct measured floats[LITERALS];
    struct lab_time doubles;
    double worst_double;
    double gb_s[2], us[2], worst[2]; /* results for arrays of floats, and for arrays of doubles */
};

static enum gf_status measure_all(const struct gf_lab_run *run, struct findings *found)
{
    const struct precision *const params = (const struct precision *)run->params;
    const int count = (int)(params->size * LAB_MB / sizeof(float4) * 4);
    struct arguments x;
    GF_TRY(x.fill(run, {false, -1.0, 1.0}, params->arguments, 1));
    for (int i = 0; i < LITERALS; i++)
        GF_TRY(measure(
            run, methods[i].kernel, [](double value) { return polynomial(value); }, x,
            {methods[i].most_ulp, 0.0}, &found->floats[i]));
    GF_TRY(time_doubles(run, x, &found->doubles, &found->worst_double));
    GF_TRY(time_scale<float>(run, count, &found->gb_s[0], &found->us[0], &found->worst[0]));
    GF_TRY(time_scale<double>(run, count, &found->gb_s[1], &found->us[1], &found->worst[1]));
    return GF_OK;
}

static void tabulate(const struct gf_lab_run *run, const struct findings &found)
{
    gf_lab_rows(run, "polynomial of degree 3");
    const int time = gf_lab_column(run, "in registers", "ps/call", 3);
    const int slower = gf_lab_column(run, "of float", "times", 2);
    const int ulp = gf_lab_column(run, "worst error", "ulp", 2);
    const int array = gf_lab_column(run, "array", "us", 1);
    const int rate = gf_lab_column(run, "array", "GB/s", 0);
    for (int i = 0; i <= LITERALS; i++) {
        const bool floats = i < LITERALS;
        const double median_s = floats ? found.floats[i].time.median_s : found.doubles.median_s;
        gf_lab_row(run, NAN, "%s", floats ? methods[i].name : "double");
        gf_lab_value(run, time, median_s * 1e12 / ((double)EVALUATED * CALLS));
        gf_lab_value(run, slower, median_s / found.floats[0].time.median_s);
        if (floats)
            gf_lab_value(run, ulp, found.floats[i].worst_ulp);
        if (i == 0 || !floats) {
            gf_lab_value(run, array, found.us[!floats]);
            gf_lab_value(run, rate, found.gb_s[!floats]);
        }
    }
}

static enum gf_status run(const struct gf_lab_run *run)
{
    struct findings found = {};
    int wrong = 0, ratio = 0;
    GF_TRY(measure_all(run, &found));
    tabulate(run, found);
    for (const struct measured &floats : found.floats)
        wrong += floats.beyond;
    gf_lab_check(
        run,
        !wrong && found.worst_double < 1e-12 && found.worst[0] < 1e-6 && found.worst[1] < 1e-14,
        "polynomials are the CPU's in double: arrays within %.1g (float) and %.1g (double)",
        found.worst[0], found.worst[1]);
    const double float_s = found.floats[0].time.median_s;
    gf_lab_claim(run, found.floats[1].time.median_s > 1.1 * float_s,
                 "a literal without f takes %.1f times as long, all of them %.1f times",
                 found.floats[1].time.median_s / float_s, found.floats[2].time.median_s / float_s);
    LAB_TRY(cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio,
                                   run->device.index));
    gf_lab_claim(run, found.doubles.median_s > float_s,
                 "doubles take %.1f times as long in registers (this GPU has %d times as many "
                 "units for float), %.2f times as long from memory",
                 found.doubles.median_s / float_s, ratio, found.us[1] / found.us[0]);
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_precision = {
    .name = "precision",
    .summary = "floats against doubles, and what a literal without its f costs",
    .guide = "4, 11.1.4 and 6.3.1",
    .figure = "a conversion costs execution cycles; floats are fastest",
    GF_PARAMS(struct precision, precision_params),
    .run = GF_LAB_RUN(run),
};
