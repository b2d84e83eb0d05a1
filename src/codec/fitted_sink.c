/* A sink that finds the quality of a lossy file by trials. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/formats.h"
#include "measure/ssim.h"
#include "measure/ssimulacra2.h"

struct fitted_sink {
    struct gf_sink base;
    const struct gf_file_type *type;
    struct gf_output *output;
    struct gf_options options; /* the options of the next trial, with its quality */
    struct gf_metadata metadata;
    /* Holds all rows of the picture, of which `rows` were written so far. */
    struct gf_image picture;
    int rows;
    const struct gf_trials *trials; /* of a device that holds the picture instead; NULL: none */
    /* The best file so far, best_size bytes: the last that kept to max_bytes, or the last that also
     * reached the target, once one has (`reached`). NULL: none. */
    unsigned char *best;
    size_t best_size;
    bool reached;
    double bytes, score; /* of the last trial; score is 0 if it was not found */
};

/* ---- what the options ask for ---- */

/* Returns the score that is wanted; 0: none is. */
static double target_of(const struct gf_options *options)
{
    return options->target_ssim > 0 ? options->target_ssim : options->target_ssimulacra2;
}

bool gf_options_fit(const struct gf_options *options)
{
    return options->max_bytes || target_of(options) > 0;
}

bool gf_options_fit_text(const struct gf_options *options, char text[GF_FIT_TEXT_SIZE])
{
    const double target = target_of(options);
    snprintf(text, GF_FIT_TEXT_SIZE, "options.%s=%.15g",
             options->target_ssim > 0 ? "target_ssim"
             : target > 0             ? "target_ssimulacra2"
                                      : "max_bytes",
             target > 0 ? target : (double)options->max_bytes);
    return gf_options_fit(options);
}

enum gf_status gf_fitted_check(const struct gf_file_type *type, const char *name,
                               const struct gf_options *options, struct gf_error *error)
{
    const struct gf_file_type *other;
    char list[80], fit[GF_FIT_TEXT_SIZE];
    size_t length = 0;
    if (!gf_options_fit_text(options, fit) || type->fitted)
        return GF_OK;
    for (int i = 0; (other = gf_file_type_at(i)) && length < sizeof list; i++) {
        if (other->fitted)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                       length ? ", " : "", other->name);
    }
    return gf_fail(error, GF_ERROR_USAGE, "%s: %s chooses a quality, and %s has none: use %s", name,
                   fit, type->name, list);
}

struct gf_codec_memory gf_fitted_sink_memory(struct gf_format format, uint64_t encoder,
                                             const struct gf_options *options)
{
    const uint64_t pixels = (uint64_t)format.width * (uint64_t)format.height,
                   picture = (uint64_t)gf_row_bytes(format) * (uint64_t)format.height;
    /* The sink holds the picture, the best file and the file of the present trial, each counted as
     * large as the picture. A measure adds the decoded picture, the memory of its decoder, and its
     * own. */
    const uint64_t measure =
        options->target_ssim > 0
            ? 2 * sizeof(float) * pixels
            : gf_ssimulacra2_bytes(format.width, format.height, gf_codec_threads(options));
    return (struct gf_codec_memory){encoder + 3 * picture +
                                        (target_of(options) > 0 ? picture + encoder + measure : 0),
                                    "it is held whole and encoded several times"};
}

/* ---- encoding once with one quality ---- */

static enum gf_status encode(struct fitted_sink *sink, struct gf_output *file,
                             struct gf_error *error)
{
    const struct gf_image *const picture = &sink->picture;
    const struct gf_sink_order order = {file, picture->format, &sink->metadata, &sink->options};
    struct gf_sink *encoder;
    enum gf_status status;
    GF_TRY(sink->type->create(&order, &encoder, error));
    if (sink->trials) {
        status = sink->trials->encode(sink->trials, &sink->options, encoder, error);
    } else {
        status =
            encoder->write(encoder, picture->format.height, picture->data, picture->pitch, error);
        GF_THEN(status, encoder->finish(encoder, error));
    }
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
    GF_THEN(status, gf_source_read_all(source, picture, error));
    if (source)
        source->close(source);
    gf_input_close(input);
    return status;
}

/* Finds the score of a file's picture. NaN: the picture is too small. */
static enum gf_status find_score(const struct fitted_sink *sink, const void *file, size_t size,
                                 double *score, struct gf_error *error)
{
    const int threads = gf_codec_threads(&sink->options);
    struct gf_image decoded = {.data = NULL};
    if (sink->trials)
        return sink->trials->score(sink->trials, &sink->options, file, size, score, error);
    enum gf_status status = decode(sink, file, size, &decoded, error);
    GF_THEN(status, sink->options.target_ssim > 0
                        ? gf_ssim(&sink->picture, &decoded, threads, score, NULL, error)
                        : gf_ssimulacra2(&sink->picture, &decoded, threads, score, error));
    gf_image_free(&decoded);
    return status;
}

/* Encodes the picture with the quality of the options, and keeps the file if it is the best so far.
 * *less says that a lower quality is to be tried next. */
static enum gf_status try_quality(struct fitted_sink *sink, bool *less, struct gf_error *error)
{
    const struct gf_options *const options = &sink->options;
    const double target = target_of(options);
    struct gf_output *file;
    unsigned char *bytes = NULL;
    size_t size = 0;
    sink->score = 0;
    GF_TRY(gf_output_open_memory(gf_output_name(sink->output), &file, error));
    enum gf_status status = encode(sink, file, error);
    if (!status)
        bytes = gf_output_take(file, &size);
    gf_output_close(file);
    sink->bytes = (double)size;
    sink->base.fit.tries++;
    const bool fits = !options->max_bytes || size <= options->max_bytes;
    if (!status && fits && target > 0)
        status = find_score(sink, bytes, size, &sink->score, error);
    const bool reached = fits && target > 0 && sink->score >= target;
    *less = !fits || reached;
    if (status || !fits || !(reached || (options->max_bytes && !sink->reached))) {
        free(bytes);
        return status;
    }
    free(sink->best);
    sink->best = bytes;
    sink->best_size = size;
    sink->reached = reached;
    sink->base.fit.quality = options->quality;
    sink->base.fit.score = sink->score;
    return GF_OK;
}

/* ---- the search for the quality ---- */

/* A bound of the qualities that are still to be tried, which were all done from there on. */
struct bound {
    int quality;
    double factor; /* its error by usual_error(); 0: unknown */
};

/* Returns what a JPEG of a photograph of that quality usually lacks of the full score of 100. */
static double usual_error(int quality)
{
    static const double errors[] = {1.6, 1.05, .7, .55, .47, .4, .35, .3, .23, .14, .03};
    const int at = quality < GF_QUALITY_MAX ? quality / 10 : 9;
    return errors[at] + (errors[at + 1] - errors[at]) * (quality - 10 * at) / 10;
}

static double error_of(const struct gf_options *options, double score)
{
    const double full = options->target_ssim > 0 ? 1 : 100;
    return (full - score) / full;
}

/* Returns the quality to be tried next, between the bounds: the least one whose error is as small
 * as wanted if it differs from the usual one by a factor between those of the bounds. */
static int guess(const struct gf_options *options, const struct bound bound[2])
{
    const double wanted = error_of(options, target_of(options));
    const int below = bound[0].quality, above = bound[1].quality;
    const double usual = options->target_ssim > 0 ? .3 : 1;
    const double low = bound[0].factor > 0   ? bound[0].factor
                       : bound[1].factor > 0 ? bound[1].factor
                                             : usual;
    const double high = bound[1].factor > 0 ? bound[1].factor : low;
    int quality = below + 1;
    for (; quality < above - 1; quality++) {
        const double part = (double)(quality - below) / (above - below);
        if (usual_error(quality) * (low + (high - low) * part) <= wanted)
            break;
    }
    return quality;
}

/* Fails with the size or the score that the last trial reached. That trial had the least quality if
 * the bytes were too many, and else the greatest. */
static enum gf_status fail_unreached(const struct fitted_sink *sink, struct gf_error *error)
{
    const char *const name = gf_output_name(sink->output);
    const struct gf_options *const options = &sink->options;
    const bool ssim = options->target_ssim > 0;
    char fit[GF_FIT_TEXT_SIZE];
    (void)gf_options_fit_text(options, fit);
    if (isnan(sink->score))
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: %s needs sides of %d pixels, and the picture has %dx%d", name, fit,
                       ssim ? GF_SSIM_SIDE : GF_SSIMULACRA2_SIDE, sink->picture.format.width,
                       sink->picture.format.height);
    if (options->max_bytes)
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: takes %.0f bytes even at quality 1, over options.max_bytes=%llu", name,
                       sink->bytes, (unsigned long long)options->max_bytes);
    return gf_fail(error, GF_ERROR_UNFIT, "%s: has %s of %.5f even at quality %d, under %s", name,
                   ssim ? "an SSIM" : "a SSIMULACRA2", sink->score, GF_QUALITY_MAX, fit);
}

/* Finds the best quality, since file size and score grow with the quality: for bytes alone by
 * bisection, for a target by guesses. */
static enum gf_status search(struct fitted_sink *sink, struct gf_error *error)
{
    const struct gf_options options = sink->options;
    const double target = target_of(&options);
    struct bound bound[2] = {{.quality = 0}, {.quality = GF_QUALITY_MAX + 1}};
    bool over = false; /* the upper bound took too many bytes */
    enum gf_status status = GF_OK;
    while (!status && bound[1].quality - bound[0].quality > 1 && !isnan(sink->score)) {
        const int middle = (bound[0].quality + bound[1].quality) / 2;
        bool less = false;
        int quality = target > 0 ? guess(&options, bound) : middle;
        if (over && quality == bound[1].quality - 1)
            quality = middle; /* the target is probably beyond the bytes */
        else if (sink->base.fit.tries > 4)
            quality =
                (3 * quality + middle) / 4; /* scores that do not grow evenly mislead guesses */
        sink->options.quality = quality;
        status = try_quality(sink, &less, error);
        sink->options.warn = NULL; /* all trials would repeat the warnings of the first */
        const double factor = error_of(&options, sink->score) / usual_error(quality);
        over = less ? options.max_bytes && sink->bytes > (double)options.max_bytes : over;
        bound[less] = (struct bound){quality, sink->score != 0 ? factor : 0};
        GF_THEN(status, gf_time_check(error));
    }
    if (!status && (!sink->best || isnan(sink->score)))
        return fail_unreached(sink, error);
    char fit[GF_FIT_TEXT_SIZE];
    if (!status && target > 0 && !sink->reached && gf_options_fit_text(&options, fit))
        gf_warn(&options, "%s: has a score of %.5g at quality %d, under %s: options.max_bytes=%llu",
                gf_output_name(sink->output), sink->base.fit.score, sink->base.fit.quality, fit,
                (unsigned long long)options.max_bytes);
    return status;
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

static enum gf_status fitted_search(struct gf_sink *base, const struct gf_trials *trials,
                                    struct gf_error *error)
{
    ((struct fitted_sink *)base)->trials = trials;
    return fitted_finish(base, error);
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
    GF_NEW(struct fitted_sink, opened, error);
    const enum gf_status status = gf_image_alloc(&opened->picture, format, error);
    if (status) {
        free(opened);
        return status;
    }
    opened->base = (struct gf_sink){.write = fitted_write,
                                    .finish = fitted_finish,
                                    .search = fitted_search,
                                    .close = fitted_close};
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
