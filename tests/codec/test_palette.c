/* PNGs that are written as indices of a palette. */
#include "codec/codec_test.h"

#include "base/bytes.h"

#include <png.h>

enum { WIDTH = 37, HEIGHT = 29 };

/* A picture of so many colours, all of which appear; those of a picture with alpha are half
 * transparent, too. */
static struct picture picture_of(int colours, int channels)
{
    struct picture picture = random_picture(WIDTH, HEIGHT, channels, 8);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        unsigned char *const p = picture.data + i * channels;
        const int colour = i * 7 % colours;
        for (int c = 0; c < channels; c++)
            p[c] = (unsigned char)(c ? colour / 256 * 5 + c : colour);
        if (channels % 2 == 0)
            p[channels - 1] = (unsigned char)(colour % 3 * 127);
    }
    return picture;
}

/* The bit depth and the colour type that the header states. */
static void check_header(const char *name, int bits, int type)
{
    struct bytes file = load(in_folder(name));
    assert_int_equal(file.data[24], bits);
    assert_int_equal(file.data[25], type);
    free(file.data);
}

static void check_back(const char *name, const struct picture *picture)
{
    const struct gf_options options = plain_options();
    struct picture back;
    if (decode(in_folder(name), &options, &back))
        fail_msg("%s", failure.text);
    const int more = back.format.channels - picture->format.channels; /* a palette is of RGB */
    assert_true(more == 0 || more == 2);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        for (int c = 0; c < back.format.channels; c++) {
            const int from = !more ? c : c < 3 ? 0 : 1;
            assert_int_equal(back.data[i * back.format.channels + c],
                             picture->data[i * picture->format.channels + from]);
        }
    free_picture(&back);
}

static void test_counted_colours(void **state)
{
    static const struct {
        int colours, bits;
    } cases[] = {{1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 4}, {16, 4}, {17, 8}, {256, 8}};
    for (int channels = 1; channels <= 4; channels++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            for (int level = 0; level <= 6; level += 3) {
                struct gf_options options = plain_options();
                struct picture picture = picture_of(cases[i].colours, channels);
                options.png_palette = true;
                options.png_level = level;
                assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
                assert_int_equal(warnings, 0);
                check_header("a.png", cases[i].bits, 3);
                check_back("a.png", &picture);
                free_picture(&picture);
            }
}

static void test_too_many_colours(void **state)
{
    struct gf_options options = plain_options();
    options.png_palette = true;
    for (int channels = 3; channels <= 4; channels++) {
        struct picture picture = picture_of(257, channels);
        warnings = 0;
        assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
        assert_int_equal(warnings, 1);
        assert_non_null(strstr(last_warning, "more than 256 colours: it is written without"));
        check_header("a.png", 8, channels == 3 ? 2 : 6);
        check_back("a.png", &picture);
        free_picture(&picture);
    }
    struct picture wide = random_picture(3, 3, 3, 16), back;
    warnings = 0;
    assert_int_equal(encode(in_folder("a.png"), &wide, &options), GF_OK);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "a.png: a palette has 8 bits"));
    assert_int_equal(decode(in_folder("a.png"), &options, &back), GF_OK);
    assert_same_pixels(&wide, &back);
    free_picture(&back);
    free_picture(&wide);
}

/* The palette of a file comes with its pixels, in its order, with colours that no pixel has. */
static void test_palette_is_kept(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = picture_of(9, 4), back;
    options.png_palette = true;
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    options.png_palette = false;
    assert_int_equal(decode(in_folder("a.png"), &options, &back), GF_OK);
    assert_int_equal(back.metadata.palette.size, 9 * 4);
    const unsigned char more[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct bytes palette = {0};
    append(&palette, more, sizeof more);
    append(&palette, back.metadata.palette.data, back.metadata.palette.size);
    assert_true(gf_blob_set(&back.metadata.palette, palette.data, palette.size));
    options.strip = true; /* a palette is no metadata */
    assert_int_equal(encode(in_folder("b.png"), &back, &options), GF_OK);
    check_header("b.png", 4, 3);
    check_back("b.png", &picture);
    free_picture(&back);
    assert_int_equal(decode(in_folder("b.png"), &options, &back), GF_OK);
    assert_int_equal(back.metadata.palette.size, palette.size);
    assert_memory_equal(back.metadata.palette.data, palette.data, palette.size);
    free_picture(&back);
    free_picture(&picture);
    free(palette.data);
}

/* ---- indices beyond the palette ---- */

static const png_color three[] = {{200, 20, 20}, {20, 200, 20}, {20, 20, 200}};

/* The index of a pixel that has so many bits, from 0 to the greatest. */
static int index_at(int x, int y, int bits)
{
    return (x * 7 + y * 5) % (bits == 8 ? 256 : 1 << bits);
}

static void write_indices(const char *path, int bits, int colours, bool clear, int interlacing)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    FILE *const file = fopen(path, "wb");
    unsigned char row[WIDTH], alpha = 100;
    assert_non_null(file);
    if (setjmp(png_jmpbuf(png)))
        fail_msg("libpng cannot write");
    png_init_io(png, file);
    png_set_check_for_invalid_index(png, -1);
    png_set_IHDR(png, info, WIDTH, HEIGHT, bits, PNG_COLOR_TYPE_PALETTE, interlacing, 0, 0);
    png_set_PLTE(png, info, three, colours);
    if (clear)
        png_set_tRNS(png, info, &alpha, 1, NULL);
    png_write_info(png, info);
    png_set_packing(png);
    for (int passes = png_set_interlace_handling(png); passes; passes--)
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++)
                row[x] = (unsigned char)index_at(x, y, bits);
            png_write_row(png, row);
        }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    assert_int_equal(fclose(file), 0);
}

static void check_indices(const struct picture *picture, int bits, int colours, bool clear)
{
    assert_int_equal(picture->format.channels, clear ? 4 : 3);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int index = index_at(x, y, bits);
            const png_color black = {0}, colour = index < colours ? three[index] : black;
            const unsigned char rgba[] = {colour.red, colour.green, colour.blue,
                                          clear && !index ? 100 : 255};
            assert_memory_equal(picture->data + (y * WIDTH + x) * picture->format.channels, rgba,
                                picture->format.channels);
        }
}

/* They are black, in what is made of the picture, too, and one line says so. */
static void test_beyond_the_palette(void **state)
{
    for (int kind = 0; kind < 16; kind++) {
        const int bits = 1 << kind % 4, colours = bits == 1 ? 1 : 3;
        const bool clear = kind & 4;
        struct gf_options options = plain_options();
        struct picture picture, back;
        write_indices(in_folder("a.png"), bits, colours, clear,
                      kind & 8 ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE);
        if (decode(in_folder("a.png"), &options, &picture))
            fail_msg("%d %s", kind, failure.text);
        assert_int_equal(warnings, 1);
        assert_non_null(strstr(last_warning, "a.png: some of its pixels have an index beyond"));
        check_indices(&picture, bits, colours, clear);
        assert_int_equal(encode(in_folder("b.png"), &picture, &options), GF_OK);
        check_header("b.png", bits == 1 ? 1 : 2, 3);
        assert_int_equal(decode(in_folder("b.png"), &options, &back), GF_OK);
        check_indices(&back, bits, colours, clear);
        assert_int_equal(warnings, 1);
        free_picture(&back);
        free_picture(&picture);
    }
}

/* The indices of such a picture are not held until all are known. */
static void test_beyond_the_palette_of_a_large_picture(void **state)
{
    const struct gf_options options = plain_options();
    struct picture picture = random_picture(4100, 2100, 3, 8), back;
    memset(picture.data, 0, picture_bytes(picture.format));
    assert_true(gf_blob_set(&picture.metadata.palette, "\1\2\3\377\4\5\6\377", 8));
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    check_header("a.png", 2, 3);
    assert_int_equal(decode(in_folder("a.png"), &options, &back), GF_OK);
    assert_same_pixels(&picture, &back);
    free_picture(&back);
    free_picture(&picture);
}

/* ---- reduced colours ---- */

enum { WIDE = 301, HIGH = 290, FLAT = 150 };

/* A smooth picture of thousands of colours, whose upper part is of one; the right half of one with
 * alpha becomes transparent downwards. */
static struct picture sloping_picture(int channels)
{
    struct picture picture = random_picture(WIDE, HIGH, channels, 8);
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++) {
            unsigned char *const p = picture.data + (y * WIDE + x) * channels;
            const unsigned char colour[] = {(unsigned char)(x * 255 / WIDE), (unsigned char)(y / 2),
                                            (unsigned char)((x + y) % 200)};
            for (int c = 0; c < (channels < 3 ? 1 : 3); c++)
                p[c] = y < FLAT ? (unsigned char)(91 + 50 * c) : colour[c];
            if (channels % 2 == 0)
                p[channels - 1] = x < WIDE / 2 || y < FLAT ? 255 : (unsigned char)(HIGH - 1 - y);
        }
    return picture;
}

/* Writes the picture with so many colours. */
static void reduce(const char *name, const struct picture *picture, int colours, int threads)
{
    struct gf_options options = plain_options();
    options.png_colours = colours;
    options.threads = threads;
    warnings = 0;
    if (encode(in_folder(name), picture, &options))
        fail_msg("%s", failure.text);
    assert_int_equal(warnings, 0);
}

static struct picture read_back(const char *name)
{
    const struct gf_options options = plain_options();
    struct picture back;
    if (decode(in_folder(name), &options, &back))
        fail_msg("%s", failure.text);
    return back;
}

static double mean_difference(const struct picture *a, const struct picture *b)
{
    double sum = 0;
    assert_int_equal(a->format.channels, b->format.channels);
    for (size_t i = 0; i < picture_bytes(a->format); i++)
        sum += abs(a->data[i] - b->data[i]);
    return sum / (double)picture_bytes(a->format);
}

/* More colours come closer, the palette has no more than were asked for, and what large areas have
 * stays. */
static void test_reduced_colours(void **state)
{
    static const struct {
        int colours, bits;
        double most; /* mean difference */
    } cases[] = {{2, 1, 40}, {4, 2, 20}, {16, 4, 9}, {17, 8, 9}, {64, 8, 5}, {256, 8, 3}};
    for (int channels = 3; channels <= 4; channels++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct picture picture = sloping_picture(channels);
            reduce("a.png", &picture, cases[i].colours, 1);
            check_header("a.png", cases[i].bits, 3);
            struct picture back = read_back("a.png");
            const size_t palette = back.metadata.palette.size / 4;
            assert_in_range(palette, cases[i].colours / 2 + 1, cases[i].colours);
            const double difference = mean_difference(&picture, &back);
            if (difference > cases[i].most)
                fail_msg("%d channels, %d colours: %g", channels, cases[i].colours, difference);
            for (size_t k = 0; cases[i].colours > 4 && k < (size_t)WIDE * (FLAT - 8) * channels;
                 k++)
                assert_int_equal(back.data[k], picture.data[k]);
            free_picture(&back);
            free_picture(&picture);
        }
}

/* The bytes depend neither on the number of threads nor on the machine. */
static void test_reduced_bytes(void **state)
{
    static const uint64_t known[] = {0xb6145aaa8dcba73c, 0x900931a6b3419826, 0x6fbd41990ac4d03a,
                                     0xf3a2de811929d0ab};
    for (int channels = 1; channels <= 4; channels++) {
        struct picture picture = sloping_picture(channels);
        struct bytes file[3];
        for (int threads = 1; threads <= 3; threads++) {
            reduce("a.png", &picture, 21, threads);
            file[threads - 1] = load(in_folder("a.png"));
            assert_int_equal(file[threads - 1].size, file[0].size);
            assert_memory_equal(file[threads - 1].data, file[0].data, file[0].size);
        }
        struct picture back = read_back("a.png");
        const uint64_t hash = gf_hash(GF_HASH_START, back.data, picture_bytes(back.format));
        if (hash != known[channels - 1])
            fail_msg("%d channels: %#llx", channels, (unsigned long long)hash);
        for (int i = 0; i < 3; i++)
            free(file[i].data);
        free_picture(&back);
        free_picture(&picture);
    }
}

/* A picture that has no more colours is unchanged; those that are not opaque come first. */
static void test_few_colours_are_not_reduced(void **state)
{
    for (int channels = 2; channels <= 4; channels++) {
        struct gf_options options = plain_options();
        struct picture picture = picture_of(40, channels);
        options.png_colours = 40;
        options.lossless = true;
        assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
        check_header("a.png", 8, 3);
        check_back("a.png", &picture);
        struct picture back = read_back("a.png");
        const unsigned char *const palette = back.metadata.palette.data;
        assert_int_equal(back.metadata.palette.size, 40 * 4);
        for (int i = 1; i < 40; i++)
            assert_true(palette[4 * i + 3] == 255 || palette[4 * i - 1] < 255);
        options.png_colours = 39;
        assert_int_equal(encode(in_folder("b.png"), &picture, &options), GF_ERROR_UNFIT);
        assert_non_null(strstr(failure.text, "b.png: a palette of 39 colours of 8 bits is not "));
        /* The palette of the input stays if it is not too large. */
        options.png_colours = 41;
        assert_int_equal(encode(in_folder("b.png"), &back, &options), GF_OK);
        free_picture(&picture);
        picture = read_back("b.png");
        assert_int_equal(picture.metadata.palette.size, back.metadata.palette.size);
        assert_memory_equal(picture.metadata.palette.data, palette, 40 * 4);
        free_picture(&back);
        free_picture(&picture);
    }
}

/* Gray becomes samples of gray if these are no longer than indices. */
static void test_gray_levels(void **state)
{
    static const struct {
        int levels, step, bits, type;
    } cases[] = {{2, 255, 1, 0}, {2, 100, 1, 3}, {4, 85, 2, 0}, {16, 17, 4, 0},
                 {9, 3, 4, 3},   {30, 8, 8, 0},  {256, 1, 8, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct picture picture = random_picture(WIDTH, HEIGHT, 1, 8);
        for (int k = 0; k < WIDTH * HEIGHT; k++)
            picture.data[k] = (unsigned char)(k % cases[i].levels * cases[i].step);
        reduce("a.png", &picture, 256, 1);
        check_header("a.png", cases[i].bits, cases[i].type);
        check_back("a.png", &picture);
        free_picture(&picture);
    }
    struct picture picture = sloping_picture(1);
    assert_true(gf_blob_set(&picture.metadata.icc, "gray", 4));
    reduce("a.png", &picture, 3, 1);
    check_header("a.png", 8, 0); /* a palette has no profile of gray */
    reduce("a.png", &picture, 100, 1);
    check_header("a.png", 8, 0);
    struct picture back = read_back("a.png");
    assert_true(mean_difference(&picture, &back) < 1);
    free_picture(&back);
    free_picture(&picture);
}

static void test_16_bits_are_reduced(void **state)
{
    struct gf_options options = plain_options();
    struct picture picture = random_picture(WIDTH, HEIGHT, 3, 16), narrow;
    uint16_t *const sample = (uint16_t *)picture.data;
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
        sample[i] = (uint16_t)(i / 3 % 5 * 40 * 257 + 1);
    reduce("a.png", &picture, 8, 1);
    check_header("a.png", 4, 3);
    narrow = read_back("a.png");
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
        assert_int_equal(narrow.data[i], i / 3 % 5 * 40);
    options.png_colours = 8;
    options.lossless = true;
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_ERROR_UNFIT);
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
        sample[i]--;
    assert_int_equal(encode(in_folder("a.png"), &picture, &options), GF_OK);
    free_picture(&narrow);
    free_picture(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counted_colours),
                                       cmocka_unit_test(test_too_many_colours),
                                       cmocka_unit_test(test_palette_is_kept),
                                       cmocka_unit_test(test_beyond_the_palette),
                                       cmocka_unit_test(test_beyond_the_palette_of_a_large_picture),
                                       cmocka_unit_test(test_reduced_colours),
                                       cmocka_unit_test(test_reduced_bytes),
                                       cmocka_unit_test(test_few_colours_are_not_reduced),
                                       cmocka_unit_test(test_gray_levels),
                                       cmocka_unit_test(test_16_bits_are_reduced)};
    return cmocka_run_group_tests_name("palette", tests, make_folder, remove_folder);
}
