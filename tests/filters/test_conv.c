/* The convolution family against plain double-precision references, whatever the size, depth,
 * channels, parameters, border, bands and pitch. */
#include <math.h>

#include "conv_reference.h"
#include "filters/convolve/convolve.h"

static const int sizes[][2] = {{1, 1}, {1, 9}, {13, 1}, {3, 3}, {77, 55}, {1031, 23}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Calls check for every size, depth, number of channels and border, with a picture of noise. The
 * largest work, samples times taps, is left out. */
static void each_picture(double taps,
                         void (*check)(const struct gf_image *in, int border, double value),
                         double value)
{
    const int most = unless_small(4000000, 100000);
    for (int i = 0; i < SIZES; i++) {
        for (int depth_channels = 0; depth_channels < 8; depth_channels++) {
            const struct gf_format format = format_of(
                sizes[i][0], sizes[i][1], 1 + depth_channels % 4, depth_channels < 4 ? 8 : 16);
            if ((double)format.width * format.height * format.channels * taps > most)
                continue;
            struct gf_image in = picture_random(format, 0, (uint64_t)(i * 8 + depth_channels));
            for (int border = 0; border < BORDERS; border++)
                check(&in, border, value);
            picture_free(&in);
        }
    }
}

/* The whole picture at once, in bands, and with padded rows: one and the same. */
static struct gf_image run_every_way(const char *text, const struct gf_image *in)
{
    const struct gf_image whole = run(text, in, in->format.height, 0);
    static const int bands[] = {1, 8, 13};
    for (int i = 0; i < 3; i++) {
        if (bands[i] >= in->format.height || in->format.width * in->format.height > 77 * 55)
            continue;
        struct gf_image banded = run(text, in, bands[i], 7);
        assert_same(text, &banded, &whole);
        picture_free(&banded);
    }
    return whole;
}

static void check_blur(const struct gf_image *in, int border, double sigma)
{
    char text[100];
    snprintf(text, sizeof text, "blur=%g:%s", sigma, borders[border]);
    struct gf_image out = run_every_way(text, in);
    const struct reference reference = reference_blur(in, sigma, border);
    assert_near(text, &out, &reference, in->format.bits == 8 ? 0.03 : 0.1);
    free(reference.value);
    picture_free(&out);
}

static void test_blur(void **state)
{
    static const double sigmas[] = {0.1, 0.5, 1, 1.5, 2.2, 5, 20, 250};
    for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++)
        each_picture(10 * sigmas[i], check_blur, sigmas[i]);
}

static void check_box(const struct gf_image *in, int border, double value)
{
    const struct gf_format f = in->format;
    const int radius = (int)value, n = (2 * radius + 1) * (2 * radius + 1);
    char text[100];
    snprintf(text, sizeof text, "boxblur=%d:%s", radius, borders[border]);
    struct gf_image out = run_every_way(text, in), expected = picture_new(f, 0);
    double *const ones = malloc((size_t)(radius + 1) * sizeof *ones);
    for (int k = 0; k <= radius; k++)
        ones[k] = 1;
    const struct reference sums = reference_sum(in, ones, radius, border); /* exact */
    for (int c = 0; c < f.channels; c++)
        for (int y = 0; y < f.height; y++)
            for (int x = 0; x < f.width; x++)
                sample_set(&expected, x, y, c, (int)(((int64_t)*at(&sums, x, y, c) + n / 2) / n));
    assert_same(text, &out, &expected);
    free(ones);
    free(sums.value);
    picture_free(&out);
    picture_free(&expected);
}

static void test_boxblur(void **state)
{
    static const int radii[] = {0, 1, 2, 7, 60, 500};
    for (size_t i = 0; i < sizeof radii / sizeof *radii; i++)
        each_picture(2 * (2 * radii[i] + 1), check_box, radii[i]);
}

/* A white picture stays white: the sums are at their largest. */
static void test_white(void **state)
{
    static const char *const filters[] = {"boxblur=500", "blur=250",
                                          "blur=0.1",    "blur=2:wrap",
                                          "unsharp=250", "convolve=1 1 1/1 1 1/1 1 1"};
    for (int bits = 8; bits <= 16; bits += 8) {
        struct gf_image in = picture_new(format_of(75, 5, 3, bits), 0);
        memset(in.data, 0xFF, picture_bytes(&in));
        for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
            struct gf_image out = run(filters[i], &in, 5, 0);
            assert_same(filters[i], &out, &in);
            picture_free(&out);
        }
        picture_free(&in);
    }
}

static void check_unsharp_with(const struct gf_image *in, int border, double sigma, double amount,
                               double threshold, bool soft)
{
    char text[200];
    snprintf(text, sizeof text, "unsharp=%g:%g:%g:%s%s", sigma, amount, threshold, borders[border],
             soft ? ":onset=soft" : "");
    struct gf_image out = run_every_way(text, in);
    const struct gf_format f = in->format;
    const struct reference reference = reference_blur(in, sigma, border);
    const double slack = in->format.bits == 8 ? 0.03 : 0.1;
    for (int y = 0; y < f.height; y++) {
        for (int x = 0; x < f.width; x++) {
            for (int c = 0; c < f.channels; c++) {
                double *const value = at(&reference, x, y, c);
                const int v = sample_at(in, x, y, c);
                const double difference = v - *value, limit = threshold * most(in);
                /* Where the difference is the limit but for rounding, either result is right. */
                if (soft)
                    *value = v + amount * copysign(fmax(fabs(difference) - limit, 0), difference);
                else if (fabs(fabs(difference) - limit) < slack)
                    *value = sample_at(&out, x, y, c) == v ? v : v + amount * difference;
                else
                    *value = fabs(difference) > limit ? v + amount * difference : v;
            }
        }
    }
    assert_near(text, &out, &reference, slack * (1 + amount));
    free(reference.value);
    picture_free(&out);
}

static void check_unsharp(const struct gf_image *in, int border, double sigma)
{
    check_unsharp_with(in, border, sigma, 1, 0, false);
    check_unsharp_with(in, border, sigma, 10, 0.1, false);
    check_unsharp_with(in, border, sigma, 10, 0.1, true);
    check_unsharp_with(in, border, sigma, 0, 0, false);
    check_unsharp_with(in, border, sigma, 2.5, 1, false);
}

static void test_unsharp(void **state)
{
    static const double sigmas[] = {0.1, 1, 6, 250};
    for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++)
        each_picture(60 * sigmas[i], check_unsharp, sigmas[i]);
}

/* value: which kernel. */
static const struct kernel {
    const char *text; /* kernel and the rest */
    int width, height;
    double weight[35], divisor, bias;
    bool keeps_alpha;
} kernels[] = {
    {"kernel=0 1 0/1 -4 1/0 1 0", 3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}, 1, 0, true},
    {"kernel=1 2 1|2 4 2|1 2 1", 3, 3, {1, 2, 1, 2, 4, 2, 1, 2, 1}, 16, 0, false},
    {"kernel=3", 1, 1, {3}, 3, 0, false},
    {"kernel=-1.5 0.25 7 2 -3:divisor=2.5:bias=-20", 5, 1, {-1.5, 0.25, 7, 2, -3}, 2.5, -20, true},
    {"kernel=1/2/3/4/5/6/7:bias=12", 1, 7, {1, 2, 3, 4, 5, 6, 7}, 28, 12, false},
    {"kernel=1 0 0 0 0 0 2/0 0 3 0 0 0 0/0 0 0 0 0 0 0/0 4 0 0 0 -1 0/0 0 0 0 0 5 0:divisor=6",
     7,
     5,
     {1, 0, 0, 0, 0, 0, 2, 0, 0,  3, 0, 0, 0, 0, 0, 0, 0, 0,
      0, 0, 0, 0, 4, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 5, 0},
     6,
     0,
     true},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static void check_convolve(const struct gf_image *in, int border, double value)
{
    const struct kernel *const kernel = &kernels[(int)value];
    const struct gf_format f = in->format;
    char text[300];
    snprintf(text, sizeof text, "convolve=%s:border=%s", kernel->text, borders[border]);
    struct gf_image out = run_every_way(text, in);
    const struct reference reference = reference_new(f);
    for (int y = 0; y < f.height; y++) {
        for (int x = 0; x < f.width; x++) {
            for (int c = 0; c < f.channels; c++) {
                const bool alpha = gf_has_alpha(f) && c == f.channels - 1;
                double bias = alpha ? 0 : kernel->bias * most(in) / 255, sum = 0;
                if (gf_has_alpha(f))
                    bias *= sample_at(in, x, y, f.channels - 1) / (double)most(in);
                for (int j = 0; j < kernel->height; j++)
                    for (int i = 0; i < kernel->width; i++)
                        sum += kernel->weight[j * kernel->width + i] *
                               sample(in, x + i - kernel->width / 2, y + j - kernel->height / 2, c,
                                      border);
                *at(&reference, x, y, c) = alpha && kernel->keeps_alpha
                                               ? sample_at(in, x, y, c)
                                               : sum / kernel->divisor + bias;
            }
        }
    }
    assert_near(text, &out, &reference, f.bits == 8 ? 0.001 : 0.05);
    free(reference.value);
    picture_free(&out);
}

static void test_convolve(void **state)
{
    for (int i = 0; i < KERNELS; i++)
        each_picture(35, check_convolve, i);
}

/* The largest kernel: a single 1 in a corner moves the picture. */
static void test_convolve_largest(void **state)
{
    char text[31 * 62 + 100] = "convolve=";
    struct gf_image in = picture_random(format_of(77, 55, 3, 16), 0, 3),
                    expected = picture_new(in.format, 0);
    for (int j = 0; j < 31; j++)
        for (int i = 0; i < 31; i++)
            strcat(text, i == 2 && j == 28 ? "1" : i < 30 ? "0 " : j < 30 ? "0/" : "0");
    /* "1" took the place of "0 ": give it its space. */
    char *const one = strchr(text, '1');
    memmove(one + 2, one + 1, strlen(one + 1) + 1);
    one[1] = ' ';
    for (int border = 0; border < BORDERS; border++) {
        char full[sizeof text + 30];
        snprintf(full, sizeof full, "%s:border=%s", text, borders[border]);
        struct gf_image out = run_every_way(full, &in);
        for (int y = 0; y < 55; y++)
            for (int x = 0; x < 77; x++)
                for (int c = 0; c < 3; c++)
                    sample_set(&expected, x, y, c, (int)sample(&in, x - 13, y + 13, c, border));
        assert_same("31x31", &out, &expected);
        picture_free(&out);
    }
    picture_free(&in);
    picture_free(&expected);
}

static double difference(double (*height)(const struct gf_image *, int, int, int, int),
                         const struct gf_image *in, int x, int y, int c, int border, bool down)
{
    static const int weight[3] = {1, 2, 1};
    double sum = 0;
    for (int i = -1; i <= 1; i++)
        sum += weight[i + 1] *
               (down ? height(in, x + i, y + 1, c, border) - height(in, x + i, y - 1, c, border)
                     : height(in, x + 1, y + i, c, border) - height(in, x - 1, y + i, c, border));
    return sum;
}

static void check_sobel(const struct gf_image *in, int border, double scale)
{
    const struct gf_format f = in->format;
    char text[100];
    snprintf(text, sizeof text, "sobel=%g:%s", scale, borders[border]);
    struct gf_image out = run_every_way(text, in);
    const struct reference reference = reference_new(f);
    for (int y = 0; y < f.height; y++)
        for (int x = 0; x < f.width; x++)
            for (int c = 0; c < f.channels; c++)
                *at(&reference, x, y, c) =
                    gf_has_alpha(f) && c == f.channels - 1
                        ? sample_at(in, x, y, c)
                        : scale * hypot(difference(sample, in, x, y, c, border, false),
                                        difference(sample, in, x, y, c, border, true));
    assert_near(text, &out, &reference, f.bits == 8 ? 0.001 : 0.05);
    free(reference.value);
    picture_free(&out);
}

static void test_sobel(void **state)
{
    each_picture(12, check_sobel, 1);
    each_picture(12, check_sobel, 0.125);
    each_picture(12, check_sobel, 0);
    each_picture(12, check_sobel, 100);
}

static double height_of(const struct gf_image *in, int x, int y, int c, int border)
{
    if (in->format.channels < 3)
        return sample(in, x, y, 0, border) / most(in);
    return (77 * sample(in, x, y, 0, border) + 150 * sample(in, x, y, 1, border) +
            29 * sample(in, x, y, 2, border)) /
           256 / most(in);
}

static void check_normalmap(const struct gf_image *in, int border, double strength)
{
    const struct gf_format f = in->format;
    char text[100];
    snprintf(text, sizeof text, "normalmap=%g:%s", strength, borders[border]);
    struct gf_image out = run_every_way(text, in);
    const struct reference reference =
        reference_new(format_of(f.width, f.height, gf_has_alpha(f) ? 4 : 3, f.bits));
    for (int y = 0; y < f.height; y++) {
        for (int x = 0; x < f.width; x++) {
            const double gx = difference(height_of, in, x, y, 0, border, false) / 8;
            const double gy = difference(height_of, in, x, y, 0, border, true) / 8;
            const double alpha = gf_has_alpha(f) ? sample_at(in, x, y, f.channels - 1) : most(in);
            const double n[3] = {-strength * gx, -strength * gy, 1};
            const double length = sqrt(n[0] * n[0] + n[1] * n[1] + 1);
            for (int c = 0; c < 3; c++)
                *at(&reference, x, y, c) = (n[c] / length * 0.5 + 0.5) * alpha;
            if (gf_has_alpha(f))
                *at(&reference, x, y, 3) = alpha;
        }
    }
    assert_near(text, &out, &reference, f.bits == 8 ? 0.001 : 0.05);
    free(reference.value);
    picture_free(&out);
}

static void test_normalmap(void **state)
{
    each_picture(12, check_normalmap, 1);
    each_picture(12, check_normalmap, 0);
    each_picture(12, check_normalmap, 30);
    each_picture(12, check_normalmap, 1000);
}

/* An end of the interval, rounded as kernels do. */
static int rounded_end(float sum, float scale, float end)
{
    const float part = fmaf(sum, scale, end);
    return (int)floor((double)(part > 0 ? part < 1 ? part : 1 : 0) * 255 + 0.5);
}

/* A window's result as the CPU makes it, and as fused sums do; returns whether the latter is in
 * doubt. *alone: what they would make of it without a doubt. */
static bool both_ways(const struct gf_convolve *convolve, const unsigned char *window, int *right,
                      int *alone)
{
    const struct gf_convolve_near near = gf_convolve_near_of(convolve);
    float apart = 0, fused = 0;
    for (int i = 0; i < convolve->width * convolve->height; i++) {
        const float product = convolve->weight[i] * (float)window[i];
        apart = apart + product;
        fused = fmaf(convolve->weight[i], (float)window[i], fused);
    }
    const float v = gf_convolve_finish(apart, convolve->divisor, convolve->bias);
    *right = (int)(fminf(fmaxf(v, 0), 255) + 0.5f);
    *alone = rounded_end(fused, near.scale, convolve->bias / 255);
    const int low = rounded_end(fused, near.scale, near.low);
    const int high = rounded_end(fused, near.scale, near.high);
    if (*right < low || *right > high)
        fail_msg("%dx%d, divisor %g, bias %g: %d is not in %d..%d", convolve->width,
                 convolve->height, (double)convolve->divisor, (double)convolve->bias, *right, low,
                 high);
    return low != high;
}

/* Tenths whose sums come near halves of whole numbers: where fused sums round otherwise than the
 * CPU's, they are in doubt, and the CPU's result lies between the ends. */
static void test_doubts(void **state)
{
    static const int sides[] = {3, 5, 7, 15, 31};
    static struct gf_convolve convolve;
    unsigned char window[GF_MATRIX_SIDE_MAX * GF_MATRIX_SIDE_MAX];
    uint64_t random = 1;
    int doubts = 0, others = 0, cases = 0;
    for (int round = 0; round < 400; round++) {
        const int side = sides[round % 5], taps = side * side;
        float sum = 0;
        convolve.width = convolve.height = side;
        convolve.bias = (float)(round % 3 * 7);
        for (int i = 0; i < taps; i++) {
            convolve.weight[i] = (float)(random_below(&random, 12) - round % 2) / 10;
            sum += convolve.weight[i];
        }
        convolve.divisor = round % 4 ? (float)(int)(sum + 2) * (round % 8 < 6 ? 1.0f : -1.0f) : sum;
        if (fabsf(convolve.divisor) < 1)
            continue;
        assert_true(gf_convolve_is_normal(&convolve));
        for (int i = 0; i < 400; i++) {
            int right, alone;
            for (int k = 0; k < taps; k++)
                window[k] = (unsigned char)(i % 4 ? random_below(&random, 256) : i * 255 / 400);
            doubts += both_ways(&convolve, window, &right, &alone);
            others += right != alone;
            cases++;
        }
    }
    assert_true(others > 20); /* there is something to see */
    assert_true(doubts > others);
    assert_true(doubts < cases / 5); /* the bound is of use */
    convolve.weight[3] = 1e-12f;
    assert_false(gf_convolve_is_normal(&convolve));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blur),      cmocka_unit_test(test_unsharp),
        cmocka_unit_test(test_boxblur),   cmocka_unit_test(test_white),
        cmocka_unit_test(test_convolve),  cmocka_unit_test(test_convolve_largest),
        cmocka_unit_test(test_doubts),    cmocka_unit_test(test_sobel),
        cmocka_unit_test(test_normalmap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
