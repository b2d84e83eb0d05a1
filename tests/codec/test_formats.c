/* The formats, all alike by the table of formats, those that other libraries read and write more
 * than others. A format whose library is not here is left out. */
#include "codec/codec_test.h"

#include <fcntl.h>
#include <unistd.h>

#include "codec/codec.h"
#include "codec/common/colour/colour.h"
#include "codec/formats.h"
#include "icc/icc.h"

/* The next format of the table that is written here, from *index on. GIF, whose pictures have few
 * colours, has tests of its own. */
static const struct gf_file_type *next_written(int *index)
{
    const struct gf_file_type *type;
    while ((type = gf_file_type_at((*index)++))) {
        if (type->create && type->format != GF_FILE_GIF &&
            (!type->library ||
             !gf_library_load(type->library, type->name, GF_ERROR_UNAVAILABLE, &failure)))
            return type;
    }
    return NULL;
}

/* The next one that is written by a library, but for OpenEXR, whose samples are floats. */
static const struct gf_file_type *next_type(int *index)
{
    const struct gf_file_type *type;
    while ((type = next_written(index)) && (!type->library || type->format == GF_FILE_EXR))
        ;
    return type;
}

static const char *path_of(const struct gf_file_type *type)
{
    static char name[20];
    snprintf(name, sizeof name, "a.%s", gf_file_format_extension(type->format));
    return in_folder(name);
}

static unsigned sample_of(const struct picture *picture, size_t pixel, int c)
{
    const size_t at = pixel * (size_t)picture->format.channels + (size_t)c;
    return picture->format.bits == 16 ? ((const uint16_t *)(const void *)picture->data)[at]
                                      : picture->data[at];
}

static size_t pixels_of(const struct picture *picture)
{
    return (size_t)picture->format.width * (size_t)picture->format.height;
}

/* The largest difference of a sample, of all that are not hidden by alpha. Gray may have become
 * RGB. */
static unsigned difference(const struct picture *from, const struct picture *to)
{
    const int colours = gf_colour_channels(from->format),
              more = gf_colour_channels(to->format) - colours;
    unsigned most = 0;
    assert_int_equal(to->format.width, from->format.width);
    assert_int_equal(to->format.height, from->format.height);
    assert_int_equal(to->format.channels, from->format.channels + more);
    for (size_t i = 0; i < pixels_of(from); i++)
        for (int c = 0; c < to->format.channels; c++) {
            const int source = c < colours ? c : c - more < 0 ? 0 : c - more;
            const unsigned a = sample_of(from, i, more && c < 3 ? 0 : source),
                           b = sample_of(to, i, c);
            most = a > b && a - b > most ? a - b : b > a && b - a > most ? b - a : most;
        }
    return most;
}

static void test_lossless_round_trips(void **state)
{
    static const struct {
        int width, height;
    } sizes[] = {{1, 1}, {1, 9}, {9, 1}, {3, 3}, {77, 55}};
    const struct gf_file_type *type;
    for (int index = 0; (type = next_written(&index));)
        for (int kind = 0; type->lossless_bits && kind < 40; kind++) {
            if (gf_depth_is_float(gf_depth_next(type, 0)))
                continue;
            if (kind % 2 && !type->alpha)
                continue;
            struct gf_options options = plain_options();
            struct picture picture = random_picture(sizes[kind / 8].width, sizes[kind / 8].height,
                                                    kind % 4 + 1, kind & 4 ? 16 : 8),
                           back;
            options.lossless = true;
            if (picture.format.bits <= type->lossless_bits) {
                assert_int_equal(encode(path_of(type), &picture, &options), GF_OK);
                if (decode(path_of(type), &options, &back))
                    fail_msg("%s", failure.text);
                assert_int_equal(difference(&picture, &back), 0);
                assert_int_equal(back.format.bits, picture.format.bits);
                assert_int_equal(warnings, 0);
                free_picture(&back);
            } else {
                assert_int_equal(encode(path_of(type), &picture, &options), GF_ERROR_UNFIT);
                assert_failure_says("lossless up to");
            }
            free_picture(&picture);
        }
}

/* Soft gradients stay what they are, up to little more for less quality. */
static void test_quality(void **state)
{
    const struct gf_file_type *type;
    for (int index = 0; (type = next_type(&index));)
        for (int kind = 0; type->lossy && kind < 8; kind++) {
            struct gf_options options = plain_options();
            struct picture picture = smooth_picture(200, 150, kind % 4 + 1, kind & 4 ? 16 : 8),
                           back;
            size_t before = 0;
            for (options.quality = 20; options.quality <= 100; options.quality += 40) {
                assert_int_equal(encode(path_of(type), &picture, &options), GF_OK);
                struct bytes file = load(path_of(type));
                if (options.quality == 20)
                    before = file.size;
                assert_true(options.quality < 100 || file.size > before);
                free(file.data);
                if (decode(path_of(type), &options, &back))
                    fail_msg("%s", failure.text);
                struct picture narrow = smooth_picture(200, 150, kind % 4 + 1, back.format.bits);
                const unsigned most =
                    difference(&narrow, &back) / (back.format.bits == 16 ? 257 : 1);
                /* The quality of a JPEG 2000 is a mean over all samples. */
                const unsigned more = type->format == GF_FILE_JP2 ? 6 : 0;
                if (most > (options.quality == 20 ? 40 : 12) + more)
                    fail_msg("%s, quality %d, %d channels: a sample differs by %u", type->name,
                             options.quality, kind % 4 + 1, most);
                free_picture(&narrow);
                free_picture(&back);
            }
            free_picture(&picture);
        }
}

/* ---- metadata ---- */

/* The maker, orientation 6, and in a directory of its own an exposure of 1/250 s. */
static const unsigned char exif[] = "MM\0*\0\0\0\10\0\3"
                                    "\1\17\0\2\0\0\0\3gf\0\0"
                                    "\1\22\0\3\0\0\0\1\0\6\0\0"
                                    "\x87\x69\0\4\0\0\0\1\0\0\0\62\0\0\0\0"
                                    "\0\1\x82\x9a\0\5\0\0\0\1\0\0\0\104\0\0\0\0"
                                    "\0\0\0\1\0\0\0\xfa";

/* In either byte order. */
static bool has_exposure(const struct gf_blob *blob)
{
    return memmem(blob->data, blob->size, "\0\0\0\1\0\0\0\xfa", 8) ||
           memmem(blob->data, blob->size, "\1\0\0\0\xfa\0\0\0", 8);
}

static const char xmp[] = "<x:xmpmeta xmlns:x='adobe:ns:meta/'><a b='c'/></x:xmpmeta>";

static void test_metadata_is_kept(void **state)
{
    const struct gf_file_type *type;
    unsigned char profile[GF_ICC_MADE_MOST];
    const struct gf_colour_tags tags = {.has_gamma = true, .gamma = 55555};
    const size_t profile_bytes = gf_colour_tags_profile(&tags, false, profile);
    for (int index = 0; (type = next_type(&index));) {
        struct gf_options options = plain_options();
        struct picture picture = smooth_picture(40, 30, 3, 8), back;
        options.lossless = true; /* then no library looks into the profile */
        assert_true(gf_metadata_add_exif(&picture.metadata, exif, sizeof exif - 1));
        assert_true(gf_blob_set(&picture.metadata.xmp, xmp, sizeof xmp - 1));
        assert_true(gf_blob_set(&picture.metadata.icc, profile, profile_bytes));
        for (int mode = 0; mode < 3; mode++) {
            options.autorotate = mode != 1;
            options.strip = mode == 2;
            if (encode(path_of(type), &picture, &options) || decode(path_of(type), &options, &back))
                fail_msg("%s", failure.text);
            assert_int_equal(back.metadata.orientation, mode == 1 ? 6 : 1);
            assert_int_equal(back.metadata.icc.size, options.strip ? 0 : profile_bytes);
            assert_int_equal(back.metadata.xmp.size, options.strip ? 0 : sizeof xmp - 1);
            assert_int_equal(!back.metadata.exif.size, options.strip);
            if (!options.strip) {
                assert_memory_equal(back.metadata.icc.data, profile, profile_bytes);
                assert_memory_equal(back.metadata.xmp.data, xmp, sizeof xmp - 1);
                assert_int_equal(gf_exif_orientation(&back.metadata.exif), mode == 1 ? 6 : 1);
                assert_true(has_exposure(&back.metadata.exif));
            }
            free_picture(&back);
        }
        free_picture(&picture);
    }
}

/* The numbers of colours that no profile can say stay where the format has them, and so do the
 * samples that they are said of. */
static void test_hdr_is_kept(void **state)
{
    static const unsigned char hdr[][2] = {{9, 16}, {9, 18}, {12, 16}, {11, 18}, {1, 16}};
    const struct gf_file_type *type;
    for (int index = 0; (type = next_type(&index));)
        for (int kind = 0; kind < 20; kind++) {
            struct gf_options options = plain_options();
            struct picture picture = smooth_picture(40, 30, kind & 1 ? 3 : 1, type->bits), back;
            const unsigned char *const cicp = hdr[kind / 4];
            options.lossless = kind & 2 && type->lossless_bits == type->bits;
            options.quality = 95;
            /* Dark parts of deep colours lose much. */
            for (size_t i = 0; i < picture_bytes(picture.format); i++)
                picture.data[i] = (unsigned char)(i / gf_row_bytes(picture.format) * 8);
            gf_colour_tags_set_cicp(&picture.metadata.colour, cicp[0], cicp[1]);
            if (encode(path_of(type), &picture, &options))
                fail_msg("%s", failure.text);
            assert_int_equal(warnings, !type->tags);
            if (decode(path_of(type), &options, &back))
                fail_msg("%s", failure.text);
            assert_int_equal(back.metadata.colour.has_cicp, type->tags != GF_TAGS_NONE);
            if (type->tags && !(kind & 1 ? memcmp(back.metadata.colour.cicp, cicp, 2)
                                         : back.metadata.colour.cicp[1] != cicp[1]))
                assert_in_range(difference(&picture, &back), 0, options.lossless ? 0 : 2500);
            else if (type->tags)
                fail_msg("%s of kind %d has other numbers", type->name, kind);
            free_picture(&back);
            free_picture(&picture);
        }
}

/* ---- damage and limits ---- */

/* Some libraries say more on standard error than their callers want to hear. */
static int quiet(void)
{
    const int kept = dup(2), nowhere = open("/dev/null", O_WRONLY);
    assert_true(kept >= 0 && nowhere >= 0 && dup2(nowhere, 2) == 2);
    close(nowhere);
    return kept;
}

static void loud(int kept)
{
    assert_int_equal(dup2(kept, 2), 2);
    close(kept);
}

/* A file without its end is refused by a line that names it, wherever it is cut. */
static void test_cuts(void **state)
{
    enum { STEP = 100 };
    const struct gf_file_type *type;
    for (int index = 0; (type = next_type(&index));) {
        const struct gf_options options = plain_options();
        struct picture picture = random_picture(60, 40, 3, 8), back;
        assert_int_equal(encode(path_of(type), &picture, &options), GF_OK);
        struct bytes file = load(path_of(type));
        assert_true(file.size > 3 * STEP);
        for (size_t size = 16; size < file.size; size += STEP) {
            save(path_of(type), file.data, size);
            const int kept = quiet();
            const enum gf_status status = decode(path_of(type), &options, &back);
            loud(kept);
            if (status != GF_ERROR_INPUT)
                fail_msg("%s: %zu of %zu bytes were read", type->name, size, file.size);
            assert_failure_says(strrchr(path_of(type), '/') + 1);
        }
        free(file.data);
        free_picture(&picture);
    }
}

/* A JPEG XL whose picture is whole is read, although a box behind it is cut. */
static void test_damage_behind(void **state)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_JXL);
    struct gf_options options = plain_options();
    struct picture picture = random_picture(60, 40, 3, 8), back;
    if (!type->library || gf_library_load(type->library, "JPEG XL", GF_ERROR_UNAVAILABLE, &failure))
        skip();
    options.lossless = true;
    assert_true(
        gf_blob_set(&picture.metadata.xmp, xmp, sizeof xmp - 1)); /* makes it a file of boxes */
    assert_int_equal(encode(in_folder("a.jxl"), &picture, &options), GF_OK);
    struct bytes file = load(in_folder("a.jxl"));
    append(&file, "\0\0\1\0xml <cut", 12);
    save(in_folder("a.jxl"), file.data, file.size);
    assert_int_equal(decode(in_folder("a.jxl"), &options, &back), GF_OK);
    assert_int_equal(difference(&picture, &back), 0);
    assert_non_null(strstr(last_warning, "a.jxl: damaged behind its first picture: "));
    free_picture(&back);
    free_picture(&picture);
    free(file.data);
}

/* Flipped bytes give pixels or a line, and nothing else. */
static void test_flips(void **state)
{
    const struct gf_file_type *type;
    for (int index = 0; (type = next_type(&index));) {
        const struct gf_options options = plain_options();
        struct picture picture = random_picture(20, 20, 3, 8), back;
        assert_int_equal(encode(path_of(type), &picture, &options), GF_OK);
        struct bytes file = load(path_of(type));
        const int kept = quiet();
        for (size_t at = 0; at < file.size; at += 1 + file.size / 150) {
            file.data[at] ^= 0x55;
            save(path_of(type), file.data, file.size);
            if (!decode(path_of(type), &options, &back))
                free_picture(&back);
            file.data[at] ^= 0x55;
        }
        loud(kept);
        free(file.data);
        free_picture(&picture);
    }
}

static void test_limits(void **state)
{
    const struct gf_file_type *type;
    for (int index = 0; (type = next_type(&index));) {
        struct gf_options options = plain_options();
        struct picture picture = random_picture(20, 10, 3, 8);
        assert_int_equal(encode(path_of(type), &picture, &options), GF_OK);
        options.max_pixels = 199;
        assert_refused(path_of(type), &options, "20x10 is 200 pixels, over options.max_pixels=199");
        free_picture(&picture);
    }
}

/* The number is part of the name, unless there is such a file. */
static void test_page_of_a_name(void **state)
{
    static const char *const none[] = {"a.gif[]",        "[3]",        "a.gif[x=1]", "a.gif[3",
                                       "a.gif[1234567]", "a.gif[3..]", "a.gif[..3]", "a.gif[3..2]",
                                       "a.gif[-al]"};
    struct gf_pages page = {-1, -1};
    assert_int_equal(gf_input_split_pages("a.gif[3]", &page), 5);
    assert_true(page.first == 3 && page.last == -1);
    assert_int_equal(gf_input_split_pages("a.gif[3..17]", &page), 5);
    assert_true(page.first == 3 && page.last == 17);
    assert_int_equal(gf_input_split_pages("a.gif[all]", &page), 5);
    assert_true(page.first == 0 && page.last == GF_PAGES_ALL);
    assert_int_equal(gf_input_split_pages("a.exr[al.x_1]", &page), 5);
    assert_true(gf_page_is_layer(page.first, "al.x_1", 6) &&
                !gf_page_is_layer(page.first, "al", 2));
    assert_int_equal(gf_input_split_pages("a.exr[depth]", &page), 5);
    assert_true(gf_page_is_layer(page.first, "depth", 5));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(gf_input_split_pages(none[i], &page), 0);
    save(in_folder("b.png[3]"), "x", 1);
    assert_int_equal(gf_input_split_pages(in_folder("b.png[3]"), &page), 0);
    struct picture picture = random_picture(2, 2, 3, 8), back;
    const struct gf_options options = plain_options();
    assert_int_equal(encode(in_folder("c.png"), &picture, &options), GF_OK);
    assert_refused(in_folder("c.png[1]"), &options, "holds 1 picture, counted from 0");
    assert_int_equal(encode(in_folder("c.bmp"), &picture, &options), GF_OK);
    assert_refused(in_folder("c.bmp[1]"), &options, "a picture is selected by its number in");
    assert_int_equal(decode(in_folder("c.png[0]"), &options, &back), GF_OK);
    assert_same_pixels(&picture, &back);
    free_picture(&back);
    free_picture(&picture);
}

/* What JPEG and PNM cannot keep is refused. */
static void test_lossless_is_refused(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(4, 4, 4, 8);
    options.lossless = true;
    assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_ERROR_UNFIT);
    assert_failure_says("only a JPEG can become a JPEG without loss");
    assert_int_equal(encode(in_folder("a.ppm"), &picture, &options), GF_ERROR_UNFIT);
    assert_failure_says("PNM has no alpha channel");
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    free_picture(&picture);
}

static void test_missing_library(void **state)
{
#define NOTHING(CALL)
    static int calls;
    struct gf_library known = GF_LIBRARY(calls, NOTHING, "libgfnone.so.7=libgfnone7");
    struct gf_library unknown = GF_LIBRARY(calls, NOTHING, "libgfnone.so.7");
    const enum gf_status wanted = GF_ERROR_UNAVAILABLE;
    assert_int_equal(gf_library_load(&known, "a.x", wanted, &failure), wanted);
    assert_failure_says("a.x: needs a library that cannot be loaded: libgfnone.so.7: ");
    assert_failure_says(" (apt-get install libgfnone7)");
    assert_int_equal(gf_library_load(&unknown, "a.x", wanted, &failure), wanted);
    assert_null(strstr(failure.text, "install"));
    assert_failure_says(" (this build takes no other version)");
}

/* A JPEG XL of 3 x 2 pixels whose colours are the lights that cyan, magenta and yellow leave, with
 * an extra channel for black; made by libjxl's encoder. */
static void test_jxl_of_inks(void **state)
{
    static const unsigned char file[] = {
        0x00, 0x00, 0x00, 0x0c, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a, 0x00, 0x00,
        0x00, 0x14, 0x66, 0x74, 0x79, 0x70, 0x6a, 0x78, 0x6c, 0x20, 0x00, 0x00, 0x00, 0x00,
        0x6a, 0x78, 0x6c, 0x20, 0x00, 0x00, 0x00, 0x09, 0x6a, 0x78, 0x6c, 0x6c, 0x0a, 0x00,
        0x00, 0x00, 0x39, 0x6a, 0x78, 0x6c, 0x63, 0xff, 0x0a, 0x08, 0x40, 0x30, 0x0a, 0x40,
        0x02, 0x08, 0x08, 0x10, 0x00, 0x8c, 0x00, 0x4b, 0x18, 0x8b, 0x15, 0xc2, 0x19, 0x6c,
        0x5c, 0xc0, 0xf7, 0x07, 0x50, 0xf5, 0xc7, 0x7e, 0x0a, 0x54, 0x0d, 0x01, 0x58, 0x9c,
        0xea, 0x4c, 0xc5, 0xfe, 0x93, 0x51, 0x6e, 0xae, 0x15, 0xd3, 0x1f, 0xb0, 0x3f, 0x28};
    /* none; cyan; magenta; yellow; black; (100, 200, 50) with half of the black */
    static const unsigned char wanted[] = {255, 255, 255, 0, 255, 255, 255, 0,   255,
                                           255, 255, 0,   0, 0,   0,   50,  100, 25};
    const struct gf_options options = plain_options();
    struct picture back;
    if (!gf_file_type(GF_FILE_JXL)->open) {
        print_message("JPEG XL: left out, libjxl is missing\n");
        skip();
    }
    save(in_folder("inks.jxl"), file, sizeof file);
    assert_int_equal(decode(in_folder("inks.jxl"), &options, &back), GF_OK);
    assert_int_equal(back.format.channels, 3);
    assert_memory_equal(back.data, wanted, sizeof wanted);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "inks.jxl: its CMYK colours have no ICC profile"));
    free_picture(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lossless_round_trips),
        cmocka_unit_test(test_quality),
        cmocka_unit_test(test_metadata_is_kept),
        cmocka_unit_test(test_hdr_is_kept),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_damage_behind),
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_page_of_a_name),
        cmocka_unit_test(test_jxl_of_inks),
        cmocka_unit_test(test_lossless_is_refused),
        cmocka_unit_test(test_missing_library),
    };
    return cmocka_run_group_tests_name("formats", tests, make_folder, remove_folder);
}
