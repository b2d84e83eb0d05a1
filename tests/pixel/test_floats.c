/* Pictures as numbers for networks: against the formula, at both depths and in both layouts. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "gpufilter/gpufilter.h"

enum { WIDTH = 37, HEIGHT = 5, PITCH = 340 };

static struct gf_error failure;
static unsigned char pixels[PITCH * HEIGHT];
static float values[WIDTH * HEIGHT * 4];
static const float mean[] = {0.485f, 0.456f, 0.406f, 0.5f},
                   deviation[] = {0.229f, 0.224f, 0.225f, 0.25f};

static struct gf_image picture(int channels, int bits)
{
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (unsigned char)(i * 151 + i / 7);
    return (struct gf_image){{WIDTH, HEIGHT, channels, bits}, PITCH, pixels, false};
}

static int sample_of(const struct gf_image *image, int x, int y, int c)
{
    const size_t at = (size_t)y * PITCH, i = (size_t)(x * image->format.channels + c);
    uint16_t word;
    memcpy(&word, pixels + at + 2 * i, sizeof word);
    return image->format.bits == 8 ? pixels[at + i] : word;
}

static void assert_numbers(const struct gf_image *image, enum gf_floats layout, int channels,
                           bool scaled)
{
    const bool gray = image->format.channels == 1;
    const float most = image->format.bits == 8 ? 255 : 65535;
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            for (int c = 0; c < channels; c++) {
                const float part = (float)sample_of(image, x, y, gray ? 0 : c) / most;
                const float expected = scaled ? (part - mean[c]) / deviation[c] : part;
                const int at = layout == GF_FLOATS_NHWC ? (y * WIDTH + x) * channels + c
                                                        : (c * HEIGHT + y) * WIDTH + x;
                if (memcmp(&values[at], &expected, sizeof expected))
                    fail_msg("%d channels of %d bits, layout %d: %g at %d,%d, not %g", channels,
                             image->format.bits, (int)layout, (double)values[at], x, y,
                             (double)expected);
            }
        }
    }
}

static void test_formula(void **state)
{
    for (int channels = 1; channels <= 4; channels++) {
        for (int bits = 8; bits <= 16; bits += 8) {
            const struct gf_image image = picture(channels, bits);
            for (int kind = 0; kind < (channels % 2 ? 4 : 2); kind++) {
                const enum gf_floats layout = kind % 2 ? GF_FLOATS_NCHW : GF_FLOATS_NHWC;
                const int asked = kind / 2 * 3, written = asked ? asked : channels;
                assert_int_equal(
                    gf_image_to_floats(&image, layout, asked, mean, deviation, values, &failure),
                    GF_OK);
                assert_numbers(&image, layout, written, true);
                assert_int_equal(
                    gf_image_to_floats(&image, layout, asked, NULL, NULL, values, &failure), GF_OK);
                assert_numbers(&image, layout, written, false);
            }
        }
    }
}

static void assert_refused(const struct gf_image *image, int layout, const float *means,
                           const float *deviations, const char *words)
{
    assert_int_equal(
        gf_image_to_floats(image, (enum gf_floats)layout, 0, means, deviations, values, &failure),
        GF_ERROR_USAGE);
    if (!strstr(failure.text, words))
        fail_msg("\"%s\" does not say \"%s\"", failure.text, words);
}

static void test_mistakes(void **state)
{
    const float zero[] = {1, 0, 1}, infinite[] = {0, 0, INFINITY}, nan[] = {NAN, 1, 1};
    const struct gf_image image = picture(3, 8), empty = {.format = {WIDTH, HEIGHT, 3, 8}};
    assert_refused(&image, 2, NULL, NULL, "layout=2 is no layout");
    assert_refused(&image, 0, infinite, NULL, "mean=inf of channel 2");
    assert_refused(&image, 0, NULL, zero, "deviation=0 of channel 1");
    assert_refused(&image, 0, NULL, nan, "channel 0 is not a finite positive number");
    assert_refused(&empty, 0, NULL, NULL, "picture: no pixels");
    assert_refused(NULL, 0, NULL, NULL, "image is NULL");
    assert_int_equal(gf_image_to_floats(&image, GF_FLOATS_NHWC, 0, NULL, NULL, NULL, NULL),
                     GF_ERROR_USAGE);
}

static void test_other_channels(void **state)
{
    static const int table[][2] = {{3, 1}, {2, 3}, {4, 3}, {1, 2}, {1, 4}, {3, -1}, {3, 5}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct gf_image image = picture(table[i][0], 8);
        assert_int_equal(
            gf_image_to_floats(&image, GF_FLOATS_NHWC, table[i][1], NULL, NULL, values, &failure),
            GF_ERROR_UNFIT);
        assert_non_null(strstr(failure.text, "use grayscale or flatten"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_formula),
                                       cmocka_unit_test(test_mistakes),
                                       cmocka_unit_test(test_other_channels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
