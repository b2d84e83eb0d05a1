/* Tables and gray with vectors of every width are those of plain C, on any processor: the
 * compiler's vectors take the place of instructions. */
#pragma GCC diagnostic ignored "-Wpsabi" /* no vector crosses a call: all functions are inlined */
#define VEC_PLAIN
#include "base/simd.h"

static int vec_bytes;
#define gf_vec_bytes() vec_bytes
#define gf_bytes_gray vec_bytes_gray
#define gf_bytes_map vec_bytes_map
#define gf_point_map_samples vec_point_map_samples
#define gf_point_map_colour vec_point_map_colour
#include "pixel/point/point_bytes.c"

#include "support.h"

enum { ROOM = 500 };

static void fill_randomly(uint64_t *seed, uint8_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (uint8_t)random_below(seed, 256);
}

static void test_map(void **state)
{
    uint64_t seed = 7;
    uint8_t table[4 * 256], in[ROOM], out[ROOM];
    fill_randomly(&seed, table, sizeof table);
    fill_randomly(&seed, in, sizeof in);
    for (vec_bytes = 16; vec_bytes <= (GF_X86 ? 64 : 16); vec_bytes *= 2) {
        for (int channels = 1; channels <= (vec_bytes == 64 ? 4 : 1); channels++) {
            for (size_t count = 0; count < ROOM; count += 1 + random_below(&seed, 7)) {
                memset(out, 0xa5, sizeof out);
                assert_int_equal(gf_bytes_map(in, out, count, channels, table),
                                 GF_X86 || vec_bytes == 64);
                for (size_t i = 0; i < count && GF_X86; i++)
                    assert_int_equal(out[i], table[in[i] + 256 * (i % (size_t)channels)]);
                assert_int_equal(out[count], 0xa5);
            }
        }
    }
}

static void test_gray(void **state)
{
    const struct gf_point_op op[] = {
        {.kind = GF_POINT_GRAY, .max = 255, .a = 77, .b = 150, .c = 29, .d = 1.0f / 256},
        {.kind = GF_POINT_STEP, .max = 255, .a = 99}};
    uint64_t seed = 8;
    uint8_t in[3 * ROOM], out[ROOM];
    fill_randomly(&seed, in, sizeof in);
    for (vec_bytes = 16; vec_bytes <= (GF_X86 ? 64 : 16); vec_bytes *= 2) {
        for (int n = 0; n < ROOM; n += 1 + (int)random_below(&seed, 7)) {
            for (int steps = 0; steps < 2; steps++) {
                memset(out, 0xa5, sizeof out);
                assert_true(gf_bytes_gray(op, 1 + steps, in, (size_t)n, out));
                for (int i = 0; i < n; i++) {
                    const uint8_t *const p = in + 3 * i;
                    const int luma = (77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8;
                    assert_int_equal(out[i], steps ? 255 * (luma >= 99) : luma);
                }
                assert_int_equal(out[n], 0xa5);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_map), cmocka_unit_test(test_gray)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
