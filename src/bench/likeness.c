/* Reads whole pictures, measures how similar two are, and finds the place where they differ
 * most. */
#include "bench/likeness.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/memory/buffers.h"
#include "base/threads/times.h"
#include "bench/score.h"
#include "chain/chain.h"
#include "chain/plan.h"
#include "codec/codec.h"
#include "codec/common/checks.h"
#include "codec/common/rows/source.h"
#include "codec/y4m/y4m.h"
#include "icc/icc_build.h"
#include "measure/ssimulacra2.h"
#include "measure/strips.h"
#include "pixel/float_rows.h"
#include "pixel/sample.h"
#include "pixel/stencil.h"

enum {
    OF_SSIM = 1 << GF_MEASURE_SSIM | 1 << GF_MEASURE_MS_SSIM,
    OF_SSIMULACRA2 = 1 << GF_MEASURE_SSIMULACRA2,
    OF_HVS = 1 << GF_MEASURE_PSNR_HVS_M,
    OF_DELTAE = 1 << GF_MEASURE_DELTAE2000,
    OF_SRGB = OF_SSIMULACRA2 | OF_DELTAE, /* they take samples for sRGB */
    OF_DIFFERENCES = 1 << GF_MEASURE_LARGEST | 1 << GF_MEASURE_MEAN | 1 << GF_MEASURE_PSNR |
                     1 << GF_MEASURE_RELMSE
};

/* Runs a stage on the whole picture, in one band. */
static enum gf_status run_stage(struct gf_stage *stage, const struct gf_image *in,
                                const struct gf_image *out, struct gf_error *error)
{
    const struct gf_filter *const filter = stage->filter;
    const struct gf_view from = gf_image_view(in), to = gf_image_view(out);
    const size_t bytes = filter->cpu_scratch ? filter->cpu_scratch(stage, to.rows) : 0;
    void *const scratch = gf_pages_alloc(bytes);
    if (!scratch)
        return gf_fail_memory(error);
    filter->cpu(stage, &from, &to, scratch);
    gf_pages_free(scratch, bytes);
    return GF_OK;
}

static enum gf_status turn_upright(struct gf_image *picture, int orientation,
                                   struct gf_error *error)
{
    const struct gf_chain nothing = {0};
    struct gf_plan plan;
    struct gf_image upright = {0};
    enum gf_status status = gf_plan_make(&nothing, picture->format, orientation, &plan, error);
    if (!status && plan.stage_count) {
        status = gf_stage_prepare(&plan.stage[0], error);
        if (!status)
            status = gf_image_alloc(&upright, plan.out, error);
        if (!status)
            status = run_stage(&plan.stage[0], picture, &upright, error);
        gf_image_free(picture);
        *picture = upright;
    }
    gf_plan_free(&plan);
    return status;
}

/* Takes `bytes` of the budget of a pair's first reading, which holds no less until it is closed. */
static void take_memory(struct gf_reading *reading, uint64_t bytes)
{
    const double begin_s = gf_now();
    if (!reading->budget || bytes <= reading->held)
        return;
    gf_memory_budget_release(reading->budget, reading->held);
    gf_memory_budget_acquire(reading->budget, bytes);
    reading->held = bytes;
    gf_time_limit_excuse(begin_s);
}

static enum gf_status take_room(struct gf_reading *reading, struct gf_error *error)
{
    const struct gf_options *const options = &reading->options;
    const struct gf_source *const source = reading->source;
    const unsigned measures = reading->measures;
    const uint64_t pixels = (uint64_t)source->format.width * (uint64_t)source->format.height,
                   samples = pixels * (uint64_t)source->format.channels,
                   bytes = gf_is_float(source->format) /* integers and floats of a picture */
                               ? samples * (sizeof(uint16_t) + sizeof(float))
                               : samples * (uint64_t)(source->format.bits / 8);
    const bool turns = options->autorotate && source->metadata.orientation > 1;
    /* Both pictures have copies of 16 bits while their colours are converted. */
    const bool converts =
        measures && !gf_metadata_is_srgb(&source->metadata, source->format, options);
    const int threads = options->threads ? options->threads : gf_cpu_count();
    const uint64_t work =
        (measures & OF_SSIM ? 2 * pixels * sizeof(float) : 0) +
        (measures & (OF_HVS | OF_DELTAE) ? gf_strips_bytes(source->format.width, threads) : 0) +
        (measures & OF_SSIMULACRA2
             ? gf_ssimulacra2_bytes(source->format.width, source->format.height, threads)
             : 0);
    const uint64_t all =
        source->memory.bytes + bytes * (1U + turns + !!measures + (converts ? 8U : 0U)) + work;
    GF_TRY(gf_memory_check(
        gf_input_name(reading->input),
        measures ? "it is compared as a whole" : "it is read as a whole", all,
        options->memory_bytes ? options->memory_bytes : gf_memory_picture_bytes(), options, error));
    take_memory(reading, all + source->memory.bytes); /* also of the second one's decoder */
    return GF_OK;
}

enum gf_status gf_reading_open(const char *path, const struct gf_options *options,
                               unsigned measures, struct gf_reading *reading,
                               struct gf_error *error)
{
    *reading = (struct gf_reading){.options = *options, .measures = measures};
    GF_TRY(gf_input_open(path, false, &reading->input, error));
    reading->pages = gf_input_pages(reading->input);
    return GF_OK;
}

/* Goes to the next picture: a frame of the source, or what follows in a stream such as a Y4M. */
static enum gf_status go_on(struct gf_reading *reading, bool *found, struct gf_error *error)
{
    struct gf_source *const source = reading->source;
    unsigned char byte;
    size_t more = 0;
    *found = !source;
    if (source && source->next)
        return gf_source_next(source, found, error);
    if (source && reading->pages.last >= 0 && source->file == GF_FILE_Y4M)
        return gf_y4m_next(source, found, error);
    if (source && reading->pages.last >= 0 && gf_file_format_has_end(source->file))
        GF_TRY(gf_input_peek(reading->input, &byte, 1, &more, error));
    if (source && !more)
        return GF_OK;
    if (source)
        source->close(source);
    reading->source = NULL;
    *found = true;
    gf_input_choose_pages(reading->input, reading->pages);
    return gf_source_open(reading->input, &reading->options, &reading->source, error);
}

enum gf_status gf_reading_begin(struct gf_reading *reading, bool *found, struct gf_error *error)
{
    GF_TRY(go_on(reading, found, error));
    gf_image_free(&reading->picture);
    gf_image_free(&reading->floats);
    if (!*found)
        return GF_OK;
    struct gf_source *const source = reading->source;
    if (reading->pages.last >= 0 && source->file == GF_FILE_Y4M)
        source->finish = NULL; /* it would warn of the frames that follow */
    GF_TRY(gf_memory_check_proportion(source, reading->input, &reading->options, error));
    GF_TRY(take_room(reading, error));
    reading->begun = true;
    return GF_OK;
}

static float *float_row(const struct gf_image *image, int y)
{
    return (float *)(void *)(image->data + (size_t)y * image->pitch);
}

static void warn_of_clamped(struct gf_reading *reading)
{
    if (reading->beyond)
        gf_warn(&reading->options, "%s: %zu samples were NaN or outside of 0..1, and are clamped",
                gf_input_name(reading->input), reading->beyond);
    reading->beyond = 0;
}

/* Reads floats, and makes integers of 16 bits of them, whose full scale is 0..1. */
static enum gf_status read_floats(struct gf_reading *reading, struct gf_error *error)
{
    struct gf_source *const source = reading->source;
    const struct gf_format from = source->format;
    struct gf_format to = from, wide = from;
    reading->beyond = 0;
    to.samples = GF_SAMPLES_INTEGER;
    to.bits = 16;
    wide.bits = 32;
    GF_TRY(gf_image_alloc(&reading->picture, to, error));
    if (reading->measures)
        GF_TRY(gf_image_alloc(&reading->floats, wide, error));
    void *const row = malloc(gf_row_bytes(from));
    enum gf_status status = row ? GF_OK : gf_fail_memory(error);
    for (int y = 0; y < from.height && !status; y++) {
        status = source->read(source, 1, row, gf_row_bytes(from), error);
        if (status)
            break;
        reading->beyond +=
            gf_row_convert(row, from, to, gf_samples(from),
                           reading->picture.data + (size_t)y * reading->picture.pitch);
        if (reading->measures)
            gf_floats_of_row(row, from, gf_samples(from), float_row(&reading->floats, y));
    }
    free(row);
    if (!status && source->finish)
        status = source->finish(source, error);
    if (!status && (!reading->measures || reading->measures & ~(unsigned)OF_DIFFERENCES))
        warn_of_clamped(reading);
    return status;
}

enum gf_status gf_reading_next(struct gf_reading *reading, bool *found, struct gf_error *error)
{
    struct gf_source *source;
    if (!reading->begun)
        GF_TRY(gf_reading_begin(reading, found, error));
    *found = reading->begun;
    reading->begun = false;
    if (!*found)
        return GF_OK;
    source = reading->source;
    GF_TRY(gf_is_float(source->format) ? read_floats(reading, error)
                                       : gf_source_read_all(source, &reading->picture, error));
    if (reading->options.autorotate)
        GF_TRY(turn_upright(&reading->picture, source->metadata.orientation, error));
    if (reading->options.autorotate && reading->floats.data)
        GF_TRY(turn_upright(&reading->floats, source->metadata.orientation, error));
    reading->count++;
    return gf_time_check(error);
}

void gf_reading_close(struct gf_reading *reading)
{
    if (reading->source)
        reading->source->close(reading->source);
    if (reading->input)
        gf_input_close(reading->input);
    gf_image_free(&reading->picture);
    gf_image_free(&reading->floats);
    if (reading->budget)
        gf_memory_budget_release(reading->budget, reading->held);
    *reading = (struct gf_reading){0};
}

static int sample_of(const struct gf_image *image, int y, size_t at)
{
    const unsigned char *const row = image->data + (size_t)y * image->pitch;
    return image->format.bits == 8 ? row[at] : ((const uint16_t *)(const void *)row)[at];
}

unsigned gf_likeness_wanted(unsigned measures)
{
    return (measures & OF_SSIMULACRA2 ? GF_SCORE_SSIMULACRA2 : 0U) |
           (measures & OF_SSIM ? GF_SCORE_SSIM : 0U) |
           (measures & 1U << GF_MEASURE_MS_SSIM ? GF_SCORE_MS_SSIM : 0U);
}

void gf_likeness_set(const struct gf_measure_picture *pair, struct gf_likeness *likeness)
{
    const struct gf_format format = pair->original->format;
    double *const measure = likeness->measure;
    const double max = gf_sample_max(format),
                 count = (double)format.width * format.channels * format.height;
    likeness->of_floats = false;
    for (int i = 0; i < GF_MEASURES; i++)
        measure[i] = NAN;
    measure[GF_MEASURE_LARGEST] = pair->largest;
    measure[GF_MEASURE_MEAN] = pair->sum / count;
    measure[GF_MEASURE_PSNR] =
        pair->largest ? 10 * log10(max * max * count / pair->squares) : INFINITY;
    if (pair->wanted & GF_SCORE_SSIM)
        measure[GF_MEASURE_SSIM] = pair->ssim;
    if (pair->wanted & GF_SCORE_MS_SSIM)
        measure[GF_MEASURE_MS_SSIM] = pair->ms_ssim;
    if (pair->wanted & GF_SCORE_SSIMULACRA2)
        measure[GF_MEASURE_SSIMULACRA2] = pair->score;
}

/* Finds the largest difference of two samples, and sums the differences and their squares over the
 * pictures. The sums are exact, because they are below 2^64. */
static void add_differences(struct gf_measure_picture *pair)
{
    const struct gf_image *const a = pair->original, *const b = pair->changed;
    const size_t samples = (size_t)a->format.width * (size_t)a->format.channels;
    int largest = 0;
    double sum = 0, squares = 0;
    for (int y = 0; y < a->format.height; y++) {
        uint64_t row_sum = 0, row_squares = 0;
        for (size_t i = 0; i < samples; i++) {
            const int d = abs(sample_of(a, y, i) - sample_of(b, y, i));
            largest = d > largest ? d : largest;
            row_sum += (uint64_t)d;
            row_squares += (uint64_t)d * (uint64_t)d;
        }
        sum += (double)row_sum;
        squares += (double)row_squares;
    }
    pair->largest = largest;
    pair->sum = sum;
    pair->squares = squares;
}

/* Returns row y of a picture as floats: its own, or those of its integers in `row`. */
static const float *floats_of(const struct gf_image *picture, const struct gf_image *floats, int y,
                              float *row)
{
    if (floats->data)
        return float_row(floats, y);
    gf_floats_of_row(picture->data + (size_t)y * picture->pitch, picture->format,
                     gf_samples(picture->format), row);
    return row;
}

/* Measures the differences of pictures as floats: equal infinities, and NaN beside NaN, have none,
 * and NaN beside another number has an infinite one. */
static enum gf_status measure_floats(const struct gf_reading reading[2],
                                     struct gf_likeness *likeness, struct gf_error *error)
{
    const struct gf_format format = reading[0].picture.format;
    const size_t samples = gf_samples(format);
    const double count = (double)samples * format.height;
    float *const room = malloc(2 * samples * sizeof *room);
    double largest = 0, sum = 0, squares = 0, relative = 0;
    GF_ALLOCATED(room, error);
    for (int y = 0; y < format.height; y++) {
        const float *const a = floats_of(&reading[0].picture, &reading[0].floats, y, room),
                           *const b = floats_of(&reading[1].picture, &reading[1].floats, y,
                                                room + samples);
        for (size_t i = 0; i < samples; i++) {
            const bool same = a[i] == b[i] || (isnan(a[i]) && isnan(b[i]));
            const double v = (double)a[i], d = same ? 0 : fabs((double)b[i] - v),
                         off = isnan(d) ? INFINITY : d;
            largest = off > largest ? off : largest;
            sum += off;
            squares += off * off;
            relative += same ? 0 : isinf(off) ? off : off * off / (v * v + 0.01);
        }
    }
    free(room);
    if (reading[0].floats.data || reading[1].floats.data) {
        likeness->of_floats = true;
        likeness->measure[GF_MEASURE_LARGEST] = largest;
        likeness->measure[GF_MEASURE_MEAN] = sum / count;
        likeness->measure[GF_MEASURE_PSNR] = largest > 0 ? 10 * log10(count / squares) : INFINITY;
    }
    likeness->measure[GF_MEASURE_RELMSE] = relative / count;
    return GF_OK;
}

enum gf_status gf_likeness_of(const struct gf_image *a, const struct gf_image *b, unsigned measures,
                              const struct gf_options *options, struct gf_likeness *likeness,
                              struct gf_error *error)
{
    const int threads = options->threads ? options->threads : gf_cpu_count();
    struct gf_measure_picture pair = {
        .original = a, .changed = b, .wanted = gf_likeness_wanted(measures)};
    if (pair.wanted)
        GF_TRY(gf_score_pair(&pair, options, error));
    if (!pair.measured)
        add_differences(&pair);
    gf_likeness_set(&pair, likeness);
    if (measures & OF_HVS)
        GF_TRY(gf_psnr_hvs_m(a, b, threads, &likeness->measure[GF_MEASURE_PSNR_HVS_M], error));
    if (measures & OF_DELTAE)
        GF_TRY(gf_deltae2000(a, b, threads, &likeness->measure[GF_MEASURE_DELTAE2000], error));
    return gf_time_check(error);
}

/* Returns what the file says of the colours of the present picture. Nothing: they are sRGB. */
static struct gf_icc colours_of(const struct gf_reading *reading)
{
    struct gf_metadata *const metadata = &reading->source->metadata;
    const struct gf_format format = reading->picture.format;
    if (gf_metadata_is_srgb(metadata, format, &reading->options))
        return (struct gf_icc){0};
    return gf_metadata_icc(metadata, format, &reading->options);
}

static bool has_colours(struct gf_icc icc)
{
    return icc.size || icc.hdr[1];
}

/* Makes a copy of 16 bits of a picture. */
static enum gf_status widen(const struct gf_image *picture, struct gf_image *wide,
                            struct gf_error *error)
{
    struct gf_format format = picture->format;
    format.bits = 16;
    GF_TRY(gf_image_alloc(wide, format, error));
    for (int y = 0; y < format.height; y++) {
        uint16_t *const row = (uint16_t *)(void *)(wide->data + (size_t)y * wide->pitch);
        for (size_t i = 0; i < (size_t)format.width * (size_t)format.channels; i++)
            row[i] = (uint16_t)(sample_of(picture, y, i) *
                                (picture->format.bits == 8 ? UINT16_MAX / UINT8_MAX : 1));
    }
    return GF_OK;
}

enum gf_status gf_readings_match(struct gf_reading reading[2], struct gf_error *error)
{
    for (int i = 0; i < 2; i++) {
        struct gf_image *const picture = &reading[i].picture, wide;
        if (!reading[1 - i].floats.data || picture->format.bits > 8)
            continue;
        GF_TRY(widen(picture, &wide, error));
        gf_image_free(picture);
        *picture = wide;
    }
    return GF_OK;
}

/* Converts the picture, which has the colours of the reading's, to sRGB by the filter icc on the
 * CPU. */
static enum gf_status make_srgb(const struct gf_reading *reading, struct gf_image *picture,
                                struct gf_error *error)
{
    struct gf_pipeline *pipeline;
    struct gf_options options = reading->options;
    struct gf_image converted = {.data = NULL};
    options.device = GF_DEVICE_CPU;
    GF_TRY(gf_pipeline_open("icc", &options, &pipeline, error));
    gf_pipeline_give_metadata(pipeline, &reading->source->metadata);
    const enum gf_status status = gf_pipeline_run_image(pipeline, picture, &converted, error);
    gf_pipeline_close(pipeline);
    if (status)
        return status;
    gf_image_free(picture);
    *picture = converted;
    return GF_OK;
}

/* Finds the measures OF_SRGB of the pictures in sRGB. They are converted at 16 bits, since 8 would
 * round what the measures see. */
static enum gf_status score_converted(const struct gf_reading reading[2],
                                      const struct gf_icc icc[2], struct gf_likeness *likeness,
                                      struct gf_error *error)
{
    struct gf_image wide[2] = {{.data = NULL}};
    enum gf_status status = GF_OK;
    for (int i = 0; i < 2 && !status; i++) {
        status = widen(&reading[i].picture, &wide[i], error);
        if (!status && has_colours(icc[i]))
            status = make_srgb(&reading[i], &wide[i], error);
    }
    if (!status)
        status = gf_likeness_of(&wide[0], &wide[1], reading[0].measures & OF_SRGB,
                                &reading[0].options, likeness, error);
    gf_image_free(&wide[0]);
    gf_image_free(&wide[1]);
    return status;
}

enum gf_status gf_likeness_of_readings(struct gf_reading reading[2], struct gf_likeness *likeness,
                                       struct gf_error *error)
{
    const unsigned measures = reading[0].measures;
    const struct gf_icc icc[2] = {colours_of(&reading[0]), colours_of(&reading[1])};
    const bool alike =
        gf_icc_same(icc[0], icc[1]) && !memcmp(icc[0].hdr, icc[1].hdr, sizeof icc[0].hdr);
    bool converts = (has_colours(icc[0]) || has_colours(icc[1])) && (!alike || measures & OF_SRGB);
    struct gf_likeness scores = {.of_floats = false};
    if (converts && !gf_icc_available()) {
        gf_warn(&reading[0].options, "colours count as sRGB: this build has no Little CMS");
        converts = false;
    }
    const bool scored = converts && measures & OF_SRGB;
    if (scored)
        GF_TRY(score_converted(reading, icc, &scores, error));
    for (int i = 0; i < 2; i++) {
        if (converts && !alike) {
            gf_image_free(&reading[i].floats); /* they have other colours */
            warn_of_clamped(&reading[i]);
        }
        if (converts && !alike && has_colours(icc[i]))
            GF_TRY(make_srgb(&reading[i], &reading[i].picture, error));
    }
    GF_TRY(gf_likeness_of(&reading[0].picture, &reading[1].picture,
                          scored ? measures & ~(unsigned)OF_SRGB : measures, &reading[0].options,
                          likeness, error));
    if (measures & 1U << GF_MEASURE_RELMSE || reading[0].floats.data || reading[1].floats.data)
        GF_TRY(measure_floats(reading, likeness, error));
    for (int i = 0; i < GF_MEASURES && scored; i++) {
        if (measures & OF_SRGB & 1U << i)
            likeness->measure[i] = scores.measure[i];
    }
    return GF_OK;
}

/* Draws the absolute differences in row y, times `scale`, and returns the largest difference. Draws
 * nothing if `scale` is 0. */
static int draw_row(const struct gf_image *a, const struct gf_image *b, int y, double scale,
                    struct gf_image *picture)
{
    const struct gf_format format = a->format;
    const int channels = format.channels, colours = gf_colour_channels(format);
    unsigned char *const row = scale > 0 ? picture->data + (size_t)y * picture->pitch : NULL;
    int largest = 0;
    for (int i = 0; i < format.width * colours; i++) {
        const size_t pixel = (size_t)(i / colours) * (size_t)channels;
        const size_t last = pixel + (size_t)channels - 1, at = pixel + (size_t)(i % colours);
        const int colour = abs(sample_of(a, y, at) - sample_of(b, y, at));
        const int alpha =
            gf_has_alpha(format) ? abs(sample_of(a, y, last) - sample_of(b, y, last)) : 0;
        const int d = colour > alpha ? colour : alpha;
        largest = d > largest ? d : largest;
        if (row && format.bits == 8)
            row[i] = (unsigned char)(d * scale + 0.5);
        else if (row)
            ((uint16_t *)(void *)row)[i] = (uint16_t)(d * scale + 0.5);
    }
    return largest;
}

enum gf_status gf_likeness_draw(const struct gf_image *a, const struct gf_image *b,
                                struct gf_image *picture, struct gf_error *error)
{
    struct gf_format format = a->format;
    int largest = 1;
    for (int y = 0; y < format.height; y++) {
        const int d = draw_row(a, b, y, 0, NULL);
        largest = d > largest ? d : largest;
    }
    format.channels = gf_colour_channels(format);
    GF_TRY(gf_image_alloc(picture, format, error));
    for (int y = 0; y < format.height; y++)
        draw_row(a, b, y, (double)gf_sample_max(format) / largest, picture);
    return GF_OK;
}

/* Returns a sample of the row, in the range of its bits. */
static int sample_at(const struct gf_view *view, int y, int x, int channel)
{
    const unsigned char *const row = gf_view_row(view, y);
    const size_t at = (size_t)x * (size_t)view->format.channels + (size_t)channel;
    return view->format.bits == 8 ? row[at] : ((const uint16_t *)(const void *)row)[at];
}

static int difference_at(const struct gf_view *a, const struct gf_view *b, int y, int x)
{
    int most = 0;
    for (int c = 0; c < a->format.channels; c++) {
        const int d = abs(sample_at(a, y, x, c) - sample_at(b, y, x, c));
        most = d > most ? d : most;
    }
    return most;
}

/* Finds the pixel in which two views differ most. Returns its difference. */
static int find_worst(const struct gf_view *a, const struct gf_view *b, int *x, int *y)
{
    int worst = 0;
    for (int row = a->y; row < a->y + a->rows; row++) {
        for (int column = 0; column < a->format.width; column++) {
            const int d = difference_at(a, b, row, column);
            if (d <= worst)
                continue;
            worst = d;
            *x = column;
            *y = row;
        }
    }
    return worst;
}

/* Returns where a part of that length begins that has `at` in its middle, moved so that it lies
 * within 0..whole - 1. */
static int begin_of(int at, int length, int whole)
{
    const int begin = at - length / 2;
    return begin < 0 ? 0 : begin + length > whole ? whole - length : begin;
}

static void put_pixel(const struct gf_view *view, int y, int x, unsigned char *rgb)
{
    const int scale = view->format.bits == 8 ? 1 : 257;
    const bool grey = view->format.channels < 3;
    for (int c = 0; c < 3; c++)
        rgb[c] = (unsigned char)(sample_at(view, y, x, grey ? 0 : c) / scale);
}

struct gf_compare_spot *gf_compare_spot_make(const struct gf_view *found,
                                             const struct gf_view *expected)
{
    int worst_x = 0, worst_y = 0;
    const int width = found->format.width, worst = find_worst(found, expected, &worst_x, &worst_y);
    struct gf_compare_spot *const spot = worst ? calloc(1, sizeof *spot) : NULL;
    if (!spot)
        return NULL;
    spot->width = width < GF_SPOT_SIDE ? width : GF_SPOT_SIDE;
    spot->height = found->rows < GF_SPOT_SIDE ? found->rows : GF_SPOT_SIDE;
    spot->x = begin_of(worst_x, spot->width, width);
    spot->y = found->y + begin_of(worst_y - found->y, spot->height, found->rows);
    for (int i = 0; i < spot->width * spot->height; i++) {
        const int x = spot->x + i % spot->width, y = spot->y + i / spot->width;
        put_pixel(found, y, x, &spot->found[3 * i]);
        put_pixel(expected, y, x, &spot->expected[3 * i]);
        for (int c = 0; c < 3; c++)
            spot->difference[3 * i + c] =
                (unsigned char)(255LL * difference_at(found, expected, y, x) / worst);
    }
    return spot;
}
