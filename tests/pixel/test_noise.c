/* Normal noise as a table: against noise with floats, for every word that differs. */
#include "pixel/point/noise.h"

#include <math.h>

#include "support.h"

enum { CODES = 1 << 24 };

static uint32_t buckets[GF_NOISE_BUCKETS];

/* The lower 8 bits of a word do not count. */
static uint32_t word_of(int code)
{
    return (uint32_t)code << 8 | (uint32_t)(code * 37 & 255);
}

static int sample_of(int v, float scale, uint32_t word)
{
    const float x = fmaf(gf_noise_normal(gf_noise_even(word)), scale, (float)v);
    return (int)((x > 0 ? x < 255 ? x : 255 : 0) + 0.5f);
}

static int limited(int v)
{
    return v < 0 ? 0 : v > 255 ? 255 : v;
}

/* The steps are found by halving. */
static void test_noise_grows(void **state)
{
    float before = -1e9f;
    for (int code = 0; code < CODES; code++) {
        const float z = gf_noise_normal(gf_noise_even((uint32_t)code << 8));
        if (z < before)
            fail_msg("code %d: %.9g after %.9g", code, (double)z, (double)before);
        before = z;
    }
}

/* Sums that are not in doubt are right for samples of every magnitude, and few are in doubt. */
static void check_scale(float scale, int stride, double doubtful)
{
    static const int samples[] = {0, 1, 2, 3, 7, 31, 64, 127, 128, 200, 254, 255};
    const uint32_t limit = gf_noise_buckets(scale, buckets);
    long doubts = 0;
    assert_int_not_equal(limit, 0);
    for (int code = 0; code < CODES; code += stride) {
        const uint32_t word = word_of(code);
        const uint32_t sum = gf_noise_sum(buckets, word);
        const bool doubt = gf_noise_doubtful(sum, limit);
        doubts += doubt;
        for (size_t i = 0; !doubt && i < sizeof samples / sizeof *samples; i++) {
            const int is = limited(samples[i] + gf_noise_step(sum));
            const int want = sample_of(samples[i], scale, word);
            if (is != want)
                fail_msg("scale %g, word %08x, sample %d: %d instead of %d", (double)scale, word,
                         samples[i], is, want);
        }
    }
    const double part = (double)doubts * stride / CODES;
    if (part > doubtful)
        fail_msg("scale %g: %g of the words are in doubt", (double)scale, part);
}

static void test_sums(void **state)
{
    check_scale(12.75f, 1, 0.001); /* addnoise without parameters */
    check_scale(0.5f, 7, 0.001);
    check_scale(2.55f, 7, 0.001);
    check_scale(51, 7, 0.004);
    check_scale(255, 7, 0.02);
}

static void test_scales_without_buckets(void **state)
{
    assert_int_equal(gf_noise_buckets(0, buckets), 0);
    assert_int_equal(gf_noise_buckets(1000, buckets), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise_grows),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_scales_without_buckets),
    };
    return cmocka_run_group_tests_name("noise", tests, NULL, NULL);
}
