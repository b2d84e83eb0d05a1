/* Pictures that are decoded at a fraction of their size: which fraction a chain asks for, that the
 * rows are those of libjpeg-turbo's own scaled decoding, and that a size is a size of the whole
 * picture. */
#include "chain/chain.h"
#include "chain/plan.h"
#include "codec/codec.h"
#include "codec/io/input.h"
#include "codec/jpeg_files.h"
#include "support.h"

/* ---- the fraction ---- */

static int most_of(const char *text, int width, int height, int orientation)
{
    struct gf_chain chain;
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    const int most = gf_plan_reduction(&chain, format_of(width, height, 3, 8), orientation);
    gf_chain_free(&chain);
    return most;
}

/* The fraction of a JPEG. */
static int reduction_of(const char *text, int width, int height, int orientation)
{
    const struct gf_source jpeg = {.most_reduction = 8};
    return gf_source_reduction(&jpeg, most_of(text, width, height, orientation));
}

static void test_reduction(void **state)
{
    static const struct {
        const char *chain;
        int width, height, orientation, expected;
    } cases[] = {
        {"thumbnail=500", 6000, 4000, 1, 4},
        {"thumbnail=375", 6000, 4000, 1, 8},
        {"thumbnail=376", 6000, 4000, 1, 4}, /* 6000 / 8 is 750 */
        {"thumbnail=500", 2000, 1333, 1, 2},
        {"thumbnail=500", 1999, 1333, 1, 1},
        {"thumbnail=500", 400, 300, 1, 1},
        {"thumbnail=500:load=full", 6000, 4000, 1, 1},
        {"thumbnail=10%", 6000, 4000, 1, 4},
        {"thumbnail=100:400", 6000, 4000, 1, 8},
        {"thumbnail=100:400", 6000, 4000, 6, 8}, /* 4000x6000 to 100x150 */
        {"thumbnail=1000:300:fit=cover", 6000, 4000, 1, 2},
        {"thumbnail=300:1000:fit=cover", 6000, 4000, 6, 2},
        {"resize=500", 6000, 4000, 1, 1},
        {"resize=500:load=reduced", 6000, 4000, 1, 4},
        {"resize=500:4000:load=reduced", 6000, 4000, 1, 1},
        {"resize=500:kernel=nearest:load=reduced", 6000, 4000, 1, 1},
        {"invert,thumbnail=500", 6000, 4000, 1, 1},
        {"thumbnail=500,thumbnail=100", 6000, 4000, 1, 4},
        {"thumbnail=1", 1, 1, 1, 1},
        {"thumbnail=1", 16, 16, 1, 8},
        {"", 6000, 4000, 1, 1},
        {"thumbnail=500:like=pillow", 6000, 4000, 1, 4},
        {"thumbnail=500:like=pillow", 6000, 4000, 6, 1}, /* Pillow's picture is not turned */
        {"thumbnail=500:like=pillow:load=full", 6000, 4000, 1, 1},
        {"resize=500:like=pillow", 6000, 4000, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int got =
            reduction_of(cases[i].chain, cases[i].width, cases[i].height, cases[i].orientation);
        if (got != cases[i].expected)
            fail_msg("%s of %dx%d: 1/%d instead of 1/%d", cases[i].chain, cases[i].width,
                     cases[i].height, got, cases[i].expected);
    }
}

/* Of levels, the smallest that is at least twice as large as the result. */
static void test_levels(void **state)
{
    static const struct {
        const char *chain;
        int orientation, level;
    } cases[] = {{"thumbnail=500", 1, 2},
                 {"thumbnail=501", 1, 1},
                 {"thumbnail=1999", 1, 1},
                 {"thumbnail=2001", 1, 0},
                 {"thumbnail=333", 1, 3},
                 {"thumbnail=10", 1, 4},
                 {"thumbnail=10:load=full", 1, 0},
                 {"resize=125:600:load=reduced", 1, 1},
                 {"resize=600:125:load=reduced", 6, 1},
                 {"blur=1,thumbnail=10", 1, 0}};
    const struct gf_source source = {.levels = 5,
                                     .level = {{8000, 6001, 1, 0},
                                               {4000, 3001, 2, 0},
                                               {1000, 750, 8, 0},
                                               {666, 500, 12, 0},
                                               {250, 188, 32, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int most = most_of(cases[i].chain, 8000, 6001, cases[i].orientation),
                  level = gf_source_level(&source, gf_source_reduction(&source, most));
        if (level != cases[i].level)
            fail_msg("%s: level %d instead of %d", cases[i].chain, level, cases[i].level);
    }
}

/* up: the sides of the reduced picture are rounded up. */
static struct gf_format size_of_plan(const struct gf_chain *chain, int width, int height,
                                     int orientation, int reduction, bool up)
{
    const struct gf_plan_request request = {
        .orientation = orientation, .reduction = reduction, .width = width, .height = height};
    struct gf_plan plan;
    struct gf_error error = {0};
    const int more = up ? reduction - 1 : 0;
    const struct gf_format in =
        format_of((width + more) / reduction, (height + more) / reduction, 3, 8);
    assert_ok("plan", gf_plan_make_for(chain, in, &request, &plan, &error), &error);
    const struct gf_format out = plan.out;
    gf_plan_free(&plan);
    return out;
}

/* A reduced picture is made as large as the whole one, though its sides are rounded. */
static void test_sizes(void **state)
{
    static const char *const chains[] = {"thumbnail=37",
                                         "thumbnail=31:17:fit=cover",
                                         "thumbnail=12%",
                                         "thumbnail=40:40:fit=contain",
                                         "resize=h=21:load=reduced",
                                         "resize=9%:11%:load=reduced"};
    uint64_t seed = 5;
    int reduced = 0;
    for (int i = 0; i < 3000; i++) {
        const char *const text = chains[i % 6];
        const int width = 1 + random_below(&seed, 900), height = 1 + random_below(&seed, 900);
        const int orientation = 1 + random_below(&seed, 8);
        struct gf_chain chain;
        struct gf_error error = {0};
        assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
        const int most = gf_plan_reduction(&chain, format_of(width, height, 3, 8), orientation),
                  reduction = most > 1 ? 1 + random_below(&seed, most) : 1;
        const struct gf_format whole = size_of_plan(&chain, width, height, orientation, 1, false);
        const struct gf_format part =
            size_of_plan(&chain, width, height, orientation, reduction, i / 6 % 2);
        if (!same_format(whole, part))
            fail_msg("%s of %dx%d at 1/%d: %dx%d instead of %dx%d", text, width, height, reduction,
                     part.width, part.height, whole.width, whole.height);
        reduced += reduction > 1;
        gf_chain_free(&chain);
    }
    assert_true(reduced > 500);
}

/* ---- the rows ---- */

/* What libjpeg-turbo itself makes of the file. */
static unsigned char *scaled(const struct jpeg_file *file, int reduction, struct gf_format *format)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, file->data, file->size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.scale_num = 1;
    jpeg.scale_denom = (unsigned)reduction;
    jpeg_start_decompress(&jpeg);
    *format = format_of((int)jpeg.output_width, (int)jpeg.output_height, jpeg.output_components, 8);
    unsigned char *const rows = malloc(gf_row_bytes(*format) * (size_t)format->height);
    assert_non_null(rows);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW line = rows + jpeg.output_scanline * gf_row_bytes(*format);
        jpeg_read_scanlines(&jpeg, &line, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    return rows;
}

static void check_rows(const struct jpeg_kind *kind, uint64_t *seed)
{
    const struct jpeg_file file = jpeg_make(kind, seed);
    for (int reduction = 2; reduction <= 8; reduction *= 2) {
        struct gf_format format;
        unsigned char *const expected = scaled(&file, reduction, &format);
        struct gf_options options = gf_options_default();
        struct gf_input *input = NULL;
        struct gf_source *source = NULL;
        struct gf_error error = {0};
        assert_ok("input", gf_input_open_memory(file.data, file.size, "in", &input, &error),
                  &error);
        assert_ok("source", gf_source_open(input, &options, &source, &error), &error);
        assert_int_equal(gf_source_reduce(source, reduction, NULL), GF_OK);
        assert_true(same_format(source->format, format));
        const size_t size = gf_row_bytes(format) * (size_t)format.height;
        unsigned char *const rows = malloc(size);
        assert_non_null(rows);
        const int first = format.height / 2;
        assert_ok("rows", source->read(source, first, rows, gf_row_bytes(format), &error), &error);
        assert_ok("rows",
                  source->read(source, format.height - first,
                               rows + (size_t)first * gf_row_bytes(format), gf_row_bytes(format),
                               &error),
                  &error);
        assert_ok("end", source->finish(source, &error), &error);
        assert_memory_equal(rows, expected, size);
        source->close(source);
        gf_input_close(input);
        free(rows);
        free(expected);
    }
    free(file.data);
}

static void test_rows(void **state)
{
    static const int sizes[][2] = {{1, 1}, {17, 9}, {333, 217}, {1500, 1100}};
    uint64_t seed = 9;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int k = 0; k < 5; k++) {
            const struct jpeg_kind kind = {.width = sizes[i][0],
                                           .height = sizes[i][1],
                                           .components = k ? 3 : 1,
                                           .h = {k > 1 ? 2 : 1, 1, 1},
                                           .v = {k > 2 ? 2 : 1, 1, 1},
                                           .quality = 90,
                                           .restart_interval = k == 4 ? 5 : 0};
            check_rows(&kind, &seed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduction),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
