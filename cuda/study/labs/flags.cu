/* The same kernels compiled with each of the flags that give up IEEE arithmetic (Best Practices
 * Guide, 11.1.7). The Makefile compiles flags_ieee.cu and the like, which include flags.cuh, each
 * with its own flag. */
#include "study/labs/lab.h"

struct flags {
    int arguments;
};

static const struct gf_param flags_params[] = {
    GF_PARAM_INT(struct flags, arguments, 262144, 1024, 16777216,
                 "random arguments that the errors are the worst of, from 2^-20 to 2^20"),
    {0},
};

#ifdef __CUDACC__
#include "cuda/study/labs/flags.cuh"

static const struct flag_set *const methods[] = {&flags_ieee, &flags_ftz, &flags_div, &flags_sqrt,
                                                 &flags_fast};
enum { IEEE, FTZ, DIV, SQRT, FAST, METHODS };
enum { QUOTIENT, ROOT, BOTH, FUNCTIONS };

static const char *const names[FUNCTIONS] = {"3.7f / x", "sqrtf(x)", "sqrtf(x) / (x + 1)"};
static double (*const exact[FUNCTIONS])(double) = {[](double x) { return (double)3.7f / x; },
                                                   [](double x) { return sqrt(x); },
                                                   [](double x) { return sqrt(x) / (x + 1.0); }};
/* The bounds of the error. With IEEE arithmetic a result is rounded once, which is half an ulp; the
 * third function rounds three times, by at most one ulp of its result each. Without precise
 * division and roots the documented errors are 2 and 3 ulp. */
constexpr double MOST_ULP_IEEE = 0.5, MOST_ULP_THREE_STEPS = 3.0, MOST_ULP = 8.0;

/* Measures the part of the denormal results that the kernel made 0. */
static enum gf_status flushed(const struct gf_lab_run *run, const struct flag_set *method,
                              const struct arguments &denormal, double *part)
{
    const int count = (int)denormal.host.size();
    lab_memory<float> out;
    std::vector<float> values(count);
    int zero = 0;
    GF_TRY(out.poison(run, count));
    method->half<<<lab_blocks(count, EVALUATE_THREADS), EVALUATE_THREADS>>>(
        denormal.device.data, out.data, count, count, 1);
    LAB_LAUNCHED();
    LAB_TRY(cudaMemcpy(values.data(), out.data, out.bytes(), cudaMemcpyDeviceToHost));
    for (const float value : values)
        zero += value == 0.0f;
    *part = (double)zero / count;
    return GF_OK;
}

static void claims(const struct gf_lab_run *run, const struct measured found[METHODS][FUNCTIONS])
{
    const auto gain = [&](int method, int function) {
        return found[IEEE][function].time.median_s / found[method][function].time.median_s;
    };
    gf_lab_claim(run, gain(DIV, QUOTIENT) > 1.05 && found[DIV][QUOTIENT].worst_ulp > 0.5,
                 "-prec-div=false: division is %.1f times as fast, off by %.2f ulp",
                 gain(DIV, QUOTIENT), found[DIV][QUOTIENT].worst_ulp);
    gf_lab_claim(run, gain(SQRT, ROOT) > 1.05 && found[SQRT][ROOT].worst_ulp > 0.5,
                 "-prec-sqrt=false: the root is %.1f times as fast, off by %.2f ulp",
                 gain(SQRT, ROOT), found[SQRT][ROOT].worst_ulp);
    const double of_ftz = found[SQRT][ROOT].time.median_s / found[FAST][ROOT].time.median_s;
    gf_lab_claim(
        run, of_ftz > 1.02,
        "-ftz=true makes the less precise root %.2f times as fast; by itself, precise root and "
        "division %.2f times",
        of_ftz, gain(FTZ, BOTH));
    gf_lab_claim(run, gain(FAST, BOTH) > std::max(gain(DIV, BOTH), gain(SQRT, BOTH)),
                 "-use_fast_math, which is all three, is fastest: %.1f times, off by %.2f ulp",
                 gain(FAST, BOTH), found[FAST][BOTH].worst_ulp);
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct flags *const params = (const struct flags *)run->params;
    struct arguments x, denormal;
    struct measured found[METHODS][FUNCTIONS];
    int wrong = 0;
    double part[METHODS];
    GF_TRY(x.fill(run, {true, -20.0, 20.0}, params->arguments, 1));
    GF_TRY(denormal.fill(run, {true, -140.0, -127.0}, params->arguments, 2));

    gf_lab_rows(run, "compiled with");
    int times[FUNCTIONS], errors[FUNCTIONS];
    for (int f = 0; f < FUNCTIONS; f++) {
        times[f] = gf_lab_column(run, names[f], "ps/call", 3);
        errors[f] = gf_lab_column(run, "worst error", "ulp", 2);
    }
    const int lost = gf_lab_column(run, "denormals lost", "%", 0);
    for (int i = 0; i < METHODS; i++) {
        evaluate *const kernels[FUNCTIONS] = {methods[i]->quotient, methods[i]->root,
                                              methods[i]->both};
        gf_lab_row(run, NAN, "%s", methods[i]->flags);
        for (int f = 0; f < FUNCTIONS; f++) {
            const double most = i > FTZ     ? MOST_ULP
                                : f == BOTH ? MOST_ULP_THREE_STEPS
                                            : MOST_ULP_IEEE;
            GF_TRY(measure(run, kernels[f], exact[f], x, {most, 0.0}, &found[i][f]));
            gf_lab_value(run, times[f], found[i][f].ps_a_call());
            gf_lab_value(run, errors[f], found[i][f].worst_ulp);
            wrong += found[i][f].beyond;
        }
        GF_TRY(flushed(run, methods[i], denormal, &part[i]));
        gf_lab_value(run, lost, 100.0 * part[i]);
        wrong += part[i] != (i == FTZ || i == FAST ? 1.0 : 0.0);
    }
    gf_lab_check(
        run, !wrong,
        "results and denormals are as each flag documents, against the CPU in double (%d are not)",
        wrong);
    claims(run, found);
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_flags = {
    .name = "flags",
    .summary = "kernels compiled with -ftz, -prec-div and -prec-sqrt: what precision buys in time",
    .guide = "4, 11.1.7",
    .figure = "somewhat less accurate, but faster",
    GF_PARAMS(struct flags, flags_params),
    .run = GF_LAB_RUN(run),
};
