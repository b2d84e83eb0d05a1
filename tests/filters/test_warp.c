/* Positions of warps: by steps they are those of the definition, and the rows that a band is given
 * hold them. */
#include "base/cpu.h"
#include "pixel/warp/warp.h"
#include "pixel/warp/warp_cpu.h"
#include "support.h"

enum { MAPS = 400, WIDTH = 1000, HEIGHT = 700 };

static double between(uint32_t *state, double low, double high)
{
    *state = *state * 1664525u + 1013904223u;
    return low + (high - low) * (*state >> 8) / (1 << 24);
}

/* Every third map is straight, a perspective, a lens; some go far outside, some are nearly the
 * identity. */
static struct gf_warp_map random_map(uint32_t *state, int i)
{
    const double much = i % 4 ? 0.3 : 1e-5;
    struct gf_warp_map map = {.kind = i % 3};
    double *const c = map.c;
    if (map.kind == GF_WARP_LENS) {
        c[0] = WIDTH / 2.0, c[1] = HEIGHT / 2.0, c[3] = c[0], c[4] = c[1];
        c[2] = 4.0 / (HEIGHT * HEIGHT), c[6] = between(state, 0.7, 1.2);
        c[7] = between(state, -much, much), c[8] = i % 5 ? between(state, -much, much) : 0;
        return map;
    }
    for (int axis = 0; axis < 6; axis++)
        c[axis] = (axis % 4 == 0) + (axis % 3 == 2 ? 200 : 1) * between(state, -much, much);
    c[6] = between(state, -much, much) / WIDTH, c[7] = between(state, -much, much) / HEIGHT,
    c[8] = 1;
    return map;
}

static struct gf_warp warp_of(struct gf_warp_map map)
{
    struct gf_warp warp = {.map = map, .taps = 2, .nx = 1, .ny = 1, .bias = 1.0 / 8192};
    const double one = 4294967296.0, *const c = map.c;
    warp.u = (int64_t)((c[2] + warp.bias) * one), warp.v = (int64_t)((c[5] + warp.bias) * one);
    warp.ux = (int64_t)(c[0] * one), warp.uy = (int64_t)(c[1] * one);
    warp.vx = (int64_t)(c[3] * one), warp.vy = (int64_t)(c[4] * one);
    return warp;
}

/* Both ends of a picture of the largest width, and its middle. */
static int compare_steps(const struct gf_warp *warp)
{
    static const int columns[] = {0, 256, 45000, 65280};
    int done = 0;
    for (int i = 0; i < 4; i++) {
        for (int y = 0; y < HEIGHT; y += 50) {
            struct gf_warp_stretch stretch;
            const int x = columns[i], count = 1 + (i * 100 + y) % GF_WARP_STRETCH;
            if (!gf_warp_steps(warp, x, y, count, &stretch))
                continue;
            done++;
            for (int k = 0; k < count; k++) {
                const struct gf_warp_at at = gf_warp_at(warp, x + k, y, 0, 0);
                assert_int_equal(at.x, stretch.x[k]);
                assert_int_equal(at.y, stretch.y[k]);
                assert_int_equal(at.f, stretch.f[k]);
                assert_int_equal(at.g, stretch.g[k]);
            }
        }
    }
    return done;
}

static void test_steps(void **state)
{
    uint32_t random = 5;
    int done[3] = {0};
    if (!gf_cpu_has(GF_CPU_AVX2))
        skip();
    for (int i = 0; i < MAPS; i++) {
        const struct gf_warp warp = warp_of(random_map(&random, i));
        done[i % 3] += compare_steps(&warp);
    }
    for (int kind = 0; kind < 3; kind++)
        assert_true(done[kind] > 1000);
}

/* Positions that are whole numbers of 4096ths are the hardest: the definition rounds them to either
 * side. */
static void test_steps_on_whole_parts(void **state)
{
    if (!gf_cpu_has(GF_CPU_AVX2))
        skip();
    for (int kind = 0; kind < 3; kind++) {
        struct gf_warp warp = warp_of((struct gf_warp_map){
            .kind = kind,
            .c = {1, 0, 0.5, 0, 1, 0.25, 0, 0, 1},
        });
        if (kind == GF_WARP_LENS)
            warp.map = (struct gf_warp_map){kind, {500, 350, 1, 500, 350, 0, 1, 0, 0}};
        warp.bias = 0;
        compare_steps(&warp);
    }
}

static void test_rows(void **state)
{
    uint32_t random = 9;
    for (int i = 0; i < MAPS; i++) {
        struct gf_warp_params params = {
            .map = random_map(&random, i), .width = WIDTH, .height = HEIGHT};
        const struct gf_stage stage = {.params = &params, .in = format_of(WIDTH, HEIGHT, 1, 8)};
        for (int y0 = 0; y0 < HEIGHT; y0 += 93) {
            int first, end;
            const int y1 = y0 + 1 + i % 40 < HEIGHT ? y0 + 1 + i % 40 : HEIGHT;
            gf_warp_input_rows(&stage, y0, y1, &first, &end);
            for (int at = 0; at < 40 * (y1 - y0); at++) {
                double u, v;
                gf_warp_source(&params.map, at % 40 * (WIDTH - 1) / 39.0, y0 + at / 40, &u, &v);
                if (v < 0 || v > HEIGHT - 1)
                    continue;
                assert_true(first <= floor(v));
                assert_true(end > ceil(v));
            }
        }
    }
}

/* The samples of a pixel are at most 1.25 pixels of the input apart, and one where the map does not
 * shrink, though it does elsewhere. */
static void test_zones(void **state)
{
    enum { SIDE = 4096 };
    struct gf_warp_params params = {
        .map = {GF_WARP_PERSPECTIVE, {0.7, 0, 0, 0, 0.7, 0, 0, -0.3 / SIDE, 1}},
        .width = SIDE,
        .height = SIDE};
    struct gf_stage stage = {
        .params = &params, .in = format_of(SIDE, SIDE, 1, 8), .out = format_of(SIDE, SIDE, 1, 8)};
    struct gf_error error;
    gf_warp_plan(&params, SIDE, SIDE);
    assert_int_equal(params.ny, 2);
    assert_int_equal(gf_warp_prepare(&stage, &error), GF_OK);
    const struct gf_warp *const warp = stage.constants;
    int single = 0;
    for (int y = 0; y < SIDE; y++) {
        const double w = 1 - 0.3 / SIDE * y, step = 0.7 / (w * w);
        const struct gf_warp_counts counts = gf_warp_zones(warp)[gf_warp_zone(warp, SIDE / 2, y)];
        assert_true(step / counts.ny < 1.26);
        single += counts.nx == 1 && counts.ny == 1;
    }
    assert_true(single > SIDE * 3 / 4 && single < SIDE);
    gf_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_steps_on_whole_parts),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_zones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
