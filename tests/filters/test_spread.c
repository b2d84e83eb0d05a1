/* lensblur and motionblur with shapes of up to 201 x 201 pixels against a plain reference: sums in
 * double precision over the shape, divided by the sum of its weights, rounded half up. */
#include "conv_reference.h"

/* The part of the pixel (x, y) that the shape covers, by 8 x 8 points. length 0: a disc. */
static int points_of(double radius, double length, double degrees, int x, int y)
{
    const double c = cos(degrees * acos(-1) / 180), s = sin(degrees * acos(-1) / 180);
    int points = 0;
    for (double v = y - 0.4375; v < y + 0.5; v += 0.125) {
        for (double u = x - 0.4375; u < x + 0.5; u += 0.125)
            points += length > 0 ? fabs(u * c + v * s) <= length / 2 && fabs(v * c - u * s) <= 0.5
                                 : u * u + v * v <= radius * radius;
    }
    return points;
}

static void check(const char *filter, double radius, double length, double degrees,
                  struct gf_format format, int border)
{
    enum { REACH = 101, SIDE = 2 * REACH + 1 };
    static int weight[SIDE][SIDE];
    char text[100];
    double sum = 0;
    struct gf_image in = picture_random(format, 0, 5), expected = picture_new(format, 0);
    snprintf(text, sizeof text, "%s:border=%s", filter, borders[border]);
    for (int i = 0; i < SIDE * SIDE; i++) {
        weight[i / SIDE][i % SIDE] =
            points_of(radius, length, degrees, i % SIDE - REACH, i / SIDE - REACH);
        sum += weight[i / SIDE][i % SIDE];
    }
    for (int i = 0; i < format.width * format.height * format.channels; i++) {
        const int c = i % format.channels, x = i / format.channels % format.width;
        const int y = i / format.channels / format.width;
        double total = 0;
        for (int j = 0; j < SIDE * SIDE; j++) {
            if (weight[j / SIDE][j % SIDE])
                total += weight[j / SIDE][j % SIDE] *
                         sample(&in, x + j % SIDE - REACH, y + j / SIDE - REACH, c, border);
        }
        sample_set(&expected, x, y, c, (int)floor((2 * total + sum) / (2 * sum)));
    }
    for (int band_rows = 7; band_rows < 1000; band_rows += 900) {
        struct gf_image out = cpu_result(text, &in, band_rows);
        assert_same(text, &out, &expected);
        picture_free(&out);
    }
    picture_free(&in);
    picture_free(&expected);
}

static void test_discs(void **state)
{
    for (int border = 0; border < BORDERS; border++) {
        check("lensblur=15.5", 15.5, 0, 0, format_of(23, 19, 3, 8), border);
        check("lensblur=16.25", 16.25, 0, 0, format_of(40, 21, 3, 8), border);
        check("lensblur=33", 33, 0, 0, format_of(31, 11, 1, 16), border);
    }
    check("lensblur=17", 17, 0, 0, format_of(9, 43, 1, 8), 2); /* bands wrap around */
    check("lensblur=100", 100, 0, 0, format_of(23, 19, 1, 8), 1);
    check("lensblur=100", 100, 0, 0, format_of(5, 19, 3, 16), 0);
}

static void test_lines(void **state)
{
    for (int border = 0; border < BORDERS; border++) {
        check("motionblur=60:30", 0, 60, 30, format_of(40, 21, 3, 8), border);
        check("motionblur=100:90", 0, 100, 90, format_of(31, 25, 1, 16), border);
        check("motionblur=45.5", 0, 45.5, 0, format_of(31, 25, 3, 16), border);
        check("motionblur=200:-1", 0, 200, -1, format_of(43, 11, 1, 8), border);
    }
}

/* Sums of white pixels are the largest. The strips of columns of a wide picture end at the same
 * results as one strip. */
static void test_white_and_wide(void **state)
{
    static const char *const chains[] = {"lensblur=100", "motionblur=200:45"};
    for (int i = 0; i < 4; i++) {
        const struct gf_format format = format_of(2100, 3, 3, 8 + i / 2 * 8);
        struct gf_image in = picture_new(format, 0);
        memset(in.data, 0xFF, picture_bytes(&in));
        struct gf_image out = cpu_result(chains[i % 2], &in, 0);
        assert_same(chains[i % 2], &out, &in);
        picture_free(&in);
        picture_free(&out);
    }
}

/* With transparent pixels: a mean of premultiplied colour never exceeds the mean of alpha. */
static void test_alpha(void **state)
{
    struct gf_image in = picture_new(format_of(60, 50, 4, 8), 0);
    for (int i = 0; i < 60 * 50; i++) {
        for (int c = 0; c < 4; c++)
            sample_set(&in, i % 60, i / 60, c, c < 3 ? 255 : i % 7 * 40);
    }
    struct gf_image out = cpu_result("lensblur=20", &in, 0);
    for (int i = 0; i < 60 * 50; i++) {
        for (int c = 0; c < 3; c++)
            assert_int_equal(sample_at(&out, i % 60, i / 60, c), 255);
    }
    picture_free(&in);
    picture_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discs),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_white_and_wide),
        cmocka_unit_test(test_alpha),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
