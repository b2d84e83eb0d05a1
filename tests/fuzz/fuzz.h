/* What the fuzz targets share: checks, options that bound time and memory, and pictures in memory.
 * A target is one file that defines LLVMFuzzerTestOneInput and returns 0. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/common/checks.h"
#include "gpufilter/gpufilter.h"

#define FUZZ_UNUSED __attribute__((unused))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A failed check ends the process, and libFuzzer saves the input. */
#define FUZZ_CHECK(condition, ...) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__); \
            fputc('\n', stderr); \
            abort(); \
        } \
    } while (0)

#ifndef FUZZ_ASAN_MORE
#define FUZZ_ASAN_MORE ""
#endif

/* Large freed blocks are not kept: each codec allocates half a megabyte for each picture. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=4:malloc_context_size=8:allocator_may_return_null=1" FUZZ_ASAN_MORE;
}

/* libarchive 3.6 leaks what it keeps of an archive whose writing fails; fontconfig leaks 288 bytes
 * when it is first used; libheif 1.15 leaks 52 bytes of some damaged files. What this project leaks
 * of libarchive and libheif shows in the tests under a sanitizer, which pass over neither. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libarchive.so\nleak:libfontconfig.so\nleak:libheif.so";
}

enum { FUZZ_PIXELS_MAX = 4096 };

/* A warning is one line. */
FUZZ_UNUSED static void fuzz_on_warning(void *context, const char *text)
{
    (void)context;
    FUZZ_CHECK(*text && !strchr(text, '\n'), "%s", text);
}

FUZZ_UNUSED static struct gf_options fuzz_options(void)
{
    struct gf_options options = gf_options_default();
    options.device = GF_DEVICE_CPU;
    options.threads = 1;
    options.serial = true;
    options.max_pixels = FUZZ_PIXELS_MAX;
    options.memory_bytes = 64 << 20;
    options.warn = fuzz_on_warning;
    return options;
}

/* A failure has a text of one line. */
FUZZ_UNUSED static bool fuzz_ok(enum gf_status status, const struct gf_error *error)
{
    if (!status)
        return true;
    FUZZ_CHECK(status == error->status && *error->text && !strchr(error->text, '\n'), "%d, %d: %s",
               status, error->status, error->text);
    return false;
}

/* ---- bytes ---- */

/* Takes numbers and strings off the front of an input. */
struct fuzz_bytes {
    const uint8_t *data;
    size_t size;
};

FUZZ_UNUSED static unsigned fuzz_byte(struct fuzz_bytes *bytes)
{
    if (!bytes->size)
        return 0;
    bytes->size--;
    return *bytes->data++;
}

/* What stands before the next zero byte; free() it. */
FUZZ_UNUSED static char *fuzz_string(struct fuzz_bytes *bytes)
{
    const size_t length = strnlen((const char *)bytes->data, bytes->size);
    char *const text = malloc(length + 1);
    memcpy(text, bytes->data, length);
    text[length] = '\0';
    const size_t taken = length + (length < bytes->size);
    bytes->data += taken;
    bytes->size -= taken;
    return text;
}

/* ---- chains ---- */

/* Leaves out what is right but takes long: large pictures between filters, wide stencils. */
FUZZ_UNUSED static bool fuzz_is_quick(const char *chain)
{
    int digits = 0, resizes = 0;
    for (const char *at = chain; *at; at++) {
        digits = *at >= '0' && *at <= '9' ? digits + 1 : 0;
        resizes += !strncmp(at, "resize", 6);
        if (digits > 2 || resizes > 1 || (digits && (at[1] == 'e' || at[1] == 'E')))
            return false;
    }
    return true;
}

/* ---- pictures ---- */

FUZZ_UNUSED static struct gf_image fuzz_image(struct gf_format format)
{
    struct gf_image image = {.format = format, .pitch = gf_row_bytes(format)};
    image.data = calloc(image.pitch, (size_t)format.height);
    return image;
}

FUZZ_UNUSED static enum gf_status fuzz_read(struct gf_source *source, struct gf_image *image,
                                            struct gf_error *error)
{
    enum { ROWS = 5 };
    enum gf_status status = GF_OK;
    const int height = source->format.height;
    *image = fuzz_image(source->format);
    for (int y = 0, rows; !status && y < height; y += rows) {
        rows = height - y < ROWS ? height - y : ROWS;
        status =
            source->read(source, rows, image->data + (size_t)y * image->pitch, image->pitch, error);
    }
    if (!status && source->finish)
        status = source->finish(source, error);
    if (status)
        free(image->data);
    return status;
}

/* Decodes a file; the caller frees image->data after GF_OK. */
FUZZ_UNUSED static enum gf_status fuzz_decode(const void *data, size_t size,
                                              const struct gf_options *options,
                                              struct gf_image *image, struct gf_error *error)
{
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    enum gf_status status = gf_input_open_memory(data, size, "in", &input, error);
    if (!status)
        status = gf_source_open(input, options, &source, error);
    if (!status && source->memory.bytes) /* as whoever reads a source asks */
        status = gf_memory_check("in", source->memory.why ? source->memory.why : "",
                                 source->memory.bytes, options->memory_bytes, options, error);
    if (!status)
        status = fuzz_read(source, image, error);
    if (source)
        source->close(source);
    gf_input_close(input);
    (void)fuzz_ok(status, error);
    return status;
}

/* A file that was written can be read. */
FUZZ_UNUSED static void fuzz_check_file(const void *result, size_t size)
{
    struct gf_options options = fuzz_options();
    struct gf_error error = {0};
    struct gf_image image;
    options.max_pixels = FUZZ_PIXELS_MAX * 100 * 100;
    FUZZ_CHECK(!fuzz_decode(result, size, &options, &image, &error), "%s", error.text);
    free(image.data);
}

/* Encodes a picture by the sink, which `status` says to be open; the caller frees the bytes. */
FUZZ_UNUSED static uint8_t *fuzz_write(const struct gf_image *image, struct gf_output *output,
                                       struct gf_sink *sink, enum gf_status status,
                                       struct gf_error *error, size_t *size)
{
    if (!status)
        status = sink->write(sink, image->format.height, image->data, image->pitch, error);
    if (!status)
        status = sink->finish(sink, error);
    if (sink)
        sink->close(sink);
    if (!status)
        status = gf_output_commit(output, error);
    FUZZ_CHECK(!status, "%s", error->text);
    uint8_t *const bytes = gf_output_take(output, size);
    gf_output_close(output);
    return bytes;
}

FUZZ_UNUSED static uint8_t *fuzz_encode(const struct gf_image *image, enum gf_file_format format,
                                        const struct gf_metadata *metadata,
                                        const struct gf_options *options, size_t *size)
{
    static const struct gf_metadata none = {.orientation = 1};
    struct gf_error error = {0};
    struct gf_output *output = NULL;
    struct gf_sink *sink = NULL;
    enum gf_status status = gf_output_open_memory("out", &output, &error);
    if (!status)
        status = gf_sink_open(output, format, image->format, metadata ? metadata : &none, options,
                              &sink, &error);
    return fuzz_write(image, output, sink, status, &error, size);
}

FUZZ_UNUSED static void fuzz_check_same(const struct gf_image *a, const struct gf_image *b)
{
    const struct gf_format f = a->format, g = b->format;
    FUZZ_CHECK(f.width == g.width && f.height == g.height && f.channels == g.channels &&
                   f.bits == g.bits,
               "%dx%d, %d channels, %d bits; %dx%d, %d channels, %d bits", f.width, f.height,
               f.channels, f.bits, g.width, g.height, g.channels, g.bits);
    for (size_t i = 0; i < a->pitch * (size_t)f.height; i++)
        FUZZ_CHECK(a->data[i] == b->data[i], "byte %zu: %d, %d", i, a->data[i], b->data[i]);
}

/* A target that reads files of that format, which is lossless. What was read is written, and is the
 * same when it is read again. */
#define FUZZ_READING_AND_WRITING(format) \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) \
    { \
        const struct gf_options options = fuzz_options(); \
        struct gf_error error = {0}; \
        struct gf_image image, again; \
        size_t written; \
        if (gf_file_format_of(data, size) != (format) || \
            fuzz_decode(data, size, &options, &image, &error)) \
            return 0; \
        uint8_t *const file = fuzz_encode(&image, (format), NULL, &options, &written); \
        FUZZ_CHECK(!fuzz_decode(file, written, &options, &again, &error), "%s", error.text); \
        fuzz_check_same(&image, &again); \
        free(again.data); \
        free(image.data); \
        free(file); \
        return 0; \
    }

/* A target that reads files of that format; one size in 64 as one that may be truncated, which can
 * take long: the codecs go on to the end. */
#define FUZZ_READING(format) \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) \
    { \
        struct gf_options options = fuzz_options(); \
        struct gf_error error = {0}; \
        struct gf_image image; \
        options.allow_truncated = size % 64 == 0; \
        if (gf_file_format_of(data, size) == (format) && \
            !fuzz_decode(data, size, &options, &image, &error)) \
            free(image.data); \
        return 0; \
    }

/* Reads the chosen pictures of a file, one after another. */
FUZZ_UNUSED static void fuzz_read_pages(const void *data, size_t size, struct gf_pages pages,
                                        const struct gf_options *options)
{
    struct gf_error error = {0};
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    int count = 0;
    enum gf_status status = gf_input_open_memory(data, size, "in", &input, &error);
    if (!status) {
        gf_input_choose_pages(input, pages);
        status = gf_source_open(input, options, &source, &error);
    }
    if (!status)
        status = gf_source_reduce(source, gf_source_reduction(source, size / 4 % 8), &error);
    for (bool found = true; !status && found; count++) {
        struct gf_image image;
        status = fuzz_read(source, &image, &error);
        if (!status)
            free(image.data);
        found = false;
        if (!status && source->next)
            status = gf_source_next(source, &found, &error);
    }
    FUZZ_CHECK(status || count == 1 || count <= source->stored.pages, "%d frames", count);
    if (source)
        source->close(source);
    gf_input_close(input);
    (void)fuzz_ok(status, &error);
}

/* A target that reads animations of that format: by the size one picture, all or some. */
#define FUZZ_READING_FRAMES(format) \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) \
    { \
        static const struct gf_pages pages[] = {{-1, -1}, {0, GF_PAGES_ALL}, {1, -1}, {1, 2}}; \
        struct gf_options options = fuzz_options(); \
        options.allow_truncated = size / 4 % 16 == 0; \
        if (gf_file_format_of(data, size) == (format)) \
            fuzz_read_pages(data, size, pages[size % 4], &options); \
        return 0; \
    }
