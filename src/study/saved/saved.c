#include "study/saved/saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "gpufilter/pipeline.h"

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
    enum gf_status (*read)(const struct gf_json_value *root, struct gf_saved *saved,
                           struct gf_error *error);
} kinds[] = {{GF_SAVED_RUN, is_run, gf_saved_read_run},
             {GF_SAVED_COMPARISON, is_comparison, gf_saved_read_comparison},
             {GF_SAVED_LABS, is_lab, gf_saved_read_labs},
             {GF_SAVED_LABS, is_labs, gf_saved_read_labs}};

/* Whether a later version of the program has written the file. The first number of the version
 * grows when an older program would misread the file. */
static bool is_newer(const char *version)
{
    int theirs = 0, ours = 0;
    return sscanf(version, "%9d.", &theirs) == 1 && sscanf(gf_version(), "%9d.", &ours) == 1 &&
           theirs > ours;
}

static enum gf_status read_kind(struct gf_saved *saved, struct gf_error *error)
{
    const struct gf_json_value *const root = saved->tree.value;
    gf_saved_text(root->type == GF_JSON_ARRAY ? root->first : root, "version", saved->version,
                  sizeof saved->version);
    if (is_newer(saved->version))
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: written by gpufilter %s, which is newer than this one, %s", saved->name,
                       saved->version, gf_version());
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!kinds[i].is(root))
            continue;
        saved->kind = kinds[i].kind;
        return kinds[i].read(root, saved, error);
    }
    return gf_fail(error, GF_ERROR_INPUT,
                   "%s: is JSON, but no profile, comparison, lab or log of this program",
                   saved->name);
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
    else if (!status && !(status = gf_json_read(path, 1, text, size, &saved->tree, error)))
        status = read_kind(saved, error);
    free(text);
    if (status)
        gf_saved_free(saved);
    return status;
}

void gf_saved_free(struct gf_saved *saved)
{
    gf_profile_report_free(&saved->report);
    free(saved->span);
    saved->span = NULL;
    gf_comparison_free(&saved->comparison);
    gf_saved_free_labs(saved);
    gf_batch_report_free(&saved->batch);
    free(saved->own_name);
    for (int i = 0; i < saved->other_jobs; i++)
        gf_saved_free(&saved->other_job[i]);
    free(saved->other_job);
    saved->own_name = NULL;
    saved->other_job = NULL;
    saved->other_jobs = 0;
    free(saved->counters.kernel);
    saved->counters.kernel = NULL;
    gf_json_tree_free(&saved->tree);
}
