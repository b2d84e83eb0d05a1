/* A program of its own. Memory runs out at each allocation in turn while a file is written and
 * read: the call fails, or everything is there, the metadata as well. */
#include "codec/codec_test.h"

#include <errno.h>

#include "codec/formats.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(SANITIZED)
#define REPLACES_MALLOC 1
#else
#define REPLACES_MALLOC 0 /* a sanitizer has replaced it already */
#endif

#if REPLACES_MALLOC

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static int countdown = -1; /* allocations until one fails; below 0: none does */
static size_t least;       /* only those of so many bytes count */

/* libpng, libjpeg and zlib find what the program exports before libc's. */
#define FOR_LIBRARIES __attribute__((visibility("default")))

static bool fails(size_t size)
{
    const bool now = size >= least && countdown >= 0 && countdown-- == 0;
    errno = now ? ENOMEM : errno;
    return now;
}

FOR_LIBRARIES void *malloc(size_t size)
{
    return fails(size) ? NULL : __libc_malloc(size);
}

FOR_LIBRARIES void *calloc(size_t count, size_t size)
{
    return fails(count * size) ? NULL : __libc_calloc(count, size);
}

FOR_LIBRARIES void *realloc(void *block, size_t size)
{
    return fails(size) ? NULL : __libc_realloc(block, size);
}

static struct gf_blob blob_of(const char *text, size_t size)
{
    struct gf_blob blob = {0};
    assert_true(gf_blob_set(&blob, text, size));
    return blob;
}

static struct picture picture_with_metadata(void)
{
    struct picture picture = smooth_picture(60, 40, 3, 8);
    char profile[3000];
    for (size_t i = 0; i < sizeof profile; i++)
        profile[i] = (char)(i * i % 251);
    memcpy(profile + 16, "RGB ", 4);
    picture.metadata.icc = blob_of(profile, sizeof profile);
    picture.metadata.exif = blob_of("MM\0\x2a\0\0\0\x08\0\0\0\0\0\0", 14);
    picture.metadata.xmp = blob_of("<x:xmpmeta/>", 12);
    return picture;
}

static void assert_same_metadata(const struct gf_metadata *a, const struct gf_metadata *b)
{
    const struct gf_blob *const of_a[] = {&a->icc, &a->exif, &a->xmp};
    const struct gf_blob *const of_b[] = {&b->icc, &b->exif, &b->xmp};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(of_a[i]->size, of_b[i]->size);
        assert_memory_equal(of_a[i]->data, of_b[i]->data, of_a[i]->size);
    }
}

/* Opens the file and reads the rows, as decode() does, into memory that is there already. */
static enum gf_status decode_rows(const char *path, const struct gf_options *options,
                                  unsigned char *data, struct gf_metadata *metadata)
{
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    enum gf_status status = gf_input_open(path, false, &input, &failure);
    if (!status)
        status = gf_source_open(input, options, &source, &failure);
    if (!status)
        status = source->read(source, source->format.height, data, gf_row_bytes(source->format),
                              &failure);
    if (!status && source->finish)
        status = source->finish(source, &failure);
    countdown = -1;
    if (source && !status) {
        *metadata = source->metadata;
        source->metadata = (struct gf_metadata){0};
    }
    if (source)
        source->close(source);
    gf_input_close(input);
    return status;
}

/* What another try may mend must not count as damage. A stream of the C library says so by errno.
 */
static void assert_says_memory(enum gf_status status, int at)
{
    if (status != GF_ERROR_MEMORY && !strstr(failure.text, strerror(ENOMEM)))
        fail_msg("allocation %d: %s", at, failure.text);
}

/* Returns whether no allocation was left to fail. */
static bool write_with_fault(const char *path, const struct picture *picture,
                             const struct gf_options *options, int at)
{
    struct picture back;
    countdown = at;
    const enum gf_status status = encode(path, picture, options);
    const bool done = countdown >= 0;
    countdown = -1;
    if (status) {
        assert_says_memory(status, at);
        return false;
    }
    if (decode(path, options, &back))
        fail_msg("allocation %d: %s", at, failure.text);
    assert_same_metadata(&back.metadata, &picture->metadata);
    free_picture(&back);
    return done;
}

static bool read_with_fault(const char *path, const struct picture *written,
                            const struct gf_options *options, int at)
{
    unsigned char *const data = malloc(picture_bytes(written->format));
    struct gf_metadata metadata = {0};
    countdown = at;
    const enum gf_status status = decode_rows(path, options, data, &metadata);
    countdown = -1;
    if (status)
        assert_says_memory(status, at);
    if (!status) {
        assert_same_metadata(&metadata, &written->metadata);
        assert_memory_equal(data, written->data, picture_bytes(written->format));
    }
    assert_int_equal(warnings, 0);
    gf_metadata_free(&metadata);
    free(data);
    return !status;
}

static void check_writes(const char *name, const struct picture *picture)
{
    struct gf_options options = plain_options();
    options.threads = 1;
    int at = 0;
    while (!write_with_fault(in_folder(name), picture, &options, at))
        at++;
    assert_true(at > 10);
}

static void check_reads(const char *name)
{
    struct gf_options options = plain_options();
    struct picture written;
    options.threads = 1;
    assert_int_equal(decode(in_folder(name), &options, &written), GF_OK);
    /* To the first that succeeds, and on: what is refused late may be left out early. */
    int succeeded = 0, at;
    for (at = 0; succeeded < 40; at++)
        succeeded += read_with_fault(in_folder(name), &written, &options, at);
    assert_true(at > (least ? 40 : 45));
    free_picture(&written);
}

static void check_faults(const char *name)
{
    struct picture picture = picture_with_metadata();
    check_writes(name, &picture);
    check_reads(name);
    free_picture(&picture);
}

static void test_png(void **state)
{
    check_faults("a.png");
}

static void test_jpeg(void **state)
{
    check_faults("a.jpg");
}

static bool has_library(enum gf_file_format format)
{
    const struct gf_file_type *const type = gf_file_type(format);
    return type->library &&
           !gf_library_load(type->library, type->name, GF_ERROR_UNAVAILABLE, &failure);
}

static void test_webp(void **state)
{
    if (has_library(GF_FILE_WEBP))
        check_faults("a.webp");
    else
        skip();
}

/* Each allocation fails in turn while frames are written. Reading is left out: libwebp 1.2 crashes
 * where it has no memory for what is lossless, such as the alpha of frames. */
static void test_animated_webp(void **state)
{
    struct gf_options options = plain_options();
    struct frames frames, back;
    bool done = false;
    int at = 0;
    if (!has_library(GF_FILE_WEBP))
        skip();
    options.threads = 1;
    frames = random_frames(4, 30, 20, 4, 8);
    for (; !done; at++) {
        countdown = at;
        const enum gf_status status = encode_frames(in_folder("f.webp"), &frames, &options);
        done = !status && countdown >= 0;
        countdown = -1;
        if (status)
            assert_says_memory(status, at);
    }
    assert_true(at > 40);
    assert_int_equal(decode_frames(in_folder("f.webp[all]"), &options, &back), GF_OK);
    assert_int_equal(back.count, 4);
    free_frames(&back);
    free_frames(&frames);
}

/* libtiff 4.5 and libavif crash where there is no memory for small things, libjxl where there is
 * none for large ones, too. */
static void check_large(enum gf_file_format format, const char *name)
{
    const struct gf_options options = plain_options();
    struct picture picture = smooth_picture(300, 200, 3, 8);
    if (!has_library(format))
        skip();
    assert_int_equal(encode(in_folder(name), &picture, &options), GF_OK);
    least = 32 << 10;
    check_reads(name);
    least = 0;
    free_picture(&picture);
}

static void test_tiff(void **state)
{
    check_large(GF_FILE_TIFF, "a.tif");
}

static void test_avif(void **state)
{
    check_large(GF_FILE_AVIF, "a.avif");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_png),  cmocka_unit_test(test_jpeg),
        cmocka_unit_test(test_webp), cmocka_unit_test(test_animated_webp),
        cmocka_unit_test(test_tiff), cmocka_unit_test(test_avif),
    };
    return cmocka_run_group_tests_name("codec_memory", tests, make_folder, remove_folder);
}

#else

int main(void)
{
    puts("1..1\nok 1 # SKIP malloc cannot be replaced here");
    return 0;
}

#endif
