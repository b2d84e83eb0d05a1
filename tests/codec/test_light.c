/* What files say of the light of HDR: mDCV and cLLI of PNG, the properties of HEIF, JPEG XL's
 * highest luminance. */
#include "codec_test.h"

#include "codec/formats.h"

static const unsigned char mdcv[24] = {0x8a, 0x48, 0x39, 0x08, 0x21, 0x34, 0x9b, 0xaa,
                                       0x19, 0x96, 0x08, 0xfc, 0x3d, 0x13, 0x40, 0x42,
                                       0x00, 0x98, 0x96, 0x80, 0x00, 0x00, 0x00, 0x32};

/* PQ of BT.2020, mastered on a display of 1000 cd/m2, with a MaxCLL of 800 and a MaxFALL of 120. */
static struct picture hdr_picture(void)
{
    struct picture picture = smooth_picture(64, 48, 3, 16);
    struct gf_colour_tags *const tags = &picture.metadata.colour;
    gf_colour_tags_set_cicp(tags, 9, 16);
    memcpy(tags->mdcv, mdcv, sizeof mdcv);
    tags->has_mdcv = true;
    gf_colour_tags_set_light(tags, 800, 120);
    return picture;
}

static bool is_written(enum gf_file_format format)
{
    const struct gf_file_type *const type = gf_file_type(format);
    return type->create && (!type->library || !gf_library_load(type->library, type->name,
                                                               GF_ERROR_UNAVAILABLE, &failure));
}

static struct picture write_and_read(const char *name, const struct picture *picture,
                                     const struct gf_options *options)
{
    struct picture back;
    if (encode(in_folder(name), picture, options) || decode(in_folder(name), options, &back))
        fail_msg("%s", failure.text);
    return back;
}

static void test_png(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture = hdr_picture(), back = write_and_read("a.png", &picture, &options);
    assert_int_equal(warnings, 0);
    assert_same_pixels(&picture, &back);
    assert_true(back.metadata.colour.has_mdcv && back.metadata.colour.has_clli);
    assert_memory_equal(back.metadata.colour.mdcv, mdcv, sizeof mdcv);
    assert_memory_equal(back.metadata.colour.clli, "\0\x7a\x12\0\0\x12\x4f\x80", 8);
    assert_true(gf_colour_tags_peak(&back.metadata.colour) == 800);
    free_picture(&back);
    free_picture(&picture);
}

/* A cICP of HDR counts more than a profile, which other formats get where it is all that they can
 * say. */
static void test_cicp_before_icc(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = hdr_picture(), back;
    unsigned char profile[GF_ICC_MADE_MOST];
    const size_t size = gf_icc_make(&gf_icc_display_p3, false, profile);
    assert_true(gf_blob_set(&picture.metadata.icc, profile, size));
    back = write_and_read("a.png", &picture, &options);
    assert_int_equal(back.metadata.icc.size, size);
    const struct gf_icc icc = gf_metadata_icc(&back.metadata, back.format, &options);
    assert_true(icc.unsaid && !icc.size && icc.hdr[0] == 9 && icc.hdr[1] == 16);
    assert_true(icc.peak == 800);
    free_picture(&back);
    free_picture(&picture);
}

static void test_jxl(void **state)
{
    const struct gf_options options = plain_options();
    if (!is_written(GF_FILE_JXL))
        skip();
    struct picture picture = hdr_picture(), back = write_and_read("a.jxl", &picture, &options);
    assert_non_null(strstr(last_warning, "it does not keep the input's mastering display"));
    assert_true(gf_colour_tags_light(&back.metadata.colour, 0) == 800);
    assert_int_equal(back.metadata.colour.cicp[1], 16);
    picture.metadata.colour.has_clli = false;
    struct picture other = write_and_read("b.jxl", &picture, &options);
    assert_false(other.metadata.colour.has_clli);
    const uint16_t *const a = (const uint16_t *)(const void *)other.data,
                          *const b = (const uint16_t *)(const void *)back.data;
    for (int i = 0; i < 64 * 48 * 3; i++)
        assert_true(abs(a[i] - b[i]) <= 257);
    free_picture(&other);
    free_picture(&back);
    free_picture(&picture);
}

/* The properties of a HEIF: primaries are green, blue and red there, and light is whole cd/m2. */
static void test_boxes(void **state)
{
    static const char boxes[] = "\0\0\0\x20mdcv\x21\x34\x9b\xaa\x19\x96\x08\xfc\x8a\x48\x39\x08"
                                "\x3d\x13\x40\x42\0\x98\x96\x80\0\0\0\x32"
                                "\0\0\0\x0c"
                                "clli\x03\x20\0\x78";
    for (size_t length = 0; length < sizeof boxes; length++) {
        struct gf_colour_tags tags = {0};
        gf_colour_tags_set_cicp(&tags, 9, 18);
        unsigned char *const copy = malloc(length + 1);
        memcpy(copy, boxes, length);
        gf_colour_tags_add_heif(&tags, copy, length);
        free(copy);
        assert_int_equal(tags.has_mdcv, length >= 32);
        assert_int_equal(tags.has_clli, length >= 44);
        assert_true(gf_colour_tags_peak(&tags) == (length >= 44 ? 800 : length >= 32 ? 1000 : 0));
        if (tags.has_mdcv)
            assert_memory_equal(tags.mdcv, mdcv, sizeof mdcv);
    }
}

/* An AVIF whose last box has the property, as readers find it before the pixels. */
static void test_avif(void **state)
{
    const struct gf_options options = plain_options();
    if (!is_written(GF_FILE_AVIF))
        skip();
    struct picture picture = hdr_picture(), back = write_and_read("a.avif", &picture, &options);
    const bool writes = gf_file_type(GF_FILE_AVIF)->keeps & GF_KIND_LIGHT;
    assert_int_equal(back.metadata.colour.has_clli, writes);
    assert_non_null(strstr(last_warning, "mastering display"));
    assert_int_equal(!strstr(last_warning, "content light level"), writes);
    free_picture(&back);
    FILE *const file = fopen(in_folder("a.avif"), "ab");
    fwrite("\0\0\0\x14"
           "free"
           "\0\0\0\x0c"
           "clli\x03\x20\0\x78",
           1, 20, file);
    fclose(file);
    if (decode(in_folder("a.avif"), &options, &back))
        fail_msg("%s", failure.text);
    assert_true(gf_colour_tags_light(&back.metadata.colour, 0) == 800);
    assert_true(gf_colour_tags_light(&back.metadata.colour, 1) == 120);
    free_picture(&back);
    free_picture(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_png),  cmocka_unit_test(test_cicp_before_icc),
        cmocka_unit_test(test_jxl),  cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_avif),
    };
    return cmocka_run_group_tests_name("light", tests, make_folder, remove_folder);
}
