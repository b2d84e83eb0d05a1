/* Reads saved reports, and writes them on a page. */
#include "study/saved/saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "gpufilter/pipeline.h"
#include "study/report/study_report.h"

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
        if (!grown)
            return gf_fail_memory(error);
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
    if (!status && gf_saved_is_log(text, size))
        status = gf_saved_read_log(text, size, saved, error);
    else if (!status && gf_saved_is_counters(text, size))
        status = gf_saved_read_counters(text, size, saved, error);
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
        gf_counters_page(page, &saved->counters);
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
