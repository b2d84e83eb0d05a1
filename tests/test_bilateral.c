/* The bilateral filter against its definition in double precision. */
#include <math.h>

#include "one_stage.h"

struct parameters {
    double sigma_s, sigma_r;
};

/* Mean of the window around (x, y), by channel. */
static void mean_at(const struct gf_image *in, const struct parameters *p, int border, int x, int y,
                    double mean[4])
{
    const int radius = (int)ceil(2 * p->sigma_s), channels = in->format.channels;
    const double most = in->format.bits == 8 ? 255 : 65535;
    double sum[4] = {0}, weights = 0;
    for (int j = -radius; j <= radius; j++) {
        for (int i = -radius; i <= radius; i++) {
            double distance = 0, v[4];
            for (int c = 0; c < channels; c++) {
                v[c] = sample_beyond(in, x + i, y + j, c, border);
                if (c < gf_colour_channels(in->format))
                    distance += pow((v[c] - sample_at(in, x, y, c)) / most, 2);
            }
            const double weight = exp(-(i * i + j * j) / (2 * p->sigma_s * p->sigma_s) -
                                      distance / (2 * p->sigma_r * p->sigma_r));
            weights += weight;
            for (int c = 0; c < channels; c++)
                sum[c] += weight * v[c];
        }
    }
    for (int c = 0; c < channels; c++)
        mean[c] = sum[c] / weights;
}

static void check(const struct gf_image *in, const void *context)
{
    const struct parameters *const p = context;
    const double slack = in->format.bits == 8 ? 0.001 : 0.05;
    for (int border = 0; border < 4; border++) {
        char text[80];
        snprintf(text, sizeof text, "bilateral=%g:%g:%s", p->sigma_s, p->sigma_r,
                 border_names[border]);
        struct gf_image out = chain_result(text, in);
        assert_true(guards_intact(&out));
        for (int y = 0; y < in->format.height; y++) {
            for (int x = 0; x < in->format.width; x++) {
                double mean[4];
                mean_at(in, p, border, x, y, mean);
                for (int c = 0; c < in->format.channels; c++) {
                    const int v = sample_at(&out, x, y, c);
                    if (!(fabs(v - mean[c]) <= 0.5 + slack))
                        fail_msg("%s: %d instead of %g at %d,%d channel %d (%dx%dx%d, %d bits)",
                                 text, v, mean[c], x, y, c, in->format.width, in->format.height,
                                 in->format.channels, in->format.bits);
                }
            }
        }
        picture_free(&out);
    }
}

static void test_definition(void **state)
{
    (void)state;
    static const struct {
        struct parameters p;
        double samples_most;
    } cases[] = {
        {{2, 0.1}, 4300}, {{0.1, 0.1}, 4300}, {{2, 0.001}, 60}, {{2, 10}, 60},
        {{7.3, 0.3}, 30}, {{50, 0.2}, 2},     {{50, 10}, 2},    {{0.5, 0.001}, 4300},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        each_stage_picture(cases[i].samples_most, check, &cases[i].p);
}

/* Rows wider than what is computed at once, and of several channels. */
static void test_wide(void **state)
{
    (void)state;
    static const struct parameters p = {1, 0.2};
    for (int k = 0; k < 8; k++) {
        struct gf_image in =
            picture_random(format_of(k ? 71 : 1100, 3, 1 + k % 4, k < 4 ? 8 : 16), 0, 3);
        check(&in, &p);
        picture_free(&in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_wide),
    };
    return cmocka_run_group_tests_name("bilateral", tests, NULL, NULL);
}
