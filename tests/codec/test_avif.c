/* AVIFs with properties that only libavif itself can write: crops, pixels that are not square, and
 * colours by number. */
#include "codec/codec_test.h"

#include "codec/formats.h"

#ifdef GF_LIBRARY_avif
#include "codec/avif/avif_calls.h"

enum { WIDTH = 40, HEIGHT = 30 };

/* The least that says where a pixel was. */
static unsigned char sample_at(int x, int y, int c)
{
    return (unsigned char)(c == 0 ? 5 * x : c == 1 ? 7 * y : 3 * x + 4 * y);
}

static avifImage *image_of(avifPixelFormat yuv)
{
    avifImage *const image = gf_avif.avifImageCreate(WIDTH, HEIGHT, 8, yuv);
    unsigned char pixels[WIDTH * HEIGHT * 3];
    avifRGBImage rgb;
    assert_non_null(image);
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
        pixels[i] =
            sample_at(i / 3 % WIDTH, i / 3 / WIDTH, yuv == AVIF_PIXEL_FORMAT_YUV400 ? 2 : i % 3);
    image->yuvRange = AVIF_RANGE_FULL;
    image->matrixCoefficients = yuv == AVIF_PIXEL_FORMAT_YUV444 ? AVIF_MATRIX_COEFFICIENTS_IDENTITY
                                                                : AVIF_MATRIX_COEFFICIENTS_BT601;
    gf_avif.avifRGBImageSetDefaults(&rgb, image);
    rgb.depth = 8;
    rgb.format = AVIF_RGB_FORMAT_RGB;
    rgb.rowBytes = WIDTH * 3;
    rgb.pixels = pixels;
    assert_int_equal(gf_avif.avifImageRGBToYUV(image, &rgb), AVIF_RESULT_OK);
    return image;
}

/* Writes a.avif without losses. */
static void write_avif(avifImage *image)
{
    avifRWData file = AVIF_DATA_EMPTY;
    avifEncoder *const encoder = gf_avif.avifEncoderCreate();
    assert_non_null(encoder);
    encoder->speed = 10;
#if AVIF_VERSION_MAJOR >= 1
    encoder->quality = encoder->qualityAlpha = 100;
#else
    encoder->minQuantizer = encoder->maxQuantizer = 0;
#endif
    assert_int_equal(gf_avif.avifEncoderWrite(encoder, image, &file), AVIF_RESULT_OK);
    save(in_folder("a.avif"), file.data, file.size);
    gf_avif.avifRWDataFree(&file);
    gf_avif.avifEncoderDestroy(encoder);
    gf_avif.avifImageDestroy(image);
}

/* ---- crops ---- */

static void write_crop(avifPixelFormat yuv, avifCleanApertureBox clap, int orientation)
{
    avifImage *const image = image_of(yuv);
    gf_avif_set_orientation(image, orientation);
    image->transformFlags |= AVIF_TRANSFORM_CLAP;
    image->clap = clap;
    write_avif(image);
}

/* The distances of the centres are signed. */
#define CROP(w, h, x, y) \
    (avifCleanApertureBox) \
    { \
        w, 1, h, 1, (uint32_t)(x), 2, (uint32_t)(y), 2 \
    }

static void test_crop(void **state)
{
    static const avifPixelFormat formats[] = {AVIF_PIXEL_FORMAT_YUV444, AVIF_PIXEL_FORMAT_YUV420,
                                              AVIF_PIXEL_FORMAT_YUV400};
    for (int f = 0; f < 3; f++) {
        struct gf_options options = plain_options();
        struct picture back;
        const bool gray = formats[f] == AVIF_PIXEL_FORMAT_YUV400;
        write_crop(formats[f], CROP(21, 10, -9, 6), 6); /* from column 5 and row 13 on */
        if (decode(in_folder("a.avif"), &options, &back))
            fail_msg("%s", failure.text);
        assert_int_equal(warnings, 0);
        assert_int_equal(back.format.width, 21);
        assert_int_equal(back.format.height, 10);
        assert_int_equal(back.format.channels, gray ? 1 : 3);
        assert_int_equal(back.metadata.orientation, 6); /* it turns what the crop leaves */
        for (int i = 0; i < 21 * 10 * back.format.channels; i++) {
            const int channels = back.format.channels, pixel = i / channels,
                      wanted = sample_at(5 + pixel % 21, 13 + pixel / 21, gray ? 2 : i % channels);
            assert_in_range(back.data[i] - wanted + 20, f ? 0 : 20, f ? 40 : 20);
        }
        free_picture(&back);
    }
}

static void test_crop_beyond_the_picture(void **state)
{
    const struct gf_options options = plain_options();
    const avifCleanApertureBox crops[] = {CROP(41, 10, 0, 0),
                                          CROP(21, 10, 21, 0),
                                          CROP(21, 10, 0, -21),
                                          CROP(0, 10, 0, 0),
                                          {21, 0, 10, 1, 0, 1, 0, 1},
                                          {21, 1, 10, 1, 0, 1, 0, 0},
                                          {UINT32_MAX, 1, 10, 1, 0, UINT32_MAX, 0, 1}};
    for (size_t i = 0; i < sizeof crops / sizeof *crops; i++) {
        write_crop(AVIF_PIXEL_FORMAT_YUV444, crops[i], 1);
        assert_refused(in_folder("a.avif"), &options, "its crop (clap) is not within the picture");
    }
}

/* All of what is stored has to be decoded. */
static void test_crop_of_a_large_picture(void **state)
{
    struct gf_options options = plain_options();
    options.max_pixels = WIDTH * HEIGHT - 1;
    write_crop(AVIF_PIXEL_FORMAT_YUV444, CROP(2, 2, 0, 0), 1);
    assert_refused(in_folder("a.avif"), &options, "over options.max_pixels");
}

static void test_pixels_that_are_not_square(void **state)
{
    for (uint32_t wide = 1; wide <= 2; wide++) {
        const struct gf_options options = plain_options();
        avifImage *const image = image_of(AVIF_PIXEL_FORMAT_YUV444);
        struct picture back;
        image->transformFlags |= AVIF_TRANSFORM_PASP;
        image->pasp = (avifPixelAspectRatioBox){wide, 1};
        write_avif(image);
        assert_int_equal(decode(in_folder("a.avif"), &options, &back), GF_OK);
        assert_int_equal(warnings, 0);
        assert_int_equal(back.metadata.density_is_ratio, wide == 2);
        assert_true(wide == 1 || back.metadata.density_y == 2 * back.metadata.density_x);
        free_picture(&back);
    }
}

/* ---- cut sequences ---- */

#define CALLS(CALL) \
    CALL(avifEncoderAddImage) \
    CALL(avifEncoderFinish)
static struct {
    CALLS(GF_LIBRARY_CALL)
} more;

static struct bytes sequence(int pictures)
{
    avifRWData file = AVIF_DATA_EMPTY;
    avifEncoder *const encoder = gf_avif.avifEncoderCreate();
    struct bytes bytes = {0};
    assert_non_null(encoder);
    encoder->speed = 10;
    for (int i = 0; i < pictures; i++) {
        avifImage *const image = image_of(AVIF_PIXEL_FORMAT_YUV444);
        assert_int_equal(
            more.avifEncoderAddImage(encoder, image, 1, AVIF_ADD_IMAGE_FLAG_FORCE_KEYFRAME),
            AVIF_RESULT_OK);
        gf_avif.avifImageDestroy(image);
    }
    assert_int_equal(more.avifEncoderFinish(encoder, &file), AVIF_RESULT_OK);
    append(&bytes, file.data, file.size);
    gf_avif.avifRWDataFree(&file);
    gf_avif.avifEncoderDestroy(encoder);
    return bytes;
}

/* A picture that is whole is read, although later ones are cut. */
static void test_damage_behind(void **state)
{
    const struct gf_options options = plain_options();
    struct gf_library library = GF_LIBRARY(more, CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_avif));
    struct picture whole, back;
    if (gf_library_load(&library, "AVIF", GF_ERROR_UNAVAILABLE, &failure))
        fail_msg("%s", failure.text);
    struct bytes file = sequence(3);
    save(in_folder("a.avif"), file.data, file.size);
    assert_int_equal(decode(in_folder("a.avif"), &options, &whole), GF_OK);
    save(in_folder("a.avif"), file.data, file.size - 1);
    assert_int_equal(decode(in_folder("a.avif"), &options, &back), GF_OK);
    assert_same_pixels(&whole, &back);
    assert_non_null(strstr(last_warning, "a.avif: damaged behind its first picture: it is trunc"));
    assert_refused(in_folder("a.avif[2]"), &options, "damaged: it is truncated");
    save(in_folder("a.avif"), file.data, file.size / 3);
    assert_refused(in_folder("a.avif"), &options, "damaged: it is truncated");
    free_picture(&whole);
    free_picture(&back);
    free(file.data);
}

/* ---- alpha, and what is not ---- */

/* Changes the type of auxiliary pictures to one of the same length, from the box of that type on.
 */
static void change_type(struct bytes *file, const char *box, const char *type)
{
    static const char alpha[] = "auxiliary:alpha";
    unsigned char *at = memmem(file->data, file->size, box, 8);
    assert_non_null(at);
    while ((at = memmem(at, (size_t)(file->data + file->size - at), alpha, sizeof alpha)))
        memcpy(at, type, sizeof alpha);
}

/* An auxiliary track or picture that is not alpha leaves the colours as they are, also where the
 * picture that a film begins with has alpha. */
static void test_auxiliary_that_is_not_alpha(void **state)
{
    static const char *const types[] = {"auxiliary:depth", "auxiliary:other"};
    struct gf_options options = plain_options();
    options.lossless = true;
    for (int kind = 0; kind < 6; kind++) {
        struct frames frames = random_frames(kind < 4 ? 3 : 1, 20, 10, 4, 8), back;
        assert_int_equal(encode_frames(in_folder("a.avif"), &frames, &options), GF_OK);
        struct bytes file = load(in_folder("a.avif"));
        change_type(&file, kind / 2 == 1 ? "auxi\0\0\0\0" : "auxC\0\0\0\0", types[kind % 2]);
        save(in_folder("b.avif"), file.data, file.size);
        assert_int_equal(decode_frames(in_folder("b.avif[all]"), &options, &back), GF_OK);
        assert_int_equal(back.count, frames.count);
        for (int f = 0; f < back.count; f++) {
            assert_int_equal(back.picture[f].format.channels, 3);
            for (size_t i = 0; i < 200; i++)
                assert_memory_equal(back.picture[f].data + 3 * i, frames.picture[f].data + 4 * i,
                                    3);
        }
        free_frames(&back);
        free_frames(&frames);
        free(file.data);
    }
}

int main(void)
{
    if (gf_library_load(&gf_avif_library, "AVIF", GF_ERROR_UNAVAILABLE, &failure)) {
        puts("1..1\nok 1 # SKIP there is no libavif");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crop),
        cmocka_unit_test(test_crop_beyond_the_picture),
        cmocka_unit_test(test_crop_of_a_large_picture),
        cmocka_unit_test(test_pixels_that_are_not_square),
        cmocka_unit_test(test_damage_behind),
        cmocka_unit_test(test_auxiliary_that_is_not_alpha),
    };
    return cmocka_run_group_tests_name("avif", tests, make_folder, remove_folder);
}

#else
int main(void)
{
    puts("1..1\nok 1 # SKIP built without libavif");
    return 0;
}
#endif
