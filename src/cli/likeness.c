#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/image.h"
#include "base/text/json.h"
#include "base/text/plain_text.h"
#include "bench/likeness.h"
#include "codec/codec.h"
#include "codec/layouts/layouts.h"
#include "report/text.h"

enum { MEASURES = 5 };

/* The keys of --compare=FILE:json: those of the measures, in their order, and one more. */
const struct gf_key_help gf_likeness_keys[] = {
    {"largest", "the largest difference of two samples"},
    {"mean", "the mean difference"},
    {"psnr", "PSNR in decibels; null: the pictures are equal"},
    {"ssim", "SSIM, 1 at most; null: the pictures are too small"},
    {"ms_ssim", "MS-SSIM likewise"},
    {"equal", "whether all samples are equal"},
    {0},
};

/* The measures that --compare prints, and that a limit can name. */
static const struct measure {
    const char *name, *limit, *unit;
    int decimals;
    bool most; /* true: the limit is the largest allowed value; false: the smallest */
    size_t offset;
} measures[MEASURES] = {
    {"largest", "max-largest", "", 0, true, offsetof(struct gf_likeness, largest)},
    {"mean", "max-mean", "", 4, true, offsetof(struct gf_likeness, mean)},
    {"psnr", "min-psnr", " dB", 2, false, offsetof(struct gf_likeness, psnr)},
    {"ssim", "min-ssim", "", 5, false, offsetof(struct gf_likeness, ssim)},
    {"ms-ssim", "min-ms-ssim", "", 5, false, offsetof(struct gf_likeness, ms_ssim)},
};

/* The limits and the form that follow the file's name in --compare=FILE:... */
struct limits {
    double value[MEASURES]; /* the limits of the measures; NaN: there is none */
    bool json;              /* the measures are printed as JSON */
};

/* Returns the measure whose limit begins the text, as in "min-ssim=0.98"; NULL if there is none.
 * *value becomes the text after the "=". */
static const struct measure *find_limit(const char *text, const char **value)
{
    for (int i = 0; i < MEASURES; i++) {
        const size_t length = strlen(measures[i].limit);
        *value = text + length + 1;
        if (!strncmp(text, measures[i].limit, length) && text[length] == '=')
            return &measures[i];
    }
    return NULL;
}

/* Whether the text is probably meant as a limit, even if it is wrong: "min-sim=0.9" or
 * "ssim=0.9". */
static bool looks_like_limit(const char *text)
{
    bool found = !strncmp(text, "min-", 4) || !strncmp(text, "max-", 4);
    for (int i = 0; i < MEASURES; i++) {
        const size_t length = strlen(measures[i].name);
        found |= !strncmp(text, measures[i].name, length) && text[length] == '=';
    }
    return found;
}

/* Cuts the limits and "json" from the end of "a.png:min-ssim=0.98:json". A colon that is not before
 * a limit belongs to the name. */
static enum gf_status take_limits(char *name, struct limits *limits, struct gf_error *error)
{
    const char *value, *end;
    for (int i = 0; i < MEASURES; i++)
        limits->value[i] = NAN;
    limits->json = false;
    for (char *at; (at = strrchr(name, ':')) != NULL;) {
        if (!strcmp(at + 1, "json")) {
            limits->json = true;
            *at = '\0';
            continue;
        }
        const struct measure *const measure = find_limit(at + 1, &value);
        if (!measure && looks_like_limit(at + 1))
            return gf_fail(error, GF_ERROR_USAGE,
                           "--compare: '%.60s' is no limit such as min-ssim=0.98 or max-largest=2",
                           at + 1);
        if (!measure)
            break;
        double *const limit = &limits->value[measure - measures];
        if (!gf_value_number(value, limit, &end) || *end)
            return gf_fail(error, GF_ERROR_USAGE, "--compare: %s=%.60s is not a number",
                           measure->limit, value);
        *at = '\0';
    }
    return *name ? GF_OK
                 : gf_fail(error, GF_ERROR_USAGE, "--compare: the name of the file is empty");
}

static double measured(const struct gf_likeness *likeness, const struct measure *measure)
{
    return *(const double *)(const void *)((const char *)likeness + measure->offset);
}

static void print_all(FILE *file, const struct gf_likeness *likeness)
{
    for (int i = 0; i < MEASURES; i++) {
        char text[64];
        const double value = measured(likeness, &measures[i]);
        if (isinf(value))
            snprintf(text, sizeof text, "inf%s", measures[i].unit);
        else
            gf_text_number(value, measures[i].decimals, measures[i].unit, text, sizeof text);
        fprintf(file, "%-8s %s\n", measures[i].name, text);
    }
}

/* Prints the measures as a line of JSON; infinite and unknown ones are null. */
static void print_json(FILE *file, const struct gf_likeness *likeness)
{
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    for (int i = 0; i < MEASURES; i++)
        gf_json_figure(&json, gf_likeness_keys[i].path, measured(likeness, &measures[i]));
    gf_json_bool(&json, gf_likeness_keys[MEASURES].path, likeness->largest == 0);
    gf_json_end(&json);
}

/* Returns GF_ERROR_DIFFERENT if a measure is beyond its limit; GF_ERROR_UNFIT if the pictures are
 * too small for a limit's measure. */
static enum gf_status check_limits(const struct gf_likeness *likeness, const struct limits *limits,
                                   const char *name, struct gf_error *error)
{
    for (int i = 0; i < MEASURES; i++) {
        const double value = measured(likeness, &measures[i]), limit = limits->value[i];
        if (isnan(limit) || (measures[i].most ? value <= limit : value >= limit))
            continue;
        if (isnan(value))
            return gf_fail(error, GF_ERROR_UNFIT, "%.120s: too small a picture for %s", name,
                           measures[i].name);
        return gf_fail(error, GF_ERROR_DIFFERENT, "%.120s: %s is %g, %s than %g", name,
                       measures[i].name, value, measures[i].most ? "more" : "less", limit);
    }
    return GF_OK;
}

static enum gf_status write_picture(const struct gf_command *command,
                                    enum gf_file_format file_format, const struct gf_image *picture,
                                    struct gf_error *error)
{
    const struct gf_metadata nothing = {.orientation = 1};
    struct gf_output *output = NULL;
    struct gf_sink *sink = NULL;
    enum gf_status status = gf_report_open(command->output, &output, error);
    if (!status)
        status = gf_sink_open(output, file_format, picture->format, &nothing, &command->options,
                              &sink, error);
    if (!status)
        status = sink->write(sink, picture->format.height, picture->data, picture->pitch, error);
    if (!status)
        status = sink->finish(sink, error);
    if (!status)
        status = gf_output_commit(output, error);
    if (sink)
        sink->close(sink);
    if (output)
        gf_output_close(output);
    return status;
}

static enum gf_status draw(const struct gf_command *command, enum gf_file_format file_format,
                           const struct gf_image *a, const struct gf_image *b,
                           struct gf_error *error)
{
    struct gf_image picture = {0};
    enum gf_status status = gf_likeness_draw(a, b, &picture, error);
    if (!status)
        status = write_picture(command, file_format, &picture, error);
    gf_image_free(&picture);
    return status;
}

static enum gf_status check_formats(const char *name, struct gf_format a, const char *other,
                                    struct gf_format b, struct gf_error *error)
{
    char text[GF_TEXT_FORMAT_SIZE], other_text[GF_TEXT_FORMAT_SIZE];
    if (gf_same_format(a, b))
        return GF_OK;
    return gf_fail(error, GF_ERROR_UNFIT,
                   "%.100s is %s, %.100s is %s: only pictures of one format can be compared", name,
                   gf_text_format(a, text), other, gf_text_format(b, other_text));
}

/* Returns the name of the second picture. */
static const char *second_name(const struct gf_command *command)
{
    return command->input[command->inputs - 1];
}

/* Finds the format of the drawing, if -o asks for a drawing. Refuses a drawing that would replace
 * one of the compared pictures. */
static enum gf_status check_output(const struct gf_command *command, const char *name,
                                   enum gf_file_format *file_format, struct gf_error *error)
{
    const char *const output = command->output;
    if (!output)
        return GF_OK;
    if (gf_tiles_named(output, &command->options))
        return gf_fail(error, GF_ERROR_USAGE, "%s: a drawing of --compare is no pyramid", output);
    if (!strcmp(output, "-") || (strcmp(output, name) && strcmp(output, second_name(command))))
        return gf_sink_format(output, &command->options, GF_FILE_PNG, file_format, error);
    return gf_fail(error, GF_ERROR_USAGE,
                   "--output and a compared picture are the same file: '%.100s'", output);
}

static enum gf_status compare_files(const struct gf_command *command, const char *name,
                                    const struct limits *limits, struct gf_image picture[2],
                                    struct gf_error *error)
{
    const char *const other = second_name(command);
    const int threads = command->options.threads ? command->options.threads : gf_cpu_count();
    struct gf_likeness likeness = {0};
    struct gf_options options = command->options;
    enum gf_file_format file_format = GF_FILE_AUTO;
    options.warn = command->quiet ? NULL : gf_message_warn;
    GF_TRY(check_output(command, name, &file_format, error));
    GF_TRY(gf_read_picture(name, &options, true, &picture[0], error));
    GF_TRY(gf_read_picture(other, &options, true, &picture[1], error));
    GF_TRY(check_formats(name, picture[0].format, other, picture[1].format, error));
    GF_TRY(gf_likeness_of(&picture[0], &picture[1], threads, &likeness, error));
    if (limits->json)
        print_json(gf_report_file(command), &likeness);
    else
        print_all(gf_report_file(command), &likeness);
    if (command->output)
        GF_TRY(draw(command, file_format, &picture[0], &picture[1], error));
    return check_limits(&likeness, limits, other, error);
}

enum gf_status gf_act_compare(const struct gf_command *command, struct gf_error *error)
{
    struct gf_image picture[2] = {0};
    struct limits limits;
    /* A copy of --compare's value, such as "a.png:json", also for --compare=json a.png b.png. */
    char *name = NULL;
    const bool two = command->inputs == 2;
    if (asprintf(&name, "%s%s%s", two ? command->input[0] : "", two ? ":" : "", command->likeness) <
        0)
        return gf_fail_memory(error);
    enum gf_status status = take_limits(name, &limits, error);
    if (!status)
        status = compare_files(command, name, &limits, picture, error);
    gf_image_free(&picture[0]);
    gf_image_free(&picture[1]);
    free(name);
    return status;
}
