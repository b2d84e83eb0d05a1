/* The bilateral filter against its definition in double precision. */
#include <math.h>

#include "filters/bilateral/bilateral.h"
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
    static const struct parameters p = {1, 0.2};
    for (int k = 0; k < 8; k++) {
        struct gf_image in =
            picture_random(format_of(k ? 71 : 1100, 3, 1 + k % 4, k < 4 ? 8 : 16), 0, 3);
        check(&in, &p);
        picture_free(&in);
    }
}

/* The mean of a window as the kernel for 8 bits first computes it: samples less 128, rows weighted
 * by a power of their own, and for the GPU's power one that errs to the side that shifts the mean,
 * by about as much as it may. */
static float near_mean(const struct gf_image *in, const struct gf_bilateral_weights *weights, int x,
                       int y, int channel)
{
    const int radius = weights->radius, channels = in->format.channels;
    float sum = 0, total = 0;
    for (int j = -radius; j <= radius; j++) {
        float row_sum = 0, row_total = 0;
        for (int i = -radius; i <= radius; i++) {
            float distance = 0;
            for (int c = 0; c < channels; c++) {
                const float apart =
                    (float)(sample_beyond(in, x + i, y + j, c, 0) - sample_at(in, x, y, c));
                distance += apart * apart;
            }
            const int v = sample_beyond(in, x + i, y + j, channel, 0);
            const float error = v > sample_at(in, x, y, channel) ? 2e-6f : -2e-6f;
            const float w =
                exp2f(fmaf(distance, weights->colour, weights->space[abs(i)])) * (1 + error);
            row_total += w;
            row_sum = fmaf(w, (float)v - 128.0f, row_sum);
        }
        total = fmaf(weights->factor[abs(j)], row_total, total);
        sum = fmaf(weights->factor[abs(j)], row_sum, sum);
    }
    return sum * (1.0f / total) + 128.0f;
}

/* Where such a mean is further from a half than the margin, the sample is the CPU's, and there are
 * few others. */
static void check_margin(const char *text, const struct gf_image *in)
{
    struct gf_chain chain;
    struct gf_stage stage;
    struct gf_error error = {0};
    int in_doubt = 0;
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    assert_ok(text,
              gf_stage_bind(&stage, chain.item[0].filter, chain.item[0].params, in->format, &error),
              &error);
    assert_ok(text, gf_stage_prepare(&stage, &error), &error);
    const struct gf_bilateral_weights *const weights = stage.constants;
    assert_null(gf_bilateral_near_refuses(&stage));
    assert_true(weights->margin > 0 && weights->margin < 0.003f);
    struct gf_image out = chain_result(text, in);
    for (int i = 0; i < in->format.width * in->format.height * in->format.channels; i++) {
        const int pixel = i / in->format.channels, c = i % in->format.channels;
        const int x = pixel % in->format.width, y = pixel / in->format.width;
        const float raised = near_mean(in, weights, x, y, c) + 0.5f;
        if (fabsf(raised - floorf(raised) - 0.5f) < 0.5f - weights->margin)
            assert_int_equal(sample_at(&out, x, y, c), (int)floorf(raised));
        else
            in_doubt++;
    }
    assert_in_range(in_doubt, 0, in->format.width * in->format.height * in->format.channels / 50);
    picture_free(&out);
    gf_stage_release(&stage);
    gf_chain_free(&chain);
}

static void test_margin(void **state)
{
    static const char *const chains[] = {"bilateral=2:0.1", "bilateral=3:0.05", "bilateral=1:10",
                                         "bilateral=0.4:0.5", "bilateral=2.5:0.02"};
    for (int channels = 1; channels <= 3; channels += 2) {
        struct gf_image noise = picture_random(format_of(101, 67, channels, 8), 0, 5);
        struct gf_image smooth = picture_random(format_of(101, 67, channels, 8), 0, 6);
        for (int i = 0; i < 101 * 67 * channels; i++)
            smooth.data[i] = (unsigned char)(smooth.data[i] % 16 + i / channels % 101 * 2);
        for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
            check_margin(chains[i], &noise);
            check_margin(chains[i], &smooth);
        }
        picture_free(&noise);
        picture_free(&smooth);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_margin),
    };
    return cmocka_run_group_tests_name("bilateral", tests, NULL, NULL);
}
