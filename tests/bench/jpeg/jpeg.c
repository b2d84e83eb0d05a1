/* What `make bench-jpeg` runs: the JPEG decoder and encoder of the GPU alone, group by group, in
 * medians of host time, from files in pinned or in device memory to pictures in device memory, and
 * back to scans in pinned memory, as libjpeg-turbo's and by the perceptual encoder. Pictures and
 * scans are compared with libjpeg-turbo's, and perceptual scans with the CPU's. Arguments:
 * results, commit, what the pictures are, then NAME=COUNT:FILE[,FILE...] for each group. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jpeglib.h>

#include "../bench.h"
#include "base/threads/times.h"
#include "cuda/jpeg/coders.h"
#include "gpufilter/gpufilter.h"

enum { RUNS = 21, MOST = 256, SETS = 32, QUALITY = 90 };

struct set {
    char name[40];
    int count, width, height, reduction;
    double file_bytes, scan_bytes, perceptual_bytes; /* of one picture, on average */
    double pinned_ms, device_ms, encode_ms, perceptual_ms;
    struct gf_jpeg_decode_steps steps;
    struct gf_jpeg_encode_steps encode_steps, perceptual_steps;
};

struct group {
    int files;
    unsigned char *file[MOST], *on_device[MOST]; /* file: pinned */
    size_t size[MOST];
    struct gf_jpeg_header header[MOST];
    unsigned char *out[MOST]; /* a picture each, in device memory */
    struct gf_jpeg_decode_picture decode[MOST];
    struct gf_jpeg_encode_picture encode[MOST];
};

static void stop(const char *name, const char *what)
{
    fprintf(stderr, "bench-jpeg: %s: %s\n", name, what);
    exit(1);
}

static void check(enum gf_status status, const struct gf_error *error)
{
    if (status)
        stop("the codec", error->text);
}

/* ---- the pictures ---- */

static void read_picture(struct group *group, const char *path)
{
    const int i = group->files;
    FILE *const file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) || i == MOST)
        stop(path, "cannot be read");
    group->size[i] = (size_t)ftell(file);
    rewind(file);
    group->file[i] = aligned_alloc(4096, (group->size[i] + 4095) / 4096 * 4096);
    if (!group->file[i] || fread(group->file[i], 1, group->size[i], file) != group->size[i])
        stop(path, "cannot be read");
    fclose(file);
    group->on_device[i] = bench_alloc(group->size[i]);
    if (!bench_pin(group->file[i], group->size[i]) || !group->on_device[i] ||
        !bench_copy_in(group->on_device[i], group->file[i], group->size[i]))
        stop(path, "cannot be copied to the device");
    if (!gf_jpeg_header_read(group->file[i], group->size[i], &group->header[i]))
        stop(path, "is no JPEG for the GPU");
    group->files++;
}

static struct gf_view view_of(const struct gf_jpeg_header *header, int reduction,
                              unsigned char *data)
{
    enum { ALIGNMENT = 256 };
    const struct gf_format format = {(header->width + reduction - 1) / reduction,
                                     (header->height + reduction - 1) / reduction,
                                     header->components, 8, GF_SAMPLES_INTEGER};
    return (struct gf_view){.data = data,
                            .pitch = (gf_row_bytes(format) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
                            .format = format,
                            .rows = format.height};
}

static void prepare(struct group *group, struct set *set)
{
    for (int i = 0; i < set->count; i++) {
        const int file = i % group->files;
        const struct gf_jpeg_header *const header = &group->header[file];
        struct gf_view view = view_of(header, set->reduction, NULL);
        view.data = group->out[i] = bench_alloc(view.pitch * (size_t)view.rows);
        if (!view.data)
            stop(set->name, "no device memory");
        group->decode[i] = (struct gf_jpeg_decode_picture){.header = header,
                                                           .data = group->file[file],
                                                           .size = group->size[file],
                                                           .reduction = set->reduction,
                                                           .out = view};
        group->encode[i] = (struct gf_jpeg_encode_picture){
            .in = view, .quality = QUALITY, .subsampling = GF_SUBSAMPLING_420};
        set->file_bytes += (double)group->size[file] / set->count;
    }
    set->width = group->header[0].width;
    set->height = group->header[0].height;
}

static void drop(struct group *group, const struct set *set)
{
    for (int i = 0; i < group->files; i++) {
        bench_unpin(group->file[i]);
        bench_free(group->on_device[i]);
        free(group->file[i]);
    }
    for (int i = 0; i < set->count; i++)
        bench_free(group->out[i]);
}

/* ---- against libjpeg-turbo ---- */

static void check_decoded(const struct gf_jpeg_decode_picture *picture, const char *name)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    const size_t pitch = picture->out.pitch, size = pitch * (size_t)picture->out.rows;
    unsigned char *const is = malloc(size), *const row = malloc(pitch);
    JSAMPROW line = row;
    if (!is || !row || !picture->decoded || !bench_copy_out(is, picture->out.data, size))
        stop(name, "was not decoded");
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, picture->data, picture->size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.scale_denom = (unsigned)picture->reduction;
    jpeg_start_decompress(&jpeg);
    for (int y = 0; y < picture->out.rows; y++) {
        jpeg_read_scanlines(&jpeg, &line, 1);
        if (memcmp(row, is + (size_t)y * pitch, gf_row_bytes(picture->out.format)))
            stop(name, "is not what libjpeg-turbo decodes");
    }
    jpeg_destroy_decompress(&jpeg);
    free(is);
    free(row);
}

/* A file ends with the scan and the end marker. */
static void check_end(const void *file, size_t file_size, const unsigned char *scan, size_t size,
                      const char *name, const char *what)
{
    if (file_size < size + 2 ||
        memcmp((const unsigned char *)file + file_size - 2 - size, scan, size))
        stop(name, what);
}

static void check_encoded(const struct gf_jpeg_encode_picture *picture, const char *name)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    const size_t pitch = picture->in.pitch, size = pitch * (size_t)picture->in.rows;
    unsigned char *const pixels = malloc(size), *file = NULL;
    unsigned long file_size = 0;
    if (!pixels || !picture->encoded || !bench_copy_out(pixels, picture->in.data, size))
        stop(name, "was not encoded");
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &file, &file_size);
    jpeg.image_width = (JDIMENSION)picture->in.format.width;
    jpeg.image_height = (JDIMENSION)picture->in.format.height;
    jpeg.input_components = picture->in.format.channels;
    jpeg.in_color_space = jpeg.input_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, QUALITY, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < picture->in.rows; y++) {
        JSAMPROW line = pixels + (size_t)y * pitch;
        jpeg_write_scanlines(&jpeg, &line, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    check_end(file, file_size, picture->scan, picture->size, name,
              "is not what libjpeg-turbo encodes");
    free(file);
    free(pixels);
}

/* ---- against the CPU's perceptual encoder ---- */

static void check_perceptual(const struct gf_jpeg_encode_picture *picture, const char *name)
{
    struct gf_options options;
    struct gf_pipeline *pipeline;
    struct gf_image image;
    struct gf_error error;
    const size_t lead = sizeof(struct gf_jpeg_own_codes);
    void *file;
    size_t file_size;
    gf_options_init(&options, sizeof options);
    options.device = GF_DEVICE_CPU;
    options.jpeg_encoder = GF_JPEG_PERCEPTUAL;
    options.quality = picture->quality;
    options.subsampling = picture->subsampling;
    check(gf_image_alloc(&image, picture->in.format, &error), &error);
    const size_t row_bytes = gf_row_bytes(image.format);
    for (int y = 0; y < picture->in.rows; y++) {
        if (!bench_copy_out(image.data + (size_t)y * image.pitch,
                            picture->in.data + (size_t)y * picture->in.pitch, row_bytes))
            stop(name, "cannot be copied from the device");
    }
    check(gf_pipeline_open("", &options, &pipeline, &error), &error);
    check(gf_pipeline_encode(pipeline, &image, GF_FILE_JPEG, &file, &file_size, &error), &error);
    if (!picture->encoded || picture->size < lead)
        stop(name, "was not encoded by the perceptual encoder");
    check_end(file, file_size, picture->scan + lead, picture->size - lead, name,
              "is not what the CPU's perceptual encoder makes");
    gf_free(file);
    gf_pipeline_close(pipeline);
    gf_image_free(&image);
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

static double time_decoding(struct gf_jpeg_decoder *decoder, struct group *group,
                            const struct set *set)
{
    double ms[RUNS];
    struct gf_error error;
    for (int run = -1; run < RUNS; run++) {
        const double begin_s = gf_now();
        check(gf_jpeg_decoder_run(decoder, group->decode, set->count, &error), &error);
        ms[run < 0 ? 0 : run] = 1e3 * (gf_now() - begin_s);
    }
    return median(ms);
}

static double time_encoding(struct gf_jpeg_encoder *encoder, struct group *group,
                            const struct set *set)
{
    double ms[RUNS];
    struct gf_error error;
    for (int run = -1; run < RUNS; run++) {
        const double begin_s = gf_now();
        check(gf_jpeg_encoder_run(encoder, group->encode, set->count, &error), &error);
        ms[run < 0 ? 0 : run] = 1e3 * (gf_now() - begin_s);
    }
    return median(ms);
}

static void measure_perceptual(struct gf_jpeg_encoder *encoder, struct group *group,
                               struct set *set)
{
    struct gf_error error;
    gf_jpeg_encoder_measure(encoder, NULL);
    for (int i = 0; i < set->count; i++)
        group->encode[i].perceptual = true;
    set->perceptual_ms = time_encoding(encoder, group, set);
    gf_jpeg_encoder_measure(encoder, &set->perceptual_steps);
    check(gf_jpeg_encoder_run(encoder, group->encode, set->count, &error), &error);
    for (int i = 0; i < set->count && i < group->files; i++)
        check_perceptual(&group->encode[i], set->name);
    for (int i = 0; i < set->count; i++)
        set->perceptual_bytes +=
            (double)(group->encode[i].size - sizeof(struct gf_jpeg_own_codes)) / set->count;
}

static void measure(struct group *group, struct set *set)
{
    struct gf_jpeg_decoder *decoder;
    struct gf_jpeg_encoder *encoder;
    struct gf_error error;
    check(gf_jpeg_decoder_create(0, UINT64_MAX, &decoder, &error), &error);
    check(gf_jpeg_encoder_create(0, UINT64_MAX, &encoder, &error), &error);
    set->pinned_ms = time_decoding(decoder, group, set);
    for (int i = 0; i < set->count && i < group->files; i++)
        check_decoded(&group->decode[i], set->name);
    for (int i = 0; i < set->count; i++)
        group->decode[i].data = group->on_device[i % group->files];
    set->device_ms = time_decoding(decoder, group, set);
    gf_jpeg_decoder_measure(decoder, &set->steps);
    check(gf_jpeg_decoder_run(decoder, group->decode, set->count, &error), &error);
    set->encode_ms = time_encoding(encoder, group, set);
    gf_jpeg_encoder_measure(encoder, &set->encode_steps);
    check(gf_jpeg_encoder_run(encoder, group->encode, set->count, &error), &error);
    for (int i = 0; i < set->count && i < group->files; i++)
        check_encoded(&group->encode[i], set->name);
    for (int i = 0; i < set->count; i++)
        set->scan_bytes += (double)group->encode[i].size / set->count;
    measure_perceptual(encoder, group, set);
    gf_jpeg_decoder_destroy(decoder);
    gf_jpeg_encoder_destroy(encoder);
}

/* NAME=COUNT[/REDUCTION]:FILE[,FILE...] */
static void run_set(char *argument, struct set *set)
{
    static struct group group;
    char *const files = strchr(argument, ':'), *const count = strchr(argument, '=');
    if (!count || !files || files < count || count - argument >= (int)sizeof set->name)
        stop(argument, "is not NAME=COUNT[/REDUCTION]:FILE");
    group = (struct group){.files = 0};
    *count = '\0';
    snprintf(set->name, sizeof set->name, "%.39s", argument);
    set->reduction = 1;
    if (sscanf(count + 1, "%d/%d", &set->count, &set->reduction) < 1 || set->reduction < 1)
        stop(argument, "is not NAME=COUNT[/REDUCTION]:FILE");
    if (set->count < 1 || set->count > MOST)
        stop(argument, "too many or no pictures");
    char *rest = files + 1;
    for (char *path; (path = strsep(&rest, ","));)
        read_picture(&group, path);
    prepare(&group, set);
    measure(&group, set);
    drop(&group, set);
}

/* ---- results ---- */

static double rate(const struct set *set, double ms)
{
    return 1e3 * set->count / ms;
}

static void print_set(const struct set *set)
{
    const struct gf_jpeg_decode_steps *const s = &set->steps;
    printf("%-22s %4d %5dx%-5d %8.0f %9.3f %8.0f %9.3f %8.0f %9.3f %8.0f %9.3f %8.0f   %.3f %.3f "
           "%.3f %.3f %.3f   %.3f %.3f   %.3f %.3f\n",
           set->name, set->count, set->width, set->height, set->file_bytes * 1e-3, set->pinned_ms,
           rate(set, set->pinned_ms), set->device_ms, rate(set, set->device_ms), set->encode_ms,
           rate(set, set->encode_ms), set->perceptual_ms, rate(set, set->perceptual_ms),
           (double)s->unstuff, (double)s->synchronise, (double)s->decode, (double)s->dc,
           (double)s->pixels, (double)set->encode_steps.encode, (double)set->encode_steps.download,
           (double)set->perceptual_steps.encode, (double)set->perceptual_steps.download);
    fflush(stdout);
}

static void write_set(FILE *file, const struct set *set, bool last)
{
    const struct gf_jpeg_decode_steps *const s = &set->steps;
    fprintf(file,
            "  {\"name\": \"%s\", \"pictures\": %d, \"width\": %d, \"height\": %d, "
            "\"reduction\": %d, \"file_bytes\": %.0f, \"scan_bytes\": %.0f,\n"
            "   \"decode_pinned_ms\": %.4f, \"decode_device_ms\": %.4f, \"encode_ms\": %.4f,\n"
            "   \"steps_ms\": {\"unstuff\": %.4f, \"synchronise\": %.4f, \"decode\": %.4f, "
            "\"dc\": %.4f, \"pixels\": %.4f},\n"
            "   \"encode_steps_ms\": {\"encode\": %.4f, \"download\": %.4f},\n"
            "   \"perceptual_bytes\": %.0f, \"perceptual_ms\": %.4f, \"perceptual_steps_ms\": "
            "{\"encode\": %.4f, \"download\": %.4f}}%s\n",
            set->name, set->count, set->width, set->height, set->reduction, set->file_bytes,
            set->scan_bytes, set->pinned_ms, set->device_ms, set->encode_ms, (double)s->unstuff,
            (double)s->synchronise, (double)s->decode, (double)s->dc, (double)s->pixels,
            (double)set->encode_steps.encode, (double)set->encode_steps.download,
            set->perceptual_bytes, set->perceptual_ms, (double)set->perceptual_steps.encode,
            (double)set->perceptual_steps.download, last ? "" : ",");
}

static void write_results(const char *path, const char *commit, const char *about,
                          const struct bench_device *device, const struct set *sets, int count)
{
    FILE *const file = fopen(path, "w");
    char date[32];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    if (!file)
        stop(path, "cannot be written");
    fprintf(file,
            "{\"date\": \"%s\", \"commit\": \"%s\", \"gpu\": \"%s\", \"driver\": %d,\n"
            " \"pictures\": \"%s\", \"runs\": %d, \"quality\": %d, \"sets\": [\n",
            date, commit, device->name, device->driver_version, about, RUNS, QUALITY);
    for (int i = 0; i < count; i++)
        write_set(file, &sets[i], i + 1 == count);
    fprintf(file, "]}\n");
    if (fclose(file))
        stop(path, "cannot be written");
}

int main(int argc, char **argv)
{
    static struct set sets[SETS];
    struct bench_device device;
    const char *why = "";
    const int first = 4, count = argc - first;
    if (count < 1 || count > SETS)
        stop("arguments", "RESULTS COMMIT ABOUT NAME=COUNT[/REDUCTION]:FILE[,FILE...] ...");
    if (!bench_device_open(&device, &why))
        stop("no GPU", why);
    printf("%s; milliseconds of a group, pictures/s; steps: unstuff, synchronise, decode, DC, "
           "pixels; encode, download; the same of the perceptual encoder\n"
           "%-22s %4s %11s %8s %18s %18s %18s %18s   %s\n",
           device.name, "group", "", "size", "kB each", "decoded, pinned", "decoded, device",
           "encoded", "perceptual", "steps");
    for (int i = 0; i < count; i++) {
        run_set(argv[first + i], &sets[i]);
        print_set(&sets[i]);
    }
    write_results(argv[1], argv[2], argv[3], &device, sets, count);
    return 0;
}
