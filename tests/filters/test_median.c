/* The median against sorting, and its networks against every pattern of zeros and ones. */
#include "one_stage.h"

/* The networks on 64 patterns of zeros and ones at once. */
#define NET static inline
#define NET_TYPE uint64_t
#define NET_MIN(a, b) ((a) & (b))
#define NET_MAX(a, b) ((a) | (b))
#define NET_NAME(name) name
#include "filters/median/median_net.h"

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int sorted_median(const struct gf_image *in, int x, int y, int channel, int radius,
                         int border)
{
    int window[31 * 31], count = 0;
    for (int j = -radius; j <= radius; j++) {
        for (int i = -radius; i <= radius; i++)
            window[count++] = sample_beyond(in, x + i, y + j, channel, border);
    }
    qsort(window, (size_t)count, sizeof *window, compare_ints);
    return window[count / 2];
}

static void check_radius(const struct gf_image *in, const void *context)
{
    const int radius = *(const int *)context;
    for (int border = 0; border < 4; border++) {
        char text[60];
        snprintf(text, sizeof text, "median=%d:%s", radius, border_names[border]);
        struct gf_image out = chain_result(text, in), expected = picture_new(in->format, 0);
        for (int y = 0; y < in->format.height; y++) {
            for (int x = 0; x < in->format.width; x++) {
                for (int c = 0; c < in->format.channels; c++)
                    sample_set(&expected, x, y, c, sorted_median(in, x, y, c, radius, border));
            }
        }
        assert_same(text, &out, &expected);
        picture_free(&out);
        picture_free(&expected);
    }
}

static void test_radii(void **state)
{
    static const int radii[] = {1, 2, 3, 6, 15};
    static const double samples_most[] = {20000, 10000, 5000, 4300, 150};
    for (int i = 0; i < 5; i++)
        each_stage_picture(samples_most[i], check_radius, &radii[i]);
}

/* A row wider than what is computed at once. */
static void test_wide(void **state)
{
    static const int radii[] = {1, 2, 3, 6};
    for (int bits = 8; bits <= 16; bits += 8) {
        struct gf_image in = picture_random(format_of(1037, 3, 2, bits), 0, 5);
        for (int i = 0; i < 4; i++)
            check_radius(&in, &radii[i]);
        picture_free(&in);
    }
}

/* Black and white only: the search for the median goes from one end of the histogram to the other.
 */
static void test_black_and_white(void **state)
{
    static const int radii[] = {1, 2, 3, 5, 7};
    for (int bits = 8; bits <= 16; bits += 8) {
        struct gf_image in = picture_new(format_of(40, 31, 3, bits), 0);
        uint64_t seed = 9;
        for (size_t i = 0; i < picture_bytes(&in); i += (size_t)bits / 8)
            memset(in.data + i, random_below(&seed, 2) ? 255 : 0, (size_t)bits / 8);
        for (int i = 0; i < 5; i++)
            check_radius(&in, &radii[i]);
        picture_free(&in);
    }
}

/* Windows side by side, the n-th with count(n, column) ones at the bottom of each of its columns:
 * by the 0-1 principle, a network that is right for these is right for all sorted columns. */
static void check_patterns(int side, int bits)
{
    int patterns = 1;
    for (int i = 0; i < side; i++)
        patterns *= side + 1;
    struct gf_image in = picture_new(format_of(patterns * side, side, 1, bits), 0);
    for (int n = 0; n < patterns; n++) {
        for (int column = 0, rest = n; column < side; column++, rest /= side + 1) {
            for (int y = 0; y < side; y++)
                sample_set(&in, n * side + column, y, 0, y >= side - rest % (side + 1) ? 200 : 100);
        }
    }
    struct gf_image out = chain_result(side == 3 ? "median=1" : "median=2", &in);
    for (int n = 0; n < patterns; n++) {
        int ones = 0;
        for (int column = 0, rest = n; column < side; column++, rest /= side + 1)
            ones += rest % (side + 1);
        assert_int_equal(sample_at(&out, n * side + side / 2, side / 2, 0),
                         ones > side * side / 2 ? 200 : 100);
    }
    picture_free(&in);
    picture_free(&out);
}

static void test_patterns(void **state)
{
    for (int bits = 8; bits <= 16; bits += 8) {
        check_patterns(3, bits);
        check_patterns(5, bits);
    }
}

/* Whether medians5 is right for columns with count[x] ones in their four middle samples, the top
 * row of bits `top`, and each of the 64 bottom rows. */
static void check_tile(const int count[6], unsigned top)
{
    static const uint64_t every_row[6] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc,
                                          0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00,
                                          0xffff0000ffff0000, 0xffffffff00000000};
    uint64_t core[6][4], first[6], last[6], result[2][2];
    for (int x = 0; x < 6; x++) {
        for (int i = 0; i < 4; i++)
            core[x][i] = i >= 4 - count[x] ? UINT64_MAX : 0;
        first[x] = top >> x & 1 ? UINT64_MAX : 0;
        last[x] = every_row[x];
    }
    net_medians5(core, first, last, result);
    for (int i = 0; i < 2; i++) {
        int ones = 0;
        for (int x = i; x < i + 5; x++)
            ones += count[x];
        uint64_t below = 0;
        for (unsigned bottom = 0; bottom < 64; bottom++)
            below |= (uint64_t)(ones + __builtin_popcount(bottom >> i & 31) > 12) << bottom;
        assert_true(result[0][i] ==
                    (ones + __builtin_popcount(top >> i & 31) > 12 ? UINT64_MAX : 0));
        assert_true(result[1][i] == below);
    }
}

/* By the 0-1 principle, a network that is right for these patterns is right for all samples. */
static void test_tiles(void **state)
{
    for (int n = 0; n < 5 * 5 * 5 * 5 * 5 * 5; n++) {
        int count[6];
        for (int x = 0, rest = n; x < 6; x++, rest /= 5)
            count[x] = rest % 5;
        for (unsigned top = 0; top < 64; top++)
            check_tile(count, top);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_radii),           cmocka_unit_test(test_wide),
        cmocka_unit_test(test_black_and_white), cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_tiles),
    };
    return cmocka_run_group_tests_name("median", tests, NULL, NULL);
}
