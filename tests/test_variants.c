/* Which pictures and parameters a variant refuses, and in which words; and that a plan passes the
 * chosen kernel on to its stage with the scratch memory that it needs. Without a GPU: the tables
 * are the same in every build. */
#include "chain/plan.h"
#include "support.h"
#include "pixel/point.h"
#include "chain/variants.h"
#include "chain/chain.h"

static struct gf_chain chain; /* the plan's stages point to its parameters */
static struct gf_plan plan;

static enum gf_status make_plan(const char *text, struct gf_format in, struct gf_error *error)
{
    assert_ok(text, gf_chain_parse(text, &chain, error), error);
    return gf_plan_make(&chain, in, 1, &plan, error);
}

static void drop_plan(void)
{
    gf_plan_free(&plan);
    gf_chain_free(&chain);
}

/* One stage, which is what a chain of one filter without alpha becomes. */
static struct gf_stage *stage_of(const char *text, struct gf_format in)
{
    struct gf_error error = {0};
    assert_ok(text, make_plan(text, in, &error), &error);
    assert_int_equal(plan.stage_count, 1);
    return &plan.stage[0];
}

static void assert_refused(const char *text, struct gf_format in, const char *why)
{
    struct gf_error error = {0};
    assert_int_equal(make_plan(text, in, &error), GF_ERROR_USAGE);
    assert_string_equal(error.text, why);
    gf_chain_free(&chain);
}

static void assert_taken(const char *text, struct gf_format in)
{
    struct gf_error error = {0};
    assert_ok(text, make_plan(text, in, &error), &error);
    drop_plan();
}

static void test_points_refuse_rotation(void **state)
{
    const struct gf_format in = format_of(40, 30, 3, 8);
    assert_refused("rotate=180:variant=naive", in,
                   "rotate: variant=naive takes angles of 90 and 270 only");
    assert_refused("rotate=180:variant=padded", in,
                   "rotate: variant=padded takes angles of 90 and 270 only");
    assert_refused("rotate=20:variant=naive", in,
                   "rotate: variant=naive does not take these parameters");
    assert_taken("rotate=20:variant=tiled", in);
    assert_taken("rotate=90:variant=naive", in);
    assert_taken("rotate=270:variant=padded", in);
    assert_taken("rotate=180:variant=tiled", in);
    assert_taken("transpose=variant=naive", in);
}

static void test_points_refuse_gamma(void **state)
{
    assert_refused(
        "gamma=2:variant=intrinsic", format_of(40, 30, 3, 16),
        "gamma: variant=intrinsic takes 8 bits only: its error can exceed a step of 16 bits");
    assert_taken("gamma=2:variant=intrinsic", format_of(40, 30, 4, 8));
    assert_taken("gamma=2:variant=exp2f", format_of(40, 30, 4, 16));
}

static void test_points_refuse_gray(void **state)
{
    const struct gf_format gray = format_of(40, 30, 2, 8), colour = format_of(40, 30, 4, 16);
    assert_refused("saturation=2:variant=powf", gray,
                   "saturation: variant=powf takes pictures with colour only");
    assert_refused("equalize=lightness:variant=cbrtf", gray,
                   "equalize: variant=cbrtf takes pictures with colour only");
    assert_refused("equalize=luma:variant=powf", colour,
                   "equalize: variant=powf takes mode=lightness only");
    assert_taken("saturation=2:variant=powf", colour);
    assert_taken("equalize=lightness:variant=cbrtf", colour);
}

static void test_points_refuse_resize(void **state)
{
    static const char *const variants[] = {"direct", "texture", "separable", "shared"};
    const struct gf_format in = format_of(40, 30, 3, 8);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        char text[80], why[120];
        snprintf(text, sizeof text, "resize=50%%:kernel=nearest:variant=%s", variants[i]);
        snprintf(why, sizeof why,
                 "resize: variant=%s does not take kernel=nearest, which sums nothing",
                 variants[i]);
        assert_refused(text, in, why);
        snprintf(text, sizeof text, "resize=50%%:variant=%s", variants[i]);
        assert_taken(text, in);
    }
    static const char *const too_large =
        "resize: variant=texture takes up to 131072 samples a row and 65000 rows";
    assert_refused("resize=10:10:variant=texture", format_of(43691, 4, 3, 8), too_large);
    assert_taken("resize=10:10:variant=texture", format_of(43690, 4, 3, 8));
    assert_refused("resize=10:10:variant=texture", format_of(4, 65001, 1, 8), too_large);
    assert_taken("resize=10:10:variant=direct", format_of(4, 65001, 1, 8));
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

static void test_points_resize_scratch(void **state)
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
static void test_points_resize_tables(void **state)
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
static void test_points_kernels(void **state)
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
        cmocka_unit_test(test_points_refuse_rotation), cmocka_unit_test(test_points_refuse_gamma),
        cmocka_unit_test(test_points_refuse_gray),     cmocka_unit_test(test_points_refuse_resize),
        cmocka_unit_test(test_points_resize_scratch),  cmocka_unit_test(test_points_resize_tables),
        cmocka_unit_test(test_points_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
