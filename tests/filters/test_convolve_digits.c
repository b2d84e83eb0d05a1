/* Sums of whole numbers that are near the weights: what is certain of them is the CPU's result. */
#include "filters/convolve/convolve.h"
#include "support.h"

/* What the CPU makes of a window. */
static int exact_result(const struct gf_convolve *convolve, const unsigned char *window)
{
    float sum = 0;
    for (int i = 0; i < convolve->width * convolve->height; i++) {
        const float product = convolve->weight[i] * (float)window[i];
        sum = sum + product;
    }
    const float v = gf_convolve_finish(sum, convolve->divisor, convolve->bias);
    return (int)(fminf(fmaxf(v, 0), 255) + 0.5f);
}

/* The result of the whole numbers' sums, in 1/256 and rounded down, as kernels make it. */
static int near_result(const struct gf_convolve *convolve, const unsigned char *window, int digits,
                       bool brief, const short *number, const struct gf_convolve_digits *end)
{
    int first = brief ? (int)GF_CONVOLVE_START : 0, last = first;
    float v = end->shift;
    for (int i = 0; i < convolve->width * convolve->height; i++) {
        const int low = digits == 1 ? number[i] : (signed char)number[i];
        last += low * window[i];
        first += (number[i] - low) / 256 * window[i];
    }
    if (digits == 2)
        v = fmaf((float)first, end->high, v);
    v = fmaf((float)last, end->scale, v);
    v = v > 0 ? v < 1 ? v : 1 : 0;
    return (int)floor(((double)v * 255 + 0.5) * 256);
}

struct tally {
    int certain, doubtful, others; /* others: in doubt, and rounded otherwise than by the CPU */
};

static void try_windows(const struct gf_convolve *convolve, int digits, bool brief,
                        uint64_t *random, struct tally *tally)
{
    enum { MOST = GF_MATRIX_SIDE_MAX * GF_MATRIX_SIDE_MAX };
    const int count = convolve->width * convolve->height, windows = brief ? 3000 : 400;
    short number[MOST];
    unsigned char window[MOST];
    struct gf_convolve_digits end;
    const double share = gf_convolve_digits_of(convolve, digits, brief, number, &end);
    if (share > 0.05)
        return;
    for (int i = 0; i < count; i++)
        assert_in_range(abs(number[i]), 0, digits == 1 ? 127 : 32639);
    for (int i = 0; i < windows; i++) {
        const int same = random_below(random, 256);
        for (int k = 0; k < count; k++)
            window[k] = (unsigned char)(i % 3 ? random_below(random, 256) : same);
        const int right = exact_result(convolve, window);
        const int near = near_result(convolve, window, digits, brief, number, &end);
        const bool doubt = ((near & 255) | (int)(end.zone & 255)) == 255;
        if (!doubt && near / 256 != right)
            fail_msg("%d digits, divisor %g, bias %g: %d, not %g", digits,
                     (double)convolve->divisor, (double)convolve->bias, right, near / 256.0);
        tally->certain += !doubt;
        tally->doubtful += doubt;
        tally->others += doubt && near / 256 != right;
    }
}

/* Decimals, which become whole numbers of one byte, and numbers that do not. */
static void test_digits(void **state)
{
    struct tally tally[2] = {{0}};
    uint64_t random = 1;
    for (int round = 0; round < 200; round++) {
        struct gf_convolve convolve = {.bias = (float)(round % 3 * 7)};
        const bool decimals = round % 2;
        float sum = 0;
        convolve.width = 1 + 2 * random_below(&random, 3);
        convolve.height = 1 + 2 * random_below(&random, 3);
        for (int i = 0; i < convolve.width * convolve.height; i++) {
            const int v = random_below(&random, decimals ? 12 : 100000);
            convolve.weight[i] =
                (float)(v - (round % 4 < 2 ? v / 3 : 0)) / (decimals ? 100.0f : 77777.7f);
            sum += convolve.weight[i];
        }
        convolve.divisor = round % 8 < 4 ? sum : 2.5f;
        if (sum < 0.02f)
            continue;
        for (int digits = decimals ? 1 : 2; digits <= 2; digits++)
            try_windows(&convolve, digits, true, &random, &tally[digits - 1]);
    }
    for (int i = 0; i < 2; i++) {
        assert_true(tally[i].certain > 100000);
        assert_true(tally[i].others > 20); /* there is something to see */
        assert_true(tally[i].doubtful < tally[i].certain / 20);
    }
}

/* Large matrices, whose sums are not brief: floats with many roundings on the CPU. */
static void test_large(void **state)
{
    struct tally tally = {0};
    uint64_t random = 2;
    for (int round = 0; round < 24; round++) {
        struct gf_convolve convolve = {.width = 31, .height = 11 + 10 * (round % 3)};
        convolve.bias = (float)(round % 4 * 5);
        for (int i = 0; i < convolve.width * convolve.height; i++) {
            convolve.weight[i] = (float)(random_below(&random, 100000) - round % 2 * 20000) / 7e4f;
            convolve.divisor += convolve.weight[i];
        }
        try_windows(&convolve, 2, false, &random, &tally);
    }
    assert_true(tally.certain > 8000);
    assert_true(tally.doubtful > 100 && tally.doubtful < tally.certain / 20);
}

/* Matrices that have no such numbers. */
static void test_none(void **state)
{
    short number[25];
    struct gf_convolve_digits end;
    struct gf_convolve convolve = {.width = 5, .height = 5, .divisor = 1};
    assert_true(gf_convolve_digits_of(&convolve, 2, true, number, &end) >= 1); /* all are 0 */
    for (int i = 0; i < 25; i++)
        convolve.weight[i] =
            1.0f + (float)i / 7.3f; /* sums that a divisor of 1 does not bring back */
    assert_true(gf_convolve_digits_of(&convolve, 1, true, number, &end) > 0.5);
    convolve.divisor = 100;
    assert_true(gf_convolve_digits_of(&convolve, 1, true, number, &end) > 0.05);
    assert_true(gf_convolve_digits_of(&convolve, 2, true, number, &end) < 0.05);
}

/* Sums next to those where the mean changes, for every divisor. */
static void test_means(void **state)
{
    for (uint32_t n = 257; n < 65536; n += n < 60000 ? 7 : 1) {
        const uint32_t inverse = gf_convolve_inverse(n);
        for (uint32_t mean = 1; mean < 256; mean += n % 3 + 1) {
            const uint32_t change = mean * n - n / 2; /* plus n / 2 it is a multiple of n */
            for (uint32_t sum = change - 1; sum <= change; sum++) {
                const float v = gf_convolve_finish((float)sum, (float)n, 0);
                const uint32_t made = gf_convolve_mean(sum + n / 2, inverse) >> 8;
                if (made != mean - (sum < change) || made != (uint32_t)(v + 0.5f))
                    fail_msg("%u / %u: %u", sum, n, made);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_digits), cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_means), cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
