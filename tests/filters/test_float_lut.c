/* lut on floats against references in double precision: curves, cubes, curves before a cube,
 * domains that are wider than 0..1. */
#include "support.h"
#include "temp_folder.h"

#include <math.h>

#include "pixel/float_rows.h"

enum { WIDTH = 301, HEIGHT = 3, SIDE = 5, POINTS = 9 };

static struct gf_error error;
static float colours[HEIGHT][WIDTH][3];

/* Numbers of -2..6, of which some are beyond each domain; all of them are halves. */
static void make_colours(void)
{
    const struct gf_format half = {
        .width = 1, .height = 1, .channels = 1, .bits = 16, .samples = 1};
    uint64_t seed = 9;
    for (int i = 0; i < HEIGHT * WIDTH * 3; i++) {
        const float v = (float)random_below(&seed, 8001) / 1000 - 2;
        uint16_t stored;
        gf_floats_to_row(&v, half, 1, &stored);
        gf_floats_of_row(&stored, half, 1, &colours[0][0][0] + i);
    }
}

static enum gf_status run(const char *chain, int bits, float result[HEIGHT][WIDTH][3])
{
    const struct gf_format format = {
        .width = WIDTH, .height = HEIGHT, .channels = 3, .bits = bits, .samples = GF_SAMPLES_FLOAT};
    struct gf_options options = gf_options_default();
    struct gf_image in, out = {.data = NULL};
    struct gf_pipeline *pipeline = NULL;
    options.device = GF_DEVICE_CPU;
    options.band_rows = 1;
    assert_ok("picture", gf_image_alloc(&in, format, &error), &error);
    for (int y = 0; y < HEIGHT; y++)
        gf_floats_to_row(colours[y][0], format, WIDTH * 3, in.data + (size_t)y * in.pitch);
    enum gf_status status = gf_pipeline_open(chain, &options, &pipeline, &error);
    if (!status)
        status = gf_pipeline_run_image(pipeline, &in, &out, &error);
    for (int y = 0; !status && y < HEIGHT; y++)
        gf_floats_of_row(out.data + (size_t)y * out.pitch, format, WIDTH * 3, result[y][0]);
    gf_pipeline_close(pipeline);
    gf_image_free(&in);
    gf_image_free(&out);
    return status;
}

static double point_of(int channel, int i)
{
    return i * i / 16.0 - channel;
}

static double node_of(int channel, int r, int g, int b)
{
    return channel == 0 ? r * r - g : channel == 1 ? g + 0.5 * b * r : 3 - b;
}

/* The lines of a table of POINTS points over the domain. */
static double curve_at(int channel, double least, double greatest, double v)
{
    const double at = fmin(fmax((v - least) / (greatest - least), 0), 1) * (POINTS - 1);
    const int i = at < POINTS - 2 ? (int)at : POINTS - 2;
    return point_of(channel, i) + (at - i) * (point_of(channel, i + 1) - point_of(channel, i));
}

/* Goes from a node along the axes, the greatest fraction first. */
static double cube_at(int channel, const double least[3], const double greatest[3],
                      const double v[3])
{
    int node[3];
    double part[3];
    for (int c = 0; c < 3; c++) {
        const double at =
            fmin(fmax((v[c] - least[c]) / (greatest[c] - least[c]), 0), 1) * (SIDE - 1);
        node[c] = at < SIDE - 2 ? (int)at : SIDE - 2;
        part[c] = at - node[c];
    }
    double result = node_of(channel, node[0], node[1], node[2]);
    for (int step = 0; step < 3; step++) {
        int most = 0;
        for (int c = 1; c < 3; c++)
            most = part[c] > part[most] ? c : most;
        const double before = node_of(channel, node[0], node[1], node[2]);
        node[most]++;
        result += part[most] * (node_of(channel, node[0], node[1], node[2]) - before);
        part[most] = -1;
    }
    return result;
}

static const double wide_least[3] = {-1, 0, -0.5}, wide_greatest[3] = {4, 5, 2.5};
static const double same_least[3] = {-1, -1, -1}, same_greatest[3] = {4, 4, 4};

static void write_domain(FILE *file, const double least[3], const double greatest[3])
{
    fprintf(file, "DOMAIN_MIN %g %g %g\nDOMAIN_MAX %g %g %g\n", least[0], least[1], least[2],
            greatest[0], greatest[1], greatest[2]);
}

/* Writes a file of curves over -1..4, curves and a cube if `both`, or over domains of the channels.
 */
static const char *write_file(const char *name, bool curves, bool cube, bool wide)
{
    const char *const path = in_folder(name);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    if (curves)
        fprintf(file, "LUT_1D_SIZE %d\n", POINTS);
    if (curves && cube)
        fputs("LUT_1D_INPUT_RANGE -1 4\nLUT_3D_INPUT_RANGE -1 3\n", file);
    if (cube)
        fprintf(file, "LUT_3D_SIZE %d\n", SIDE);
    if (!(curves && cube))
        write_domain(file, wide ? wide_least : same_least, wide ? wide_greatest : same_greatest);
    for (int i = 0; curves && i < POINTS; i++)
        fprintf(file, "%.9g %.9g %.9g\n", point_of(0, i), point_of(1, i), point_of(2, i));
    for (int i = 0; cube && i < SIDE * SIDE * SIDE; i++) {
        const int r = i % SIDE, g = i / SIDE % SIDE, b = i / SIDE / SIDE;
        fprintf(file, "%.9g %.9g %.9g\n", node_of(0, r, g, b), node_of(1, r, g, b),
                node_of(2, r, g, b));
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

/* `most` is the largest error: a part of the nodes' range of -4..16. */
static void check(bool curves, bool cube, bool wide, double most)
{
    static const double inner_least[3] = {-1, -1, -1}, inner_greatest[3] = {3, 3, 3};
    const double *const least = wide ? wide_least : same_least, *const greatest =
                                                                    wide ? wide_greatest
                                                                         : same_greatest;
    static float result[HEIGHT][WIDTH][3], half[HEIGHT][WIDTH][3];
    char chain[400];
    double off = 0;
    snprintf(chain, sizeof chain, "lut=%s", write_file("a.cube", curves, cube, wide));
    assert_ok(chain, run(chain, 32, result), &error);
    assert_ok(chain, run(chain, 16, half), &error);
    for (int i = 0; i < HEIGHT * WIDTH; i++) {
        double v[3];
        for (int c = 0; c < 3; c++)
            v[c] = (double)(&colours[0][0][0])[3 * i + c];
        for (int c = 0; c < 3 && curves && cube; c++)
            v[c] = curve_at(c, least[c], greatest[c], v[c]);
        for (int c = 0; c < 3; c++) {
            const double exact = cube && curves ? cube_at(c, inner_least, inner_greatest, v)
                                 : cube         ? cube_at(c, least, greatest, v)
                                                : curve_at(c, least[c], greatest[c], v[c]);
            const double own = (double)(&result[0][0][0])[3 * i + c];
            off = fmax(off, fabs(own - exact));
            assert_true(fabs((double)(&half[0][0][0])[3 * i + c] - own) <= fabs(own) / 2048 + 1e-7);
        }
    }
    print_message("# curves %d, cube %d, domains of channels %d: at most %.2g off\n", curves, cube,
                  wide, off);
    assert_true(off <= most);
}

static void test_tables(void **state)
{
    make_colours();
    check(true, false, false, 2e-6);
    check(true, false, true, 5e-4);
    check(false, true, false, 20 / 65535.0);
    check(false, true, true, 20 / 65535.0);
    check(true, true, false, 20 / 65535.0);
}

static void test_odd_numbers(void **state)
{
    static const float odd[][3] = {{NAN, 0, 1}, {INFINITY, -INFINITY, INFINITY}};
    static float result[HEIGHT][WIDTH][3];
    char chain[400];
    memcpy(colours[0], odd, sizeof odd);
    snprintf(chain, sizeof chain, "lut=%s", write_file("b.cube", false, true, false));
    assert_ok(chain, run(chain, 32, result), &error);
    for (int c = 0; c < 3; c++) {
        assert_true(isnan(result[0][0][c]) && !isnan(result[0][2][c]));
        assert_true(fabs((double)result[0][1][c] - node_of(c, SIDE - 1, 0, SIDE - 1)) < 1e-3);
    }
    snprintf(chain, sizeof chain, "lut=%s", write_file("c.cube", true, false, false));
    assert_ok(chain, run(chain, 32, result), &error);
    assert_true(isnan(result[0][0][0]) && !isnan(result[0][0][1]));
    assert_true(result[0][1][0] == (float)point_of(0, POINTS - 1) &&
                result[0][1][1] == (float)point_of(1, 0));
    snprintf(chain, sizeof chain, "lut=%s:amount=0.5", in_folder("c.cube"));
    assert_int_equal(run(chain, 32, result), GF_ERROR_UNFIT);
    assert_string_equal(error.text, "lut: floats take no amount but 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables),
                                       cmocka_unit_test(test_odd_numbers)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
