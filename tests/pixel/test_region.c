/* The parameters region and feather: within a rectangle a filter makes what it makes of the whole
 * picture, beyond it nothing changes, soft edges and masks follow their definition in double
 * precision, and a band reads and filters only what the region needs. */
#include <math.h>

#include "chain/plan.h"
#include "pixel/region/region.h"
#include "support.h"
#include "temp_folder.h"

enum { WIDTH = 61, HEIGHT = 47 };

/* A chain of one filter with further parameters. */
static const char *within(const char *chain, const char *region)
{
    static char text[600];
    snprintf(text, sizeof text, "%s%cregion=%s", chain, strchr(chain, '=') ? ':' : '=', region);
    return text;
}

/* A sample of the picture as one of that many channels: gray becomes colour, no alpha opaque. */
static int sample_as(const struct gf_image *image, int channels, int x, int y, int c)
{
    const struct gf_format format = image->format, wide = {.channels = channels};
    const int colours = gf_colour_channels(format);
    if (gf_has_alpha(wide) && c == channels - 1)
        return gf_has_alpha(format) ? sample_at(image, x, y, format.channels - 1)
               : format.bits == 8   ? 255
                                    : 65535;
    return sample_at(image, x, y, c < colours ? c : 0);
}

static bool is_in(const struct gf_rectangle *at, int x, int y)
{
    return x >= at->x && x < at->x + at->width && y >= at->y && y < at->y + at->height;
}

/* Asserts that `out` is `whole` within the rectangle, and the input beyond it. */
static void assert_only(const char *label, const struct gf_image *in, const struct gf_image *whole,
                        const struct gf_image *out, const struct gf_rectangle *at)
{
    struct gf_image expected = picture_new(out->format, 0);
    for (int y = 0; y < in->format.height; y++) {
        for (int x = 0; x < in->format.width; x++) {
            for (int c = 0; c < out->format.channels; c++)
                sample_set(&expected, x, y, c,
                           sample_as(is_in(at, x, y) ? whole : in, out->format.channels, x, y, c));
        }
    }
    assert_same(label, out, &expected);
    picture_free(&expected);
}

static bool is_refused(const char *chain)
{
    struct gf_chain parsed;
    const bool refused = gf_chain_parse(chain, &parsed, NULL) != GF_OK;
    gf_chain_free(&parsed);
    return refused;
}

static int filters_checked;

static void check_filter(const char *chain, void *context)
{
    static const struct gf_rectangle at = {17, 11, 23, 19};
    char text[600];
    strcpy(text, within(chain, "17 11 23 19"));
    if (is_refused(text))
        return;
    for (int k = 0; k < 8; k++) {
        const struct gf_format format = format_of(WIDTH, HEIGHT, 1 + k % 4, k < 4 ? 8 : 16);
        struct gf_image in = picture_random(format, 3, (uint64_t)k), whole, out;
        struct gf_options options = gf_options_default();
        struct gf_error error = {0};
        options.device = GF_DEVICE_CPU;
        if (pipeline_result(chain, &options, &in, &whole, &error) == GF_OK &&
            whole.format.width == WIDTH && whole.format.height == HEIGHT) {
            out = cpu_result(text, &in, 0);
            assert_only(text, &in, &whole, &out, &at);
            picture_free(&out);
            out = cpu_result(text, &in, 5);
            assert_only(text, &in, &whole, &out, &at);
            picture_free(&out);
            filters_checked++;
        }
        picture_free(&whole);
        picture_free(&in);
    }
}

static void test_every_filter(void **state)
{
    each_filter_chain(check_filter, NULL);
    assert_true(filters_checked > 8 * 60);
}

/* Regions partly and wholly beyond the picture, at its corners, in per cent, and of pictures that
 * are smaller than the filter reaches. */
static void test_places(void **state)
{
    static const struct {
        int width, height;
        const char *region;
        struct gf_rectangle at;
    } places[] = {
        {31, 23, "-5 -4 15 14", {0, 0, 10, 10}},
        {31, 23, "25 20 50 50", {25, 20, 6, 3}},
        {31, 23, "31 0 9 9", {0, 0, 0, 0}},
        {31, 23, "-9 -9 9 9", {0, 0, 0, 0}},
        {31, 23, "3 4 0 9", {0, 0, 0, 0}},
        {31, 23, "0 0 100% 100%", {0, 0, 31, 23}},
        {31, 23, "50% 50% 50% 50%", {15, 11, 16, 12}},
        {31, 23, "4px 5px 6px 7px", {4, 5, 6, 7}},
        {31, 23, "6x7+4+5", {4, 5, 6, 7}},
        {31, 23, "9x9-4+5", {0, 5, 5, 9}},
        {1, 1, "0 0 1 1", {0, 0, 1, 1}},
        {1, 1, "0 0 50% 50%", {0, 0, 1, 1}},
        {1, 40, "0 7 1 2", {0, 7, 1, 2}},
        {40, 1, "7 0 2 1", {7, 0, 2, 1}},
        {3, 2, "1 1 1 1", {1, 1, 1, 1}},
    };
    static const char *const chains[] = {"blur=4", "pixelate=7",         "invert",   "hflip",
                                         "vflip",  "blur=3:border=wrap", "equalize", "median=3"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (size_t k = 0; k < sizeof chains / sizeof *chains; k++) {
            struct gf_image in = picture_random(
                format_of(places[i].width, places[i].height, 1 + (int)(i + k) % 4, 8), 0, i);
            struct gf_image whole = cpu_result(chains[k], &in, 0);
            for (int rows = 0; rows < 3; rows++) {
                struct gf_image out = cpu_result(within(chains[k], places[i].region), &in, rows);
                assert_only(within(chains[k], places[i].region), &in, &whole, &out, &places[i].at);
                picture_free(&out);
            }
            picture_free(&whole);
            picture_free(&in);
        }
    }
}

/* ---- soft edges ---- */

struct shape {
    bool ellipse;
    double x, y, w, h;
};

/* The definition: the distance of the pixel's middle from the edge over the width of the soft
 * edge. */
static double covered(const struct shape *shape, double feather, int x, int y)
{
    const double left = x + 0.5 - shape->x, above = y + 0.5 - shape->y;
    const double rx = shape->w / 2, ry = shape->h / 2;
    const double inside = shape->ellipse
                              ? (1 - hypot((left - rx) / rx, (above - ry) / ry)) * fmin(rx, ry)
                              : fmin(fmin(left, shape->w - left), fmin(above, shape->h - above));
    if (inside < 0)
        return 0;
    return inside >= feather ? 1 : inside / feather;
}

static double mixed(const struct gf_image *in, const struct gf_image *whole, int x, int y, int c,
                    double part)
{
    const int alpha = in->format.channels - 1;
    const double a = sample_at(in, x, y, c), b = sample_at(whole, x, y, c);
    if (!gf_has_alpha(in->format) || c == alpha)
        return a + part * (b - a);
    const double of_in = (1 - part) * sample_at(in, x, y, alpha);
    const double of_whole = part * sample_at(whole, x, y, alpha);
    return of_in + of_whole > 0 ? (of_in * a + of_whole * b) / (of_in + of_whole)
                                : a + part * (b - a);
}

static void assert_mixed(const char *label, const struct gf_image *in, const struct gf_image *whole,
                         const struct gf_image *out,
                         double (*coverage)(const void *context, int x, int y), const void *context)
{
    int soft = 0;
    for (int y = 0; y < in->format.height; y++) {
        for (int x = 0; x < in->format.width; x++) {
            const double part = coverage(context, x, y);
            soft += part > 0 && part < 1;
            for (int c = 0; c < in->format.channels; c++) {
                const double expected = mixed(in, whole, x, y, c, part);
                const int is = sample_at(out, x, y, c);
                if (part == 0 || part == 1 ? is != (int)expected : fabs(is - expected) > 0.52)
                    fail_msg("%s: %d instead of %.3f at %d,%d channel %d of %d", label, is,
                             expected, x, y, c, in->format.channels);
            }
        }
    }
    assert_true(soft > 100);
}

static const struct shape soft_shapes[] = {{false, 5, 6, 30, 25}, {true, 28, 10, 25, 33}};

static double soft_coverage(const void *context, int x, int y)
{
    return fmax(covered(&soft_shapes[0], 6, x, y), covered(&soft_shapes[1], 6, x, y));
}

static void test_soft_edges(void **state)
{
    static const char *const chains[] = {"invert", "blur=2", "median=2", "pixelate=5"};
    for (int k = 0; k < 32; k++) {
        const struct gf_format format = format_of(WIDTH, HEIGHT, 1 + k % 4, k / 4 % 2 ? 16 : 8);
        const char *const text = within(chains[k / 8], "5 6 30 25 / ellipse 28 10 25 33:feather=6");
        struct gf_image in = picture_random(format, 0, (uint64_t)k);
        struct gf_image whole = cpu_result(chains[k / 8], &in, 0);
        struct gf_image out = cpu_result(text, &in, 0), banded = cpu_result(text, &in, 3);
        assert_mixed(text, &in, &whole, &out, soft_coverage, NULL);
        assert_same(text, &banded, &out);
        picture_free(&banded);
        picture_free(&out);
        picture_free(&whole);
        picture_free(&in);
    }
}

/* ---- a mask's file ---- */

enum { MASK_WIDTH = 13, MASK_HEIGHT = 9 };
static unsigned char mask[MASK_HEIGHT][MASK_WIDTH];

static double mask_at(double u, double v)
{
    const double x = fmin(fmax(u, 0), MASK_WIDTH - 1), y = fmin(fmax(v, 0), MASK_HEIGHT - 1);
    const int left = (int)x, top = (int)y;
    const int right = left + 1 < MASK_WIDTH ? left + 1 : left;
    const int below = top + 1 < MASK_HEIGHT ? top + 1 : top;
    const double upper = mask[top][left] + (x - left) * (mask[top][right] - mask[top][left]);
    const double lower = mask[below][left] + (x - left) * (mask[below][right] - mask[below][left]);
    return (upper + (y - top) * (lower - upper)) / 255;
}

static double mask_coverage(const void *context, int x, int y)
{
    const double u = (x + 0.5) * MASK_WIDTH / WIDTH - 0.5;
    const double v = (y + 0.5) * MASK_HEIGHT / HEIGHT - 0.5;
    return mask_at(u, v);
}

/* A mask is stretched over the picture. Its dark border leaves rows unfiltered. */
static void test_mask(void **state)
{
    char file[200];
    const int header = snprintf(file, sizeof file, "P5\n%d %d\n255\n", MASK_WIDTH, MASK_HEIGHT);
    for (int y = 3; y < MASK_HEIGHT - 2; y++) {
        for (int x = 2; x < MASK_WIDTH - 4; x++)
            mask[y][x] = (unsigned char)(x * y * 37 % 256);
    }
    memcpy(file + header, mask, sizeof mask);
    save(in_folder("mask.pgm"), file, (size_t)header + sizeof mask);
    for (int channels = 1; channels <= 4; channels++) {
        struct gf_image in = picture_random(format_of(WIDTH, HEIGHT, channels, 8), 0, 5);
        struct gf_image whole = cpu_result("blur=2", &in, 0);
        struct gf_image out = cpu_result(within("blur=2", in_folder("mask.pgm")), &in, 0);
        struct gf_image banded = cpu_result(within("blur=2", in_folder("mask.pgm")), &in, 4);
        assert_mixed("mask", &in, &whole, &out, mask_coverage, NULL);
        assert_same("mask", &banded, &out);
        picture_free(&banded);
        picture_free(&out);
        picture_free(&whole);
        picture_free(&in);
    }
}

/* ---- what a region costs ---- */

static struct gf_chain chain;
static struct gf_plan plan;

static const struct gf_region_parts *plan_region(const char *text, struct gf_format format)
{
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    assert_ok(text, gf_plan_make(&chain, format, 1, &plan, &error), &error);
    assert_int_equal(plan.stage_count, 1);
    return plan.stage[0].params;
}

static void drop_region(void)
{
    gf_plan_free(&plan);
    gf_chain_free(&chain);
}

static void assert_rows(int y0, int y1, int first, int end)
{
    struct gf_rows cut[2];
    gf_segment_rows(&plan, &plan.segment[0], y0, y1, cut);
    assert_int_equal(cut[0].first, first);
    assert_int_equal(cut[0].end, end);
}

static void test_boxes(void **state)
{
    const struct gf_region_parts *parts =
        plan_region("blur=2:region=100 200 50 60/700 210 20 30", format_of(1000, 900, 3, 8));
    assert_int_equal(parts->boxes,
                     2); /* side by side, each with its columns and the blur's radius */
    assert_int_equal(parts->box[0].from, 94);
    assert_int_equal(parts->box[0].columns, 62);
    assert_int_equal(parts->box[1].from, 694);
    assert_int_equal(parts->box[1].columns, 32);
    assert_rows(0, 50, 0, 50);
    assert_rows(190, 200, 190, 200);
    assert_rows(198, 210, 194, 216);
    assert_rows(230, 240, 224, 246);
    assert_rows(300, 400, 300, 400);
    drop_region();
    parts = plan_region("blur=2:region=10 20 50 60/40 50 70 30", format_of(1000, 900, 3, 8));
    assert_int_equal(parts->boxes, 1); /* the rectangle around both */
    assert_int_equal(parts->box[0].at.width, 100);
    assert_int_equal(parts->box[0].at.height, 60);
    drop_region();
    parts = plan_region("pixelate=10:region=15 25 50 60/700 400 20 30", format_of(1000, 900, 3, 8));
    assert_int_equal(parts->boxes, 2); /* in whole rows: blocks begin at the picture's corner */
    assert_int_equal(parts->box[0].columns, 1000);
    assert_rows(0, 20, 0, 20);
    assert_rows(84, 100, 70, 100); /* resize asks for a block more */
    drop_region();
}

/* The rows that bands read never go back, since the reader keeps those of one band alone. */
static void test_rows_never_go_back(void **state)
{
    static const char *const chains[] = {"blur=5:region=3 40 9 20/30 70 5 3",
                                         "pixelate=8:region=3 43 9 20/30 70 5 3"};
    for (int i = 0; i < 2; i++) {
        plan_region(chains[i], format_of(50, 100, 3, 8));
        for (int rows = 1; rows < 40; rows += 3) {
            int first = 0, end = 0;
            for (int y = 0; y < 100; y += rows) {
                struct gf_rows cut[2];
                const int stop = y + rows < 100 ? y + rows : 100;
                gf_segment_rows(&plan, &plan.segment[0], y, stop, cut);
                assert_true(cut[0].first >= first && cut[0].end >= end);
                assert_true(cut[0].first <= y && cut[0].end >= stop);
                first = cut[0].first;
                end = cut[0].end;
            }
        }
        drop_region();
    }
}

/* Asserts that the parts of the scratch memory, for rows y .. y + rows - 1, lie within the bytes
 * that the stage asks for. */
static void assert_scratch_fits(const char *label, int y, int rows)
{
    static unsigned char memory[1];
    const struct gf_stage *const stage = &plan.stage[0];
    const struct gf_region_parts *const parts = stage->params;
    const struct gf_view out = {.format = stage->out, .y = y, .rows = rows};
    const size_t bytes = stage->filter->cpu_scratch(stage, rows);
    for (int b = 0; b < parts->boxes; b++) {
        struct gf_region_band band;
        if (!gf_region_band(stage, b, &out, memory, &band))
            continue;
        for (int i = 0; i < band.box->count; i++) {
            const struct gf_stage *const own = &parts->stage[band.box->first + i];
            const int made = band.cut[i + 1].end - band.cut[i + 1].first;
            const size_t used =
                (size_t)(band.scratch - memory) +
                (own->filter->cpu_scratch ? own->filter->cpu_scratch(own, made) : 0);
            if (used > bytes)
                fail_msg("%s: rows %d..%d use %zu bytes of %zu", label, y, y + rows - 1, used,
                         bytes);
        }
    }
}

static void test_scratch(void **state)
{
    static const char *const chains[] = {
        "blur=5:region=3 40 9 20/30 70 5 30",
        "pixelate=8:region=3 43 9 20/30 75 5 3",
        "pixelate=30:region=3 13 9 70",
        "blur=3:border=wrap:region=0 0 9 100",
        "vflip=region=0 20 9 60",
        "lens=0.3:region=5 5 40 80",
        "perspective=keystone:region=5 5 40 80",
        "lensblur=4:region=5 5 40 80",
    };
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        for (int channels = 3; channels <= 4; channels++) {
            plan_region(chains[i], format_of(50, 100, channels, 8));
            for (int rows = 1; rows <= 100; rows++) {
                for (int y = 0; y + rows <= 100; y++)
                    assert_scratch_fits(chains[i], y, rows);
            }
            drop_region();
        }
    }
}

static void assert_message(const char *text, struct gf_format format, const char *message)
{
    struct gf_error error = {0};
    enum gf_status status = gf_chain_parse(text, &chain, &error);
    if (!status) {
        status = gf_plan_make(&chain, format, 1, &plan, &error);
        assert_int_equal(status, GF_ERROR_UNFIT);
    }
    gf_chain_free(&chain);
    assert_true(status);
    assert_string_equal(error.text, message);
}

static void test_refusals(void **state)
{
    const struct gf_format format = format_of(40, 30, 3, 8);
    assert_message("crop=9:9:region=1 1 5 5", format,
                   "crop: region is for filters that keep the picture's size and profile and go "
                   "through the picture once");
    assert_message("rotate=90:region=1 1 5 5", format,
                   "rotate: a region needs a result of the picture's size, 40x30; this one has "
                   "30x40");
    assert_message("blur=feather=3", format,
                   "blur: feather is the soft edge of a region, which is missing: region=X Y "
                   "WIDTH HEIGHT");
    assert_message("blur=region=1 1 5 5:region=1 1 5 5", format, "blur: region is given twice");
    assert_message("blur=region=1 1 5", format,
                   "blur: region=1 1 5 is neither 'X Y WIDTH HEIGHT' nor 'ellipse X Y WIDTH "
                   "HEIGHT' nor a mask's file: 1 1 5: No such file or directory");
    assert_message("blur=region=1 1 -5 5", format,
                   "blur: region=1 1 -5 5 has a number outside -10000000..10000000, or a size "
                   "below 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_filter), cmocka_unit_test(test_places),
        cmocka_unit_test(test_soft_edges),   cmocka_unit_test(test_mask),
        cmocka_unit_test(test_boxes),        cmocka_unit_test(test_rows_never_go_back),
        cmocka_unit_test(test_scratch),      cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("region", tests, make_folder, remove_folder);
}
