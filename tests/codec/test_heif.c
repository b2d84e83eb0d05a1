/* A program of its own. HEIC that libheif itself writes here, where it has an encoder of HEVC. */
#include "codec/codec_test.h"

#include "codec/formats.h"

#ifdef GF_LIBRARY_heif
#include "codec/heif_writer.h"

enum { WIDTH = 96, HEIGHT = 64 };
static const unsigned char exif[] = "MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0";
static const char xmp[] = "<x:xmpmeta xmlns:x='adobe:ns:meta/'/>";

/* A profile of the second picture, whose box becomes the box of a depth map's type. */
static const char depth_type[] = "urn:mpeg:hevc:2015:auxid:2";

/* Writes `pictures` pictures of soft gradients, each with more blue than the one before. */
static void write_heic(const char *name, int pictures, int primary, int orientation)
{
    struct heif_context *const context = heif.heif_context_alloc();
    struct heif_encoder *const encoder = encoder_of(context);
    assert_int_equal(heif.heif_encoder_set_lossy_quality(encoder, 95).code, heif_error_Ok);
    for (int i = 0; i < pictures; i++) {
        struct heif_image *image;
        struct heif_image_handle *handle = NULL;
        int stride;
        assert_int_equal(heif.heif_image_create(WIDTH, HEIGHT, heif_colorspace_RGB,
                                                heif_chroma_interleaved_RGB, &image)
                             .code,
                         heif_error_Ok);
        assert_int_equal(
            heif.heif_image_add_plane(image, heif_channel_interleaved, WIDTH, HEIGHT, 8).code,
            heif_error_Ok);
        unsigned char *const plane =
            heif.heif_image_get_plane(image, heif_channel_interleaved, &stride);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                plane[y * stride + 3 * x] = (unsigned char)(2 * x);
                plane[y * stride + 3 * x + 1] = (unsigned char)(2 * y);
                plane[y * stride + 3 * x + 2] = (unsigned char)(60 + 100 * i);
            }
        struct heif_encoding_options *const options = heif.heif_encoding_options_alloc();
        options->image_orientation = (enum heif_orientation)orientation;
        if (i == 1)
            assert_int_equal(
                heif.heif_image_set_raw_color_profile(image, "prof", depth_type, sizeof depth_type)
                    .code,
                heif_error_Ok);
        assert_int_equal(
            heif.heif_context_encode_image(context, image, encoder, options, &handle).code,
            heif_error_Ok);
        assert_int_equal(
            heif.heif_context_add_exif_metadata(context, handle, exif, sizeof exif - 1).code,
            heif_error_Ok);
        assert_int_equal(
            heif.heif_context_add_XMP_metadata(context, handle, xmp, sizeof xmp - 1).code,
            heif_error_Ok);
        if (i == primary)
            assert_int_equal(heif.heif_context_set_primary_image(context, handle).code,
                             heif_error_Ok);
        heif.heif_encoding_options_free(options);
        heif.heif_image_handle_release(handle);
        heif.heif_image_release(image);
    }
    assert_int_equal(heif.heif_context_write_to_file(context, name).code, heif_error_Ok);
    heif.heif_encoder_release(encoder);
    heif.heif_context_free(context);
}

static void assert_near(int a, int b)
{
    assert_in_range(a - b + 12, 0, 24);
}

/* blue: of all pixels. The picture may be turned by a quarter with the clock. */
static void check(const char *name, bool turned, int blue)
{
    struct gf_options options = plain_options();
    struct picture back, out;
    if (decode(name, &options, &back))
        fail_msg("%s", failure.text);
    assert_int_equal(back.format.width, turned ? HEIGHT : WIDTH);
    assert_int_equal(back.format.height, turned ? WIDTH : HEIGHT);
    assert_int_equal(back.format.channels, 3);
    for (int y = 0; y < HEIGHT; y += 7)
        for (int x = 0; x < WIDTH; x += 5) {
            const int at = turned ? x * HEIGHT + HEIGHT - 1 - y : y * WIDTH + x;
            assert_near(back.data[3 * at], 2 * x);
            assert_near(back.data[3 * at + 1], 2 * y);
            assert_near(back.data[3 * at + 2], blue);
        }
    assert_int_equal(back.metadata.orientation, 1);
    assert_int_equal(back.metadata.exif.size, sizeof exif - 1);
    assert_int_equal(back.metadata.xmp.size, sizeof xmp - 1);
    for (int autorotate = 0; autorotate <= 1; autorotate++) { /* it is applied already */
        options.autorotate = autorotate;
        assert_int_equal(encode(in_folder("out.png"), &back, &options), GF_OK);
        assert_int_equal(decode(in_folder("out.png"), &options, &out), GF_OK);
        assert_int_equal(out.metadata.orientation, 1);
        free_picture(&out);
    }
    free_picture(&back);
}

static void test_pictures(void **state)
{
    write_heic(in_folder("a.heic"), 1, 0, 1);
    check(in_folder("a.heic"), false, 60);
    assert_int_equal(warnings, 0);
    write_heic(in_folder("a.heic"), 1, 0, 6);
    check(in_folder("a.heic"), true, 60);
    write_heic(in_folder("a.heic"), 2, 0, 1);
    check(in_folder("a.heic"), false, 60);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "holds 2 pictures: the first is taken"));
    check(in_folder("a.heic[1]"), false, 160);
    assert_int_equal(warnings, 0);
    write_heic(in_folder("b.heic"), 2, 1, 1);
    check(in_folder("b.heic"), false, 160);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "b.heic[1], the main one, is taken"));
    check(in_folder("b.heic[0]"), false, 60);
    assert_int_equal(warnings, 0);
    const struct gf_options options = plain_options();
    assert_refused(in_folder("a.heic[2]"), &options, "holds 2 pictures, counted from 0");
}

/* Without autorotation the pixels are those that the file stores, and the orientation is kept. */
static void test_stored_pixels(void **state)
{
    struct gf_options options = plain_options();
    struct picture plain, back, out;
    write_heic(in_folder("a.heic"), 1, 0, 1);
    assert_int_equal(decode(in_folder("a.heic"), &options, &plain), GF_OK);
    options.autorotate = false;
    for (int orientation = 1; orientation <= 8; orientation++) {
        write_heic(in_folder("a.heic"), 1, 0, orientation);
        assert_int_equal(decode(in_folder("a.heic"), &options, &back), GF_OK);
        assert_int_equal(back.metadata.orientation, orientation);
        assert_int_equal(back.format.width, WIDTH);
        assert_memory_equal(back.data, plain.data, WIDTH * HEIGHT * 3);
        assert_int_equal(encode(in_folder("out.png"), &back, &options), GF_OK);
        assert_int_equal(decode(in_folder("out.png"), &options, &out), GF_OK);
        assert_int_equal(out.metadata.orientation, orientation);
        free_picture(&out);
        free_picture(&back);
    }
    free_picture(&plain);
}

/* Returns the last occurrence of a word of four letters. */
static unsigned char *last(struct bytes *file, const char *word)
{
    size_t at = file->size - 4;
    while (at && memcmp(file->data + at, word, 4) != 0)
        at--;
    assert_true(at);
    return file->data + at;
}

/* The second picture of a file becomes the depth map of the first: its profile becomes a type, and
 * the reference of its EXIF becomes one from the depth map. */
static void test_depth_map(void **state)
{
    const struct gf_options options = plain_options();
    struct picture back;
    write_heic(in_folder("a.heic"), 2, 0, 1);
    struct bytes file = load(in_folder("a.heic"));
    assert_refused(in_folder("a.heic[depth]"), &options, "holds no picture of the kind \"depth\"");
    assert_int_equal(decode(in_folder("a.heic[1]"), &options, &back), GF_OK);
    const int gray = back.data[3 * 50];
    free_picture(&back);
    memcpy(last(&file, "colr"), "auxC\0\0\0", 8);
    unsigned char *const reference = last(&file, "cdsc"); /* the numbers from, count, to follow */
    memcpy(reference, "auxl", 4);
    memcpy(reference + 4, reference + 8, 2);
    memcpy(reference + 8, "\0\1", 2);
    save(in_folder("b.heic"), file.data, file.size);
    free(file.data);
    assert_int_equal(decode(in_folder("b.heic[depth]"), &options, &back), GF_OK);
    assert_int_equal(back.format.channels, 1);
    assert_int_equal(back.data[50], gray);
    free_picture(&back);
    assert_int_equal(decode(in_folder("b.heic"), &options, &back), GF_OK);
    assert_int_equal(gf_metadata_kinds(&back.metadata) & GF_KIND_DEPTH, GF_KIND_DEPTH);
    free_picture(&back);
    assert_refused(in_folder("b.heic[1]"), &options, "holds 1 picture, counted from 0");
    assert_refused(in_folder("b.heic[gainmap]"), &options, "of the kind \"gainmap\"");
}

static void test_damage(void **state)
{
    const struct gf_options options = plain_options();
    struct picture back;
    write_heic(in_folder("a.heic"), 1, 0, 1);
    struct bytes file = load(in_folder("a.heic"));
    for (size_t size = 16; size < file.size; size += 100) {
        save(in_folder("b.heic"), file.data, size);
        assert_int_equal(decode(in_folder("b.heic"), &options, &back), GF_ERROR_INPUT);
        assert_failure_says("b.heic: ");
    }
    struct gf_options limited = options;
    limited.max_pixels = WIDTH * HEIGHT - 1;
    assert_refused(in_folder("a.heic"), &limited, "over options.max_pixels");
    free(file.data);
}

int main(void)
{
    if (!can_encode()) {
        puts("1..1\nok 1 # SKIP libheif has no encoder of HEVC here");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures), cmocka_unit_test(test_stored_pixels),
        cmocka_unit_test(test_depth_map), cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests_name("heif", tests, make_folder, remove_folder);
}

#else
int main(void)
{
    puts("1..1\nok 1 # SKIP built without libheif");
    return 0;
}
#endif
