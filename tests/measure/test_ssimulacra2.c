/* SSIMULACRA2: scores of the reference tool, version 2.1, for pictures of all kinds. */
#include "measure/noisy.h"

#include <math.h>
#include <stdlib.h>

#include "measure/ssimulacra2.h"

static double score_of(const struct gf_image *a, const struct gf_image *b, int threads)
{
    double score = 0;
    assert_int_equal(gf_ssimulacra2(a, b, threads, &score, &failure), GF_OK);
    return score;
}

static const struct {
    struct gf_format format;
    double score; /* what the tool prints */
} scored[] = {
    {{160, 120, 3, 8, GF_SAMPLES_INTEGER}, 93.63452866},
    {{300, 67, 3, 8, GF_SAMPLES_INTEGER}, 82.83464540},
    {{131, 130, 3, 16, GF_SAMPLES_INTEGER}, 93.26476225},
    {{97, 71, 4, 8, GF_SAMPLES_INTEGER}, 88.85103709},
    {{140, 33, 2, 16, GF_SAMPLES_INTEGER}, 96.20545271},
    {{40, 17, 1, 8, GF_SAMPLES_INTEGER}, 95.25624311},
    {{9, 8, 3, 8, GF_SAMPLES_INTEGER}, 95.65920797},
};

static void scores_are_the_tools(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scored / sizeof *scored; i++) {
        struct gf_image a = make(scored[i].format, false), b = make(scored[i].format, true);
        const double score = score_of(&a, &b, 1);
        assert_true(fabs(score - scored[i].score) < 1e-6);
        for (int threads = 2; threads < 6; threads++) {
            const double again = score_of(&a, &b, threads);
            assert_memory_equal(&score, &again, sizeof score);
        }
        assert_true(score_of(&a, &a, 2) == 100);
        gf_image_free(&a);
        gf_image_free(&b);
    }
}

static void every_small_size_has_a_score(void **state)
{
    (void)state;
    for (int i = 0; i < 24 * 24; i++) {
        const struct gf_format format = {1 + i % 24, 1 + i / 24, 1 + i % 4, i % 3 ? 8 : 16,
                                         GF_SAMPLES_INTEGER};
        struct gf_image a = make(format, false), b = make(format, true);
        const double score = score_of(&a, &b, 1 + i % 3);
        const bool small =
            format.width < GF_SSIMULACRA2_SIDE || format.height < GF_SSIMULACRA2_SIDE;
        assert_int_equal(!!isnan(score), small);
        assert_true(small || (score < 100 && score > -100));
        gf_image_free(&a);
        gf_image_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_the_tools),
        cmocka_unit_test(every_small_size_has_a_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
