/* The stages of like=pillow and like=opencv: in bands and whole, for extreme boxes and scales.
 * Their samples are compared with Pillow's and OpenCV's in tests/python/test_pillow.py and
 * test_opencv.py. */
#include "one_stage.h"
#include "filters/resize/opencv.h"
#include "filters/resize/pillow.h"

static struct gf_error error;

static void assert_same_in_bands(const char *label, const struct gf_filter *filter,
                                 const void *params, const struct gf_image *in)
{
    struct gf_stage stage;
    assert_ok(label, gf_stage_bind(&stage, filter, params, in->format, &error), &error);
    struct gf_image out = stage_result(label, &stage, in);
    assert_true(guards_intact(&out));
    picture_free(&out);
}

static void check_resize(const struct gf_image *in, const void *context)
{
    const int w = in->format.width, h = in->format.height;
    const float right = (float)w, bottom = (float)h, thin = 1 / 1024.0f;
    const int sizes[][2] = {{w, h}, {w, 2 * h + 1}, {(w + 1) / 2, h}, {10, 4}, {1, 1}};
    const float boxes[][4] = {{0, 0, right, bottom},
                              {right - thin, bottom - thin, right, bottom},
                              {0, 0.3f * bottom, right, 0.3f * bottom + thin},
                              {0.4f * right, 0, right, 0.9f * bottom}};
    if (in->format.bits == 16 && in->format.channels > 1)
        return;
    for (int i = 0; i < 5 * 4 * 6; i++) {
        struct gf_pillow_params params = {.kernel = (enum gf_resample_kernel)(i % 6),
                                          .width = sizes[i / 24][0],
                                          .height = sizes[i / 24][1]};
        memcpy(params.box, boxes[i / 6 % 4], sizeof params.box);
        assert_same_in_bands("resize", &gf_pillow_filter, &params, in);
    }
}

static void check_reduce(const struct gf_image *in, const void *context)
{
    const int w = in->format.width, h = in->format.height;
    const struct gf_reduce_params some[] = {{3, 2, {0, 0, w, h}},
                                            {w, h, {0, 0, w, h}},
                                            {1, 5, {w / 2, h / 2, w, h}},
                                            {2 * w, 1, {w - 1, h - 1, w, h}}};
    for (size_t i = 0; in->format.bits == 8 && i < sizeof some / sizeof *some; i++)
        assert_same_in_bands("reduce", &gf_reduce_filter, &some[i], in);
}

static void check_opencv(const struct gf_image *in, const void *context)
{
    const int w = in->format.width, h = in->format.height;
    const int sizes[][2] = {
        {w, 2 * h + 1},   {2 * w, h}, {(w + 1) / 2, (h + 1) / 2}, {(w + 2) / 3, (h + 1) / 2},
        {w, (h + 4) / 5}, {1, 1}};
    for (int i = 0; in->format.bits == 8 && i < 6 * 2; i++) {
        const struct gf_opencv_params params = {i % 2 == 1, sizes[i / 2][0], sizes[i / 2][1]};
        assert_same_in_bands("opencv", &gf_opencv_filter, &params, in);
    }
}

static void test_bands(void **state)
{
    each_stage_picture(20000, check_resize, NULL);
    each_stage_picture(20000, check_reduce, NULL);
    each_stage_picture(20000, check_opencv, NULL);
}

/* The rows between the passes are never more than the picture has. */
static void test_scratch(void **state)
{
    const struct gf_pillow_params params = {
        .kernel = GF_RESAMPLE_LANCZOS3, .width = 100, .height = 1, .box = {0, 0, 100, 6000}};
    struct gf_stage stage;
    assert_ok("bind",
              gf_stage_bind(&stage, &gf_pillow_filter, &params, format_of(100, 6000, 1, 8), &error),
              &error);
    assert_in_range(stage.filter->cpu_scratch(&stage, 1), 6000 * 100, 6000 * (192 + 8) + 4096);
}

static void test_refused(void **state)
{
    static const struct {
        int width, height;
        float right;
        struct gf_format format;
        const char *text;
    } cases[] = {
        {65536,
         1,
         4,
         {4, 4, 1, 8, GF_SAMPLES_INTEGER},
         "pillow: 65536x1 is larger than 65535 pixels a side"},
        {1,
         INT32_MAX,
         4,
         {4, 4, 3, 8, GF_SAMPLES_INTEGER},
         "pillow: 1x2147483647 is larger than 65535 pixels a side"},
        {1, 1, 5, {4, 4, 1, 8, GF_SAMPLES_INTEGER}, "pillow: box is not within the picture of 4x4"},
        {1,
         1,
         4,
         {4, 4, 3, 16, GF_SAMPLES_INTEGER},
         "pillow: like=pillow takes samples of 16 bits in gray pictures "
         "without alpha only"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gf_pillow_params params = {
            .width = cases[i].width, .height = cases[i].height, .box = {0, 0, cases[i].right, 4}};
        struct gf_stage stage;
        assert_int_equal(gf_stage_bind(&stage, &gf_pillow_filter, &params, cases[i].format, &error),
                         GF_ERROR_USAGE);
        assert_string_equal(error.text, cases[i].text);
    }
}

static void test_opencv_refused(void **state)
{
    static const struct {
        struct gf_opencv_params params;
        struct gf_format format;
        const char *text;
    } cases[] = {
        {{true, 65536, 1},
         {4, 4, 1, 8, GF_SAMPLES_INTEGER},
         "opencv: 65536x1 is larger than 65535 pixels a side"},
        {{false, 1, 1},
         {4, 4, 1, 16, GF_SAMPLES_INTEGER},
         "opencv: like=opencv takes samples of 8 bits only"},
        {{true, 1, 1},
         {4096, 2057, 1, 8, GF_SAMPLES_INTEGER},
         "opencv: OpenCV's sums of blocks of 8425472 pixels overflow: like=none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gf_stage stage;
        assert_int_equal(
            gf_stage_bind(&stage, &gf_opencv_filter, &cases[i].params, cases[i].format, &error),
            GF_ERROR_USAGE);
        assert_string_equal(error.text, cases[i].text);
    }
}

/* A stage with the name of a filter would get that filter's variants, which read its parameters. */
static void test_names(void **state)
{
    assert_null(gf_filter_find(gf_pillow_filter.name));
    assert_null(gf_filter_find(gf_reduce_filter.name));
    assert_null(gf_filter_find(gf_opencv_filter.name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bands), cmocka_unit_test(test_scratch),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_opencv_refused),
                                       cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
