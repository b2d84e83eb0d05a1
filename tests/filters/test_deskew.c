/* deskew finds the angle of pages of lines that are drawn at known angles. */
#include <math.h>

#include "support.h"

#include "filters/warp/warp.h"
#include "gpufilter/profile.h"

/* What is drawn: words of letters of ink in lines, on paper that gets darker to the right. */
struct page {
    double angle;            /* degrees, clockwise */
    int width, height, line; /* the distance of lines in pixels */
};

/* Whether there is ink at a place of the page before it was turned. Letters are bars of a half of a
 * pitch, words have three to nine of them, and a fifth of the letters is taller. */
static bool is_ink(const struct page *page, double x, double y)
{
    const double pitch = page->line / 4.0;
    const int line = (int)floor(y / page->line), letter = (int)floor(x / pitch);
    if (line < 4 || line >= page->height / page->line - 4 || x < page->width / 10.0 ||
        x > page->width * (0.9 - 0.4 * (line % 5 == 4)))
        return false;
    const unsigned hash = (unsigned)(letter * 2654435761u + (unsigned)line * 40503u) >> 7;
    const double height = page->line * (hash % 5 ? 0.35 : 0.6);
    const double above = (line + 1) * page->line - y;
    return x - letter * pitch < pitch / 2 && (letter + 3 * line) % 7 && above < height;
}

static struct gf_image draw_page(const struct page *page, int channels, int bits)
{
    const struct gf_format format = format_of(page->width, page->height, channels, bits);
    struct gf_image image = picture_random(format, 0, 11);
    const double turn = page->angle * 3.14159265358979323846 / 180;
    const int unit = bits == 8 ? 1 : 257;
    for (int y = 0; y < page->height; y++) {
        for (int x = 0; x < page->width; x++) {
            const double u = x - page->width / 2.0, v = y - page->height / 2.0;
            const bool ink = is_ink(page, u * cos(turn) + v * sin(turn) + page->width / 2.0,
                                    v * cos(turn) - u * sin(turn) + page->height / 2.0);
            const int noise = sample_at(&image, x, y, 0) / unit / 16;
            const int level = (ink ? 60 : 220) - 40 * x / page->width + noise;
            for (int c = 0; c < channels; c++)
                sample_set(&image, x, y, c, unit * level);
        }
    }
    return image;
}

static void test_angles(void **state)
{
    static const double angles[] = {0, 0.3, -1.25, 2.5, -4.75, 8.8, -14.4, 5.7, -10, 10};
    static const struct page pages[] = {
        {0, 700, 900, 18}, {0, 1700, 1100, 31}, {0, 2300, 1500, 40}};
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        struct page page = pages[i % 3];
        page.angle = angles[i];
        struct gf_image image = draw_page(&page, 1 + 2 * (int)(i % 2), i % 4 == 3 ? 16 : 8);
        const struct gf_view view = gf_image_view(&image);
        int found = 0;
        assert_true(gf_skew_find(&view, 0.4, 1500, &found));
        if (fabs(found / 100.0 - page.angle) > 0.1)
            fail_msg("%g degrees instead of %g", found / 100.0, page.angle);
        picture_free(&image);
    }
}

/* Upright rectangles, turned about the middle of a square. */
struct boxes {
    double angle; /* degrees, clockwise */
    int count;
    struct box {
        int x, y, width, height, level;
    } box[16];
};

enum { SQUARE = 400, MARGIN = 60 };

static int between(unsigned *state, int least, int most)
{
    *state = *state * 1664525 + 1013904223;
    return least + (int)((*state >> 8) % (unsigned)(most - least + 1));
}

/* Chooses boxes of `least` to `most` pixels, or upright lines that are as thin as `width`. */
static struct boxes random_boxes(unsigned *state, int least, int most, int width)
{
    struct boxes boxes = {.count = between(state, 8, 16)};
    for (int i = 0; i < boxes.count; i++) {
        struct box *const box = &boxes.box[i];
        box->width = width ? width : between(state, least, most);
        box->height = between(state, least, most);
        box->x = between(state, MARGIN, SQUARE - MARGIN - box->width);
        box->y = between(state, MARGIN, SQUARE - MARGIN - box->height);
        box->level = between(state, 0, 120);
    }
    return boxes;
}

static int level_at(const struct boxes *boxes, double x, double y)
{
    int level = 255;
    for (int i = 0; i < boxes->count; i++) {
        const struct box *const box = &boxes->box[i];
        if (x >= box->x && x < box->x + box->width && y >= box->y && y < box->y + box->height)
            level = box->level;
    }
    return level;
}

static int skew_of_boxes(const struct boxes *boxes)
{
    struct gf_image image = picture_random(format_of(SQUARE, SQUARE, 1, 8), 0, 11);
    const double turn = boxes->angle * 3.14159265358979323846 / 180, middle = SQUARE / 2.0;
    for (int y = 0; y < SQUARE; y++) {
        for (int x = 0; x < SQUARE; x++) {
            const double u = x + 0.5 - middle, v = y + 0.5 - middle;
            sample_set(&image, x, y, 0,
                       level_at(boxes, u * cos(turn) + v * sin(turn) + middle,
                                v * cos(turn) - u * sin(turn) + middle));
        }
    }
    const struct gf_view view = gf_image_view(&image);
    int found = 0;
    assert_true(gf_skew_find(&view, 0.4, 1500, &found));
    picture_free(&image);
    return found;
}

/* Level pictures of upright rectangles or lines are not turned. */
static void test_level(void **state)
{
    unsigned random = 1;
    for (int i = 0; i < 20; i++) {
        const struct boxes boxes = random_boxes(&random, 10, 70, 0),
                           lines = random_boxes(&random, 80, 200, 1 + i % 4);
        assert_int_equal(skew_of_boxes(&boxes), 0);
        assert_int_equal(skew_of_boxes(&lines), 0);
    }
}

/* Upright lines show the angle as well as lines of text; short edges show it less precisely. */
static void test_turned(void **state)
{
    unsigned random = 1;
    for (int i = 0; i < 20; i++) {
        struct boxes boxes = random_boxes(&random, 30, 90, 0),
                     lines = random_boxes(&random, 80, 200, 1 + i % 4);
        boxes.angle = lines.angle = i - (i < 10 ? 11.3 : 8.3);
        const int of_boxes = skew_of_boxes(&boxes), of_lines = skew_of_boxes(&lines);
        if (fabs(of_boxes / 100.0 - boxes.angle) > 0.3)
            fail_msg("boxes: %g degrees instead of %g", of_boxes / 100.0, boxes.angle);
        if (fabs(of_lines / 100.0 - lines.angle) > 0.2)
            fail_msg("lines: %g degrees instead of %g", of_lines / 100.0, lines.angle);
    }
}

/* Noise, one colour, and pictures of a row or a column have no lines. */
static void test_no_lines(void **state)
{
    static const int sizes[][2] = {{700, 500}, {1, 1}, {1, 3000}, {3000, 1}, {2, 2}};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        const struct gf_format format = format_of(sizes[i / 2][0], sizes[i / 2][1], 3, 8);
        struct gf_image image = picture_random(format, 0, 5);
        if (i % 2)
            memset(image.data, 200, image.pitch * (size_t)format.height);
        const struct gf_view view = gf_image_view(&image);
        int found = 1;
        assert_false(gf_skew_find(&view, 0.4, 4500, &found));
        assert_int_equal(found, 0);
        picture_free(&image);
    }
}

/* Filters a page, and returns the line about it. */
static struct gf_image filtered(const char *chain, const struct gf_image *page, char text[64])
{
    struct gf_image result = {0};
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline = NULL;
    struct gf_error error = {0};
    options.device = GF_DEVICE_CPU;
    assert_ok(chain, gf_pipeline_open(chain, &options, &pipeline, &error), &error);
    assert_ok(chain, gf_pipeline_run_image(pipeline, page, &result, &error), &error);
    snprintf(text, 64, "%s", gf_pipeline_profile(pipeline)->found);
    gf_pipeline_close(pipeline);
    return result;
}

static void assert_equal(const struct gf_image *is, const struct gf_image *expected)
{
    assert_true(same_format(is->format, expected->format));
    assert_int_equal(compare(is, expected).most, 0);
}

/* The chain's result is the rotation by the angle that it tells. */
static void test_chain(void **state)
{
    static const struct {
        const char *deskew, *rotate;
    } rests[] = {{"", ""},
                 {"=fit=keep:kernel=cubic:colour=red", ":fit=keep:kernel=cubic:colour=red"}};
    struct gf_image page = draw_page(&(struct page){3.5, 700, 500, 20}, 3, 8);
    for (int i = 0; i < 2; i++) {
        char chain[120], text[64], none[64];
        double angle;
        snprintf(chain, sizeof chain, "deskew%s", rests[i].deskew);
        struct gf_image turned = filtered(chain, &page, text);
        assert_int_equal(sscanf(text, "deskew: turned by %lf degrees", &angle), 1);
        assert_true(fabs(angle + 3.5) < 0.1);
        snprintf(chain, sizeof chain, "rotate=%g%s", angle, rests[i].rotate);
        struct gf_image expected = filtered(chain, &page, none);
        assert_string_equal(none, "");
        assert_equal(&turned, &expected);
        gf_image_free(&turned);
        gf_image_free(&expected);
    }
    picture_free(&page);
}

/* The angle is not looked for beyond max, and a picture without lines is not turned. */
static void test_limits(void **state)
{
    char text[64];
    struct gf_image page = draw_page(&(struct page){3.5, 700, 500, 20}, 1, 8);
    struct gf_image result = filtered("deskew=max=1", &page, text);
    double angle = 0;
    assert_true(sscanf(text, "deskew: turned by %lf", &angle) < 1 || fabs(angle) <= 1.5);
    gf_image_free(&result);
    memset(page.data, 255, page.pitch * 500);
    result = filtered("deskew", &page, text);
    assert_string_equal(text, "deskew: found no lines, and turned nothing");
    assert_equal(&result, &page);
    gf_image_free(&result);
    picture_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_angles), cmocka_unit_test(test_level),
        cmocka_unit_test(test_turned), cmocka_unit_test(test_no_lines),
        cmocka_unit_test(test_chain),  cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
