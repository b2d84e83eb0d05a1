/* Text as pictures: the font that is made, lines, directions, what is refused, damaged fonts, and
 * sharing. With GF_FONT_WRITE=FILE the font is left there, for tests/filters/goldens/text.py. */
#include <fcntl.h>
#include <unistd.h>

#include "base/process/files.h"
#include "base/process/library.h"
#include "chain/chain.h"
#include "pixel/files/kept_files.h"
#include "support.h"
#include "temp_folder.h"
#include "text/text.h"
#include "text/text_fonts.h"
#ifdef GF_LIBRARY_freetype
#include "text/text_shape.h"
#endif

static const struct gf_text_style plain = {
    .size = 10, .spacing = 1, .colour = 0xffffff, .background = -1, .shadow = -1};

static void skip_without_libraries(void)
{
    struct gf_error error = {0};
    if (gf_text_available(&error)) {
        print_message("skipped: %s\n", error.text);
        skip();
    }
}

static const struct gf_picture *draw(const char *text, const struct gf_text_style *style)
{
    const struct gf_picture *picture = NULL;
    struct gf_error error = {0};
    assert_ok(text, gf_text_load("", text, style, &picture, &error), &error);
    return picture;
}

static void assert_refused(const char *font, const char *text, const struct gf_text_style *style,
                           const char *message)
{
    const struct gf_picture *picture = NULL;
    struct gf_error error = {0};
    const bool missing = strstr(message, "No such file");
    assert_int_equal(gf_text_load(font, text, style, &picture, &error),
                     missing ? GF_ERROR_READ : GF_ERROR_USAGE);
    assert_string_equal(error.text, message);
    assert_null(picture);
}

/* Writes the font that is made into a file. */
static void leave_font(char *path, size_t size)
{
    unsigned char *font = NULL;
    size_t bytes = 0;
    struct gf_error error = {0};
    assert_ok("font", gf_text_font_make(&font, &bytes, &error), &error);
    snprintf(path, size, "%s",
             getenv("GF_FONT_WRITE") ? getenv("GF_FONT_WRITE") : in_folder("made.ttf"));
    save(path, font, bytes);
    free(font);
}

/* A server's thread opens neither a font of the machine nor a file that it was not handed. */
static void test_handed(void **state)
{
    skip_without_libraries();
    char font[300];
    leave_font(font, sizeof font);
    const int descriptor = open(font, O_RDONLY);
    const char *const path = "Given Name";
    const struct gf_handed_files handed = {1, &path, &descriptor};
    const struct gf_picture *picture = NULL;
    struct gf_error error = {0};
    gf_named_files_hand(&handed);
    assert_ok("handed", gf_text_load(path, "a", &plain, &picture, &error), &error);
    assert_false(picture->local);
    gf_text_release(picture);
    assert_int_equal(gf_text_load("DejaVu Sans", "a", &plain, &picture, &error), GF_ERROR_READ);
    assert_string_equal(error.text, "DejaVu Sans: Permission denied");
    assert_int_equal(gf_text_load("", "\xc3\xa9", &plain, &picture, &error), GF_ERROR_UNAVAILABLE);
    assert_string_equal(error.text, "fonts of the machine are not given to a server");
    gf_named_files_hand(NULL);
    close(descriptor);
}

/* At 10 pixels an em each square of the font is a pixel. */
static void test_squares(void **state)
{
    static const char *const expected[] = {
        "............", ".###........", "#...#.......", "#...#..####.", "#####.#...#.",
        "#...#.#...#.", "#...#.#...#.", "#...#..####.", "..........#.", "#......###.."};
    skip_without_libraries();
    struct gf_text_style style = plain;
    const struct gf_picture *const picture = draw("Ag", &style);
    assert_true(same_format(picture->image.format, format_of(12, 10, 2, 8)));
    for (int y = 0; y < 9; y++) {
        for (int x = 0; x < 12; x++) {
            assert_int_equal(sample_at(&picture->image, x, y, 0), 255);
            assert_int_equal(sample_at(&picture->image, x, y, 1), expected[y][x] == '#' ? 255 : 0);
        }
    }
    gf_text_release(picture);
}

static void test_lines(void **state)
{
    skip_without_libraries();
    struct gf_text_style style = plain;
    style.colour = 0xff8000;
    style.background = 0x000102;
    style.padding = 3;
    style.align = GF_TEXT_RIGHT;
    style.spacing = 1.5;
    const struct gf_picture *const picture = draw("--\r\n|", &style);
    const struct gf_image *const image = &picture->image;
    assert_true(same_format(image->format, format_of(12 + 6, 10 + 15 + 6, 4, 8)));
    /* The bar of the second line is the third column of the last letter's place. */
    assert_int_equal(sample_at(image, 3 + 6 + 2, 3 + 15 + 4, 0), 255);
    assert_int_equal(sample_at(image, 3 + 6 + 2, 3 + 15 + 4, 1), 128);
    assert_int_equal(sample_at(image, 3 + 2, 3 + 15 + 4, 2), 2);
    assert_int_equal(sample_at(image, 0, 0, 3), 255);
    gf_text_release(picture);
    style.align = GF_TEXT_CENTRE;
    style.outline = 2;
    style.edge = 0x00ff00;
    const struct gf_picture *const outlined = draw("--\n|", &style);
    assert_true(same_format(outlined->image.format, format_of(12 + 10, 25 + 10, 4, 8)));
    assert_int_equal(sample_at(&outlined->image, 5 + 3 + 1, 5 + 15 + 4, 1), 255);
    gf_text_release(outlined);
    const struct gf_picture *const empty = draw("", &plain);
    assert_true(same_format(empty->image.format, format_of(1, 10, 2, 8)));
    assert_int_equal(sample_at(&empty->image, 0, 3, 1), 0);
    gf_text_release(empty);
}

/* Quarter turns move pixels, and a full turn changes nothing. */
static void test_turned(void **state)
{
    skip_without_libraries();
    struct gf_text_style style = plain;
    style.outline = 1;
    style.edge = 0x808080;
    const struct gf_picture *const upright = draw("Ag\n7", &style);
    const int w = upright->image.format.width, h = upright->image.format.height;
    for (int turns = 1; turns <= 4; turns++) {
        style.angle = 90 * turns;
        const struct gf_picture *const turned = draw("Ag\n7", &style);
        const struct gf_image *const image = &turned->image;
        assert_true(
            same_format(image->format, turns % 2 ? format_of(h, w, 2, 8) : format_of(w, h, 2, 8)));
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < w; x++) {
                const int to_x[] = {x, h - 1 - y, w - 1 - x, y};
                const int to_y[] = {y, x, h - 1 - y, w - 1 - x};
                for (int c = 0; c < 2; c++)
                    assert_in_range(sample_at(image, to_x[turns % 4], to_y[turns % 4], c) + 2,
                                    sample_at(&upright->image, x, y, c),
                                    sample_at(&upright->image, x, y, c) + 4);
            }
        }
        if (turns == 4)
            assert_int_equal(compare(image, &upright->image).most, 0);
        gf_text_release(turned);
    }
    gf_text_release(upright);
    style = plain;
    style.background = 0x102030;
    style.padding = 20;
    style.angle = 45;
    const struct gf_picture *const box = draw("A", &style);
    const int side = box->image.format.width;
    assert_in_range(box->image.format.height, side - 1, side + 1); /* (46 + 50) / sqrt(2) */
    assert_in_range(side, 68, 70);
    assert_int_equal(sample_at(&box->image, 0, 0, 3), 0);
    assert_int_equal(sample_at(&box->image, side / 2, 4, 3), 255);
    assert_int_equal(sample_at(&box->image, side / 2, 4, 2), 0x30);
    assert_int_equal(sample_at(&box->image, 3, 3, 3), 0);
    gf_text_release(box);
}

static void test_shadow(void **state)
{
    skip_without_libraries();
    struct gf_text_style style = plain;
    style.shadow = 0x000000;
    style.distance = 1;
    const struct gf_picture *const letters = draw("|", &plain);
    const struct gf_picture *const hard = draw("|", &style);
    assert_true(same_format(hard->image.format, format_of(6 + 2, 10 + 2, 2, 8)));
    int sum = 0;
    for (int y = 0; y < 10; y++) {
        for (int x = 0; x < 6; x++) {
            const int letter = sample_at(&letters->image, x, y, 1);
            const int above = x && y ? sample_at(&letters->image, x - 1, y - 1, 1) : 0;
            assert_int_equal(sample_at(&hard->image, x + 1, y + 1, 1), letter | above);
            assert_int_equal(sample_at(&hard->image, x + 1, y + 1, 0), letter || !above ? 255 : 0);
            sum += letter;
        }
    }
    gf_text_release(hard);
    style.distance = 0;
    style.soft = 2;
    style.colour = 0x000000;
    const struct gf_picture *const soft = draw("|", &style);
    assert_true(same_format(soft->image.format, format_of(6 + 12, 10 + 12, 2, 8)));
    int blurred = 0;
    for (int y = 0; y < 22; y++) {
        for (int x = 0; x < 18; x++) {
            const bool inside = x >= 6 && x < 12 && y >= 6 && y < 16;
            if (!inside || !sample_at(&letters->image, x - 6, y - 6, 1))
                blurred += sample_at(&soft->image, x, y, 1);
        }
    }
    /* The bar is a pixel wide: the blur leaves a fifth of it in its place. */
    assert_in_range(blurred, sum * 7 / 10, sum * 9 / 10);
    gf_text_release(soft);
    gf_text_release(letters);
}

static void test_refused(void **state)
{
    skip_without_libraries();
    struct gf_text_style style = plain;
    char font[300], missing[400];
    leave_font(font, sizeof font);
    snprintf(missing, sizeof missing, "%s: the font has no glyph for U+00E9", font);
    assert_refused(font, "a\xc3\xa9", &style, missing);
    snprintf(missing, sizeof missing, "%s: the font has no glyph for U+4E2D", font);
    assert_refused(font,
                   "a\xe4\xb8\xad"
                   "b",
                   &style, missing);
    static const char *const wrong[] = {"\xff",     "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                        "\xe4\xb8", "\x80"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char message[80];
        snprintf(message, sizeof message, "the text is not UTF-8: byte 0x%02x",
                 (unsigned char)*wrong[i]);
        assert_refused("", wrong[i], &style, message);
    }
    style.size = 2000;
    char text[401] = {0};
    memset(text, 'W', sizeof text - 1);
    assert_refused("", text, &style, "the text takes 480000x2000 pixels, more than 67 million");
    assert_refused("/none.ttf", "a", &plain, "/none.ttf: No such file or directory");
    style = plain;
    style.face = 1;
    const struct gf_picture *picture = NULL;
    struct gf_error error = {0};
    assert_int_equal(gf_text_load("", "a", &style, &picture, &error), GF_ERROR_USAGE);
    assert_non_null(strstr(error.text, "not a font with a face of that number"));
}

/* A damaged font draws something or is refused by a line that names it. */
static void test_damaged(void **state)
{
    skip_without_libraries();
    unsigned char *font = NULL;
    size_t size = 0;
    struct gf_error error = {0};
    assert_ok("font", gf_text_font_make(&font, &size, &error), &error);
    unsigned char *const copy = malloc(size);
    assert_non_null(copy);
    uint64_t seed = 15;
    int refused = 0;
    for (int i = 0; i < 400; i++) {
        const struct gf_picture *picture = NULL;
        char name[40], path[300];
        memcpy(copy, font, size);
        for (int k = 0; k < 4 && i % 2; k++) /* most of them in the tables before the glyphs */
            copy[random_below(&seed, k ? 800 : (int)size)] = (unsigned char)random_next(&seed);
        snprintf(name, sizeof name, "%d.ttf", i);
        snprintf(path, sizeof path, "%s", in_folder(name));
        save(path, copy, i % 2 ? size : size * (size_t)i / 400);
        const enum gf_status status = gf_text_load(path, "Ag 8", &plain, &picture, &error);
        assert_true(status == GF_OK || status == GF_ERROR_USAGE);
        if (status)
            assert_ptr_equal(strstr(error.text, path), error.text);
        refused += status != GF_OK;
        gf_text_release(picture);
        remove(path);
    }
    assert_in_range(refused, 20, 399);
    free(copy);
    free(font);
}

/* The font that is made is a font for others, too. */
static void test_file_and_sharing(void **state)
{
    struct gf_error error = {0};
    char path[300];
    leave_font(path, sizeof path);
    skip_without_libraries();
    const struct gf_picture *one = NULL, *two = NULL;
    assert_ok("one", gf_text_load(path, "Same", &plain, &one, &error), &error);
    assert_ok("two", gf_text_load(path, "Same", &plain, &two, &error), &error);
    assert_ptr_equal(one, two);
    const struct gf_picture *const made = draw("Same", &plain);
    assert_ptr_not_equal(one, made);
    assert_true(same_format(one->image.format, made->image.format));
    assert_int_equal(compare(&one->image, &made->image).most, 0);
    gf_text_release(made);
    gf_text_release(two);
    assert_ok("three", gf_text_load(path, "Some", &plain, &two, &error), &error);
    assert_ptr_not_equal(one, two);
    gf_text_release(one);
    gf_text_release(two);
}

#ifdef GF_LIBRARY_freetype
/* In the tests' text capitals stand for Hebrew letters; levels are digits. */
static void test_levels(void **state)
{
    static const char *const cases[][2] = {
        {"abc", "000"},
        {"ABC", "111"},
        {"ab CD ef", "00011000"},
        {"AB cd EF", "11122111"},
        {"AB 12.5 C", "111222211"},
        {"a 12 B", "000001"},
        {"a B 12 c", "00112200"},
        {"A -5%", "11122"},
        {"A 5-6%", "112222"},
        {"AB, ", "1111"},
        {"ab, ", "0000"},
        {"12 A", "2211"},
        {"a (B) c", "0001000"},
        {"A,b", "112"},
        {"", ""},
        {"?!", "00"},
    };
    skip_without_libraries();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gf_text_letter letter[20] = {0};
        char levels[20] = {0};
        const int count = (int)strlen(cases[i][0]);
        for (int k = 0; k < count; k++) {
            const char c = cases[i][0][k];
            letter[k].code = c >= 'A' && c <= 'Z' ? 0x5d0u + (uint32_t)(c - 'A') : (uint32_t)c;
        }
        gf_text_set_levels(letter, count);
        for (int k = 0; k < count; k++)
            levels[k] = (char)('0' + letter[k].level);
        if (strcmp(levels, cases[i][1]))
            fail_msg("'%s' has levels %s, not %s", cases[i][0], levels, cases[i][1]);
    }
}
#else
static void test_levels(void **state)
{
    const struct gf_picture *picture;
    struct gf_error error = {0};
    assert_int_equal(gf_text_load("", "a", &plain, &picture, &error), GF_ERROR_UNAVAILABLE);
    assert_non_null(strstr(error.text, "FreeType and HarfBuzz"));
}
#endif

/* The number of samples of pixels that hide what is below, and differ between the pictures. */
static int differing(const struct gf_image *a, const struct gf_image *b)
{
    int count = 0;
    assert_true(same_format(a->format, b->format));
    for (int i = 0; i < a->format.width * a->format.height * 3; i++) {
        const int x = i / 3 % a->format.width, y = i / 3 / a->format.width;
        count +=
            sample_at(a, x, y, 3) == 255 && sample_at(a, x, y, i % 3) != sample_at(b, x, y, i % 3);
    }
    return count;
}

/* Emoji keep the colours of their font, whatever the text's colour is; joined ones are one glyph.
 */
static void test_emoji(void **state)
{
    static const char font[] = "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf";
    static const char grin[] = "\xf0\x9f\x98\x80";
    struct gf_text_style style = plain;
    skip_without_libraries();
    if (access(font, R_OK)) {
        print_message("skipped: there is no %s (fonts-noto-color-emoji)\n", font);
        skip();
    }
    style.size = 30;
    const struct gf_picture *const white = draw(grin, &style);
    style.colour = 0xff0000;
    const struct gf_picture *const red = draw(grin, &style);
    const struct gf_image *const image = &white->image;
    assert_int_equal(image->format.channels, 4);
    const int x = image->format.width / 2, y = image->format.height / 4;
    assert_int_equal(sample_at(image, x, y, 3), 255); /* the yellow forehead */
    assert_true(sample_at(image, x, y, 0) > 200 && sample_at(image, x, y, 2) < 120);
    assert_true(image->format.width > 30 && image->format.width < 45);
    assert_int_equal(differing(image, &red->image), 0);
    const struct gf_picture *const letters = draw("\xf0\x9f\x98\x80\xef\xb8\x8e", &style);
    assert_int_equal(sample_at(&letters->image, letters->image.format.width / 2, 0, 1), 0);
    /* a couple with a heart; a thumb of a skin tone */
    const struct gf_picture *const couple = draw(
        "\xf0\x9f\x91\xa9\xe2\x80\x8d\xe2\x9d\xa4\xef\xb8\x8f\xe2\x80\x8d\xf0\x9f\x91\xa8", &style);
    const struct gf_picture *const thumb = draw("\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd", &style);
    assert_int_equal(couple->image.format.width, image->format.width);
    assert_int_equal(thumb->image.format.width, image->format.width);
    /* Half a turn shows the picture upside down. */
    style.angle = 180;
    const struct gf_picture *const turned = draw(grin, &style);
    assert_true(abs(turned->image.format.width - image->format.width) < 2);
    assert_true(sample_at(&turned->image, x, turned->image.format.height - 1 - y, 0) > 200);
    gf_text_release(white);
    gf_text_release(red);
    gf_text_release(letters);
    gf_text_release(couple);
    gf_text_release(thumb);
    gf_text_release(turned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_squares),
                                       cmocka_unit_test(test_lines),
                                       cmocka_unit_test(test_turned),
                                       cmocka_unit_test(test_shadow),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_damaged),
                                       cmocka_unit_test(test_file_and_sharing),
                                       cmocka_unit_test(test_levels),
                                       cmocka_unit_test(test_emoji),
                                       cmocka_unit_test(test_handed)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
