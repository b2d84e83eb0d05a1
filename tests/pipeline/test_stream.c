/* Pictures from functions that give bytes, and to functions that take them. */
#include "codec/codec_test.h"

#include "gpufilter/gpufilter.h"

/* Bytes that are given in pieces, up to a failure. */
struct giving {
    struct bytes file;
    size_t piece, fails_at; /* of fails_at bytes the reader gives no more; SIZE_MAX: it gives all */
    enum gf_status status;  /* of the failure */
    const char *text;       /* NULL: it says nothing */
    size_t done;
    int failed, ended; /* calls */
};

static enum gf_status give(void *context, void *data, size_t size, size_t *got,
                           struct gf_error *error)
{
    struct giving *const giving = context;
    const size_t end = giving->fails_at < giving->file.size ? giving->fails_at : giving->file.size;
    size_t some = end - giving->done;
    if (!some && end == giving->fails_at) {
        giving->failed++;
        return giving->text ? gf_fail(error, giving->status, "%s", giving->text) : giving->status;
    }
    some = some < giving->piece ? some : giving->piece;
    some = some < size ? some : size;
    memcpy(data, giving->file.data + giving->done, some);
    giving->done += some;
    giving->ended += !some;
    *got = some;
    return GF_OK;
}

/* Bytes that are taken, up to a failure. */
struct taking {
    struct bytes file;
    int calls, fails_in; /* the call that fails; 0: none does */
};

static enum gf_status take(void *context, const void *data, size_t size, struct gf_error *error)
{
    struct taking *const taking = context;
    if (++taking->calls == taking->fails_in)
        return gf_fail(error, GF_ERROR_OUTPUT, "the line is closed");
    append(&taking->file, data, size);
    return GF_OK;
}

static struct giving all_of(struct bytes file, size_t piece)
{
    return (struct giving){.file = file, .piece = piece, .fails_at = SIZE_MAX};
}

static struct gf_reader reader_of(struct giving *giving)
{
    return (struct gf_reader){.size = sizeof(struct gf_reader), .read = give, .context = giving};
}

static struct gf_writer writer_of(struct taking *taking)
{
    return (struct gf_writer){.size = sizeof(struct gf_writer), .write = take, .context = taking};
}

static struct gf_pipeline *open_cpu(const char *chain, bool allow_truncated)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline;
    warnings = 0;
    options.device = GF_DEVICE_CPU;
    options.warn = take_warning;
    options.allow_truncated = allow_truncated;
    assert_int_equal(gf_pipeline_open(chain, &options, &pipeline, &failure), GF_OK);
    return pipeline;
}

static struct bytes make_file(const char *name, int width, int height)
{
    const struct gf_options options = plain_options();
    struct picture picture = random_picture(width, height, 3, 8);
    assert_int_equal(encode(in_folder(name), &picture, &options), GF_OK);
    free_picture(&picture);
    return load(in_folder(name));
}

static const char *const names[] = {"a.ppm", "a.png", "a.jpg", "a.qoi", "a.bmp"};
enum { NAMES = sizeof names / sizeof *names };

static void assert_streams_like_bytes(struct gf_pipeline *pipeline, struct bytes file, size_t piece)
{
    void *data;
    struct giving giving = all_of(file, piece);
    struct taking taking = {.calls = 0};
    const struct gf_reader reader = reader_of(&giving);
    const struct gf_writer writer = writer_of(&taking);
    struct bytes whole;
    assert_int_equal(gf_pipeline_run_bytes(pipeline, file.data, file.size, GF_FILE_PNG, &data,
                                           &whole.size, &failure),
                     GF_OK);
    if (gf_pipeline_run_stream(pipeline, &reader, GF_FILE_PNG, &writer, &failure))
        fail_msg("%s", failure.text);
    assert_int_equal(taking.file.size, whole.size);
    assert_memory_equal(taking.file.data, data, whole.size);
    assert_true(giving.ended < 2); /* nobody asks again after the end */
    free(taking.file.data);
    gf_free(data);
}

static void test_streams_are_the_bytes(void **state)
{
    struct gf_pipeline *const pipeline = open_cpu("blur,equalize", false);
    for (int i = 0; i < NAMES; i++) {
        struct bytes file = make_file(names[i], 90, 70);
        for (size_t piece = 1; piece < 2 * file.size; piece = 11 * piece)
            assert_streams_like_bytes(pipeline, file, piece);
        assert_streams_like_bytes(pipeline, file, SIZE_MAX);
        free(file.data);
    }
    struct bytes large = make_file("large.ppm", 1100, 900); /* more than one piece of the output */
    assert_streams_like_bytes(pipeline, large, 100000);
    free(large.data);
    gf_pipeline_close(pipeline);
}

static void test_pixels(void **state)
{
    struct gf_pipeline *const pipeline = open_cpu("transpose", false);
    struct bytes file = make_file("pixels.png", 60, 40);
    struct giving giving = all_of(file, 999);
    struct taking taking = {.calls = 0};
    const struct gf_reader reader = reader_of(&giving);
    const struct gf_writer writer = writer_of(&taking);
    struct gf_image whole = {.data = NULL}, read = {.data = NULL};
    void *data;
    size_t size;
    assert_int_equal(gf_pipeline_decode(pipeline, file.data, file.size, &whole, &failure), GF_OK);
    assert_int_equal(gf_pipeline_decode_from(pipeline, &reader, &read, &failure), GF_OK);
    assert_memory_equal(&read.format, &whole.format, sizeof read.format);
    assert_memory_equal(read.data, whole.data, whole.pitch * (size_t)whole.format.height);
    assert_int_equal(gf_pipeline_encode(pipeline, &whole, GF_FILE_JPEG, &data, &size, &failure),
                     GF_OK);
    assert_int_equal(gf_pipeline_encode_to(pipeline, &read, GF_FILE_JPEG, &writer, &failure),
                     GF_OK);
    assert_int_equal(taking.file.size, size);
    assert_memory_equal(taking.file.data, data, size);
    gf_free(data);
    free(taking.file.data);
    gf_image_free(&whole);
    gf_image_free(&read);
    free(file.data);
    gf_pipeline_close(pipeline);
}

/* The failure comes out as it is, whoever has asked for the bytes, and nothing is written. */
static void assert_failure_of_reader(struct gf_pipeline *pipeline, struct giving giving,
                                     const char *text)
{
    struct gf_image image = {.data = NULL};
    struct taking taking = {.calls = 0};
    struct giving again = giving;
    const struct gf_reader reader = reader_of(&giving), second = reader_of(&again);
    const struct gf_writer writer = writer_of(&taking);
    assert_int_equal(gf_pipeline_decode_from(pipeline, &reader, &image, &failure), giving.status);
    assert_string_equal(failure.text, text);
    assert_int_equal(failure.status, giving.status);
    assert_null(image.data);
    assert_int_equal(giving.failed, 1);
    assert_int_equal(gf_pipeline_run_stream(pipeline, &second, GF_FILE_PNG, &writer, &failure),
                     giving.status);
    assert_string_equal(failure.text, text);
    assert_int_equal(again.failed, 1);
    assert_int_equal(taking.calls, 0);
}

static void test_failures_of_readers(void **state)
{
    for (int truncated = 0; truncated < 2; truncated++) {
        struct gf_pipeline *const pipeline = open_cpu("blur", truncated);
        for (int i = 0; i < NAMES; i++) {
            struct bytes file = make_file(names[i], 300, 200);
            for (size_t at = 0; at < file.size - 100; at += at / 2 + 1) {
                struct giving giving = all_of(file, 1000);
                giving.fails_at = at;
                giving.status = GF_ERROR_CANCELLED;
                giving.text = "the line is cut";
                assert_failure_of_reader(pipeline, giving, "the line is cut");
                giving.status = GF_ERROR_READ;
                giving.text = NULL;
                assert_failure_of_reader(pipeline, giving,
                                         "input: an input is missing or cannot be read");
            }
            free(file.data);
        }
        gf_pipeline_close(pipeline);
    }
}

static void test_failures_of_writers(void **state)
{
    struct gf_pipeline *const pipeline = open_cpu("", false);
    struct bytes file = make_file("writers.ppm", 1000, 1000);
    for (int call = 1; call <= 3; call++) { /* a piece has a MiB */
        struct giving giving = all_of(file, SIZE_MAX);
        struct taking taking = {.fails_in = call};
        const struct gf_reader reader = reader_of(&giving);
        const struct gf_writer writer = writer_of(&taking);
        assert_int_equal(gf_pipeline_run_stream(pipeline, &reader, GF_FILE_PNM, &writer, &failure),
                         GF_ERROR_OUTPUT);
        assert_string_equal(failure.text, "the line is closed");
        assert_int_equal(taking.calls, call);
        free(taking.file.data);
    }
    free(file.data);
    gf_pipeline_close(pipeline);
}

static enum gf_status give_too_much(void *context, void *data, size_t size, size_t *got,
                                    struct gf_error *error)
{
    *got = size + 1;
    return GF_OK;
}

static void assert_refused_as(enum gf_status status, enum gf_status expected, const char *text)
{
    assert_int_equal(status, expected);
    if (!strstr(failure.text, text))
        fail_msg("\"%s\" does not say \"%s\"", failure.text, text);
}

static void test_callers_mistakes(void **state)
{
    struct gf_pipeline *const pipeline = open_cpu("", false);
    struct gf_image image = {.data = NULL};
    struct giving giving = all_of((struct bytes){(unsigned char *)"what is that?", 13}, 5);
    struct taking taking = {.calls = 0};
    struct gf_reader reader = reader_of(&giving), none = reader, much = reader, old = reader;
    struct gf_writer writer = writer_of(&taking), no_writer = {.size = sizeof no_writer};
    none.read = NULL;
    old.size = 0;
    much.read = give_too_much;
    reader.name = "the socket";
    assert_refused_as(gf_pipeline_decode_from(pipeline, &reader, &image, &failure), GF_ERROR_INPUT,
                      "the socket: not a picture of a known format");
    giving.done = giving.file.size;
    assert_refused_as(gf_pipeline_decode_from(pipeline, &reader, &image, &failure), GF_ERROR_INPUT,
                      "the socket: ");
    assert_refused_as(gf_pipeline_decode_from(pipeline, &much, &image, &failure), GF_ERROR_READ,
                      "input: its function gave ");
    assert_refused_as(gf_pipeline_decode_from(pipeline, &none, &image, &failure), GF_ERROR_USAGE,
                      "reader: ");
    assert_refused_as(gf_pipeline_decode_from(pipeline, &old, &image, &failure), GF_ERROR_USAGE,
                      "reader: ");
    assert_refused_as(gf_pipeline_run_stream(pipeline, &reader, GF_FILE_PNG, &no_writer, &failure),
                      GF_ERROR_USAGE, "writer: ");
    assert_refused_as(
        gf_pipeline_run_stream(pipeline, &reader, (enum gf_file_format)99, &writer, &failure),
        GF_ERROR_USAGE, "format=99");
    assert_refused_as(gf_pipeline_encode_to(pipeline, &image, GF_FILE_PNG, &no_writer, &failure),
                      GF_ERROR_USAGE, "writer: ");
    assert_refused_as(gf_pipeline_decode_from(pipeline, NULL, &image, &failure), GF_ERROR_USAGE,
                      "gf_pipeline_decode_from: reader is NULL");
    assert_refused_as(gf_pipeline_encode_to(pipeline, &image, GF_FILE_PNG, NULL, &failure),
                      GF_ERROR_USAGE, "gf_pipeline_encode_to: writer is NULL");
    assert_refused_as(gf_pipeline_run_stream(pipeline, &reader, GF_FILE_PNG, NULL, &failure),
                      GF_ERROR_USAGE, "gf_pipeline_run_stream: writer is NULL");
    assert_int_equal(taking.calls, 0);
    gf_pipeline_close(pipeline);
}

/* Runs and decodes a picture of a stream. Asking for anything after the picture fails. */
static void assert_first_alone(struct bytes first, struct bytes file, size_t piece)
{
    struct gf_pipeline *const pipeline = open_cpu("", false);
    void *expected;
    size_t size;
    struct giving giving = all_of(file, piece);
    struct taking taking = {.calls = 0};
    const struct gf_reader reader = reader_of(&giving);
    const struct gf_writer writer = writer_of(&taking);
    struct gf_image image = {.data = NULL};
    giving.fails_at = file.size;
    assert_int_equal(gf_pipeline_run_bytes(pipeline, first.data, first.size, GF_FILE_AUTO,
                                           &expected, &size, &failure),
                     GF_OK);
    assert_int_equal(gf_pipeline_run_stream(pipeline, &reader, GF_FILE_AUTO, &writer, &failure),
                     GF_OK);
    assert_int_equal(taking.file.size, size);
    assert_memory_equal(taking.file.data, expected, size);
    giving.done = 0;
    assert_int_equal(gf_pipeline_decode_from(pipeline, &reader, &image, &failure), GF_OK);
    assert_int_equal(giving.failed, 0);
    assert_int_equal(warnings, 0);
    gf_image_free(&image);
    gf_free(expected);
    free(taking.file.data);
    gf_pipeline_close(pipeline);
}

/* What follows a picture is not looked for, since a caller may send it much later, or never. */
static void test_what_follows(void **state)
{
    static const char *const of[] = {"follow.ppm", "follow.pam", "follow.png", "follow.jpg",
                                     "follow.qoi"};
    static const size_t pieces[] = {1, 1000, SIZE_MAX};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        for (int side = 1; side <= 100; side += 99) {
            struct bytes first = make_file(of[i], side, side), two = {0};
            append(&two, first.data, first.size);
            append(&two, first.data, first.size);
            for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
                assert_first_alone(first, first, pieces[k]);
                assert_first_alone(first, two, pieces[k]);
            }
            free(two.data);
            free(first.data);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_are_the_bytes), cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_failures_of_readers),   cmocka_unit_test(test_failures_of_writers),
        cmocka_unit_test(test_callers_mistakes),      cmocka_unit_test(test_what_follows),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
