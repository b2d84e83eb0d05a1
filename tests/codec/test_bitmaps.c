/* BMP and QOI as others write them, made by hand. The round trips are in test_codec.c, the cuts in
 * test_damage.c. */
#include "codec/codec_test.h"

/* ---- BMP ---- */

/* A BMP of a file header, a header proper with its first 20 bytes filled, and what follows. */
static struct bytes bmp_of(unsigned header, int width, int height, unsigned depth,
                           unsigned compression, const void *rest, size_t rest_bytes, size_t data)
{
    unsigned char head[14 + 124] = {'B', 'M'};
    struct bytes file = {0};
    const unsigned begin = 14 + header + (unsigned)data;
    memcpy(head + 10, &begin, 4);
    memcpy(head + 14, &header, 4);
    if (header == 12) {
        const uint16_t core[] = {(uint16_t)width, (uint16_t)height, 1, (uint16_t)depth};
        memcpy(head + 18, core, sizeof core);
    } else {
        const uint16_t planes[] = {1, (uint16_t)depth};
        memcpy(head + 18, &width, 4);
        memcpy(head + 22, &height, 4);
        memcpy(head + 26, planes, sizeof planes);
        memcpy(head + 30, &compression, 4);
    }
    append(&file, head, 14 + header);
    append(&file, rest, rest_bytes);
    return file;
}

static struct picture read_file(struct bytes file)
{
    const struct gf_options options = plain_options();
    struct picture picture;
    save(in_folder("a.bmp"), file.data, file.size);
    free(file.data);
    if (decode(in_folder("a.bmp"), &options, &picture))
        fail_msg("%s", failure.text);
    return picture;
}

static void check_read(struct bytes file, int width, int height, int channels, const void *samples)
{
    struct picture picture = read_file(file);
    const struct gf_format format = picture.format;
    assert_int_equal(format.width, width);
    assert_int_equal(format.height, height);
    assert_int_equal(format.channels, channels);
    assert_int_equal(format.bits, 8);
    assert_memory_equal(picture.data, samples, picture_bytes(format));
    free_picture(&picture);
}

static void check_refused(struct bytes file, const char *words)
{
    const struct gf_options options = plain_options();
    struct picture picture;
    save(in_folder("a.bmp"), file.data, file.size);
    free(file.data);
    assert_int_equal(decode(in_folder("a.bmp"), &options, &picture), GF_ERROR_INPUT);
    assert_failure_says(words);
}

#define TEXT(text) text, sizeof(text) - 1
#define RED "\xff\0\0"
#define GREEN "\0\xff\0"
#define BLUE "\0\0\xff"
#define BLACK "\0\0\0"
/* Palettes, blue first: black, red, green, blue. */
#define PALETTE4 "\0\0\0\0\0\0\xff\0\0\xff\0\0\xff\0\0\0"
#define PALETTE3 "\0\0\0\0\0\xff\0\xff\0\xff\0\0"

static void test_bmp_palettes(void **state)
{
    check_read(bmp_of(40, 3, 2, 1, 0, TEXT("\0\0\0\0\xff\xff\xff\0\xa0\0\0\0\x40\0\0\0"), 8), 3, 2,
               1, "\0\xff\0\xff\0\xff");
    check_read(bmp_of(40, 2, -1, 1, 0, TEXT("\0\0\xff\0\xff\0\0\0\x40\0\0\0"), 8), 2, 1, 3,
               RED BLUE);
    check_read(bmp_of(40, 4, 1, 2, 0, TEXT(PALETTE4 "\x1b\0\0\0"), 16), 4, 1, 3,
               BLACK RED GREEN BLUE);
    check_read(bmp_of(12, 3, 1, 4, 0, TEXT(PALETTE3 "\x12\x30\0\0"), 12), 3, 1, 3, RED GREEN BLUE);
    check_read(bmp_of(64, 2, 2, 8, 0, TEXT(PALETTE4 "\1\2\0\0\3\0\0\0"), 16), 2, 2, 3,
               BLUE BLACK RED GREEN);
    assert_int_equal(warnings, 0);
    check_read(bmp_of(40, 2, 1, 8, 0, TEXT(PALETTE4 "\1\4\0\0"), 16), 2, 1, 3, RED BLACK);
    assert_non_null(strstr(last_warning, "an index beyond its palette of 4: they are black"));
}

static void test_bmp_colours(void **state)
{
    check_read(bmp_of(40, 1, 2, 24, 0, TEXT("\1\2\3\0\4\5\6"), 0), 1, 2, 3, "\6\5\4\3\2\1");
    check_read(bmp_of(12, 1, 1, 24, 0, TEXT("\1\2\3\0"), 0), 1, 1, 3, "\3\2\1");
    /* Without masks the fourth byte means nothing. */
    check_read(bmp_of(40, 1, 1, 32, 0, TEXT("\1\2\3\x80"), 0), 1, 1, 3, "\3\2\1");
    check_read(bmp_of(40, 2, 1, 16, 0, TEXT("\x1f\x7c\x10\x02"), 0), 2, 1, 3,
               "\xff\0\xff\0\x84\x84");
    /* 5, 6 and 5 bits by masks behind the header; 4 times 4 bits by those of version 3 */
    check_read(bmp_of(40, 1, 1, 16, 3, TEXT("\0\xf8\0\0\xe0\7\0\0\x1f\0\0\0\x20\xf8\0\0"), 12), 1,
               1, 3, "\xff\4\0");
    check_read(
        bmp_of(40, 1, 1, 32, 6, TEXT("\xff\0\0\0\0\xff\0\0\0\0\xff\0\0\0\0\xff\1\2\3\4"), 16), 1, 1,
        4, "\1\2\3\4");
    struct bytes file = bmp_of(108, 1, 1, 32, 3, TEXT("\1\2\3\4"), 0);
    const uint32_t masks[] = {0xff0000, 0xff00, 0xff, 0xff000000};
    memcpy(file.data + 14 + 40, masks, sizeof masks);
    check_read(file, 1, 1, 4, "\3\2\1\4");
    /* The header of 52 bytes ends behind three masks, whatever the compression says. */
    file = bmp_of(52, 1, 1, 32, 6, TEXT("\1\2\3\4"), 0);
    memcpy(file.data + 14 + 40, masks, 12);
    check_read(file, 1, 1, 3, "\3\2\1");
    /* 10 bits become 8 */
    file = bmp_of(56, 1, 1, 32, 3, TEXT("\xff\x03\0\x20"), 0);
    const uint32_t wide[] = {0x3ff, 0xffc00, 0x3ff00000, 0};
    memcpy(file.data + 14 + 40, wide, sizeof wide);
    check_read(file, 1, 1, 3, "\xff\0\x80");
}

static void test_bmp_runs(void **state)
{
    check_read(bmp_of(40, 4, 2, 8, 1,
                      TEXT(PALETTE4 "\3\1\1\2\0\0"
                                    "\0\3\3\2\1\0"
                                    "\1\3"
                                    "\0\1"),
                      16),
               4, 2, 3, BLUE GREEN RED BLUE RED RED RED GREEN);
    check_read(bmp_of(40, 5, 1, 4, 2,
                      TEXT(PALETTE4 "\3\x12"
                                    "\0\0"),
                      16),
               5, 1, 3, RED GREEN RED BLACK BLACK);
    check_read(bmp_of(40, 3, 1, 4, 2, TEXT(PALETTE4 "\0\3\x12\x30"), 16), 3, 1, 3, RED GREEN BLUE);
    /* A step of 1 and 1, and the end before the last row: what no run sets is the first colour. */
    check_read(bmp_of(40, 2, 3, 8, 1,
                      TEXT("\0\xff\0\0\0\0\xff\0"
                           "\1\1\0\2\0\1\1\1\0\1"),
                      8),
               2, 3, 3, GREEN GREEN GREEN RED RED GREEN);
    /* What fills the row's last word is not shown, in a run and in pixels that are no run. */
    check_read(bmp_of(40, 2, 2, 8, 1, TEXT(PALETTE4 "\4\1\0\0\4\2\0\1"), 16), 2, 2, 3,
               GREEN GREEN RED RED);
    check_read(bmp_of(40, 2, 1, 8, 1, TEXT(PALETTE4 "\1\1\0\3\2\3\3\0\0\1"), 16), 2, 1, 3,
               RED GREEN);
    check_read(bmp_of(40, 3, 1, 4, 2, TEXT(PALETTE4 "\10\x12\0\1"), 16), 3, 1, 3, RED GREEN RED);
    check_refused(bmp_of(40, 2, 1, 8, 1, TEXT(PALETTE4 "\5\1\0\1"), 16),
                  "a.bmp: damaged: a run goes beyond its row");
    check_refused(bmp_of(40, 2, 1, 8, 1, TEXT(PALETTE4 "\0\2\3\0\0\1"), 16),
                  "a step goes beyond its row");
    check_refused(bmp_of(40, 2, 2, 8, 1, TEXT(PALETTE4 "\2\1\0\0\0\3\1\1"), 16),
                  "truncated after row 1 of 2");
    check_refused(bmp_of(40, 2, 2, 8, 1, TEXT(PALETTE4 "\2\1"), 16), "truncated after row 0 of 2");
}

static void test_bmp_refusals(void **state)
{
    check_refused(bmp_of(40, 1, 1, 24, 4, TEXT("abc\0"), 0), "a BMP of compression 4 is not read");
    check_refused(bmp_of(64, 1, 1, 24, 4, TEXT("abc\0"), 0), "a BMP of compression 4 is not read");
    check_refused(bmp_of(40, 1, 1, 3, 0, TEXT("abc\0"), 0), "a BMP of 3 bits and compression 0");
    check_refused(bmp_of(40, 1, 1, 8, 2, TEXT("abc\0"), 0), "a BMP of 8 bits and compression 2");
    check_refused(bmp_of(40, 0, 1, 24, 0, TEXT("abc\0"), 0), "its width is not above 0");
    check_refused(bmp_of(40, 1, 0, 24, 0, TEXT("abc\0"), 0), "a.bmp: ");
    check_refused(bmp_of(40, 1, INT32_MIN, 24, 0, TEXT("abc\0"), 0), "a.bmp: ");
    check_refused(bmp_of(40, 30000, 30000, 32, 0, TEXT("abc\0"), 0), "truncated after row 0");
    check_refused(bmp_of(40, 1, 1, 24, 0, TEXT("abc\0"), 5), "truncated in the header");
    check_refused(bmp_of(40, 1, 1, 16, 3, TEXT("\5\0\0\0\1\0\0\0\2\0\0\0ab\0\0"), 12),
                  "the bits of a sample are not beside each other");
}

/* The density and the profile of version 5 are kept. */
static void test_bmp_metadata(void **state)
{
    struct bytes file = bmp_of(124, 1, 1, 24, 0, TEXT("\1\2\3\0profile"), 0);
    const uint32_t density[] = {2835, 5906}, kind = 0x4d424544, profile[] = {128, 7};
    memcpy(file.data + 14 + 24, density, sizeof density);
    memcpy(file.data + 14 + 56, &kind, sizeof kind);
    memcpy(file.data + 14 + 112, profile, sizeof profile);
    struct picture picture = read_file(file);
    assert_int_equal(picture.metadata.icc.size, 7);
    assert_memory_equal(picture.metadata.icc.data, "profile", 7);
    assert_int_equal((int)picture.metadata.density_y, 5906);
    const struct gf_options options = plain_options();
    picture.metadata.icc.size = 0;
    assert_int_equal(encode(in_folder("b.bmp"), &picture, &options), GF_OK);
    free_picture(&picture);
    assert_int_equal(decode(in_folder("b.bmp"), &options, &picture), GF_OK);
    assert_int_equal((int)picture.metadata.density_x, 2835);
    free_picture(&picture);
}

/* ---- QOI ---- */

#define QOI(width, height, channels) "qoif\0\0\0" width "\0\0\0" height channels "\0"
#define END "\0\0\0\0\0\0\0\1"

static struct bytes qoi_of(const char *bytes, size_t size)
{
    struct bytes file = {0};
    append(&file, bytes, size);
    return file;
}

static void test_qoi_operations(void **state)
{
    /* RGB, a difference, luma, RGBA, the index of the first pixel, a run */
    check_read(qoi_of(TEXT(QOI("\7", "\1", "\4") "\xfe\x64\x64\x64"
                                                 "\x7f"
                                                 "\xaa\x96"
                                                 "\xff\1\2\3\4"
                                                 "\x11"
                                                 "\xc1" END)),
               7, 1, 4,
               "\x64\x64\x64\xff"
               "\x65\x65\x65\xff"
               "\x70\x6f\x6d\xff"
               "\1\2\3\4"
               "\x64\x64\x64\xff"
               "\x64\x64\x64\xff"
               "\x64\x64\x64\xff");
    /* Samples wrap around; the first pixel before is black; runs go from row to row. */
    check_read(qoi_of(TEXT(QOI("\2", "\2", "\3") "\x40"
                                                 "\xc2" END)),
               2, 2, 3, "\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe");
}

/* Linear samples are said to be linear: those of sRGB look different. */
static void test_qoi_colours(void **state)
{
    for (char space = 0; space <= 1; space++) {
        struct bytes file = qoi_of(TEXT(QOI("\1", "\1", "\3") "\xc0" END));
        file.data[13] = (unsigned char)space;
        struct picture picture = read_file(file);
        assert_int_equal(picture.metadata.colour.has_cicp, space);
        assert_true(!space || !memcmp(picture.metadata.colour.cicp, "\1\10\0\1", 4));
        free_picture(&picture);
    }
}

static void test_qoi_refusals(void **state)
{
    check_refused(qoi_of(TEXT(QOI("\1", "\1", "\5") "\xc0" END)), "damaged: 5 channels");
    check_refused(qoi_of(TEXT(QOI("\0", "\1", "\3") "\xc0" END)), "a.bmp: ");
    check_refused(qoi_of(TEXT(QOI("\2", "\2", "\3") "\xc1\xc0")), "truncated after row 1 of 2");
    check_refused(qoi_of(TEXT(QOI("\2", "\1", "\3") "\xc2" END)),
                  "the end marker does not follow the last pixel");
    check_refused(qoi_of(TEXT(QOI("\1", "\1", "\3") "\xc0"
                                                    "\xc0" END)),
                  "the end marker does not follow the last pixel");
    check_refused(qoi_of(TEXT(QOI("\1", "\1", "\3") "\xc0"
                                                    "\0\0\0")),
                  "truncated after row 1 of 1");
}

/* A run of more than 62 pixels, and all pixels of a drawing by their index. */
static void test_qoi_is_small(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture = random_picture(100, 10, 3, 8), back;
    memset(picture.data, 7, picture_bytes(picture.format));
    assert_int_equal(encode(in_folder("a.qoi"), &picture, &options), GF_OK);
    assert_int_equal(decode(in_folder("a.qoi"), &options, &back), GF_OK);
    assert_same_pixels(&picture, &back);
    struct stat file;
    assert_int_equal(stat(in_folder("a.qoi"), &file), 0);
    assert_int_equal(file.st_size, 14 + 2 + 17 + 8); /* luma, and runs for 999 pixels */
    free_picture(&back);
    free_picture(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bmp_palettes), cmocka_unit_test(test_bmp_colours),
        cmocka_unit_test(test_bmp_runs),     cmocka_unit_test(test_bmp_refusals),
        cmocka_unit_test(test_bmp_metadata), cmocka_unit_test(test_qoi_operations),
        cmocka_unit_test(test_qoi_colours),  cmocka_unit_test(test_qoi_refusals),
        cmocka_unit_test(test_qoi_is_small),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
