/* NAME against values worked out by hand. */
#include "support.h"

enum { SIDE = 3 };

static const int given[SIDE][SIDE] = {{10, 20, 30}, {40, 250, 60}, {70, 80, 90}};
/* Write here what NAME must make of them. */
static const int expected[SIDE][SIDE] = {{-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}};

static void test_values(void **state)
{
    const struct gf_options options = gf_options_default();
    struct gf_image in = picture_new(format_of(SIDE, SIDE, 1, 8), 0), out = {0};
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    int wrong = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        sample_set(&in, i % SIDE, i / SIDE, 0, given[i / SIDE][i % SIDE]);
    assert_ok("open", gf_pipeline_open("NAME", &options, &pipeline, &error), &error);
    assert_ok("run", gf_pipeline_run_image(pipeline, &in, &out, &error), &error);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int is = sample_at(&out, i % SIDE, i / SIDE, 0), must = expected[i / SIDE][i % SIDE];
        if (is != must)
            print_error(
                "sample %d of row %d: NAME makes %d, and tests/filters/test_NAME.c expects %d\n",
                i % SIDE, i / SIDE, is, must);
        wrong += is != must;
    }
    gf_pipeline_close(pipeline);
    gf_image_free(&out);
    picture_free(&in);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values)};
    return cmocka_run_group_tests_name("NAME", tests, NULL, NULL);
}
