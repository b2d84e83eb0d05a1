/* AVIFs with properties that only libavif itself can write: crops, pixels that are not square, and
 * colours of all matrices. */
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

/* ---- colours ---- */

enum { ODD_WIDTH = 23, ODD_HEIGHT = 17 };
static const uint32_t COLOURS = 0xb7e4259c; /* the checksum of all pixels below */

struct coloured {
    avifPixelFormat yuv;
    int depth, matrix;
    double kr, kb;
    bool full, alpha;
};

static int plane_at(const avifImage *image, int plane, int x, int y)
{
    const uint8_t *const row =
        (plane < 3 ? image->yuvPlanes[plane] : image->alphaPlane) +
        (size_t)y * (plane < 3 ? image->yuvRowBytes[plane] : image->alphaRowBytes);
    return image->depth > 8 ? ((const uint16_t *)row)[x] : row[x];
}

/* Noise in all planes. */
static avifImage *noise_of(const struct coloured *kind, unsigned seed)
{
    avifImage *const image = gf_avif.avifImageCreate(ODD_WIDTH, ODD_HEIGHT, kind->depth, kind->yuv);
    assert_non_null(image);
    image->yuvRange = kind->full ? AVIF_RANGE_FULL : AVIF_RANGE_LIMITED;
    image->matrixCoefficients = (avifMatrixCoefficients)kind->matrix;
    (void)gf_avif.avifImageAllocatePlanes(image, kind->alpha ? AVIF_PLANES_ALL : AVIF_PLANES_YUV);
    for (int plane = 0; plane < 4; plane++) {
        uint8_t *const first = plane < 3 ? image->yuvPlanes[plane] : image->alphaPlane;
        const size_t pitch = plane < 3 ? image->yuvRowBytes[plane] : image->alphaRowBytes;
        const bool chroma = plane == 1 || plane == 2;
        const int width = chroma && kind->yuv >= AVIF_PIXEL_FORMAT_YUV422 ? (ODD_WIDTH + 1) / 2
                                                                          : ODD_WIDTH,
                  height = chroma && kind->yuv == AVIF_PIXEL_FORMAT_YUV420 ? (ODD_HEIGHT + 1) / 2
                                                                           : ODD_HEIGHT;
        for (int i = 0; first && i < width * height; i++) {
            const unsigned value = next_random(&seed) % (1U << kind->depth);
            uint8_t *const row = first + (size_t)(i / width) * pitch;
            if (kind->depth > 8)
                ((uint16_t *)row)[i % width] = (uint16_t)value;
            else
                row[i % width] = (uint8_t)value;
        }
    }
    return image;
}

/* Returns chroma, less its middle, of a pixel: where it is subsampled, 9, 3, 3 and 1 sixteenths of
 * the four samples around the pixel. */
static double chroma_at(const avifImage *image, int plane, int x, int y)
{
    const bool half_width = image->yuvFormat >= AVIF_PIXEL_FORMAT_YUV422,
               half_height = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV420;
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        int at[2] = {x, y};
        double weight = 1;
        for (int side = 0; side < 2; side++) {
            const int last = (side ? ODD_HEIGHT - 1 : ODD_WIDTH - 1) / 2, far = i >> side & 1;
            if (!(side ? half_height : half_width)) {
                weight *= !far;
                continue;
            }
            at[side] = at[side] / 2 + far * (at[side] % 2 ? 1 : -1);
            at[side] = at[side] < 0 ? 0 : at[side] > last ? last : at[side];
            weight *= far ? .25 : .75;
        }
        sum += weight * plane_at(image, plane, at[0], at[1]);
    }
    return sum - (1 << (image->depth - 1));
}

static double limited_to(double value, double most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

/* Returns the colour that the standard gives, in 0..most. */
static double colour_at(const struct coloured *kind, const avifImage *image, int x, int y, int c,
                        double most)
{
    const double unit = 1 << (kind->depth - 8), all = 256 * unit - 1, kr = kind->kr, kb = kind->kb,
                 luma = (plane_at(image, 0, x, y) - (kind->full ? 0 : 16 * unit)) /
                        (kind->full ? all : 219 * unit),
                 span = kind->full ? all : 224 * unit;
    if (kind->yuv == AVIF_PIXEL_FORMAT_YUV400)
        return limited_to(luma, 1) * most;
    const double u = chroma_at(image, 1, x, y) / span * 2 * (1 - kb),
                 v = chroma_at(image, 2, x, y) / span * 2 * (1 - kr);
    return limited_to(luma + (c == 0   ? v
                              : c == 2 ? u
                                       : -(kr * v + kb * u) / (1 - kr - kb)),
                      1) *
           most;
}

/* Compares the picture of the file with the formulas, and adds its bytes to a checksum. */
static void check_colours(const struct coloured *kind, const avifImage *image, uint32_t *sum)
{
    const struct gf_options options = plain_options();
    struct picture back;
    assert_int_equal(decode(in_folder("a.avif"), &options, &back), GF_OK);
    const int colours = kind->yuv == AVIF_PIXEL_FORMAT_YUV400 ? 1 : 3,
              channels = colours + kind->alpha, most = back.format.bits == 16 ? 65535 : 255;
    assert_int_equal(back.format.channels, channels);
    for (int i = 0; i < ODD_WIDTH * ODD_HEIGHT * channels; i++) {
        const int c = i % channels, x = i / channels % ODD_WIDTH, y = i / channels / ODD_WIDTH,
                  got = most > 255 ? ((const uint16_t *)back.data)[i] : back.data[i];
        const double wanted =
            c < colours ? colour_at(kind, image, x, y, c, most)
                        : plane_at(image, 3, x, y) * (double)most / ((1 << kind->depth) - 1);
        if (got < wanted - .52 || got > wanted + .52)
            fail_msg("%d bits, format %d, matrix %d, full %d: %d at %d, %d for %f", kind->depth,
                     kind->yuv, kind->matrix, kind->full, got, x, y, wanted);
        *sum = (*sum ^ (uint32_t)got) * 16777619U;
    }
    free_picture(&back);
}

/* The colours are those of the standard, with chroma between its samples, whatever libavif would
 * make. The planes are coded without loss, so that the pixels are the same with every encoder. */
static void test_colours(void **state)
{
    static const struct {
        int number;
        double kr, kb;
    } matrices[] = {{1, .2126, .0722}, {2, .299, .114}, {4, .3, .11},     {5, .299, .114},
                    {6, .299, .114},   {7, .212, .087}, {9, .2627, .0593}};
    uint32_t sum = 2166136261U;
    for (int i = 0; i < 4 * 3 * 2 * 7; i++) {
        const struct coloured kind = {.yuv = AVIF_PIXEL_FORMAT_YUV444 + i % 4,
                                      .depth = 8 + i / 4 % 3 * 2,
                                      .full = i / 12 % 2,
                                      .matrix = matrices[i / 24].number,
                                      .kr = matrices[i / 24].kr,
                                      .kb = matrices[i / 24].kb,
                                      .alpha = i % 5 == 0};
        avifImage *const image = noise_of(&kind, (unsigned)i + 1), *const same = noise_of(
                                                                       &kind, (unsigned)i + 1);
        write_avif(image);
        check_colours(&kind, same, &sum);
        gf_avif.avifImageDestroy(same);
    }
    assert_int_equal(sum, COLOURS);
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
        cmocka_unit_test(test_colours),
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
