/* The same kernels compiled with each of the flags that give up IEEE arithmetic (Best Practices
 * Guide, 11.1.7). The Makefile compiles this file once for each set, with its flags and
 * FLAG_SET=NAME, to a struct flag_set of that name; and without FLAG_SET to the lab. */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/arithmetic.cuh"

struct flag_set {
    evaluate *quotient, *root, *both, *half;
};
extern const struct flag_set flags_ieee, flags_ftz, flags_div, flags_sqrt, flags_fast;
#endif

#ifdef FLAG_SET
struct quotient {
    static __device__ float of(float x)
    {
        return 3.7f / x;
    }
};

struct root {
    static __device__ float of(float x)
    {
        return sqrtf(x);
    }
};

struct both {
    static __device__ float of(float x)
    {
        return sqrtf(x) / (x + 1.0f);
    }
};

/* Computes half of a number. Half of a denormal is a denormal, which -ftz makes 0. */
struct half {
    static __device__ float of(float x)
    {
        return 0.5f * x;
    }
};

const struct flag_set FLAG_SET = {evaluate_kernel<quotient>, evaluate_kernel<root>,
                                  evaluate_kernel<both>, evaluate_kernel<half>};
#else
#ifdef __CUDACC__
static const struct {
    const char *flags;
    const struct flag_set *kernels;
} methods[] = {
    {"no flags", &flags_ieee},       {"-ftz=true", &flags_ftz},
    {"-prec-div=false", &flags_div}, {"-prec-sqrt=false", &flags_sqrt},
    {"-use_fast_math", &flags_fast},
};
enum { IEEE, FTZ, DIV, SQRT, FAST, METHODS };
enum { QUOTIENT, ROOT, BOTH, FUNCTIONS };

static double (*const exact[FUNCTIONS])(double) = {[](double x) { return (double)3.7f / x; },
                                                   [](double x) { return sqrt(x); },
                                                   [](double x) { return sqrt(x) / (x + 1.0); }};
/* The bounds of the error. With IEEE arithmetic a result is rounded once, which is half an ulp; the
 * third function rounds three times, by at most one ulp of its result each. Without precise
 * division and roots the documented errors are 2 and 3 ulp. */
constexpr double MOST_ULP_IEEE = 0.5, MOST_ULP_THREE_STEPS = 3.0, MOST_ULP = 8.0;

/* Measures the part of the denormal results that the kernel made 0. */
static double flushed(const struct gf_lab_run *run, evaluate *half,
                      const struct arguments &denormal)
{
    const int count = (int)denormal.host.size();
    const lab_memory<float> out(run, count);
    out.poison();
    half<<<lab_blocks(count, EVALUATE_THREADS), EVALUATE_THREADS>>>(denormal.device.data, out.data,
                                                                    count, count, 1);
    const std::vector<float> values = out.host();
    return (double)std::count(values.begin(), values.end(), 0.0f) / count;
}

static void run(const struct gf_lab_run *run)
{
    const struct arguments x(run, {true, -20.0, 20.0}, run->param[0], 1);
    const struct arguments denormal(run, {true, -140.0, -127.0}, run->param[0], 2);
    struct measured found[METHODS][FUNCTIONS];
    for (int i = 0; i < METHODS; i++) {
        const struct flag_set *const set = methods[i].kernels;
        evaluate *const kernels[FUNCTIONS] = {set->quotient, set->root, set->both};
        std::vector<double> values;
        for (int f = 0; f < FUNCTIONS; f++) {
            const double most = i > FTZ     ? MOST_ULP
                                : f == BOTH ? MOST_ULP_THREE_STEPS
                                            : MOST_ULP_IEEE;
            found[i][f] = measure(run, kernels[f], exact[f], x, {most, 0.0});
            values.push_back(found[i][f].ps_a_call());
            values.push_back(found[i][f].worst_ulp);
        }
        const double lost = flushed(run, set->half, denormal);
        gf_lab_count(run, lost != (i == FTZ || i == FAST ? 1.0 : 0.0));
        values.push_back(100.0 * lost);
        lab_row(run, NAN, values, "%s", methods[i].flags);
    }
    const auto gain = [&](int method, int function) {
        return found[IEEE][function].time / found[method][function].time;
    };
    gf_lab_claim(run, gain(DIV, QUOTIENT) > 1.05 && found[DIV][QUOTIENT].worst_ulp > 0.5,
                 "-prec-div=false: division is %.1f times as fast, off by %.2f ulp",
                 gain(DIV, QUOTIENT), found[DIV][QUOTIENT].worst_ulp);
    gf_lab_claim(run, gain(SQRT, ROOT) > 1.05 && found[SQRT][ROOT].worst_ulp > 0.5,
                 "-prec-sqrt=false: the root is %.1f times as fast, off by %.2f ulp",
                 gain(SQRT, ROOT), found[SQRT][ROOT].worst_ulp);
    gf_lab_above(
        run, 1.02,
        "-ftz=true makes the less precise root %.2f times as fast; by itself, precise root and "
        "division %.2f times",
        found[SQRT][ROOT].time / found[FAST][ROOT].time, gain(FTZ, BOTH));
    gf_lab_claim(run, gain(FAST, BOTH) > std::max(gain(DIV, BOTH), gain(SQRT, BOTH)),
                 "-use_fast_math, which is all three, is fastest: %.1f times, off by %.2f ulp",
                 gain(FAST, BOTH), found[FAST][BOTH].worst_ulp);
}
#endif

const struct gf_lab gf_lab_flags = {
    .name = "flags",
    .summary = "kernels compiled with -ftz, -prec-div and -prec-sqrt: what precision buys in time",
    .guide = "4, 11.1.7",
    .figure = "somewhat less accurate, but faster",
    .params = {GF_LAB_INT("arguments", 262144, 1024, 16777216,
                          "random arguments that the errors are the worst of, from 2^-20 to 2^20")},
    .rows = "compiled with",
    .columns = {{"3.7f / x", "ps/call", 3},
                {"worst error", "ulp", 2},
                {"sqrtf(x)", "ps/call", 3},
                {"worst error", "ulp", 2},
                {"sqrtf(x) / (x + 1)", "ps/call", 3},
                {"worst error", "ulp", 2},
                {"denormals lost", "%", 0}},
    .right = "results and denormals are as each flag documents, against the CPU in double (%llu "
             "are not)",
    .run = GF_LAB_RUN(run),
};
#endif
