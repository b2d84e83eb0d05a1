/* The levels of a TIFF: which of its directories are taken for copies of its picture, that a
 * level's pixels are those of its directory, and what happens where levels are damaged. */
#include "codec/codec_test.h"

#include "codec/formats.h"
#include "codec/tiff_files.h"

enum { TILE = 16, WIDTH = 200, HEIGHT = 100 };

/* What is particular about a directory; 0 members are usual. */
struct page {
    int width, height;
    unsigned kind;        /* NewSubfileType */
    unsigned samples;     /* 0: 1 */
    bool strips;          /* it has one strip instead of tiles */
    bool cut;             /* its tiles are said to be in front of the file's end */
    const char *describe; /* ImageDescription */
};

/* The value of a pixel depends on the size of its page. */
static int value_at(int width, int x, int y)
{
    return (7 * width + 3 * x + 5 * y) & 255;
}

/* Adds the tags of a page, and its pixels. */
static void tag_page(struct tiff *tiff, struct page page)
{
    unsigned offsets[400], sizes[400], bits[] = {8, 8, 8};
    const unsigned samples = page.samples ? page.samples : 1;
    const int wide = page.strips ? page.width : TILE, high = page.strips ? page.height : TILE;
    int count = 0;
    for (int top = 0; top < page.height; top += high)
        for (int left = 0; left < page.width; left += wide) {
            offsets[count] = page.cut ? 100000000 : (unsigned)tiff->bytes.size;
            sizes[count++] = (unsigned)(wide * high) * samples;
            for (int i = 0; i < wide * high; i++)
                for (unsigned c = 0; c < samples; c++)
                    put_more(tiff, 1,
                             (unsigned)value_at(page.width, left + i % wide, top + i / wide));
        }
    if (page.kind)
        tag1(tiff, 254, page.kind);
    tag1(tiff, 256, (unsigned)page.width);
    tag1(tiff, 257, (unsigned)page.height);
    tag(tiff, 258, SHORT, (int)samples, bits);
    tag(tiff, 262, SHORT, 1, &(unsigned){samples == 3 ? 2 : 1});
    if (page.describe)
        tag_text(tiff, 270, page.describe);
    if (page.strips)
        tag(tiff, 273, LONG, count, offsets);
    tag(tiff, 277, SHORT, 1, &samples);
    if (page.strips)
        tag(tiff, 279, LONG, count, sizes);
    if (!page.strips) {
        tag1(tiff, 322, TILE);
        tag1(tiff, 323, TILE);
        tag(tiff, 324, LONG, count, offsets);
        tag(tiff, 325, LONG, count, sizes);
    }
}

/* Makes a file of pages in order. The first has the SubIFDs `below`. */
static void write_pages(struct tiff *tiff, const struct page *pages, int count,
                        const struct page *below, int below_count)
{
    unsigned offsets[8];
    begin(tiff);
    for (int i = 0; i < below_count; i++) {
        tag_page(tiff, below[i]);
        offsets[i] = (unsigned)add_directory(tiff);
    }
    for (int i = 0; i < count; i++) {
        tag_page(tiff, pages[i]);
        if (!i && below_count)
            tag(tiff, 330, LONG, below_count, offsets);
        add_page(tiff);
    }
    write_file(tiff);
}

static struct gf_source *open_in(const char *name, struct gf_input **input,
                                 const struct gf_options *options)
{
    struct gf_source *source = NULL;
    if (gf_input_open(in_folder(name), false, input, &failure) ||
        gf_source_open(*input, options, &source, &failure))
        fail_msg("%s: %s", name, failure.text);
    return source;
}

/* The level, if it is above 0, of the source has the pixels of its page. */
static void check_rows(struct gf_source *source, int level)
{
    const struct gf_level taken = source->level[level];
    if (level)
        assert_int_equal(gf_source_reduce(source, taken.divisor, &failure), GF_OK);
    assert_int_equal(source->format.width, taken.width);
    assert_int_equal(source->format.height, taken.height);
    struct picture back = {.format = source->format};
    back.data = malloc(picture_bytes(back.format));
    if (source->read(source, back.format.height, back.data, gf_row_bytes(back.format), &failure))
        fail_msg("level %d: %s", level, failure.text);
    for (int y = 0; y < taken.height; y++)
        for (int x = 0; x < taken.width; x++) {
            const size_t at =
                (size_t)y * gf_row_bytes(back.format) + (size_t)x * (size_t)back.format.channels;
            if (back.data[at] != value_at(taken.width, x, y))
                fail_msg("level %d: %d,%d is %d", level, x, y, back.data[at]);
        }
    free(back.data);
}

/* The file a.tif has these levels, "200x100/1/91 ..." of size, divisor and tiles, and warns so;
 * their pixels are right, in a cell and outside. */
static void check_levels(const char *expected, const char *warning)
{
    for (int level = 0, levels = 1; level < levels; level++) {
        char found[400] = "";
        size_t length = 0;
        struct gf_input *input;
        const struct gf_options plain = plain_options(),
                                options = level % 2 ? in_cells(&plain) : plain;
        struct gf_source *const source = open_in("a.tif", &input, &options);
        for (int i = 0; i < source->levels; i++)
            length +=
                (size_t)snprintf(found + length, sizeof found - length, "%s%dx%d/%d/%d",
                                 i ? " " : "", source->level[i].width, source->level[i].height,
                                 source->level[i].divisor, source->level[i].tiles);
        assert_string_equal(found, expected);
        if (*warning ? !strstr(last_warning, warning) : warnings)
            fail_msg("it warns: %s", last_warning);
        levels = source->levels;
        if (levels)
            check_rows(source, level);
        source->close(source);
        gf_input_close(input);
    }
}

/* Levels are SubIFDs or pages, in any order, each size once, of sides that are rounded up or down,
 * of TIFF and BigTIFF in both byte orders. */
static void test_places(void **state)
{
    static const struct page full = {.width = WIDTH, .height = HEIGHT},
                             small[] = {{.width = 25, .height = 13, .kind = 1, .strips = true},
                                        {.width = 100, .height = 50, .kind = 1},
                                        {.width = 66, .height = 34, .kind = 1}};
    for (int variant = 0; variant < 4; variant++) {
        struct tiff tiff = {.big_endian = variant & 1, .big_tiff = variant & 2};
        const char *const all = "200x100/1/91 100x50/2/28 66x34/3/15 25x13/8/0";
        write_pages(&tiff, &full, 1, small, 3);
        check_levels(all, "");
        tiff = (struct tiff){.big_endian = variant & 1, .big_tiff = variant & 2};
        write_pages(&tiff, (struct page[]){full, small[1], small[0], small[2]}, 4, NULL, 0);
        check_levels(all, "");
        tiff = (struct tiff){.big_endian = variant & 1, .big_tiff = variant & 2};
        write_pages(&tiff, (struct page[]){full, small[1], small[0], small[1]}, 4, &small[2], 1);
        check_levels(all, "");
    }
}

/* A page by its number, and all pages, are read as they are. */
static void test_numbers(void **state)
{
    struct tiff tiff = {0};
    struct gf_input *input;
    const struct gf_options options = plain_options();
    write_pages(&tiff,
                (struct page[]){{.width = WIDTH, .height = HEIGHT},
                                {.width = 100, .height = 50, .kind = 1},
                                {.width = 60, .height = 60}},
                3, NULL, 0);
    check_levels("200x100/1/91 100x50/2/28", "holds 2 pictures: the first is taken; ");
    assert_non_null(strstr(last_warning, "a.tif[2] is the second"));
    static const char *const names[] = {"a.tif[0]", "a.tif[1]", "a.tif[all]", "a.tif[reduced]"};
    for (int i = 0; i < 4; i++) {
        struct gf_source *const source = open_in(names[i], &input, &options);
        assert_int_equal(source->levels, 0);
        assert_int_equal(source->stored.pages, 3);
        assert_int_equal(source->format.width, i % 2 ? 100 : 200);
        assert_int_equal(gf_source_reduction(source, 100), 1);
        source->close(source);
        gf_input_close(input);
    }
}

/* What is no copy of the first page is no level. */
static void test_others(void **state)
{
    static const struct page others[] = {
        {.width = 100, .height = 52, .kind = 1}, /* another shape */
        {.width = 80, .height = 40, .kind = 1},  /* 2.5 times smaller */
        {.width = WIDTH, .height = HEIGHT, .kind = 1},
        {.width = 400, .height = 200, .kind = 1},
        {.width = 100, .height = 50, .kind = 1, .samples = 3},
        {.width = 100, .height = 50, .kind = 1, .samples = 2},
        {.width = 100, .height = 50},            /* it does not say so */
        {.width = 100, .height = 50, .kind = 4}, /* masks */
        {.width = 100, .height = 50, .kind = 5},
        {.width = 100, .height = 50, .describe = "Aperio Image"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct page full = {.width = WIDTH, .height = HEIGHT};
        struct tiff tiff = {0};
        write_pages(&tiff, (struct page[]){full, others[i]}, 2, NULL, 0);
        check_levels("", "holds 2 pictures: the first is taken; ");
        tiff = (struct tiff){0};
        write_pages(&tiff, &full, 1, &others[i], 1);
        check_levels("", "");
    }
    /* Reduced pages behind another page are copies of that page. */
    struct tiff tiff = {0};
    const struct page pages[] = {{.width = WIDTH, .height = HEIGHT},
                                 {.width = 50, .height = 25, .kind = 1},
                                 {.width = WIDTH, .height = HEIGHT},
                                 {.width = 100, .height = 50, .kind = 1}};
    write_pages(&tiff, pages, 4, NULL, 0);
    check_levels("200x100/1/91 50x25/4/8", "holds 3 pictures: the first is taken; ");
    assert_non_null(strstr(last_warning, "a.tif[2] is the second"));
}

/* Aperio's pages do not say that they are reduced: those with tiles are levels. */
static void test_aperio(void **state)
{
    struct tiff tiff = {0};
    const struct page pages[] = {
        {.width = WIDTH, .height = HEIGHT, .describe = "Aperio Image Library v1"},
        {.width = 100, .height = 50, .strips = true, .describe = "Aperio Image Library v1"},
        {.width = 50, .height = 25, .describe = "Aperio Image Library v1"},
        {.width = 12, .height = 6, .describe = "Aperio Image Library v1"},
        {.width = 40, .height = 60, .kind = 1, .strips = true, .describe = "Aperio label"},
        {.width = 100, .height = 50, .kind = 9, .strips = true, .describe = "Aperio macro"}};
    write_pages(&tiff, pages, 6, NULL, 0);
    check_levels("200x100/1/91 50x25/4/8 12x6/16/1", "holds 4 pictures: the first is taken; ");
    assert_non_null(strstr(last_warning, "a.tif[1] is the second"));
}

/* A file is read without the levels that are missing; one that is damaged is refused when it is
 * taken, and only then. */
static void test_damage(void **state)
{
    const struct page full = {.width = WIDTH, .height = HEIGHT},
                      half = {.width = 100, .height = 50, .kind = 1},
                      cut = {.width = 50, .height = 25, .kind = 1, .cut = true};
    struct tiff tiff = {0};
    begin(&tiff);
    tag_page(&tiff, half);
    const unsigned below = (unsigned)add_directory(&tiff);
    tag_page(&tiff, full);
    tag(&tiff, 330, LONG, 3, (unsigned[]){below, 99999999, 99999998});
    add_page(&tiff);
    write_file(&tiff);
    check_levels("200x100/1/91 100x50/2/28", "a.tif: 2 of its levels are damaged: left out");

    for (int i = 0; i < 2; i++) { /* a loop: the second page leads to the first or to itself */
        size_t at[2];
        tiff = (struct tiff){0};
        begin(&tiff);
        for (int k = 0; k < 2; k++) {
            tag_page(&tiff, k ? half : full);
            at[k] = tiff.bytes.size;
            add_page(&tiff);
        }
        put(&tiff, tiff.bytes.data + tiff.link, 4, at[i]);
        write_file(&tiff);
        check_levels("200x100/1/91 100x50/2/28", "");
    }

    struct gf_input *input;
    const struct gf_options plain = plain_options();
    for (int i = 0; i < 2; i++) {
        const struct gf_options options = i ? in_cells(&plain) : plain;
        tiff = (struct tiff){0};
        write_pages(&tiff, (struct page[]){full, half, cut}, 3, NULL, 0);
        struct gf_source *source = open_in("a.tif", &input, &options);
        assert_int_equal(source->levels, 3);
        check_rows(source, 1);
        source->close(source);
        gf_input_close(input);
        source = open_in("a.tif", &input, &options);
        unsigned char row[50];
        if (!gf_source_reduce(source, 4, &failure))
            assert_int_equal(source->read(source, 1, row, sizeof row, &failure), GF_ERROR_INPUT);
        assert_non_null(strstr(failure.text, "a.tif: level 2: damaged"));
        source->close(source);
        gf_input_close(input);
    }
    assert_int_equal(warnings, 0);
}

/* A level of a size that its bytes cannot hold costs nothing. */
static void test_bomb(void **state)
{
    struct tiff tiff = {0};
    struct gf_input *input;
    const struct gf_options options = plain_options();
    begin(&tiff);
    for (unsigned i = 0; i < 20; i++) {
        tag1(&tiff, 254, i > 0);
        tag1(&tiff, 256, 30000 >> i ? 30000 >> i : 1);
        tag1(&tiff, 257, 30000 >> i ? 30000 >> i : 1);
        tag1(&tiff, 258, 8);
        tag1(&tiff, 262, 1);
        tag1(&tiff, 273, 8);
        tag1(&tiff, 279, 8);
        add_page(&tiff);
    }
    write_file(&tiff);
    const long before = peak_kilobytes();
    struct gf_source *const source = open_in("a.tif", &input, &options);
    assert_in_range(source->levels, 10, GF_LEVELS_MOST);
    assert_int_equal(gf_source_reduce(source, 2, &failure), GF_OK);
    unsigned char *const row = malloc(15000);
    assert_int_equal(source->read(source, 1, row, 15000, &failure), GF_ERROR_INPUT);
    free(row);
    source->close(source);
    gf_input_close(input);
    assert_in_range(peak_kilobytes() - before, 0, 20000);
}

/* The places of tiles are read when a tile is wanted: a window has its pixels although half of a
 * list is missing. */
static void test_lists(void **state)
{
    enum { ACROSS = 64, TILES = ACROSS * ACROSS, SIDE = TILE * ACROSS, BYTES = TILE * TILE };
    static unsigned offsets[TILES];
    unsigned char row[TILE];
    const struct gf_options options = plain_options();
    struct tiff tiff = {0};
    struct gf_input *input;
    begin(&tiff);
    for (int i = 0; i < TILES; i++)
        offsets[i] = (unsigned)tiff.bytes.size;
    for (int i = 0; i < BYTES; i++)
        put_more(&tiff, 1, 99);
    tag1(&tiff, 256, SIDE);
    tag1(&tiff, 257, SIDE);
    tag1(&tiff, 258, 8);
    tag1(&tiff, 262, 1);
    tag1(&tiff, 322, TILE);
    tag1(&tiff, 323, TILE);
    tag(&tiff, 324, LONG, TILES, offsets);
    tag(&tiff, 325, LONG, TILES, offsets);
    /* Another list of sizes follows the directory, of which a half is there. */
    put(&tiff, tiff.entries + 12 * (tiff.count - 1) + 8, 4,
        tiff.bytes.size + 2 + 12 * (size_t)tiff.count + 4);
    add_page(&tiff);
    for (int i = 0; i < TILES / 2; i++)
        put_more(&tiff, 4, BYTES);
    write_file(&tiff);
    for (int i = 0; i < 2; i++) {
        struct gf_source *const source = open_in("a.tif", &input, &options);
        const struct gf_rectangle window = {TILE / 2, i ? SIDE - 1 : 8, TILE, 1};
        assert_int_equal(source->window(source, window, 0, &failure), GF_OK);
        assert_int_equal(source->read(source, 1, row, TILE, &failure), i ? GF_ERROR_INPUT : GF_OK);
        assert_true(i || (row[0] == 99 && row[TILE - 1] == 99));
        source->close(source);
        gf_input_close(input);
    }
}

/* Tiles that are kept for further windows count as memory, and are an eighth of the budget at
 * most. */
static void test_kept(void **state)
{
    enum {
        BIG = 256,
        ACROSS = 16,
        TILES = ACROSS * ACROSS,
        SIDE = BIG * ACROSS,
        BYTES = BIG * BIG
    };
    static unsigned numbers[TILES];
    static unsigned char pixels[BYTES];
    static const uint64_t budgets[] = {0, 64 << 20};
    const struct gf_rectangle window = {0, 0, SIDE, SIDE};
    struct tiff tiff = {0};
    begin(&tiff);
    const unsigned at = (unsigned)tiff.bytes.size;
    append(&tiff.bytes, pixels, BYTES);
    tag1(&tiff, 256, SIDE);
    tag1(&tiff, 257, SIDE);
    tag1(&tiff, 258, 8);
    tag1(&tiff, 262, 1);
    tag1(&tiff, 322, BIG);
    tag1(&tiff, 323, BIG);
    for (int i = 0; i < TILES; i++)
        numbers[i] = at;
    tag(&tiff, 324, LONG, TILES, numbers);
    for (int i = 0; i < TILES; i++)
        numbers[i] = BYTES;
    tag(&tiff, 325, LONG, TILES, numbers);
    add_page(&tiff);
    write_file(&tiff);
    for (int i = 0; i < 2; i++) {
        struct gf_options options = plain_options();
        struct gf_input *input;
        options.memory_bytes = budgets[i];
        struct gf_source *const source = open_in("a.tif", &input, &options);
        assert_int_equal(source->window(source, window, 0, &failure), GF_OK);
        const uint64_t before = source->memory.bytes;
        assert_int_equal(source->window(source, window, 1, &failure), GF_OK);
        unsigned char *const rows = malloc((size_t)SIDE * SIDE);
        assert_int_equal(source->read(source, SIDE, rows, SIDE, &failure), GF_OK);
        free(rows);
        assert_int_equal(before, 0); /* the usual */
        assert_in_range(source->memory.bytes, i ? 8 << 20 : SIDE * SIDE,
                        i ? 12 << 20 : SIDE * SIDE + (4 << 20));
        assert_int_equal(source->window(source, window, 0, &(struct gf_error){0}),
                         GF_OK); /* they are still there */
        assert_int_equal(source->blocks, i ? TILES - 128 : 0);
        source->close(source);
        gf_input_close(input);
    }
}

/* The wrong sizes of uncompressed strips that some writers give do no harm. */
static void test_wrong_sizes(void **state)
{
    const struct gf_options options = plain_options();
    unsigned char row[TILE];
    struct tiff tiff = {0};
    struct gf_input *input;
    unsigned offsets[4];
    begin(&tiff);
    for (unsigned i = 0; i < 4; i++) {
        offsets[i] = (unsigned)tiff.bytes.size;
        for (int x = 0; x < TILE; x++)
            put_more(&tiff, 1, i + 1);
    }
    tag1(&tiff, 256, TILE);
    tag1(&tiff, 257, 4);
    tag1(&tiff, 258, 8);
    tag1(&tiff, 262, 1);
    tag(&tiff, 273, LONG, 4, offsets);
    tag1(&tiff, 278, 1);
    tag(&tiff, 279, LONG, 4, (const unsigned[]){1, 2, 3, 4});
    add_page(&tiff);
    write_file(&tiff);
    struct gf_source *const source = open_in("a.tif", &input, &options);
    for (int i = 1; i <= 4; i++) {
        assert_int_equal(source->read(source, 1, row, TILE, &failure), GF_OK);
        assert_int_equal(row[TILE - 1], i);
    }
    source->close(source);
    gf_input_close(input);
}

int main(void)
{
    const struct gf_file_type *const type = gf_file_type(GF_FILE_TIFF);
    if (!type->library || gf_library_load(type->library, "TIFF", GF_ERROR_UNAVAILABLE, &failure)) {
        puts("1..1\nok 1 # SKIP there is no libtiff");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),       cmocka_unit_test(test_kept),
        cmocka_unit_test(test_wrong_sizes), cmocka_unit_test(test_places),
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_others),
        cmocka_unit_test(test_aperio),      cmocka_unit_test(test_damage),
        cmocka_unit_test(test_bomb),
    };
    return cmocka_run_group_tests_name("tiff_levels", tests, make_folder, remove_folder);
}
