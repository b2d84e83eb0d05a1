/* Reads saved reports, and writes them on a page. */
#include "study/saved/saved.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "gpufilter/pipeline.h"
#include "study/report/study_report.h"

/* ---- the log of a batch ----
 *
 * A log has a JSON object a line. A line that a killed run left unfinished is only counted. Lines
 * of different jobs, which have different chains or options, become a report for each job. */

/* The most jobs of a log. The lines of further jobs count as the last one's. */
enum { JOBS_MAX = 100 };

static enum gf_outcome outcome_of(const struct gf_json_value *line)
{
    int outcome = GF_OUTCOME_DONE;
    while (outcome < GF_OUTCOME_SKIPPED &&
           strcmp(gf_outcome_names[outcome], gf_json_text_of(line, "status")))
        outcome++;
    return outcome;
}

/* Returns a time of the line; 0 if it has none, or an impossible one. */
static double time_of(const struct gf_json_value *ms, const char *key)
{
    const double time = gf_json_number_of(ms, key);
    return time >= 0 && time < 1e15 ? time : 0;
}

static enum gf_status add_line(const struct gf_json_value *line, struct gf_batch_report *report,
                               struct gf_error *error)
{
    const struct gf_json_value *const ms = gf_json_member(line, "ms");
    const double finished_s = gf_json_number_of(line, "finished");
    const struct gf_batch_log_entry entry = {
        .input = gf_json_text_of(line, "input"),
        .outcome = outcome_of(line),
        .message = gf_json_text_of(line, "message"),
        .width = gf_json_int_of(line, "width", 0, INT32_MAX, 0),
        .height = gf_json_int_of(line, "height", 0, INT32_MAX, 0),
        .ms = {.total = time_of(ms, "total"),
               .decode = time_of(ms, "decode"),
               .upload = time_of(ms, "upload"),
               .filter = time_of(ms, "filter"),
               .download = time_of(ms, "download"),
               .encode = time_of(ms, "encode")},
        .device = gf_json_text_of(line, "device"),
        .decoder = gf_json_text_of(line, "decoder"),
        .encoder = gf_json_text_of(line, "encoder"),
    };
    if (entry.outcome == GF_OUTCOME_DONE && !entry.width && !*entry.device)
        return GF_OK; /* an archive, whose pictures have lines of their own */
    return gf_batch_report_add(report, &entry,
                               finished_s >= 0 && finished_s < 1e15 ? finished_s : NAN, error);
}

static bool is_line(const struct gf_json_value *value)
{
    return gf_json_member(value, "index") && gf_json_member(value, "input") &&
           gf_json_member(value, "status");
}

static bool is_log(const char *text, size_t size)
{
    const char *const end = memchr(text, '\n', size);
    struct gf_json_tree tree;
    if (gf_json_read("", 1, text, end ? (size_t)(end - text) : size, &tree, NULL))
        return false;
    const bool is = is_line(tree.value);
    gf_json_tree_free(&tree);
    return is;
}

/* Returns the report of the job, which is created for the first line of the job; NULL: out of
 * memory. */
static struct gf_saved *report_of(struct gf_saved *saved, const char *job)
{
    if (!saved->batch.pictures)
        snprintf(saved->job, sizeof saved->job, "%s", job);
    if (!strncmp(saved->job, job, sizeof saved->job - 1))
        return saved;
    for (int i = 0; i < saved->other_jobs; i++) {
        struct gf_saved *const other = &saved->other_job[i];
        if (!strncmp(other->job, job, sizeof other->job - 1) || i == JOBS_MAX - 2)
            return other;
    }
    if (!GF_GROW(saved->other_job, saved->other_jobs))
        return NULL;
    struct gf_saved *const added = &saved->other_job[saved->other_jobs++];
    *added = (struct gf_saved){.kind = GF_SAVED_LOG, .name = saved->name};
    snprintf(added->job, sizeof added->job, "%s", job);
    return added;
}

/* Finishes a report. If there are several jobs, its name gets the number of its job. */
static enum gf_status finish(struct gf_saved *saved, int number, int jobs, struct gf_error *error)
{
    if (jobs > 1 && asprintf(&saved->own_name, "%s, job %d of %d%s%s", saved->name, number, jobs,
                             *saved->job ? ": " : "", saved->job) < 0) {
        saved->own_name = NULL;
        return gf_fail_memory(error);
    }
    saved->name = saved->own_name ? saved->own_name : saved->name;
    return gf_batch_report_finish(&saved->batch, error);
}

static enum gf_status read_log(const char *text, size_t size, struct gf_saved *saved,
                               struct gf_error *error)
{
    struct gf_batch_report *const report = &saved->batch;
    enum gf_status status = GF_OK;
    saved->kind = GF_SAVED_LOG;
    for (const char *line = text, *end; line < text + size && !status; line = end + 1) {
        struct gf_json_tree tree;
        end = memchr(line, '\n', (size_t)(text + size - line));
        end = end ? end : text + size;
        if (gf_json_read("", 1, line, (size_t)(end - line), &tree, NULL)) {
            report->damaged++;
            continue;
        }
        struct gf_saved *of_job = saved;
        if (!is_line(tree.value))
            report->damaged++;
        else if (!(of_job = report_of(saved, gf_json_text_of(tree.value, "job"))))
            status = gf_fail_memory(error);
        else
            status = add_line(tree.value, &of_job->batch, error);
        gf_json_tree_free(&tree);
    }
    const int jobs = 1 + saved->other_jobs;
    GF_THEN(status, finish(saved, 1, jobs, error));
    for (int i = 0; !status && i < saved->other_jobs; i++)
        status = finish(&saved->other_job[i], i + 2, jobs, error);
    return status;
}

/* ---- the counters of Nsight Compute ----
 *
 * The output of `ncu --csv --page raw --print-units base`, of which the instructions of kernels are
 * read. A line of names comes after other lines of ncu, and a line of units comes after the line of
 * names. */

enum { FIELD_SIZE = GF_COUNTED_NAME_SIZE };

enum column { KERNEL, BLOCK, GRID, INSTRUCTIONS, PEAK, CYCLES_PER_S, COLUMNS };
static const char *const column_names[COLUMNS] = {"Kernel Name",
                                                  "Block Size",
                                                  "Grid Size",
                                                  "smsp__inst_executed.sum",
                                                  "smsp__inst_executed.sum.peak_sustained",
                                                  "smsp__cycles_elapsed.avg.per_second"};

struct reader {
    const char *at, *end;
};

/* Copies the next field of the line, or as much of it as fits. Returns false if the line has no
 * more fields. */
static bool next_field(struct reader *reader, char field[FIELD_SIZE])
{
    size_t length = 0;
    if (reader->at >= reader->end || *reader->at == '\n' || *reader->at == '\r')
        return false;
    bool quoted = *reader->at == '"';
    for (reader->at += quoted; reader->at < reader->end; reader->at++) {
        const bool quote = quoted && *reader->at == '"';
        const bool twice = quote && reader->at + 1 < reader->end && reader->at[1] == '"';
        if (!quoted && (*reader->at == ',' || *reader->at == '\n' || *reader->at == '\r'))
            break;
        reader->at += twice;
        if (quote && !twice)
            quoted = false;
        else if (length + 1 < FIELD_SIZE)
            field[length++] = *reader->at;
    }
    field[length] = 0;
    if (reader->at < reader->end && *reader->at == ',')
        reader->at++;
    return true;
}

static void end_line(struct reader *reader)
{
    while (reader->at < reader->end && *reader->at != '\n')
        reader->at++;
    reader->at += reader->at < reader->end;
}

/* Goes to the line of names, which the counters of Nsight Compute have. */
static bool find_names(struct reader *reader)
{
    static const char first[] = "\"ID\",";
    for (; reader->at < reader->end; end_line(reader)) {
        if (reader->end - reader->at >= (ptrdiff_t)sizeof first - 1 &&
            !memcmp(reader->at, first, sizeof first - 1))
            return true;
    }
    return false;
}

/* Reads "12,345.5". Returns NaN for a text that is no number. */
static double number(const char *field)
{
    char digits[FIELD_SIZE], *end;
    size_t length = 0;
    for (; *field; field++) {
        if (*field != ',')
            digits[length++] = *field;
    }
    digits[length] = 0;
    const double value = strtod(digits, &end);
    return end == digits || *end || !(value >= 0) || !(value < 1e30) ? NAN : value;
}

static void read_size(const char *field, int size[3])
{
    size[0] = size[1] = size[2] = 0;
    if (sscanf(field, "(%9d, %9d, %9d)", &size[0], &size[1], &size[2]) != 3)
        size[0] = 0;
}

static enum gf_status add(struct gf_counters *counters, char field[COLUMNS][FIELD_SIZE],
                          struct gf_error *error)
{
    struct gf_counted_kernel kernel = {.instructions = number(field[INSTRUCTIONS])};
    const double peak = number(field[PEAK]) * number(field[CYCLES_PER_S]);
    if (isnan(kernel.instructions)) /* this line has the units */
        return GF_OK;
    if (peak > counters->issue_peak)
        counters->issue_peak = peak;
    memcpy(kernel.name, field[KERNEL], sizeof kernel.name);
    read_size(field[GRID], kernel.grid);
    read_size(field[BLOCK], kernel.block);
    GF_ALLOCATED(GF_GROW(counters->kernel, counters->kernels), error);
    counters->kernel[counters->kernels++] = kernel;
    return GF_OK;
}

static enum gf_status read_counters(const char *text, size_t size, struct gf_saved *saved,
                                    struct gf_error *error)
{
    struct reader reader = {text, text + size};
    int place[COLUMNS], count = 0;
    char field[COLUMNS][FIELD_SIZE], one[FIELD_SIZE];
    enum gf_status status = GF_OK;
    saved->kind = GF_SAVED_COUNTERS;
    memset(place, -1, sizeof place);
    find_names(&reader);
    for (; next_field(&reader, one); count++) {
        for (int i = 0; i < COLUMNS; i++)
            place[i] = strcmp(one, column_names[i]) ? place[i] : count;
    }
    for (int i = 0; i <= INSTRUCTIONS; i++) {
        if (place[i] < 0)
            return gf_fail(error, GF_ERROR_INPUT,
                           "%s: has no column %s: is it of ncu --csv --page raw --metrics %s?",
                           saved->name, column_names[i], column_names[INSTRUCTIONS]);
    }
    for (end_line(&reader); reader.at < reader.end && !status; end_line(&reader)) {
        memset(field, 0, sizeof field);
        for (int at = 0; next_field(&reader, one); at++) {
            for (int i = 0; i < COLUMNS; i++) {
                if (place[i] == at)
                    memcpy(field[i], one, sizeof one);
            }
        }
        status = add(&saved->counters, field, error);
    }
    return status;
}

static void put_size(struct gf_json *json, const char *key, const int size[3])
{
    gf_json_array(json, key, GF_JSON_COMPACT);
    for (int i = 0; i < 3; i++)
        gf_json_number(json, NULL, size[i], 0);
    gf_json_end(json);
}

static void put_counters(struct gf_page *page, const struct gf_counters *counters)
{
    struct gf_json json = gf_json_begin(gf_page_part(page, "counters", ""));
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    gf_json_figure(&json, "issue_peak", counters->issue_peak);
    gf_json_array(&json, "kernels", GF_JSON_LINES);
    for (int i = 0; i < counters->kernels; i++) {
        const struct gf_counted_kernel *const kernel = &counters->kernel[i];
        gf_json_object(&json, NULL, GF_JSON_COMPACT);
        gf_json_string(&json, "name", kernel->name);
        put_size(&json, "grid", kernel->grid);
        put_size(&json, "block", kernel->block);
        gf_json_figure(&json, "instructions", kernel->instructions);
        gf_json_end(&json);
    }
    gf_json_end(&json);
    gf_json_end(&json);
}

/* ---- the JSON of profiles, comparisons and labs ---- */

/* The largest file that is read. A report has some kilobytes, the log of a million pictures some
 * hundred megabytes. */
enum { BYTES_MAX = 1 << 30 };

static bool has(const struct gf_json_value *value, const char *key)
{
    return gf_json_member(value, key) != NULL;
}

static bool is_run(const struct gf_json_value *root)
{
    return has(root, "stages") && has(root, "wall_ms");
}

static bool is_comparison(const struct gf_json_value *root)
{
    return has(root, "stages") && has(root, "pipeline");
}

static bool is_lab(const struct gf_json_value *root)
{
    return has(root, "lab") && has(root, "rows");
}

static bool is_labs(const struct gf_json_value *root)
{
    const struct gf_json_value *lab = root->type == GF_JSON_ARRAY ? root->first : NULL;
    while (lab && is_lab(lab))
        lab = lab->next;
    return root->type == GF_JSON_ARRAY && root->first && !lab;
}

static const struct {
    enum gf_saved_kind kind;
    bool (*is)(const struct gf_json_value *root);
} kinds[] = {{GF_SAVED_RUN, is_run},
             {GF_SAVED_COMPARISON, is_comparison},
             {GF_SAVED_LABS, is_lab},
             {GF_SAVED_LABS, is_labs}};

/* Whether a later version of the program has written the file. The first number of the version
 * grows when an older program would misread the file. */
static bool is_newer(const char *version)
{
    int theirs = 0, ours = 0;
    return sscanf(version, "%9d.", &theirs) == 1 && sscanf(gf_version(), "%9d.", &ours) == 1 &&
           theirs > ours;
}

static enum gf_status find_kind(const struct gf_json_value *root, struct gf_saved *saved,
                                struct gf_error *error)
{
    const char *const version =
        gf_json_text_of(root->type == GF_JSON_ARRAY ? root->first : root, "version");
    if (is_newer(version))
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: written by gpufilter %.15s, which is newer than this one, %s",
                       saved->name, version, gf_version());
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!kinds[i].is(root))
            continue;
        saved->kind = kinds[i].kind;
        return GF_OK;
    }
    return gf_fail(error, GF_ERROR_INPUT,
                   "%s: is JSON, but no profile, comparison, lab or log of this program",
                   saved->name);
}

/* Checks that the text is a report, and keeps it. */
static enum gf_status read_report(char **text, size_t size, struct gf_saved *saved,
                                  struct gf_error *error)
{
    struct gf_json_tree tree;
    GF_TRY(gf_json_read(saved->name, 1, *text, size, &tree, error));
    const enum gf_status status = find_kind(tree.value, saved, error);
    gf_json_tree_free(&tree);
    saved->text = *text;
    saved->size = size;
    *text = NULL;
    return status;
}

static enum gf_status read_bytes(const char *path, FILE *file, char **text, size_t *size,
                                 struct gf_error *error)
{
    size_t capacity = 0;
    *text = NULL;
    *size = 0;
    do {
        capacity = capacity ? 2 * capacity : 1 << 16;
        char *const grown = realloc(*text, capacity);
        GF_ALLOCATED(grown, error);
        *text = grown;
        *size += fread(*text + *size, 1, capacity - *size, file);
    } while (*size == capacity && capacity < BYTES_MAX);
    if (ferror(file))
        return gf_fail(error, GF_ERROR_READ, "%s: %s", path, strerror(errno));
    if (*size == capacity)
        return gf_fail(error, GF_ERROR_INPUT, "%s: is too large for a report", path);
    return *size ? GF_OK : gf_fail(error, GF_ERROR_INPUT, "%s: is empty", path);
}

enum gf_status gf_saved_read(const char *path, struct gf_saved *saved, struct gf_error *error)
{
    char *text = NULL;
    size_t size = 0;
    *saved = (struct gf_saved){.name = path};
    FILE *const file = strcmp(path, "-") ? fopen(path, "re") : stdin;
    if (!file)
        return gf_fail(error, GF_ERROR_READ, "%s: %s", path, strerror(errno));
    enum gf_status status = read_bytes(path, file, &text, &size, error);
    if (file != stdin)
        fclose(file);
    if (!status && is_log(text, size))
        status = read_log(text, size, saved, error);
    else if (!status && find_names(&(struct reader){text, text + size}))
        status = read_counters(text, size, saved, error);
    else if (!status)
        status = read_report(&text, size, saved, error);
    free(text);
    if (status)
        gf_saved_free(saved);
    return status;
}

void gf_saved_free(struct gf_saved *saved)
{
    gf_batch_report_free(&saved->batch);
    for (int i = 0; i < saved->other_jobs; i++)
        gf_saved_free(&saved->other_job[i]);
    free(saved->other_job);
    free(saved->own_name);
    free(saved->counters.kernel);
    free(saved->text);
    *saved = (struct gf_saved){0};
}

static void put_part(struct gf_page *page, const struct gf_saved *saved, const char *name)
{
    static const char *const names[] = {
        [GF_SAVED_RUN] = "run", [GF_SAVED_COMPARISON] = "comparison", [GF_SAVED_LABS] = "labs"};
    if (saved->kind == GF_SAVED_LOG)
        gf_batch_page(page, &saved->batch, name);
    else if (saved->kind == GF_SAVED_COUNTERS)
        put_counters(page, &saved->counters);
    else
        fwrite(saved->text, 1, saved->size, gf_page_part(page, names[saved->kind], name));
}

enum gf_status gf_saved_page(FILE *file, const struct gf_saved *saved, int count,
                             struct gf_error *error)
{
    struct gf_page page;
    char line[64];
    snprintf(line, sizeof line, "%d saved reports", count);
    GF_TRY(gf_page_begin(&page, file, count == 1 ? saved->name : "Report", count == 1 ? "" : line,
                         error));
    for (int i = 0; i < count; i++)
        put_part(&page, &saved[i], count == 1 ? "" : saved[i].name);
    gf_lab_plots_page(&page);
    gf_page_end(&page);
    return GF_OK;
}
