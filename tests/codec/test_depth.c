/* The bits of a sample in files: each depth of each format is written, stated and read again. */
#include "codec_test.h"

#include "codec/formats.h"

/* A picture of 16 bits whose samples are levels of `depth` bits, in soft gradients. */
static struct picture levels_picture(int channels, int depth)
{
    struct picture picture = smooth_picture(64, 48, channels, 16);
    const unsigned most = (1u << depth) - 1;
    uint16_t *const sample = (uint16_t *)(void *)picture.data;
    for (int i = 0; i < 64 * 48 * channels; i++) {
        const unsigned level =
            (sample[i] * most + 32767) / 65535 ^ (depth > 8 ? (unsigned)i & 1 : 0);
        sample[i] = (uint16_t)((level * 65535 + most / 2) / most);
    }
    picture.metadata.bits = depth;
    return picture;
}

static unsigned sample_of(const struct picture *picture, int i)
{
    return picture->format.bits == 16 ? ((const uint16_t *)(const void *)picture->data)[i]
                                      : picture->data[i] * 257u;
}

/* A lossy file may differ by some levels of 8 bits, another one by nothing. */
static void check_depth(const struct gf_file_type *type, int channels, int depth, int given)
{
    struct gf_options options = plain_options();
    struct picture picture = levels_picture(channels, depth), back;
    char name[20];
    snprintf(name, sizeof name, "a.%s", type->choice);
    options.depth = given;
    options.quality = 95;
    options.format = type->format;
    if (encode(in_folder(name), &picture, &options) || decode(in_folder(name), &options, &back))
        fail_msg("%s, %d bits: %s", type->name, depth, failure.text);
    assert_int_equal(back.metadata.bits ? back.metadata.bits : back.format.bits, depth);
    assert_int_equal(back.format.bits, depth > 8 ? 16 : 8);
    assert_int_equal(back.format.channels, type->gray ? channels : 3);
    const int most = type->lossy ? 257 * 12 : 0;
    for (int i = 0; i < 64 * 48 * channels; i++) {
        const int at = back.format.channels == channels ? i : 3 * i;
        const int difference = (int)sample_of(&picture, i) - (int)sample_of(&back, at);
        if (abs(difference) > most)
            fail_msg("%s of %d bits differs by %d", type->name, depth, difference);
    }
    free_picture(&picture);
    free_picture(&back);
}

/* GIF, whose pictures have few colours, has tests of its own. */
static bool is_written(const struct gf_file_type *type)
{
    return type->create && type->format != GF_FILE_GIF &&
           (!type->library ||
            !gf_library_load(type->library, type->name, GF_ERROR_UNAVAILABLE, &failure));
}

static void test_all_depths(void **state)
{
    const struct gf_file_type *type;
    for (int t = 0; (type = gf_file_type_at(t)); t++) {
        for (int depth = 0; is_written(type) && (depth = gf_depth_next(type, depth));) {
            if (gf_depth_is_float(depth))
                continue;
            for (int channels = 1; channels <= (depth == 1 ? 1 : 3); channels += 2) {
                check_depth(type, channels, depth, depth);
                check_depth(type, channels, depth, GF_DEPTH_AUTO);
            }
        }
    }
}

/* What a format cannot hold is named with what it can, before anything is written. */
static void test_refusals(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(20, 10, 3, 16);
    options.depth = 10;
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_ERROR_USAGE);
    assert_failure_says("a.png: options.depth=10: a sample of PNG has 1, 8 or 16 bits");
    assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_ERROR_USAGE);
    assert_failure_says("a.jpg: options.depth=10: a sample of JPEG has 8 bits");
    options.depth = 1;
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_ERROR_UNFIT);
    assert_failure_says("a.png: a PNG of 1 bit is gray without alpha");
    options.lossless = true;
    options.depth = 8;
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_ERROR_UNFIT);
    assert_failure_says("a.png: 8 bits are not lossless for 16 bits");
    free_picture(&picture);
}

/* Which depth an output has whose options choose none, or the input's. */
static void test_choices(void **state)
{
    static const struct {
        enum gf_file_format format;
        int bits, channels, stored, depth, wanted;
    } cases[] = {{GF_FILE_AVIF, 16, 3, 10, 0, 10},
                 {GF_FILE_AVIF, 16, 3, 12, 0, 12},
                 {GF_FILE_AVIF, 16, 3, 16, 0, 12},
                 {GF_FILE_AVIF, 16, 3, 0, 0, 12},
                 {GF_FILE_AVIF, 8, 1, 1, 0, 8},
                 {GF_FILE_PNG, 16, 3, 10, 0, 16},
                 {GF_FILE_PNG, 16, 3, 10, GF_DEPTH_AUTO, 16},
                 {GF_FILE_PNG, 8, 1, 1, 0, 8},
                 {GF_FILE_PNG, 8, 1, 1, GF_DEPTH_AUTO, 1},
                 {GF_FILE_PNG, 8, 3, 1, GF_DEPTH_AUTO, 8},
                 {GF_FILE_PNG, 8, 1, 4, GF_DEPTH_AUTO, 8},
                 {GF_FILE_PNM, 16, 1, 12, 0, 16},
                 {GF_FILE_PNM, 16, 1, 12, GF_DEPTH_AUTO, 12},
                 {GF_FILE_PNM, 16, 1, 14, GF_DEPTH_AUTO, 16},
                 {GF_FILE_JXL, 16, 1, 32, GF_DEPTH_AUTO, 16},
                 {GF_FILE_JPEG, 16, 3, 10, GF_DEPTH_AUTO, 8},
                 {GF_FILE_JPEG, 8, 1, 1, GF_DEPTH_AUTO, 8},
                 {GF_FILE_PNG, 8, 3, 8, 16, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gf_options options = plain_options();
        const struct gf_format format = {8, 8, cases[i].channels, cases[i].bits,
                                         GF_SAMPLES_INTEGER};
        options.depth = cases[i].depth;
        assert_int_equal(gf_depth_of(cases[i].format, format, cases[i].stored, &options),
                         cases[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_depths),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_choices),
    };
    return cmocka_run_group_tests_name("depth", tests, make_folder, remove_folder);
}
