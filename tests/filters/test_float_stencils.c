/* Stencils on floats: against references in double precision, order statistics against those of
 * integers, NaN and infinities within windows, and halves as rounded singles. */
#include "float_pictures.h"

#include <math.h>

#include "base/cpu.h"
#include "pixel/float_keys.h"
#include "stage/border.h"

enum { ALPHA = 3 };

static bool is_alpha(const struct gf_image *image, int c)
{
    return image->format.channels % 2 == 0 && c == image->format.channels - 1;
}

/* ---- references ---- */

static int border;

/* Returns a premultiplied colour, or alpha. */
static double at(const struct gf_image *in, int x, int y, int c)
{
    const int alpha = in->format.channels - 1, column = gf_border_index(x, WIDTH, border),
              row = gf_border_index(y, HEIGHT, border);
    if (column < 0 || row < 0)
        return 0;
    const double v = (double)get(in, column, row, c == ALPHA ? alpha : c);
    return c != ALPHA && is_alpha(in, alpha) ? v * (double)get(in, column, row, alpha) : v;
}

static double magnitude(const struct gf_image *in, int x, int y, int c, double side, double middle)
{
    double gx = 0, gy = 0;
    if (c == ALPHA)
        return at(in, x, y, c);
    for (int i = -1; i <= 1; i++) {
        const double weight = i ? side : middle;
        gx += weight * (at(in, x + 1, y + i, c) - at(in, x - 1, y + i, c));
        gy += weight * (at(in, x + i, y + 1, c) - at(in, x + i, y - 1, c));
    }
    return sqrt(gx * gx + gy * gy);
}

static double sobel(const struct gf_image *in, int x, int y, int c)
{
    return magnitude(in, x, y, c, 1, 2);
}

static double scharr(const struct gf_image *in, int x, int y, int c)
{
    return c == ALPHA ? magnitude(in, x, y, c, 3, 10) : magnitude(in, x, y, c, 3, 10) / 4;
}

static double prewitt(const struct gf_image *in, int x, int y, int c)
{
    return magnitude(in, x, y, c, 1, 1);
}

static double height(const struct gf_image *in, int x, int y)
{
    return in->format.channels < 3
               ? at(in, x, y, 0)
               : (77 * at(in, x, y, 0) + 150 * at(in, x, y, 1) + 29 * at(in, x, y, 2)) / 256;
}

static double normal(const struct gf_image *in, int x, int y, int c)
{
    const bool has_alpha = is_alpha(in, in->format.channels - 1);
    double slope[2] = {0, 0};
    if (c == ALPHA)
        return at(in, x, y, c);
    for (int i = -1; i <= 1; i++) {
        const double weight = (i ? 1 : 2) * 2.0 / 8;
        slope[0] -= weight * (height(in, x + 1, y + i) - height(in, x - 1, y + i));
        slope[1] -= weight * (height(in, x + i, y + 1) - height(in, x + i, y - 1));
    }
    const double n = (c == 2 ? 1 : slope[c]) / sqrt(slope[0] * slope[0] + slope[1] * slope[1] + 1);
    return (n / 2 + 0.5) * (has_alpha ? at(in, x, y, ALPHA) : 1);
}

static int ascending(const void *a, const void *b)
{
    const double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

/* Returns sample number `rank` of a window's; a negative one counts from the largest. */
static double ranked(const struct gf_image *in, int x, int y, int c, int radius, int rank)
{
    double v[31 * 31];
    int count = 0;
    for (int j = -radius; j <= radius; j++)
        for (int i = -radius; i <= radius; i++)
            v[count++] = at(in, x + i, y + j, c);
    qsort(v, (size_t)count, sizeof *v, ascending);
    return v[rank < 0 ? count + rank : rank];
}

static double median1(const struct gf_image *in, int x, int y, int c)
{
    return ranked(in, x, y, c, 1, 4);
}

static double median2(const struct gf_image *in, int x, int y, int c)
{
    return ranked(in, x, y, c, 2, 12);
}

static double median5(const struct gf_image *in, int x, int y, int c)
{
    return ranked(in, x, y, c, 5, 60);
}

static double dilated(const struct gf_image *in, int x, int y, int c)
{
    return ranked(in, x, y, c, 2, -1);
}

static double eroded(const struct gf_image *in, int x, int y, int c)
{
    return ranked(in, x, y, c, 2, 0);
}

static double gradient(const struct gf_image *in, int x, int y, int c)
{
    return c == ALPHA ? at(in, x, y, c) : dilated(in, x, y, c) - eroded(in, x, y, c);
}

static double tophat(const struct gf_image *in, int x, int y, int c)
{
    double most = -HUGE_VAL;
    for (int i = 0; c != ALPHA && i < 9; i++)
        most = fmax(most, ranked(in, gf_border_index(x + i % 3 - 1, WIDTH, border),
                                 gf_border_index(y + i / 3 - 1, HEIGHT, border), c, 1, 0));
    return at(in, x, y, c) - (c == ALPHA ? 0 : most);
}

/* The mean over a shape by 8 x 8 points of each pixel, as test_spread.c has it. length 0: a disc.
 */
static double spread(const struct gf_image *in, int x, int y, int c, double half, double degrees)
{
    const double cosine = cos(degrees * acos(-1) / 180), sine = sin(degrees * acos(-1) / 180);
    static int weight[101][101];
    static double shape[2], total;
    double sum = 0;
    if (shape[0] != half || shape[1] != degrees) {
        total = 0;
        for (int i = 0; i < 101 * 101; i++) {
            int points = 0;
            for (int k = 0; k < 64; k++) {
                const double u = i % 101 - 50 + (k % 8 + 0.5) / 8 - 0.5,
                             v = i / 101 - 50 + (k / 8 + 0.5) / 8 - 0.5;
                points += degrees != 0 ? fabs(u * cosine + v * sine) <= half &&
                                             fabs(v * cosine - u * sine) <= 0.5
                                       : u * u + v * v <= half * half;
            }
            weight[i / 101][i % 101] = points;
            total += points;
        }
        shape[0] = half;
        shape[1] = degrees;
    }
    for (int i = 0; i < 101 * 101; i++)
        if (weight[i / 101][i % 101])
            sum += weight[i / 101][i % 101] * at(in, x + i % 101 - 50, y + i / 101 - 50, c);
    return sum / total;
}

static double small_disc(const struct gf_image *in, int x, int y, int c)
{
    return spread(in, x, y, c, 4, 0);
}

static double disc(const struct gf_image *in, int x, int y, int c)
{
    return spread(in, x, y, c, 23.5, 0);
}

static double line(const struct gf_image *in, int x, int y, int c)
{
    return spread(in, x, y, c, 33, 20);
}

static double bilateral(const struct gf_image *in, int x, int y, int c)
{
    const int colours = in->format.channels < 3 ? 1 : 3;
    double sum = 0, weights = 0;
    for (int j = -3; j <= 3; j++) {
        for (int i = -3; i <= 3; i++) {
            double distance = 0;
            for (int k = 0; k < colours; k++)
                distance += pow(at(in, x + i, y + j, k) - at(in, x, y, k), 2);
            const double weight = exp(-(i * i + j * j) / 4.5 - distance / 0.5);
            sum += weight * at(in, x + i, y + j, c);
            weights += weight;
        }
    }
    return sum / weights;
}

/* Returns the factor of the line of a window, or its summand. */
static double line_of(const struct gf_image *in, int x, int y, int c, bool summand)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < 25; i++) {
        const double v = at(in, x + i % 5 - 2, y + i / 5 - 2, c);
        sum += v / 25;
        squares += v * v / 25;
    }
    const double variance = squares - sum * sum, a = variance / (variance + 0.09);
    return summand ? (1 - a) * sum : a;
}

static double guided(const struct gf_image *in, int x, int y, int c)
{
    double a = 0, b = 0;
    for (int i = 0; i < 25; i++) {
        const int column = gf_border_index(x + i % 5 - 2, WIDTH, border),
                  row = gf_border_index(y + i / 5 - 2, HEIGHT, border);
        a += line_of(in, column, row, c, false) / 25;
        b += line_of(in, column, row, c, true) / 25;
    }
    return a * at(in, x, y, c) + b;
}

static double nlmeans(const struct gf_image *in, int x, int y, int c)
{
    const int channels = in->format.channels;
    double sum = 0, weights = 0;
    for (int s = 0; s < 49; s++) {
        const int dx = s % 7 - 3, dy = s / 7 - 3;
        double distance = 0;
        for (int i = 0; i < 9 * channels; i++) {
            const int u = x + i / channels % 3 - 1, v = y + i / channels / 3 - 1,
                      k = is_alpha(in, i % channels) ? ALPHA : i % channels;
            distance += pow(at(in, u, v, k) - at(in, u + dx, v + dy, k), 2) / (9 * channels);
        }
        const double weight = exp(-distance / 0.25);
        sum += weight * at(in, x + dx, y + dy, c);
        weights += weight;
    }
    return sum / weights;
}

static const struct {
    const char *chain;
    double (*of)(const struct gf_image *in, int x, int y, int c);
    double most; /* the error, as a part of 1 or of a larger result */
    int border;
} stencils[] = {
    {"sobel", sobel, 2e-6, GF_BORDER_EDGE},
    {"sobel=0.25:kernel=scharr:border=reflect", scharr, 4e-6, GF_BORDER_REFLECT},
    {"sobel=kernel=prewitt:border=constant", prewitt, 2e-6, GF_BORDER_CONSTANT},
    {"normalmap=2", normal, 1e-6, GF_BORDER_EDGE},
    {"normalmap=2:wrap", normal, 1e-6, GF_BORDER_WRAP},
    {"median", median1, 2e-7, GF_BORDER_EDGE},
    {"median=1:constant", median1, 2e-7, GF_BORDER_CONSTANT},
    {"median=2:constant", median2, 2e-7, GF_BORDER_CONSTANT},
    {"median=5:constant", median5, 2e-7, GF_BORDER_CONSTANT},
    {"dilate=2:border=constant", dilated, 2e-7, GF_BORDER_CONSTANT},
    {"erode=2:border=constant", eroded, 2e-7, GF_BORDER_CONSTANT},
    {"erode=2", eroded, 2e-7, GF_BORDER_EDGE},
    {"morphology=gradient:2:border=wrap", gradient, 4e-7, GF_BORDER_WRAP},
    {"morphology=tophat:1", tophat, 4e-7, GF_BORDER_EDGE},
    {"lensblur=4", small_disc, 2e-6, GF_BORDER_EDGE},
    {"lensblur=23.5:border=reflect", disc, 2e-6, GF_BORDER_REFLECT},
    {"motionblur=66:20:border=constant", line, 2e-6, GF_BORDER_CONSTANT},
    {"bilateral=1.5:0.5", bilateral, 5e-6, GF_BORDER_EDGE},
    {"guided=2:0.3", guided, 2e-6, GF_BORDER_EDGE},
    {"nlmeans=0.5:3:1:border=constant", nlmeans, 5e-6, GF_BORDER_CONSTANT},
};

static void check_stencil(size_t i, int channels)
{
    struct gf_image in = make(channels, 32), out = run(stencils[i].chain, &in);
    double worst = 0;
    border = stencils[i].border;
    for (int y = 0; y < out.format.height; y++) {
        for (int x = 0; x < out.format.width; x++) {
            const bool has_alpha = is_alpha(&in, channels - 1);
            const double alpha = has_alpha ? stencils[i].of(&in, x, y, ALPHA) : 1;
            for (int c = 0; c < out.format.channels; c++) {
                const bool is_colour = !is_alpha(&out, c);
                const double made = (double)get(&out, x, y, c),
                             right = !is_colour   ? alpha
                                     : alpha == 0 ? 0
                                                  : stencils[i].of(&in, x, y, c) / alpha;
                /* A division by a small alpha enlarges errors. */
                const double unit = fmax(1, fabs(right)) / fmin(1, alpha == 0 ? 1 : alpha * alpha);
                worst = fmax(worst, fabs(made - right) / unit);
                if (!(fabs(made - right) <= stencils[i].most * unit))
                    fail_msg("%s x %d at %d,%d: %.9g, not %.9g", stencils[i].chain, channels, x, y,
                             made, right);
            }
        }
    }
    if (getenv("SHOW"))
        print_message("%s x %d: %g\n", stencils[i].chain, channels, worst);
    gf_image_free(&in);
    gf_image_free(&out);
}

static void test_stencils(void **state)
{
    for (size_t i = 0; i < sizeof stencils / sizeof *stencils; i++) {
        for (int channels = 1; channels <= 4; channels++)
            check_stencil(i, channels);
    }
}

/* ---- order statistics ---- */

static const char *const ordering[] = {"median=1",
                                       "median=2",
                                       "median=4",
                                       "median=12",
                                       "median=9:wrap",
                                       "dilate=3",
                                       "erode=30:4",
                                       "dilate=0:7",
                                       "erode=12:shape=ellipse",
                                       "dilate=3:shape=cross:border=wrap",
                                       "erode=5:7:diamond:border=reflect",
                                       "dilate=shape=1 0 0/0 1 0/0 1 1",
                                       "morphology=open",
                                       "morphology=close:4",
                                       "morphology=open:9:shape=ellipse",
                                       "morphology=tophat:2",
                                       "morphology=blackhat:7:shape=cross",
                                       "morphology=gradient:2:border=wrap"};

/* Floats that are integers make what the integers make. The picture has several tiles of the
 * medians of large windows; its lowest level is -30000. */
static void test_orders(void **state)
{
    const struct gf_format format = format_of(1900, 107, 3, 16);
    struct gf_image levels = picture_random(format, 0, 3), floats;
    struct gf_format single = format;
    single.bits = 32;
    single.samples = GF_SAMPLES_FLOAT;
    assert_ok("picture", gf_image_alloc(&floats, single, &error), &error);
    for (int i = 0; i < 107 * 1900 * 3; i++) {
        const int y = i / (1900 * 3), at = i % (1900 * 3);
        ((float *)(floats.data + (size_t)y * floats.pitch))[at] =
            (float)(((uint16_t *)(levels.data + (size_t)y * levels.pitch))[at] - 30000);
    }
    for (size_t i = 0; i < sizeof ordering / sizeof *ordering; i++) {
        const bool is_difference = strstr(ordering[i], "hat:") || strstr(ordering[i], "gradient");
        struct gf_image expected = run(ordering[i], &levels), made = run(ordering[i], &floats);
        for (int y = 0; y < 107; y++) {
            const uint16_t *const a = (uint16_t *)(expected.data + (size_t)y * expected.pitch);
            const float *const b = (float *)(made.data + (size_t)y * made.pitch);
            for (int x = 0; x < 1900 * 3; x++)
                if (b[x] != (float)(a[x] - (is_difference ? 0 : 30000)))
                    fail_msg("%s: sample %d of row %d: %g, not of level %d", ordering[i], x, y,
                             (double)b[x], a[x]);
        }
        gf_image_free(&expected);
        gf_image_free(&made);
    }
    picture_free(&levels);
    gf_image_free(&floats);
}

/* Keys rise with their floats, NaN is the largest, and keys become their floats again. */
static void test_keys(void **state)
{
    enum { ALL = 1 << 16, STEP = 251 };
    static uint16_t halves[ALL];
    static float floats[ALL];
    for (int i = 0; i < ALL; i++)
        halves[i] = (uint16_t)i;
    gf_floats_of_row(halves, floats_of(1, 16), ALL, floats);
    for (int i = 0; i < ALL; i++) {
        const uint16_t key = gf_key_of_half(halves[i]);
        const int32_t wide = gf_key_of_float(floats[i]);
        const bool is_nan = isnan(floats[i]);
        assert_int_equal(gf_half_of_key(key), is_nan ? 0x7e00 : i);
        assert_true(is_nan ? isnan(gf_float_of_key(wide)) : floats[i] == gf_float_of_key(wide));
        for (int k = 1; k < ALL; k += STEP) {
            const bool less = isnan(floats[k]) ? !is_nan : floats[i] < floats[k];
            const int32_t other = gf_key_of_float(floats[k]);
            assert_true(!less || (key < gf_key_of_half(halves[k]) && wide < other));
            assert_true(!is_nan || !isnan(floats[k]) || wide == other);
        }
    }
    assert_int_equal(gf_key_of_float(0), 0);
}

static bool is_nan_at(const char *chain, const struct gf_image *in, int x, int y)
{
    struct gf_image out = run(chain, in);
    const bool is_nan = isnan(get(&out, x, y, 1));
    gf_image_free(&out);
    return is_nan;
}

static void test_nan_is_largest(void **state)
{
    for (int bits = 16; bits <= 32; bits += 16) {
        struct gf_image in = make(3, bits);
        for (int i = 0; i < 4; i++)
            put(&in, 19 + i % 3, 10 + i / 3, 1, i % 2 ? NAN : -NAN);
        assert_false(is_nan_at("median", &in, 20, 11));
        assert_false(is_nan_at("erode", &in, 20, 11));
        assert_true(is_nan_at("dilate", &in, 22, 11));
        assert_false(is_nan_at("dilate", &in, 23, 11));
        assert_false(is_nan_at("median=3", &in, 20, 11));
        put(&in, 20, 11, 1, -NAN);
        assert_true(is_nan_at("median", &in, 20, 11));
        assert_true(is_nan_at("morphology=tophat", &in, 20, 11));
        gf_image_free(&in);
    }
}

/* ---- NaN, infinities and halves ---- */

static const struct {
    const char *chain;
    int reach;
    bool keeps_nan;
} windows[] = {
    {"sobel", 1, true},
    {"normalmap", 1, true},
    {"median", 1, false},
    {"median=4", 4, false},
    {"dilate=2:shape=ellipse", 2, true},
    {"erode=9:3", 9, false},
    {"morphology=gradient:2", 2, true},
    {"morphology=close", 2, false},
    {"lensblur=3", 3, true},
    {"lensblur=17", 17, true},
    {"motionblur=35:70", 17, true},
    {"bilateral=1.5", 3, true},
    {"guided=2", 4, true},
    {"nlmeans=0.1:3:2", 5, true},
};

/* Results outside of the window of a number that is not finite do not change. */
static void check_window(size_t i, float odd)
{
    enum { X = 20, Y = 17 };
    const char *const chain = windows[i].chain;
    struct gf_image in = make(3, 32), clean = run(chain, &in);
    put(&in, X, Y, 1, odd);
    struct gf_image out = run(chain, &in);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            const bool inside = abs(x - X) <= windows[i].reach && abs(y - Y) <= windows[i].reach;
            for (int c = 0; c < 3 && !inside; c++) {
                if (get(&out, x, y, c) != get(&clean, x, y, c))
                    fail_msg("%s: %g at %d,%d changes %d,%d", chain, (double)odd, X, Y, x, y);
            }
        }
    }
    if (isnan(odd) && windows[i].keeps_nan && !isnan(get(&out, X + (windows[i].reach == 1), Y, 1)))
        fail_msg("%s: NaN is lost", chain);
    gf_image_free(&in);
    gf_image_free(&clean);
    gf_image_free(&out);
}

static void test_windows(void **state)
{
    static const float odd[] = {NAN, -NAN, INFINITY, -INFINITY, 3e38f, -1e-42f};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
            check_window(i, odd[k]);
    }
}

/* A pixel whose differences are not finite or beyond all measure has no weight. */
static void test_outliers(void **state)
{
    static const char *const chains[] = {"bilateral=1.5", "nlmeans=0.1:3:1"};
    static const float odd[] = {NAN, INFINITY, 3e38f};
    for (size_t i = 0; i < 6; i++) {
        struct gf_image in = make(1, 32);
        put(&in, 20, 17, 0, odd[i % 3]);
        struct gf_image out = run(chains[i / 3], &in);
        assert_true(get(&out, 22, 17, 0) > -1 && get(&out, 22, 17, 0) < 5);
        gf_image_free(&in);
        gf_image_free(&out);
    }
}

/* A stage of halves makes what the stage makes of the same singles, rounded once, with and without
 * vector code. */
static void check_halves(const char *chain, int channels)
{
    struct gf_image half = make(channels, 16), single = make(channels, 32);
    struct gf_image a = run(chain, &half), b = run(chain, &single);
    gf_cpu_allow_intrinsics(false);
    struct gf_image plain_a = run(chain, &half), plain_b = run(chain, &single);
    gf_cpu_allow_intrinsics(true);
    assert_int_equal(a.format.bits, 16);
    for (int y = 0; y < HEIGHT; y++) {
        const size_t row = (size_t)y * a.pitch, wide_row = (size_t)y * b.pitch;
        assert_memory_equal(a.data + row, plain_a.data + row, gf_row_bytes(a.format));
        assert_memory_equal(b.data + wide_row, plain_b.data + wide_row, gf_row_bytes(b.format));
        for (int i = 0; channels == 3 && i < WIDTH * channels; i++) {
            const float wide = get(&b, i / channels, y, i % channels);
            uint16_t expected, made;
            gf_floats_to_row(&wide, a.format, 1, &expected);
            memcpy(&made, a.data + row + (size_t)i * 2, 2);
            if (made != expected)
                fail_msg("%s: %d,%d differs", chain, i, y);
        }
    }
    gf_image_free(&half);
    gf_image_free(&single);
    gf_image_free(&a);
    gf_image_free(&b);
    gf_image_free(&plain_a);
    gf_image_free(&plain_b);
}

static void test_singles_and_halves(void **state)
{
    for (size_t i = 0; i < sizeof ordering / sizeof *ordering; i++)
        check_halves(ordering[i], 3);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        check_halves(windows[i].chain, 3);
    check_halves("median=1:constant", 3);
    check_halves("dilate=2:border=constant", 3);
    check_halves("median", 4);
    check_halves("nlmeans=0.2:2:1", 4);
}

static void test_refusals(void **state)
{
    struct gf_image floats = make(3, 32), out;
    assert_int_equal(try("canny", &floats, &out), GF_ERROR_UNFIT);
    assert_non_null(strstr(error.text, "canny (canny-thin): takes no floats"));
    assert_int_equal(try("distance", &floats, &out), GF_ERROR_UNFIT);
    assert_non_null(strstr(error.text, "distance (distance-along): takes no floats"));
    gf_image_free(&floats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stencils),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_nan_is_largest),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_singles_and_halves),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("float stencils", tests, NULL, NULL);
}
