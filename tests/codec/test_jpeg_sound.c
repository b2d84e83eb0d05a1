/* JPEGs whose pixels are all there, as cameras, telephones and Photoshop write them, are read with
 * a warning: by one thread and by several, of the full size and of a half. What may be the trace of
 * a scan that lost its place is refused. A JPEG ends where its end marker and its index say. */
#include "codec/codec_test.h"

#include <time.h>

#include "codec/jpeg/jpeg.h"

enum { DQT = 0xdb, SOS = 0xda, APP0 = 0xe0, THREADS = 3 };

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

/* *end: where the input stands then. */
static enum gf_status read_file(const struct bytes *file, struct way way, struct picture *picture,
                                int64_t *end)
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
    *end = gf_input_position(input);
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
        int64_t end;
        assert_int_equal(read_file(file, ways[i], &wanted, &end), GF_OK);
        assert_int_equal(warnings, 0);
        if (read_file(&changed, ways[i], &got, &end))
            fail_msg("%s", failure.text);
        assert_int_equal(warnings, 1);
        assert_non_null(strstr(last_warning, warning));
        assert_int_equal(end, changed.size);
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
        int64_t end;
        assert_int_equal(read_file(&changed, ways[i], &got, &end), GF_ERROR_INPUT);
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
        expect_sound(&file,
                     with(&file, end, "\x12\x34\x56\x78\x9a\xbc\xde\xf1\x23\x45\x67\x89", 12),
                     "stray bytes behind the last row: passed over");
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

/* ---- where a JPEG ends ---- */

static void expect_end(struct bytes file, size_t wanted)
{
    for (int i = 0; i < WAYS; i++) {
        struct picture got;
        int64_t end;
        assert_int_equal(read_file(&file, ways[i], &got, &end), GF_OK);
        assert_int_equal(end, wanted);
        assert_int_equal(warnings, 0);
        free_picture(&got);
    }
    free(file.data);
}

static void put_32(unsigned char *at, size_t value, bool little)
{
    for (int i = 0; i < 4; i++)
        at[little ? i : 3 - i] = (unsigned char)(value >> 8 * i);
}

/* An index of the picture and of one behind it, of `size` bytes at `offset` from the index on. */
static struct bytes with_index(const struct bytes *file, size_t offset, size_t size, bool little)
{
    static const unsigned char heads[2][28] = {
        {"\xff\xe2\0\x40MPF\0MM\0*\0\0\0\x08\0\x01\xb0\x02\0\x07"},
        {"\xff\xe2\0\x40MPF\0II*\0\x08\0\0\0\x01\0\x02\xb0\x07\0"}};
    unsigned char index[66] = {0};
    memcpy(index, heads[little], sizeof heads[little]);
    unsigned char *const from = index + 8;
    put_32(from + 14, 32, little);
    put_32(from + 18, 26, little);
    put_32(from + 26 + 4, file->size, little);
    put_32(from + 26 + 16 + 4, size, little);
    put_32(from + 26 + 16 + 8, offset, little);
    return with(file, 2, index, sizeof index);
}

static void test_end(void **state)
{
    struct bytes file = make(false), progressive = make(true);
    expect_end(with(&file, file.size, file.data, file.size), file.size);
    expect_end(with(&progressive, progressive.size, file.data, file.size), progressive.size);
    expect_end(with(&file, file.size, "trailer", 7), file.size);
    for (int little = 0; little < 2; little++) {
        enum { INDEX_BYTES = 66, FROM = 2 + 8, GAP = 5 };
        const size_t first = file.size + INDEX_BYTES;
        struct bytes own = with_index(&file, first + GAP - FROM, progressive.size, little);
        append(&own, "\0\0\0\0", GAP);
        append(&own, progressive.data, progressive.size);
        append(&own, file.data, file.size);
        expect_end(own, first + GAP + progressive.size);
    }
    /* An index that is damaged, or names more than there is. */
    struct bytes damaged = with_index(&file, 1u << 31, 1u << 31, true);
    const size_t size = damaged.size;
    expect_end(copy_of(&damaged), size);
    for (size_t at = 6; at < 68; at++) {
        damaged.data[at] ^= 0xff;
        expect_end(copy_of(&damaged), size);
        damaged.data[at] ^= 0xff;
    }
    free(damaged.data);
    free(file.data);
    free(progressive.data);
}

/* What an XMP packet says is behind the end marker. */
static void test_container(void **state)
{
    static const char packet[] =
        "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'><a "
        "Item:Semantic=\"Primary\" Item:Padding=\"4\"/><a Item:Length=\"7\"/></x:xmpmeta>";
    struct bytes file = make(false);
    unsigned char head[4] = {0xff, APP0 + 1, 0, sizeof packet + 2};
    struct bytes tagged = with(&file, 2, packet, sizeof packet),
                 whole = with(&tagged, 2, head, sizeof head);
    const size_t size = whole.size;
    append(&whole, "abcdefghijklmn", 14);
    expect_end(whole, size + 11);
    free(tagged.data);
    free(file.data);
}

/* Each of 100,000 indices says that it has 65,535 fields, and has none. */
static void test_many_indices(void **state)
{
    static const unsigned char index[] = "\xff\xe2\0\x10MPF\0MM\0*\0\0\0\x08\xff\xff";
    enum { COUNT = 100000, BYTES = sizeof index - 1 };
    struct bytes file = make(false), indices = {malloc(COUNT * BYTES), COUNT * BYTES};
    assert_non_null(indices.data);
    for (size_t i = 0; i < COUNT; i++)
        memcpy(indices.data + i * BYTES, index, BYTES);
    struct bytes many = with(&file, 2, indices.data, indices.size);
    const clock_t begin = clock();
    struct picture got;
    int64_t end;
    assert_int_equal(read_file(&many, ways[0], &got, &end), GF_OK);
    assert_true(clock() - begin < 2 * CLOCKS_PER_SEC);
    assert_int_equal(end, many.size);
    free_picture(&got);
    free(many.data);
    free(indices.data);
    free(file.data);
}

/* A length counts its own two bytes. What follows a smaller one is no part of the segment, so that
 * the length is not taken from there. */
static void test_length_of_a_segment(void **state)
{
    enum { COMMENT = 0xfffe - 4, COM = 0xfe };
    static const unsigned char skipped[] = {APP0, APP0 + 1, APP0 + 2, APP0 + 13, APP0 + 14, COM};
    unsigned char head[] = {0xff, 0, 0, 0, 0xff, COM, 0xff, 0xfc};
    unsigned char *const comment = calloc(1, COMMENT);
    struct bytes file = make(false), commented = with(&file, 2, head + 4, 4);
    assert_non_null(comment);
    struct bytes long_one = with(&commented, 6, comment, COMMENT);
    for (size_t i = 0; i < 2 * sizeof skipped; i++) {
        head[1] = skipped[i / 2];
        head[3] = i % 2;
        expect_sound(&file, with(&file, find(&file, DQT, false), head, 4),
                     "in: a segment of an impossible length: passed over");
        expect_sound(&file, with(&long_one, 2, head, 4), "of an impossible length");
    }
    head[1] = DQT;
    struct bytes damaged = with(&file, 2, head, 4);
    struct picture got;
    int64_t end;
    assert_int_equal(read_file(&damaged, ways[0], &got, &end), GF_ERROR_INPUT);
    assert_non_null(strstr(failure.text, "Bogus marker length"));
    free(comment);
    free(long_one.data);
    free(commented.data);
    free(damaged.data);
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters_of_a_scan),
        cmocka_unit_test(test_stray_bytes),
        cmocka_unit_test(test_fill_behind_the_last_row),
        cmocka_unit_test(test_missing_end_marker),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_container),
        cmocka_unit_test(test_many_indices),
        cmocka_unit_test(test_length_of_a_segment),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
