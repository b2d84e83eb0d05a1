/* Which pictures and parameters a variant refuses, on both sides of each limit, and in which
 * words; the scratch memory that variants ask for; and that a plan passes the chosen kernel on to
 * its stage. Without a GPU: the tables are the same in every build. */
#include "chain/chain.h"
#include "chain/plan.h"
#include "filters/convolve/convolve.h"
#include "pixel/point/point.h"
#include "stage/picture.h"
#include "support.h"

static struct gf_chain chain; /* the plan's stages point to its parameters */
static struct gf_plan plan;

static void drop_plan(void)
{
    gf_plan_free(&plan);
    gf_chain_free(&chain);
}

static enum gf_status make_plan(const char *text, struct gf_format in, struct gf_error *error)
{
    assert_ok(text, gf_chain_parse(text, &chain, error), error);
    return gf_plan_make(&chain, in, 1, &plan, error);
}

/* One stage, which is what a chain of one filter without alpha becomes. */
static struct gf_stage *stage_of(const char *text, struct gf_format in)
{
    struct gf_error error = {0};
    assert_ok(text, make_plan(text, in, &error), &error);
    assert_int_equal(plan.stage_count, 1);
    return &plan.stage[0];
}

/* ---- what they refuse ---- */

#define TEXTURE "takes rows of up to 131072 samples, and 65000 of them: textures are no larger"
#define NEAREST "does not take kernel=nearest, which sums nothing"

static const struct {
    const char *chain;
    int width, height, channels, bits;
    const char *refusal; /* behind the filter and the variant; NULL: it is taken */
} cases[] = {
    {"blur=20:variant=global", 40, 30, 3, 8, NULL},
    {"blur=20.1:variant=global", 40, 30, 3, 8,
     "takes sigma up to 20: its work grows with the square"},
    {"blur=20:variant=constant", 40, 30, 1, 16, NULL},
    {"blur=250:variant=constant", 40, 30, 1, 16,
     "takes sigma up to 20: its work grows with the square"},
    {"blur=250:variant=separable", 40, 30, 4, 16, NULL},
    {"blur=5.33:variant=shared", 40, 30, 4, 16, NULL},
    {"blur=5.34:variant=shared", 40, 30, 4, 16,
     "takes sigma up to 5.33: what the taps reach has to fit into shared memory"},
    {"blur=5.34:variant=padded", 40, 30, 3, 8,
     "takes sigma up to 5.33: what the taps reach has to fit into shared memory"},
    {"blur=5.34:variant=async", 40, 30, 3, 8,
     "takes sigma up to 5.33: what the taps reach has to fit into shared memory"},
    {"blur=5:variant=vector", 40, 30, 3, 8, NULL},
    {"blur=6:variant=vector", 40, 30, 3, 8,
     "takes sigma up to 5.33: what the taps reach has to fit into shared memory"},
    {"blur=5:variant=vector", 40, 30, 3, 16, "takes pictures of 8 bits without alpha"},
    {"blur=5:variant=vector", 40, 30, 4, 8, "takes pictures of 8 bits without alpha"},
    {"blur=0.22:variant=tensor", 40, 30, 1, 8, NULL},
    {"blur=21.33:variant=tensor", 40, 30, 3, 8, NULL},
    {"blur=0.21:variant=tensor", 40, 30, 3, 8, "takes sigma from 0.22 to 21.33"},
    {"blur=21.34:variant=tensor", 40, 30, 3, 8, "takes sigma from 0.22 to 21.33"},
    {"blur=2:variant=tensor", 40, 30, 1, 16, "takes pictures of 8 bits without alpha"},
    {"blur=2:variant=strip", 40, 30, 3, 16, NULL},
    {"blur=2:variant=strip", 40, 30, 4, 8, NULL},
    {"blur=2.1:variant=strip", 40, 30, 3, 16,
     "takes pictures of 16 bits or with alpha, and sigma up to 2"},
    {"unsharp=1:variant=strip", 40, 30, 3, 8,
     "takes pictures of 16 bits or with alpha, and sigma up to 2"},
    {"unsharp=2:variant=tensor", 40, 30, 3, 8, NULL},
    {"unsharp=2:variant=tensor", 40, 30, 4, 8, "takes pictures of 8 bits without alpha"},
    {"unsharp=30:variant=tensor", 40, 30, 3, 8, "takes sigma from 0.22 to 21.33"},
    {"boxblur=60:variant=global", 40, 30, 3, 8, NULL},
    {"boxblur=61:variant=global", 40, 30, 3, 8,
     "takes a radius up to 60: its work grows with the square"},
    {"boxblur=500:variant=separable", 40, 30, 3, 8, NULL},
    {"boxblur=16:variant=async", 40, 30, 3, 16, NULL},
    {"boxblur=17:variant=shared", 40, 30, 3, 16,
     "takes a radius up to 16: what the window reaches has to fit into shared memory"},
    {"convolve=1:variant=texture", 131072, 65000, 1, 8, NULL},
    {"convolve=1:variant=texture", 131073, 10, 1, 8, TEXTURE},
    {"convolve=1:variant=texture", 65536, 10, 3, 16, TEXTURE},
    {"convolve=1:variant=texture", 10, 65001, 1, 8, TEXTURE},
    {"convolve=1 -2 3:variant=tensor", 40, 30, 3, 8, NULL},
    {"convolve=1.5 -2 3:variant=tensor", 40, 30, 3, 8, NULL},
    {"convolve=1 -2 3:variant=tensor", 40, 30, 2, 8, "takes pictures of 8 bits without alpha"},
    {"convolve=0.1 -2 3:variant=tensor", 40, 30, 3, 8,
     "takes weights that are whole numbers, or halves, quarters .. of them, and sums below 2^24"},
    {"median=5:variant=local", 40, 30, 3, 8, NULL},
    {"median=6:variant=local", 40, 30, 3, 8,
     "takes a radius up to 5: a thread has to hold its window, and its work grows with the "
     "fourth power"},
    {"median=2:variant=registers", 40, 30, 3, 8, NULL},
    {"median=3:variant=registers", 40, 30, 3, 8,
     "takes radius 1 and 2: there are networks for these"},
    {"median=3:variant=shared", 40, 30, 3, 16,
     "takes radius 1 and 2: there are networks for these"},
    {"bilateral=50:variant=intrinsic", 40, 30, 3, 8, NULL},
    {"bilateral=8:variant=shared", 40, 30, 3, 8, NULL},
    {"bilateral=8.1:variant=shared", 40, 30, 3, 8,
     "takes sigma_s up to 8: what the window reaches has to fit into shared memory"},
    {"rotate=180:variant=naive", 40, 30, 3, 8, "takes angles of 90 and 270 only"},
    {"rotate=180:variant=padded", 40, 30, 3, 8, "takes angles of 90 and 270 only"},
    {"rotate=20:variant=naive", 40, 30, 3, 8, "does not take these parameters"},
    {"rotate=20:variant=tiled", 40, 30, 3, 8, NULL},
    {"rotate=90:variant=naive", 40, 30, 3, 8, NULL},
    {"rotate=270:variant=padded", 40, 30, 3, 8, NULL},
    {"rotate=180:variant=tiled", 40, 30, 3, 8, NULL},
    {"transpose=variant=naive", 40, 30, 3, 8, NULL},
    {"gamma=2:variant=intrinsic", 40, 30, 3, 16,
     "takes 8 bits only: its error can exceed a step of 16 bits"},
    {"gamma=2:variant=intrinsic", 40, 30, 4, 8, NULL},
    {"gamma=2:variant=exp2f", 40, 30, 4, 16, NULL},
    {"saturation=2:variant=powf", 40, 30, 2, 8, "takes pictures with colour only"},
    {"equalize=lightness:variant=cbrtf", 40, 30, 2, 8, "takes pictures with colour only"},
    {"equalize=luma:variant=powf", 40, 30, 4, 16, "takes mode=lightness only"},
    {"saturation=2:variant=powf", 40, 30, 4, 16, NULL},
    {"equalize=lightness:variant=cbrtf", 40, 30, 4, 16, NULL},
    {"resize=50%:kernel=nearest:variant=direct", 40, 30, 3, 8, NEAREST},
    {"resize=50%:variant=direct", 40, 30, 3, 8, NULL},
    {"resize=50%:kernel=nearest:variant=texture", 40, 30, 3, 8, NEAREST},
    {"resize=50%:variant=texture", 40, 30, 3, 8, NULL},
    {"resize=50%:kernel=nearest:variant=separable", 40, 30, 3, 8, NEAREST},
    {"resize=50%:variant=separable", 40, 30, 3, 8, NULL},
    {"resize=50%:kernel=nearest:variant=shared", 40, 30, 3, 8, NEAREST},
    {"resize=50%:variant=shared", 40, 30, 3, 8, NULL},
    {"resize=10:10:variant=texture", 43691, 4, 3, 8,
     "takes up to 131072 samples a row and 65000 rows"},
    {"resize=10:10:variant=texture", 43690, 4, 3, 8, NULL},
    {"resize=10:10:variant=texture", 4, 65001, 1, 8,
     "takes up to 131072 samples a row and 65000 rows"},
    {"resize=10:10:variant=direct", 4, 65001, 1, 8, NULL},
};

static void test_refusals(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gf_format format =
            format_of(cases[i].width, cases[i].height, cases[i].channels, cases[i].bits);
        const char *const text = cases[i].chain, *const variant = strstr(text, "variant=");
        struct gf_error error = {0};
        const enum gf_status status = make_plan(text, format, &error);
        if (!cases[i].refusal) {
            assert_ok(text, status, &error);
            drop_plan();
            continue;
        }
        char expected[200];
        snprintf(expected, sizeof expected, "%.*s: %.*s %s", (int)strcspn(text, "="), text,
                 (int)strcspn(variant, ":"), variant, cases[i].refusal);
        assert_int_equal(status, GF_ERROR_UNFIT);
        assert_string_equal(error.text, expected);
        gf_chain_free(&chain);
    }
}

/* ---- what they ask for ---- */

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

static size_t scratch_of(const char *text, struct gf_format format, int rows)
{
    const size_t scratch = gf_stage_cuda_scratch(stage_of(text, format), rows);
    drop_plan();
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

/* The rows of input that a band needs, wherever it lies, fit what the variants ask for. */
static void assert_scratch_suffices(const char *text, struct gf_format in)
{
    const struct gf_stage *const stage = stage_of(text, in);
    for (int rows = 1; rows <= stage->out.height; rows += 3) {
        const size_t room = gf_stage_cuda_scratch(stage, rows);
        for (int y = 0; y + rows <= stage->out.height; y++) {
            int first, end;
            gf_stage_input_rows(stage, y, y + rows, &first, &end);
            const size_t needed =
                (size_t)(end - first) * (size_t)(stage->out.width * stage->out.channels) * 4;
            if (room < needed)
                fail_msg("%s: %zu bytes for %d rows from %d, which need %zu", text, room, rows, y,
                         needed);
        }
    }
    drop_plan();
}

static void test_resize_scratch(void **state)
{
    static const char *const kernels[] = {"lanczos3", "cubic", "linear", "area"};
    static const char *const sizes[] = {"7:9", "23:29", "40:31", "64:97", "33:200"};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            char text[96];
            snprintf(text, sizeof text, "resize=%s:kernel=%s:variant=separable", sizes[s],
                     kernels[k]);
            assert_scratch_suffices(text, format_of(40, 61, 3, 8));
        }
    }
}

/* A variant may run by other tables than the default: what prepare() leaves out where nobody asked.
 */
static void test_resize_tables(void **state)
{
    size_t size[2];
    static const char *const chains[] = {"resize=50%", "resize=50%:variant=shared"};
    for (int i = 0; i < 2; i++) {
        struct gf_error error = {0};
        struct gf_stage *const stage = stage_of(chains[i], format_of(400, 300, 3, 8));
        assert_ok(chains[i], gf_stage_prepare(stage, &error), &error);
        size[i] = stage->constants_size;
        drop_plan();
    }
    assert_true(size[1] > size[0]);
}

/* Of the point filters each has gf_point's variants and its own, whose kernel its stage gets. */
static void test_kernels(void **state)
{
    static const char *const chains[] = {"invert=variant=pixel", "gamma=2:variant=bytes",
                                         "gamma=2:variant=powf", "threshold=variant=branch-free"};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        const struct gf_stage *const stage = stage_of(chains[i], format_of(40, 30, 3, 8));
        assert_ptr_equal(stage->filter, &gf_point);
        assert_string_equal(stage->variant->name, strstr(chains[i], "variant=") + 8);
        drop_plan();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_whole_weights),
        cmocka_unit_test(test_scratch),       cmocka_unit_test(test_resize_scratch),
        cmocka_unit_test(test_resize_tables), cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
