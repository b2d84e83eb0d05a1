/* The stencils on a GPU against the CPU backend where their kernels change with a parameter, which
 * the self-test's extremes and defaults step over: radii at which another kernel takes over, every
 * variant, every border, in bands. Skipped where there is no GPU. */
#include "chain/chain.h"
#include "support.h"

/* Parameters; a border and a variant are appended. */
static const char *const chains[] = {
    "blur=0.3",
    "blur=1",
    "blur=1.01",
    "blur=2",
    "blur=2.01",
    "blur=3.33",
    "blur=3.34",
    "blur=5.33",
    "blur=5.34",
    "blur=0.22",
    "blur=0.6",
    "blur=8",
    "blur=9",
    "blur=10.6",
    "blur=12",
    "blur=21.33",
    "blur=21.4",
    "unsharp=0.5",
    "unsharp=1",
    "unsharp=2",
    "unsharp=3",
    "unsharp=5",
    "unsharp=7",
    "unsharp=12",
    "unsharp=20",
    "unsharp=1:2:0.03:onset=soft",
    "unsharp=9:2:0.03:onset=soft",
    "boxblur=0",
    "boxblur=1",
    "boxblur=2",
    "boxblur=3",
    "boxblur=4",
    "boxblur=5",
    "boxblur=6",
    "boxblur=7",
    "boxblur=8",
    "boxblur=16",
    "boxblur=40",
    "boxblur=127",
    "boxblur=128",
    "median=1",
    "median=2",
    "median=3",
    "median=5",
    "convolve=1 2 3/4 5 -6/7 8 9",
    "convolve=1 2 -3 4 5/-1 2 3 4 5.5/5 4 3 2 1:divisor=7:bias=3",
    "convolve=1 2 3 4 5 6 7/-1 2 -3 4 -5 6 7/7 6 5 4 3 2 1",
    "convolve=1 200 3/-400 5 6/7 8 900:divisor=17.5",
    "convolve=0.5 0.25 1/-2 5.125 0.5/1 2 3:bias=-20",
    "convolve=0.1 0.2 0.3/0.4 0.5 0.6/0.7 0.8 0.9",
    /* Halves of whole numbers as often as not, which tenths only nearly make. */
    "convolve=0.1 0.2 0.3:divisor=1.2",
    "convolve=0.1 0.2 0.3 0.1 0.3/0.2 0.1 -0.1 0.4 0.1/0.3 0.2 0.1 0.2 -0.3:divisor=-2:bias=200",
    "convolve=0.1 0.2 0.3 0.1 0.3 0.4 0.6/0.2 0.1 0.1 0.4 0.1 0.3 0.2/0.3 0.1 0.1 0.2 0.4 0.2 "
    "0.1:divisor=4",
    "convolve=1 2 3/4 -5 6/7 8 -19:divisor=2:bias=128",
    "convolve=127 -128 3 4 5/1 2 3 4 5/-7 6 5 4 3:divisor=32",
    "convolve=0.25 0.5 -0.75/1.25 2 0.5/3 0.25 0.25:divisor=6",
    "lensblur=8",
    "lensblur=15.5",
    "lensblur=16.3",
    "lensblur=30",
    "lensblur=100",
    "motionblur=30:20",
    "motionblur=28.5:135",
    "motionblur=31:90",
    "motionblur=60:30",
    "motionblur=200:45",
    "motionblur=100:90",
    "convolve=1/2/3/4/5/6/7/8/9/8/7/6/5/4/3/2/1",
    "convolve=1/2/3/4/5/6/7/8/9/1/9/8/7/6/5/4/3/2/1",
    "convolve=1 2 3 4 5 6 7 8 9 -9 -8 -7 -6 -5 -4 300 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7:divisor=100",
    /* Windows of one and several chunks and runs of the kernels, and longer than the picture. */
    "dilate=0",
    "dilate=1:0",
    "erode=0:1",
    "erode=2:1",
    "dilate=3:2",
    "dilate=3",
    "erode=4",
    "erode=5:7",
    "dilate=8:15",
    "dilate=15:8",
    "erode=17:16",
    "dilate=33:48",
    "erode=60:31",
    "dilate=101:130",
    "erode=250:0",
    "morphology=open:1",
    "morphology=close:1",
    "morphology=tophat:1",
    "morphology=blackhat:1",
    "morphology=gradient:1",
    "morphology=open:2",
    "morphology=close:2",
    "morphology=tophat:2",
    "morphology=open:3",
    "morphology=blackhat:3",
    "morphology=close:4",
    "morphology=tophat:4",
    "morphology=blackhat:3:1",
};
static const char *const borders[] = {"edge", "reflect", "wrap", "constant"};

/* Of pictures that several blocks of a kernel make side by side or one below the other. */
static const char *const large_chains[] = {
    "dilate=1:2",    "erode=7:3",         "dilate=20:33",          "erode=120:90",
    "dilate=250",    "erode=0:250",       "morphology=open:1",     "morphology=blackhat:1",
    "lensblur=15.5", "morphology=open:3", "morphology=blackhat:4",
};

enum { WIDTH = 203, HEIGHT = 67, BAND_ROWS = 24, LARGE_BAND_ROWS = 600 };

/* False: the variant refuses it. */
static bool run(const char *text, enum gf_device_kind device, const struct gf_image *in,
                struct gf_image *out)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline = NULL;
    struct gf_error error = {0};
    options.device = device;
    options.band_rows = in->format.height > LARGE_BAND_ROWS ? LARGE_BAND_ROWS : BAND_ROWS;
    assert_ok(text, gf_pipeline_open(text, &options, &pipeline, &error), &error);
    const enum gf_status status = gf_pipeline_run_image(pipeline, in, out, &error);
    gf_pipeline_close(pipeline);
    if (status != GF_ERROR_UNFIT && status != GF_ERROR_UNAVAILABLE)
        assert_ok(text, status, &error);
    return !status;
}

static void check_chain(const char *chain, const char *border, const struct gf_image *in)
{
    struct gf_chain parsed;
    struct gf_error error = {0};
    char text[300];
    assert_ok(chain, gf_chain_parse(chain, &parsed, &error), &error);
    const struct gf_filter *const filter = parsed.item[0].filter;
    gf_chain_free(&parsed);
    struct gf_image expected = {0};
    snprintf(text, sizeof text, "%s:border=%s", chain, border);
    assert_true(run(text, GF_DEVICE_CPU, in, &expected));
    /* A filter of parts alone has no variants. */
    for (int v = 0; !v || gf_filter_variant_at(filter, v); v++) {
        struct gf_image result = {0};
        const struct gf_variant *const variant = gf_filter_variant_at(filter, v);
        snprintf(text, sizeof text, "%s:border=%s%s%s", chain, border, variant ? ":variant=" : "",
                 variant ? variant->name : "");
        if (run(text, GF_DEVICE_CUDA, in, &result)) {
            const struct difference d = compare(&result, &expected);
            if (d.most > (variant ? gf_variant_tolerance(variant, in->format.bits) : 0))
                fail_msg("%s on %d channels of %d bits: differs by %d at %d, %d, channel %d", text,
                         in->format.channels, in->format.bits, d.most, d.x, d.y, d.channel);
        } else {
            assert_true(v > 0);
        }
        gf_image_free(&result);
    }
    gf_image_free(&expected);
}

static void check_format(int channels, int bits)
{
    const char *why = "";
    if (!gf_device_count(&why))
        skip();
    struct gf_image in = picture_random(format_of(WIDTH, HEIGHT, channels, bits), 0, 7);
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        const int border = (int)i + channels + bits / 8;
        check_chain(chains[i], borders[border % 4], &in);
        check_chain(chains[i], borders[(border + 1) % 4], &in);
    }
    picture_free(&in);
}

static void check_large(int width, int height, int channels, int bits)
{
    const char *why = "";
    if (!gf_device_count(&why))
        skip();
    struct gf_image in = picture_random(format_of(width, height, channels, bits), 0, 3);
    for (size_t i = 0; i < sizeof large_chains / sizeof *large_chains; i++)
        check_chain(large_chains[i], borders[(i + (size_t)channels) % 4], &in);
    picture_free(&in);
}

static void test_wide(void **state)
{
    check_large(4099, 5, 3, 8);
    check_large(4099, 5, 1, 8);
    check_large(2050, 3, 4, 16);
}

static void test_tall(void **state)
{
    check_large(37, 1300, 3, 8);
    check_large(9, 1300, 1, 16);
}

static void test_gray8(void **state)
{
    check_format(1, 8);
}

static void test_rgb8(void **state)
{
    check_format(3, 8);
}

static void test_rgb16(void **state)
{
    check_format(3, 16);
}

static void test_gray_alpha16(void **state)
{
    check_format(2, 16);
}

static void test_rgba8(void **state)
{
    check_format(4, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gray8), cmocka_unit_test(test_rgb8),
        cmocka_unit_test(test_rgb16), cmocka_unit_test(test_gray_alpha16),
        cmocka_unit_test(test_rgba8), cmocka_unit_test(test_wide),
        cmocka_unit_test(test_tall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
