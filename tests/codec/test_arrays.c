/* PFM and .npy: files made here, and what the program writes. */
#include "codec/codec_test.h"

#include <math.h>

#include "codec/formats.h"
#include "gpufilter/gpufilter.h"
#include "pixel/floats.h"

static void save_file(const char *name, const void *head, size_t head_size, const void *rows,
                      size_t size)
{
    struct bytes file = {0};
    append(&file, head, head_size);
    append(&file, rows, size);
    save(in_folder(name), file.data, file.size);
    free(file.data);
}

static struct picture read_file(const char *name)
{
    const struct gf_options options = plain_options();
    struct picture picture;
    if (decode(in_folder(name), &options, &picture))
        fail_msg("%s", failure.text);
    return picture;
}

/* Writes a .npy of that dictionary, in the versions 1 and 2 of the format. */
static void save_npy(const char *dictionary, int version, const void *samples, size_t size)
{
    char head[200] = "\x93NUMPY";
    const size_t length = strlen(dictionary), begin = version > 1 ? 12 : 10;
    head[6] = (char)version;
    head[8] = (char)length;
    memcpy(head + begin, dictionary, length);
    save_file("a.npy", head, begin + length, samples, size);
}

static void check_npy(const char *dictionary, const void *samples, struct gf_format format,
                      const void *wanted)
{
    for (int version = 1; version <= 2; version++) {
        save_npy(dictionary, version, samples, picture_bytes(format));
        struct picture picture = read_file("a.npy");
        assert_true(gf_same_format(picture.format, format));
        assert_memory_equal(picture.data, wanted, picture_bytes(format));
        free_picture(&picture);
    }
}

static void test_npy(void **state)
{
    static const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                               swapped[] = {2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11},
                               reversed[] = {4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9};
    check_npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2, 3), }\n", bytes,
              (struct gf_format){.width = 2, .height = 2, .channels = 3, .bits = 8}, bytes);
    check_npy("{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }\n", bytes,
              (struct gf_format){.width = 3, .height = 2, .channels = 1, .bits = 16}, bytes);
    check_npy("{'shape': (1,3,2), 'fortran_order': False, 'descr': '>f2'}", bytes,
              (struct gf_format){3, 1, 2, 16, GF_SAMPLES_FLOAT}, swapped);
    check_npy("{'descr': '>f4', 'fortran_order': False, 'shape': (3, 1), }", bytes,
              (struct gf_format){1, 3, 1, 32, GF_SAMPLES_FLOAT}, reversed);
}

/* Floats of 64 bits become the nearest ones of 32, by pieces of rows, also in windows. */
static void test_doubles(void **state)
{
    enum { W = 700, H = 3, C = 3, COUNT = W * H * C };
    static double doubles[COUNT];
    static uint64_t swapped[COUNT];
    static float wanted[COUNT];
    const struct gf_format format = {W, H, C, 32, GF_SAMPLES_FLOAT};
    for (int i = 0; i < COUNT; i++) {
        doubles[i] = i == 5 ? 1e300 : i == 6 ? -1e-45 : i % 7 ? 1 / (i + 0.3) - 0.01 : 1 + 0x3p-25;
        memcpy(&swapped[i], &doubles[i], sizeof *swapped);
        swapped[i] = __builtin_bswap64(swapped[i]);
        wanted[i] = (float)doubles[i];
    }
    assert_true(wanted[7] == 1 + 0x1p-23f && isinf(wanted[5]));
    const void *const samples[] = {doubles, swapped};
    static const char *const dictionaries[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 700, 3), }",
        "{'descr': '>f8', 'fortran_order': False, 'shape': (3, 700, 3), }"};
    for (int i = 0; i < 2; i++) {
        save_npy(dictionaries[i], 1, samples[i], sizeof doubles);
        struct picture picture = read_file("a.npy");
        assert_true(gf_same_format(picture.format, format));
        assert_memory_equal(picture.data, wanted, sizeof wanted);
        free_picture(&picture);
    }
    struct gf_pipeline *pipeline;
    struct gf_options options = gf_options_default();
    options.device = GF_DEVICE_CPU;
    options.sandbox = GF_SANDBOX_OFF;
    assert_int_equal(gf_pipeline_open("crop=100:2:590:1", &options, &pipeline, &failure), GF_OK);
    assert_int_equal(
        gf_pipeline_run_file(pipeline, in_folder("a.npy"), in_folder("b.npy"), &failure), GF_OK);
    gf_pipeline_close(pipeline);
    struct picture part = read_file("b.npy");
    for (int y = 0; y < 2; y++)
        assert_memory_equal(part.data + (size_t)y * 1200, wanted + ((1 + y) * W + 590) * C, 1200);
    free_picture(&part);
    options = plain_options();
    save_npy(dictionaries[0], 1, doubles, sizeof doubles / 2);
    assert_refused(in_folder("a.npy"), &options, "after row 1 of 3");
}

static void test_refused_npy(void **state)
{
    static const struct {
        const char *dictionary, *why;
    } cases[] = {
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }", "an array of <i8"},
        {"{'descr': '<\nf4', 'fortran_order': False, 'shape': (2, 2), }", "an array of <, which"},
        {"{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2), }", "an array of |b1"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", "in Fortran's order"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", "an array of (4,), which"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2, 5), }", "an array of (3, 2, 5)"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 2, 3), }",
         "an array of (1, 2, 2, 3), which"},
        {"{'descr': '<f4', 'shape': (2, 2), }", "damaged"},
        {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2, 2), }", "is not read"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }", "after row 2 of 4"}};
    const struct gf_options options = plain_options();
    static const float zeros[4];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        save_npy(cases[i].dictionary, 1, zeros, sizeof zeros);
        assert_refused(in_folder("a.npy"), &options, cases[i].why);
    }
    /* A type that is missing at the end of the longest header */
    enum { LONGEST = 16 << 10, BEGIN = 10 };
    static const char others[] = "{'fortran_order': False, 'shape': (1, 1), ", type[] = "'descr':";
    char head[LONGEST] = "\x93NUMPY\1";
    memset(head + BEGIN, ' ', LONGEST - BEGIN);
    head[8] = (char)((LONGEST - BEGIN) % 256);
    head[9] = (LONGEST - BEGIN) / 256;
    memcpy(head + BEGIN, others, sizeof others - 1);
    memcpy(head + LONGEST - (sizeof type - 1), type, sizeof type - 1);
    save_file("a.npy", head, LONGEST, zeros, sizeof zeros);
    assert_refused(in_folder("a.npy"), &options, "damaged: its header");
}

/* Samples that say DICM where a slide does are samples. */
static void test_samples_like_a_slide(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture = random_picture(4, 1, 1, 8), back;
    memcpy(picture.data, "DICM", 4);
    assert_int_equal(encode(in_folder("a.npy"), &picture, &options), GF_OK);
    assert_int_equal(decode(in_folder("a.npy"), &options, &back), GF_OK);
    assert_memory_equal(back.data, "DICM", 4);
    free_picture(&picture);
    free_picture(&back);
}

/* Rows come from the last one on, in either byte order. */
static void test_pfm(void **state)
{
    static const unsigned char big[] = {0x3f, 0x80, 0, 0, 0xbf, 0, 0, 0, 0x40, 0, 0, 0},
                               little[] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf, 0, 0, 0, 0x40};
    static const float up[] = {2, -0.5f, 1}, across[] = {1, -0.5f, 2};
    const struct gf_options options = plain_options();
    save_file("a.pfm", "Pf\n1 3\n1.0\n", 11, big, 12);
    struct picture picture = read_file("a.pfm");
    assert_memory_equal(picture.data, up, sizeof up);
    free_picture(&picture);
    save_file("a.pfm", "PF\n1 1 -2.5e0\n", 14, little, 12);
    picture = read_file("a.pfm");
    assert_memory_equal(picture.data, across, sizeof across);
    assert_non_null(strstr(last_warning, "its scale of 2.5 is not applied"));
    free_picture(&picture);
    save_file("a.pfm", "Pf\n1e30 1\n1.0\n", 14, big, 12);
    assert_refused(in_folder("a.pfm"), &options, "over options.max_pixels");
    static const char *const damaged[] = {"Pf\n1 x\n1.0\n####", "Pf\n1 1\n0\n####",
                                          "Pf\n1.5 1\n1\n"};
    for (int i = 0; i < 3; i++) {
        save_file("a.pfm", damaged[i], strlen(damaged[i]), "", 0);
        assert_refused(in_folder("a.pfm"), &options, i < 2 ? "no header of a PFM" : "truncated");
    }
}

/* Floats stay what they are, NaN and infinities among them; integers become v / M, but in .npy. */
static void test_round_trips(void **state)
{
    static const char *const names[] = {"a.pfm", "a.npy", "a.tif"};
    const int count = gf_file_type(GF_FILE_TIFF)->library ? 3 : 2;
    for (int n = 0; n < count; n++)
        for (int kind = 0; kind < 16; kind++) {
            struct gf_options options = plain_options();
            const bool half = kind & 4 && n, gray = kind & 1 && !n;
            struct picture picture = random_picture(kind & 8 ? 1 : 37, 21,
                                                    gray ? 1
                                                    : n  ? kind % 4 + 1
                                                         : 3,
                                                    16),
                           back;
            if (!half) {
                picture.format.bits = 32;
                picture.data = realloc(picture.data, picture_bytes(picture.format));
                memcpy(picture.data + picture_bytes(picture.format) / 2, picture.data,
                       picture_bytes(picture.format) / 2);
            }
            picture.format.samples = GF_SAMPLES_FLOAT;
            if (encode(in_folder(names[n]), &picture, &options) ||
                decode(in_folder(names[n]), &options, &back))
                fail_msg("%s", failure.text);
            assert_true(gf_same_format(picture.format, back.format));
            assert_memory_equal(picture.data, back.data, picture_bytes(back.format));
            free_picture(&picture);
            free_picture(&back);
        }
    struct gf_options options = plain_options();
    struct picture picture = random_picture(4, 3, 3, 8), back;
    assert_int_equal(encode(in_folder("a.pfm"), &picture, &options), GF_OK);
    assert_int_equal(decode(in_folder("a.pfm"), &options, &back), GF_OK);
    for (int i = 0; i < 36; i++)
        assert_true(((float *)(void *)back.data)[i] == (float)picture.data[i] / 255);
    free_picture(&back);
    options.depth = 8;
    assert_int_equal(encode(in_folder("a.pfm"), &picture, &options), GF_ERROR_USAGE);
    assert_failure_says("a sample of PFM has 32f bits");
    free_picture(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy),         cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_refused_npy), cmocka_unit_test(test_samples_like_a_slide),
        cmocka_unit_test(test_pfm),         cmocka_unit_test(test_round_trips),
    };
    return cmocka_run_group_tests_name("arrays", tests, make_folder, remove_folder);
}
