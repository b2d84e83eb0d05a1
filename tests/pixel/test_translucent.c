/* Chains of stencils on pictures with alpha: the colour between two of them stays premultiplied,
 * and the result is that of one stencil after the other. */
#include "support.h"

static struct gf_image noise(struct gf_format format, int alpha)
{
    const struct gf_image image = picture_new(format, 0);
    uint64_t state = 1;
    for (int y = 0; y < format.height; y++) {
        for (int i = 0; i < format.width * 4; i++)
            sample_set(&image, i / 4, y, i % 4,
                       i % 4 == 3 ? alpha : random_below(&state, 1 << format.bits));
    }
    return image;
}

/* The largest difference between a chain and its two steps. */
static int chain_difference(const char *first, const char *second, int bits, int alpha)
{
    char chain[100];
    struct gf_image in = noise(format_of(67, 41, 4, bits), alpha);
    snprintf(chain, sizeof chain, "%s,%s", first, second);
    struct gf_image whole = cpu_result(chain, &in, 0), between = cpu_result(first, &in, 0);
    struct gf_image steps = cpu_result(second, &between, 0);
    assert_true(same_format(whole.format, steps.format));
    const int most = compare(&whole, &steps).most;
    picture_free(&in);
    picture_free(&between);
    picture_free(&steps);
    picture_free(&whole);
    return most;
}

/* The steps round the straight colour between them to 8 bits, and the chain does not: with an alpha
 * of 128 a premultiplied step is two straight ones. A gradient makes up to 12 of each. */
static void test_translucent(void **state)
{
    assert_in_range(chain_difference("sobel=4", "blur=2", 8, 128), 0, 2);
    assert_in_range(chain_difference("unsharp=2:amount=3", "resize=50%", 8, 128), 0, 2);
    assert_in_range(chain_difference("unsharp=2:amount=3", "sobel", 8, 128), 0, 24);
    assert_in_range(chain_difference("resize=200%", "unsharp=1", 8, 128), 0, 4);
    assert_in_range(chain_difference("convolve=0 -1 0/-1 5 -1/0 -1 0", "boxblur=2", 8, 40), 0, 7);
}

static void test_opaque(void **state)
{
    static const char *const filters[] = {"sobel=4",    "unsharp=2:amount=3", "blur=2",
                                          "median",     "resize=50%",         "normalmap",
                                          "bilateral=1"};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        for (size_t k = 0; k < sizeof filters / sizeof *filters; k++)
            assert_int_equal(chain_difference(filters[i], filters[k], 16, 65535), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_translucent),
        cmocka_unit_test(test_opaque),
    };
    return cmocka_run_group_tests_name("translucent", tests, NULL, NULL);
}
