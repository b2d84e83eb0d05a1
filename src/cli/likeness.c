/* What --compare prints, and the limits on it. */
#include "cli/likeness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text/json.h"
#include "base/text/plain_text.h"
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

/* What is printed unless measures=LIST says it. */
enum { USUAL = (1 << GF_MEASURE_SSIMULACRA2) - 1 };

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

enum gf_status gf_likeness_take_limit(const char *text, struct gf_likeness_limits *limits,
                                      bool *is_limit, struct gf_error *error)
{
    const char *value, *end;
    const struct measure *const measure = find_limit(text, &value);
    const bool json = !strcmp(text, "json"), list = !strncmp(text, "measures=", 9),
               peak = !strncmp(text, "peak=", 5);
    limits->json |= json;
    *is_limit = json || list || peak || measure;
    if (list)
        return take_measures(text + 9, &limits->named, error);
    if (peak && (!gf_value_number(text + 5, &limits->peak, &end) || *end || !(limits->peak > 0)))
        return gf_fail(error, GF_ERROR_USAGE, "--compare: %.80s is not a positive number", text);
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

enum gf_status gf_likeness_take_limits(char *name, struct gf_likeness_limits *limits,
                                       struct gf_error *error)
{
    *limits = (struct gf_likeness_limits){.json = false};
    for (int i = 0; i < GF_MEASURES; i++)
        limits->value[i] = NAN;
    for (char *at; (at = strrchr(name, ':')) != NULL; *at = '\0') {
        bool is_limit;
        GF_TRY(gf_likeness_take_limit(at + 1, limits, &is_limit, error));
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
    if (likeness->of_floats && (i == GF_MEASURE_LARGEST || i == GF_MEASURE_MEAN)) {
        snprintf(text, 64, "%.6g", value);
        return;
    }
    if (isinf(value))
        snprintf(text, 64, "%sinf%s", value < 0 ? "-" : "", measures[i].unit);
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
    char line[GF_LIKENESS_NAME_SIZE];
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

static void add_pair(struct gf_likeness_pairs *pairs, const struct gf_likeness *likeness,
                     const char *name)
{
    for (int i = 0; i < GF_MEASURES; i++) {
        const double value = likeness->measure[i], worst = pairs->worst.measure[i];
        pairs->sum.measure[i] += from_decibels(i, value);
        pairs->sum.of_floats |= likeness->of_floats;
        pairs->worst.of_floats |= likeness->of_floats;
        if (pairs->count && !(measures[i].most ? value > worst : value < worst) && !isnan(value))
            continue;
        pairs->worst.measure[i] = value;
        snprintf(pairs->name[i], GF_LIKENESS_NAME_SIZE, "%s", name);
    }
    pairs->count++;
}

void gf_likeness_tell(FILE *file, const struct gf_likeness_limits *limits,
                      struct gf_likeness_pairs *pairs, const char *name,
                      const struct gf_likeness *measured)
{
    struct gf_likeness by_peak = *measured;
    const struct gf_likeness *const likeness = &by_peak;
    if (limits->peak > 0)
        by_peak.measure[GF_MEASURE_PSNR] += 20 * log10(limits->peak);
    if (pairs->several && !pairs->count && !limits->json)
        print_row(file, NULL, limits->printed, "file");
    if (limits->json)
        print_json(file, pairs->several ? name : NULL, likeness, limits->printed, NULL);
    else if (pairs->several)
        print_row(file, likeness, limits->printed, name);
    else
        print_all(file, likeness, limits->printed);
    add_pair(pairs, likeness, name);
}

void gf_likeness_tell_failure(FILE *file, const struct gf_likeness_limits *limits, const char *name,
                              const struct gf_error *error)
{
    if (limits->json)
        print_json(file, name, NULL, 0, error);
}

void gf_likeness_tell_sums(FILE *file, const struct gf_likeness_limits *limits,
                           const struct gf_likeness_pairs *pairs)
{
    const unsigned printed = limits->printed;
    struct gf_likeness mean = {.of_floats = pairs->sum.of_floats};
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

enum gf_status gf_likeness_check(const struct gf_likeness_limits *limits,
                                 const struct gf_likeness_pairs *pairs, struct gf_error *error)
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
