/* What PNG and JPEG say in words, and what a PNG's chunks say of its colours: it is kept from file
 * to file. libpng reads what is written, and the other way round. */
#include "codec/codec_test.h"

#include <png.h>

#include "codec/common/checks.h"
#include "codec/io/input.h"
#include "icc/icc.h"

/* ---- libpng as the reference ---- */

struct reader {
    const struct bytes *png;
    size_t at;
};

static void read_bytes(png_structp png, png_bytep to, size_t size)
{
    struct reader *const reader = png_get_io_ptr(png);
    assert_true(size <= reader->png->size - reader->at);
    memcpy(to, reader->png->data + reader->at, size);
    reader->at += size;
}

struct opened {
    png_structp png;
    png_infop info;
    struct reader reader;
    struct bytes bytes;
};

static void open_png(struct opened *opened, const char *path)
{
    opened->bytes = load(path);
    opened->reader = (struct reader){.png = &opened->bytes};
    opened->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    opened->info = png_create_info_struct(opened->png);
    assert_non_null(opened->info);
    png_set_read_fn(opened->png, &opened->reader, read_bytes);
    png_read_info(opened->png, opened->info);
}

static void close_png(struct opened *opened)
{
    png_destroy_read_struct(&opened->png, &opened->info, NULL);
    free(opened->bytes.data);
}

/* The text of that keyword as libpng finds it; asserts that it stands in a chunk of that kind. */
static const png_text *text_of(struct opened *opened, const char *keyword)
{
    png_textp texts;
    int count = 0;
    png_get_text(opened->png, opened->info, &texts, &count);
    for (int i = 0; i < count; i++) {
        if (!strcmp(texts[i].key, keyword))
            return &texts[i];
    }
    fail_msg("libpng finds no text '%s'", keyword);
    return NULL;
}

/* ---- pictures ---- */

static void store(struct bytes png)
{
    save(in_folder("in.png"), png.data, png.size);
    free(png.data);
}

/* Reads in.png and writes it under that name. */
static void convert_to(const char *from, const char *to, bool strip, int warned)
{
    struct gf_options options = plain_options();
    char input[300];
    struct picture picture;
    snprintf(input, sizeof input, "%s", in_folder(from));
    options.strip = strip;
    assert_int_equal(decode(input, &options, &picture), GF_OK);
    assert_int_equal(encode(in_folder(to), &picture, &options), GF_OK);
    if (warnings != warned)
        fail_msg("%s to %s: %d warnings: %s", from, to, warnings, last_warning);
    free_picture(&picture);
}

static struct bytes plain_png(int channels)
{
    const struct gf_options options = plain_options();
    struct picture plain = smooth_picture(5, 5, channels, 8);
    assert_int_equal(encode(in_folder("plain.png"), &plain, &options), GF_OK);
    free_picture(&plain);
    return load(in_folder("plain.png"));
}

static struct bytes add_chunk(struct bytes png, const char *type, const void *data, size_t size)
{
    struct bytes more = with_chunk(png, type, data, size);
    free(png.data);
    return more;
}

/* The payload of the number-th COM segment, from 0, as a string; NULL where there is none. */
static const char *comment_of(struct bytes jpeg, int number)
{
    static char text[70000];
    for (size_t at = 2; at + 4 < jpeg.size && jpeg.data[at + 1] != 0xda;) {
        const size_t size = (size_t)(jpeg.data[at + 2] << 8 | jpeg.data[at + 3]);
        if (jpeg.data[at + 1] == 0xfe && !number--) {
            memcpy(text, jpeg.data + at + 4, size - 2);
            text[size - 2] = 0;
            return text;
        }
        at += 2 + size;
    }
    return NULL;
}

static void assert_comment(const char *name, int number, const char *wanted)
{
    struct bytes jpeg = load(in_folder(name));
    const char *const comment = comment_of(jpeg, number);
    if (!wanted)
        assert_null(comment);
    else
        assert_string_equal(comment ? comment : "(none)", wanted);
    free(jpeg.data);
}

/* ---- texts ---- */

static void test_texts_travel(void **state)
{
    static const char international[] = "Author\0\0\0fr\0Auteur\0\xe2\x82\xac\xc3\xa9";
    char packed[200] = "Long\0";
    uLongf size = sizeof packed - 6;
    assert_int_equal(compress((Bytef *)packed + 6, &size, (const Bytef *)"packed", 6), Z_OK);
    struct bytes png = plain_png(3);
    png = add_chunk(png, "iTXt", international, sizeof international - 1);
    png = add_chunk(png, "zTXt", packed, 6 + size);
    png = add_chunk(png, "tEXt", "Title\0caf\xe9", 10);
    store(add_chunk(png, "tEXt", "Comment\0plain", 13));
    convert_to("in.png", "out.png", false, 0);
    struct opened opened;
    open_png(&opened, in_folder("out.png"));
    assert_string_equal(text_of(&opened, "Title")->text, "caf\xe9");
    assert_int_equal(text_of(&opened, "Title")->compression, PNG_TEXT_COMPRESSION_NONE);
    assert_string_equal(text_of(&opened, "Long")->text, "packed");
    assert_string_equal(text_of(&opened, "Comment")->text, "plain");
    const png_text *const author = text_of(&opened, "Author");
    assert_string_equal(author->text, "\xe2\x82\xac\xc3\xa9");
    assert_string_equal(author->lang, "fr");
    assert_string_equal(author->lang_key, "Auteur");
    close_png(&opened);
    convert_to("in.png", "out.jpg", false, 0);
    assert_comment("out.jpg", 0, "plain");
    assert_comment("out.jpg", 1, "Title: caf\xc3\xa9");
    assert_comment("out.jpg", 2, "Long: packed");
    assert_comment("out.jpg", 3, "Author: \xe2\x82\xac\xc3\xa9");
    assert_comment("out.jpg", 4, NULL);
    convert_to("out.jpg", "back.png", false, 0);
    open_png(&opened, in_folder("back.png"));
    assert_string_equal(text_of(&opened, "Comment")->text, "plain");
    close_png(&opened);
    convert_to("in.png", "bare.jpg", true, 0);
    assert_comment("bare.jpg", 0, NULL);
    convert_to("in.png", "bare.png", true, 0);
    struct bytes bare = load(in_folder("bare.png")), plain = load(in_folder("plain.png"));
    assert_int_equal(bare.size, plain.size);
    assert_memory_equal(bare.data, plain.data, bare.size);
    free(bare.data);
    free(plain.data);
}

/* From JPEG to JPEG a comment's bytes stay as they are, whatever they are. */
static void test_comments_stay(void **state)
{
    static const unsigned char comment[] = {0xff, 0xfe, 0, 9, 'a', 0, 0xe9, 0xff, 'b', 0, 0xfe};
    store(plain_png(3));
    convert_to("in.png", "plain.jpg", false, 0);
    struct bytes plain = load(in_folder("plain.jpg")), jpeg = {0};
    append(&jpeg, plain.data, 2);
    append(&jpeg, comment, sizeof comment);
    append(&jpeg, plain.data + 2, plain.size - 2);
    save(in_folder("in.jpg"), jpeg.data, jpeg.size);
    convert_to("in.jpg", "out.jpg", false, 0);
    struct bytes out = load(in_folder("out.jpg"));
    assert_non_null(memmem(out.data, out.size, comment, sizeof comment));
    convert_to("in.jpg", "out.png", false, 0);
    struct opened opened;
    open_png(&opened, in_folder("out.png"));
    assert_string_equal(text_of(&opened, "Comment")->text, "a \xe9\xff"
                                                           "b \xfe");
    close_png(&opened);
    free(out.data);
    free(jpeg.data);
    free(plain.data);
}

static void test_long_texts(void **state)
{
    char text[70000] = "Title\0";
    memset(text + 6, 'x', sizeof text - 6);
    store(add_chunk(plain_png(1), "tEXt", text, sizeof text));
    convert_to("in.png", "out.png", false, 0);
    struct opened opened;
    open_png(&opened, in_folder("out.png"));
    assert_int_equal(text_of(&opened, "Title")->compression, PNG_TEXT_COMPRESSION_zTXt);
    assert_int_equal(strlen(text_of(&opened, "Title")->text), sizeof text - 6);
    close_png(&opened);
    convert_to("in.png", "out.jpg", false, 1);
    assert_non_null(strstr(last_warning, "a comment of 70001 bytes is too large for JPEG"));
    assert_comment("out.jpg", 0, NULL);
    struct bytes png = plain_png(1);
    for (int i = 0; i < GF_TEXTS_MOST + 1; i++)
        png = add_chunk(png, "tEXt", "a\0b", 3);
    store(png);
    convert_to("in.png", "out.png", false, 1);
    assert_non_null(strstr(last_warning, "some are left out"));
}

/* ---- colours ---- */

static const unsigned char p3_chromaticities[] = {
    0, 0, 0x7a, 0x26, 0, 0, 0x80, 0x84, 0, 1, 9,    0xa0, 0, 0, 0x7d, 0,
    0, 0, 0x67, 0x84, 0, 1, 0xd,  0x88, 0, 0, 0x3a, 0x98, 0, 0, 0x17, 0x70};

/* The profile that a conversion to JPEG leaves; the caller frees it. */
static struct gf_blob profile_in_jpeg(int warned)
{
    const struct gf_options options = plain_options();
    struct picture picture;
    convert_to("in.png", "out.jpg", false, warned);
    assert_int_equal(decode(in_folder("out.jpg"), &options, &picture), GF_OK);
    struct gf_blob icc = copy_blob(picture.metadata.icc);
    free_picture(&picture);
    return icc;
}

static void assert_made(const struct gf_icc_space *space, bool gray)
{
    unsigned char made[GF_ICC_MADE_MOST];
    const size_t size = gf_icc_make(space, gray, made);
    struct gf_blob icc = profile_in_jpeg(0);
    assert_int_equal(icc.size, size);
    if (size)
        assert_memory_equal(icc.data, made, size);
    free(icc.data);
}

static void test_colour_chunks_stay(void **state)
{
    struct bytes png = add_chunk(plain_png(3), "gAMA", "\0\0\xb1\x8f", 4);
    store(add_chunk(png, "sRGB", "\1", 1));
    convert_to("in.png", "out.png", false, 0);
    struct opened opened;
    png_fixed_point gamma, xy[8];
    int intent;
    open_png(&opened, in_folder("out.png"));
    assert_true(png_get_sRGB(opened.png, opened.info, &intent));
    assert_int_equal(intent, 1);
    close_png(&opened);
    png = add_chunk(plain_png(3), "gAMA", "\0\0\xc3\x50", 4);
    store(add_chunk(png, "cHRM", p3_chromaticities, 32));
    convert_to("in.png", "out.png", false, 0);
    open_png(&opened, in_folder("out.png"));
    assert_true(png_get_gAMA_fixed(opened.png, opened.info, &gamma));
    assert_int_equal(gamma, 50000);
    assert_true(png_get_cHRM_fixed(opened.png, opened.info, xy, xy + 1, xy + 2, xy + 3, xy + 4,
                                   xy + 5, xy + 6, xy + 7));
    assert_int_equal(xy[2], 68000);
    assert_int_equal(xy[5], 69000);
    close_png(&opened);
    convert_to("in.png", "out.png", true, 1);
    assert_non_null(strstr(last_warning, "does not say that its colours are not sRGB's"));
    open_png(&opened, in_folder("out.png"));
    assert_false(png_get_gAMA_fixed(opened.png, opened.info, &gamma));
    close_png(&opened);
}

/* A line is said once, however many chunks are the reason. */
static void test_lines_are_said_once(void **state)
{
    struct gf_options options = plain_options();
    struct picture back;
    struct bytes png = plain_png(3);
    for (int i = 0; i < 1000; i++)
        png = add_chunk(png, i % 2 ? "tEXt" : "zTXt", i % 2 ? "a\0b" : "a\0\0b", i % 2 ? 3 : 4);
    store(png);
    assert_int_equal(decode(in_folder("in.png"), &options, &back), GF_OK);
    assert_int_equal(warnings, 2); /* damaged ones, and too many */
    free_picture(&back);
}

/* A file that causes many different lines causes no more than GF_SAID_MOST of them. */
static void test_lines_are_not_many(void **state)
{
    struct gf_options options = plain_options();
    struct gf_said said;
    warnings = 0;
    const struct gf_options *const within = gf_said_begin(&said, "in.png", &options);
    for (int i = 0; i < 1000; i++)
        gf_warn(within, "in.png: line %d", i / 2);
    assert_int_equal(warnings, GF_SAID_MOST + 1);
    assert_string_equal(last_warning, "in.png: further warnings are left out");
}

/* The frames of an animation, and the pixels where no fcTL chunk makes them one. */
static void test_animation_is_warned_of(void **state)
{
    const struct gf_options options = plain_options();
    const char control[26] = {0};
    struct picture back;
    struct bytes png = add_chunk(plain_png(3), "acTL", "\0\0\0\2\0\0\0\0", 8);
    store(with_chunk(png, "tEXt", "a\0b", 3));
    assert_int_equal(decode(in_folder("in.png"), &options, &back), GF_OK);
    assert_non_null(strstr(last_warning, "in.png: holds 3 pictures: the first is taken"));
    free_picture(&back);
    store(add_chunk(png, "fcTL", control, sizeof control));
    assert_int_equal(decode(in_folder("in.png"), &options, &back), GF_OK);
    assert_non_null(strstr(last_warning, "in.png: holds 2 pictures: the first is taken"));
    free_picture(&back);
    assert_int_equal(decode(in_folder("in.png[0]"), &options, &back), GF_OK);
    assert_int_equal(warnings, 2);
    free_picture(&back);
}

/* cICP, then iCCP, then sRGB, then gAMA and cHRM. */
static void test_precedence(void **state)
{
    struct gf_icc_space space = gf_icc_display_p3;
    space.name = "gAMA and cHRM of a PNG";
    space.curve = GF_ICC_POWER;
    space.gamma = 2;
    struct bytes png = add_chunk(plain_png(3), "gAMA", "\0\0\xc3\x50", 4);
    png = add_chunk(png, "cHRM", p3_chromaticities, 32);
    store(with_chunk(png, "gAMA", "\0", 1)); /* too short: it does not count */
    assert_made(&space, false);
    png = add_chunk(png, "sRGB", "\0", 1);
    store(with_chunk(png, "tEXt", "a\0b", 3));
    assert_made(&gf_icc_srgb, false);
    char icc[200] = "x\0", profile[140] = {0};
    uLongf size = sizeof icc - 3;
    memcpy(profile + 12, "mntrRGB XYZ ", 12);
    assert_int_equal(compress((Bytef *)icc + 3, &size, (Bytef *)profile, sizeof profile), Z_OK);
    png = add_chunk(png, "iCCP", icc, 3 + size);
    store(with_chunk(png, "tEXt", "a\0b", 3));
    struct gf_blob kept = profile_in_jpeg(0);
    assert_int_equal(kept.size, sizeof profile);
    assert_memory_equal(kept.data, profile, sizeof profile);
    free(kept.data);
    png = add_chunk(png, "cICP", "\14\15\0\1", 4);
    store(with_chunk(png, "tEXt", "a\0b", 3));
    assert_made(&gf_icc_display_p3, false);
    store(add_chunk(plain_png(3), "cICP", "\11\20\0\1", 4)); /* BT.2020 with PQ */
    kept = profile_in_jpeg(1);
    assert_non_null(
        strstr(last_warning, "its samples keep the transfer PQ, which the file does not"));
    assert_int_equal(kept.size, 0);
    free(kept.data);
    free(png.data);
    store(add_chunk(plain_png(1), "sRGB", "\0", 1));
    assert_made(&gf_icc_srgb, true);
}

static void test_spaces_that_are_none(void **state)
{
    unsigned char made[GF_ICC_MADE_MOST];
    struct gf_icc_space space = gf_icc_srgb;
    assert_in_range(gf_icc_make(&space, false, made), 400, GF_ICC_MADE_MOST);
    space.white[1] = 0;
    assert_int_equal(gf_icc_make(&space, false, made), 0);
    space = gf_icc_srgb;
    memcpy(space.green, space.red, sizeof space.red);
    assert_int_equal(gf_icc_make(&space, false, made), 0);
    space = gf_icc_srgb;
    space.curve = GF_ICC_POWER;
    space.gamma = 0;
    assert_int_equal(gf_icc_make(&space, false, made), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_travel),
        cmocka_unit_test(test_comments_stay),
        cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_colour_chunks_stay),
        cmocka_unit_test(test_lines_are_said_once),
        cmocka_unit_test(test_lines_are_not_many),
        cmocka_unit_test(test_animation_is_warned_of),
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_spaces_that_are_none),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
