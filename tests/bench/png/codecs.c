#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "codecs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <png.h>
#include <zlib.h>

enum { BAND_ROWS = 64, LIBPNG_BUFFER = 256 << 10 };

static double clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static struct bench_time start(void)
{
    return (struct bench_time){clock_ms(CLOCK_MONOTONIC), clock_ms(CLOCK_PROCESS_CPUTIME_ID), 0};
}

static struct bench_time since(struct bench_time began, const char *path)
{
    struct stat file;
    if (stat(path, &file))
        bench_fail(path, "cannot be found");
    return (struct bench_time){clock_ms(CLOCK_MONOTONIC) - began.wall_ms,
                               clock_ms(CLOCK_PROCESS_CPUTIME_ID) - began.cpu_ms,
                               (int64_t)file.st_size};
}

_Noreturn void bench_fail(const char *what, const char *why)
{
    fprintf(stderr, "bench-png: %s: %s\n", what, why);
    exit(1);
}

static void check(enum gf_status status, const struct gf_error *error)
{
    if (status)
        bench_fail("failed", error->text);
}

static unsigned char *rows_alloc(struct gf_format format)
{
    unsigned char *const rows = calloc((size_t)format.height, gf_row_bytes(format));
    if (!rows)
        bench_fail("rows", "out of memory");
    return rows;
}

/* ---- gpufilter's ---- */

static struct gf_format read_ours(const char *path, int threads, unsigned char **data)
{
    struct gf_options options = gf_options_default();
    struct gf_error error = {0};
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    options.threads = threads;
    check(gf_input_open(path, false, &input, &error), &error);
    check(gf_source_open(input, &options, &source, &error), &error);
    const struct gf_format format = source->format;
    const size_t row_bytes = gf_row_bytes(format);
    if (!*data)
        *data = rows_alloc(format);
    for (int y = 0; y < format.height; y += BAND_ROWS) {
        const int rows = format.height - y < BAND_ROWS ? format.height - y : BAND_ROWS;
        check(source->read(source, rows, *data + (size_t)y * row_bytes, row_bytes, &error), &error);
    }
    if (source->finish)
        check(source->finish(source, &error), &error);
    source->close(source);
    gf_input_close(input);
    return format;
}

void bench_load(const char *path, struct bench_picture *picture)
{
    picture->format = read_ours(path, 0, &picture->data);
    if (picture->format.channels != 3 || picture->format.bits != 8)
        bench_fail(path, "not 8-bit RGB");
}

static void write_ours(const struct bench_picture *picture, struct gf_output *output, int level,
                       int threads)
{
    struct gf_options options = gf_options_default();
    const struct gf_metadata metadata = {.orientation = 1};
    struct gf_error error = {0};
    struct gf_sink *sink = NULL;
    const size_t row_bytes = gf_row_bytes(picture->format);
    options.png_level = level;
    options.threads = threads;
    check(gf_sink_open(output, GF_FILE_PNG, picture->format, &metadata, &options, &sink, &error),
          &error);
    for (int y = 0; y < picture->format.height; y += BAND_ROWS) {
        const int rest = picture->format.height - y;
        check(sink->write(sink, rest < BAND_ROWS ? rest : BAND_ROWS,
                          picture->data + (size_t)y * row_bytes, row_bytes, &error),
              &error);
    }
    check(sink->finish(sink, &error), &error);
    sink->close(sink);
}

/* ---- libpng's: its defaults, which are all filters and zlib's strategy for filtered data ---- */

static void to_output(png_structp png, png_bytep data, size_t size)
{
    struct gf_error error = {0};
    check(gf_output_write(png_get_io_ptr(png), data, size, &error), &error);
}

static void flush_nothing(png_structp png)
{
    (void)png;
}

static void write_libpng(const struct bench_picture *picture, struct gf_output *output, int level)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    const struct gf_format format = picture->format;
    png_set_write_fn(png, output, to_output, flush_nothing);
    png_set_IHDR(png, info, (png_uint_32)format.width, (png_uint_32)format.height, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, 0, 0);
    png_set_compression_level(png, level);
    png_set_compression_buffer_size(png, LIBPNG_BUFFER);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, level ? PNG_ALL_FILTERS : PNG_FILTER_NONE);
    png_write_info(png, info);
    for (int y = 0; y < format.height; y++)
        png_write_row(png, picture->data + (size_t)y * gf_row_bytes(format));
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
}

static void from_input(png_structp png, png_bytep data, size_t size)
{
    struct gf_error error = {0};
    size_t got;
    check(gf_input_read(png_get_io_ptr(png), data, size, &got, &error), &error);
    if (got < size)
        bench_fail("libpng", "truncated");
}

static void read_libpng(const char *path, struct gf_format format, unsigned char *data)
{
    struct gf_error error = {0};
    struct gf_input *input = NULL;
    check(gf_input_open(path, false, &input, &error), &error);
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_read_fn(png, input, from_input);
    png_read_info(png, info);
    for (int y = 0; y < format.height; y++)
        png_read_row(png, data + (size_t)y * gf_row_bytes(format), NULL);
    png_read_end(png, NULL);
    png_destroy_read_struct(&png, &info, NULL);
    gf_input_close(input);
}

/* ---- both ---- */

struct bench_time bench_encode(const struct bench_picture *picture, const char *path, int level,
                               int threads)
{
    struct gf_error error = {0};
    struct gf_output *output = NULL;
    const struct bench_time began = start();
    check(gf_output_open(path, &output, &error), &error);
    if (threads)
        write_ours(picture, output, level, threads);
    else
        write_libpng(picture, output, level);
    check(gf_output_commit(output, &error), &error);
    gf_output_close(output);
    return since(began, path);
}

struct bench_time bench_decode(const struct bench_picture *picture, const char *path, int threads)
{
    unsigned char *data = rows_alloc(picture->format);
    const size_t bytes = gf_row_bytes(picture->format) * (size_t)picture->format.height;
    memset(data, 1, bytes); /* the pages are there before the clock starts */
    const struct bench_time began = start();
    if (threads)
        (void)read_ours(path, threads, &data);
    else
        read_libpng(path, picture->format, data);
    const struct bench_time time = since(began, path);
    if (memcmp(data, picture->data, bytes))
        bench_fail(path, "the pixels are not those that were written");
    free(data);
    return time;
}
