/* Parts of JPEGs (struct gf_source's window): every pixel is that of the whole decode, of files of
 * all kinds, by one thread and in strips. */
#include "codec/jpeg_files.h"

#include "base/image.h"
#include "codec/jpeg/jpeg.h"

enum { SIDE = 300 };

static struct gf_error failure;

struct opened {
    struct gf_input *input;
    struct gf_source *source;
};

static bool keeps_cut; /* with --allow-truncated */

static struct opened open_jpeg(const struct jpeg_file *file, int threads, int strip_rows)
{
    struct opened opened = {0};
    struct gf_options options = gf_options_default();
    options.threads = threads;
    options.allow_truncated = keeps_cut;
    assert_int_equal(gf_input_open_memory(file->data, file->size, "in", &opened.input, &failure),
                     GF_OK);
    assert_int_equal(
        gf_jpeg_source_open(opened.input, &options, strip_rows, &opened.source, &failure), GF_OK);
    return opened;
}

static void close_jpeg(struct opened *opened)
{
    opened->source->close(opened->source);
    gf_input_close(opened->input);
}

static struct gf_rectangle part_of(struct gf_format format, uint64_t *seed)
{
    struct gf_rectangle at = {.x = random_below(seed, format.width),
                              .y = random_below(seed, format.height)};
    at.width = 1 + random_below(seed, format.width - at.x);
    at.height = 1 + random_below(seed, random_below(seed, 2) ? format.height - at.y : 1);
    return at;
}

/* Reads the part, whose pixels are those of the whole, and what follows the file. */
static void check_part(const struct jpeg_file *file, const struct gf_image *whole,
                       struct gf_rectangle at, int threads, int strip_rows, const char *what)
{
    const size_t pixel = gf_pixel_bytes(whole->format), row = whole->pitch,
                 bytes = pixel * (size_t)at.width;
    unsigned char *const part = malloc(bytes * (size_t)at.height), next[4];
    size_t got;
    struct opened opened = open_jpeg(file, threads, strip_rows);
    struct gf_source *const source = opened.source;
    assert_non_null(source->window);
    assert_int_equal(source->window(source, at, 0, &failure), GF_OK);
    assert_int_equal(source->format.width, at.width);
    assert_int_equal(source->format.height, at.height);
    if (source->read(source, at.height, part, bytes, &failure) || source->finish(source, &failure))
        fail_msg("%s: %s", what, failure.text);
    for (int y = 0; y < at.height; y++)
        if (memcmp(part + (size_t)y * bytes,
                   whole->data + (size_t)(at.y + y) * row + (size_t)at.x * pixel, bytes) != 0)
            fail_msg("%s: %dx%d+%d+%d, %d threads, strips of %d: row %d differs", what, at.width,
                     at.height, at.x, at.y, threads, strip_rows, y);
    assert_int_equal(gf_input_read(opened.input, next, 4, &got, &failure), GF_OK);
    if (!keeps_cut)
        assert_memory_equal(next, "next", 4);
    assert_int_equal(source->window(source, at, 0, &failure), GF_ERROR_UNFIT);
    close_jpeg(&opened);
    free(part);
}

static struct gf_image decode_whole(const struct jpeg_file *file)
{
    struct opened opened = open_jpeg(file, 1, 0);
    struct gf_image whole;
    if (gf_source_read_all(opened.source, &whole, &failure)) {
        assert_true(keeps_cut); /* a header of a later scan was cut */
        gf_image_free(&whole);
    }
    close_jpeg(&opened);
    return whole;
}

static struct jpeg_file make_with_tail(const struct jpeg_kind *kind, uint64_t *seed)
{
    struct jpeg_file file = jpeg_make(kind, seed);
    file.data = realloc(file.data, file.size + 4);
    memcpy(file.data + file.size, "next", 4);
    file.size += 4;
    return file;
}

static void check_files(int files, uint64_t seed)
{
    enum { PARTS = 8, HEADER = 2500 };
    for (int i = 0; i < files; i++) {
        struct jpeg_kind kind = jpeg_choose(SIDE, &seed);
        char what[120];
        kind.script = i % 4 ? 0 : random_below(&seed, JPEG_SCRIPTS + 1);
        kind.script = kind.components == 1 && kind.script ? 1 + kind.script % 2 : kind.script;
        snprintf(what, sizeof what, "file %d: %dx%dx%d, %d%d %d%d %d%d, restart %d, script %d", i,
                 kind.width, kind.height, kind.components, kind.h[0], kind.v[0], kind.h[1],
                 kind.v[1], kind.h[2], kind.v[2], kind.restart_interval, kind.script);
        struct jpeg_file file = make_with_tail(&kind, &seed);
        if (keeps_cut) /* within the scan, if that is large enough */
            file.size -= file.size > HEADER ? (file.size - HEADER) / 2 : 0;
        struct gf_image whole = decode_whole(&file);
        for (int k = 0; whole.data && k < PARTS; k++)
            check_part(&file, &whole, part_of(whole.format, &seed), 1 + k % 2 * 2, 1 + k % 3, what);
        gf_image_free(&whole);
        free(file.data);
    }
}

static void test_parts(void **state)
{
    keeps_cut = false;
    check_files(120, 11);
}

/* What is missing is the same gray. */
static void test_cut_files(void **state)
{
    keeps_cut = true;
    check_files(100, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_cut_files)};
    return cmocka_run_group_tests_name("JPEG windows", tests, NULL, NULL);
}
