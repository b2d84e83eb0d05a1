/* How --calibrate finds the factor at which an estimate is the time that was measured. */
#include <math.h>

#include "bench/calibrate.h"
#include "support.h"

/* An estimate: a constant part, a part that is multiplied, and one that is divided. */
struct parts {
    double constant, times, by;
};

static double estimate(void *context, double factor)
{
    const struct parts *const parts = context;
    return parts->constant + parts->times * factor + parts->by / factor;
}

static bool fits(struct parts parts, double measured, double expected)
{
    double factor;
    const bool matters = gf_calibrate_fit(estimate, &parts, measured, 1 / 40.0, 40, &factor);
    assert_true(!matters || fabs(factor - expected) < 1e-4 * expected);
    return matters;
}

static void test_fit(void **state)
{
    assert_true(fits((struct parts){.constant = 1, .times = 2}, 4, 1.5));
    assert_true(fits((struct parts){.times = 2}, 0.5, 0.25));
    assert_true(fits((struct parts){.constant = 1, .by = 2}, 5, 0.5)); /* falls, like share */
}

/* What no factor explains gets the factor that comes next to it. */
static void test_limits(void **state)
{
    assert_true(fits((struct parts){.times = 2}, 1000, 40));
    assert_true(fits((struct parts){.constant = 1, .times = 2}, 0.9, 1 / 40.0));
    assert_true(fits((struct parts){.by = 2}, 1000, 1 / 40.0));
}

/* A small part of a job says nothing of a figure, unless it turns out to be a large one. */
static void test_what_matters(void **state)
{
    assert_false(fits((struct parts){.constant = 1}, 1, 1));
    assert_false(fits((struct parts){.constant = 1, .times = 0.01}, 1.1, 1));
    assert_false(fits((struct parts){.constant = 1, .times = 0.2}, 0.9, 1));
    assert_true(fits((struct parts){.constant = 1, .times = 0.05}, 2, 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_what_matters),
    };
    return cmocka_run_group_tests_name("calibrate", tests, NULL, NULL);
}
