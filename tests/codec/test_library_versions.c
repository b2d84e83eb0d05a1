/* What libraries of older versions do not read, and the boxes by which such files are known. */
#include "codec/codec_test.h"

#include "codec/common/checks.h"
#include "codec/common/metadata/heif_boxes.h"

static bool is(const void *context, const char *mark)
{
    return !strcmp(context, mark);
}

static void test_versions(void **state)
{
    static const struct {
        const char *library, *version, *mark, *message;
    } cases[] = {
        {"libheif", "1.15.1", "j2k1",
         "a: libheif 1.15.1 does not read JPEG 2000 in HEIF; 1.17 does"},
        {"libheif", "1.17.0", "j2k1", NULL},
        {"libheif", "2.0.0", "j2k1", NULL},
        {"libheif", "1.15.1", "hvc1", NULL},
        {"libavif", "1.1.1", "soun", "a: libavif 1.1.1 does not read films with sound; 1.2 does"},
        {"libavif", "1.1.1", "meta", NULL},
        {"libavif", "1.10.0", "soun", NULL},
        {"libtiff", "LIBTIFF, Version 4.0.9\nCopyright 1988", "50000",
         "a: libtiff 4.0.9 does not read Zstandard; 4.0.10 does"},
        {"libtiff", "LIBTIFF, Version 4.0.10", "50000", NULL},
        {"libtiff", "LIBTIFF, Version 4.5.0", "50000", NULL},
        {"libjpeg-turbo", "2.1.5", "SOF3",
         "a: libjpeg-turbo 2.1.5 does not read lossless JPEG; 3.0 does"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum gf_status status =
            gf_fail_needs("a", cases[i].library, cases[i].version, is, cases[i].mark, &failure);
        assert_int_equal(status, cases[i].message ? GF_ERROR_INPUT : GF_OK);
        if (cases[i].message)
            assert_string_equal(failure.text, cases[i].message);
    }
}

/* Whether each shorter file is read without a fault; the bytes are copied so that a sanitizer sees
 * the end. */
static void check_shorter(const struct gf_blob *file)
{
    for (size_t size = 0; size <= file->size; size++) {
        struct gf_blob part = {0};
        assert_true(gf_blob_set(&part, file->data, size));
        (void)gf_heif_items(&part, "unci");
        (void)gf_heif_has_track(&part, "soun");
        (void)gf_heif_meta_is_open(&part);
        (void)gf_heif_grid_is_mixed(&part);
        (void)gf_heif_is_nested(&part);
        (void)gf_heif_item_orientation(&part, 1);
        free(part.data);
    }
}

static void test_boxes(void **state)
{
    /* A film's track of sound; then a box meta, which holds item 7 of the type unci with a
     * quarter turn, and then a mirroring of top and bottom. */
    static const char bytes[] =
        "\0\0\0\x2cmoov\0\0\0\x24trak\0\0\0\x1cmdia\0\0\0\x14hdlr\0\0\0\0\0\0\0\0soun"
        "\0\0\0\x65meta\0\0\0\0"
        "\0\0\0\x22iinf\0\0\0\0\0\1\0\0\0\x14infe\2\0\0\0\0\7\0\0unci"
        "\0\0\0\x37iprp\0\0\0\x1aipco\0\0\0\x09irot\3\0\0\0\x09imir\0"
        "\0\0\0\x15ipma\0\0\0\0\0\0\0\1\0\7\2\1\2";
    struct gf_blob file = {(unsigned char *)bytes, sizeof bytes - 1};
    assert_int_equal(gf_heif_items(&file, "unci"), 1);
    assert_false(gf_heif_items(&file, "hvc1"));
    assert_true(gf_heif_has_track(&file, "soun"));
    assert_false(gf_heif_has_track(&file, "vide"));
    assert_false(gf_heif_meta_is_open(&file));
    assert_int_equal(gf_heif_item_orientation(&file, 7), 7);
    assert_int_equal(gf_heif_item_orientation(&file, 8), 1);
    check_shorter(&file);
    struct gf_blob open = {0};
    assert_true(gf_blob_set(&open, bytes, sizeof bytes - 1));
    open.data[0x2c + 3] = 0;
    assert_true(gf_heif_meta_is_open(&open));
    assert_true(gf_heif_items(&open, "unci"));
    free(open.data);
}

/* The pictures 1 and 2 of a grid, in their order and in the other. */
static void test_grids(void **state)
{
    static const char bytes[] = "\0\0\0\x28meta\0\0\0\0\0\0\0\x1ciref\0\0\0\0\0\0\0\x10"
                                "dimg\0\3\0\2\0\1\0\2";
    struct gf_blob file = {0};
    assert_true(gf_blob_set(&file, bytes, sizeof bytes - 1));
    assert_false(gf_heif_grid_is_mixed(&file));
    assert_false(gf_heif_is_nested(&file));
    file.data[37] = 3;
    assert_true(gf_heif_grid_is_mixed(&file));
    assert_true(gf_heif_is_nested(&file));
    check_shorter(&file);
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_versions),
                                       cmocka_unit_test(test_boxes), cmocka_unit_test(test_grids)};
    return cmocka_run_group_tests_name("library versions", tests, make_folder, remove_folder);
}
