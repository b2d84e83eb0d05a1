/* Filters that move pixels, against their definitions, exactly. */
#include "one_stage.h"
#include "pixel/orient/orient.h"
#include "chain/chain.h"

/* ---- the eight symmetries ---- */

/* Where pixel (x, y) of the result comes from, in a picture of width x height. */
typedef void source_of(int x, int y, int width, int height, int *from_x, int *from_y);

static void of_transpose(int x, int y, int width, int height, int *from_x, int *from_y)
{
    *from_x = y;
    *from_y = x;
}

static void of_quarter(int x, int y, int width, int height, int *from_x, int *from_y)
{
    *from_x = y;
    *from_y = height - 1 - x;
}

static void of_half(int x, int y, int width, int height, int *from_x, int *from_y)
{
    *from_x = width - 1 - x;
    *from_y = height - 1 - y;
}

static void of_three_quarters(int x, int y, int width, int height, int *from_x, int *from_y)
{
    *from_x = width - 1 - y;
    *from_y = x;
}

static void of_hflip(int x, int y, int width, int height, int *from_x, int *from_y)
{
    *from_x = width - 1 - x;
    *from_y = y;
}

static void of_vflip(int x, int y, int width, int height, int *from_x, int *from_y)
{
    *from_x = x;
    *from_y = height - 1 - y;
}

static void of_transverse(int x, int y, int width, int height, int *from_x, int *from_y)
{
    *from_x = width - 1 - y;
    *from_y = height - 1 - x;
}

static void of_nothing(int x, int y, int width, int height, int *from_x, int *from_y)
{
    *from_x = x;
    *from_y = y;
}

static void assert_moved(const char *label, const struct gf_image *in, const struct gf_image *out,
                         bool swaps, source_of *source)
{
    struct gf_format format = in->format;
    if (swaps) {
        format.width = in->format.height;
        format.height = in->format.width;
    }
    struct gf_image expected = picture_new(format, 0);
    for (int y = 0; y < format.height; y++) {
        for (int x = 0; x < format.width; x++) {
            int from_x, from_y;
            source(x, y, in->format.width, in->format.height, &from_x, &from_y);
            for (int c = 0; c < format.channels; c++)
                sample_set(&expected, x, y, c, sample_at(in, from_x, from_y, c));
        }
    }
    assert_same(label, out, &expected);
    picture_free(&expected);
}

static void check_filters(const struct gf_image *in, const void *context)
{
    static const struct {
        const char *text;
        bool swaps;
        source_of *source;
    } filters[] = {
        {"transpose", true, of_transpose},
        {"rotate", true, of_quarter},
        {"rotate=90", true, of_quarter},
        {"rotate=180", false, of_half},
        {"rotate=270", true, of_three_quarters},
        {"hflip", false, of_hflip},
        {"flop", false, of_hflip},
        {"vflip", false, of_vflip},
        {"flip", false, of_vflip},
    };
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        struct gf_image out = chain_result(filters[i].text, in);
        assert_moved(filters[i].text, in, &out, filters[i].swaps, filters[i].source);
        picture_free(&out);
    }
}

static void test_filters(void **state)
{
    each_stage_picture(1e9, check_filters, NULL);
}

static void check_orient(const struct gf_image *in, const void *context)
{
    static source_of *const sources[] = {of_nothing,        of_hflip,     of_vflip,
                                         of_half,           of_transpose, of_quarter,
                                         of_three_quarters, of_transverse};
    for (int i = 0; i < 8; i++) {
        const struct gf_orient orient = {.transpose = i & 4, .mirror_x = i & 1, .mirror_y = i & 2};
        struct gf_stage stage;
        struct gf_error error = {0};
        assert_ok("orient", gf_stage_bind(&stage, &gf_orient, &orient, in->format, &error), &error);
        struct gf_image out = stage_result("orient", &stage, in);
        assert_moved("orient", in, &out, orient.transpose, sources[i]);
        picture_free(&out);
    }
}

static void test_orient(void **state)
{
    each_stage_picture(20000, check_orient, NULL);
}

/* ---- crop ---- */

static void assert_crop(const char *text, const struct gf_image *in, int x, int y, int width,
                        int height)
{
    struct gf_format format = in->format;
    format.width = width;
    format.height = height;
    struct gf_image out = chain_result(text, in), expected = picture_new(format, 0);
    for (int row = 0; row < height; row++) {
        for (int column = 0; column < width; column++) {
            for (int c = 0; c < format.channels; c++)
                sample_set(&expected, column, row, c, sample_at(in, x + column, y + row, c));
        }
    }
    assert_same(text, &out, &expected);
    picture_free(&out);
    picture_free(&expected);
}

static void check_crop(const struct gf_image *in, const void *context)
{
    const int width = in->format.width, height = in->format.height;
    assert_crop("crop=w=100%", in, 0, 0, width, height);
    assert_crop("crop=1:1", in, (width - 1) / 2, (height - 1) / 2, 1, 1);
    assert_crop("crop=w=100%:h=100%:x=0:y=0%", in, 0, 0, width, height);
    if (width < 77)
        return;
    assert_crop("crop=20:10", in, (width - 20) / 2, (height - 10) / 2, 20, 10);
    assert_crop("crop=x=3:w=33:y=50:h=5", in, 3, 50, 33, 5);
    assert_crop("crop=w=76:x=1", in, 1, 0, 76, height);
    assert_crop("crop=h=20%", in, 0, (height - (height + 2) / 5) / 2, width, (height + 2) / 5);
}

static void test_crop(void **state)
{
    each_stage_picture(1e9, check_crop, NULL);
}

/* Halves and thirds of any size fit side by side. */
static void test_crop_percent(void **state)
{
    static const char *const texts[] = {"crop=50%:50%:50%:50%", "crop=29%:71%:71%:29%",
                                        "crop=33.3%:66.7%:66.7%:33.3%"};
    for (int size = 2; size < 120; size++) {
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            struct gf_chain chain;
            struct gf_stage stage;
            struct gf_error error = {0};
            assert_ok(texts[i], gf_chain_parse(texts[i], &chain, &error), &error);
            assert_ok(texts[i],
                      gf_stage_bind(&stage, chain.item[0].filter, chain.item[0].params,
                                    format_of(size, size, 1, 8), &error),
                      &error);
            gf_chain_free(&chain);
        }
    }
}

static void test_crop_refused(void **state)
{
    assert_refused("crop=900:x=200", 1000, 100,
                   "crop: w=900 at x=200 is outside the picture's 1000 columns");
    assert_refused("crop=h=101", 1000, 100, "crop: h=101 at y=0 is outside the picture's 100 rows");
    assert_refused("crop=h=1:y=100", 1000, 100,
                   "crop: h=1 at y=100 is outside the picture's 100 rows");
    assert_refused("crop=w=0", 1000, 100, "crop: w=0 leaves nothing of the picture's 1000 columns");
    assert_refused("crop=h=0.1%", 1000, 100, "crop: h=0 leaves nothing of the picture's 100 rows");
    assert_refused("crop=w=101%", 1000, 100,
                   "crop: w=1010 at x=0 is outside the picture's 1000 columns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters),      cmocka_unit_test(test_orient),
        cmocka_unit_test(test_crop),         cmocka_unit_test(test_crop_percent),
        cmocka_unit_test(test_crop_refused),
    };
    return cmocka_run_group_tests_name("geometry", tests, NULL, NULL);
}
