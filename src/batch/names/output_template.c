#include "batch/names/names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "codec/codec.h"
#include "codec/common/pyramid/pyramid.h"
#include "codec/io/input.h"

/* In the order of enum gf_template_field, beginning with GF_FIELD_DIR. */
const struct gf_key_help gf_template_fields[] = {
    {"{dir}", "the input's folder: below the searched one, or as it was named, without . and .."},
    {"{stem}", "the input's name without the extension"},
    {"{archive}", "the name of the input archive without the extension"},
    {"{ext}",
     "the input's extension, but jpg for HEIC and tif for camera raw; that of --format where "
     "it is given"},
    {"{n}, {n:4}", "its number in the whole list, from 1, with that many digits at least; for a "
                   "single input or an archive the number of the picture in it"},
    {"{w}", "the width of the result"},
    {"{h}", "the height of the result"},
    {0},
};

static enum gf_status add_part(struct gf_template *template, struct gf_template_part part,
                               struct gf_error *error)
{
    if (template->parts == GF_TEMPLATE_PARTS_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "%s: more than %d parts", template->option,
                       GF_TEMPLATE_PARTS_MAX);
    template->part[template->parts++] = part;
    template->has_number |= part.field == GF_FIELD_NUMBER;
    template->has_archive |= part.field == GF_FIELD_ARCHIVE;
    template->has_size |= part.field == GF_FIELD_WIDTH || part.field == GF_FIELD_HEIGHT;
    template->is_pattern |= part.field != GF_FIELD_TEXT;
    return GF_OK;
}

/* Reads a field from the text after its opening brace: "stem}..." or "n:4}...". */
static enum gf_status read_field(const char *option, const char *text,
                                 struct gf_template_part *part, struct gf_error *error)
{
    const size_t length = strcspn(text, "}"), name = strcspn(text, ":}");
    for (int i = 0; text[length] && gf_template_fields[i].path; i++) {
        const char *const field = gf_template_fields[i].path + 1;
        if (strncmp(field, text, name) || field[name] != '}')
            continue;
        *part = (struct gf_template_part){.field = (enum gf_template_field)(GF_FIELD_DIR + i)};
        if (name == length)
            return GF_OK;
        part->digits = isdigit((unsigned char)text[name + 1]) ? text[name + 1] - '0' : 0;
        if (part->field == GF_FIELD_NUMBER && part->digits && name + 2 == length)
            return GF_OK;
    }
    return gf_fail(
        error, GF_ERROR_USAGE,
        "%s: '{%.*s' is none of {dir}, {stem}, {archive}, {ext}, {n}, {n:1}..{n:9}, {w}, "
        "{h}; a brace itself is {{ or }}",
        option, (int)(length < 40 ? length + (text[length] == '}') : 40), text);
}

/* Reads the template's text up to the next field, and replaces doubled braces by single ones, in
 * place. */
static enum gf_status read_text(struct gf_template *template, const char **from,
                                struct gf_error *error)
{
    char *const begin = template->text + (*from - template->text), *to = begin;
    const char *at = *from;
    while (*at && (*at != '{' || at[1] == '{')) {
        at += (*at == '{' || *at == '}') && at[1] == *at;
        *to++ = *at++;
    }
    *from = at;
    return add_part(template,
                    (struct gf_template_part){
                        .field = GF_FIELD_TEXT, .text = begin, .length = (size_t)(to - begin)},
                    error);
}

static enum gf_status read_parts(struct gf_template *template, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (const char *at = template->text; !status && *at;) {
        if (*at == '{' && at[1] != '{') {
            struct gf_template_part part = {0};
            status = read_field(template->option, at + 1, &part, error);
            GF_THEN(status, add_part(template, part, error));
            at += strcspn(at, "}") + (strchr(at, '}') != NULL);
        } else {
            status = read_text(template, &at, error);
        }
    }
    return status;
}

/* Returns the extension of the pyramids that the options ask for. */
static const char *pyramid_extension(const struct gf_options *options)
{
    struct gf_pyramid_choice choice;
    if (gf_pyramid_choose(options, &choice, &(struct gf_error){0}) ||
        choice.layout <= GF_LAYOUT_ANY)
        return NULL;
    return choice.layout == GF_LAYOUT_DZ ? "dzi" : choice.layout >= GF_LAYOUT_COG ? "tif" : "";
}

bool gf_template_is_of_folders(const struct gf_template *template)
{
    return template->extension && !*template->extension && !gf_pyramid_in_zip(template->text);
}

/* Whether -o names the folder of outputs, which may themselves be folders. */
static bool is_folder(const char *path, bool several, bool of_folders)
{
    struct stat file;
    const char *const slash = strrchr(path, '/');
    if (slash && !slash[1])
        return true;
    if ((several || !of_folders) && !stat(path, &file))
        return S_ISDIR(file.st_mode);
    return several && strcmp(path, "-") && !strpbrk(slash ? slash : path, ".{}");
}

/* Whether the name may mean a folder: it is the name of one file without a known format, and only a
 * regular file of that name, or nothing, exists. */
static bool may_be_folder(const struct gf_template *template)
{
    struct stat file;
    return !template->is_stdout && !template->is_pattern &&
           !gf_pyramid_named(template->text, ".dzi") && !gf_pyramid_in_zip(template->text) &&
           gf_file_format_named(template->text) == GF_FILE_AUTO &&
           (stat(template->text, &file) || S_ISREG(file.st_mode));
}

/* Makes the template of -o FOLDER, which means FOLDER/{below}/{stem}.{ext}. */
static enum gf_status read_folder(struct gf_template *template, const char *folder,
                                  struct gf_error *error)
{
    static const enum gf_template_field rest[] = {GF_FIELD_TEXT, GF_FIELD_BELOW, GF_FIELD_TEXT,
                                                  GF_FIELD_STEM, GF_FIELD_TEXT,  GF_FIELD_EXT};
    static const char *const text[] = {"/", NULL, "/", NULL, ".", NULL};
    GF_TRY(add_part(template, (struct gf_template_part){.text = folder, .length = strlen(folder)},
                    error));
    const size_t count = sizeof rest / sizeof *rest - (gf_template_is_of_folders(template) ? 2 : 0);
    for (size_t i = 0; i < count; i++)
        GF_TRY(add_part(
            template,
            (struct gf_template_part){.field = rest[i], .text = text[i], .length = text[i] ? 1 : 0},
            error));
    return GF_OK;
}

enum gf_status gf_template_parse(const char *output, const struct gf_options *options, bool several,
                                 struct gf_template *template, struct gf_error *error)
{
    *template = (struct gf_template){.text = strdup(output),
                                     .option = "--output",
                                     .given = output,
                                     .is_stdout = !strcmp(output, "-"),
                                     .format = options->format,
                                     .extension = pyramid_extension(options)};
    GF_ALLOCATED(template->text, error);
    gf_url_hide(template->text);
    const bool folder = is_folder(template->text, several, gf_template_is_of_folders(template));
    enum gf_status status =
        folder ? read_folder(template, template->text, error) : read_parts(template, error);
    for (int i = 0; !status && gf_template_is_of_folders(template) && i < template->parts; i++) {
        if (template->part[i].field == GF_FIELD_EXT)
            status = gf_fail(error, GF_ERROR_USAGE,
                             "%s: folders of tiles have no {ext}; {stem} names them", output);
    }
    if (!status && several && !folder && may_be_folder(template))
        status = gf_output_check_foreign(output, error)
                     ? GF_ERROR_USAGE
                     : gf_fail(error, GF_ERROR_USAGE,
                               "%s: the extension says no format; a folder ends in / or is there",
                               output);
    if (status)
        gf_template_free(template);
    return status;
}

enum gf_status gf_template_of_archive(const char *output, enum gf_file_format format,
                                      struct gf_template *template, struct gf_error *error)
{
    *template = (struct gf_template){.text = strdup(output),
                                     .given = gf_archive_path(output),
                                     .is_archive = true,
                                     .option = "--output",
                                     .format = format};
    GF_ALLOCATED(template->text, error);
    gf_url_hide((char *)gf_archive_path(template->text));
    template->of_archives = strpbrk(template->text, "{}");
    enum gf_status status = template->of_archives
                                ? read_parts(template, error)
                                : read_folder(template, gf_archive_path(template->text), error);
    for (int i = 0; !status && template->of_archives && i < template->parts; i++) {
        const enum gf_template_field field = template->part[i].field;
        if (field == GF_FIELD_EXT || field == GF_FIELD_WIDTH || field == GF_FIELD_HEIGHT)
            status = gf_fail(error, GF_ERROR_USAGE,
                             "%s: the name of an archive has {dir}, {stem}, {archive} and {n} only",
                             output);
    }
    if (status)
        gf_template_free(template);
    return status;
}

enum gf_status gf_template_of_text(const char *text, const char *option,
                                   struct gf_template *template, struct gf_error *error)
{
    *template = (struct gf_template){.text = strdup(text), .option = option};
    GF_ALLOCATED(template->text, error);
    const enum gf_status status = read_parts(template, error);
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
    const struct gf_template_part *const first = &template->part[0];
    if (!template->parts || first->field != GF_FIELD_TEXT || template->is_stdout)
        return strdup("");
    size_t length = first->length;
    while (length && first->text[length - 1] != '/')
        length--;
    /* The first part of a folder's template is the folder's name, without a slash. */
    if (template->parts > 1 && template->part[1].field == GF_FIELD_TEXT)
        length = first->length;
    return strndup(first->text, length);
}

/* Appends the folders of `path` without "." and "..", which would lead out of the output's folder.
 * At the start of a name the folders may begin with a URL's scheme, which is kept. */
static void put_folders(FILE *file, const char *path, size_t length)
{
    const size_t scheme = ftell(file) ? 0 : gf_url_scheme(path);
    bool first = true;
    fwrite(path, 1, scheme, file);
    for (size_t at = scheme; at < length;) {
        const size_t name =
            strcspn(path + at, "/") < length - at ? strcspn(path + at, "/") : length - at;
        const bool dots =
            (name == 1 && path[at] == '.') || (name == 2 && !strncmp(path + at, "..", 2));
        if (name && !dots) {
            fprintf(file, "%s%.*s", first ? "" : "/", (int)name, path + at);
            first = false;
        }
        at += name + 1;
    }
}

static void put_extension(FILE *file, const struct gf_template *template,
                          const struct gf_template_values *values)
{
    const enum gf_file_format named = gf_file_format_named(values->input->path);
    const char *const dot = strrchr(values->input->path, '.');
    if (template->extension)
        fputs(template->extension, file);
    else if (template->format != GF_FILE_AUTO)
        fputs(gf_file_format_extension(template->format), file);
    else if (gf_file_format_keeps_extension(values->input->path))
        fputs(dot + 1, file);
    else
        fputs(gf_file_format_extension(named != GF_FILE_AUTO ? named : values->content), file);
}

/* Appends the stem. A stem of dots alone becomes underscores: "...png" must not lead out of the
 * output's folder. */
static void put_stem(FILE *file, const char *stem, size_t length)
{
    const bool dots = strspn(stem, ".") >= length;
    for (size_t i = 0; i < length; i++)
        putc(dots ? '_' : stem[i], file);
}

static const char *basename_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_part(FILE *file, const struct gf_template *template,
                     const struct gf_template_part *part, const struct gf_template_values *values)
{
    const char *const given = gf_archive_path(values->input->path);
    const char *const path = strcmp(given, "-") ? given : "stdin";
    const char *const archive = values->input->archive;
    /* input->below is an offset in the name as given, which may begin with "tar:"; here it counts
     * from behind that. */
    const size_t prefix = (size_t)(given - values->input->path);
    const size_t below = values->input->below > prefix ? values->input->below - prefix : 0;
    const char *name = basename_of(path);
    struct gf_pages pages;
    /* Of "a.gif[2..5]" only "a.gif" counts. */
    const size_t plain = gf_input_split_pages(path, &pages);
    const char *const end = plain ? path + plain : name + strlen(name), *const last = memrchr(
                                                                            name, '.',
                                                                            (size_t)(end - name));
    const char *dot = last && last != name ? last : end;
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
        if (template->of_archives)
            dot = name + gf_archive_stem(name);
        put_stem(file, name, (size_t)(dot - name));
        break;
    case GF_FIELD_ARCHIVE:
        name = archive ? basename_of(archive) : name;
        put_stem(file, name, gf_archive_stem(name));
        break;
    case GF_FIELD_EXT:
        put_extension(file, template, values);
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

/* Replaces double slashes, which empty fields leave, by single ones, except in a URL's scheme. */
static void squeeze_slashes(char *path)
{
    char *to = path + (gf_archive_path(path) - path);
    to += gf_url_scheme(to);
    for (const char *from = to; *from; from++) {
        if (from[0] != '/' || from[1] != '/')
            *to++ = *from;
    }
    *to = '\0';
}

/* Replaces the name "-", as the stem of "-.png" gives, by "./-", which does not mean standard
 * output. */
static enum gf_status tell_from_stdout(char **path, struct gf_error *error)
{
    char *const name = *path;
    if (strcmp(name, "-"))
        return GF_OK;
    *path = strdup("./-");
    free(name);
    return *path ? GF_OK : gf_fail_memory(error);
}

enum gf_status gf_template_expand(const struct gf_template *template,
                                  const struct gf_template_values *values, char **path,
                                  struct gf_error *error)
{
    size_t size = 0;
    *path = NULL;
    FILE *const file = open_memstream(path, &size);
    GF_ALLOCATED(file, error);
    for (int i = 0; i < template->parts; i++)
        put_part(file, template, &template->part[i], values);
    /* A stream whose buffer cannot be allocated may close without an error, and leave no text. */
    if (fclose(file) || !*path) {
        free(*path);
        *path = NULL;
        return gf_fail_memory(error);
    }
    /* If {dir} in "{dir}/{stem}" is empty, the slash is removed: it does not mean the root
     * folder. */
    const bool rooted = template->part[0].field == GF_FIELD_TEXT;
    if (template->is_pattern) {
        squeeze_slashes(*path);
        if (!rooted && **path == '/')
            memmove(*path, *path + 1, strlen(*path));
    }
    return template->is_pattern ? tell_from_stdout(path, error) : GF_OK;
}

enum gf_status gf_template_check_place(const struct gf_template *template, struct gf_error *error)
{
    const char *const text = template->text, *const field = strchr(text, '{');
    const size_t before = template->is_pattern && field ? (size_t)(field - text) : strlen(text);
    char *const place = strndup(text, before);
    char *const slash = place && field ? strrchr(place, '/') : NULL;
    struct stat file;
    enum gf_status status = place ? GF_OK : gf_fail_memory(error);
    if (slash)
        slash[1] = '\0';
    if (!status && gf_url_scheme(gf_archive_path(text)))
        status =
            gf_fail(error, GF_ERROR_USAGE, "%.200s: is a URL, which --store=COMMAND writes", text);
    else if (!status && (slash || !field) && lstat(place, &file) &&
             gf_status_of_name(GF_ERROR_USAGE, GF_OK))
        status = gf_fail(error, GF_ERROR_USAGE, "%.300s: %s", text, strerror(errno));
    free(place);
    return status;
}

enum gf_status gf_make_folders_of(const char *path, struct gf_error *error)
{
    char *const folder = strdup(path);
    char *const end = folder ? strrchr(folder, '/') : NULL;
    enum gf_status status = GF_OK;
    GF_ALLOCATED(folder, error);
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
                status = gf_fail(error, gf_status_of_name(GF_ERROR_UNFIT, GF_ERROR_OUTPUT),
                                 "%s: %s", folder, strerror(errno));
            if (at)
                *at++ = '/';
        }
    }
    free(folder);
    return status;
}

enum gf_status gf_refuse_links(const struct gf_template *template, const char *path,
                               struct gf_error *error)
{
    char *const folder = gf_template_folder(template), *const at = strdup(path);
    enum gf_status status = folder && at ? GF_OK : gf_fail_memory(error);
    const char *const given = status ? "" : gf_archive_path(folder);
    const size_t length = strlen(given);
    struct stat file;
    for (char *end = status || strncmp(path, given, length) ? at : at + length; !status && end;) {
        end = strchr(end + (*end == '/'), '/');
        if (end)
            *end = '\0';
        if (!lstat(at, &file) && S_ISLNK(file.st_mode))
            status = gf_fail(error, GF_ERROR_UNFIT,
                             "%s: is a link, which is not followed (--untrusted)", at);
        if (end)
            *end = '/';
    }
    free(folder);
    free(at);
    return status;
}
