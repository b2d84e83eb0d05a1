/* The convolution family against plain double-precision references, whatever the size, depth, channels,
 * parameters, border, bands and pitch. */
#include <math.h>

#include "gauss_rows.h"
#include "stencils.h"
#include "support.h"

/* ---- running one filter ---- */

/* Only the rows that the stage asks for, in a block of their own at an odd address, so that a sanitizer
 * sees any other access. */
static void run_band(const struct gf_stage *stage, const struct gf_image *in, const struct gf_image *out,
                     int y, int rows)
{
    int first, end;
    gf_stage_needs(stage, y, y + rows, &first, &end);
    assert_true(0 <= first && first < end && end <= in->format.height);
    const size_t bytes = gf_row_bytes(in->format), pitch = bytes + 3;
    unsigned char *const block = malloc(pitch * (size_t)(end - first) - 3 + 1);
    const size_t size = stage->filter->cpu_scratch ? stage->filter->cpu_scratch(stage, rows) : 0;
    void *const scratch = aligned_alloc(64, (size + 64) / 64 * 64);
    assert_true(block && scratch);
    for (int i = first; i < end; i++)
        memcpy(block + 1 + (size_t)(i - first) * pitch, in->data + (size_t)i * in->pitch, bytes);
    const struct gf_view from = {block + 1, pitch, in->format, first, end - first};
    const struct gf_view to = {out->data + (size_t)y * out->pitch, out->pitch, out->format, y, rows};
    stage->filter->cpu(stage, &from, &to, scratch);
    free(scratch);
    free(block);
}

static struct gf_image run(const char *text, const struct gf_image *in, int band_rows, size_t padding)
{
    struct gf_chain chain;
    struct gf_stage stage;
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    assert_int_equal(chain.count, 1);
    assert_ok(text, gf_stage_bind(&stage, chain.item[0].filter, chain.item[0].params, in->format, &error),
              &error);
    assert_ok(text, gf_stage_prepare(&stage, &error), &error);
    const struct gf_image out = picture_new(stage.out, padding);
    const int height = in->format.height;
    for (int y = 0; y < height; y += band_rows)
        run_band(&stage, in, &out, y, height - y < band_rows ? height - y : band_rows);
    gf_stage_release(&stage);
    gf_chain_free(&chain);
    return out;
}

/* ---- references ---- */

static const char *const borders[] = {"edge", "reflect", "wrap", "constant"};
enum { BORDERS = 4 };

/* Step by step, not by division. -1: beyond a constant border. */
static int place(int i, int n, int border)
{
    while (i < 0 || i >= n) {
        if (border == 0)
            i = i < 0 ? 0 : n - 1;
        else if (border == 1)
            i = n == 1 ? 0 : i < 0 ? -i : 2 * (n - 1) - i;
        else if (border == 2)
            i += i < 0 ? n : -n;
        else
            return -1;
    }
    return i;
}

static double sample(const struct gf_image *image, int x, int y, int c, int border)
{
    x = place(x, image->format.width, border);
    y = place(y, image->format.height, border);
    return x < 0 || y < 0 ? 0 : sample_at(image, x, y, c);
}

static int most(const struct gf_image *image)
{
    return (1 << image->format.bits) - 1;
}

/* The reference of one picture: as many doubles as the result has samples. */
struct reference {
    struct gf_format format;
    double *value;
};

static struct reference reference_new(struct gf_format format)
{
    const size_t count = (size_t)format.width * (size_t)format.height * (size_t)format.channels;
    const struct reference reference = {format, malloc(count * sizeof *reference.value)};
    assert_non_null(reference.value);
    return reference;
}

static double *at(const struct reference *reference, int x, int y, int c)
{
    const struct gf_format f = reference->format;
    return &reference->value[((size_t)y * (size_t)f.width + (size_t)x) * (size_t)f.channels + (size_t)c];
}

static double weighted_line(const double *line, int n, int centre, const double *tap, int radius, int border)
{
    double sum = 0;
    for (int k = -radius; k <= radius; k++) {
        const int i = place(centre + k, n, border);
        sum += i < 0 ? 0 : tap[abs(k)] * line[i];
    }
    return sum;
}

/* Columns, then rows, each one line at a time. */
static struct reference reference_blur(const struct gf_image *in, double sigma, int border)
{
    const struct gf_format f = in->format;
    const struct reference result = reference_new(f);
    const int radius = (int)ceil(3 * sigma), longest = f.width > f.height ? f.width : f.height;
    double *const tap = malloc((size_t)(radius + 1) * sizeof *tap);
    double *const line = malloc((size_t)longest * sizeof *line);
    double sum = 0;
    for (int k = -radius; k <= radius; k++)
        sum += tap[abs(k)] = exp(-k * k / (2 * sigma * sigma));
    for (int k = 0; k <= radius; k++)
        tap[k] /= sum;
    for (int c = 0; c < f.channels; c++) {
        for (int x = 0; x < f.width; x++) {
            for (int y = 0; y < f.height; y++)
                line[y] = sample_at(in, x, y, c);
            for (int y = 0; y < f.height; y++)
                *at(&result, x, y, c) = weighted_line(line, f.height, y, tap, radius, border);
        }
        for (int y = 0; y < f.height; y++) {
            for (int x = 0; x < f.width; x++)
                line[x] = *at(&result, x, y, c);
            for (int x = 0; x < f.width; x++)
                *at(&result, x, y, c) = weighted_line(line, f.width, x, tap, radius, border);
        }
    }
    free(line);
    free(tap);
    return result;
}

static double clamped(double v, const struct gf_image *image)
{
    return fmin(fmax(v, 0), most(image));
}

/* No result further than `slack` beyond half a step from the reference. */
static void assert_near(const char *text, const struct gf_image *out, const struct reference *reference,
                        double slack)
{
    const struct gf_format f = reference->format;
    assert_true(same_format(out->format, f));
    for (int y = 0; y < f.height; y++) {
        for (int x = 0; x < f.width; x++) {
            for (int c = 0; c < f.channels; c++) {
                const double expected = clamped(*at(reference, x, y, c), out);
                const int is = sample_at(out, x, y, c);
                if (!(fabs(is - expected) <= 0.5 + slack))
                    fail_msg("%s: %d instead of %.3f at %d,%d channel %d (%dx%dx%d, %d bits)", text, is,
                             expected, x, y, c, f.width, f.height, f.channels, f.bits);
            }
        }
    }
    if (!guards_intact(out))
        fail_msg("%s: bytes outside the rows were written", text);
}

/* ---- the cases ---- */

static const int sizes[][2] = {{1, 1}, {1, 9}, {13, 1}, {3, 3}, {77, 55}, {1031, 23}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Calls check for every size, depth, number of channels and border, with a picture of noise. The largest
 * work, samples times taps, is left out. */
static void each_picture(double taps, void (*check)(const struct gf_image *in, int border, double value),
                         double value)
{
    for (int i = 0; i < SIZES; i++) {
        for (int depth_channels = 0; depth_channels < 8; depth_channels++) {
            const struct gf_format format = format_of(sizes[i][0], sizes[i][1], 1 + depth_channels % 4,
                                                      depth_channels < 4 ? 8 : 16);
            if ((double)format.width * format.height * format.channels * taps > 4e6)
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
    (void)state;
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
    for (int c = 0; c < f.channels; c++) {
        for (int y = 0; y < f.height; y++) {
            for (int x = 0; x < f.width; x++) {
                int64_t sum = 0;
                for (int j = -radius; j <= radius; j++)
                    for (int i = -radius; i <= radius; i++)
                        sum += (int64_t)sample(in, x + i, y + j, c, border);
                sample_set(&expected, x, y, c, (int)((sum + n / 2) / n));
            }
        }
    }
    assert_same(text, &out, &expected);
    picture_free(&out);
    picture_free(&expected);
}

static void test_boxblur(void **state)
{
    (void)state;
    static const int radii[] = {0, 1, 2, 7, 60, 500};
    for (size_t i = 0; i < sizeof radii / sizeof *radii; i++)
        each_picture((2 * radii[i] + 1) * (2 * radii[i] + 1), check_box, radii[i]);
}

/* A white picture stays white: the sums are at their largest. */
static void test_white(void **state)
{
    (void)state;
    static const char *const filters[] = {"boxblur=500", "blur=250", "blur=0.1", "blur=2:wrap",
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

static void test_box_mean(void **state)
{
    (void)state;
    uint64_t seed = 5;
    struct gf_image in = picture_new(format_of(1, 1, 1, 8), 0);
    for (int radius = 0; radius <= 500; radius++) {
        char text[100];
        struct gf_chain chain;
        struct gf_stage stage;
        struct gf_error error = {0};
        snprintf(text, sizeof text, "boxblur=%d", radius);
        assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
        assert_ok(text, gf_stage_bind(&stage, chain.item[0].filter, chain.item[0].params, in.format, &error),
                  &error);
        assert_ok(text, gf_stage_prepare(&stage, &error), &error);
        const struct gf_box_mean mean = ((const struct gf_box *)stage.constants)->mean;
        const uint64_t n = (uint64_t)(2 * radius + 1) * (uint64_t)(2 * radius + 1);
        for (int i = 0; i < 3000; i++) {
            /* Around the sums where the result changes, and anywhere. */
            uint64_t sum8 = random_next(&seed) % (255 * n + 1);
            uint64_t sum16 = random_next(&seed) % (65535 * n + 1);
            if (i % 2 && sum8 > n && sum16 > n) {
                sum8 = sum8 / n * n - n / 2 - 1 + random_next(&seed) % 3;
                sum16 = sum16 / n * n - n / 2 - 1 + random_next(&seed) % 3;
            }
            assert_int_equal(gf_box_mean8(&mean, (uint32_t)sum8), (sum8 + n / 2) / n);
            assert_int_equal(gf_box_mean_double(&mean, (double)sum16), (sum16 + n / 2) / n);
#ifdef __SIZEOF_INT128__
            assert_int_equal(gf_box_mean16(&mean, sum16), (sum16 + n / 2) / n);
#endif
        }
        gf_stage_release(&stage);
        gf_chain_free(&chain);
    }
    picture_free(&in);
}

static void check_unsharp_with(const struct gf_image *in, int border, double sigma, double amount,
                               double threshold)
{
    char text[200];
    snprintf(text, sizeof text, "unsharp=%g:%g:%g:%s", sigma, amount, threshold, borders[border]);
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
                if (fabs(fabs(difference) - limit) < slack)
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
    check_unsharp_with(in, border, sigma, 1, 0);
    check_unsharp_with(in, border, sigma, 10, 0.1);
    check_unsharp_with(in, border, sigma, 0, 0);
    check_unsharp_with(in, border, sigma, 2.5, 1);
}

static void test_unsharp(void **state)
{
    (void)state;
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
    {"kernel=1 0 0 0 0 0 2/0 0 3 0 0 0 0/0 0 0 0 0 0 0/0 4 0 0 0 -1 0/0 0 0 0 0 5 0:divisor=6", 7, 5,
     {1, 0, 0, 0, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 5,
      0},
     6, 0, true},
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
                               sample(in, x + i - kernel->width / 2, y + j - kernel->height / 2, c, border);
                *at(&reference, x, y, c) = alpha && kernel->keeps_alpha ? sample_at(in, x, y, c)
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
    (void)state;
    for (int i = 0; i < KERNELS; i++)
        each_picture(35, check_convolve, i);
}

/* The largest kernel: a single 1 in a corner moves the picture. */
static void test_convolve_largest(void **state)
{
    (void)state;
    char text[31 * 62 + 100] = "convolve=";
    struct gf_image in = picture_random(format_of(77, 55, 3, 16), 0, 3), expected = picture_new(in.format, 0);
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
        sum += weight[i + 1] * (down ? height(in, x + i, y + 1, c, border) - height(in, x + i, y - 1, c, border)
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
                *at(&reference, x, y, c) = gf_has_alpha(f) && c == f.channels - 1
                                               ? sample_at(in, x, y, c)
                                               : scale * hypot(difference(sample, in, x, y, c, border, false),
                                                               difference(sample, in, x, y, c, border, true));
    assert_near(text, &out, &reference, f.bits == 8 ? 0.001 : 0.05);
    free(reference.value);
    picture_free(&out);
}

static void test_sobel(void **state)
{
    (void)state;
    each_picture(12, check_sobel, 1);
    each_picture(12, check_sobel, 0.125);
    each_picture(12, check_sobel, 0);
    each_picture(12, check_sobel, 100);
}

static double height_of(const struct gf_image *in, int x, int y, int c, int border)
{
    (void)c;
    if (in->format.channels < 3)
        return sample(in, x, y, 0, border) / most(in);
    return (77 * sample(in, x, y, 0, border) + 150 * sample(in, x, y, 1, border) +
            29 * sample(in, x, y, 2, border)) / 256 / most(in);
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
    (void)state;
    each_picture(12, check_normalmap, 1);
    each_picture(12, check_normalmap, 0);
    each_picture(12, check_normalmap, 30);
    each_picture(12, check_normalmap, 1000);
}

/* ---- the Gaussian's parts ---- */

static void test_taps(void **state)
{
    (void)state;
    struct gf_gauss gauss;
    for (double sigma = 0.1; sigma <= 250; sigma = sigma < 10 ? sigma + 0.01 : sigma * 1.05) {
        gf_gauss_init(&gauss, sigma);
        assert_int_equal(gauss.radius, (int)ceil(3 * sigma));
        assert_in_range(gauss.shift, 14, 17);
        int sum = gauss.fixed[0];
        for (int k = 1; k <= gauss.radius; k++)
            sum += 2 * gauss.fixed[k];
        assert_int_equal(sum, 1 << gauss.shift);
        for (int k = 0; k <= gauss.radius; k++) {
            assert_in_range(gauss.fixed[k], 0, 32767);
            assert_true(fabs(gauss.fixed[k] - ldexp((double)gauss.real[k], gauss.shift)) <= 1.01);
        }
    }
}

struct kept {
    struct gf_format format;
    uint32_t *sums;
};

static void keep_sums(const struct gf_gauss_job *job, int row, size_t first, size_t count,
                      const uint32_t *sums)
{
    const struct kept *const kept = job->context;
    const size_t samples = (size_t)kept->format.width * (size_t)kept->format.channels;
    memcpy(kept->sums + (size_t)row * samples + first, sums, count * sizeof *sums);
}

static void gauss_sums(const struct gf_gauss *gauss, const struct gf_gauss_simd *simd,
                       const struct gf_image *in, struct kept *kept)
{
    const struct gf_view view = {in->data, in->pitch, in->format, 0, in->format.height};
    void *const scratch = aligned_alloc(64, gf_gauss_scratch(in->format, gauss->radius));
    kept->sums = malloc(gf_row_bytes(in->format) * (size_t)in->format.height * sizeof *kept->sums);
    assert_true(scratch && kept->sums);
    gf_gauss_run(&(struct gf_gauss_job){.gauss = gauss, .border = GF_BORDER_REFLECT, .in = &view,
                                        .out = &view, .scratch = scratch, .simd = simd, .context = kept,
                                        .finish8 = keep_sums});
    free(scratch);
}

/* Every instruction set makes the same sums. */
static void test_levels(void **state)
{
    (void)state;
    static const int widths[] = {1, 7, 8, 31, 33, 64, 100, 683, 2050};
    static const double sigmas[] = {0.1, 0.7, 2, 11, 100};
    for (int level = 1; level <= 2; level++) {
        const struct gf_gauss_simd *const simd = gf_gauss_simd_level(level);
        if (!simd) {
            print_message("level %d is not on this processor\n", level);
            continue;
        }
        for (int i = 0; i < 9 * 5 * 4; i++) {
            const struct gf_format format = format_of(widths[i / 20], 11, 1 + i % 4, 8);
            struct gf_image in = picture_random(format, 0, (uint64_t)i);
            struct gf_gauss gauss;
            struct kept plain = {.format = format}, fast = {.format = format};
            gf_gauss_init(&gauss, sigmas[i / 4 % 5]);
            gauss_sums(&gauss, gf_gauss_simd_level(0), &in, &plain);
            gauss_sums(&gauss, simd, &in, &fast);
            assert_memory_equal(plain.sums, fast.sums, gf_row_bytes(format) * 11 * sizeof *plain.sums);
            free(plain.sums);
            free(fast.sums);
            picture_free(&in);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taps),     cmocka_unit_test(test_levels),
        cmocka_unit_test(test_blur),     cmocka_unit_test(test_unsharp),
        cmocka_unit_test(test_boxblur),  cmocka_unit_test(test_box_mean),
        cmocka_unit_test(test_convolve), cmocka_unit_test(test_convolve_largest),
        cmocka_unit_test(test_sobel),    cmocka_unit_test(test_normalmap),
        cmocka_unit_test(test_white),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
