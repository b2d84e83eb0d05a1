/* Radiance HDR: files made here, of old and new runs and every orientation, and what the program
 * writes. */
#include "codec/codec_test.h"

#include <math.h>

#include "codec/formats.h"

#define HEAD "#?RADIANCE\n# made here\nFORMAT=32-bit_rle_rgbe\n"

/* Saves a header and, behind the line of the size, `size` bytes. */
static void save_hdr(const char *head, const char *line, const void *rows, size_t size)
{
    struct bytes file = {0};
    append(&file, head, strlen(head));
    append(&file, "\n", 1);
    append(&file, line, strlen(line));
    append(&file, "\n", 1);
    append(&file, rows, size);
    save(in_folder("a.hdr"), file.data, file.size);
    free(file.data);
}

static struct picture read_hdr(void)
{
    const struct gf_options options = plain_options();
    struct picture picture;
    if (decode(in_folder("a.hdr"), &options, &picture))
        fail_msg("%s", failure.text);
    assert_true(gf_is_float(picture.format) && picture.format.bits == 32 &&
                picture.format.channels == 3);
    return picture;
}

static void check(const float *wanted, int width, int height)
{
    struct picture picture = read_hdr();
    assert_true(picture.format.width == width && picture.format.height == height);
    assert_memory_equal(picture.data, wanted, (size_t)(width * height) * 3 * sizeof *wanted);
    free_picture(&picture);
}

/* A pixel is mantissas times 2^(exponent - 136); an exponent of 0 is black. */
static void test_pixels(void **state)
{
    static const unsigned char pixels[] = {128, 64, 0, 129, 9, 9, 9, 0, 255, 1, 2, 255, 3, 0, 0, 1};
    const float wanted[] = {1, .5f, 0, 0, 0, 0, 0x1.fep126f, 0x1p119f, 0x1p120f, 0x3p-135f, 0, 0};
    save_hdr(HEAD, "-Y 2 +X 2", pixels, sizeof pixels);
    check(wanted, 2, 2);
    save_hdr("#?RGBE\n", "-Y 2 +X 2", pixels, sizeof pixels);
    check(wanted, 2, 2);
    struct picture picture = read_hdr();
    const struct gf_options options = plain_options();
    assert_int_equal(encode(in_folder("a.hdr"), &picture, &options), GF_OK);
    check(wanted, 2, 2);
    free_picture(&picture);
}

/* 1, 1, 1, n repeats a pixel; several are one number. */
static void test_old_runs(void **state)
{
    enum { LONG = 3 + 2 * 256 };
    static const unsigned char pixels[] = {128, 0, 0, 129, 1, 1,   1, 2,   1, 1, 1, 2,
                                           0,   0, 0, 0,   0, 128, 0, 129, 1, 1, 1, 1};
    float wanted[3 * (LONG + 3)] = {0};
    for (int x = 0; x < LONG; x++)
        wanted[3 * x] = 1;
    wanted[3 * (LONG + 1) + 1] = wanted[3 * (LONG + 2) + 1] = 1;
    save_hdr(HEAD, "-Y 1 +X 518", pixels, sizeof pixels);
    check(wanted, LONG + 3, 1);
}

static void test_new_runs(void **state)
{
    static const unsigned char rows[] = {2, 2, 0,   8, 136, 128, 3, 1, 2,  3,   133, 4,
                                         8, 0, 128, 0, 0,   0,   0, 0, 64, 136, 129};
    float wanted[3 * 8];
    for (int x = 0; x < 8; x++) {
        wanted[3 * x] = 1;
        wanted[3 * x + 1] = (float)(x < 3 ? x + 1 : 4) / 128;
        wanted[3 * x + 2] = x == 1 ? 1 : x == 7 ? .5f : 0;
    }
    save_hdr(HEAD, "-Y 1 +X 8", rows, sizeof rows);
    check(wanted, 8, 1);
}

/* The lines of the size say how the rows lie, which EXIF's numbers 1 to 8 say, too. */
static void test_orientations(void **state)
{
    static const char *const lines[] = {"-Y 2 +X 3", "-Y 2 -X 3", "+Y 2 -X 3", "+Y 2 +X 3",
                                        "+X 2 -Y 3", "-X 2 -Y 3", "-X 2 +Y 3", "+X 2 +Y 3"};
    /* Where the first pixel of the file is shown, right and below. */
    static const bool right[] = {0, 1, 1, 0, 0, 1, 1, 0}, below[] = {0, 0, 1, 1, 0, 0, 1, 1};
    unsigned char pixels[6 * 4] = {128, 128, 128, 129};
    for (int i = 0; i < 8; i++) {
        struct gf_options options = gf_options_default();
        struct gf_pipeline *pipeline;
        struct gf_image image = {.data = NULL};
        options.device = GF_DEVICE_CPU;
        struct bytes file = {0};
        append(&file, HEAD "\n", sizeof HEAD);
        append(&file, lines[i], strlen(lines[i]));
        append(&file, "\n", 1);
        append(&file, pixels, sizeof pixels);
        assert_int_equal(gf_pipeline_open("", &options, &pipeline, &failure), GF_OK);
        assert_int_equal(gf_pipeline_decode(pipeline, file.data, file.size, &image, &failure),
                         GF_OK);
        const int width = i < 4 ? 3 : 2, height = i < 4 ? 2 : 3;
        assert_true(image.format.width == width && image.format.height == height);
        const int x = right[i] ? width - 1 : 0, y = below[i] ? height - 1 : 0;
        assert_true(((const float *)(const void *)image.data)[3 * (y * width + x)] == 1);
        gf_image_free(&image);
        gf_pipeline_close(pipeline);
        free(file.data);
    }
}

static void test_header(void **state)
{
    static const unsigned char pixel[] = {128, 128, 128, 129};
    save_hdr(HEAD "EXPOSURE=2\nEXPOSURE= 1.5\nPRIMARIES=0.708 0.292 0.17 0.797 0.131 0.046 0.3127 "
                  "0.3290\n",
             "-Y 1 +X 1", pixel, 4);
    struct picture picture = read_hdr();
    static const int32_t white_first[] = {31270, 32900, 70800, 29200, 17000, 79700, 13100, 4600};
    assert_non_null(strstr(last_warning, "its exposure of 3 is not undone"));
    assert_true(picture.metadata.colour.has_gamma && picture.metadata.colour.gamma == 100000);
    assert_memory_equal(picture.metadata.colour.chromaticity, white_first, sizeof white_first);
    const struct gf_options options = plain_options();
    static const char line[] =
        "\nPRIMARIES=0.70800 0.29200 0.17000 0.79700 0.13100 0.04600 0.31270 "
        "0.32900\n\n-Y 1 +X 1\n";
    assert_int_equal(encode(in_folder("b.hdr"), &picture, &options), GF_OK);
    const struct bytes file = load(in_folder("b.hdr"));
    assert_non_null(memmem(file.data, file.size, line, sizeof line - 1));
    free(file.data);
    free_picture(&picture);
}

static void test_refused(void **state)
{
    static const unsigned char pixels[] = {2, 2, 0, 8, 136, 128, 9, 0},
                               other[] = {2, 2, 0, 9, 137, 128, 9, 0},
                               first[] = {1, 1, 1, 1, 0, 0, 0, 0},
                               much[] = {0, 0, 0, 0, 1, 1, 1, 9}, none[] = {2, 2, 0, 8, 0, 0, 0, 0};
    static const struct {
        const char *head, *line;
        const unsigned char *rows;
        const char *why;
    } cases[] = {
        {HEAD, "-Y 1 +X 8", pixels, "damaged: a run in row 1"},
        {HEAD, "-Y 1 +X 8", other, "damaged: a run in row 1"},
        {HEAD, "-Y 1 +X 8", none, "damaged: a run in row 1"},
        {HEAD, "-Y 1 +X 2", first, "damaged: a run in row 1"},
        {HEAD, "-Y 1 +X 4", much, "damaged: a run in row 1"},
        {HEAD, "-Y 3 +X 1", much, "damaged: a run in row 2"},
        {HEAD, "-Y 2 +X 2", none, "truncated after row"},
        {HEAD, "-Y 1 -Y 2", pixels, "damaged: its header"},
        {HEAD, "-Y 1.5 +X 1", pixels, "damaged: its header"},
        {HEAD, "-Y", pixels, "damaged: its header"},
        {HEAD, "-Y 0 +X 4", pixels, "4x0"},
        {HEAD, "-Y 1e9 +X 1e9", pixels, "over options.max_pixels"},
        {"#?RADIANCE\nFORMAT=32-bit_rle_xyze\n", "-Y 1 +X 1", pixels, "is of 32-bit_rle_xyze"},
    };
    const struct gf_options options = plain_options();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        save_hdr(cases[i].head, cases[i].line, cases[i].rows, 8);
        assert_refused(in_folder("a.hdr"), &options, cases[i].why);
    }
    save(in_folder("a.hdr"), HEAD, sizeof HEAD - 1);
    assert_refused(in_folder("a.hdr"), &options, "truncated in the header");
    char *const endless = calloc(1, 1 << 17);
    memset(endless, '#', (1 << 17) - 1);
    memcpy(endless, HEAD, sizeof HEAD - 1);
    save(in_folder("a.hdr"), endless, 1 << 17);
    assert_refused(in_folder("a.hdr"), &options, "damaged: its header");
    free(endless);
}

/* Mantissas are the nearest ones, the largest of a pixel at least 128; a file that was read is
 * written with the same pixels. */
static void check_written(int width)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(width, 3, 3, 16), back, again;
    picture.format.bits = 32;
    picture.format.samples = GF_SAMPLES_FLOAT;
    picture.data = realloc(picture.data, picture_bytes(picture.format));
    float *const v = (float *)(void *)picture.data;
    unsigned seed = 5;
    for (int i = 0; i < width * 9; i++)
        v[i] = i % 60 < 30 ? 0.25f
                           : ldexpf((float)(next_random(&seed) % 60000),
                                    (int)(next_random(&seed) % 9) - 20);
    assert_int_equal(encode(in_folder("a.hdr"), &picture, &options), GF_OK);
    assert_int_equal(decode(in_folder("a.hdr"), &options, &back), GF_OK);
    const float *const made = (const float *)(const void *)back.data;
    for (int i = 0; i < width * 9; i += 3) {
        const float most = fmaxf(v[i], fmaxf(v[i + 1], v[i + 2]));
        for (int c = 0; c < 3; c++)
            assert_true(fabsf(made[i + c] - v[i + c]) <= most / 255);
    }
    assert_int_equal(encode(in_folder("b.hdr"), &back, &options), GF_OK);
    assert_int_equal(decode(in_folder("b.hdr"), &options, &again), GF_OK);
    assert_memory_equal(again.data, back.data, picture_bytes(back.format));
    free_picture(&picture);
    free_picture(&back);
    free_picture(&again);
}

static void test_written(void **state)
{
    check_written(5);
    check_written(8);
    check_written(300);
    check_written(33000);
    struct gf_options options = plain_options();
    struct picture picture = random_picture(3, 1, 3, 16), back;
    const float odd[] = {NAN, 1, -1, INFINITY, 0, 3e38f, 1e-42f, 0.996f, 0.9981f};
    const float wanted[] = {0, 1, 0, 0x1.fep126f, 0, 0x1.fep126f, 0, 127 / 128.0f, 1};
    picture.format.bits = 32;
    picture.format.samples = GF_SAMPLES_FLOAT;
    picture.data = realloc(picture.data, sizeof odd);
    memcpy(picture.data, odd, sizeof odd);
    assert_int_equal(encode(in_folder("a.hdr"), &picture, &options), GF_OK);
    assert_non_null(strstr(last_warning, "4 samples were NaN, negative or too large"));
    assert_int_equal(decode(in_folder("a.hdr"), &options, &back), GF_OK);
    for (int i = 0; i < 9; i++)
        assert_true(((float *)(void *)back.data)[i] == wanted[i]);
    free_picture(&picture);
    free_picture(&back);
    /* The least gray has the bytes of a run, which a row without runs cannot have. */
    picture = random_picture(3, 1, 3, 16);
    picture.format.bits = 32;
    picture.format.samples = GF_SAMPLES_FLOAT;
    picture.data = realloc(picture.data, sizeof odd);
    for (int i = 0; i < 9; i++)
        ((float *)(void *)picture.data)[i] = 0x1p-135f;
    assert_int_equal(encode(in_folder("a.hdr"), &picture, &options), GF_OK);
    assert_int_equal(decode(in_folder("a.hdr"), &options, &back), GF_OK);
    for (int i = 0; i < 9; i++)
        assert_true(((float *)(void *)back.data)[i] == 0);
    free_picture(&picture);
    free_picture(&back);
    /* Gray becomes colour, and alpha is left out. */
    picture = random_picture(9, 2, 2, 8);
    assert_int_equal(encode(in_folder("a.hdr"), &picture, &options), GF_OK);
    assert_non_null(strstr(last_warning, "it has no alpha channel"));
    assert_int_equal(decode(in_folder("a.hdr"), &options, &back), GF_OK);
    for (int i = 0; i < 18; i++)
        for (int c = 0; c < 3; c++)
            assert_true(fabsf(((float *)(void *)back.data)[3 * i + c] -
                              (float)picture.data[2 * i] / 255) <= 1 / 512.0f);
    free_picture(&picture);
    free_picture(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels),   cmocka_unit_test(test_old_runs),
        cmocka_unit_test(test_new_runs), cmocka_unit_test(test_orientations),
        cmocka_unit_test(test_header),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_written),
    };
    return cmocka_run_group_tests_name("Radiance HDR", tests, make_folder, remove_folder);
}
