#include "target.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "codec.h"

static enum gf_status fail_memory(struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}

/* ---- templates ---- */

static const struct {
    const char *name;
    enum gf_target_field field;
} fields[] = {
    {"dir", GF_FIELD_DIR},  {"stem", GF_FIELD_STEM}, {"ext", GF_FIELD_EXT},
    {"n", GF_FIELD_NUMBER}, {"w", GF_FIELD_WIDTH},   {"h", GF_FIELD_HEIGHT},
};

static enum gf_status add_part(struct gf_template *template, struct gf_target_part part, struct gf_error *error)
{
    if (template->parts == GF_TARGET_PARTS_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "--output: more than %d parts", GF_TARGET_PARTS_MAX);
    template->part[template->parts++] = part;
    template->has_number |= part.field == GF_FIELD_NUMBER;
    template->has_size |= part.field == GF_FIELD_WIDTH || part.field == GF_FIELD_HEIGHT;
    template->is_pattern |= part.field != GF_FIELD_TEXT;
    return GF_OK;
}

/* "stem}..." or "n:4}...", behind the brace. */
static enum gf_status read_field(const char *text, struct gf_target_part *part, struct gf_error *error)
{
    const size_t length = strcspn(text, "}"), name = strcspn(text, ":}");
    for (size_t i = 0; text[length] && i < sizeof fields / sizeof *fields; i++) {
        if (strncmp(fields[i].name, text, name) || fields[i].name[name])
            continue;
        *part = (struct gf_target_part){.field = fields[i].field};
        if (name == length)
            return GF_OK;
        part->digits = isdigit((unsigned char)text[name + 1]) ? text[name + 1] - '0' : 0;
        if (part->field == GF_FIELD_NUMBER && part->digits && name + 2 == length)
            return GF_OK;
    }
    return gf_fail(error, GF_ERROR_USAGE,
                   "--output: '{%.*s' is none of {dir}, {stem}, {ext}, {n}, {n:1}..{n:9}, {w}, {h}; a brace "
                   "itself is {{ or }}",
                   (int)(length < 40 ? length + (text[length] == '}') : 40), text);
}

/* Text up to a field; the braces that stand for themselves are made single in place. */
static enum gf_status read_text(struct gf_template *template, const char **from, struct gf_error *error)
{
    char *const begin = template->text + (*from - template->text), *to = begin;
    const char *at = *from;
    while (*at && (*at != '{' || at[1] == '{')) {
        at += (*at == '{' || *at == '}') && at[1] == *at;
        *to++ = *at++;
    }
    *from = at;
    return add_part(template,
                    (struct gf_target_part){
                        .field = GF_FIELD_TEXT, .text = begin, .length = (size_t)(to - begin)},
                    error);
}

static enum gf_status read_parts(struct gf_template *template, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (const char *at = template->text; !status && *at;) {
        if (*at == '{' && at[1] != '{') {
            struct gf_target_part part = {0};
            status = read_field(at + 1, &part, error);
            if (!status)
                status = add_part(template, part, error);
            at += strcspn(at, "}") + (strchr(at, '}') != NULL);
        } else {
            status = read_text(template, &at, error);
        }
    }
    return status;
}

static bool is_folder(const char *path, bool several)
{
    struct stat file;
    const char *const slash = strrchr(path, '/');
    if (slash && !slash[1])
        return true;
    if (!stat(path, &file))
        return S_ISDIR(file.st_mode);
    return several && strcmp(path, "-") && !strpbrk(slash ? slash : path, ".{}");
}

/* FOLDER is FOLDER/{below}/{stem}.{ext}. */
static enum gf_status read_folder(struct gf_template *template, struct gf_error *error)
{
    static const enum gf_target_field rest[] = {GF_FIELD_TEXT, GF_FIELD_BELOW, GF_FIELD_TEXT,
                                                GF_FIELD_STEM, GF_FIELD_TEXT,  GF_FIELD_EXT};
    static const char *const text[] = {"/", NULL, "/", NULL, ".", NULL};
    enum gf_status status = add_part(
        template, (struct gf_target_part){.text = template->text, .length = strlen(template->text)}, error);
    for (size_t i = 0; !status && i < sizeof rest / sizeof *rest; i++)
        status = add_part(template,
                          (struct gf_target_part){.field = rest[i], .text = text[i], .length = text[i] ? 1 : 0},
                          error);
    return status;
}

enum gf_status gf_template_parse(const char *output, enum gf_file_format format, bool several,
                                 struct gf_template *template, struct gf_error *error)
{
    *template = (struct gf_template){
        .text = strdup(output), .is_stdout = !strcmp(output, "-"), .format = format};
    if (!template->text)
        return fail_memory(error);
    const enum gf_status status =
        is_folder(output, several) ? read_folder(template, error) : read_parts(template, error);
    if (status)
        gf_template_free(template);
    return status;
}

void gf_template_free(struct gf_template *template)
{
    free(template->text);
    *template = (struct gf_template){0};
}

char *gf_template_folder(const struct gf_template *template)
{
    const struct gf_target_part *const first = &template->part[0];
    if (!template->parts || first->field != GF_FIELD_TEXT || template->is_stdout)
        return strdup("");
    size_t length = first->length;
    while (length && first->text[length - 1] != '/')
        length--;
    /* Of a folder the first part is its name, without a slash. */
    if (template->parts > 1 && template->part[1].field == GF_FIELD_TEXT)
        length = first->length;
    return strndup(first->text, length);
}

/* ---- expansion ---- */

/* Appends the folders of `path` without "." and "..", which would lead out of where outputs belong. */
static void put_folders(FILE *file, const char *path, size_t length)
{
    bool first = true;
    for (size_t at = 0; at < length;) {
        const size_t name = strcspn(path + at, "/") < length - at ? strcspn(path + at, "/") : length - at;
        const bool dots = (name == 1 && path[at] == '.') || (name == 2 && !strncmp(path + at, "..", 2));
        if (name && !dots) {
            fprintf(file, "%s%.*s", first ? "" : "/", (int)name, path + at);
            first = false;
        }
        at += name + 1;
    }
}

static void put_extension(FILE *file, const struct gf_template *template, const struct gf_target_values *values,
                          const char *dot)
{
    const enum gf_file_format named = gf_file_format_named(values->input->path);
    if (template->format != GF_FILE_AUTO)
        fputs(gf_file_format_extension(template->format), file);
    else if (named != GF_FILE_AUTO && strcasecmp(dot, ".pbm"))
        fputs(dot + 1, file);
    else
        fputs(gf_file_format_extension(named != GF_FILE_AUTO ? named : values->content), file);
}

static void put_part(FILE *file, const struct gf_template *template, const struct gf_target_part *part,
                     const struct gf_target_values *values)
{
    const char *const path = strcmp(values->input->path, "-") ? values->input->path : "stdin";
    const size_t below = values->input->below;
    const char *const slash = strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    const char *const last = strrchr(name, '.');
    const char *const dot = last && last != name ? last : name + strlen(name);
    const size_t folder = (size_t)(name - path);
    switch (part->field) {
    case GF_FIELD_TEXT:
        fwrite(part->text, 1, part->length, file);
        break;
    case GF_FIELD_DIR:
    case GF_FIELD_BELOW:
        if (part->field == GF_FIELD_DIR || values->input->below)
            put_folders(file, path + below, folder - below);
        break;
    case GF_FIELD_STEM:
        fwrite(name, 1, (size_t)(dot - name), file);
        break;
    case GF_FIELD_EXT:
        put_extension(file, template, values, dot);
        break;
    case GF_FIELD_NUMBER:
        fprintf(file, "%0*zu", part->digits, values->number);
        break;
    case GF_FIELD_WIDTH:
        fprintf(file, "%d", values->width);
        break;
    case GF_FIELD_HEIGHT:
        fprintf(file, "%d", values->height);
        break;
    }
}

/* A field that is empty leaves two slashes. */
static void squeeze_slashes(char *path)
{
    char *to = path;
    for (const char *from = path; *from; from++) {
        if (from[0] != '/' || from[1] != '/')
            *to++ = *from;
    }
    *to = '\0';
}

enum gf_status gf_template_expand(const struct gf_template *template, const struct gf_target_values *values,
                                  char **path, struct gf_error *error)
{
    size_t size = 0;
    *path = NULL;
    FILE *const file = open_memstream(path, &size);
    if (!file)
        return fail_memory(error);
    for (int i = 0; i < template->parts; i++)
        put_part(file, template, &template->part[i], values);
    if (fclose(file)) {
        free(*path);
        return fail_memory(error);
    }
    /* "{dir}/{stem}" of a file in the working folder does not mean the root. */
    const bool rooted = template->part[0].field == GF_FIELD_TEXT;
    if (template->is_pattern) {
        squeeze_slashes(*path);
        if (!rooted && **path == '/')
            memmove(*path, *path + 1, strlen(*path));
    }
    return GF_OK;
}

/* ---- folders ---- */

enum gf_status gf_target_make_folders(const char *path, struct gf_error *error)
{
    char *const folder = strdup(path);
    char *const end = folder ? strrchr(folder, '/') : NULL;
    enum gf_status status = GF_OK;
    if (!folder)
        return fail_memory(error);
    struct stat file;
    if (end && end != folder) {
        *end = '\0';
        bool made = !stat(folder, &file);
        for (char *at = folder + 1; !status && !made;) {
            at = strchr(at, '/');
            made = !at;
            if (at)
                *at = '\0';
            if (mkdir(folder, 0777) && errno != EEXIST)
                status = gf_fail(error, GF_ERROR_OUTPUT, "%s: %s", folder, strerror(errno));
            if (at)
                *at++ = '/';
        }
    }
    free(folder);
    return status;
}

/* ---- the same file ---- */

/* The folder's real path, of the last one asked for: names come folder by folder. */
struct folder_memo {
    char *given, *real;
};

/* The real path of a folder that may not be there yet: of its part that is, with the rest as it stands. */
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
    char *const above = slash == parent ? strdup("/") : slash ? strndup(parent, (size_t)(slash - parent)) : strdup("");
    char *const base = above && *parent ? real_folder(above) : NULL;
    if (base && asprintf(&result, "%s/%s", strcmp(base, "/") ? base : "", name) < 0)
        result = NULL;
    free(base);
    free(above);
    free(parent);
    return result;
}

/* Links followed; malloc. */
static char *real_path(struct folder_memo *memo, const char *path)
{
    struct stat file;
    const char *const slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (!lstat(path, &file) && S_ISLNK(file.st_mode)) {
        char *const real = realpath(path, NULL);
        if (real)
            return real;
    }
    if (!memo->given || strncmp(memo->given, path, length) || memo->given[length]) {
        free(memo->given);
        free(memo->real);
        memo->given = strndup(path, length);
        memo->real = memo->given ? real_folder(memo->given) : NULL;
    }
    char *result = NULL;
    if (!memo->real || asprintf(&result, "%s/%s", memo->real, path + length) < 0)
        return NULL;
    return result;
}

static void forget(struct folder_memo *memo)
{
    free(memo->given);
    free(memo->real);
}

bool gf_target_is_input(const char *output, const char *input)
{
    struct folder_memo memo = {0};
    char *const a = real_path(&memo, output), *const b = real_path(&memo, input);
    const bool same = a && b && !strcmp(a, b);
    free(a);
    free(b);
    forget(&memo);
    return same;
}

struct place {
    char *path;
    size_t index;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *const x = a, *const y = b;
    const int order = strcmp(x->path, y->path);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static void free_places(struct place *place, size_t count)
{
    for (size_t i = 0; place && i < count; i++)
        free(place[i].path);
    free(place);
}

/* The real paths, sorted; *count leaves out what has none. */
static struct place *sorted_places(const struct gf_inputs *inputs, char *const *path, size_t *count)
{
    struct place *const place = calloc(inputs->count + 1, sizeof *place);
    struct folder_memo memo = {0};
    *count = 0;
    for (size_t i = 0; place && i < inputs->count; i++) {
        const char *const name = path ? path[i] : inputs->item[i].path;
        if (!name || !strcmp(name, "-"))
            continue;
        char *const real = real_path(&memo, name);
        if (!real)
            continue; /* what is wrong with it shows when it is opened */
        place[(*count)++] = (struct place){.path = real, .index = i};
    }
    forget(&memo);
    if (place)
        qsort(place, *count, sizeof *place, compare_places);
    return place;
}

static enum gf_status check_twins(const struct gf_inputs *inputs, char *const *path, const struct place *output,
                                  size_t count, struct gf_error *error)
{
    for (size_t i = 1; i < count; i++) {
        const size_t a = output[i - 1].index, b = output[i].index;
        if (!strcmp(output[i - 1].path, output[i].path))
            return gf_fail(error, GF_ERROR_USAGE,
                           "'%.120s' and '%.120s' would both be written to '%.120s'; {dir}, {stem}, {ext} and "
                           "{n} in -o tell outputs apart",
                           inputs->item[a].path, inputs->item[b].path, path[a]);
    }
    return GF_OK;
}

static enum gf_status check_inputs(const struct gf_inputs *inputs, const struct place *output, size_t outputs,
                                   const struct place *input, size_t count, struct gf_error *error)
{
    for (size_t i = 0, k = 0; i < outputs; i++) {
        while (k < count && strcmp(input[k].path, output[i].path) < 0)
            k++;
        if (k < count && !strcmp(input[k].path, output[i].path) && input[k].index != output[i].index)
            return gf_fail(error, GF_ERROR_USAGE, "the output of '%.120s' would be written over the input '%.120s'",
                           inputs->item[output[i].index].path, inputs->item[input[k].index].path);
    }
    return GF_OK;
}

enum gf_status gf_targets_check(const struct gf_inputs *inputs, char *const *path, struct gf_error *error)
{
    size_t outputs, count = 0;
    struct place *const output = sorted_places(inputs, path, &outputs);
    struct place *const input = sorted_places(inputs, NULL, &count);
    enum gf_status status = output && input ? GF_OK : fail_memory(error);
    if (!status)
        status = check_twins(inputs, path, output, outputs, error);
    if (!status)
        status = check_inputs(inputs, output, outputs, input, count, error);
    free_places(output, outputs);
    free_places(input, count);
    return status;
}
