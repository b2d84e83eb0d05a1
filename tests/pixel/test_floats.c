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
    return (struct gf_image){
        {WIDTH, HEIGHT, channels, bits, GF_SAMPLES_INTEGER}, PITCH, pixels, false};
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
    const struct gf_image image = picture(3, 8),
                          empty = {.format = {WIDTH, HEIGHT, 3, 8, GF_SAMPLES_INTEGER}};
    assert_refused(&image, 3, NULL, NULL, "layout=3 is no layout");
    assert_refused(&image, 2, NULL, NULL, "patch=0, merge=0 and temporal=0 are not those of");
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

/* Returns the nearest number with so many bits of mantissa, to even ones between two. */
static double rounded(double v, int bits, int least)
{
    int exponent;
    frexp(v, &exponent);
    const double step = ldexp(1, exponent - bits > least ? exponent - bits : least);
    return nearbyint(v / step) * step;
}

static double half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31 ? INFINITY
                        : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                       : ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

static double bfloat(uint16_t bits)
{
    const uint32_t whole = (uint32_t)bits << 16;
    float v;
    memcpy(&v, &whole, sizeof v);
    return (double)v;
}

/* The definition, one number after the other: for pictures of 1 to 3 patches in a block. */
static void test_patches(void **state)
{
    static const int table[][5] = {
        {3, 2, 2, 3, 3}, {7, 1, 1, 3, 3}, {2, 3, 1, 1, 3}, {4, 1, 3, 4, 0}, {1, 2, 2, 2, 0}};
    for (size_t i = 0; i < 2 * sizeof table / sizeof *table; i++) {
        const int *const row = table[i / 2], patch = row[0], merge = row[1], temporal = row[2],
                         side = patch * merge;
        static unsigned char samples[40 * 40 * 8];
        static float is[40 * 40 * 16], planes[40 * 40 * 4];
        const struct gf_image image = {
            {5 * side, 2 * side, row[3], i % 2 ? 8 : 16, GF_SAMPLES_INTEGER},
            (size_t)(5 * side * row[3] * 2),
            samples,
            false};
        const int channels = row[4] ? row[4] : row[3], width = 5 * side, height = 2 * side;
        assert_true(width <= 40 && width * height * channels * temporal <= 40 * 40 * 16);
        for (size_t k = 0; k < sizeof samples; k++)
            samples[k] = (unsigned char)(k * 151 + k / 7);
        struct gf_numbers form = {
            .layout = GF_FLOATS_NCHW, .channels = row[4], .mean = mean, .deviation = deviation};
        assert_int_equal(gf_image_to_numbers(&image, &form, planes, &failure), GF_OK);
        form.layout = GF_FLOATS_PATCHES;
        form.patch = patch;
        form.merge = merge;
        form.temporal = temporal;
        assert_int_equal(gf_image_to_numbers(&image, &form, is, &failure), GF_OK);
        int at = 0;
        for (int block = 0; block < 2 * 5; block++)
            for (int part = 0; part < merge * merge; part++)
                for (int c = 0; c < channels; c++)
                    for (int t = 0; t < temporal; t++)
                        for (int pixel = 0; pixel < patch * patch; pixel++) {
                            const int x = block % 5 * side + part % merge * patch + pixel % patch,
                                      y = block / 5 * side + part / merge * patch + pixel / patch;
                            assert_true(is[at++] == planes[(c * height + y) * width + x]);
                        }
        assert_int_equal(at, width * height * channels * temporal);
    }
}

static void test_mistakes_of_patches(void **state)
{
    const struct gf_image image = picture(3, 8);
    const struct {
        struct gf_numbers form;
        enum gf_status status;
        const char *words;
    } table[] = {
        {{.layout = GF_FLOATS_PATCHES, .patch = -1}, GF_ERROR_USAGE, "patch=-1"},
        {{.layout = GF_FLOATS_PATCHES, .patch = 1, .merge = -2}, GF_ERROR_USAGE, "merge=-2"},
        {{.layout = GF_FLOATS_PATCHES, .patch = 1, .temporal = 1025}, GF_ERROR_USAGE, "=1025"},
        {{.layout = GF_FLOATS_NCHW, .patch = 1}, GF_ERROR_USAGE, "of the layout NCHW"},
        {{.temporal = 2}, GF_ERROR_USAGE, "of the layout NHWC"},
        {{.layout = GF_FLOATS_PATCHES, .patch = 5}, GF_ERROR_UNFIT, "37x5 pixels are no multiples"},
        {{.layout = GF_FLOATS_PATCHES, .patch = 37}, GF_ERROR_UNFIT, "of patch=37 x merge=1"},
        {{.layout = GF_FLOATS_PATCHES, .patch = 1 << 20, .merge = 1 << 20}, GF_ERROR_UNFIT, ""}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_int_equal(gf_image_to_numbers(&image, &table[i].form, values, &failure),
                         table[i].status);
        assert_non_null(strstr(failure.text, table[i].words));
    }
}

/* Numbers of 16 bits and bytes are the nearest ones to those of single precision. */
static void test_types(void **state)
{
    static uint16_t words[WIDTH * HEIGHT * 4];
    static unsigned char bytes[WIDTH * HEIGHT * 4];
    const float tiny[] = {3e6f, 5e4f,
                          1e-6f}; /* below the least normal half, and above the largest */
    for (int bits = 8; bits <= 16; bits += 8) {
        const struct gf_image image = picture(3, bits);
        for (int kind = 0; kind < 3; kind++) {
            struct gf_numbers form = {.layout = GF_FLOATS_NCHW,
                                      .scale = kind ? 255 : 0,
                                      .mean = kind ? mean : NULL,
                                      .deviation = kind == 1 ? deviation
                                                   : kind    ? tiny
                                                             : NULL};
            assert_int_equal(gf_image_to_numbers(&image, &form, values, &failure), GF_OK);
            form.type = GF_NUMBER_FLOAT16;
            assert_int_equal(gf_image_to_numbers(&image, &form, words, &failure), GF_OK);
            for (int i = 0; i < WIDTH * HEIGHT * 3; i++) {
                const double v = rounded((double)values[i], 11, -24);
                assert_true(half(words[i]) == (fabs(v) > 65504 ? copysign(INFINITY, v) : v));
            }
            form.type = GF_NUMBER_BFLOAT16;
            assert_int_equal(gf_image_to_numbers(&image, &form, words, &failure), GF_OK);
            for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
                assert_true(bfloat(words[i]) == rounded((double)values[i], 8, -133));
        }
        const struct gf_numbers plain = {.type = GF_NUMBER_UINT8};
        assert_int_equal(gf_image_to_numbers(&image, &plain, bytes, &failure), GF_OK);
        for (int i = 0; i < WIDTH * HEIGHT * 3; i++) {
            const int v = sample_of(&image, i / 3 % WIDTH, i / 3 / WIDTH, i % 3);
            assert_int_equal(bytes[i], bits == 8 ? v : (v + 128) / 257);
        }
    }
}

static void test_scale(void **state)
{
    const struct gf_image image = picture(1, 8);
    const struct gf_numbers form = {.scale = 255};
    assert_int_equal(gf_image_to_numbers(&image, &form, values, &failure), GF_OK);
    for (int x = 0; x < WIDTH; x++)
        assert_true(values[x] == pixels[x]);
    struct gf_numbers wrong[] = {{.scale = -1},
                                 {.scale = NAN},
                                 {.type = (enum gf_number)4},
                                 {.type = GF_NUMBER_UINT8, .mean = mean},
                                 {.type = GF_NUMBER_UINT8, .scale = 255}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(gf_image_to_numbers(&image, &wrong[i], values, &failure), GF_ERROR_USAGE);
}

/* Every sample comes back from its float, and every half becomes the nearest sample. */
static void test_from_numbers(void **state)
{
    enum { ALL = 65536, LARGEST = 0x3c00 };
    static float floats[ALL];
    static uint16_t from[ALL], samples[ALL];
    const struct gf_image all = {
        {256, 256, 1, 16, GF_SAMPLES_INTEGER}, 512, (unsigned char *)from, false};
    const struct gf_image back = {
        {256, 256, 1, 16, GF_SAMPLES_INTEGER}, 512, (unsigned char *)samples, false};
    const struct gf_image halves = {
        {1, LARGEST + 1, 1, 16, GF_SAMPLES_INTEGER}, 2, (unsigned char *)samples, false};
    for (int i = 0; i < ALL; i++)
        from[i] = (uint16_t)i;
    const struct gf_numbers form = {.scale = 255};
    assert_int_equal(gf_image_to_numbers(&all, &form, floats, &failure), GF_OK);
    assert_int_equal(gf_image_from_numbers(floats, GF_NUMBER_FLOAT32, 0, 255, &back, &failure),
                     GF_OK);
    assert_memory_equal(samples, from, sizeof from);
    assert_int_equal(gf_image_from_numbers(from, GF_NUMBER_FLOAT16, 0, 1, &halves, &failure),
                     GF_OK);
    for (int i = 0; i <= LARGEST; i++)
        assert_int_equal(samples[i], (int)nearbyint(65535 * half((uint16_t)i)));
}

static void test_ranges(void **state)
{
    uint16_t samples[4];
    const struct gf_image four = {{2, 1, 2, 16, GF_SAMPLES_INTEGER},
                                  8,
                                  (unsigned char *)samples,
                                  false},
                          bytes = {
                              {2, 1, 2, 8, GF_SAMPLES_INTEGER}, 8, (unsigned char *)samples, false};
    const float some[] = {-1, 0, 1, 1.5f}, far[] = {0, 0, 0, 255}, nan[] = {0, 0, NAN, 0},
                edge[] = {0, 0, 2, 0};
    assert_int_equal(gf_image_from_numbers(some, GF_NUMBER_FLOAT32, -1, 1, &four, &failure), GF_OK);
    assert_true(samples[0] == 0 && samples[1] == 32768 && samples[2] == 65535 &&
                samples[3] == 65535); /* 32767.5 is between two */
    assert_int_equal(gf_image_from_numbers(far, GF_NUMBER_FLOAT32, 0, 1, &four, &failure),
                     GF_ERROR_UNFIT);
    assert_string_equal(failure.text,
                        "picture: the number 255 at 1,0 is far outside the range 0..1");
    assert_int_equal(gf_image_from_numbers(nan, GF_NUMBER_FLOAT32, 0, 1, &four, &failure),
                     GF_ERROR_UNFIT);
    assert_int_equal(gf_image_from_numbers(edge, GF_NUMBER_FLOAT32, 1e-16f, 1, &four, &failure),
                     GF_ERROR_UNFIT);
    assert_string_equal(failure.text,
                        "picture: the number 2 at 1,0 is far outside the range 1e-16..1");
    assert_int_equal(gf_image_from_numbers(some, GF_NUMBER_FLOAT32, 1, 1, &four, &failure),
                     GF_ERROR_USAGE);
    assert_int_equal(gf_image_from_numbers(some, GF_NUMBER_UINT8, 0, 1, &four, &failure),
                     GF_ERROR_USAGE);
    assert_int_equal(gf_image_from_numbers(some, GF_NUMBER_FLOAT32, 0, 1, &bytes, &failure),
                     GF_ERROR_USAGE);
}

/* Floats are taken as they are, in both layouts, also those whose rows are longer than a piece. */
static void test_pictures_of_floats(void **state)
{
    enum { WIDE = 700, ROWS = 3, COUNT = WIDE * ROWS * 3 };
    static const enum gf_number types[] = {GF_NUMBER_FLOAT32, GF_NUMBER_FLOAT16,
                                           GF_NUMBER_BFLOAT16};
    static float given[COUNT], made[COUNT];
    static uint16_t narrow[COUNT], again[COUNT];
    for (int i = 0; i < COUNT; i++)
        given[i] = (float)(i % 97 - 40) / 16; /* all types hold these */
    given[5] = NAN, given[6] = INFINITY, given[7] = -INFINITY;
    struct gf_image image = {
        {WIDE, ROWS, 3, 32, GF_SAMPLES_FLOAT}, 0, (unsigned char *)given, false};
    image.pitch = gf_row_bytes(image.format);
    for (int i = 0; i < 6; i++) {
        const struct gf_numbers form = {.type = types[i / 2],
                                        .layout = i % 2 ? GF_FLOATS_NCHW : GF_FLOATS_NHWC};
        assert_ok("numbers",
                  gf_image_to_numbers(&image, &form, i < 2 ? (void *)made : narrow, &failure),
                  &failure);
        for (int k = 0; k < COUNT; k++) {
            const int to = i % 2 ? k % 3 * WIDE * ROWS + k / 3 : k;
            const uint16_t upper = narrow[to];
            const uint32_t bits = (uint32_t)upper << 16;
            float v = made[to];
            if (i >= 4)
                memcpy(&v, &bits, sizeof v);
            if (i < 2 || i >= 4)
                assert_true(v == given[k] || (isnan(v) && isnan(given[k])));
        }
        if (i != 2)
            continue;
        /* Halves are a picture, too. */
        struct gf_image half = image;
        half.format.bits = 16, half.pitch = gf_row_bytes(half.format);
        half.data = (unsigned char *)narrow;
        assert_ok("halves", gf_image_to_numbers(&half, &form, again, &failure), &failure);
        assert_memory_equal(narrow, again, sizeof again);
        assert_true(narrow[5] == 0x7e00 && narrow[6] == 0x7c00 && narrow[8] == 0xc000);
    }
    const float offset[] = {1, 1, 1}, scale[] = {2, 2, 2};
    assert_ok("scaled",
              gf_image_to_floats(&image, GF_FLOATS_NHWC, 3, offset, scale, made, &failure),
              &failure);
    assert_true(made[0] == (given[0] - 1) / 2 && made[COUNT - 1] == (given[COUNT - 1] - 1) / 2);
    unsigned char bytes[COUNT];
    const struct gf_numbers of_bytes = {.type = GF_NUMBER_UINT8};
    assert_ok("bytes", gf_image_to_numbers(&image, &of_bytes, bytes, &failure), &failure);
    assert_true(bytes[0] == 0 && bytes[5] == 0 && bytes[6] == 255 && bytes[7] == 0 &&
                bytes[48] == 128 && bytes[60] == 255); /* 0.5 is 127.5, and the even one is 128 */
    /* And back: numbers become pictures of floats without limits. */
    image.data = (unsigned char *)made;
    assert_ok("from", gf_image_from_numbers(given, GF_NUMBER_FLOAT32, -1, 1, &image, &failure),
              &failure);
    assert_true(made[0] == (given[0] + 1) / 2 && isnan(made[5]) && isinf(made[6]) &&
                made[COUNT - 1] == (given[COUNT - 1] + 1) / 2);
    assert_int_equal(gf_image_from_numbers(given, GF_NUMBER_FLOAT32, 1, 1, &image, &failure),
                     GF_ERROR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formula),      cmocka_unit_test(test_pictures_of_floats),
        cmocka_unit_test(test_patches),      cmocka_unit_test(test_mistakes_of_patches),
        cmocka_unit_test(test_types),        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_from_numbers), cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_mistakes),     cmocka_unit_test(test_other_channels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
