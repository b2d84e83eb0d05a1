/* A stencil with the point filters beside it as one stage makes the picture that they make one
 * after the other, and says what it is made of. */
#include "chain/chain.h"
#include "chain/plan.h"
#include "gpufilter/gpufilter.h"
#include "pixel/point/fused.h"
#include "pixel/point/point_program.h"
#include "support.h"

static struct gf_image run(const char *chain, const struct gf_image *in, bool no_fuse)
{
    struct gf_options options = gf_options_default();
    struct gf_error error = {0};
    struct gf_image out;
    options.device = GF_DEVICE_CPU;
    options.no_fuse = no_fuse;
    options.band_rows = 16;
    assert_ok(chain, pipeline_result(chain, &options, in, &out, &error), &error);
    return out;
}

static void check_chain(const char *chain, const struct gf_image *in)
{
    struct gf_image fused = run(chain, in, false), apart = run(chain, in, true);
    assert_same(chain, &fused, &apart);
    picture_free(&fused);
    picture_free(&apart);
}

/* Tables that change black, which a constant border brings in as it is. */
static void test_same_picture(void **state)
{
    static const char *const stencils[] = {"blur=0.5:",
                                           "blur=2:",
                                           "blur=5:",
                                           "sobel=",
                                           "sobel=scale=0.3:",
                                           "median=",
                                           "convolve=1 2 1/2 4 2/1 2 1:",
                                           "convolve=0.1 0.7 0.3:divisor=1:bias=4:"};
    static const char *const borders[] = {"edge", "reflect", "wrap", "constant"};
    static const struct {
        const char *before, *after;
    } around[] = {{"invert,", ""}, {"", ",contrast=0.5"}, {"contrast=0.5,", ",gamma=0.4"}};
    for (int channels = 1; channels <= 3; channels += 2) {
        struct gf_image in = picture_random(format_of(67, 41, channels, 8), 0, 3);
        for (int i = 0; i < 8 * 4 * 3; i++) {
            char chain[200];
            snprintf(chain, sizeof chain, "%s%sborder=%s%s", around[i % 3].before, stencils[i / 12],
                     borders[i / 3 % 4], around[i % 3].after);
            check_chain(chain, &in);
        }
        picture_free(&in);
    }
}

static int stages_of(const char *text, struct gf_format format)
{
    struct gf_chain chain;
    struct gf_plan plan;
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    assert_ok(text, gf_plan_make(&chain, format, 1, &plan, &error), &error);
    const int count = plan.stage_count;
    gf_plan_free(&plan);
    gf_chain_free(&chain);
    return count;
}

/* Stencils that read and write straight RGBA make the picture of the three stages. */
static void test_alpha(void **state)
{
    static const char *const chains[] = {"blur=0.5",
                                         "blur=2",
                                         "unsharp=1",
                                         "boxblur=3",
                                         "boxblur=7:border=constant",
                                         "sobel",
                                         "sobel=kernel=scharr",
                                         "median",
                                         "dilate=1",
                                         "erode=2:border=constant",
                                         "morphology=gradient:1",
                                         "morphology=open:1:border=constant",
                                         "morphology=blackhat:1",
                                         "convolve=1 2 1/2 4 2/1 2 1:border=reflect",
                                         "resize=50%",
                                         "resize=30:31:kernel=nearest",
                                         "resize=130:kernel=nearest"};
    for (int bits = 8; bits <= 16; bits += 8) {
        struct gf_image in = picture_random(format_of(68, 42, 4, bits), 0, 3);
        for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
            check_chain(chains[i], &in);
            assert_int_equal(stages_of(chains[i], in.format), 1);
        }
        check_chain("blur=2:border=wrap", &in);
        assert_int_equal(stages_of("blur=2:border=wrap", in.format), 3);
        assert_int_equal(stages_of("dilate=1:2", in.format), 3);
        picture_free(&in);
    }
}

/* What has alpha is the same after it was multiplied by alpha in 16 bits and divided again, so that
 * a kernel that moves pixels only clears the colour of the others. */
static void test_moved_pixels(void **state)
{
    const struct gf_point_op multiply = {.max = 65535, .a = 257, .b = 255}, divide = {.max = 255};
    for (int alpha = 1; alpha <= 255; alpha++) {
        for (int v = 0; v <= 255; v++) {
            const float product = gf_point_premultiply_of(&multiply, (float)v, (float)alpha);
            const float stored = (float)(int)(product + 0.5f), whole = 257 * (float)alpha;
            const float back = gf_point_unpremultiply_of(&divide, stored, whole);
            assert_int_equal((int)(back + 0.5f), v);
        }
    }
}

static void test_parts(void **state)
{
    struct gf_chain chain;
    struct gf_plan plan;
    struct gf_error error = {0};
    char name[60];
    assert_ok("parse", gf_chain_parse("gamma=2,invert,sobel,contrast=2", &chain, &error), &error);
    assert_ok("plan", gf_plan_make(&chain, format_of(40, 30, 3, 8), 1, &plan, &error), &error);
    assert_int_equal(plan.stage_count, 1);
    const struct gf_stage *const stage = &plan.stage[0];
    assert_ptr_equal(stage->filter, &gf_fused);
    assert_int_equal(gf_plan_stage_filters(stage), 4);
    assert_string_equal(gf_plan_stage_filter(stage, 2)->name, "sobel");
    assert_null(gf_plan_stage_filter(stage, 4));
    gf_plan_stage_name(stage, name, sizeof name);
    assert_string_equal(name, "gamma+invert+sobel+contrast");
    int first, end;
    gf_stage_input_rows(stage, 5, 8, &first, &end);
    assert_int_equal(first, 4);
    assert_int_equal(end, 9);
    gf_plan_free(&plan);
    gf_chain_free(&chain);
}

/* Runs the stages of a plan on the CPU, each on the whole picture. */
static struct gf_image run_stages(struct gf_plan *plan, const struct gf_image *in)
{
    struct gf_image picture = *in, made;
    struct gf_error error = {0};
    for (int i = 0; i < plan->stage_count; i++) {
        struct gf_stage *const stage = &plan->stage[i];
        assert_ok("result", gf_image_alloc(&made, stage->out, &error), &error);
        assert_ok("prepare", gf_stage_prepare(stage, &error), &error);
        void *const scratch = stage->filter->cpu_scratch
                                  ? malloc(stage->filter->cpu_scratch(stage, stage->out.height))
                                  : NULL;
        const struct gf_view from = gf_image_view(&picture), to = gf_image_view(&made);
        stage->filter->cpu(stage, &from, &to, scratch);
        free(scratch);
        if (i)
            gf_image_free(&picture);
        picture = made;
    }
    return picture;
}

/* Returns the number of stages for a device, after the checks of its plan. */
static int stages_on_device(const char *text, const struct gf_image *in)
{
    const struct gf_plan_request request = {.orientation = 1, .on_device = true};
    struct gf_chain chain;
    struct gf_plan plan;
    struct gf_place place;
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    assert_ok(text, gf_plan_make_for(&chain, in->format, &request, &plan, &error), &error);
    gf_place_begin(&place, in->format, 1);
    assert_ok(text, gf_place_follow(&place, &plan, &error), &error);
    assert_true(*place.lost != 0);
    struct gf_image apart = run(text, in, false), fused = run_stages(&plan, in);
    assert_same(text, &apart, &fused);
    gf_image_free(&fused);
    picture_free(&apart);
    const int count = plan.stage_count;
    if (count == 1)
        assert_int_equal(gf_stage_cuda_scratch(plan.stage, in->format.height), 0);
    gf_plan_free(&plan);
    gf_chain_free(&chain);
    return count;
}

/* Warps, of which a band may need the whole input, are fused for a device alone. */
static void test_warps(void **state)
{
    static const char *const chains[] = {
        "rotate=7:colour=transparent", "rotate=30:fit=keep:colour=transparent:kernel=cubic",
        "lens=0.2:colour=transparent", "perspective=keystone:colour=transparent:kernel=nearest"};
    static const int channels[] = {4, 4, 3}, bits[] = {8, 16, 8};
    for (int f = 0; f < 3; f++) {
        struct gf_image in = picture_random(format_of(61, 47, channels[f], bits[f]), 0, 3);
        for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
            assert_int_equal(stages_of(chains[i], in.format), 3);
            assert_int_equal(stages_on_device(chains[i], &in), 1);
        }
        assert_int_equal(stages_on_device("lens=0.2:colour=transparent:kernel=cubic", &in), 3);
        picture_free(&in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_picture), cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_warps),        cmocka_unit_test(test_moved_pixels),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
