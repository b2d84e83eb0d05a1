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
