/* Finds outputs that would overwrite each other or an input, even if their names differ: either
 * before the run, or while the run claims names. */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "batch/names/names.h"
#include "codec/common/pyramid/pyramid.h"
#include "codec/io/input.h"
#include "codec/io/output.h"

/* The folder that was resolved last, and its real path. It is kept since names in one folder
 * usually follow one another. */
struct folder_memo {
    char *given, *real;
};

/* Returns the real path of a folder whose last parts need not exist. */
static char *real_folder(const char *folder)
{
    char *const real = realpath(*folder ? folder : ".", NULL);
    if (real)
        return real;
    char *const parent = strdup(folder);
    char *result = NULL;
    if (!parent)
        return NULL;
    size_t end = strlen(parent);
    while (end && parent[end - 1] == '/')
        parent[--end] = '\0';
    char *const slash = strrchr(parent, '/');
    const char *const name = slash ? slash + 1 : parent;
    char *const above = slash == parent ? strdup("/")
                        : slash         ? strndup(parent, (size_t)(slash - parent))
                                        : strdup("");
    char *const base = above && *parent ? real_folder(above) : NULL;
    if (base && asprintf(&result, "%s/%s", strcmp(base, "/") ? base : "", name) < 0)
        result = NULL;
    free(base);
    free(above);
    free(parent);
    return result;
}

/* Returns the real path, from malloc(), of a file that need not exist. */
static char *real_name(struct folder_memo *memo, const char *path)
{
    const char *const slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (!memo->given || strncmp(memo->given, path, length) || memo->given[length]) {
        free(memo->given);
        free(memo->real);
        memo->given = strndup(path, length);
        memo->real = memo->given ? real_folder(memo->given) : NULL;
    }
    char *result = NULL;
    return !memo->real || asprintf(&result, "%s/%s", memo->real, path + length) < 0 ? NULL : result;
}

/* Returns the real path of a file after following links as the output does. */
static char *real_path(struct folder_memo *memo, const char *path)
{
    struct stat file;
    if (lstat(path, &file) || !S_ISLNK(file.st_mode))
        return real_name(memo, path);
    char *const behind = gf_output_resolve(path);
    char *const real = behind ? real_name(memo, behind) : NULL;
    free(behind);
    return real;
}

/* Returns the real path of a file, or of an output's folder of tiles, with a slash behind it: what
 * lies in an output's folder begins so. */
static char *real_place(struct folder_memo *memo, const char *path)
{
    char *const real = real_path(memo, path);
    char *const folder = real && gf_pyramid_named(path, ".dzi") ? gf_pyramid_folder(real) : NULL;
    char *place = NULL;
    if (real && asprintf(&place, "%s/", folder ? folder : real) < 0)
        place = NULL;
    free(folder);
    free(real);
    return place;
}

/* Does so for an input, whose name may end with pages. */
static char *real_input(struct folder_memo *memo, const char *path)
{
    struct gf_pages pages;
    const size_t length = gf_input_split_pages(path, &pages);
    char *const plain = length ? strndup(path, length) : NULL;
    char *const place = real_place(memo, plain ? plain : path);
    free(plain);
    return place;
}

/* Whether what lies at the place `at` is replaced with the output at `place`. */
static bool holds(const char *place, const char *at)
{
    return !strncmp(place, at, strlen(place));
}

static void free_memo(struct folder_memo *memo)
{
    free(memo->given);
    free(memo->real);
}

static bool is_link(const char *path)
{
    struct stat file;
    return !lstat(path, &file) && S_ISLNK(file.st_mode);
}

bool gf_output_is_place(const char *file, const char *output)
{
    const char *const a = strrchr(file, '/'), *const b = strrchr(output, '/');
    struct folder_memo memo = {0};
    if (strcmp(a ? a + 1 : file, b ? b + 1 : output) != 0 && !is_link(file) && !is_link(output))
        return false;
    char *const real = real_path(&memo, file), *const other = real_path(&memo, output);
    const bool is = real && other && !strcmp(real, other) && strcmp(file, "-") != 0;
    free(real);
    free(other);
    free_memo(&memo);
    return is;
}

bool gf_output_replaces(const char *output, const char *input)
{
    struct folder_memo memo = {0};
    struct stat file;
    if (gf_input_is_file(input, output))
        return true;
    if (!gf_pyramid_named(output, ".dzi") && (stat(output, &file) || !S_ISDIR(file.st_mode)))
        return false;
    char *const place = real_place(&memo, output), *const at = real_input(&memo, input);
    const bool does = place && at && holds(place, at);
    free(place);
    free(at);
    free_memo(&memo);
    return does;
}

bool gf_outputs_overlap(const char *output, const char *other)
{
    struct folder_memo memo = {0};
    char *const place = real_place(&memo, output), *const at = real_place(&memo, other);
    const bool to_stdout = !strcmp(output, "-") || !strcmp(other, "-");
    const bool overlap = place && at && !to_stdout && (holds(place, at) || holds(at, place));
    free(place);
    free(at);
    free_memo(&memo);
    return overlap;
}

struct target {
    char *path;
    size_t index; /* the index of the input */
    int number;   /* the number of the output among the outputs of the input */
};

static int compare_targets(const void *a, const void *b)
{
    const struct target *const x = a, *const y = b;
    const int order = strcmp(x->path, y->path);
    if (order || x->index != y->index)
        return order ? order : (x->index > y->index) - (x->index < y->index);
    return (x->number > y->number) - (x->number < y->number);
}

static void free_targets(struct target *target, size_t count)
{
    for (size_t i = 0; target && i < count; i++)
        free(target[i].path);
    free(target);
}

/* Returns the real paths of the outputs, sorted; *count is their number, without those that cannot
 * be resolved. */
static struct target *sorted_targets(const struct gf_inputs *inputs, char *const *path, int outputs,
                                     size_t *count)
{
    const size_t each = (size_t)outputs;
    struct target *const target = calloc(inputs->count * each + 1, sizeof *target);
    struct folder_memo memo = {0};
    *count = 0;
    /* In this order names in one folder follow one another. */
    for (size_t k = 0; target && k < each; k++) {
        for (size_t i = 0; i < inputs->count; i++) {
            const char *const name = path ? path[i * each + k] : inputs->item[i].path;
            if (!name || !strcmp(name, "-"))
                continue;
            char *const real = (path ? real_place : real_input)(&memo, name);
            if (!real)
                continue; /* an error appears when the file is opened */
            target[(*count)++] = (struct target){.path = real, .index = i, .number = (int)k};
        }
    }
    free_memo(&memo);
    if (target)
        qsort(target, *count, sizeof *target, compare_targets);
    return target;
}

static enum gf_status check_outputs(const struct gf_inputs *inputs, char *const *path, int outputs,
                                    const struct target *output, size_t count,
                                    struct gf_error *error)
{
    for (size_t i = 1; i < count; i++) {
        const size_t a = output[i - 1].index, b = output[i].index;
        const char *const given = path[a * (size_t)outputs + (size_t)output[i - 1].number],
                          *const other = path[b * (size_t)outputs + (size_t)output[i].number],
                          *const name = gf_pyramid_named(given, ".dzi") && strcmp(given, other)
                                            ? output[i - 1].path /* the folder that both have */
                                            : given;
        if (!holds(output[i - 1].path, output[i].path))
            continue;
        if (a == b)
            return gf_fail(error, GF_ERROR_USAGE,
                           "two outputs of '%.120s' would both be written to '%.120s'",
                           inputs->item[a].path, name);
        return gf_fail(error, GF_ERROR_USAGE,
                       "'%.120s' and '%.120s' would both be written to '%.120s'; " GF_OUTPUTS_APART,
                       inputs->item[a].path, inputs->item[b].path, name);
    }
    return GF_OK;
}

/* Fails if an output is another input; if `own` is set, also if an output is its own input. Both
 * arrays are sorted. `single`: each input has one output. */
static enum gf_status check_inputs(const struct gf_inputs *inputs, const struct target *output,
                                   size_t outputs, const struct target *input, size_t count,
                                   bool own, bool single, struct gf_error *error)
{
    for (size_t i = 0, k = 0; i < outputs; i++) {
        while (k < count && strcmp(input[k].path, output[i].path) < 0)
            k++;
        while (!own && k + 1 < count && input[k].index == output[i].index &&
               holds(output[i].path, input[k + 1].path))
            k++;
        if (k < count && holds(output[i].path, input[k].path) &&
            (own || input[k].index != output[i].index))
            return input[k].index == output[i].index && single
                       ? gf_fail(error, GF_ERROR_USAGE,
                                 "%.200s: its output would replace it: --in-place allows that, "
                                 "-o with another folder keeps it",
                                 inputs->item[input[k].index].path)
                       : gf_fail(error, GF_ERROR_USAGE,
                                 "the output of '%.120s' would be written over the input '%.120s'",
                                 inputs->item[output[i].index].path,
                                 inputs->item[input[k].index].path);
    }
    return GF_OK;
}

enum gf_status gf_outputs_check(const struct gf_inputs *inputs, char *const *path, int each,
                                bool own, struct gf_error *error)
{
    size_t outputs, count = 0;
    struct target *const output = sorted_targets(inputs, path, each, &outputs);
    struct target *const input = sorted_targets(inputs, NULL, 1, &count);
    enum gf_status status = output && input ? GF_OK : gf_fail_memory(error);
    GF_THEN(status, check_outputs(inputs, path, each, output, outputs, error));
    GF_THEN(status, check_inputs(inputs, output, outputs, input, count, own, each == 1, error));
    free_targets(output, outputs);
    free_targets(input, count);
    return status;
}

struct claim {
    size_t index;
    char *output, *input;
};

/* Passes over slashes and folders "." at the beginning of a part of a path. */
static const char *next_part(const char *at)
{
    while (*at == '/' || (*at == '.' && at[1] == '/'))
        at++;
    return at;
}

/* Compares two names, of which "a/./b" and "a//b" are one. */
static int compare_names(const char *a, const char *b)
{
    a = *a == '/' ? a : next_part(a);
    b = *b == '/' ? b : next_part(b);
    while (*a && *a == *b) {
        const bool ends = *a == '/';
        a = ends ? next_part(a) : a + 1;
        b = ends ? next_part(b) : b + 1;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static int compare(const void *a, const void *b)
{
    return compare_names(((const struct claim *)a)->output, ((const struct claim *)b)->output);
}

static void free_claim(void *claim)
{
    struct claim *const it = claim;
    if (!it)
        return;
    free(it->output);
    free(it->input);
    free(it);
}

static struct claim *new_claim(const char *output, const char *input, size_t index)
{
    struct claim *const claim = calloc(1, sizeof *claim);
    if (!claim)
        return NULL;
    *claim = (struct claim){index, strdup(output), strdup(input)};
    if (claim->output && claim->input)
        return claim;
    free_claim(claim);
    return NULL;
}

bool gf_claim(struct gf_claims *claims, const char *output, const char *input, size_t index,
              bool repeats, char **why)
{
    struct claim *const wanted = new_claim(output, input, index);
    struct claim *const *const found = wanted ? tsearch(wanted, &claims->tree, compare) : NULL;
    *why = NULL;
    if (found && *found == wanted)
        return true;
    const bool own =
        found && ((*found)->index == index || repeats) && !compare_names((*found)->input, input);
    const bool told = !found || own ||
                      asprintf(why, "%s: '%s' and '%s' would both be written to it", output,
                               (*found)->input, input) >= 0;
    free_claim(wanted);
    return found && told;
}

void gf_claims_free(struct gf_claims *claims)
{
    tdestroy(claims->tree, free_claim);
    claims->tree = NULL;
}
