/* The formats of picture files: what is written comes back, and what others write is understood. */
#include "codec/codec_test.h"

#include <jpeglib.h>
#include <png.h>

#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/samples.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "codec/jpeg/jpeg.h"

/* ---- round trips ---- */

static const struct {
    int width, height;
} sizes[] = {{1, 1}, {1, 9}, {9, 1}, {3, 3}, {77, 55}};

static void check_round_trip(const char *name, int width, int height, int channels, int bits)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(width, height, channels, bits), back;
    for (options.png_level = 0; options.png_level <= 9; options.png_level += 3) {
        assert_int_equal(encode(in_folder(name), &picture, &options), GF_OK);
        assert_int_equal(decode(in_folder(name), &options, &back), GF_OK);
        assert_same_pixels(&picture, &back);
        free_picture(&back);
    }
    assert_int_equal(warnings, 0);
    free_picture(&picture);
}

static void test_round_trips(void **state)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int channels = 1; channels <= 4; channels++)
            for (int bits = 8; bits <= 16; bits += 8) {
                check_round_trip("a.png", sizes[i].width, sizes[i].height, channels, bits);
                check_round_trip("a.pam", sizes[i].width, sizes[i].height, channels, bits);
            }
}

static unsigned sample_of(const struct picture *picture, int x, int y, int c)
{
    const size_t at =
        ((size_t)y * (size_t)picture->format.width + (size_t)x) * (size_t)picture->format.channels +
        (size_t)c;
    return picture->format.bits == 16 ? ((const uint16_t *)(const void *)picture->data)[at]
                                      : picture->data[at];
}

static void test_alpha_is_left_out_of_pnm(void **state)
{
    for (int channels = 2; channels <= 4; channels += 2)
        for (int bits = 8; bits <= 16; bits += 8) {
            const struct gf_options options = plain_options();
            struct picture picture = random_picture(20, 7, channels, bits), back;
            assert_int_equal(encode(in_folder("a.pnm"), &picture, &options), GF_OK);
            assert_int_equal(warnings, 1);
            assert_int_equal(decode(in_folder("a.pnm"), &options, &back), GF_OK);
            assert_int_equal(back.format.channels, channels - 1);
            for (int y = 0; y < 7; y++)
                for (int x = 0; x < 20; x++)
                    for (int c = 0; c < channels - 1; c++)
                        assert_int_equal(sample_of(&back, x, y, c), sample_of(&picture, x, y, c));
            free_picture(&picture);
            free_picture(&back);
        }
}

static void test_narrowing_rounds(void **state)
{
    for (unsigned v = 0; v < 65536; v++) {
        const uint16_t wide = (uint16_t)v;
        unsigned char narrow;
        gf_samples_narrow(&wide, &narrow, 1);
        assert_int_equal(narrow, (2 * v * 255 + 65535) / (2 * 65535));
    }
}

/* ---- JPEG ---- */

static void assert_near(const struct picture *picture, const struct picture *back, int tolerance)
{
    const int shift = picture->format.bits - 8;
    assert_int_equal(picture->format.width, back->format.width);
    assert_int_equal(picture->format.height, back->format.height);
    assert_int_equal(back->format.bits, 8);
    for (int y = 0; y < back->format.height; y++)
        for (int x = 0; x < back->format.width; x++)
            for (int c = 0; c < back->format.channels; c++) {
                const int wanted = (int)(sample_of(picture, x, y, c) >> shift);
                const int got = (int)sample_of(back, x, y, c);
                assert_in_range(got + 255, wanted + 255 - tolerance, wanted + 255 + tolerance);
            }
}

static void test_jpeg_round_trips(void **state)
{
    for (int channels = 1; channels <= 4; channels++)
        for (int bits = 8; bits <= 16; bits += 8)
            for (int subsampling = GF_SUBSAMPLING_420; subsampling <= GF_SUBSAMPLING_444;
                 subsampling++)
                for (int progressive = 0; progressive <= 1; progressive++) {
                    struct gf_options options = plain_options();
                    options.quality = 95;
                    options.subsampling = subsampling;
                    options.progressive = progressive;
                    struct picture picture = smooth_picture(77, 55, channels, bits), back;
                    assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_OK);
                    assert_int_equal(warnings, channels % 2 ? 0 : 1);
                    assert_int_equal(decode(in_folder("a.jpg"), &options, &back), GF_OK);
                    assert_int_equal(back.format.channels, channels <= 2 ? 1 : 3);
                    assert_near(&picture, &back, 8);
                    free_picture(&picture);
                    free_picture(&back);
                }
}

static void test_too_large_for_jpeg(void **state)
{
    const struct gf_options options = plain_options();
    for (int tall = 0; tall <= 1; tall++) {
        struct picture picture = random_picture(tall ? 1 : 65501, tall ? 65501 : 1, 1, 8), back;
        assert_int_equal(encode(in_folder("large.jpg"), &picture, &options), GF_ERROR_UNFIT);
        assert_failure_says("large.jpg: ");
        assert_failure_says("too large for JPEG, whose sides end at 65500");
        assert_int_equal(access(in_folder("large.jpg"), F_OK), -1);
        assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
        assert_int_equal(decode(in_folder("a.png"), &options, &back), GF_OK);
        assert_same_pixels(&picture, &back);
        free_picture(&picture);
        free_picture(&back);
    }
}

/* The sampling factors of luma in the frame's header: two half bytes. */
static void check_sampling(enum gf_subsampling subsampling, bool progressive, int factors)
{
    struct gf_options options = plain_options();
    options.subsampling = subsampling;
    options.progressive = progressive;
    struct picture picture = smooth_picture(20, 20, 3, 8);
    assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_OK);
    struct bytes jpeg = load(in_folder("a.jpg"));
    size_t at = 2;
    while (at + 12 < jpeg.size && jpeg.data[at + 1] != 0xc0 && jpeg.data[at + 1] != 0xc2)
        at += 2 + (size_t)(jpeg.data[at + 2] << 8 | jpeg.data[at + 3]);
    assert_int_equal(jpeg.data[at + 1], progressive ? 0xc2 : 0xc0);
    assert_int_equal(jpeg.data[at + 11], factors);
    free(jpeg.data);
    free_picture(&picture);
}

static void test_jpeg_options(void **state)
{
    for (int progressive = 0; progressive <= 1; progressive++) {
        check_sampling(GF_SUBSAMPLING_420, progressive, 0x22);
        check_sampling(GF_SUBSAMPLING_422, progressive, 0x21);
        check_sampling(GF_SUBSAMPLING_444, progressive, 0x11);
    }
}

/* A JPEG of another colour space, from samples as they are to be stored before libjpeg's
 * conversion. */
static void write_jpeg(const char *path, const struct picture *picture, J_COLOR_SPACE given,
                       J_COLOR_SPACE stored, bool adobe, bool progressive)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    FILE *const file = fopen(path, "wb");
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = (JDIMENSION)picture->format.width;
    jpeg.image_height = (JDIMENSION)picture->format.height;
    jpeg.input_components = picture->format.channels;
    jpeg.in_color_space = given;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, stored);
    jpeg_set_quality(&jpeg, 98, TRUE);
    jpeg.write_Adobe_marker = adobe;
    if (progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < picture->format.height; y++) {
        JSAMPROW row = picture->data + (size_t)y * gf_row_bytes(picture->format);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(file);
}

static void check_cmyk(J_COLOR_SPACE stored, bool adobe, bool progressive)
{
    const struct gf_options options = plain_options();
    struct picture cmyk = smooth_picture(50, 40, 4, 8), back;
    write_jpeg(in_folder("a.jpg"), &cmyk, JCS_CMYK, stored, adobe, progressive);
    assert_int_equal(decode(in_folder("a.jpg"), &options, &back), GF_OK);
    assert_int_equal(back.format.channels, 3);
    assert_int_equal(warnings, 1);
    assert_non_null(
        strstr(last_warning, "a.jpg: its CMYK colours have no ICC profile: they become RGB"));
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 50; x++)
            for (int c = 0; c < 3; c++) {
                const int k = (int)sample_of(&cmyk, x, y, 3), ink = (int)sample_of(&cmyk, x, y, c);
                const int wanted = ink * k / 255;
                assert_in_range((int)sample_of(&back, x, y, c) + 255, wanted + 247, wanted + 263);
            }
    free_picture(&cmyk);
    free_picture(&back);
}

static void test_jpeg_colour_spaces(void **state)
{
    for (int progressive = 0; progressive <= 1; progressive++) {
        check_cmyk(JCS_CMYK, true, progressive);
        check_cmyk(JCS_CMYK, false, progressive);
        check_cmyk(JCS_YCCK, true, progressive);
        const struct gf_options options = plain_options();
        struct picture picture = smooth_picture(50, 40, 3, 8), back;
        write_jpeg(in_folder("a.jpg"), &picture, JCS_RGB, JCS_RGB, true, progressive);
        assert_int_equal(decode(in_folder("a.jpg"), &options, &back), GF_OK);
        assert_near(&picture, &back, 4);
        free_picture(&picture);
        free_picture(&back);
    }
}

/* ---- PNG as others write it ---- */

struct png_case {
    int colour_type, depth, interlace;
    bool transparent; /* has a tRNS chunk */
};

enum { TEST_WIDTH = 37, TEST_HEIGHT = 21, PALETTE_ALPHAS = 2 };

static int samples_of(int colour_type)
{
    return colour_type == PNG_COLOR_TYPE_RGB          ? 3
           : colour_type == PNG_COLOR_TYPE_RGB_ALPHA  ? 4
           : colour_type == PNG_COLOR_TYPE_GRAY_ALPHA ? 2
                                                      : 1;
}

static png_color palette_entry(int i)
{
    return (png_color){(png_byte)(i * 5 + 1), (png_byte)(255 - i), (png_byte)(i * 3)};
}

static png_byte palette_alpha(int i)
{
    return i < PALETTE_ALPHAS ? (png_byte)(10 + i) : 255;
}

/* sample: [height][width][samples], as the file has them. The pixel at the top left is the
 * transparent one. */
static void write_png(const char *path, struct png_case test, const uint16_t *sample)
{
    FILE *const file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    const int samples = samples_of(test.colour_type);
    const int passes = test.interlace ? 7 : 1;
    png_init_io(png, file);
    png_set_IHDR(png, info, TEST_WIDTH, TEST_HEIGHT, test.depth, test.colour_type,
                 test.interlace ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    png_color palette[256];
    png_byte alpha[PALETTE_ALPHAS] = {palette_alpha(0), palette_alpha(1)};
    for (int i = 0; i < 256; i++)
        palette[i] = palette_entry(i);
    if (test.colour_type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 1 << test.depth);
    const png_color_16 clear = {
        .gray = sample[0], .red = sample[0], .green = sample[1], .blue = sample[2]};
    if (test.transparent)
        png_set_tRNS(png, info, alpha,
                     test.colour_type == PNG_COLOR_TYPE_PALETTE ? PALETTE_ALPHAS : 0, &clear);
    png_write_info(png, info);
    if (test.depth < 8)
        png_set_packing(png);
    if (test.interlace)
        png_set_interlace_handling(png);
    unsigned char row[TEST_WIDTH * 4 * 2];
    for (int i = 0; i < passes * TEST_HEIGHT; i++) {
        const uint16_t *const from = sample + i % TEST_HEIGHT * TEST_WIDTH * samples;
        for (int s = 0; s < TEST_WIDTH * samples; s++) {
            if (test.depth == 16)
                row[2 * s] = (unsigned char)(from[s] >> 8);
            row[test.depth == 16 ? 2 * s + 1 : s] = (unsigned char)from[s];
        }
        png_write_row(png, row);
    }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

/* One pixel as it must be read. */
static int expand_pixel(struct png_case test, const uint16_t *clear, const uint16_t *sample,
                        uint16_t *pixel)
{
    const int samples = samples_of(test.colour_type);
    if (test.colour_type == PNG_COLOR_TYPE_PALETTE) {
        const png_color colour = palette_entry(sample[0]);
        pixel[0] = colour.red;
        pixel[1] = colour.green;
        pixel[2] = colour.blue;
        pixel[3] = palette_alpha(sample[0]);
        return test.transparent ? 4 : 3;
    }
    const unsigned most = (1u << test.depth) - 1;
    for (int s = 0; s < samples; s++)
        pixel[s] = (uint16_t)(test.depth < 8 ? sample[s] * 255u / most : sample[s]);
    pixel[samples] =
        memcmp(clear, sample, (size_t)samples * 2) ? (test.depth == 16 ? 65535 : 255) : 0;
    return samples + test.transparent;
}

static void check_png(struct png_case test)
{
    const struct gf_options options = plain_options();
    const int samples = samples_of(test.colour_type);
    uint16_t sample[TEST_WIDTH * TEST_HEIGHT * 4], pixel[5];
    unsigned seed = (unsigned)(test.colour_type * 31 + test.depth);
    for (int i = 0; i < TEST_WIDTH * TEST_HEIGHT * samples; i++)
        sample[i] = (uint16_t)(next_random(&seed) & ((1u << test.depth) - 1));
    write_png(in_folder("a.png"), test, sample);
    struct picture picture;
    assert_int_equal(decode(in_folder("a.png"), &options, &picture), GF_OK);
    assert_int_equal(picture.format.width, TEST_WIDTH);
    assert_int_equal(picture.format.height, TEST_HEIGHT);
    assert_int_equal(picture.format.bits, test.depth == 16 ? 16 : 8);
    for (int i = 0; i < TEST_WIDTH * TEST_HEIGHT; i++) {
        const int channels = expand_pixel(test, sample, sample + i * samples, pixel);
        assert_int_equal(picture.format.channels, channels);
        for (int c = 0; c < channels; c++)
            assert_int_equal(sample_of(&picture, i % TEST_WIDTH, i / TEST_WIDTH, c), pixel[c]);
    }
    free_picture(&picture);
}

static void test_png_types(void **state)
{
    static const int depths[][6] = {[PNG_COLOR_TYPE_GRAY] = {1, 2, 4, 8, 16},
                                    [PNG_COLOR_TYPE_RGB] = {8, 16},
                                    [PNG_COLOR_TYPE_PALETTE] = {1, 2, 4, 8},
                                    [PNG_COLOR_TYPE_GRAY_ALPHA] = {8, 16},
                                    [PNG_COLOR_TYPE_RGB_ALPHA] = {8, 16}};
    for (int type = 0; type < (int)(sizeof depths / sizeof *depths); type++)
        for (int d = 0; depths[type][d]; d++)
            for (int interlace = 0; interlace <= 1; interlace++) {
                check_png((struct png_case){type, depths[type][d], interlace, false});
                if (!(type & PNG_COLOR_MASK_ALPHA))
                    check_png((struct png_case){type, depths[type][d], interlace, true});
            }
}

/* ---- PNM as others write it ---- */

static void check_pnm(const char *file, size_t size, struct gf_format format, const void *samples)
{
    const struct gf_options options = plain_options();
    struct picture picture;
    save(in_folder("a.pnm"), file, size);
    if (decode(in_folder("a.pnm"), &options, &picture))
        fail_msg("%s", failure.text);
    assert_memory_equal(&picture.format, &format, sizeof format);
    assert_memory_equal(picture.data, samples, picture_bytes(format));
    free_picture(&picture);
}

#define CHECK_PNM(text, width, height, channels, bits, ...) \
    check_pnm(text, sizeof(text) - 1, \
              (struct gf_format){width, height, channels, bits, GF_SAMPLES_INTEGER}, __VA_ARGS__)
#define SAMPLES8(...) ((const uint8_t[]){__VA_ARGS__})
#define SAMPLES16(...) ((const uint16_t[]){__VA_ARGS__})

static void test_pnm_variants(void **state)
{
    CHECK_PNM("P1\n# one\n3 2\n1 0 1\n0 1 0\n", 3, 2, 1, 8, SAMPLES8(0, 255, 0, 255, 0, 255));
    CHECK_PNM("P1 3 2 101010", 3, 2, 1, 8, SAMPLES8(0, 255, 0, 255, 0, 255));
    CHECK_PNM("P2\n2 2\n# a comment 7\n3\n0 1\n2 3", 2, 2, 1, 8, SAMPLES8(0, 85, 170, 255));
    CHECK_PNM("P2 2 1 255#x\n7 255\n", 2, 1, 1, 8, SAMPLES8(7, 255));
    CHECK_PNM("P2 2 1 1000 500 1000", 2, 1, 1, 16, SAMPLES16(32768, 65535));
    CHECK_PNM("P3\t1 2\r\n255\n1 2 3\n4 5 6\n", 1, 2, 3, 8, SAMPLES8(1, 2, 3, 4, 5, 6));
    CHECK_PNM("P4\n10 2\n\x80\x40\x7f\xff", 10, 2, 1, 8,
              SAMPLES8(0, 255, 255, 255, 255, 255, 255, 255, 255, 0, /**/
                       255, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    CHECK_PNM("P5\n#x\n2 1 #y\n100\n\x32\x64", 2, 1, 1, 8, SAMPLES8(128, 255));
    CHECK_PNM("P5 2 1 65535\n\x12\x34\xff\x00", 2, 1, 1, 16, SAMPLES16(0x1234, 0xff00));
    CHECK_PNM("P5 1 1 256\n\x01\x00", 1, 1, 1, 16, SAMPLES16(65535));
    CHECK_PNM("P6 1 1 255\nabc trailing bytes are another picture's", 1, 1, 3, 8, "abc");
    CHECK_PNM("P6 1 1 65534\n\x00\x01\x7f\xff\xff\xfe", 1, 1, 3, 16, SAMPLES16(1, 32768, 65535));
}

static void test_pam_variants(void **state)
{
    CHECK_PNM("P7\nWIDTH 2\nHEIGHT 1\nDEPTH 1\nMAXVAL 1\nTUPLTYPE BLACKANDWHITE\nENDHDR\n\0\1", 2,
              1, 1, 8, SAMPLES8(0, 255));
    CHECK_PNM(
        "P7\n# x\nMAXVAL 255\nDEPTH 2\n\nHEIGHT 1\nWIDTH 1\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\nab",
        1, 1, 2, 8, "ab");
    CHECK_PNM("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 15\nENDHDR\n\0\1\2\17", 1, 1, 4, 8,
              SAMPLES8(0, 17, 34, 255));
    CHECK_PNM("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 65535\nTUPLTYPE RGB\nENDHDR\n\0\1\0\2\0\3", 1,
              1, 3, 16, SAMPLES16(1, 2, 3));
    assert_int_equal(warnings, 0);
    CHECK_PNM("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nTUPLTYPE normals\nENDHDR\nabc", 1, 1, 3,
              8, "abc");
    assert_non_null(strstr(last_warning, "TUPLTYPE normals is unknown: it is read as RGB"));
}

static void check_bad_pnm(const char *text, const char *words)
{
    const struct gf_options options = plain_options();
    save(in_folder("bad.pnm"), text, strlen(text));
    assert_refused(in_folder("bad.pnm"), &options, words);
}

static void test_bad_pnm(void **state)
{
    check_bad_pnm("P5 2 1 100\nde", "over the maxval 100 in row 1");
    check_bad_pnm("P2 2 1 100 5 101 ", "sample 101 over the maxval 100");
    check_bad_pnm("P1 2 1 1 2", "neither 0 nor 1");
    check_bad_pnm("P5 2 x 100\nde", "where a number was expected");
    check_bad_pnm("P5 2 -1 100\nde", "where a number was expected");
    check_bad_pnm("P5 2 1 65536\ndede", "maxval of 65536");
    check_bad_pnm("P5 2 1 0\nde", "maxval of 0");
    check_bad_pnm("P5 0 1 255\n", "without pixels");
    check_bad_pnm("P5 99999999999 1 255\n", "a number over");
    check_bad_pnm("P5 2147483647 2147483647 255\n", "over options.max_pixels");
    check_bad_pnm("P5 2 1", "truncated in the header");
    check_bad_pnm("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 5\nMAXVAL 255\nENDHDR\nabcde", "DEPTH 5");
    check_bad_pnm("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nTUPLTYPE CMYK\nENDHDR\nabc",
                  "TUPLTYPE CMYK");
    check_bad_pnm("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE CMYK\nENDHDR\nabcd",
                  "TUPLTYPE CMYK");
    check_bad_pnm("P7\nWIDTH 1\nHIGHT 1\nENDHDR\n", "HIGHT 1");
    check_bad_pnm("P7\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nENDHDR\na", "without pixels");
}

/* ---- metadata ---- */

/* A directory of two entries, the orientation second, and a link to a thumbnail's directory. */
static struct gf_blob make_exif(bool big, unsigned orientation)
{
    static const unsigned short words[] = {42, 0, 2, 0x0100, 3, 1, 640, 0x0112, 3, 1};
    unsigned char *const data = calloc(1, 64);
    size_t at = 2;
    const int widths[] = {2, 4, 2, 2, 2, 4, 4, 2, 2, 4};
    memcpy(data, big ? "MM" : "II", 2);
    for (size_t i = 0; i <= sizeof words / sizeof *words; i++) {
        const int width = i < 10 ? widths[i] : 2;
        unsigned value = i < 10 ? words[i] : orientation;
        value = i == 1 ? 8 : value;
        for (int b = 0; b < width; b++)
            data[at + (size_t)(big ? width - 1 - b : b)] = (unsigned char)(value >> 8 * b);
        at += (size_t)width;
    }
    data[at + 2 + (big ? 3 : 0)] = 40; /* the link, behind two bytes that the value does not use */
    return (struct gf_blob){data, 64};
}

static void test_exif_orientation(void **state)
{
    for (int big = 0; big <= 1; big++)
        for (unsigned orientation = 0; orientation <= 9; orientation++) {
            struct gf_blob exif = make_exif(big, orientation);
            const int valid = orientation >= 1 && orientation <= 8 ? (int)orientation : 1;
            assert_int_equal(gf_exif_orientation(&exif), valid);
            for (size_t size = 0; size < 34; size++) /* never past the end */
                assert_int_equal(gf_exif_orientation(&(struct gf_blob){exif.data, size}), 1);
            assert_true(gf_exif_set_orientation(&exif, 1));
            struct gf_blob upright = make_exif(big, 1);
            assert_memory_equal(exif.data, upright.data, 64);
            free(upright.data);
            free(exif.data);
        }
}

static void put_entry(unsigned char *at, bool big, unsigned tag, unsigned type, unsigned value)
{
    const unsigned words[] = {tag, type, 1, value};
    const int widths[] = {2, 2, 4, type == 3 ? 2 : 4};
    memset(at, 0, 12);
    for (int i = 0; i < 4; at += widths[i++])
        for (int b = 0; b < widths[i]; b++)
            at[big ? widths[i] - 1 - b : b] = (unsigned char)(words[i] >> 8 * b);
}

/* A directory that links to one with the picture's size: the width a SHORT, the height a LONG. */
static struct gf_blob exif_with_size(bool big, unsigned type, unsigned width, unsigned height)
{
    unsigned char *const data = calloc(1, 60);
    memcpy(data, big ? "MM\0\x2a\0\0\0\x08\0\1" : "II\x2a\0\x08\0\0\0\1\0", 10);
    put_entry(data + 10, big, 0x8769, 4, 26);
    data[26 + big] = 2;
    put_entry(data + 28, big, 0xa002, type, width);
    put_entry(data + 40, big, 0xa003, 4, height);
    return (struct gf_blob){data, 60};
}

static void check_exif_size(bool big, unsigned width, unsigned height, unsigned type)
{
    struct gf_blob exif = exif_with_size(big, 3, 640, 480);
    struct gf_blob wanted = exif_with_size(big, type, width, height);
    for (size_t size = 0; size < 28; size++) /* never past the end */
        gf_exif_set_size(&(struct gf_blob){exif.data, size}, 1, 1);
    gf_exif_set_size(&exif, (int)width, (int)height);
    assert_memory_equal(exif.data, wanted.data, 60);
    free(exif.data);
    free(wanted.data);
}

static void test_exif_states_the_size(void **state)
{
    const struct gf_options options = plain_options();
    for (int big = 0; big <= 1; big++) {
        check_exif_size(big, 640, 480, 3);
        check_exif_size(big, 300, 200, 3);
        check_exif_size(big, 65535, 70000, 3);
        check_exif_size(big, 65536, 1, 4);
        struct picture picture = smooth_picture(30, 20, 3, 8), back;
        struct gf_blob wanted = exif_with_size(big, 3, 30, 20);
        picture.metadata.exif = exif_with_size(big, 3, 640, 480);
        assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_OK);
        assert_int_equal(decode(in_folder("a.jpg"), &options, &back), GF_OK);
        assert_int_equal(back.metadata.exif.size, 60);
        assert_memory_equal(back.metadata.exif.data, wanted.data, 60);
        free(wanted.data);
        free_picture(&picture);
        free_picture(&back);
    }
}

/* The number becomes longer and shorter, in attributes and in elements, and nothing else changes.
 */
static void test_xmp_numbers(void **state)
{
    static const char text[] =
        "<x tiff:ImageWidth=\"64\" a='tiff:ImageWidth'/><tiff:ImageWidth>8000"
        "</tiff:ImageWidth> tiff:ImageWidth=\"6 tiff:ImageWidth";
    struct gf_blob xmp = {0};
    assert_true(gf_xmp_set_number(&xmp, "tiff:ImageWidth", 1)); /* nothing is added to NULL */
    assert_true(gf_blob_set(&xmp, text, sizeof text - 1));
    assert_true(gf_xmp_set_number(&xmp, "tiff:ImageWidth", 123));
    static const char wanted[] =
        "<x tiff:ImageWidth=\"123\" a='tiff:ImageWidth'/><tiff:ImageWidth>123"
        "</tiff:ImageWidth> tiff:ImageWidth=\"6 tiff:ImageWidth";
    assert_int_equal(xmp.size, sizeof wanted - 1);
    assert_memory_equal(xmp.data, wanted, xmp.size);
    assert_true(gf_blob_set(&xmp, "tiff:Orientation='6'", 20));
    assert_true(gf_xmp_set_number(&xmp, "tiff:Orientation", 1));
    assert_memory_equal(xmp.data, "tiff:Orientation='1'", 20);
    free(xmp.data);
}

/* An output states its own size where the input states one, in EXIF and in XMP. */
static void test_sizes_are_the_output_s(void **state)
{
    static const char packet[] = "<x exif:PixelXDimension='4000' exif:PixelYDimension='3000' "
                                 "tiff:ImageLength='3000' tiff:ImageWidth='4000'/>";
    static const char wanted[] = "<x exif:PixelXDimension='30' exif:PixelYDimension='20' "
                                 "tiff:ImageLength='20' tiff:ImageWidth='30'/>";
    static const unsigned char exif[] = "MM\0\x2a\0\0\0\x08\0\2\1\0\0\3\0\0\0\1\x0f\xa0\0\0"
                                        "\1\1\0\4\0\0\0\1\0\0\x0b\xb8\0\0\0";
    const struct gf_options options = plain_options();
    struct picture picture = smooth_picture(30, 20, 3, 8), back;
    assert_true(gf_blob_set(&picture.metadata.xmp, packet, sizeof packet - 1));
    assert_true(gf_blob_set(&picture.metadata.exif, exif, sizeof exif));
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    assert_int_equal(decode(in_folder("a.png"), &options, &back), GF_OK);
    assert_int_equal(back.metadata.xmp.size, sizeof wanted - 1);
    assert_memory_equal(back.metadata.xmp.data, wanted, sizeof wanted - 1);
    assert_memory_equal(back.metadata.exif.data + 18, "\0\x1e", 2);
    assert_memory_equal(back.metadata.exif.data + 30, "\0\0\0\x14", 4);
    free_picture(&picture);
    free_picture(&back);
}

static struct gf_blob make_xmp(unsigned orientation)
{
    char text[80];
    struct gf_blob xmp = {0};
    const int length = snprintf(text, sizeof text,
                                "<x:xmpmeta><r tiff:Orientation='%u'/></x:xmpmeta>", orientation);
    assert_true(gf_blob_set(&xmp, text, (size_t)length));
    return xmp;
}

static struct picture with_metadata(int channels, size_t icc_size, unsigned orientation)
{
    struct picture picture = smooth_picture(30, 20, channels, 8);
    unsigned seed = 5;
    unsigned char *const icc = malloc(icc_size);
    for (size_t i = 0; i < icc_size; i++)
        icc[i] = (unsigned char)next_random(&seed);
    memcpy(icc + 16, channels >= 3 ? "RGB " : "GRAY", 4);
    picture.metadata.icc = (struct gf_blob){icc, icc_size};
    picture.metadata.exif = make_exif(true, orientation);
    picture.metadata.xmp = make_xmp(orientation);
    picture.metadata.density_x = 11811;
    picture.metadata.density_y = 2835;
    picture.metadata.orientation = (int)orientation;
    return picture;
}

static void assert_same_blob(struct gf_blob a, struct gf_blob b)
{
    assert_int_equal(a.size, b.size);
    if (a.size)
        assert_memory_equal(a.data, b.data, a.size);
}

static void check_metadata(const struct picture *picture, const char *name, int orientation)
{
    const struct gf_options options = plain_options();
    struct picture back;
    struct gf_blob xmp = make_xmp((unsigned)orientation);
    assert_int_equal(decode(in_folder(name), &options, &back), GF_OK);
    assert_same_blob(back.metadata.icc, picture->metadata.icc);
    assert_same_blob(back.metadata.xmp, xmp);
    free(xmp.data);
    assert_int_equal(back.metadata.exif.size, picture->metadata.exif.size);
    assert_int_equal(back.metadata.orientation, orientation);
    assert_int_equal(gf_exif_orientation(&back.metadata.exif), orientation);
    /* JPEG can express 300 and 72 dots an inch exactly. */
    assert_true(back.metadata.density_x > 11810 && back.metadata.density_x < 11812);
    assert_true(back.metadata.density_y > 2834 && back.metadata.density_y < 2836);
    free_picture(&back);
}

/* The offset behind the header of the first scan. */
static size_t find_scan(const unsigned char *file)
{
    size_t at = 2;
    bool found = false;
    while (!found) {
        found = file[at + 1] == 0xda;
        at += 2 + (size_t)(file[at + 2] << 8 | file[at + 3]);
    }
    return at;
}

/* Writes the scan of the file "rows.jpg" by a sink of its own. */
static void write_spliced(const struct picture *picture, const struct gf_options *options)
{
    const struct bytes file = load(in_folder("rows.jpg"));
    const size_t scan = find_scan(file.data);
    struct gf_output *output;
    struct gf_sink *sink;
    assert_int_equal(gf_output_open(in_folder("spliced.jpg"), &output, &failure), GF_OK);
    assert_int_equal(gf_sink_open(output, GF_FILE_JPEG, picture->format, &picture->metadata,
                                  options, &sink, &failure),
                     GF_OK);
    const size_t coded = file.size - 2 - scan, part = coded / 3;
    assert_int_equal(sink->splice(sink, file.data + scan, part, false, &failure), GF_OK);
    assert_int_equal(sink->splice(sink, file.data + scan + part, coded - part, true, &failure),
                     GF_OK);
    sink->close(sink);
    assert_int_equal(gf_output_commit(output, &failure), GF_OK);
    gf_output_close(output);
    free(file.data);
}

/* Rows that were encoded elsewhere make the same file, whatever its metadata. */
static void test_splice(void **state)
{
    static const size_t icc_sizes[] = {200, 65519, 65520, 300000};
    for (int i = 0; i < 4 * 2 * 3; i++) {
        struct gf_options options = plain_options();
        struct picture picture = with_metadata(i / 4 % 2 ? 3 : 1, icc_sizes[i % 4], 1);
        options.subsampling = (enum gf_subsampling)(i / 8);
        options.quality = 100 - 20 * i / 8;
        assert_int_equal(encode(in_folder("rows.jpg"), &picture, &options), GF_OK);
        write_spliced(&picture, &options);
        assert_true(same_file(in_folder("rows.jpg"), in_folder("spliced.jpg")));
        free_picture(&picture);
    }
}

static void test_metadata_is_kept(void **state)
{
    static const size_t icc_sizes[] = {200, 65519, 65520, 300000};
    static const char *const names[] = {"a.png", "a.jpg"};
    for (size_t i = 0; i < 4; i++)
        for (int n = 0; n < 2; n++)
            for (int channels = 1; channels <= 3; channels += 2) {
                struct gf_options options = plain_options();
                struct picture picture = with_metadata(channels, icc_sizes[i], 6), again;
                assert_int_equal(encode(in_folder(names[n]), &picture, &options), GF_OK);
                check_metadata(&picture, names[n], 1);
                /* from one format to the other */
                assert_int_equal(decode(in_folder(names[n]), &options, &again), GF_OK);
                assert_int_equal(encode(in_folder(names[!n]), &again, &options), GF_OK);
                check_metadata(&picture, names[!n], 1);
                options.autorotate = false; /* the pixels still lie on their side */
                assert_int_equal(encode(in_folder(names[n]), &picture, &options), GF_OK);
                check_metadata(&picture, names[n], 6);
                assert_int_equal(warnings, 0);
                free_picture(&again);
                free_picture(&picture);
            }
}

/* The chunk that ImageMagick makes of such a profile, packed or not. */
static struct bytes raw_profile(const char *type, const void *profile, size_t size, bool packed)
{
    char text[2000], line[40];
    struct bytes chunk = {0};
    uLongf packed_size = sizeof text;
    unsigned char packed_text[sizeof text];
    int length = snprintf(text, sizeof text, "\n%s\n%8zu", type, size);
    for (size_t i = 0; i < size; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%02x",
                           i % 36 ? "" : "\n", ((const unsigned char *)profile)[i]);
    length += snprintf(text + length, sizeof text - (size_t)length, "\n");
    const int keyword = snprintf(line, sizeof line, "Raw profile type %s", type);
    append(&chunk, line, (size_t)keyword + 1);
    if (!packed) {
        append(&chunk, text, (size_t)length);
        return chunk;
    }
    assert_int_equal(compress(packed_text, &packed_size, (unsigned char *)text, (uLong)length),
                     Z_OK);
    append(&chunk, "", 1);
    append(&chunk, packed_text, packed_size);
    return chunk;
}

static struct picture with_raw_profile(struct bytes png, const char *type, struct bytes profile,
                                       bool packed)
{
    const struct gf_options options = plain_options();
    struct bytes chunk = raw_profile(type, profile.data, profile.size, packed);
    struct bytes file = with_chunk(png, packed ? "zTXt" : "tEXt", chunk.data, chunk.size);
    struct picture picture;
    save(in_folder("raw.png"), file.data, file.size);
    free(chunk.data);
    free(file.data);
    assert_int_equal(decode(in_folder("raw.png"), &options, &picture), GF_OK);
    assert_int_equal(warnings, 0);
    return picture;
}

static void test_raw_profiles(void **state)
{
    const struct gf_options options = plain_options();
    struct picture plain = smooth_picture(5, 5, 1, 8), picture;
    struct gf_blob tiff = make_exif(true, 6);
    struct bytes exif = {0}, xmp_segment = {0};
    append(&exif, "Exif\0", 6);
    append(&exif, tiff.data, tiff.size);
    append(&xmp_segment, "http://ns.adobe.com/xap/1.0/", 29);
    append(&xmp_segment, "<x:xmpmeta/>", 12);
    assert_int_equal(encode(in_folder("a.png"), &plain, &options), GF_OK);
    struct bytes png = load(in_folder("a.png"));
    for (int packed = 0; packed <= 1; packed++) {
        picture = with_raw_profile(png, packed ? "exif" : "APP1", exif, packed);
        assert_int_equal(picture.metadata.orientation, 6);
        assert_same_blob(picture.metadata.exif, tiff);
        free_picture(&picture);
        picture = with_raw_profile(png, "APP1", xmp_segment, packed);
        assert_same_blob(picture.metadata.xmp, (struct gf_blob){xmp_segment.data + 29, 12});
        free_picture(&picture);
        const struct bytes xmp = {xmp_segment.data + 29, 12};
        picture = with_raw_profile(png, "xmp", xmp, packed);
        assert_same_blob(picture.metadata.xmp, (struct gf_blob){xmp.data, xmp.size});
        free_picture(&picture);
    }
    static const char bad[] = "Raw profile type exif\0\nexif\n 2\n4x\n";
    struct bytes other = with_chunk(png, "tEXt", bad, sizeof bad - 1);
    save(in_folder("a.png"), other.data, other.size);
    assert_int_equal(decode(in_folder("a.png"), &options, &picture), GF_OK);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "its raw profile of type exif is damaged"));
    free_picture(&picture);
    free(other.data);
    free(png.data);
    free(exif.data);
    free(xmp_segment.data);
    free(tiff.data);
    free_picture(&plain);
}

/* Photoshop's resources with another before, records alone: both become the same, and travel. */
static void test_iptc(void **state)
{
    static const char resource[] = "8BIM\4\4\0\0\0\0\0\7\x1c\2\5\0\2Hi\0";
    static const char resources[] = "8BIM\4\1\1a\0\0\0\3abc\0"
                                    "8BIM\4\4\0\0\0\0\0\7\x1c\2\5\0\2Hi\0";
    const struct gf_blob wanted = {(unsigned char *)resource, sizeof resource - 1};
    struct gf_options options = plain_options();
    struct picture plain = smooth_picture(5, 5, 1, 8);
    assert_int_equal(encode(in_folder("a.png"), &plain, &options), GF_OK);
    struct bytes png = load(in_folder("a.png"));
    const struct bytes whole = {(unsigned char *)resources, sizeof resources - 1};
    const struct bytes records = {(unsigned char *)resource + 12, 12 - 5};
    for (int alone = 0; alone <= 1; alone++) {
        struct bytes profile = {0};
        append(&profile, alone ? records.data : whole.data, alone ? records.size : whole.size);
        if (alone)
            append(&profile, "\x1c\2\7\0\0", 5); /* one more record, of no letters */
        struct picture picture = with_raw_profile(png, "iptc", profile, alone), back;
        if (!alone)
            assert_same_blob(picture.metadata.iptc, wanted);
        assert_int_equal(picture.metadata.iptc.size, alone ? 24 : 20);
        assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_OK);
        assert_int_equal(decode(in_folder("a.jpg"), &options, &back), GF_OK);
        assert_same_blob(back.metadata.iptc, picture.metadata.iptc);
        free_picture(&picture);
        assert_int_equal(encode(in_folder("b.png"), &back, &options), GF_OK);
        assert_int_equal(decode(in_folder("b.png"), &options, &picture), GF_OK);
        assert_same_blob(picture.metadata.iptc, back.metadata.iptc);
        free_picture(&picture);
        options.strip = true;
        assert_int_equal(encode(in_folder("b.png"), &back, &options), GF_OK);
        assert_int_equal(decode(in_folder("b.png"), &options, &picture), GF_OK);
        assert_int_equal(picture.metadata.iptc.size, 0);
        options.strip = false;
        free_picture(&picture);
        free_picture(&back);
        free(profile.data);
    }
    for (size_t size = 0; size < whole.size; size++) { /* never past the end */
        struct gf_metadata metadata = {0};
        unsigned char *const part = malloc(size + 1);
        memcpy(part, whole.data, size);
        unsigned char *const exact = realloc(part, size ? size : 1);
        assert_true(gf_metadata_add_photoshop(&metadata, exact, size));
        assert_int_equal(metadata.iptc.size, size + 1 < whole.size ? 0 : 20);
        gf_metadata_free(&metadata);
        free(exact);
    }
    free(png.data);
    free_picture(&plain);
}

static void test_metadata_is_stripped(void **state)
{
    static const char *const names[] = {"a.png", "a.jpg"};
    for (int n = 0; n < 2; n++) {
        struct gf_options options = plain_options();
        struct picture picture = with_metadata(3, 500, 3), back;
        options.strip = true;
        assert_int_equal(encode(in_folder(names[n]), &picture, &options), GF_OK);
        assert_int_equal(decode(in_folder(names[n]), &options, &back), GF_OK);
        assert_int_equal(back.metadata.icc.size + back.metadata.exif.size + back.metadata.xmp.size,
                         0);
        assert_true(back.metadata.density_x == 0 && back.metadata.density_y == 0);
        assert_int_equal(back.metadata.orientation, 1);
        free_picture(&back);
        free_picture(&picture);
    }
}

static void test_profiles_of_other_colours_are_left_out(void **state)
{
    const struct gf_options options = plain_options();
    static const char *const spaces[] = {"GRAY", "CMYK"};
    for (int i = 0; i < 2; i++) {
        struct picture picture = with_metadata(3, 500, 1), back;
        memcpy(picture.metadata.icc.data + 16, spaces[i], 4);
        assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
        assert_int_equal(decode(in_folder("a.png"), &options, &back), GF_OK);
        assert_int_equal(back.metadata.icc.size, 0);
        assert_int_not_equal(back.metadata.exif.size, 0);
        free_picture(&back);
        free_picture(&picture);
    }
}

static void test_metadata_too_large_for_jpeg(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture = with_metadata(3, 500, 1), back;
    picture.metadata.xmp.data = realloc(picture.metadata.xmp.data, 70000);
    memset(picture.metadata.xmp.data, ' ', 70000);
    picture.metadata.xmp.size = 70000;
    assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_OK);
    assert_int_equal(warnings, 1);
    assert_int_equal(decode(in_folder("a.jpg"), &options, &back), GF_OK);
    assert_int_equal(back.metadata.xmp.size, 0);
    assert_int_equal(back.metadata.icc.size, 500);
    free_picture(&back);
    free_picture(&picture);
}

static void test_icc_parts_in_any_order(void **state)
{
    static const char *const segments[] = {"ICC_PROFILE\0\3\3c", "ICC_PROFILE\0\1\3a",
                                           "ICC_PROFILE\0\2\3b"};
    struct gf_icc_parts parts = {0};
    struct gf_blob icc = {0};
    for (int i = 0; i < 3; i++) {
        assert_true(gf_icc_parts_join(&parts, &icc));
        assert_null(icc.data);
        assert_true(gf_icc_parts_add(&parts, segments[i], 15));
    }
    assert_true(gf_icc_parts_join(&parts, &icc));
    assert_int_equal(icc.size, 3);
    assert_memory_equal(icc.data, "abc", 3);
    free(icc.data);
    icc = (struct gf_blob){0};
    assert_true(gf_icc_parts_add(&parts, segments[0], 15)); /* twice */
    assert_true(gf_icc_parts_join(&parts, &icc));
    assert_null(icc.data);
    gf_icc_parts_free(&parts);
}

/* The second part of a profile that calls itself another one. */
static void test_damaged_icc_is_left_out_by_name(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture = with_metadata(3, 70000, 1), back;
    assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_OK);
    const struct bytes file = load(in_folder("a.jpg"));
    unsigned char *part = memmem(file.data, file.size, "ICC_PROFILE\0\2", 13);
    assert_non_null(part);
    part[12] = 9;
    save(in_folder("a.jpg"), file.data, file.size);
    assert_int_equal(decode(in_folder("a.jpg"), &options, &back), GF_OK);
    assert_int_equal(back.metadata.icc.size, 0);
    assert_non_null(strstr(last_warning, "a.jpg: its ICC profile is damaged: left out"));
    free(file.data);
    free_picture(&back);
    free_picture(&picture);
}

/* ---- which format ---- */

static void test_recognition_is_by_content(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture = random_picture(5, 4, 3, 8), back;
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    assert_int_equal(rename(in_folder("a.png"), in_folder("b.jpg")), 0);
    assert_int_equal(decode(in_folder("b.jpg"), &options, &back), GF_OK);
    assert_same_pixels(&picture, &back);
    free_picture(&picture);
    free_picture(&back);
    save(in_folder("b.png"), "DDS and so on", 13);
    assert_refused(in_folder("b.png"), &options, "is DDS, which is not read");
    save(in_folder("b.png"), "P7 332\n1 1\n", 11);
    assert_refused(in_folder("b.png"), &options, "not a picture of a known format");
}

/* A .pgm with colours in it would be read as gray by its name, and as RGB by its contents. */
static void test_colours_do_not_go_into_a_pgm(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(5, 4, 3, 8), gray = random_picture(5, 4, 2, 8);
    unlink(in_folder("a.pgm"));
    assert_int_equal(encode(in_folder("a.pgm"), &picture, &options), GF_ERROR_UNFIT);
    assert_failure_says("a.pgm: a .pgm file holds gray");
    assert_int_equal(access(in_folder("a.pgm"), F_OK), -1);
    assert_int_equal(encode(in_folder("a.pgm"), &gray, &options), GF_OK); /* alpha is left out */
    options.format = GF_FILE_PNM; /* then the name says nothing */
    assert_int_equal(encode(in_folder("a.pgm"), &picture, &options), GF_OK);
    free_picture(&picture);
    free_picture(&gray);
}

static void test_format_by_name(void **state)
{
    static const struct {
        const char *path;
        enum gf_file_format format;
    } cases[] = {{"a.png", GF_FILE_PNG},   {"a.b/c.JPG", GF_FILE_JPEG}, {"x.jfif", GF_FILE_JPEG},
                 {"x.ppm", GF_FILE_PNM},   {"x.pgm", GF_FILE_PNM},      {"x.pnm", GF_FILE_PNM},
                 {"x.pam", GF_FILE_PAM},   {"-", GF_FILE_JPEG},         {"/dev/null", GF_FILE_JPEG},
                 {"noname", GF_FILE_AUTO}, {"a.png/b", GF_FILE_AUTO},   {"x.heic", GF_FILE_AUTO}};
    struct gf_options options = plain_options();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum gf_file_format format;
        const enum gf_status status =
            gf_sink_format(cases[i].path, &options, GF_FILE_JPEG, &format, &failure);
        if (cases[i].format == GF_FILE_AUTO)
            assert_int_equal(status, GF_ERROR_USAGE);
        else
            assert_int_equal(format, cases[i].format);
    }
    options.format = GF_FILE_PAM;
    enum gf_file_format format;
    assert_int_equal(gf_sink_format("x.png", &options, GF_FILE_PNG, &format, &failure), GF_OK);
    assert_int_equal(format, GF_FILE_PAM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_alpha_is_left_out_of_pnm),
        cmocka_unit_test(test_narrowing_rounds),
        cmocka_unit_test(test_jpeg_round_trips),
        cmocka_unit_test(test_too_large_for_jpeg),
        cmocka_unit_test(test_jpeg_options),
        cmocka_unit_test(test_jpeg_colour_spaces),
        cmocka_unit_test(test_png_types),
        cmocka_unit_test(test_pnm_variants),
        cmocka_unit_test(test_pam_variants),
        cmocka_unit_test(test_bad_pnm),
        cmocka_unit_test(test_exif_orientation),
        cmocka_unit_test(test_exif_states_the_size),
        cmocka_unit_test(test_xmp_numbers),
        cmocka_unit_test(test_sizes_are_the_output_s),
        cmocka_unit_test(test_splice),
        cmocka_unit_test(test_metadata_is_kept),
        cmocka_unit_test(test_raw_profiles),
        cmocka_unit_test(test_iptc),
        cmocka_unit_test(test_metadata_is_stripped),
        cmocka_unit_test(test_profiles_of_other_colours_are_left_out),
        cmocka_unit_test(test_metadata_too_large_for_jpeg),
        cmocka_unit_test(test_icc_parts_in_any_order),
        cmocka_unit_test(test_damaged_icc_is_left_out_by_name),
        cmocka_unit_test(test_recognition_is_by_content),
        cmocka_unit_test(test_colours_do_not_go_into_a_pgm),
        cmocka_unit_test(test_format_by_name),
    };
    return cmocka_run_group_tests_name("codec", tests, make_folder, remove_folder);
}
