/* .cube files: what is read, what is refused and why, and that a file is read once. */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#include "pixel/files/cube.h"
#include "support.h"
#include "temp_folder.h"

static void test_reads(void **state)
{
    struct gf_cube cube;
    struct gf_error error = {0};
    const char *const table = "TITLE \"a 1 2\"\n# LUT_1D_SIZE 9\r\n\n  LUT_3D_SIZE 2 \r\n"
                              "DOMAIN_MIN -1 0 0.5\nDOMAIN_MAX 1 2 1\n"
                              "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1.5 1\n-1 .25 1e0";
    assert_ok("3D", gf_cube_parse(table, strlen(table), &cube, &error), &error);
    assert_true(!cube.points && cube.size == 2);
    assert_true(cube.domain.least[0] == -1 && cube.domain.greatest[1] == 2);
    assert_true(cube.domain.least[2] == 0.5);
    /* 0..65535 is -1..1.5, so that no value is limited before it is interpolated. */
    assert_true(cube.nodes.least == -1 && cube.nodes.greatest == 1.5);
    assert_int_equal(cube.nodes.node[3 * 1], 52428);
    assert_int_equal(cube.nodes.node[3 * 6 + 1], 65535);
    assert_int_equal(cube.nodes.node[3 * 7], 0);
    assert_int_equal(cube.nodes.node[3 * 7 + 1], 32768);
    gf_cube_free(&cube);
    const char *const curve = "LUT_1D_SIZE 2\nLUT_1D_INPUT_RANGE 0 2\n0 0 0\n1 1 1\n";
    assert_ok("1D", gf_cube_parse(curve, strlen(curve), &cube, &error), &error);
    assert_true(!cube.size && cube.same && cube.points == 2 && cube.domain.greatest[2] == 2);
    gf_cube_free(&cube);
    const char *const both = "LUT_1D_SIZE 2\nLUT_1D_INPUT_RANGE 0 2\nLUT_3D_SIZE 2\n"
                             "LUT_3D_INPUT_RANGE -1 1\n0 0 0\n1 1 4\n"
                             "1 1 1\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n0 0 0";
    assert_ok("both", gf_cube_parse(both, strlen(both), &cube, &error), &error);
    assert_true(cube.points == 2 && cube.value[5] == 4 && !cube.same && cube.size == 2);
    assert_true(cube.domain.greatest[0] == 2 && cube.cube_domain.least[1] == -1);
    assert_true(cube.nodes.least == 0 && cube.nodes.greatest == 1 && cube.nodes.node[0] == 65535);
    gf_cube_free(&cube);
}

/* A byte order mark, comments behind what counts, lines that a carriage return ends. */
static void test_layouts(void **state)
{
    static const char *const texts[] = {
        "\xef\xbb\xbfLUT_1D_SIZE 2\n0 0 0\n1 1 .5\n",
        "LUT_1D_SIZE 2 # points\n0 0 0# black\n1 1 .5\t# white\n#",
        "TITLE \"a\" # b\rLUT_1D_SIZE 2\r0 0 0\r\r1 1 .5\r",
        "LUT_1D_SIZE 2\r\n0 0 0 \r\n1 1 .5\r\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct gf_cube cube;
        struct gf_error error = {0};
        assert_ok(texts[i], gf_cube_parse(texts[i], strlen(texts[i]), &cube, &error), &error);
        assert_true(cube.points == 2 && cube.value[5] == 0.5f);
        gf_cube_free(&cube);
    }
}

static void test_refuses(void **state)
{
    static const char *const bad[][2] = {
        {"", "it has neither LUT_1D_SIZE nor LUT_3D_SIZE: it is no .cube file"},
        {"0 0 0\n", "line 1: a colour before LUT_1D_SIZE or LUT_3D_SIZE"},
        {"LUT_3D_SIZE\n", "line 1: the size is not a whole number from 2 on"},
        {"LUT_3D_SIZE 1\n", "line 1: the size is not a whole number from 2 on"},
        {"LUT_3D_SIZE 2.5\n", "line 1: the size is not a whole number from 2 on"},
        {"LUT_3D_SIZE -4\n", "line 1: the size is not a whole number from 2 on"},
        {"LUT_3D_SIZE 130\n", "line 1: the size 130 is above 129"},
        {"LUT_1D_SIZE 1e9\n", "line 1: the size 1e+09 is above 65536"},
        {"LUT_1D_SIZE 2\nLUT_1D_SIZE 2\n", "line 2: a second size"},
        {"LUT_1D_SIZE 2\nLUT_3D_SIZE 2\n0 0 0\n", "it has 1 of 10 colours"},
        {"LUT_1D_SIZE 2\n0 0 0\nLUT_3D_SIZE 2\n", "line 3: a size behind colours"},
        {"LUT_1D_SIZE 2\r\n0 0 0\r\n0 0\r\n", "line 3: a colour is three numbers"},
        {"LUT_1D_SIZE 2\r0 0 0\r0 0\r", "line 3: a colour is three numbers"},
        {"\xff\xfeL", "it is UTF-16; only UTF-8 is read"},
        {"LUT_1D_SIZE 2\n0 0 0\n0 0\n", "line 3: a colour is three numbers"},
        {"LUT_1D_SIZE 2\n0 0 0\n0 0 0 0\n", "line 3: a colour is three numbers"},
        {"LUT_1D_SIZE 2\n0 0 nan\n", "line 2: a colour is three numbers"},
        {"LUT_1D_SIZE 2\n0 0 inf\n", "line 2: a colour is three numbers"},
        {"LUT_1D_SIZE 2\n0 0 1e999\n", "line 2: a colour is three numbers"},
        {"LUT_1D_SIZE 2\n0 0 0\n1 1 1\n2 2 2\n", "line 4: more than 2 colours"},
        {"LUT_1D_SIZE 3\n0 0 0\n1 1 1\n", "it has 2 of 3 colours"},
        {"LUT_1D_SIZE 2\nDOMAIN_MIN 0 0\n", "line 2: three numbers are needed"},
        {"LUT_1D_SIZE 2\nDOMAIN_MIN 0 1 0\n0 0 0\n1 1 1\n", "its domain 1..1 is no range"},
        {"LUT_1D_SIZE 2\nLUT_1D_INPUT_RANGE 1 0\n0 0 0\n1 1 1\n", "its domain 1..0 is no range"},
        {"LUT_1D_SIZE 2\nDOMAIN_MAX 1e30 1 1\n0 0 0\n1 1 1\n", "its domain 0..1e+30 is no range"},
        {"LUT_2D_SIZE 2\n", "line 1: unknown keyword 'LUT_2D_SIZE'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gf_cube cube;
        struct gf_error error = {0};
        assert_int_equal(gf_cube_parse(bad[i][0], strlen(bad[i][0]), &cube, &error),
                         GF_ERROR_USAGE);
        assert_string_equal(error.text, bad[i][1]);
        assert_null(cube.nodes.node);
        assert_null(cube.value);
    }
    struct gf_cube cube;
    struct gf_error error = {0};
    assert_int_equal(gf_cube_parse("LUT_1D_SIZE 2\n0 0\0 0\n", 21, &cube, &error), GF_ERROR_USAGE);
    assert_string_equal(error.text, "line 2: a zero byte: it is no .cube file");
}

/* The same table for all who ask, also after none had it; another one where the file has changed.
 */
static void test_read_once(void **state)
{
    char path[400];
    snprintf(path, sizeof path, "%s", in_folder("curve.cube"));
    struct gf_error error = {0};
    const struct gf_cube *first, *second, *changed;
    save_text(path, "LUT_1D_SIZE 2\n0 0 0\n1 1 1\n");
    assert_ok("first", gf_cube_load(path, &first, &error), &error);
    assert_ok("second", gf_cube_load(path, &second, &error), &error);
    assert_ptr_equal(first, second);
    gf_cube_release(first);
    gf_cube_release(second);
    assert_ok("again", gf_cube_load(path, &second, &error), &error);
    assert_ptr_equal(first, second);
    save_text(path, "LUT_1D_SIZE 2\n0 0 0\n0.5 0.5 0.5\n");
    assert_ok("changed", gf_cube_load(path, &changed, &error), &error);
    assert_true(second->value[3] == 1 && changed->value[3] == 0.5f);
    gf_cube_release(second);
    gf_cube_release(changed);
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    const struct timespec times[2] = {before.st_atim, before.st_mtim};
    do { /* a copy that has the time of its original */
        save_text(path, "LUT_1D_SIZE 2\n0 0 0\n0.2 0.2 0.2\n");
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0) || stat(path, &after), 0);
    } while (!memcmp(&after.st_ctim, &before.st_ctim, sizeof before.st_ctim));
    assert_ok("changed with the same time", gf_cube_load(path, &changed, &error), &error);
    assert_true(changed->value[3] == 0.2f);
    gf_cube_release(changed);
    for (int i = 0; i < 9; i++) { /* more than are kept */
        char name[40];
        snprintf(name, sizeof name, "curve%d.cube", i);
        save_text(in_folder(name), "LUT_1D_SIZE 2\n0 0 0\n1 1 1\n");
        assert_ok(name, gf_cube_load(in_folder(name), &first, &error), &error);
        gf_cube_release(first);
    }
    assert_int_equal(gf_cube_load(in_folder("none.cube"), &first, &error), GF_ERROR_READ);
}

/* Tetrahedral interpolation is exact where the table is a straight line, at its nodes, and along
 * the edges and diagonals of its cells. */
static void test_interpolation(void **state)
{
    enum { SIDE = 4 };
    uint32_t nodes[2 * SIDE * SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const uint32_t r = (uint32_t)(i % SIDE), g = (uint32_t)(i / SIDE % SIDE);
        const uint32_t b = (uint32_t)(i / SIDE / SIDE);
        nodes[2 * i] = (100 * r + 1000 * g + 5000 * b) | (7 * r + 30 * b) << 16;
        nodes[2 * i + 1] = 20000 - 64 * g;
    }
    uint64_t seed = 3;
    for (int i = 0; i < 5000; i++) {
        float at[3];
        for (int c = 0; c < 3; c++)
            at[c] = (float)random_below(&seed, 3 * 64 + 1) / 64;
        const struct gf_rgb v = gf_table3d_of(nodes, SIDE, at[0], at[1], at[2]);
        assert_true(fabsf(v.r - (100 * at[0] + 1000 * at[1] + 5000 * at[2])) < 0.01f);
        assert_true(fabsf(v.g - (7 * at[0] + 30 * at[2])) < 0.01f);
        assert_true(fabsf(v.b - (20000 - 64 * at[1])) < 0.01f);
    }
    nodes[2 * 21] = 60000; /* node 1, 1, 1: the far corner of the first cell */
    assert_true(gf_table3d_of(nodes, SIDE, 0.5f, 0.5f, 0.5f).r == 30000);
    assert_true(gf_table3d_of(nodes, SIDE, 1, 1, 1).r == 60000);
    assert_true(gf_table3d_of(nodes, SIDE, 1, 1, 0.5f).r == (1100 + 60000) / 2.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test_setup_teardown(test_read_once, make_folder, remove_folder),
        cmocka_unit_test(test_interpolation),
    };
    return cmocka_run_group_tests_name("cube", tests, NULL, NULL);
}
