/* JPEGs whose pixels are all there, as cameras, telephones and Photoshop write them, are read with
 * a warning: by one thread and by several, of the full size and of a half. What may be the trace of
 * a scan that lost its place is refused. */
#include "codec_test.h"

#include "codec/jpeg/jpeg.h"

enum { DQT = 0xdb, SOS = 0xda, THREADS = 3 };

static const char hint[] = "(to keep what there is: options.allow_truncated)";

static struct bytes make(bool progressive)
{
    struct gf_options options = plain_options();
    struct picture picture = smooth_picture(120, 90, 3, 8);
    options.progressive = progressive;
    assert_int_equal(encode(in_folder("a.jpg"), &picture, &options), GF_OK);
    free_picture(&picture);
    return load(in_folder("a.jpg"));
}

/* How a file is read. */
struct way {
    int threads, reduction;
};
static const struct way ways[] = {{1, 1}, {THREADS, 1}, {1, 2}};
enum { WAYS = sizeof ways / sizeof *ways };

static enum gf_status read_file(const struct bytes *file, struct way way, struct picture *picture)
{
    struct gf_options options = plain_options();
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    options.threads = way.threads;
    failure = (struct gf_error){0};
    assert_int_equal(gf_input_open_memory(file->data, file->size, "in", &input, &failure), GF_OK);
    enum gf_status status = gf_jpeg_source_open(input, &options, 1, &source, &failure);
    *picture = (struct picture){0};
    if (!status) {
        if (way.reduction > 1)
            source->reduce(source, way.reduction);
        picture->format = source->format;
        picture->data = calloc(1, picture_bytes(source->format));
        assert_non_null(picture->data);
        status = read_rows_of(source, picture->data);
        source->close(source);
    }
    gf_input_close(input);
    return status;
}

/* The file with `more` put in at an offset. */
static struct bytes with(const struct bytes *file, size_t at, const void *more, size_t size)
{
    struct bytes changed = {0};
    append(&changed, file->data, at);
    append(&changed, more, size);
    append(&changed, file->data + at, file->size - at);
    return changed;
}

static struct bytes copy_of(const struct bytes *file)
{
    struct bytes copy = {0};
    append(&copy, file->data, file->size);
    return copy;
}

static void expect_sound(const struct bytes *file, struct bytes changed, const char *warning)
{
    for (int i = 0; i < WAYS; i++) {
        struct picture wanted, got;
        assert_int_equal(read_file(file, ways[i], &wanted), GF_OK);
        assert_int_equal(warnings, 0);
        if (read_file(&changed, ways[i], &got))
            fail_msg("%s", failure.text);
        assert_int_equal(warnings, 1);
        assert_non_null(strstr(last_warning, warning));
        assert_same_pixels(&got, &wanted);
        free_picture(&wanted);
        free_picture(&got);
    }
    free(changed.data);
}

static void expect_damage(struct bytes changed, const char *words)
{
    for (int i = 0; i < WAYS; i++) {
        struct picture got;
        assert_int_equal(read_file(&changed, ways[i], &got), GF_ERROR_INPUT);
        assert_non_null(strstr(failure.text, words));
        assert_non_null(strstr(failure.text, hint));
        free_picture(&got);
    }
    free(changed.data);
}

/* The offset of the last such marker, or of the first. */
static size_t find(const struct bytes *file, int marker, bool last)
{
    size_t found = 0;
    for (size_t at = 2; at + 1 < file->size && (last || !found); at++) {
        if (file->data[at] == 0xff && file->data[at + 1] == marker)
            found = at;
    }
    assert_true(found > 0);
    return found;
}

static void test_parameters_of_a_scan(void **state)
{
    struct bytes file = make(false), changed = copy_of(&file);
    changed.data[find(&changed, SOS, false) + 12] = 0; /* the last coefficient */
    expect_sound(&file, changed, "in: the header of its scan has parameters that no baseline JPEG");
    free(file.data);
}

static void test_stray_bytes(void **state)
{
    static const unsigned char stray[] = {1, 2, 0xff, 0, 0, 9};
    for (int progressive = 0; progressive < 2; progressive++) {
        struct bytes file = make(progressive);
        const size_t size = sizeof stray;
        const char *const warning = "in: 6 stray bytes between its segments: passed over";
        expect_sound(&file, with(&file, find(&file, DQT, false), stray, size), warning);
        expect_sound(&file, with(&file, find(&file, SOS, false), stray, size), warning);
        if (progressive) /* behind the tables of the scan */
            expect_sound(&file, with(&file, find(&file, SOS, true), stray, size), warning);
        free(file.data);
    }
}

static void test_fill_behind_the_last_row(void **state)
{
    static const unsigned char fill[3000] = {0};
    for (int progressive = 0; progressive < 2; progressive++) {
        struct bytes file = make(progressive);
        const size_t end = file.size - 2;
        expect_sound(&file, with(&file, end, fill, 40),
                     "bytes of fill behind the last row: passed over");
        expect_sound(&file, with(&file, end, fill, sizeof fill),
                     "bytes of fill behind the last row: passed over");
        expect_damage(with(&file, end, "\x12\x34\x56\x78\x9a\xbc\xde\xf1\x23\x45\x67\x89", 12),
                      "corrupt ");
        free(file.data);
    }
}

static void test_missing_end_marker(void **state)
{
    for (int progressive = 0; progressive < 2; progressive++) {
        struct bytes file = make(progressive), cut = copy_of(&file);
        for (cut.size -= 1; cut.size + 3 > file.size; cut.size--)
            expect_sound(&file, copy_of(&cut), "in: its end marker is missing; all rows are there");
        cut.size -= 6;
        expect_damage(copy_of(&cut), "truncated ");
        if (progressive) { /* a scan is missing */
            cut.size = find(&cut, SOS, true);
            expect_damage(copy_of(&cut), "truncated ");
        }
        free(cut.data);
        free(file.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters_of_a_scan),
        cmocka_unit_test(test_stray_bytes),
        cmocka_unit_test(test_fill_behind_the_last_row),
        cmocka_unit_test(test_missing_end_marker),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
