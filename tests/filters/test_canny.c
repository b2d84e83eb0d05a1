/* canny's hysteresis, against a flood pixel by pixel: on spirals, which no fixed number of sweeps
 * gets through, and on noise; in bands, and on the GPU where there is one. */
#include <stdlib.h>

#include "support.h"

static struct gf_image edges(const struct gf_image *in, double low, double high,
                             enum gf_device_kind device, int band_rows)
{
    struct gf_options options = gf_options_default();
    struct gf_error error = {0};
    struct gf_image out;
    char chain[64];
    snprintf(chain, sizeof chain, "canny=%g:%g", low, high);
    options.device = device;
    options.band_rows = band_rows;
    assert_ok(chain, pipeline_result(chain, &options, in, &out, &error), &error);
    assert_true(out.format.channels == 1 && out.format.bits == in->format.bits);
    return out;
}

/* With one threshold all thin edges are strong. Those above `low` that touch, by way of others, one
 * above `high`, are what canny=low:high leaves. */
static struct gf_image flooded(const struct gf_image *in, double low, double high, int *gained)
{
    struct gf_image weak = edges(in, low, low, GF_DEVICE_CPU, 0);
    const struct gf_image out = edges(in, high, high, GF_DEVICE_CPU, 0);
    const int width = in->format.width, height = in->format.height;
    int *const stack = malloc((size_t)(width * height) * sizeof *stack);
    int depth = 0;
    assert_non_null(stack);
    *gained = 0;
    for (int i = 0; i < width * height; i++) {
        if (sample_at(&out, i % width, i / width, 0))
            stack[depth++] = i;
    }
    while (depth) {
        const int at = stack[--depth];
        for (int k = 0; k < 9; k++) {
            const int x = at % width + k % 3 - 1, y = at / width + k / 3 - 1;
            if (x < 0 || y < 0 || x >= width || y >= height || sample_at(&out, x, y, 0) ||
                !sample_at(&weak, x, y, 0))
                continue;
            sample_set(&out, x, y, 0, sample_at(&weak, x, y, 0));
            stack[depth++] = y * width + x;
            ++*gained;
        }
    }
    free(stack);
    picture_free(&weak);
    return out;
}

static void check(const char *label, const struct gf_image *in, double low, double high, int least)
{
    const char *why = "";
    int gained;
    struct gf_image expected = flooded(in, low, high, &gained);
    if (gained < least)
        fail_msg("%s: only %d pixels are connected with strong ones", label, gained);
    for (int device = 0; device < 2; device++) {
        if (device && gf_device_count(&why) < 1)
            break;
        for (int band_rows = 0; band_rows < 40; band_rows += 13) {
            struct gf_image out =
                edges(in, low, high, device ? GF_DEVICE_CUDA : GF_DEVICE_CPU, band_rows);
            assert_same(label, &out, &expected);
            picture_free(&out);
        }
    }
    picture_free(&expected);
}

/* A dark path of 4 pixels that turns inwards, 4 pixels apart; its first side begins white. */
static void draw_spiral(const struct gf_image *image, int dark)
{
    enum { STEP = 8, WIDE = 4 };
    const int size = image->format.width, max = image->format.bits == 8 ? 255 : 65535;
    int x = 3, y = 3, length = size - 10;
    for (int side = 0; length > STEP; side++) {
        const int dx = side % 4 == 0 ? 1 : side % 4 == 2 ? -1 : 0;
        const int dy = side % 4 == 1 ? 1 : side % 4 == 3 ? -1 : 0;
        for (int i = 0; i < length; i++, x += dx, y += dy) {
            const int v = side ? dark : max - (max - dark) * i / length;
            for (int k = 0; k < WIDE * WIDE; k++) {
                for (int c = 0; c < image->format.channels; c++)
                    sample_set(image, x + k % WIDE, y + k / WIDE, c, v);
            }
        }
        length -= side % 2 ? STEP : side ? 0 : STEP;
    }
}

static void test_spirals(void **state)
{
    for (int bits = 8; bits <= 16; bits += 8) {
        for (int channels = 1; channels <= 3; channels += 2) {
            struct gf_image image = picture_new(format_of(150, 150, channels, bits), 0);
            for (int y = 0; y < 150; y++) {
                for (int x = 0; x < 150 * channels; x++)
                    sample_set(&image, x / channels, y, x % channels, 0);
            }
            draw_spiral(&image, bits == 8 ? 40 : 40 * 257);
            check("spiral", &image, 30, 400, 2000);
            picture_free(&image);
        }
    }
}

static void test_noise(void **state)
{
    static const int widths[] = {1, 31, 64, 65, 200};
    for (int i = 0; i < 5; i++) {
        for (int bits = 8; bits <= 16; bits += 8) {
            struct gf_image image = picture_random(format_of(widths[i], 83, 3, bits), 0, 7);
            check("noise", &image, 100, 700, i ? 10 : 0);
            picture_free(&image);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spirals),
                                       cmocka_unit_test(test_noise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
