/* Chains of stencils on pictures with alpha: the colour between two of them stays premultiplied,
 * and the result is that of one stencil after the other. */
#include "support.h"

static void fill(struct gf_image *image, int alpha)
{
    const int max = image->format.bits == 8 ? 255 : 65535;
    uint64_t state = 1;
    for (int y = 0; y < image->format.height; y++) {
        for (int i = 0; i < image->format.width * 4; i++) {
            const int v = i % 4 == 3 ? alpha : random_below(&state, max + 1);
            unsigned char *const row = image->data + (size_t)y * image->pitch;
            if (image->format.bits == 8)
                row[i] = (unsigned char)v;
            else
                ((uint16_t *)row)[i] = (uint16_t)v;
        }
    }
}

static void run(const char *chain, const struct gf_image *in, struct gf_image *out)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    options.device = GF_DEVICE_CPU;
    assert_int_equal(gf_pipeline_open(chain, &options, &pipeline, NULL), GF_OK);
    assert_int_equal(gf_pipeline_run_image(pipeline, in, out, NULL), GF_OK);
    gf_pipeline_close(pipeline);
}

static int difference(const struct gf_image *a, const struct gf_image *b)
{
    int most = 0;
    assert_memory_equal(&a->format, &b->format, sizeof a->format);
    for (int y = 0; y < a->format.height; y++) {
        const unsigned char *const p = a->data + (size_t)y * a->pitch;
        const unsigned char *const q = b->data + (size_t)y * b->pitch;
        for (int i = 0; i < a->format.width * 4; i++) {
            const int d = a->format.bits == 8 ? p[i] - q[i]
                                              : ((const uint16_t *)p)[i] - ((const uint16_t *)q)[i];
            most = abs(d) > most ? abs(d) : most;
        }
    }
    return most;
}

/* The largest difference between a chain and its two steps. */
static int chain_difference(const char *first, const char *second, int bits, int alpha)
{
    struct gf_image in, between = {0}, steps = {0}, whole = {0};
    char chain[100];
    assert_int_equal(gf_image_alloc(&in, format_of(67, 41, 4, bits), NULL), GF_OK);
    fill(&in, alpha);
    snprintf(chain, sizeof chain, "%s,%s", first, second);
    run(chain, &in, &whole);
    run(first, &in, &between);
    run(second, &between, &steps);
    const int most = difference(&whole, &steps);
    gf_image_free(&in);
    gf_image_free(&between);
    gf_image_free(&steps);
    gf_image_free(&whole);
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
