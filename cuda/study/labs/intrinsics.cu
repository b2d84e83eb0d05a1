/* The time and the error of functions of the library, of their intrinsics and of their special
 * forms (Best Practices Guide, 11.1.3 and 11.1.6). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/arithmetic.cuh"

constexpr double PI = 3.14159265358979323846;

enum range { POSITIVE, SMALL, CIRCLE, UNIT, LARGE, RANGES };
static const struct {
    const char *text;
    struct argument_range range;
} ranges[RANGES] = {
    {"2^-20..2^20", {true, -20.0, 20.0}}, /* POSITIVE */
    {"-10..10", {false, -10.0, 10.0}},    /* SMALL */
    {"-pi..pi", {false, -PI, PI}},        /* CIRCLE */
    {"-1..1", {false, -1.0, 1.0}},        /* UNIT */
    {"2^17..2^30", {true, 17.0, 30.0}},   /* LARGE */
};

/* Uses both results, so that the compiler does not remove the computation of either. */
static __device__ float both(float sine, float cosine)
{
    return fmaxf(sine, cosine);
}

static __device__ float of_sincosf(float x)
{
    float sine, cosine;
    sincosf(x, &sine, &cosine);
    return both(sine, cosine);
}

static __device__ float of_fast_sincosf(float x)
{
    float sine, cosine;
    __sincosf(x, &sine, &cosine);
    return both(sine, cosine);
}

static __device__ float of_sincospif(float x)
{
    float sine, cosine;
    sincospif(x, &sine, &cosine);
    return both(sine, cosine);
}

/* The functions, in groups. A group begins with the general function, with which the other
 * functions of the group are compared. The last members are the bounds of the error, in ulp and
 * absolute; the larger one applies. For functions of the library the bound is the documented error
 * plus one ulp for the operations around the call. The error of intrinsics is absolute or grows
 * with the argument, so that their bounds are larger. */
#define FUNCTIONS(GENERAL, SPECIAL) \
    GENERAL(by_sqrtf, "1/sqrtf(x)", 1.0f / sqrtf(x), 1.0 / sqrt(x), POSITIVE, 2, 0) \
    SPECIAL(by_rsqrtf, "rsqrtf(x)", rsqrtf(x), 1.0 / sqrt(x), POSITIVE, 2, 0) \
    SPECIAL(by_frsqrt, "__frsqrt_rn(x)", __frsqrt_rn(x), 1.0 / sqrt(x), POSITIVE, 1, 0) \
    GENERAL(by_logf, "logf(x)", logf(x), log(x), POSITIVE, 2, 0) \
    SPECIAL(fast_logf, "__logf(x)", __logf(x), log(x), POSITIVE, 4, 2e-6) \
    GENERAL(by_log2f, "log2f(x)", log2f(x), log2(x), POSITIVE, 2, 0) \
    SPECIAL(fast_log2f, "__log2f(x)", __log2f(x), log2(x), POSITIVE, 4, 1e-6) \
    GENERAL(by_powf, "powf(x, 1.7f)", powf(x, 1.7f), pow(x, (double)1.7f), POSITIVE, 5, 0) \
    SPECIAL(fast_powf, "__powf(x, 1.7f)", __powf(x, 1.7f), pow(x, (double)1.7f), POSITIVE, 200, 0) \
    GENERAL(cube_powf, "powf(x, 3.0f)", powf(x, 3.0f), x *x *x, POSITIVE, 5, 0) \
    SPECIAL(cube, "x * x * x", x *x *x, x *x *x, POSITIVE, 2, 0) \
    GENERAL(by_expf, "expf(x)", expf(x), exp(x), SMALL, 2, 0) \
    SPECIAL(fast_expf, "__expf(x)", __expf(x), exp(x), SMALL, 16, 0) \
    GENERAL(two_powf, "powf(2.0f, x)", powf(2.0f, x), exp2(x), SMALL, 5, 0) \
    SPECIAL(by_exp2f, "exp2f(x)", exp2f(x), exp2(x), SMALL, 3, 0) \
    GENERAL(ten_powf, "powf(10.0f, x)", powf(10.0f, x), pow(10.0, x), SMALL, 5, 0) \
    SPECIAL(by_exp10f, "exp10f(x)", exp10f(x), pow(10.0, x), SMALL, 3, 0) \
    SPECIAL(fast_exp10f, "__exp10f(x)", __exp10f(x), pow(10.0, x), SMALL, 40, 0) \
    GENERAL(by_sinf, "sinf(x)", sinf(x), sin(x), CIRCLE, 3, 0) \
    SPECIAL(fast_sinf, "__sinf(x)", __sinf(x), sin(x), CIRCLE, 0, 2e-6) \
    SPECIAL(large_sinf, "sinf(x), x large", sinf(x), sin(x), LARGE, 3, 0) \
    GENERAL(by_both, "sinf(x) and cosf(x)", both(sinf(x), cosf(x)), fmax(sin(x), cos(x)), CIRCLE, \
            3, 0) \
    SPECIAL(by_sincosf, "sincosf(x)", of_sincosf(x), fmax(sin(x), cos(x)), CIRCLE, 3, 0) \
    SPECIAL(fast_sincosf, "__sincosf(x)", of_fast_sincosf(x), fmax(sin(x), cos(x)), CIRCLE, 0, \
            2e-6) \
    GENERAL(pi_sinf, "sinf(pi x)", sinf((float)PI *x), sin(PI *x), UNIT, 0, 1e-6) \
    SPECIAL(by_sinpif, "sinpif(x)", sinpif(x), sin(PI *x), UNIT, 3, 0) \
    GENERAL(pi_sincosf, "sincosf(pi x)", of_sincosf((float)PI *x), fmax(sin(PI *x), cos(PI *x)), \
            UNIT, 0, 1e-6) \
    SPECIAL(by_sincospif, "sincospif(x)", of_sincospif(x), fmax(sin(PI *x), cos(PI *x)), UNIT, 3, 0)

#define DEFINE(id, name, computation, exact, range, ulp, absolute) \
    struct id { \
        static __device__ float of(float x) \
        { \
            return computation; \
        } \
    };
FUNCTIONS(DEFINE, DEFINE)

enum {
#define NUMBER(id, ...) NUMBER_##id,
    FUNCTIONS(NUMBER, NUMBER) COUNT
};

static const struct function {
    const char *name;
    evaluate *kernel;
    double (*exact)(double);
    enum range range;
    struct bounds bounds;
    bool general;
} functions[COUNT] = {
#define GENERAL(id, name, computation, exact, range, ulp, absolute) \
    {name, evaluate_kernel<id>, [](double x) { return exact; }, range, {ulp, absolute}, true},
#define SPECIAL(id, name, computation, exact, range, ulp, absolute) \
    {name, evaluate_kernel<id>, [](double x) { return exact; }, range, {ulp, absolute}, false},
    FUNCTIONS(GENERAL, SPECIAL)};

static void run(const struct gf_lab_run *run)
{
    const int count = run->param[0];
    const struct arguments x[RANGES] = {{run, ranges[POSITIVE].range, count, 1},
                                        {run, ranges[SMALL].range, count, 2},
                                        {run, ranges[CIRCLE].range, count, 3},
                                        {run, ranges[UNIT].range, count, 4},
                                        {run, ranges[LARGE].range, count, 5}};
    struct measured found[COUNT];
    int general = 0;
    for (int i = 0; i < COUNT; i++) {
        const struct function *const function = &functions[i];
        found[i] =
            measure(run, function->kernel, function->exact, x[function->range], function->bounds);
        if (function->general)
            general = i;
        lab_row(run, NAN,
                {found[i].ps_a_call(), i == general ? NAN : found[general].time / found[i].time,
                 found[i].worst_ulp, found[i].worst},
                "%s", function->name);
        gf_lab_reason(run, "x in %s", ranges[function->range].text);
    }
    const struct measured loop = measure(run, evaluate_kernel<nothing>,
                                         [](double value) { return value; }, x[UNIT], {0.0, 0.0});
    lab_row(run, NAN, {loop.ps_a_call()}, "the loop alone");
#define FASTER(special, general) (found[NUMBER_##general].time / found[NUMBER_##special].time)
#define ULP(id) found[NUMBER_##id].worst_ulp
    gf_lab_above(run, 1.0,
                 "rsqrtf(x) is %.1f times as fast as 1/sqrtf(x), its error %.2f against %.2f ulp",
                 FASTER(by_rsqrtf, by_sqrtf), ULP(by_rsqrtf), ULP(by_sqrtf));
    gf_lab_claim(
        run, FASTER(fast_expf, by_expf) > 1.0 && FASTER(fast_sinf, by_sinf) > 1.0,
        "intrinsics are faster and less accurate: __expf %.1f, __sinf %.1f, __logf %.1f, __powf "
        "%.1f times (__expf: %.1f against %.1f ulp)",
        FASTER(fast_expf, by_expf), FASTER(fast_sinf, by_sinf), FASTER(fast_logf, by_logf),
        FASTER(fast_powf, by_powf), ULP(fast_expf), ULP(by_expf));
    gf_lab_above(
        run, 5.0,
        "sinf of large arguments, to be reduced, takes %.1f times as long (guide: about ten)",
        1.0 / FASTER(large_sinf, by_sinf));
    gf_lab_claim(run, FASTER(by_exp2f, two_powf) > 2.0 && FASTER(by_exp10f, ten_powf) > 2.0,
                 "exp2f is %.1f, exp10f %.1f times as fast as powf (guide: up to ten)",
                 FASTER(by_exp2f, two_powf), FASTER(by_exp10f, ten_powf));
    gf_lab_above(run, 1.0, "x * x * x is %.1f times as fast as powf(x, 3.0f)",
                 FASTER(cube, cube_powf));
    gf_lab_above(run, 1.0,
                 "sincosf is %.2f times as fast as sinf and cosf; __sincosf is %.1f times",
                 FASTER(by_sincosf, by_both), FASTER(fast_sincosf, by_both));
    gf_lab_claim(
        run,
        FASTER(by_sinpif, pi_sinf) > 1.0 && FASTER(by_sincospif, pi_sincosf) > 1.0 &&
            ULP(by_sinpif) < ULP(pi_sinf),
        "sinpif(x) is %.2f times as fast as sinf(pi x), sincospif %.2f; its error is %.1f against "
        "%.3g ulp",
        FASTER(by_sinpif, pi_sinf), FASTER(by_sincospif, pi_sincosf), ULP(by_sinpif), ULP(pi_sinf));
}
#endif

const struct gf_lab gf_lab_intrinsics = {
    .name = "intrinsics",
    .summary = "functions beside their intrinsics and special forms: time and worst error of each",
    .guide = "4, 11.1.3 and 11.1.6; 1",
    .figure = "exp2f up to ten times as fast as powf; sinf ten times slower where it reduces its "
              "argument",
    .params = {GF_LAB_INT("arguments", 262144, 1024, 16777216,
                          "random arguments that the errors are the worst of")},
    .rows = "function",
    .columns = {{"time", "ps/call", 3},
                {"faster by", "times", 2},
                {"worst error", "ulp", 2},
                {"absolute", "", 9}},
    .right = "results are as accurate as documented, against the CPU in double (%llu are not)",
    .run = GF_LAB_RUN(run),
};
