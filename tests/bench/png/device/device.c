/* The part of `make bench-png` that needs a GPU: its PNG encoder and decoder alone, in medians of
 * host time, from pixels in device memory to a file's chunks in pinned memory and back. The chunks
 * are first compared with the CPU's. Arguments: a file for figures, to which "NAME|VALUE|UNIT"
 * lines are added, then NAME=COUNT:FILE for each group of COUNT pictures; a FILE that is a PNG is
 * only decoded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bench.h"
#include "base/threads/times.h"
#include "codec/codec.h"
#include "cuda/png/coders.h"

enum { RUNS = 21, MOST = 128, FRAME = 12, SIGNATURE = 8, ALIGNMENT = 256 };

struct set {
    const char *name, *path;
    int count;
    struct gf_format format;
    unsigned char *rows;       /* tightly packed */
    unsigned char *data[MOST]; /* on the device */
    struct gf_png_encode_picture picture[MOST];
};

static void stop(const char *name, const char *what)
{
    fprintf(stderr, "bench-png: %s: %s\n", name, what);
    exit(1);
}

static void check(enum gf_status status, const struct gf_error *error)
{
    if (status)
        stop("failed", error->text);
}

/* ---- the pictures ---- */

static void read_picture(const char *path, struct set *set)
{
    const struct gf_options options = gf_options_default();
    struct gf_error error = {0};
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    check(gf_input_open(path, false, &input, &error), &error);
    check(gf_source_open(input, &options, &source, &error), &error);
    set->format = source->format;
    const size_t row_bytes = gf_row_bytes(set->format);
    set->rows = malloc(row_bytes * (size_t)set->format.height);
    if (!set->rows)
        stop(path, "out of memory");
    check(source->read(source, set->format.height, set->rows, row_bytes, &error), &error);
    source->close(source);
    gf_input_close(input);
}

static void bring(struct set *set)
{
    const size_t row_bytes = gf_row_bytes(set->format),
                 pitch = (row_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
                 size = pitch * (size_t)set->format.height;
    unsigned char *const pitched = calloc(1, size);
    if (!pitched)
        stop(set->name, "out of memory");
    for (int y = 0; y < set->format.height; y++)
        memcpy(pitched + (size_t)y * pitch, set->rows + (size_t)y * row_bytes, row_bytes);
    for (int i = 0; i < set->count; i++) {
        set->data[i] = bench_alloc(size);
        if (!set->data[i] || !bench_copy_in(set->data[i], pitched, size))
            stop(set->name, "no device memory");
        set->picture[i].in = (struct gf_view){.data = set->data[i],
                                              .pitch = pitch,
                                              .format = set->format,
                                              .rows = set->format.height};
    }
    free(pitched);
}

/* ---- against the CPU ---- */

static unsigned char *write_on_cpu(const struct set *set, size_t *size)
{
    const struct gf_options options = gf_options_default();
    const struct gf_metadata metadata = {.orientation = 1};
    struct gf_error error = {0};
    struct gf_output *output = NULL;
    struct gf_sink *sink = NULL;
    check(gf_output_open_memory(set->name, &output, &error), &error);
    check(gf_sink_open(output, GF_FILE_PNG, set->format, &metadata, &options, &sink, &error),
          &error);
    check(sink->write(sink, set->format.height, set->rows, gf_row_bytes(set->format), &error),
          &error);
    check(sink->finish(sink, &error), &error);
    sink->close(sink);
    check(gf_output_commit(output, &error), &error);
    unsigned char *const file = gf_output_take(output, size);
    gf_output_close(output);
    return file;
}

static void compare(const struct set *set)
{
    size_t size, at = SIGNATURE;
    unsigned char *const file = write_on_cpu(set, &size);
    while (memcmp(file + at + 4, "IDAT", 4))
        at += FRAME +
              (size_t)(file[at] << 24 | file[at + 1] << 16 | file[at + 2] << 8 | file[at + 3]);
    const size_t chunks = size - FRAME - at;
    for (int i = 0; i < set->count; i++) {
        const struct gf_png_encode_picture *const picture = &set->picture[i];
        if (!picture->encoded)
            stop(set->name, "was not encoded");
        if (picture->size != chunks || memcmp(picture->chunks, file + at, chunks))
            stop(set->name, "is not what the CPU encodes");
    }
    gf_free(file);
}

/* ---- measuring ---- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, RUNS, sizeof *values, by_size);
    return values[RUNS / 2];
}

static void note(FILE *figures, const struct set *set, const char *what, double ms)
{
    const double bytes = (double)gf_row_bytes(set->format) * set->format.height * set->count;
    fprintf(figures, "%s: %s|%.3f|ms\n", set->name, what, ms);
    printf("%-34s %3d %5dx%-5d %-38s %9.3f ms %7.1f GB/s of pixels\n", set->name, set->count,
           set->format.width, set->format.height, what, ms, bytes / ms * 1e-6);
    fflush(stdout);
}

static void time_encoding(FILE *figures, struct set *set)
{
    double ms[RUNS], kernels[RUNS];
    struct gf_png_encode_steps steps;
    struct gf_png_encoder *encoder;
    struct gf_error error;
    check(gf_png_encoder_create(0, UINT64_MAX, &encoder, &error), &error);
    for (int run = -1; run < RUNS; run++) {
        const double begin_s = gf_now();
        check(gf_png_encoder_run(encoder, set->picture, set->count, &error), &error);
        if (run < 0)
            compare(set);
        else
            ms[run] = 1e3 * (gf_now() - begin_s);
    }
    gf_png_encoder_measure(encoder, &steps);
    for (int run = 0; run < RUNS; run++) {
        check(gf_png_encoder_run(encoder, set->picture, set->count, &error), &error);
        kernels[run] = (double)steps.encode;
    }
    gf_png_encoder_destroy(encoder);
    note(figures, set, "device memory to a file's bytes", median(ms));
    note(figures, set, "kernels", median(kernels));
}

/* What was decoded into a picture is compared with its rows. */
static void check_pixels(const struct set *set, const struct gf_view *view)
{
    const size_t row_bytes = gf_row_bytes(set->format);
    unsigned char *const back = malloc(view->pitch * (size_t)view->rows);
    if (!back || !bench_copy_out(back, view->data, view->pitch * (size_t)view->rows))
        stop(set->name, "cannot be copied back");
    for (int y = 0; y < view->rows; y++) {
        if (memcmp(back + (size_t)y * view->pitch, set->rows + (size_t)y * row_bytes, row_bytes))
            stop(set->name, "is not decoded to its pixels");
    }
    free(back);
}

static bool is_png(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, ".png");
}

static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END))
        stop(path, "cannot be read");
    *size = (size_t)ftell(file);
    unsigned char *const data = malloc(*size);
    rewind(file);
    if (!data || fread(data, 1, *size, file) != *size)
        stop(path, "cannot be read");
    fclose(file);
    return data;
}

/* A file, in pinned memory, to pixels in device memory: a PNG as it is, of another picture what
 * the CPU writes. */
static void time_decoding(FILE *figures, struct set *set)
{
    struct gf_png_decode_picture picture[MOST];
    struct gf_png_file header;
    struct gf_png_decoder *decoder;
    struct gf_error error;
    double ms[RUNS], inflate[RUNS], unfilter[RUNS];
    struct gf_png_decode_steps steps;
    size_t size;
    unsigned char *const file =
        is_png(set->path) ? read_file(set->path, &size) : write_on_cpu(set, &size);
    if (!gf_png_file_read(file, size, &header) || !bench_pin(file, size))
        stop(set->name, "is no file for the GPU");
    for (int i = 0; i < set->count; i++) {
        picture[i] = (struct gf_png_decode_picture){
            .header = &header, .data = file, .size = size, .out = set->picture[i].in};
        bench_fill(picture[i].out.data, 1, picture[i].out.pitch * (size_t)picture[i].out.rows);
    }
    check(gf_png_decoder_create(0, UINT64_MAX, &decoder, &error), &error);
    for (int run = -1; run < RUNS; run++) {
        const double begin_s = gf_now();
        check(gf_png_decoder_run(decoder, picture, set->count, &error), &error);
        ms[run < 0 ? 0 : run] = 1e3 * (gf_now() - begin_s);
    }
    gf_png_decoder_measure(decoder, &steps);
    for (int run = 0; run < RUNS; run++) {
        check(gf_png_decoder_run(decoder, picture, set->count, &error), &error);
        inflate[run] = (double)steps.inflate;
        unfilter[run] = (double)steps.unfilter;
    }
    for (int i = 0; i < set->count; i++) {
        if (!picture[i].decoded)
            stop(set->name, "was not decoded");
        check_pixels(set, &picture[i].out);
    }
    gf_png_decoder_destroy(decoder);
    bench_unpin(file);
    gf_free(file);
    note(figures, set, "a file's bytes to device memory", median(ms));
    note(figures, set, "inflating", median(inflate));
    note(figures, set, "filters undone", median(unfilter));
}

static void run_set(FILE *figures, char *argument)
{
    static struct set set;
    char *const count = strchr(argument, '='), *const path = strchr(argument, ':');
    if (!count || !path || path < count)
        stop(argument, "is not NAME=COUNT:FILE");
    *count = 0;
    set = (struct set){.name = argument, .path = path + 1, .count = atoi(count + 1)};
    if (set.count < 1 || set.count > MOST)
        stop(argument, "too many or no pictures");
    read_picture(path + 1, &set);
    bring(&set);
    if (!is_png(set.path) && gf_png_encoder_takes(set.format))
        time_encoding(figures, &set);
    time_decoding(figures, &set);
    for (int i = 0; i < set.count; i++)
        bench_free(set.data[i]);
    free(set.rows);
}

int main(int argc, char **argv)
{
    struct bench_device device;
    const char *why = "";
    FILE *const figures = argc > 2 ? fopen(argv[1], "a") : NULL;
    if (!figures)
        stop("arguments", "FIGURES NAME=COUNT:FILE...");
    if (!bench_device_open(&device, &why))
        stop("no GPU", why);
    for (int i = 2; i < argc; i++)
        run_set(figures, argv[i]);
    return fclose(figures) ? 1 : 0;
}
