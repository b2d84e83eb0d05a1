/* The parts of the convolution family that have an arithmetic of their own: the Gaussian's taps,
 * its sums on every instruction set, the division of the box blur. */
#include <math.h>

#include "chain/chain.h"
#include "filters/boxblur/boxblur.h"
#include "pixel/gauss/gauss.h"
#include "stage/border.h"
#include "support.h"

static void test_taps(void **state)
{
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

static void keep_sums(const struct gf_gauss_request *job, int row, size_t first, size_t count,
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
    gf_gauss_blur(&(struct gf_gauss_request){.gauss = gauss,
                                             .border = GF_BORDER_REFLECT,
                                             .in = &view,
                                             .out = &view,
                                             .scratch = scratch,
                                             .simd = simd,
                                             .context = kept,
                                             .finish8 = keep_sums});
    free(scratch);
}

/* Every instruction set makes the same sums. */
static void test_levels(void **state)
{
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
            assert_memory_equal(plain.sums, fast.sums,
                                gf_row_bytes(format) * 11 * sizeof *plain.sums);
            free(plain.sums);
            free(fast.sums);
            picture_free(&in);
        }
    }
}

static void test_box_mean(void **state)
{
    uint64_t seed = 5;
    struct gf_image in = picture_new(format_of(1, 1, 1, 8), 0);
    for (int radius = 0; radius <= 500; radius++) {
        char text[100];
        struct gf_chain chain;
        struct gf_stage stage;
        struct gf_error error = {0};
        snprintf(text, sizeof text, "boxblur=%d", radius);
        assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
        assert_ok(
            text,
            gf_stage_bind(&stage, chain.item[0].filter, chain.item[0].params, in.format, &error),
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taps),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_box_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
