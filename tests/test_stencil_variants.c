/* What the stencils' variants refuse, on both sides of each limit, and the scratch memory they ask
 * for. */
#include "chain/plan.h"
#include "filters/convolve.h"
#include "support.h"
#include "stage/texture_layout.h"
#include "chain/variants.h"
#include "chain/chain.h"

static struct gf_chain chain;
static struct gf_plan plan;

static const struct {
    const char *chain;
    int width, height, channels, bits;
    const char *refusal; /* NULL: it is taken */
} cases[] = {
    {"blur=20:variant=global", 40, 30, 3, 8, NULL},
    {"blur=20.1:variant=global", 40, 30, 3, 8,
     "blur: variant=global takes sigma up to 20: its work grows with the square"},
    {"blur=20:variant=constant", 40, 30, 1, 16, NULL},
    {"blur=250:variant=constant", 40, 30, 1, 16,
     "blur: variant=constant takes sigma up to 20: its work grows with the square"},
    {"blur=250:variant=separable", 40, 30, 4, 16, NULL},
    {"blur=5.33:variant=shared", 40, 30, 4, 16, NULL},
    {"blur=5.34:variant=shared", 40, 30, 4, 16,
     "blur: variant=shared takes sigma up to 5.33: what the taps reach has to fit into shared "
     "memory"},
    {"blur=5.34:variant=padded", 40, 30, 3, 8,
     "blur: variant=padded takes sigma up to 5.33: what the taps reach has to fit into shared "
     "memory"},
    {"blur=5.34:variant=async", 40, 30, 3, 8,
     "blur: variant=async takes sigma up to 5.33: what the taps reach has to fit into shared "
     "memory"},
    {"blur=5:variant=vector", 40, 30, 3, 8, NULL},
    {"blur=6:variant=vector", 40, 30, 3, 8,
     "blur: variant=vector takes sigma up to 5.33: what the taps reach has to fit into shared "
     "memory"},
    {"blur=5:variant=vector", 40, 30, 3, 16,
     "blur: variant=vector takes pictures of 8 bits without alpha"},
    {"blur=5:variant=vector", 40, 30, 4, 8,
     "blur: variant=vector takes pictures of 8 bits without alpha"},
    {"blur=0.22:variant=tensor", 40, 30, 1, 8, NULL},
    {"blur=21.33:variant=tensor", 40, 30, 3, 8, NULL},
    {"blur=0.21:variant=tensor", 40, 30, 3, 8,
     "blur: variant=tensor takes sigma from 0.22 to 21.33"},
    {"blur=21.34:variant=tensor", 40, 30, 3, 8,
     "blur: variant=tensor takes sigma from 0.22 to 21.33"},
    {"blur=2:variant=tensor", 40, 30, 1, 16,
     "blur: variant=tensor takes pictures of 8 bits without alpha"},
    {"blur=2:variant=strip", 40, 30, 3, 16, NULL},
    {"blur=2:variant=strip", 40, 30, 4, 8, NULL},
    {"blur=2.1:variant=strip", 40, 30, 3, 16,
     "blur: variant=strip takes pictures of 16 bits or with alpha, and sigma up to 2"},
    {"unsharp=1:variant=strip", 40, 30, 3, 8,
     "unsharp: variant=strip takes pictures of 16 bits or with alpha, and sigma up to 2"},
    {"unsharp=2:variant=tensor", 40, 30, 3, 8, NULL},
    {"unsharp=2:variant=tensor", 40, 30, 4, 8,
     "unsharp: variant=tensor takes pictures of 8 bits without alpha"},
    {"unsharp=30:variant=tensor", 40, 30, 3, 8,
     "unsharp: variant=tensor takes sigma from 0.22 to 21.33"},
    {"boxblur=60:variant=global", 40, 30, 3, 8, NULL},
    {"boxblur=61:variant=global", 40, 30, 3, 8,
     "boxblur: variant=global takes a radius up to 60: its work grows with the square"},
    {"boxblur=500:variant=separable", 40, 30, 3, 8, NULL},
    {"boxblur=16:variant=async", 40, 30, 3, 16, NULL},
    {"boxblur=17:variant=shared", 40, 30, 3, 16,
     "boxblur: variant=shared takes a radius up to 16: what the window reaches has to fit into "
     "shared memory"},
    {"convolve=1:variant=texture", 131072, 65000, 1, 8, NULL},
    {"convolve=1:variant=texture", 131073, 10, 1, 8,
     "convolve: variant=texture takes rows of up to 131072 samples, and 65000 of them: textures "
     "are no larger"},
    {"convolve=1:variant=texture", 65536, 10, 3, 16,
     "convolve: variant=texture takes rows of up to 131072 samples, and 65000 of them: textures "
     "are no larger"},
    {"convolve=1:variant=texture", 10, 65001, 1, 8,
     "convolve: variant=texture takes rows of up to 131072 samples, and 65000 of them: textures "
     "are no larger"},
    {"convolve=1 -2 3:variant=tensor", 40, 30, 3, 8, NULL},
    {"convolve=1.5 -2 3:variant=tensor", 40, 30, 3, 8, NULL},
    {"convolve=1 -2 3:variant=tensor", 40, 30, 2, 8,
     "convolve: variant=tensor takes pictures of 8 bits without alpha"},
    {"convolve=0.1 -2 3:variant=tensor", 40, 30, 3, 8,
     "convolve: variant=tensor takes weights that are whole numbers, or halves, quarters .. of "
     "them, and sums below 2^24"},
    {"median=5:variant=local", 40, 30, 3, 8, NULL},
    {"median=6:variant=local", 40, 30, 3, 8,
     "median: variant=local takes a radius up to 5: a thread has to hold its window, and its work "
     "grows with the "
     "fourth power"},
    {"median=2:variant=registers", 40, 30, 3, 8, NULL},
    {"median=3:variant=registers", 40, 30, 3, 8,
     "median: variant=registers takes radius 1 and 2: there are networks for these"},
    {"median=3:variant=shared", 40, 30, 3, 16,
     "median: variant=shared takes radius 1 and 2: there are networks for these"},
    {"bilateral=50:variant=intrinsic", 40, 30, 3, 8, NULL},
    {"bilateral=8:variant=shared", 40, 30, 3, 8, NULL},
    {"bilateral=8.1:variant=shared", 40, 30, 3, 8,
     "bilateral: variant=shared takes sigma_s up to 8: what the window reaches has to fit into "
     "shared memory"},
};

static void test_refusals(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gf_format format =
            format_of(cases[i].width, cases[i].height, cases[i].channels, cases[i].bits);
        struct gf_error error = {0};
        assert_ok(cases[i].chain, gf_chain_parse(cases[i].chain, &chain, &error), &error);
        const enum gf_status status = gf_plan_make(&chain, format, 1, &plan, &error);
        if (!cases[i].refusal) {
            assert_ok(cases[i].chain, status, &error);
            gf_plan_free(&plan);
        } else {
            assert_int_equal(status, GF_ERROR_USAGE);
            assert_string_equal(error.text, cases[i].refusal);
        }
        gf_chain_free(&chain);
    }
}

/* The weights that the tensor cores take: by which power of 2 they become whole numbers, and the
 * largest of these. */
static void test_whole_weights(void **state)
{
    static const struct {
        float weight[3];
        int whole, most;
    } kernels[] = {
        {{1, -2, 3}, 1, 3},           {{0.5f, 0.25f, 1}, 4, 4},
        {{0.1f, 0, 0}, 0, 0},         {{32639, 0, 0}, 1, 32639},
        {{-32640, 0, 0}, 0, 0},       {{32639, 32639, 514}, 1, 32639},
        {{32639, 32639, 516}, 0, 0},  {{1.0f / 16384, 1, 0}, 16384, 16384},
        {{1.0f / 32768, 0, 0}, 0, 0},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        int most = 0;
        assert_int_equal(gf_convolve_whole(kernels[i].weight, 3, &most), kernels[i].whole);
        if (kernels[i].whole)
            assert_int_equal(most, kernels[i].most);
    }
}

/* Of the chain's only stage, for bands of that many rows. */
static size_t scratch_of(const char *text, struct gf_format format, int rows)
{
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    assert_ok(text, gf_plan_make(&chain, format, 1, &plan, &error), &error);
    assert_int_equal(plan.stage_count, 1);
    const size_t scratch = gf_stage_cuda_scratch(&plan.stage[0], rows);
    gf_plan_free(&plan);
    gf_chain_free(&chain);
    return scratch;
}

/* What the variants write between their kernels fits, also where the default needs nothing. */
static void test_scratch(void **state)
{
    const struct gf_format format = format_of(101, 300, 3, 8), deep = format_of(101, 300, 3, 16);
    assert_int_equal(scratch_of("blur=2", format, 40), 0);
    assert_true(scratch_of("blur=2:variant=separable", format, 40) >= (size_t)101 * 3 * 2 * 40);
    assert_true(scratch_of("blur=2:variant=separable", deep, 40) >= (size_t)101 * 3 * 4 * 40);
    assert_int_equal(scratch_of("blur=20:variant=tensor", format, 40), 0);
    assert_true(scratch_of("boxblur=2:variant=separable", format, 40) >= (size_t)101 * 3 * 4 * 40);
    assert_true(scratch_of("convolve=1 1 1/1 1 1/1 1 1:variant=texture", deep, 40) >=
                (size_t)101 * 3 * 2 * 42 + GF_TEXTURE_ALIGNMENT);
    assert_true(scratch_of("convolve=1 1 1/1 1 1/1 1 1:border=wrap:variant=texture", format, 40) >=
                (size_t)101 * 3 * 300 + GF_TEXTURE_ALIGNMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_whole_weights),
        cmocka_unit_test(test_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
