/* Filters on floats: against references in double precision, NaN and infinities within windows, and
 * halves as rounded singles. */
#include "float_pictures.h"

#include <math.h>

#include "base/cpu.h"
#include "chain/chain.h"
#include "chain/plan.h"
#include "pixel/point/point_program.h"

/* ---- conversions ---- */

static void test_halves(void **state)
{
    const struct gf_format half = floats_of(1, 16);
    enum { ALL = 1 << 16 };
    uint16_t *const halves = malloc(ALL * sizeof *halves), *const back = malloc(ALL * sizeof *back);
    float *const wide = malloc(ALL * sizeof *wide), *const plain = malloc(ALL * sizeof *plain);
    assert_true(halves && back && wide && plain);
    for (int i = 0; i < ALL; i++)
        halves[i] = (uint16_t)i;
    gf_floats_of_row(halves, half, ALL, wide);
    gf_cpu_allow_intrinsics(false);
    gf_floats_of_row(halves, half, ALL, plain);
    gf_cpu_allow_intrinsics(true);
    assert_memory_equal(wide, plain, ALL * sizeof *wide);
    assert_true(wide[0x3c00] == 1 && wide[0xc000] == -2 && wide[1] == 0x1p-24f &&
                wide[0x7bff] == 65504 && isinf(wide[0x7c00]) && isnan(wide[0x7c01]));
    gf_floats_to_row(wide, half, ALL, back);
    for (int i = 0; i < ALL; i++)
        assert_int_equal(back[i], isnan(wide[i]) ? i | 0x200 : i);
    /* Each float between two halves becomes the nearer one, or the even one in the middle. */
    for (int i = 0; i < 0x7bff; i++) {
        const float low = wide[i], high = wide[i + 1], middle = (low + high) / 2;
        const float between[3] = {nextafterf(middle, low), middle, nextafterf(middle, high)};
        const uint16_t expected[3] = {(uint16_t)i, (uint16_t)(i + i % 2), (uint16_t)(i + 1)};
        uint16_t made[3];
        gf_floats_to_row(between, half, 3, made);
        assert_memory_equal(made, expected, sizeof made);
    }
    uint64_t seed = 3;
    for (int i = 0; i < ALL; i++) {
        const uint32_t bits = (uint32_t)random_next(&seed);
        memcpy(&plain[i], &bits, sizeof bits);
    }
    gf_floats_to_row(plain, half, ALL, halves);
    gf_cpu_allow_intrinsics(false);
    gf_floats_to_row(plain, half, ALL, back);
    gf_cpu_allow_intrinsics(true);
    assert_memory_equal(halves, back, ALL * sizeof *back);
    free(halves);
    free(back);
    free(wide);
    free(plain);
}

static void test_integers(void **state)
{
    const struct gf_format single = floats_of(1, 32);
    for (int bits = 8; bits <= 16; bits += 8) {
        const struct gf_format format = format_of(1, 1, 1, bits);
        for (int v = 0; v < 1 << bits; v++) {
            uint16_t sample = (uint16_t)v, back = 0;
            float wide;
            assert_int_equal(gf_row_convert(&sample, format, single, 1, &wide), 0);
            assert_true(wide == (float)((double)v / ((1 << bits) - 1)));
            assert_int_equal(gf_row_convert(&wide, single, format, 1, &back), 0);
            assert_int_equal(back, v);
        }
    }
    const float beyond[] = {-0.5f, 1.5f, NAN, INFINITY, -INFINITY, 0.5f / 255, 1.5f / 255};
    const uint8_t expected[] = {0, 255, 0, 255, 0, 0, 2};
    uint8_t bytes[7];
    assert_int_equal(gf_row_convert(beyond, single, format_of(1, 1, 1, 8), 7, bytes), 5);
    assert_memory_equal(bytes, expected, sizeof bytes);
}

/* ---- point filters ---- */

static double mirrored(double v, double (*of)(double size))
{
    return v < 0 ? -of(-v) : of(v);
}

static double decode(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double encode(double v)
{
    return v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

static double root(double v)
{
    return sqrt(v);
}

static double luma(const double *p)
{
    return (19595 * p[0] + 38470 * p[1] + 7471 * p[2]) / 65536;
}

static double brightness(const double *p, int c)
{
    return p[c] + 0.25;
}

static double contrast(const double *p, int c)
{
    return (p[c] - 0.5) * 2 + 0.5;
}

static double invert(const double *p, int c)
{
    return 1 - p[c];
}

static double gamma_2(const double *p, int c)
{
    return mirrored(p[c], root);
}

static double exposure(const double *p, int c)
{
    return mirrored(2 * mirrored(p[c], decode), encode);
}

static double levels(const double *p, int c)
{
    return mirrored((p[c] - 0.25) / 0.5, root);
}

static double solarize(const double *p, int c)
{
    return p[c] >= 0.5 ? 1 - p[c] : p[c];
}

static double posterize(const double *p, int c)
{
    return floor(p[c] * 4 + 0.5) / 4;
}

static double gray(const double *p, int c)
{
    return luma(p);
}

static double vibrance(const double *p, int c)
{
    const double y = 0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2];
    const double s = fmax(p[0], fmax(p[1], p[2])) - fmin(p[0], fmin(p[1], p[2]));
    return y + (p[c] - y) * (1 + 0.5 * (1 - s));
}

static double matrix(const double *p, int c)
{
    return 0.5 * p[0] + 0.25 * p[1] - p[2] + 0.125;
}

static double flatten(const double *p, int c)
{
    return p[c] * p[3] + (c == 0) * (1 - p[3]);
}

static const struct {
    const char *chain;
    int channels;
    double (*of)(const double *p, int c);
    double most; /* the error, as a part of 1 or of a larger result */
} points[] = {
    {"brightness=0.25", 3, brightness, 1e-7},
    {"contrast=2", 3, contrast, 2e-7},
    {"invert", 3, invert, 1e-7},
    {"gamma=2", 3, gamma_2, 2e-6},
    {"exposure=1", 3, exposure, 4e-6},
    {"levels=0.25:0.75:2", 3, levels, 2e-6},
    {"solarize", 3, solarize, 1e-7},
    {"posterize=5", 3, posterize, 1e-7},
    {"grayscale", 3, gray, 3e-7},
    {"vibrance=0.5", 3, vibrance, 2e-6},
    {"colormatrix=0.5 0.25 -1 0.125/0.5 0.25 -1 0.125/0.5 0.25 -1 0.125", 3, matrix, 5e-7},
    {"flatten=#ff0000", 4, flatten, 5e-7},
};

static void test_points(void **state)
{
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        struct gf_image in = make(points[i].channels, 32), out = run(points[i].chain, &in);
        assert_int_equal(out.format.bits, 32);
        assert_true(gf_is_float(out.format));
        for (int k = 0; k < WIDTH * HEIGHT; k++) {
            double p[4];
            const int x = k % WIDTH, y = k / WIDTH;
            for (int c = 0; c < in.format.channels; c++)
                p[c] = (double)get(&in, x, y, c);
            for (int c = 0; c < out.format.channels; c++) {
                const double made = (double)get(&out, x, y, c), right = points[i].of(p, c);
                if (!(fabs(made - right) <= points[i].most * fmax(1, fabs(right))))
                    fail_msg("%s at %d,%d: %.9g, not %.9g", points[i].chain, x, y, made, right);
            }
        }
        gf_image_free(&in);
        gf_image_free(&out);
    }
}

/* ---- stencils ---- */

static double sample(const struct gf_image *in, int x, int y, int c)
{
    const int column = x < 0       ? 0
                       : x < WIDTH ? x
                                   : WIDTH - 1,
              row = y < 0        ? 0
                    : y < HEIGHT ? y
                                 : HEIGHT - 1;
    const int alpha = in->format.channels - 1;
    const double v = (double)get(in, column, row, c);
    return in->format.channels == 4 && c < alpha ? v * (double)get(in, column, row, alpha) : v;
}

static double blurred(const struct gf_image *in, int x, int y, int c)
{
    double sum = 0, weights = 0;
    for (int j = -6; j <= 6; j++) {
        for (int i = -6; i <= 6; i++) {
            const double weight = exp(-(i * i + j * j) / 8.0);
            sum += weight * sample(in, x + i, y + j, c);
            weights += weight;
        }
    }
    return sum / weights;
}

static double boxed(const struct gf_image *in, int x, int y, int c)
{
    double sum = 0;
    for (int j = -3; j <= 3; j++) {
        for (int i = -3; i <= 3; i++)
            sum += sample(in, x + i, y + j, c);
    }
    return sum / 49;
}

static double sharpened(const struct gf_image *in, int x, int y, int c)
{
    const double v = sample(in, x, y, c);
    return v + 0.5 * (v - blurred(in, x, y, c));
}

static double convolved(const struct gf_image *in, int x, int y, int c)
{
    return 5 * sample(in, x, y, c) - sample(in, x - 1, y, c) - sample(in, x + 1, y, c) -
           sample(in, x, y - 1, c) - sample(in, x, y + 1, c) +
           51 / 255.0 * (in->format.channels == 4 ? c == 3 ? 0 : sample(in, x, y, 3) : 1);
}

static double lanczos(double x)
{
    const double pi = 3.14159265358979323846;
    return x == 0 ? 1 : fabs(x) < 3 ? sin(pi * x) * sin(pi * x / 3) / (pi * pi * x * x / 3) : 0;
}

static double triangle(double x)
{
    return fabs(x) < 1 ? 1 - fabs(x) : 0;
}

static double cubic(double x)
{
    const double t = fabs(x);
    return t < 1 ? (1.5 * t - 2.5) * t * t + 1 : t < 2 ? ((-0.5 * t + 2.5) * t - 4) * t + 2 : 0;
}

static double resized(const struct gf_image *in, int x, int y, int c, double (*kernel)(double),
                      int width, int height)
{
    const double across = (double)WIDTH / width, down = (double)HEIGHT / height;
    const double wide = fmax(across, 1), high = fmax(down, 1);
    double sum = 0, weights = 0;
    for (int j = 0; j < HEIGHT; j++) {
        const double v = kernel((j + 0.5 - (y + 0.5) * down) / high);
        for (int i = 0; v != 0 && i < WIDTH; i++) {
            const double weight = v * kernel((i + 0.5 - (x + 0.5) * across) / wide);
            sum += weight * sample(in, i, j, c);
            weights += weight;
        }
    }
    return sum / weights;
}

static double by_lanczos(const struct gf_image *in, int x, int y, int c)
{
    return resized(in, x, y, c, lanczos, 20, 15);
}

static double by_triangle(const struct gf_image *in, int x, int y, int c)
{
    return resized(in, x, y, c, triangle, 20, 15);
}

static double by_cubic(const struct gf_image *in, int x, int y, int c)
{
    return resized(in, x, y, c, cubic, 79, 60);
}

static const struct {
    const char *chain;
    double (*of)(const struct gf_image *in, int x, int y, int c);
    double most; /* the error, as a part of 1 or of a larger result */
} stencils[] = {
    {"blur=2", blurred, 2e-6},
    {"boxblur=3", boxed, 2e-6},
    {"unsharp=2:0.5", sharpened, 3e-6},
    {"convolve=0 -1 0/-1 5 -1/0 -1 0:bias=51", convolved, 3e-6},
    {"resize=20:15", by_lanczos, 2e-6},
    {"resize=20:15:kernel=linear", by_triangle, 2e-6},
    {"resize=79:60:kernel=cubic", by_cubic, 2e-6},
};

static void check_stencil(size_t i, int channels)
{
    struct gf_image in = make(channels, 32), out = run(stencils[i].chain, &in);
    for (int y = 0; y < out.format.height; y++) {
        for (int x = 0; x < out.format.width; x++) {
            const bool has_alpha = channels == 4;
            const double alpha = has_alpha ? stencils[i].of(&in, x, y, 3) : 1;
            for (int c = 0; c < channels; c++) {
                const double made = (double)get(&out, x, y, c),
                             right = stencils[i].of(&in, x, y, c) / (c < 3 ? alpha : 1);
                /* A division by a small alpha enlarges errors. */
                const double most =
                    stencils[i].most * fmax(1, fabs(right)) / fmin(1, alpha * alpha);
                if (!(fabs(made - right) <= most))
                    fail_msg("%s x %d at %d,%d: %.9g, not %.9g", stencils[i].chain, channels, x, y,
                             made, right);
            }
        }
    }
    gf_image_free(&in);
    gf_image_free(&out);
}

static void test_stencils(void **state)
{
    for (size_t i = 0; i < sizeof stencils / sizeof *stencils; i++) {
        check_stencil(i, 1);
        check_stencil(i, 3);
        check_stencil(i, 4);
    }
}

/* ---- NaN, infinities and halves ---- */

static const char *const same_size[] = {
    "blur=1",          "boxblur=2",
    "unsharp=1",       "convolve=1 2 1/2 4 2/1 2 1",
    "laplace",         "gamma=2",
    "saturation=2",    "hue=30",
    "curves=contrast", "posterize=4:bayer4",
    "vignette",        "addnoise",
    "exposure=-1",     "temperature=4000",
    "duotone",
#ifdef GF_WITH_LCMS
    "icc=linear-srgb", "icc=srgb:from=acescg",
#endif
};

/* Results outside of the window of a number that is not finite do not change. */
static void check_window(const char *chain, float odd)
{
    enum { X = 20, Y = 17, REACH = 4 };
    struct gf_image in = make(3, 32), clean = run(chain, &in);
    put(&in, X, Y, 1, odd);
    struct gf_image out = run(chain, &in);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            const bool inside = abs(x - X) <= REACH && abs(y - Y) <= REACH;
            for (int c = 0; c < 3 && !inside; c++) {
                if (get(&out, x, y, c) != get(&clean, x, y, c))
                    fail_msg("%s: %g at %d,%d changes %d,%d", chain, (double)odd, X, Y, x, y);
            }
        }
    }
    if (isnan(odd) && !isnan(get(&out, X, Y, 1)))
        fail_msg("%s: NaN is lost", chain);
    gf_image_free(&in);
    gf_image_free(&clean);
    gf_image_free(&out);
}

static void test_windows(void **state)
{
    for (size_t i = 0; i < sizeof same_size / sizeof *same_size; i++) {
        check_window(same_size[i], NAN);
        check_window(same_size[i], INFINITY);
        check_window(same_size[i], -INFINITY);
        check_window(same_size[i], 3e38f);
        check_window(same_size[i], -1e-42f);
    }
}

/* A stage of halves makes what the stage makes of the same singles, rounded once. */
static void check_halves(const char *chain)
{
    struct gf_image half = make(3, 16), single = make(3, 32);
    struct gf_image a = run(chain, &half), b = run(chain, &single);
    assert_int_equal(a.format.bits, 16);
    for (int y = 0; y < a.format.height; y++) {
        for (int i = 0; i < a.format.width * a.format.channels; i++) {
            const float wide = get(&b, i / a.format.channels, y, i % a.format.channels);
            uint16_t expected, made;
            gf_floats_to_row(&wide, a.format, 1, &expected);
            memcpy(&made, a.data + (size_t)y * a.pitch + (size_t)i * 2, 2);
            if (made != expected)
                fail_msg("%s: %d,%d differs", chain, i, y);
        }
    }
    gf_image_free(&half);
    gf_image_free(&single);
    gf_image_free(&a);
    gf_image_free(&b);
}

static void test_singles_and_halves(void **state)
{
    static const char *const more[] = {"resize=20:30",
                                       "transpose",
                                       "pad=60:60:colour=orange",
                                       "crop=10:10:3:4",
                                       "hflip",
                                       "rotate=90",
                                       "tile=60:60",
                                       "resize=50%:light=linear",
                                       "resize=30:30:kernel=nearest"};
    for (size_t i = 0; i < sizeof same_size / sizeof *same_size; i++)
        check_halves(same_size[i]);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        check_halves(more[i]);
}

/* Tables of halves for devices have what the CPU makes of each half. */
static void test_tables(void **state)
{
    static const struct {
        const char *chain;
        int tables; /* 0: none is worth it, or none is possible */
    } tried[] = {{"gamma=2", 1},
                 {"exposure=1", 1},
                 {"exposure=1,invert", 1},
                 {"invert", 0},
                 {"temperature=kelvin=4000", 3},
                 {"saturation=2", 0},
                 {"gamma=2,grayscale", 0}};
    struct gf_image all;
    struct gf_format format = floats_of(3, 16);
    format.width = format.height = 256;
    assert_int_equal(gf_image_alloc(&all, format, &error), GF_OK);
    for (int i = 0; i < 256 * 256 * 3; i++) {
        const uint16_t half = (uint16_t)(i / 3);
        memcpy(address_of(&all, i / 3 % 256, i / 768, i % 3), &half, 2);
    }
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        struct gf_chain chain;
        struct gf_plan plan;
        struct gf_image made = run(tried[k].chain, &all);
        assert_ok("chain", gf_chain_parse(tried[k].chain, &chain, &error), &error);
        assert_ok("plan", gf_plan_make(&chain, format, 1, &plan, &error), &error);
        assert_ok("stage", gf_stage_prepare(&plan.stage[0], &error), &error);
        const struct gf_point_program *const program = plan.stage[0].constants;
        assert_int_equal(program->table ? program->tables : 0, tried[k].tables);
        const uint16_t *const table = gf_point_block(program, program->table_at);
        for (int i = 0; i < 256 * 256 * 3 && program->table; i++)
            assert_memory_equal(table + i / 3 + (program->tables > 1 ? i % 3 << 16 : 0),
                                address_of(&made, i / 3 % 256, i / 768, i % 3), 2);
        gf_plan_free(&plan);
        gf_chain_free(&chain);
        gf_image_free(&made);
    }
    gf_image_free(&all);
}

/* ---- what is refused ---- */

static void test_refusals(void **state)
{
    static const char *const refused[] = {"canny", "threshold=sauvola", "distance",
                                          "overlay=tests/none.png"};
    struct gf_image floats = make(3, 32), bytes = picture_random(format_of(30, 20, 3, 8), 0, 1),
                    out;
    char chain[80];
    for (size_t i = 0; i < sizeof refused / sizeof *refused - 1; i++) {
        assert_int_equal(try(refused[i], &floats, &out), GF_ERROR_UNFIT);
        assert_non_null(strstr(error.text, "takes no floats"));
        snprintf(chain, sizeof chain, "float,%s", refused[i]);
        assert_int_equal(try(chain, &bytes, &out), GF_ERROR_USAGE);
        snprintf(chain, sizeof chain, "float,integer,%s", refused[i]);
        assert_ok(chain, try(chain, &bytes, &out), &error);
        assert_int_equal(out.format.bits, 16);
        gf_image_free(&out);
    }
    assert_int_equal(try("resize=10:10:like=pillow", &floats, &out), GF_ERROR_UNFIT);
    assert_string_equal(
        error.text,
        "resize (pillow): takes no floats; the filter integer before it makes samples of 16 bits");
    floats.data += 2;
    assert_int_equal(try("invert", &floats, &out), GF_ERROR_USAGE);
    assert_string_equal(error.text, "input: samples of 32 bits at uneven addresses");
    floats.data -= 2;
    gf_image_free(&floats);
    picture_free(&bytes);
}

/* A plan for a device has the kernels for floats of its stages. A stage without such kernels is
 * refused, so that the CPU takes the picture. */
static void test_devices(void **state)
{
    int refused = 0;
    const struct gf_plan_request request = {.orientation = 1, .on_device = true};
    for (int i = 0; gf_filter_at(i); i++) {
        const char *const name = gf_filter_name(gf_filter_at(i));
        struct gf_chain chain;
        struct gf_plan plan;
        if (gf_chain_parse(name, &chain, &error))
            continue; /* it needs parameters */
        struct gf_plan_request on_cpu = request;
        on_cpu.on_device = false;
        if (!gf_plan_make_for(&chain, floats_of(3, 16), &on_cpu, &plan, &error)) {
            bool has = true;
            for (int s = 0; s < plan.stage_count; s++) {
                const struct gf_stage *const stage = &plan.stage[s];
                const struct gf_variant *const kernels = stage->filter->cuda_floats;
                has &= kernels && !gf_stage_statistic(stage) &&
                       !(kernels->refuses && kernels->refuses(stage));
            }
            gf_plan_free(&plan);
            const enum gf_status status =
                gf_plan_make_for(&chain, floats_of(3, 16), &request, &plan, &error);
            assert_int_equal(status, has ? GF_OK : GF_ERROR_UNAVAILABLE);
            if (has)
                gf_plan_free(&plan);
            else
                assert_non_null(strstr(error.text, " (options.device=cpu)"));
            refused += !has;
        }
        gf_chain_free(&chain);
    }
    assert_true(refused > 0);
    struct gf_chain chain;
    struct gf_plan plan;
    static const char *const some[] = {"median=2", "median=3",  "sobel=kernel=scharr", "dilate=2",
                                       "dilate=3", "erode=1:2", "bilateral=20"};
    for (int i = 0; i < (int)(sizeof some / sizeof *some); i++) {
        const bool has = i != 1 && i != 4 && i != 5;
        assert_ok(some[i], gf_chain_parse(some[i], &chain, &error), &error);
        assert_int_equal(gf_plan_make_for(&chain, floats_of(4, 32), &request, &plan, &error),
                         has ? GF_OK : GF_ERROR_UNAVAILABLE);
        if (has)
            gf_plan_free(&plan);
        gf_chain_free(&chain);
    }
    assert_ok("chain", gf_chain_parse("crop=w=5,blur:variant=tiled", &chain, &error), &error);
    assert_int_equal(gf_plan_make_for(&chain, floats_of(3, 16), &request, &plan, &error),
                     GF_ERROR_UNFIT);
    assert_string_equal(error.text, "blur: variant=tiled takes no floats");
    gf_chain_free(&chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves),  cmocka_unit_test(test_integers),
        cmocka_unit_test(test_points),  cmocka_unit_test(test_stencils),
        cmocka_unit_test(test_windows), cmocka_unit_test(test_singles_and_halves),
        cmocka_unit_test(test_tables),  cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_devices),
    };
    return cmocka_run_group_tests_name("floats", tests, NULL, NULL);
}
