/* Computes powers with small fractional exponents by square and cube roots, and compares them with
 * powf: all of table 5 of the Best Practices Guide (11.1.5). */
#include "study/labs/lab.h"

struct powers {
    int arguments;
};

static const struct gf_param powers_params[] = {
    GF_PARAM_INT(struct powers, arguments, 262144, 1024, 16777216,
                 "random arguments that the errors are the worst of, from 2^-20 to 2^20"),
    {0},
};

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
constexpr struct bounds BOUNDS = {16.0, 0.0};

/* The findings over all formulas. */
struct summary {
    int faster, inexact, better_inexact, better_exact, wrong;
    double most, least, cube_root, worst_powf;
};

static void count(struct summary *summary, const struct power *power,
                  const struct measured &formula, const struct measured &by_powf)
{
    const double times = by_powf.time.median_s / formula.time.median_s;
    const bool better = formula.worst_ulp < by_powf.worst_ulp;
    /* Halves and fourths are exact floats, thirds are not. */
    const bool rounded = power->denominator % 3 == 0;
    if (power->numerator == 1 && power->denominator == 3)
        summary->cube_root = times;
    summary->most = std::max(summary->most, times);
    summary->least = std::min(summary->least, times);
    summary->faster += times > 1.0;
    summary->inexact += rounded;
    summary->better_inexact += rounded && better;
    summary->better_exact += !rounded && better;
    summary->wrong += formula.beyond + by_powf.beyond;
    summary->worst_powf = std::max(summary->worst_powf, by_powf.worst_ulp);
}

static enum gf_status tabulate(const struct gf_lab_run *run, const struct arguments &x,
                               struct summary *summary)
{
    gf_lab_rows(run, "power");
    const int formula_time = gf_lab_column(run, "formula", "ps/call", 3);
    const int powf_time = gf_lab_column(run, "powf", "ps/call", 3);
    const int gain = gf_lab_column(run, "faster by", "times", 1);
    const int formula_error = gf_lab_column(run, "formula's error", "ulp", 2);
    const int powf_error = gf_lab_column(run, "powf's error", "ulp", 2);
    for (int i = 0; i < POWERS; i++) {
        const struct power *const power = &powers[i];
        const auto exact = [&](double value) {
            return pow(value, (double)power->numerator / power->denominator);
        };
        struct measured formula, by_powf;
        GF_TRY(measure(run, power->formula, exact, x, BOUNDS, &formula));
        GF_TRY(measure(run, power->powf, exact, x, BOUNDS, &by_powf));
        gf_lab_row(run, i, "x^(%d/%d)", power->numerator, power->denominator);
        gf_lab_value(run, formula_time, formula.ps_a_call());
        gf_lab_value(run, powf_time, by_powf.ps_a_call());
        gf_lab_value(run, gain, by_powf.time.median_s / formula.time.median_s);
        gf_lab_value(run, formula_error, formula.worst_ulp);
        gf_lab_value(run, powf_error, by_powf.worst_ulp);
        count(summary, power, formula, by_powf);
    }
    return GF_OK;
}

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct powers *const params = (const struct powers *)run->params;
    struct arguments x;
    struct summary summary = {};
    summary.least = INFINITY;
    GF_TRY(x.fill(run, {true, -20.0, 20.0}, params->arguments, 1));
    GF_TRY(tabulate(run, x, &summary));
    gf_lab_check(run, !summary.wrong,
                 "each result lies within %.0f ulp of pow() in double on the CPU (%d do not)",
                 BOUNDS.ulp, summary.wrong);
    gf_lab_claim(run, summary.faster == POWERS,
                 "%d of %d formulas are faster than powf, by %.1f to %.1f times", summary.faster,
                 POWERS, summary.least, summary.most);
    gf_lab_claim(run, summary.cube_root > 1.5, "cbrtf takes 1/%.1f of powf's time",
                 summary.cube_root);
    gf_lab_claim(run, 2 * summary.better_inexact > summary.inexact,
                 "exponents that a float cannot hold: %d of %d formulas have a smaller worst error "
                 "than powf, which is off by up to %.1f ulp",
                 summary.better_inexact, summary.inexact, summary.worst_powf);
    gf_lab_note(
        run, "exponents that a float holds: %d of %d formulas have a smaller worst error than powf",
        summary.better_exact, POWERS - summary.inexact);
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_powers = {
    .name = "powers",
    .summary =
        "powers with small fractional exponents by roots, against powf: time and error of each",
    .guide = "4, 11.1.5",
    .figure = "table 5: faster significantly, and much more accurate where a float cannot hold the "
              "exponent",
    GF_PARAMS(struct powers, powers_params),
    .axes = {.x = "power", .x_unit = "", .y = "worst error", .y_unit = "ulp", .bars = true},
    .run = GF_LAB_RUN(run),
};
