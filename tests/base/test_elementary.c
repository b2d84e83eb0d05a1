/* Elementary functions against the C library's in long double: their errors are what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/elementary.h"

static double error_of(double v, long double exact)
{
    return (double)fabsl((v - exact) / exact);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void assert_below(double error, double limit)
{
    if (!(error < limit))
        fail_msg("an error of %g, not below %g", error, limit);
}

static void test_exp(void **state)
{
    (void)state;
    double error = 0;
    for (double x = -707.9; x <= 708; x += 0.0137)
        error = larger(error, error_of(gf_exp_double(x), expl((long double)x)));
    assert_below(error, 1e-15);
    assert_true(gf_exp_double(0) == 1);
    assert_true(gf_exp_double(-708.5) == 0);
    assert_true(gf_exp_double(-INFINITY) == 0);
}

static void test_log(void **state)
{
    (void)state;
    double error = 0;
    for (double x = 2.3e-308; x < 1e308; x *= 1.00371)
        error = larger(error, error_of(gf_log_double(x), logl((long double)x)));
    assert_below(error, 1e-15);
    assert_true(gf_log_double(1) == 0);
}

static void test_pow(void **state)
{
    (void)state;
    double error = 0;
    for (double y = 0.01; y <= 100; y *= 1.07) {
        for (double x = 1; x > 1e-3; x *= 0.997)
            error = larger(error, error_of(gf_pow_double(x, y), powl((long double)x, y)) /
                                      (1 - y * log(x)));
    }
    assert_below(error, 4e-16);
    assert_true(gf_pow_double(0, 0.5) == 0);
    assert_true(gf_pow_double(1, 2.2) == 1);
}

static void test_sin_pi(void **state)
{
    (void)state;
    const long double pi = 3.14159265358979323846264338327950288L;
    double error = 0;
    for (double x = -3; x <= 3; x += 0.001) {
        const long double exact = sinl(pi * (long double)x);
        error = larger(error, (double)fabsl(gf_sin_pi_double(x) - exact));
    }
    assert_below(error, 1e-15);
}

static void test_single_precision(void **state)
{
    (void)state;
    double exp2_error = 0, cbrt_error = 0, pow_error = 0;
    for (float x = -125; x < 127; x += 0.00371f)
        exp2_error = larger(exp2_error, error_of(gf_exp2_coarse(x), exp2l((long double)x)));
    for (float x = 1.2e-38f; x < 3e38f; x *= 1.00171f)
        cbrt_error = larger(cbrt_error, error_of(gf_cbrt(x), cbrtl((long double)x)));
    for (float y = 0.01f; y <= 16; y *= 1.07f) {
        for (float x = 1; x > 0.01f; x *= 0.997f)
            pow_error = larger(pow_error, error_of(gf_pow(x, y), powl((long double)x, y)));
    }
    assert_below(exp2_error, 3e-6);
    assert_below(cbrt_error, 5e-7);
    assert_below(pow_error, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_pow),
        cmocka_unit_test(test_sin_pi),
        cmocka_unit_test(test_single_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
