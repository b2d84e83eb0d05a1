#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/image.h"
#include "base/text/json.h"
#include "base/text/plain_text.h"
#include "base/threads/times.h"
#include "batch/names/names.h"
#include "bench/likeness.h"
#include "codec/codec.h"
#include "codec/layouts/layouts.h"
#include "report/text.h"

/* The keys of --compare=FILE:json: those of the measures, in their order, and one more. */
const struct gf_key_help gf_likeness_keys[] = {
#define GF_MEASURE_ROW(name, word, unit, decimals, most, key, help) {key, help},
#include "bench/measures.def"
#undef GF_MEASURE_ROW
    {"equal", "whether all samples are equal"},
    {"file", "of several pairs: the second picture"},
    {"pairs", "in the last line: how many"},
    {"means", "the measures' means, decibels by mean squares"},
    {"worst", "each measure's worst"},
    {"error", "why a file has no measures"},
    {0},
};

/* The measures, in the order of enum gf_measure. */
static const struct measure {
    const char *name, *unit;
    int decimals;
    bool most; /* true: the limit is the largest allowed value; false: the smallest */
} measures[GF_MEASURES] = {
#define GF_MEASURE_ROW(name, word, unit, decimals, most, ...) {word, unit, decimals, most},
#include "bench/measures.def"
#undef GF_MEASURE_ROW
};

enum { NAME_SIZE = 4200 }; /* a path, and the number of a frame */

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
        const size_t length = strlen(measures[i].name);
        *value = text + 4 + length + 1;
        if (!strncmp(text, measures[i].most ? "max-" : "min-", 4) &&
            !strncmp(text + 4, measures[i].name, length) && text[4 + length] == '=')
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

static enum gf_status refuse_measure(const char *list, const char *name, int length,
                                     struct gf_error *error)
{
    char all[160] = "";
    for (int i = 0; i < GF_MEASURES; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "",
                 measures[i].name);
    return gf_fail(error, GF_ERROR_USAGE, "--compare: measures=%.60s: '%.*s' is none of %s", list,
                   length, name, all);
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
            return refuse_measure(list, name, (int)(length < 60 ? length : 60), error);
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
        return gf_fail(error, GF_ERROR_USAGE, "--compare: %.80s is not a number", text);
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
    return GF_OK;
}

/* A mean of decibels would be infinite with a single equal pair: they become that of the mean
 * square. */
static double from_decibels(int i, double value)
{
    return *measures[i].unit ? pow(10, -value / 10) : value;
}

static double to_decibels(int i, double value)
{
    return *measures[i].unit ? -10 * log10(value) : value;
}

static void value_text(const struct gf_likeness *likeness, int i, char text[64])
{
    const double value = likeness->measure[i];
    if (isinf(value))
        snprintf(text, 64, "inf%s", measures[i].unit);
    else
        gf_text_number(value, measures[i].decimals, measures[i].unit, text, 64);
}

static void print_all(FILE *file, const struct gf_likeness *likeness, unsigned printed)
{
    int width = 8;
    for (int i = 0; i < GF_MEASURES; i++) {
        if (printed & 1U << i && (int)strlen(measures[i].name) > width)
            width = (int)strlen(measures[i].name);
    }
    for (int i = 0; i < GF_MEASURES; i++) {
        char text[64];
        value_text(likeness, i, text);
        if (printed & 1U << i)
            fprintf(file, "%-*s %s\n", width, measures[i].name, text);
    }
}

/* Prints a row of the table of several pictures; without measures it is the heading. */
static void print_row(FILE *file, const struct gf_likeness *likeness, unsigned printed,
                      const char *name)
{
    char line[NAME_SIZE];
    for (int i = 0; i < GF_MEASURES; i++) {
        char text[64];
        if (likeness)
            value_text(likeness, i, text);
        if (printed & 1U << i)
            fprintf(file, "%11s  ", likeness ? text : measures[i].name);
    }
    snprintf(line, sizeof line, "%s", name);
    gf_make_printable(line);
    fprintf(file, "%s\n", line);
}

static bool are_equal(const struct gf_likeness *likeness)
{
    return likeness->measure[GF_MEASURE_LARGEST] == 0;
}

/* Adds the measures to the object; infinite and unknown ones are null. */
static void put_measures(struct gf_json *json, const struct gf_likeness *likeness, unsigned printed)
{
    for (int i = 0; i < GF_MEASURES; i++) {
        if (printed & 1U << i)
            gf_json_figure(json, gf_likeness_keys[i].path, likeness->measure[i]);
    }
}

/* Prints the measures or, if `likeness` is NULL, a failure as a line of JSON. */
static void print_json(FILE *file, const char *name, const struct gf_likeness *likeness,
                       unsigned printed, const struct gf_error *error)
{
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    if (name)
        gf_json_string(&json, "file", name);
    if (likeness) {
        put_measures(&json, likeness, printed);
        gf_json_bool(&json, "equal", are_equal(likeness));
    } else if (error) {
        gf_json_string(&json, "error", error->text);
    }
    gf_json_end(&json);
}

/* ---- the sums of several pairs ---- */

/* What was found of the pairs so far. */
struct pairs {
    size_t count, alone; /* compared pairs; files without a partner */
    bool failed;         /* a pair could not be compared */
    struct gf_likeness sum, worst;
    char name[GF_MEASURES][NAME_SIZE]; /* of the pair that is the worst by the measure */
};

static void add_pair(struct pairs *pairs, const struct gf_likeness *likeness, const char *name)
{
    for (int i = 0; i < GF_MEASURES; i++) {
        const double value = likeness->measure[i], worst = pairs->worst.measure[i];
        pairs->sum.measure[i] += from_decibels(i, value);
        if (pairs->count && !(measures[i].most ? value > worst : value < worst) && !isnan(value))
            continue;
        pairs->worst.measure[i] = value;
        snprintf(pairs->name[i], NAME_SIZE, "%s", name);
    }
    pairs->count++;
}

/* Prints the means and the worst of several pairs. */
static void print_sums(FILE *file, const struct pairs *pairs, const struct limits *limits)
{
    const unsigned printed = limits->printed;
    struct gf_likeness mean;
    for (int i = 0; i < GF_MEASURES; i++)
        mean.measure[i] = to_decibels(i, pairs->sum.measure[i] / (double)pairs->count);
    if (!limits->json) {
        print_row(file, &mean, printed, "mean");
        print_row(file, &pairs->worst, printed, "worst");
        return;
    }
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    gf_json_number(&json, "pairs", (double)pairs->count, 0);
    gf_json_object(&json, "means", GF_JSON_COMPACT);
    put_measures(&json, &mean, printed);
    gf_json_end(&json);
    gf_json_object(&json, "worst", GF_JSON_COMPACT);
    put_measures(&json, &pairs->worst, printed);
    gf_json_end(&json);
    gf_json_bool(&json, "equal", are_equal(&pairs->worst) && !pairs->alone && !pairs->failed);
    gf_json_end(&json);
}

/* Returns GF_ERROR_DIFFERENT if a measure is beyond its limit; GF_ERROR_UNFIT if the pictures are
 * too small for a measure that was asked for. */
static enum gf_status check_limits(const struct pairs *pairs, const struct limits *limits,
                                   struct gf_error *error)
{
    for (int i = 0; i < GF_MEASURES && pairs->count; i++) {
        const double value = pairs->worst.measure[i], limit = limits->value[i];
        if (isnan(value) && (limits->named & 1U << i || !isnan(limit)))
            return gf_fail(error, GF_ERROR_UNFIT, "%.120s: too small a picture for %s",
                           pairs->name[i], measures[i].name);
        if (!isnan(limit) && (measures[i].most ? value > limit : value < limit))
            return gf_fail(error, GF_ERROR_DIFFERENT, "%.120s: %s is %.9g, %s than %.9g",
                           pairs->name[i], measures[i].name, value,
                           measures[i].most ? "more" : "less", limit);
    }
    return pairs->alone ? gf_fail(error, GF_ERROR_DIFFERENT, "%zu %s no partner", pairs->alone,
                                  pairs->alone == 1 ? "file has" : "files have")
                        : GF_OK;
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

/* What --compare does. */
struct run {
    const struct gf_command *command;
    const char *name[2];
    struct limits limits;
    struct gf_options options;
    enum gf_file_format drawn; /* the format of the drawing */
    bool several;              /* rows are printed, one for each pair */
    struct pairs pairs;
};

/* Finds the format of the drawing, if -o asks for a drawing. Refuses a drawing that would replace
 * one of the compared pictures. */
static enum gf_status check_output(struct run *run, struct gf_error *error)
{
    const char *const output = run->command->output;
    if (!output)
        return GF_OK;
    if (gf_tiles_named(output, &run->command->options))
        return gf_fail(error, GF_ERROR_USAGE, "%s: a drawing of --compare is no pyramid", output);
    if (!strcmp(output, "-") || (strcmp(output, run->name[0]) && strcmp(output, run->name[1])))
        return gf_sink_format(output, &run->command->options, GF_FILE_PNG, &run->drawn, error);
    return gf_fail(error, GF_ERROR_USAGE,
                   "--output and a compared picture are the same file: '%.100s'", output);
}

/* Measures the present pictures of both files, and prints what is found. */
static enum gf_status measure(struct run *run, struct gf_reading reading[2],
                              const char *const name[2], struct gf_error *error)
{
    const struct gf_image *const a = &reading[0].picture, *const b = &reading[1].picture;
    FILE *const file = gf_report_file(run->command);
    struct limits *const limits = &run->limits;
    struct gf_likeness likeness = {0};
    GF_TRY(check_formats(name[0], a->format, name[1], b->format, error));
    GF_TRY(gf_likeness_of_readings(reading, &likeness, error));
    if (run->several && !run->pairs.count && !limits->json)
        print_row(file, NULL, limits->printed, "file");
    if (limits->json)
        print_json(file, run->several ? name[1] : NULL, &likeness, limits->printed, NULL);
    else if (run->several)
        print_row(file, &likeness, limits->printed, name[1]);
    else
        print_all(file, &likeness, limits->printed);
    add_pair(&run->pairs, &likeness, name[1]);
    return run->command->output ? draw(run->command, run->drawn, a, b, error) : GF_OK;
}

static enum gf_status refuse_drawing(const struct run *run, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_USAGE, "--compare draws two pictures, not several: '%.100s'",
                   run->command->output);
}

/* Compares the pictures of two files one after another. */
static enum gf_status compare_readings(struct run *run, struct gf_reading reading[2],
                                       const char *const name[2], struct gf_error *error)
{
    int length[2];
    for (int i = 0; i < 2; i++) {
        const struct gf_pages other = reading[1 - i].pages;
        struct gf_pages unused;
        const size_t split = gf_input_split_pages(name[i], &unused);
        length[i] = (int)(split ? split : strlen(name[i]));
        if (reading[i].pages.first < 0 && other.last >= 0)
            reading[i].pages = other;
    }
    const bool frames = reading[0].pages.last >= 0 || reading[1].pages.last >= 0;
    run->several |= frames;
    if (run->several && run->command->output)
        return refuse_drawing(run, error);
    for (bool found[2] = {true, true};;) {
        char text[2][NAME_SIZE];
        for (int i = 0; i < 2; i++) {
            GF_TRY(gf_reading_next(&reading[i], &found[i], error));
            snprintf(text[i], NAME_SIZE, frames ? "%.*s[%d]" : "%.*s", length[i], name[i],
                     reading[i].pages.first + reading[i].count - 1);
        }
        if (found[0] != found[1])
            return gf_fail(error, GF_ERROR_UNFIT, "%.100s has %d picture%s, and %.100s has more",
                           name[found[0]], reading[found[0]].count,
                           gf_text_plural(reading[found[0]].count), name[found[1]]);
        if (!found[0])
            return GF_OK;
        GF_TRY(measure(
            run, reading,
            (const char *const[]){frames ? text[0] : name[0], frames ? text[1] : name[1]}, error));
        if (!frames)
            return GF_OK;
    }
}

static enum gf_status compare_files(struct run *run, const char *const name[2],
                                    struct gf_error *error)
{
    const double seconds = run->options.timeout_s;
    struct gf_reading reading[2] = {{.count = 0}};
    enum gf_status status = GF_OK;
    gf_time_limit_set(seconds > 0 ? gf_now() + seconds : 0);
    for (int i = 0; i < 2 && !status; i++)
        status = gf_reading_open(name[i], &run->options, run->limits.printed, &reading[i], error);
    if (!status)
        status = compare_readings(run, reading, name, error);
    gf_reading_close(&reading[0]);
    gf_reading_close(&reading[1]);
    return gf_time_tell(name[1], seconds, status, error);
}

/* ---- two folders ---- */

/* Tells that the file has no partner in the other folder. */
static void tell_alone(struct run *run, const char *path, const char *other)
{
    struct gf_error why;
    (void)gf_fail(&why, GF_OK, "%s: has no partner in %s", path, other);
    run->pairs.alone++;
    gf_message_print("", why.text);
    if (run->limits.json)
        print_json(gf_report_file(run->command), path, NULL, 0, &why);
}

/* Compares a file with its partner. A failure is told, and does not end the run. */
static void add_files(struct run *run, const char *const name[2], enum gf_status *status,
                      struct gf_error *error)
{
    struct gf_error why;
    const enum gf_status failure = compare_files(run, name, &why);
    if (failure && run->limits.json)
        print_json(gf_report_file(run->command), name[1], NULL, 0, &why);
    gf_message_add_error(failure, &why, status, error);
}

/* Compares two names below their folders, first without their extensions. */
static int order(const struct gf_input_name *a, const struct gf_input_name *b, bool stems)
{
    const char *const x = a->path + a->below, *const y = b->path + b->below;
    const size_t length = gf_archive_stem(x), other = gf_archive_stem(y);
    const int stem = strncmp(x, y, length < other ? length : other);
    return stem ? stem : length != other ? (length < other ? -1 : 1) : stems ? 0 : strcmp(x, y);
}

static int by_name(const void *a, const void *b)
{
    return order(a, b, false);
}

/* Whether the name stands in the list from `i` on, before one that differs not in its extension
 * alone. */
static bool is_ahead(const struct gf_inputs *list, size_t i, const struct gf_input_name *name)
{
    while (i < list->count && !order(&list->item[i], name, true)) {
        if (!order(&list->item[i++], name, false))
            return true;
    }
    return false;
}

/* Pairs the files of two folders by their names and, where that finds no partner, by the names
 * without the extension. */
static enum gf_status pair_files(struct run *run, const struct gf_inputs list[2],
                                 struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (size_t i = 0, j = 0; i < list[0].count || j < list[1].count;) {
        const struct gf_input_name *const a = &list[0].item[i], *const b = &list[1].item[j];
        int side = i == list[0].count ? 1 : j == list[1].count ? -1 : order(a, b, true);
        if (!side && order(a, b, false))
            side = is_ahead(&list[0], i, b) ? -1 : is_ahead(&list[1], j, a) ? 1 : 0;
        if (side)
            tell_alone(run, (side < 0 ? a : b)->path, run->name[side < 0]);
        else
            add_files(run, (const char *const[]){a->path, b->path}, &status, error);
        i += side <= 0;
        j += side >= 0;
    }
    return status;
}

static enum gf_status compare_folders(struct run *run, struct gf_error *error)
{
    struct gf_inputs list[2] = {{.item = NULL}};
    enum gf_status status = GF_OK;
    run->several = true;
    if (run->command->output)
        return refuse_drawing(run, error);
    for (int i = 0; i < 2 && !status; i++) {
        const struct gf_inputs_request request = {
            .argument = &run->name[i], .count = 1, .recursive = run->command->recursive};
        status = gf_inputs_expand(&request, &list[i], error);
        if (!status)
            qsort(list[i].item, list[i].count, sizeof *list[i].item, by_name);
    }
    if (!status)
        status = pair_files(run, list, error);
    gf_inputs_free(&list[0]);
    gf_inputs_free(&list[1]);
    return status;
}

static bool is_folder(const char *name)
{
    struct stat file;
    return !stat(name, &file) && S_ISDIR(file.st_mode);
}

static enum gf_status compare(struct run *run, struct gf_error *error)
{
    const bool folder = is_folder(run->name[0]);
    if (folder != is_folder(run->name[1]))
        return gf_fail(error, GF_ERROR_UNFIT, "%.100s is a folder, and %.100s is none",
                       run->name[!folder], run->name[folder]);
    return folder ? compare_folders(run, error) : compare_files(run, run->name, error);
}

/* Reads the value of --compare, "a.png:json" before another picture or "json" before both. */
static enum gf_status begin(struct run *run, char *value, struct gf_error *error)
{
    const struct gf_command *const command = run->command;
    const bool two = command->inputs == 2;
    GF_TRY(take_limits(value, &run->limits, error));
    if (two == (*value != '\0'))
        return two ? gf_fail(
                         error, GF_ERROR_USAGE, "%s",
                         "--compare=FILE takes one other picture behind it: --compare=a.png b.png")
                   : gf_fail(error, GF_ERROR_USAGE, "--compare: the name of the file is empty");
    if (!two && access(value, F_OK) != 0) { /* a word, and one picture behind it? */
        bool is_word;
        GF_TRY(take_limit(value, &run->limits, &is_word, error));
        if (is_word)
            return gf_fail(error, GF_ERROR_USAGE,
                           "--compare=%.60s takes two pictures behind it: a.png b.png", value);
    }
    run->name[0] = two ? command->input[0] : value;
    run->name[1] = command->input[command->inputs - 1];
    return check_output(run, error);
}

enum gf_status gf_act_compare(const struct gf_command *command, struct gf_error *error)
{
    struct run run = {.command = command, .options = command->options};
    char *value = NULL; /* a copy of the option's value, from which words are cut */
    run.options.warn = command->quiet ? NULL : gf_message_warn;
    if (asprintf(&value, "%s%s", command->inputs == 2 ? ":" : "", command->likeness) < 0)
        return gf_fail_memory(error);
    enum gf_status status = begin(&run, value, error);
    if (!status)
        status = compare(&run, error);
    run.pairs.failed = status != GF_OK;
    if (run.several && run.pairs.count)
        print_sums(gf_report_file(command), &run.pairs, &run.limits);
    struct gf_error beyond;
    const enum gf_status verdict =
        status && !run.several ? GF_OK : check_limits(&run.pairs, &run.limits, &beyond);
    if (verdict && status)
        gf_message_print("", beyond.text);
    else if (verdict)
        status = gf_fail(error, verdict, "%s", beyond.text);
    free(value);
    return status;
}
