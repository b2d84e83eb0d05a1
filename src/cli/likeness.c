#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/image.h"
#include "base/text/json.h"
#include "base/text/plain_text.h"
#include "base/threads/times.h"
#include "bench/likeness.h"
#include "codec/codec.h"
#include "codec/layouts/layouts.h"
#include "report/text.h"

/* The keys of --compare=FILE:json: those of the measures, in their order, and one more. */
const struct gf_key_help gf_likeness_keys[] = {
    {"largest", "the largest difference of two samples"},
    {"mean", "the mean difference"},
    {"psnr", "PSNR in decibels; null: equal pictures"},
    {"ssim", "SSIM, 1 at most; null: the pictures are too small"},
    {"ms_ssim", "MS-SSIM likewise"},
    {"ssimulacra2", "SSIMULACRA2 likewise, 100 at most"},
    {"equal", "whether all samples are equal"},
    {0},
};

/* The measures, in the order of enum gf_measure, and the limits on them. */
static const struct measure {
    const char *name, *limit, *unit;
    int decimals;
    bool most; /* true: the limit is the largest allowed value; false: the smallest */
} measures[GF_MEASURES] = {
    {"largest", "max-largest", "", 0, true},  {"mean", "max-mean", "", 4, true},
    {"psnr", "min-psnr", " dB", 2, false},    {"ssim", "min-ssim", "", 5, false},
    {"ms-ssim", "min-ms-ssim", "", 5, false}, {"ssimulacra2", "min-ssimulacra2", "", 5, false},
};

/* What is printed unless measures=LIST says it. */
enum { USUAL = (1 << GF_MEASURE_SSIMULACRA2) - 1 };

/* What follows the file's name in --compare=FILE:... */
struct limits {
    double value[GF_MEASURES]; /* the limits of the measures; NaN: there is none */
    unsigned named;            /* bit i: measures=LIST names measure i; 0: there is no list */
    unsigned printed;          /* bit i: measure i is printed */
    bool json;                 /* the measures are printed as JSON */
};

/* Returns the measure whose limit begins the text, as in "min-ssim=0.98"; NULL if there is none.
 * *value becomes the text after the "=". */
static const struct measure *find_limit(const char *text, const char **value)
{
    for (int i = 0; i < GF_MEASURES; i++) {
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
    for (int i = 0; i < GF_MEASURES; i++) {
        const size_t length = strlen(measures[i].name);
        found |= !strncmp(text, measures[i].name, length) && text[length] == '=';
    }
    return found;
}

/* Takes the names between commas. */
static enum gf_status take_measures(const char *list, unsigned *named, struct gf_error *error)
{
    for (const char *name = list;; name++) {
        const size_t length = strcspn(name, ",");
        int i = 0;
        while (i < GF_MEASURES &&
               (strlen(measures[i].name) != length || strncmp(measures[i].name, name, length) != 0))
            i++;
        if (i == GF_MEASURES)
            return gf_fail(error, GF_ERROR_USAGE,
                           "--compare: measures=%.60s: '%.*s' is none of largest, mean, psnr, "
                           "ssim, ms-ssim and ssimulacra2",
                           list, (int)(length < 60 ? length : 60), name);
        *named |= 1U << i;
        name += length;
        if (!*name)
            return GF_OK;
    }
}

static enum gf_status take_limit(const char *text, struct limits *limits, bool *is_limit,
                                 struct gf_error *error)
{
    const char *value, *end;
    const struct measure *const measure = find_limit(text, &value);
    const bool json = !strcmp(text, "json"), list = !strncmp(text, "measures=", 9);
    limits->json |= json;
    *is_limit = json || list || measure;
    if (list)
        return take_measures(text + 9, &limits->named, error);
    if (!*is_limit && looks_like_limit(text))
        return gf_fail(error, GF_ERROR_USAGE,
                       "--compare: '%.60s' is no limit such as min-ssim=0.98 or max-largest=2",
                       text);
    if (!measure)
        return GF_OK;
    double *const limit = &limits->value[measure - measures];
    if (!gf_value_number(value, limit, &end) || *end)
        return gf_fail(error, GF_ERROR_USAGE, "--compare: %s=%.60s is not a number", measure->limit,
                       value);
    limits->printed |= 1U << (measure - measures);
    return GF_OK;
}

/* Cuts the limits, the list of measures and "json" from the end of "a.png:min-ssim=0.98:json". A
 * colon that is not before one of them belongs to the name. */
static enum gf_status take_limits(char *name, struct limits *limits, struct gf_error *error)
{
    *limits = (struct limits){.json = false};
    for (int i = 0; i < GF_MEASURES; i++)
        limits->value[i] = NAN;
    for (char *at; (at = strrchr(name, ':')) != NULL; *at = '\0') {
        bool is_limit;
        GF_TRY(take_limit(at + 1, limits, &is_limit, error));
        if (!is_limit)
            break;
    }
    limits->printed |= limits->named ? limits->named : USUAL;
    return *name ? GF_OK
                 : gf_fail(error, GF_ERROR_USAGE, "--compare: the name of the file is empty");
}

static void print_all(FILE *file, const struct gf_likeness *likeness, unsigned printed)
{
    const int width = printed & 1U << GF_MEASURE_SSIMULACRA2 ? 11 : 8;
    for (int i = 0; i < GF_MEASURES; i++) {
        char text[64];
        const double value = likeness->measure[i];
        if (!(printed & 1U << i))
            continue;
        if (isinf(value))
            snprintf(text, sizeof text, "inf%s", measures[i].unit);
        else
            gf_text_number(value, measures[i].decimals, measures[i].unit, text, sizeof text);
        fprintf(file, "%-*s %s\n", width, measures[i].name, text);
    }
}

/* Prints the measures as a line of JSON; infinite and unknown ones are null. */
static void print_json(FILE *file, const struct gf_likeness *likeness, unsigned printed)
{
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    for (int i = 0; i < GF_MEASURES; i++) {
        if (printed & 1U << i)
            gf_json_figure(&json, gf_likeness_keys[i].path, likeness->measure[i]);
    }
    gf_json_bool(&json, gf_likeness_keys[GF_MEASURES].path,
                 likeness->measure[GF_MEASURE_LARGEST] == 0);
    gf_json_end(&json);
}

/* Returns GF_ERROR_DIFFERENT if a measure is beyond its limit; GF_ERROR_UNFIT if the pictures are
 * too small for a measure that was asked for. */
static enum gf_status check_limits(const struct gf_likeness *likeness, const struct limits *limits,
                                   const char *name, struct gf_error *error)
{
    for (int i = 0; i < GF_MEASURES; i++) {
        const double value = likeness->measure[i], limit = limits->value[i];
        if (isnan(value) && (limits->named & 1U << i || !isnan(limit)))
            return gf_fail(error, GF_ERROR_UNFIT, "%.120s: too small a picture for %s", name,
                           measures[i].name);
        if (!isnan(limit) && (measures[i].most ? value > limit : value < limit))
            return gf_fail(error, GF_ERROR_DIFFERENT, "%.120s: %s is %.9g, %s than %.9g", name,
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
    GF_THEN(status, gf_sink_open(output, file_format, picture->format, &nothing, &command->options,
                                 &sink, error));
    GF_THEN(status,
            sink->write(sink, picture->format.height, picture->data, picture->pitch, error));
    GF_THEN(status, sink->finish(sink, error));
    GF_THEN(status, gf_output_commit(output, error));
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
    GF_THEN(status, write_picture(command, file_format, &picture, error));
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
    struct gf_likeness likeness = {0};
    struct gf_options options = command->options;
    enum gf_file_format file_format = GF_FILE_AUTO;
    options.warn = command->quiet ? NULL : gf_message_warn;
    GF_TRY(check_output(command, name, &file_format, error));
    GF_TRY(gf_read_picture(name, &options, limits->printed, &picture[0], error));
    GF_TRY(gf_read_picture(other, &options, limits->printed, &picture[1], error));
    GF_TRY(check_formats(name, picture[0].format, other, picture[1].format, error));
    GF_TRY(gf_likeness_of(&picture[0], &picture[1], limits->printed, &options, &likeness, error));
    if (limits->json)
        print_json(gf_report_file(command), &likeness, limits->printed);
    else
        print_all(gf_report_file(command), &likeness, limits->printed);
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
    gf_time_limit_set(command->options.timeout_s > 0 ? gf_now() + command->options.timeout_s : 0);
    enum gf_status status = take_limits(name, &limits, error);
    GF_THEN(status, compare_files(command, name, &limits, picture, error));
    status = gf_time_tell(second_name(command), command->options.timeout_s, status, error);
    gf_image_free(&picture[0]);
    gf_image_free(&picture[1]);
    free(name);
    return status;
}
