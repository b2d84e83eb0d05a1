/* Computes powers with small fractional exponents by square and cube roots, and compares them with
 * powf: all of table 5 of the Best Practices Guide (11.1.5). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/arithmetic.cuh"

/* Table 5, in its order: numerator, denominator, and the formula, whose result is r. */
#define TABLE_5(ROW) \
    ROW(1, 9, r = rcbrtf(rcbrtf(x))) \
    ROW(-1, 9, r = cbrtf(rcbrtf(x))) \
    ROW(1, 6, r = rcbrtf(rsqrtf(x))) \
    ROW(-1, 6, r = rcbrtf(sqrtf(x))) \
    ROW(1, 4, r = rsqrtf(rsqrtf(x))) \
    ROW(-1, 4, r = sqrtf(rsqrtf(x))) \
    ROW(1, 3, r = cbrtf(x)) \
    ROW(-1, 3, r = rcbrtf(x)) \
    ROW(1, 2, r = sqrtf(x)) \
    ROW(-1, 2, r = rsqrtf(x)) \
    ROW(2, 3, r = cbrtf(x); r = r * r) \
    ROW(-2, 3, r = rcbrtf(x); r = r * r) \
    ROW(3, 4, r = sqrtf(x); r = r * sqrtf(r)) \
    ROW(-3, 4, r = rsqrtf(x); r = r * sqrtf(r)) \
    ROW(7, 6, r = x * rcbrtf(rsqrtf(x))) \
    ROW(-7, 6, r = (1.0f / x) * rcbrtf(sqrtf(x))) \
    ROW(5, 4, r = x * rsqrtf(rsqrtf(x))) \
    ROW(-5, 4, r = (1.0f / x) * sqrtf(rsqrtf(x))) \
    ROW(4, 3, r = x * cbrtf(x)) \
    ROW(-4, 3, r = (1.0f / x) * rcbrtf(x)) \
    ROW(3, 2, r = x * sqrtf(x)) \
    ROW(-3, 2, r = (1.0f / x) * rsqrtf(x))

template <int NUMERATOR, int DENOMINATOR> struct formula;
/* Calls powf with the exponent in the usual form: a constant, rounded to float. */
template <int NUMERATOR, int DENOMINATOR> struct by_powf {
    static __device__ float of(float x)
    {
        return powf(x, (float)NUMERATOR / (float)DENOMINATOR);
    }
};

#define DEFINE_FORMULA(numerator, denominator, computation) \
    template <> struct formula<numerator, denominator> { \
        static __device__ float of(float x) \
        { \
            float r; \
            computation; \
            return r; \
        } \
    };
TABLE_5(DEFINE_FORMULA)

static const struct power {
    int numerator, denominator;
    evaluate *formula, *powf;
} powers[] = {
#define POWER(numerator, denominator, computation) \
    {numerator, denominator, evaluate_kernel<formula<numerator, denominator>>, \
     evaluate_kernel<by_powf<numerator, denominator>>},
    TABLE_5(POWER)};
constexpr int POWERS = sizeof powers / sizeof *powers;

/* The bounds of the error. Each formula has at most four roundings, or roots with an error of 1 to
 * 2 ulp. powf has a documented error of 4 ulp; rounding the exponent adds a relative error of at
 * most ln(2^20) 2^-24. */
constexpr struct bounds BOUNDS = {16.0, 0.0}; /* as the declaration says */

static void run(const struct gf_lab_run *run)
{
    const struct arguments x(run, {true, -20.0, 20.0}, run->param[0], 1);
    int faster = 0, inexact = 0, better_inexact = 0, better_exact = 0;
    double most = 0.0, least = INFINITY, cube_root = 0.0, worst_powf = 0.0;
    for (int i = 0; i < POWERS; i++) {
        const struct power *const power = &powers[i];
        const auto exact = [&](double value) {
            return pow(value, (double)power->numerator / power->denominator);
        };
        const struct measured formula = measure(run, power->formula, exact, x, BOUNDS);
        const struct measured by_powf = measure(run, power->powf, exact, x, BOUNDS);
        const double times = by_powf.time / formula.time;
        const bool better = formula.worst_ulp < by_powf.worst_ulp;
        /* Halves and fourths are exact floats, thirds are not. */
        const bool rounded = power->denominator % 3 == 0;
        lab_row(
            run, i,
            {formula.ps_a_call(), by_powf.ps_a_call(), times, formula.worst_ulp, by_powf.worst_ulp},
            "x^(%d/%d)", power->numerator, power->denominator);
        if (power->numerator == 1 && power->denominator == 3)
            cube_root = times;
        most = std::max(most, times);
        least = std::min(least, times);
        faster += times > 1.0;
        inexact += rounded;
        better_inexact += rounded && better;
        better_exact += !rounded && better;
        worst_powf = std::max(worst_powf, by_powf.worst_ulp);
    }
    gf_lab_claim(run, faster == POWERS,
                 "%d of %d formulas are faster than powf, by %.1f to %.1f times", faster, POWERS,
                 least, most);
    gf_lab_above(run, 1.5, "cbrtf takes 1/%.1f of powf's time", cube_root);
    gf_lab_claim(run, 2 * better_inexact > inexact,
                 "exponents that a float cannot hold: %d of %d formulas have a smaller worst error "
                 "than powf, which is off by up to %.1f ulp",
                 better_inexact, inexact, worst_powf);
    gf_lab_note(
        run, "exponents that a float holds: %d of %d formulas have a smaller worst error than powf",
        better_exact, POWERS - inexact);
}
#endif

const struct gf_lab gf_lab_powers = {
    .name = "powers",
    .summary =
        "powers with small fractional exponents by roots, against powf: time and error of each",
    .guide = "4, 11.1.5",
    .figure = "table 5: faster significantly, and much more accurate where a float cannot hold the "
              "exponent",
    .params = {GF_LAB_INT("arguments", 262144, 1024, 16777216,
                          "random arguments that the errors are the worst of, from 2^-20 to 2^20")},
    .rows = "power",
    .columns = {{"formula", "ps/call", 3},
                {"powf", "ps/call", 3},
                {"faster by", "times", 1},
                {"formula's error", "ulp", 2},
                {"powf's error", "ulp", 2}},
    .right = "each result lies within 16 ulp of pow() in double on the CPU (%llu do not)",
    .axes = {"power", "", "worst error", "ulp", GF_LAB_BARS},
    .run = GF_LAB_RUN(run),
};
