/* Warps of floats: against references in double precision, at the positions and with the weights
 * that the filters' definition states; NaN, infinities and halves; deskew and trim. */
#include "float_pictures.h"

#include <math.h>

#include "base/cpu.h"

struct place {
    double u, v;
};

static const double PI = 3.14159265358979323846;

static struct place rotated(double x, double y, int width, int height)
{
    const double c = cos(PI / 9), s = sin(PI / 9);
    const double dx = x - (width - 1) / 2.0, dy = y - (height - 1) / 2.0;
    return (struct place){(WIDTH - 1) / 2.0 + c * dx + s * dy,
                          (HEIGHT - 1) / 2.0 - s * dx + c * dy};
}

/* The inverse of "0.9 0.3/-0.2 1.1". */
static struct place sheared(double x, double y, int width, int height)
{
    const double dx = x - (width - 1) / 2.0, dy = y - (height - 1) / 2.0, d = 0.9 * 1.1 + 0.06;
    return (struct place){(WIDTH - 1) / 2.0 + (1.1 * dx - 0.3 * dy) / d,
                          (HEIGHT - 1) / 2.0 + (0.2 * dx + 0.9 * dy) / d};
}

static struct place shrunk(double x, double y, int width, int height)
{
    return (struct place){(WIDTH - 1) / 2.0 + (x - (width - 1) / 2.0) / 0.41,
                          (HEIGHT - 1) / 2.0 + (y - (height - 1) / 2.0) / 0.41};
}

/* From the unit square to 5 0/95 0/100 100/0 100 per cent. */
static struct place keystone(double x, double y, int width, int height)
{
    const double s = (x + 0.5) / width, t = (y + 0.5) / height, w = 1 - 0.1 * t;
    return (struct place){(0.05 + 0.9 * s - 0.05 * t) / w * WIDTH - 0.5,
                          0.9 * t / w * HEIGHT - 0.5};
}

static struct place bent(double x, double y, int width, int height)
{
    const double dx = x - (width - 1) / 2.0, dy = y - (height - 1) / 2.0;
    const double r2 = (dx * dx + dy * dy) / (HEIGHT / 2.0 * (HEIGHT / 2.0));
    const double by = 1 + r2 * (-0.05 + r2 * 0.01);
    return (struct place){(WIDTH - 1) / 2.0 + dx * by, (HEIGHT - 1) / 2.0 + dy * by};
}

/* A colour sample outside of the picture, alpha outside, or the nearest pixel. */
struct beyond {
    const char *name;
    bool is_edge;
    double colour[3], alpha;
};

static const struct beyond beyonds[] = {
    {"white", false, {1, 1, 1}, 1},
    {"#ff8000", false, {1, 128 / 255.0, 0}, 1},
    {"edge", true, {0}, 0},
    {"transparent", false, {0}, 0},
};

static double sample(const struct gf_image *in, const struct beyond *beyond, int x, int y, int c)
{
    const int column = x < 0 ? 0 : x < WIDTH ? x : WIDTH - 1;
    const int row = y < 0 ? 0 : y < HEIGHT ? y : HEIGHT - 1;
    const bool outside = column != x || row != y, has_alpha = gf_has_alpha(in->format);
    if (outside && !beyond->is_edge)
        return c < 3 ? beyond->colour[c] : beyond->alpha;
    if (c == 3)
        return has_alpha ? (double)get(in, column, row, 3) : 1;
    return (double)get(in, column, row, c) * (has_alpha ? (double)get(in, column, row, 3) : 1);
}

static double weight_at(int taps, double x)
{
    const double t = fabs(x);
    if (taps == 4)
        return t < 1 ? (1.5 * t - 2.5) * t * t + 1 : t < 2 ? ((-0.5 * t + 2.5) * t - 4) * t + 2 : 0;
    return t == 0 ? 1 : t < 3 ? sin(PI * t) * sin(PI * t / 3) / (PI * PI * t * t / 3) : 0;
}

/* The weights of the pixels around a position: whole numbers of 1/16384, at the nearest of 1024
 * positions, or of 1/4096 where there are two. *first is the first pixel. */
static void weigh(int taps, double at, double *weight, int *first)
{
    const double steps = taps == 2 ? 4096 : 1024, near = floor(at * steps + 0.5) / steps;
    const double part = near - floor(near);
    double sum = 0;
    int left = 16384, largest = 0;
    *first = (int)floor(near) - (taps / 2 - (taps > 1));
    weight[0] = 1 - part, weight[1] = part;
    if (taps == 1)
        *first = (int)floor(at + 0.5), weight[0] = 1;
    for (int i = 0; i < taps && taps > 2; i++)
        sum += weight[i] = weight_at(taps, i - (taps / 2 - 1) - part);
    for (int i = 0; i < taps && taps > 2; i++) {
        weight[i] = floor(weight[i] / sum * 16384 + 0.5);
        left -= (int)weight[i];
        largest = weight[i] > weight[largest] ? i : largest;
    }
    weight[largest] += taps > 2 ? left : 0;
    for (int i = 0; i < taps && taps > 2; i++)
        weight[i] /= 16384;
}

static double value_at(const struct gf_image *in, const struct beyond *beyond, int taps,
                       struct place at, int c)
{
    double across[6], down[6], sum = 0;
    int x, y;
    weigh(taps, at.u, across, &x);
    weigh(taps, at.v, down, &y);
    for (int j = 0; j < taps; j++) {
        for (int i = 0; i < taps; i++)
            sum += across[i] * down[j] * sample(in, beyond, x + i, y + j, c);
    }
    return sum;
}

static const struct {
    const char *chain;
    struct place (*map)(double x, double y, int width, int height);
    int samples; /* of a pixel, across and down */
} warps[] = {
    {"rotate=20", rotated, 1},           {"affine=0.9 0.3/-0.2 1.1", sheared, 1},
    {"affine=0.41 0/0 0.41", shrunk, 2}, {"perspective=5 0/95 0/100 100/0 100", keystone, 1},
    {"lens=-0.05:0.01", bent, 1},
};

static double reference(const struct gf_image *in, const struct gf_format format, size_t warp,
                        const struct beyond *beyond, int taps, int x, int y, int c)
{
    const int n = taps == 1 ? 1 : warps[warp].samples;
    double sum = 0;
    for (int k = 0; k < n * n; k++) {
        const double dx = (2.0 * (k % n) + 1 - n) / (2 * n), dy = (2.0 * (k / n) + 1 - n) / (2 * n);
        const struct place at = warps[warp].map(x + dx, y + dy, format.width, format.height);
        sum += value_at(in, beyond, taps, at, c);
    }
    return sum / (n * n);
}

/* Errors are within 3e-6 but where rounding decides which position of the table is the nearest. */
static void check_warp(size_t warp, const struct beyond *beyond, int kernel, int channels)
{
    static const char *const kernels[] = {"nearest", "linear", "cubic", "lanczos3"};
    static const int taps[] = {1, 2, 4, 6};
    char chain[160];
    snprintf(chain, sizeof chain, "%s:kernel=%s:colour=%s", warps[warp].chain, kernels[kernel],
             beyond->name);
    struct gf_image in = make(channels, 32), out = run(chain, &in);
    const int made = out.format.channels;
    int other = 0;
    for (int y = 0; y < out.format.height; y++) {
        for (int x = 0; x < out.format.width; x++) {
            double alpha = 1;
            if (gf_has_alpha(out.format)) {
                alpha = reference(&in, out.format, warp, beyond, taps[kernel], x, y, 3);
                if (fabs(alpha) < 0.05) /* a division by a small alpha enlarges errors */
                    continue;
            }
            for (int c = 0; c < made; c++) {
                const double v = reference(&in, out.format, warp, beyond, taps[kernel], x, y,
                                           c == made - 1 && made == 4 ? 3 : c) /
                                 (c < 3 ? alpha : 1);
                const double error_of = fabs((double)get(&out, x, y, c) - v) * alpha * alpha;
                other += error_of > 3e-6 * fmax(1, fabs(v));
                if (!(error_of <= (kernel ? 3e-3 * fmax(1, fabs(v)) : 5)))
                    fail_msg("%s x %d at %d,%d: %.9g, not %.9g", chain, channels, x, y,
                             (double)get(&out, x, y, c), v);
            }
        }
    }
    if (other > out.format.width * out.format.height * made / 50)
        fail_msg("%s x %d: %d samples differ", chain, channels, other);
    gf_image_free(&in);
    gf_image_free(&out);
}

static void test_warps(void **state)
{
    for (size_t warp = 0; warp < sizeof warps / sizeof *warps; warp++) {
        for (int kernel = 0; kernel < 4; kernel++) {
            check_warp(warp, &beyonds[0], kernel, 1);
            for (size_t i = 0; i < sizeof beyonds / sizeof *beyonds; i++) {
                check_warp(warp, &beyonds[i], kernel, 3);
                check_warp(warp, &beyonds[i], kernel, 4);
            }
        }
    }
}

/* Where positions are whole, pixels are copied, NaN and infinities, too. Elsewhere a number that is
 * not finite changes the pixels whose windows hold it. */
static void test_odd_numbers(void **state)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 3e38f, -1e-42f};
    static const char *const kernels[] = {"nearest", "linear", "cubic", "lanczos3"};
    char chain[80];
    for (size_t i = 0; i < 4 * sizeof odd / sizeof *odd; i++) {
        struct gf_image in = make(3, 32);
        snprintf(chain, sizeof chain, "affine=1 0 2/0 1 1:fit=keep:kernel=%s", kernels[i % 4]);
        put(&in, 20, 17, 1, odd[i / 4]);
        struct gf_image moved = run(chain, &in);
        for (int y = 1; y < HEIGHT; y++) {
            for (int k = 6; k < 3 * WIDTH; k++) {
                const float a = get(&in, k / 3 - 2, y - 1, k % 3), b = get(&moved, k / 3, y, k % 3);
                assert_true(a == b || (isnan(a) && isnan(b)));
            }
        }
        snprintf(chain, sizeof chain, "rotate=2:fit=keep:kernel=%s", kernels[i % 4]);
        struct gf_image clean = make(3, 32), out = run(chain, &in), right = run(chain, &clean);
        for (int k = 0; k < WIDTH * HEIGHT * 3; k++) {
            const int x = k / 3 % WIDTH, y = k / 3 / WIDTH;
            if (abs(x - 20) > 5 || abs(y - 17) > 5 || k % 3 != 1)
                assert_true(get(&out, x, y, k % 3) == get(&right, x, y, k % 3));
        }
        gf_image_free(&in);
        gf_image_free(&moved);
        gf_image_free(&clean);
        gf_image_free(&out);
        gf_image_free(&right);
    }
}

/* Halves are the rounded singles, with a colour of halves; without vectors there are the same bits.
 */
static void test_halves_and_vectors(void **state)
{
    static const char *const chains[] = {
        "rotate=33:colour=yellow", "lens=0.2:kernel=cubic", "affine=0.2 0/0.1 0.3:kernel=lanczos3",
        "perspective=keystone:colour=edge", "rotate=7:kernel=nearest"};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        struct gf_image half = make(3, 16), single = make(3, 32);
        struct gf_image a = run(chains[i], &half), b = run(chains[i], &single);
        gf_cpu_allow_intrinsics(false);
        struct gf_image plain = run(chains[i], &single);
        gf_cpu_allow_intrinsics(true);
        for (int k = 0; k < a.format.width * a.format.height * 3; k++) {
            const int x = k / 3 % a.format.width, y = k / 3 / a.format.width;
            const float wide = get(&b, x, y, k % 3);
            float expected = wide;
            uint16_t bits;
            gf_floats_to_row(&wide, a.format, 1, &bits);
            gf_floats_of_row(&bits, a.format, 1, &expected);
            assert_true(get(&a, x, y, k % 3) == expected);
            assert_true(get(&plain, x, y, k % 3) == wide);
        }
        gf_image_free(&half);
        gf_image_free(&single);
        gf_image_free(&a);
        gf_image_free(&b);
        gf_image_free(&plain);
    }
}

/* deskew and trim find in floats what they find in the same integers. */
static void test_what_is_found(void **state)
{
    struct gf_image page, turned;
    assert_ok("page", gf_image_alloc(&page, format_of(300, 300, 1, 8), &error), &error);
    for (int i = 0; i < 300 * 300; i++)
        page.data[i] = i / 300 % 20 < 6 && i % 300 > 40 && i % 300 < 260 ? 20 : 240;
    turned = run("rotate=3", &page);
    struct gf_image right = run("deskew", &turned), made = run("float,deskew", &turned);
    assert_int_equal(made.format.width, right.format.width);
    assert_int_equal(made.format.height, right.format.height);
    gf_image_free(&right);
    gf_image_free(&made);
    right = run("trim", &page), made = run("float=16,trim", &page);
    assert_int_equal(right.format.width, 219);
    assert_int_equal(made.format.width, 219);
    assert_int_equal(made.format.height, right.format.height);
    gf_image_free(&right);
    gf_image_free(&made);
    gf_image_free(&page);
    gf_image_free(&turned);
}

static void test_trim(void **state)
{
    struct gf_image in = make(3, 32);
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++) {
        const int x = i / 3 % WIDTH, y = i / 3 / WIDTH;
        if (x < 5 || x >= 40 || y < 3 || y >= 30)
            put(&in, x, y, i % 3, i % 2 ? 7.0f : 7.03f);
    }
    struct gf_image out = run("trim", &in);
    assert_true(out.format.width == 35 && out.format.height == 27);
    gf_image_free(&out);
    put(&in, 2, 10, 1, NAN);
    put(&in, 45, 10, 1, INFINITY);
    out = run("trim", &in);
    assert_true(out.format.width == 44 && out.format.height == 27);
    gf_image_free(&out);
    put(&in, 0, 0, 1, NAN); /* nothing is like NaN */
    out = run("trim", &in);
    assert_true(out.format.width == WIDTH && out.format.height == HEIGHT);
    gf_image_free(&out);
    gf_image_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warps),
        cmocka_unit_test(test_odd_numbers),
        cmocka_unit_test(test_halves_and_vectors),
        cmocka_unit_test(test_what_is_found),
        cmocka_unit_test(test_trim),
    };
    return cmocka_run_group_tests_name("float warps", tests, NULL, NULL);
}
