/* A sink that finds the quality of a lossy file by trials. It also computes the structural
 * similarity (SSIM) by which the trials are judged. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/elementary.h"
#include "base/fail.h"
#include "base/threads/ordered.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/formats.h"
#include "pixel/sample.h"

enum {
    RADIUS = GF_SSIM_SIDE / 2,
    STRIP = 32, /* number of rows of windows that a thread takes at a time */
    LANES = 8,  /* number of windows that one vector loop computes together */
    ROOM = 2 * LANES
};

/* Sums over the windows of a strip: `whole` adds the SSIM, and `contrast` the SSIM without its
 * factor for the means, which the finer scales of MS-SSIM use. */
struct sums {
    double whole, contrast;
};

/* Two planes of samples, a and b, at one scale of MS-SSIM. Threads share their strips. */
struct scale {
    const float *a, *b;
    int width, columns, rows; /* width of the planes; columns and rows of windows */
    double c1, c2;
    double tap[GF_SSIM_SIDE];
    double *work;      /* buffer [threads][4][width + ROOM] for sum_columns(); 0 beyond the width */
    struct sums *sums; /* the sums of each strip */
};

static void find_taps(double *tap)
{
    double sum = 0;
    for (int i = 0; i < GF_SSIM_SIDE; i++)
        sum += tap[i] = gf_exp_double(-(i - RADIUS) * (i - RADIUS) / (2 * 1.5 * 1.5));
    for (int i = 0; i < GF_SSIM_SIDE; i++)
        tap[i] /= sum;
}

/* Computes for each column the weighted sums over 11 rows: of a, of b, of their squares, and of
 * their product. */
GF_TARGET_CLONES static void sum_columns(const struct scale *scale, const float *restrict a,
                                         const float *restrict b, double *restrict sum)
{
    const int width = scale->width;
    const size_t stride = (size_t)width + ROOM;
    double *restrict const mean_a = sum, *restrict const mean_b = sum + stride,
                           *restrict const squares = sum + 2 * stride,
                           *restrict const product = sum + 3 * stride;
    for (int x = 0; x < width; x++) {
        double of_a = 0, of_b = 0, of_squares = 0, of_product = 0;
#pragma GCC unroll 11
        for (int i = 0; i < GF_SSIM_SIDE; i++) {
            const double va = a[x + (ptrdiff_t)i * width], vb = b[x + (ptrdiff_t)i * width];
            const double ta = scale->tap[i] * va, tb = scale->tap[i] * vb;
            of_a += ta;
            of_b += tb;
            of_squares += ta * va + tb * vb;
            of_product += ta * vb;
        }
        mean_a[x] = of_a;
        mean_b[x] = of_b;
        squares[x] = of_squares;
        product[x] = of_product;
    }
}

static inline double across(const double *sum, const double *tap)
{
    double total = 0;
#pragma GCC unroll 11
    for (int i = 0; i < GF_SSIM_SIDE; i++)
        total += tap[i] * sum[i];
    return total;
}

/* Returns the sums over the windows of a row. Windows that are LANES apart are added first,
 * whatever the width of the processor's vectors, so that every processor rounds alike. */
GF_TARGET_CLONES static struct sums sum_windows(const struct scale *scale, const double *sum)
{
    const size_t stride = (size_t)scale->width + ROOM;
    double whole[LANES] = {0}, contrast[LANES] = {0};
    for (int x = 0; x < scale->columns; x += LANES) {
        for (int lane = 0; lane < LANES; lane++) {
            const double *const at = sum + x + lane;
            const double counts = x + lane < scale->columns ? 1 : 0;
            const double a = across(at, scale->tap), b = across(at + stride, scale->tap);
            const double squares = across(at + 2 * stride, scale->tap);
            const double product = across(at + 3 * stride, scale->tap);
            const double of_means = a * a + b * b;
            const double c = (2 * (product - a * b) + scale->c2) / (squares - of_means + scale->c2);
            contrast[lane] += counts * c;
            whole[lane] += counts * c * (2 * a * b + scale->c1) / (of_means + scale->c1);
        }
    }
    struct sums sums = {0, 0};
    for (int lane = 0; lane < LANES; lane++) {
        sums.whole += whole[lane];
        sums.contrast += contrast[lane];
    }
    return sums;
}

static enum gf_status sum_strip(void *context, int thread, int strip, struct gf_error *error)
{
    const struct scale *const scale = context;
    double *const work = scale->work + (size_t)thread * 4 * ((size_t)scale->width + ROOM);
    struct sums sums = {0, 0};
    for (int y = strip * STRIP; y < (strip + 1) * STRIP && y < scale->rows; y++) {
        const size_t at = (size_t)y * (size_t)scale->width;
        sum_columns(scale, scale->a + at, scale->b + at, work);
        const struct sums row = sum_windows(scale, work);
        sums.whole += row.whole;
        sums.contrast += row.contrast;
    }
    scale->sums[strip] = sums;
    return GF_OK;
}

/* Computes the means over all windows of two planes, whose width and height are at least 11. */
static enum gf_status mean_of(const float *a, const float *b, int width, int height, double max,
                              int threads, struct sums *mean, struct gf_error *error)
{
    const int rows = height - GF_SSIM_SIDE + 1, strips = (rows + STRIP - 1) / STRIP;
    struct scale scale = {.a = a,
                          .b = b,
                          .width = width,
                          .columns = width - GF_SSIM_SIDE + 1,
                          .rows = rows,
                          .c1 = 0.01 * max * 0.01 * max,
                          .c2 = 0.03 * max * 0.03 * max};
    find_taps(scale.tap);
    scale.work = calloc((size_t)threads * 4, ((size_t)width + ROOM) * sizeof *scale.work);
    scale.sums = malloc((size_t)strips * sizeof *scale.sums);
    enum gf_status status = scale.work && scale.sums
                                ? gf_ordered_run(threads, strips, sum_strip, &scale, error)
                                : gf_fail_memory(error);
    *mean = (struct sums){0, 0};
    for (int i = 0; i < strips && !status; i++) {
        mean->whole += scale.sums[i].whole;
        mean->contrast += scale.sums[i].contrast;
    }
    mean->whole /= (double)scale.columns * rows;
    mean->contrast /= (double)scale.columns * rows;
    free(scale.work);
    free(scale.sums);
    return status;
}

/* Halves the plane in place: each 2x2 pixels become their mean, which is written over samples that
 * were already read. */
static void halve(float *plane, int width, int height)
{
    float *to = plane;
    for (int y = 0; y < height; y += 2) {
        const float *const above = plane + (size_t)y * (size_t)width;
        const float *const below = y + 1 < height ? above + width : above;
        for (int x = 0; x < width; x += 2) {
            const int beside = x + 1 < width ? x + 1 : x;
            *to++ = 0.25f * ((above[x] + above[beside]) + (below[x] + below[beside]));
        }
    }
}

/* Computes SSIM and, unless ms_ssim is NULL, MS-SSIM of two planes. MS-SSIM overwrites the
 * planes. */
static enum gf_status compare_planes(float *a, float *b, int width, int height, double max,
                                     int threads, double *ssim, double *ms_ssim,
                                     struct gf_error *error)
{
    static const double exponent[GF_SSIM_SCALES] = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333};
    const int least = width < height ? width : height;
    *ssim = NAN;
    const int scales = least < GF_SSIM_SIDE                  ? 0
                       : least < GF_MS_SSIM_SIDE || !ms_ssim ? 1
                                                             : GF_SSIM_SCALES;
    double product = 1;
    for (int i = 0; i < scales; i++) {
        struct sums mean;
        GF_TRY(mean_of(a, b, width, height, max, threads, &mean, error));
        if (i == 0)
            *ssim = mean.whole;
        const double part = i == GF_SSIM_SCALES - 1 ? mean.whole : mean.contrast;
        product *= pow(fmax(part, 0), exponent[i]);
        if (i + 1 == scales)
            break;
        halve(a, width, height);
        halve(b, width, height);
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    if (ms_ssim)
        *ms_ssim = scales == GF_SSIM_SCALES ? product : NAN;
    return GF_OK;
}

/* Copies a channel of the image, as converted to the format `to`, to a plane of floats. */
static void take_plane(const struct gf_image *image, struct gf_format to, int channel, float *plane)
{
    const struct gf_format from = image->format;
    const int colours = gf_colour_channels(from), max = gf_sample_max(to);
    const bool is_alpha = channel >= gf_colour_channels(to);
    const int source = is_alpha ? from.channels - 1 : channel < colours ? channel : 0;
    for (int y = 0; y < from.height; y++) {
        const unsigned char *const row = image->data + (size_t)y * image->pitch;
        const uint16_t *const wide = (const uint16_t *)(const void *)row;
        for (int x = 0; x < from.width; x++) {
            const size_t at = (size_t)x * (size_t)from.channels + (size_t)source;
            int value = from.bits == 8 ? row[at] : wide[at];
            if (from.bits > to.bits)
                value = (value * max + UINT16_MAX / 2) / UINT16_MAX;
            else if (from.bits < to.bits)
                value *= UINT16_MAX / UINT8_MAX;
            *plane++ = (float)(is_alpha && !gf_has_alpha(from) ? max : value);
        }
    }
}

enum gf_status gf_ssim(const struct gf_image *a, const struct gf_image *b, int threads,
                       double *ssim, double *ms_ssim, struct gf_error *error)
{
    const struct gf_format format = b->format;
    const size_t pixels = (size_t)format.width * (size_t)format.height;
    float *const planes = malloc(2 * pixels * sizeof *planes);
    enum gf_status status = planes ? GF_OK : gf_fail_memory(error);
    *ssim = 0;
    if (ms_ssim)
        *ms_ssim = 0;
    for (int c = 0; !status && c < format.channels; c++) {
        double of_plane, of_scales;
        take_plane(a, format, c, planes);
        take_plane(b, format, c, planes + pixels);
        status = compare_planes(planes, planes + pixels, format.width, format.height,
                                gf_sample_max(format), threads, &of_plane,
                                ms_ssim ? &of_scales : NULL, error);
        *ssim += status ? 0 : of_plane / format.channels;
        if (ms_ssim && !status)
            *ms_ssim += of_scales / format.channels;
    }
    free(planes);
    return status;
}

struct fitted_sink {
    struct gf_sink base;
    const struct gf_file_type *type;
    struct gf_output *output;
    struct gf_options options; /* the options of the next trial, with its quality */
    struct gf_metadata metadata;
    /* Holds all rows of the picture, of which `rows` were written so far. */
    struct gf_image picture;
    int rows;
    /* The file, best_size bytes, of the last trial that met the limit; NULL: none did. */
    unsigned char *best;
    size_t best_size;
    double reached; /* the bytes or the SSIM of the last trial that missed the limit */
};

/* ---- what the options ask for ---- */

bool gf_options_fit(const struct gf_options *options)
{
    return options->max_bytes || options->target_ssim > 0;
}

enum gf_status gf_fitted_check(const struct gf_file_type *type, const char *name,
                               const struct gf_options *options, struct gf_error *error)
{
    const struct gf_file_type *other;
    char list[80];
    size_t length = 0;
    if (!gf_options_fit(options) || type->fitted)
        return GF_OK;
    for (int i = 0; (other = gf_file_type_at(i)) && length < sizeof list; i++) {
        if (other->fitted)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                       length ? ", " : "", other->name);
    }
    return gf_fail(
        error, GF_ERROR_USAGE, "%s: options.%s=%.15g chooses a quality, and %s has none: use %s",
        name, options->max_bytes ? "max_bytes" : "target_ssim",
        options->max_bytes ? (double)options->max_bytes : options->target_ssim, type->name, list);
}

struct gf_codec_memory gf_fitted_sink_memory(struct gf_format format, uint64_t encoder,
                                             const struct gf_options *options)
{
    const uint64_t pixels = (uint64_t)format.width * (uint64_t)format.height,
                   picture = (uint64_t)gf_row_bytes(format) * (uint64_t)format.height;
    /* The sink holds the picture, the best file and the file of the present trial, each counted as
     * large as the picture. SSIM adds the decoded picture, the memory of its decoder, and two
     * planes of float. */
    const uint64_t trial = encoder + 3 * picture,
                   comparison = options->target_ssim > 0
                                    ? picture + encoder + 2 * sizeof(float) * pixels
                                    : 0;
    return (struct gf_codec_memory){trial + comparison,
                                    "it is held whole and encoded several times"};
}

/* ---- encoding once with one quality ---- */

static enum gf_status encode(struct fitted_sink *sink, struct gf_output *file,
                             struct gf_error *error)
{
    const struct gf_image *const picture = &sink->picture;
    const struct gf_sink_order order = {file, picture->format, &sink->metadata, &sink->options};
    struct gf_sink *encoder;
    GF_TRY(sink->type->create(&order, &encoder, error));
    enum gf_status status =
        encoder->write(encoder, picture->format.height, picture->data, picture->pitch, error);
    if (!status)
        status = encoder->finish(encoder, error);
    encoder->close(encoder);
    return status ? status : gf_output_commit(file, error);
}

static enum gf_status decode(const struct fitted_sink *sink, const void *file, size_t size,
                             struct gf_image *picture, struct gf_error *error)
{
    struct gf_input *input;
    struct gf_source *source = NULL;
    GF_TRY(gf_input_open_memory(file, size, gf_output_name(sink->output), &input, error));
    enum gf_status status = sink->type->open(input, &sink->options, &source, error);
    if (!status)
        status = gf_source_read_all(source, picture, error);
    if (source)
        source->close(source);
    gf_input_close(input);
    return status;
}

static enum gf_status find_ssim(const struct fitted_sink *sink, const void *file, size_t size,
                                double *ssim, struct gf_error *error)
{
    struct gf_image decoded = {.data = NULL};
    enum gf_status status = decode(sink, file, size, &decoded, error);
    if (!status)
        status =
            gf_ssim(&sink->picture, &decoded, gf_codec_threads(&sink->options), ssim, NULL, error);
    gf_image_free(&decoded);
    return status;
}

/* Encodes the picture with the quality of the options. Keeps the file if it meets
 * options->max_bytes or options->target_ssim; *good says so. */
static enum gf_status try_quality(struct fitted_sink *sink, bool *good, struct gf_error *error)
{
    struct gf_output *file;
    unsigned char *bytes = NULL;
    size_t size = 0;
    double reached = 0;
    GF_TRY(gf_output_open_memory(gf_output_name(sink->output), &file, error));
    enum gf_status status = encode(sink, file, error);
    if (!status)
        bytes = gf_output_take(file, &size);
    gf_output_close(file);
    if (!status && sink->options.max_bytes)
        reached = (double)size;
    else if (!status)
        status = find_ssim(sink, bytes, size, &reached, error);
    *good = sink->options.max_bytes ? size <= sink->options.max_bytes
                                    : reached >= sink->options.target_ssim;
    if (status || !*good) {
        sink->reached = reached;
        free(bytes);
        return status;
    }
    free(sink->best);
    sink->best = bytes;
    sink->base.quality = sink->options.quality;
    sink->best_size = size;
    return GF_OK;
}

/* ---- the search for the quality ---- */

/* Fails with the size or SSIM that the last trial reached. That trial had the least quality if
 * max_bytes is set, and the greatest if target_ssim is. */
static enum gf_status fail_unreached(const struct fitted_sink *sink, struct gf_error *error)
{
    const char *const name = gf_output_name(sink->output);
    const struct gf_options *const options = &sink->options;
    if (options->max_bytes)
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: takes %.0f bytes even at quality 1, over options.max_bytes=%llu", name,
                       sink->reached, (unsigned long long)options->max_bytes);
    if (sink->reached >= -1)
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: has an SSIM of %.5f even at quality %d, under options.target_ssim=%g",
                       name, sink->reached, GF_QUALITY_MAX, options->target_ssim);
    return gf_fail(error, GF_ERROR_UNFIT,
                   "%s: options.target_ssim=%g needs sides of %d pixels, and the picture has %dx%d",
                   name, options->target_ssim, GF_SSIM_SIDE, sink->picture.format.width,
                   sink->picture.format.height);
}

/* Finds the best quality by bisection, which works because file size and SSIM grow with the
 * quality. */
static enum gf_status search(struct fitted_sink *sink, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    int below = 0, above = GF_QUALITY_MAX + 1;
    while (!status && above - below > 1) {
        bool good = false;
        sink->options.quality = (below + above) / 2;
        status = try_quality(sink, &good, error);
        sink->options.warn = NULL; /* all trials would repeat the warnings of the first */
        if (good == (sink->options.max_bytes > 0))
            below = sink->options.quality;
        else
            above = sink->options.quality;
        if (!status)
            status = gf_time_check(error);
    }
    return !status && !sink->best ? fail_unreached(sink, error) : status;
}

/* ---- the functions of the sink ---- */

static enum gf_status fitted_write(struct gf_sink *base, int rows, const unsigned char *src,
                                   size_t pitch, struct gf_error *error)
{
    struct fitted_sink *const sink = (struct fitted_sink *)base;
    const struct gf_image *const picture = &sink->picture;
    (void)error;
    for (int y = 0; y < rows; y++, sink->rows++)
        memcpy(picture->data + (size_t)sink->rows * picture->pitch, src + (size_t)y * pitch,
               gf_row_bytes(picture->format));
    return GF_OK;
}

static enum gf_status fitted_finish(struct gf_sink *base, struct gf_error *error)
{
    struct fitted_sink *const sink = (struct fitted_sink *)base;
    GF_TRY(search(sink, error));
    return gf_output_write(sink->output, sink->best, sink->best_size, error);
}

static void fitted_close(struct gf_sink *base)
{
    struct fitted_sink *const sink = (struct fitted_sink *)base;
    gf_image_free(&sink->picture);
    gf_metadata_free(&sink->metadata);
    free(sink->best);
    free(sink);
}

enum gf_status gf_fitted_sink_open(const struct gf_file_type *type, struct gf_output *output,
                                   struct gf_format format, const struct gf_options *options,
                                   struct gf_sink **sink, struct gf_error *error)
{
    struct fitted_sink *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail_memory(error);
    const enum gf_status status = gf_image_alloc(&opened->picture, format, error);
    if (status) {
        free(opened);
        return status;
    }
    opened->base =
        (struct gf_sink){.write = fitted_write, .finish = fitted_finish, .close = fitted_close};
    opened->type = type;
    opened->output = output;
    opened->options = *options;
    *sink = &opened->base;
    return GF_OK;
}

void gf_fitted_sink_take_metadata(struct gf_sink *base, struct gf_metadata *metadata)
{
    struct fitted_sink *const sink = (struct fitted_sink *)base;
    sink->metadata = *metadata;
    *metadata = (struct gf_metadata){.orientation = 1};
}
