/* GIFs made here byte by byte: palettes, transparency, interlacing, and the pictures of an
 * animation as a viewer shows them. */
#include "codec/codec_test.h"

#include "codec/formats.h"

/* Codes of 8 pixels' values each in 9 bits, with a clear code often enough that they never grow. */
static void append_pixels(struct bytes *gif, const char *pixels, size_t count)
{
    enum { CLEAR = 256, END = 257, BITS = 9, OFTEN = 200 };
    unsigned char packed[4096] = {0};
    size_t bit = 0;
#define PUT(code) \
    for (int i_ = 0; i_ < BITS; i_++, bit++) \
    packed[bit / 8] |= (unsigned char)(((code) >> i_ & 1) << bit % 8)
    for (size_t i = 0; i < count; i++) {
        if (i % OFTEN == 0)
            PUT(CLEAR);
        PUT((unsigned char)pixels[i]);
    }
    PUT(END);
#undef PUT
    append(gif, "\10", 1);
    const size_t size = (bit + 7) / 8;
    for (size_t at = 0; at < size; at += 255) {
        const unsigned char length = (unsigned char)(size - at < 255 ? size - at : 255);
        append(gif, &length, 1);
        append(gif, packed + at, length);
    }
    append(gif, "", 1);
}

/* Black, white, red, green. */
static void begin(struct bytes *gif, int width, int height)
{
    const unsigned char screen[] = {(unsigned char)width, 0, (unsigned char)height, 0, 0x81, 0, 0};
    *gif = (struct bytes){0};
    append(gif, "GIF89a", 6);
    append(gif, screen, sizeof screen);
    append(gif, "\0\0\0\377\377\377\377\0\0\0\377\0", 12);
}

struct area {
    int left, top, width, height;
};
static int delay; /* of the pictures that are added, in hundredths of a second */

static void add(struct bytes *gif, struct area area, int transparent, int disposal, bool interlaced,
                const char *pixels)
{
    const unsigned char control[] = {0x21,
                                     0xf9,
                                     4,
                                     (unsigned char)(disposal << 2 | (transparent >= 0)),
                                     (unsigned char)delay,
                                     (unsigned char)(delay >> 8),
                                     (unsigned char)(transparent >= 0 ? transparent : 0),
                                     0};
    const unsigned char description[] = {
        ',', (unsigned char)area.left,   0, (unsigned char)area.top, 0, (unsigned char)area.width,
        0,   (unsigned char)area.height, 0, interlaced ? 0x40 : 0};
    append(gif, control, sizeof control);
    append(gif, description, sizeof description);
    append_pixels(gif, pixels, (size_t)(area.width * area.height));
}

static void finish(struct bytes *gif)
{
    append(gif, ";", 1);
    save(in_folder("a.gif"), gif->data, gif->size);
    free(gif->data);
}

/* The colours as letters: k, w, r, g, and . for a transparent pixel. */
static void check_pixels(const char *name, const struct picture *picture, int channels,
                         const char *letters)
{
    const struct picture back = *picture;
    assert_int_equal(back.format.channels, channels);
    assert_int_equal(strlen(letters), back.format.width * back.format.height);
    for (size_t i = 0; letters[i]; i++) {
        const unsigned char *const p = back.data + i * (size_t)channels;
        const char letter = channels == 4 && !p[3]   ? '.'
                            : p[0] && p[1] && p[2]   ? 'w'
                            : p[0] && !p[1] && !p[2] ? 'r'
                            : p[1] && !p[0] && !p[2] ? 'g'
                            : !p[0] && !p[1]         ? 'k'
                                                     : '?';
        if (letter != letters[i])
            fail_msg("%s: pixel %zu is %c, not %c", name, i, letter, letters[i]);
    }
}

static void check(const char *name, int channels, const char *letters)
{
    const struct gf_options options = plain_options();
    struct picture back;
    if (decode(in_folder(name), &options, &back))
        fail_msg("%s", failure.text);
    check_pixels(name, &back, channels, letters);
    free_picture(&back);
}

static void check_frames(const char *name, int channels, const char *const letters[])
{
    const struct gf_options options = plain_options();
    struct frames frames;
    if (decode_frames(in_folder(name), &options, &frames))
        fail_msg("%s", failure.text);
    for (int i = 0; i < frames.count; i++) {
        assert_non_null(letters[i]);
        check_pixels(name, &frames.picture[i], channels, letters[i]);
    }
    assert_null(letters[frames.count]);
    free_frames(&frames);
}

static void test_still(void **state)
{
    struct bytes gif;
    begin(&gif, 3, 2);
    add(&gif, (struct area){0, 0, 3, 2}, -1, 0, false, "\0\1\2\3\2\1");
    finish(&gif);
    check("a.gif", 3, "kwrgrw");
    assert_int_equal(warnings, 0);
    begin(&gif, 3, 2);
    add(&gif, (struct area){0, 0, 3, 2}, 1, 0, false, "\0\1\2\3\2\1");
    finish(&gif);
    check("a.gif", 4, "k.rgr.");
    begin(&gif, 3, 2);
    add(&gif, (struct area){1, 1, 2, 1}, -1, 0, false, "\2\3");
    finish(&gif);
    check("a.gif", 4, "....rg");
    begin(&gif, 2, 1);
    add(&gif, (struct area){1, 0, 3, 2}, -1, 0, false, "\2\3\3\1\1\1"); /* beyond the canvas */
    finish(&gif);
    check("a.gif", 4, ".r");
}

static void test_beyond_the_palette(void **state)
{
    struct bytes gif;
    begin(&gif, 3, 1);
    add(&gif, (struct area){0, 0, 3, 1}, -1, 0, false, "\1\7\2");
    finish(&gif);
    check("a.gif", 3, "wkr");
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "a.gif: some of its pixels have an index beyond"));
}

/* They are not read, and named as any other loss. */
static void test_comments_and_xmp(void **state)
{
    const struct gf_options options = plain_options();
    struct bytes gif;
    struct picture picture;
    begin(&gif, 1, 1);
    append(&gif, "\x21\xfe\5hello", 9);
    append(&gif, "\x21\xff\x0bXMP DataXMP\4<a/>", 19);
    append(&gif, "", 1);
    add(&gif, (struct area){0, 0, 1, 1}, -1, 0, false, "\1");
    finish(&gif);
    assert_int_equal(decode(in_folder("a.gif"), &options, &picture), GF_OK);
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    assert_non_null(strstr(last_warning, "does not keep the input's XMP and comments"));
    free_picture(&picture);
}

/* Rows 0, 8; 4; 2, 6; 1, 3, 5, 7. */
static void test_interlaced(void **state)
{
    struct bytes gif;
    begin(&gif, 1, 9);
    add(&gif, (struct area){0, 0, 1, 9}, -1, 0, true, "\1\1\2\3\3\0\0\0\0");
    finish(&gif);
    check("a.gif", 3, "wkgkrkgkw");
}

static void test_animation(void **state)
{
    struct bytes gif;
    begin(&gif, 3, 1);
    add(&gif, (struct area){0, 0, 3, 1}, -1, 1, false, "\1\1\1");
    add(&gif, (struct area){0, 0, 2, 1}, 0, 3, false, "\2\0"); /* then as before */
    add(&gif, (struct area){2, 0, 1, 1}, -1, 2, false, "\3");  /* then nothing there */
    add(&gif, (struct area){0, 0, 1, 1}, -1, 1, false, "\2");
    finish(&gif);
    check("a.gif", 3, "www");
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "a.gif: holds 4 pictures: the first is taken"));
    check("a.gif[0]", 3, "www");
    assert_int_equal(warnings, 0);
    check("a.gif[1]", 3, "rww"); /* transparent pixels upon others that are not */
    check("a.gif[2]", 3, "wwg");
    check("a.gif[3]", 4, "rw.");
    const struct gf_options options = plain_options();
    assert_refused(in_folder("a.gif[4]"), &options, "holds 4 pictures, counted from 0");
}

/* The frames one after another are the pictures that their numbers give; where one of them has
 * transparent pixels, all have an alpha channel. */
static void test_frames(void **state)
{
    struct bytes gif;
    struct frames frames;
    const struct gf_options options = plain_options();
    begin(&gif, 3, 1);
    append(&gif, "\x21\xff\x0bNETSCAPE2.0\3\1\2\0", 19);
    delay = 7;
    add(&gif, (struct area){0, 0, 3, 1}, -1, 1, false, "\1\1\1");
    delay = 300;
    add(&gif, (struct area){0, 0, 2, 1}, 0, 3, false, "\2\0"); /* then as before */
    add(&gif, (struct area){2, 0, 1, 1}, -1, 2, false, "\3");  /* then nothing there */
    add(&gif, (struct area){0, 0, 1, 1}, -1, 1, false, "\2");
    delay = 0;
    finish(&gif);
    check_frames("a.gif[all]", 4, (const char *const[]){"www", "rww", "wwg", "rw.", NULL});
    check_frames("a.gif[1..2]", 3, (const char *const[]){"rww", "wwg", NULL});
    check_frames("a.gif[3..9]", 4, (const char *const[]){"rw.", NULL});
    check_frames("a.gif[1]", 3, (const char *const[]){"rww", NULL});
    assert_refused(in_folder("a.gif[4..5]"), &options, "holds 4 pictures, counted from 0");
    assert_int_equal(decode_frames(in_folder("a.gif[all]"), &options, &frames), GF_OK);
    assert_int_equal(frames.loops, 3);
    for (int i = 0; i < frames.count; i++) {
        assert_int_equal(frames.duration[i].count, i ? 300 : 7);
        assert_int_equal(frames.duration[i].per_second, 100);
    }
    free_frames(&frames);
}

/* A picture that is whole is read, whatever is wrong behind it. */
static void test_damage_behind(void **state)
{
    const struct gf_options options = plain_options();
    struct bytes gif;
    begin(&gif, 3, 1);
    add(&gif, (struct area){0, 0, 3, 1}, -1, 1, false, "\1\2\3");
    const size_t first = gif.size;
    add(&gif, (struct area){0, 0, 3, 1}, -1, 1, false, "\2\2\2");
    const size_t second = gif.size;
    append(&gif, "stray", 5);
    save(in_folder("a.gif"), gif.data, first);
    check("a.gif", 3, "wrg");
    assert_string_equal(strstr(last_warning, "a.gif: "),
                        "a.gif: damaged behind its first picture: it is truncated");
    for (size_t size = first - 1; size < second - 1; size++) {
        save(in_folder("a.gif"), gif.data, size);
        check("a.gif", 3, "wrg");
        check("a.gif[0]", 3, "wrg");
        assert_int_equal(warnings, 1);
    }
    save(in_folder("a.gif"), gif.data, second - 3);
    assert_refused(in_folder("a.gif[1]"), &options, "damaged: it is truncated");
    save(in_folder("a.gif"), gif.data, second); /* no trailer */
    check("a.gif[1]", 3, "rrr");
    assert_non_null(strstr(last_warning, "behind its first 2 pictures: it is truncated"));
    assert_refused(in_folder("a.gif[2]"), &options, "damaged: it is truncated");
    save(in_folder("a.gif"), gif.data, gif.size);
    check("a.gif[1]", 3, "rrr");
    assert_non_null(strstr(last_warning, "behind its first 2 pictures: "));
    free(gif.data);
}

static void test_damage(void **state)
{
    const struct gf_options options = plain_options();
    struct bytes gif;
    char pixels[400];
    struct picture back;
    memset(pixels, 2, sizeof pixels);
    begin(&gif, 20, 20);
    add(&gif, (struct area){0, 0, 20, 20}, -1, 0, false, pixels);
    for (size_t size = 6; size < gif.size - 1; size += 9) {
        save(in_folder("a.gif"), gif.data, size);
        assert_int_equal(decode(in_folder("a.gif"), &options, &back), GF_ERROR_INPUT);
        assert_failure_says("a.gif: ");
    }
    for (size_t i = 0; i < gif.size; i++) {
        gif.data[i] ^= 0x55;
        save(in_folder("a.gif"), gif.data, gif.size);
        if (!decode(in_folder("a.gif"), &options, &back))
            free_picture(&back);
        gif.data[i] ^= 0x55;
    }
    free(gif.data);
}

static void test_is_not_written(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture = random_picture(2, 2, 3, 8);
    assert_int_equal(encode(in_folder("b.gif"), &picture, &options), GF_ERROR_USAGE);
    assert_failure_says("is read, not written");
    assert_string_equal(gf_file_format_extension(GF_FILE_GIF), "png");
    free_picture(&picture);
}

int main(void)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_GIF);
    if (!type->library || gf_library_load(type->library, "GIF", GF_ERROR_UNAVAILABLE, &failure)) {
        puts("1..1\nok 1 # SKIP there is no giflib");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_still),
        cmocka_unit_test(test_beyond_the_palette),
        cmocka_unit_test(test_interlaced),
        cmocka_unit_test(test_animation),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_damage_behind),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_is_not_written),
        cmocka_unit_test(test_comments_and_xmp),
    };
    return cmocka_run_group_tests_name("gif", tests, make_folder, remove_folder);
}
