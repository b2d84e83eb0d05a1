/* Chains that a program writes filter by filter, and chains in files. */
#include "chain/chain.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/process/files.h"
#include "base/text/plain_text.h"
#include "chain/params.h"
#include "gpufilter/chain.h"
#include "stage/filter.h"

/* Writes the shortest decimal number that is read as this one, with a point in every locale. */
static void put_number(FILE *file, double number)
{
    char text[40];
    double again = 0;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        char *const point = text + strspn(text, "+-0123456789");
        if (isfinite(number) && *point && *point != 'e')
            *point = '.';
        if (gf_value_whole_number(text, &again) && again == number)
            break;
    }
    fputs(text, file);
}

static void put_quoted(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', file);
        putc(*text, file);
    }
    putc('"', file);
}

static enum gf_status put_arguments(FILE *file, const struct gf_argument *arguments, size_t count,
                                    struct gf_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *const name = arguments[i].name;
        if (!name || !*name || name[strcspn(name, "=:,'\"\\ ")])
            return gf_fail(error, GF_ERROR_USAGE, "gf_chain_add: argument %zu has no name", i);
        if (arguments[i].is_text && !arguments[i].text)
            return gf_fail(error, GF_ERROR_USAGE, "gf_chain_add: the text of %.60s is NULL", name);
        fprintf(file, "%c%s=", i ? ':' : '=', name);
        if (arguments[i].is_text)
            put_quoted(file, arguments[i].text);
        else
            put_number(file, arguments[i].number);
    }
    return GF_OK;
}

/* Checks a filter's parameters "=name=value:...", without keeping their values. */
static enum gf_status check_arguments(const struct gf_filter *filter, const char *text,
                                      struct gf_error *error)
{
    void *const params = calloc(1, filter->params_size + 1);
    struct gf_common_params common = {.variant = NULL};
    GF_ALLOCATED(params, error);
    enum gf_status status = gf_params_parse(filter, &text, params, &common, error);
    if (!status && *text)
        status = gf_fail(error, GF_ERROR_USAGE, "%s: an argument is too long", filter->name);
    free(params);
    return status;
}

/* Returns a new text: the chain, followed by the filter with its arguments; NULL when out of
 * memory. */
static char *longer_chain(const char *chain, const char *filter, const char *arguments)
{
    const size_t size = (chain ? strlen(chain) : 0) + strlen(filter) + strlen(arguments) + 2;
    char *const longer = malloc(size);
    if (longer)
        snprintf(longer, size, "%s%s%s%s", chain ? chain : "", chain ? "," : "", filter, arguments);
    return longer;
}

enum gf_status gf_chain_add(char **chain, const char *filter, const struct gf_argument *arguments,
                            size_t count, struct gf_error *error)
{
    GF_NOT_NULL(chain, error);
    GF_NOT_NULL(filter, error);
    if (count)
        GF_NOT_NULL(arguments, error);
    const struct gf_filter *found;
    GF_TRY(gf_filter_named(filter, "", &found, error));
    char *text = NULL;
    size_t size;
    FILE *const file = open_memstream(&text, &size);
    GF_ALLOCATED(file, error);
    enum gf_status status = put_arguments(file, arguments, count, error);
    if (fclose(file) && !status)
        status = gf_fail_memory(error);
    GF_THEN(status, check_arguments(found, text, error));
    char *const longer = status ? NULL : longer_chain(*chain, found->name, text);
    GF_THEN(status, longer ? GF_OK : gf_fail_memory(error));
    free(text);
    if (status)
        return status;
    free(*chain);
    *chain = longer;
    return GF_OK;
}

enum { BYTES_MOST = 1 << 20 };

static const char blanks[] = " \t\r\n\v\f";

/* Returns where the line's comment begins, or the line's end. A comment begins with a '#' after a
 * blank or a comma; any other '#' belongs to a colour, or to a quoted text. */
static char *end_of(char *line)
{
    char token[GF_TOKEN_MAX];
    const char *at = line;
    while ((at = gf_token_next(at, "=:,#", token)) && *at) {
        if (*at == '#' && (at == line || strchr(" \t,", at[-1])))
            break;
        at++;
    }
    return at ? line + (at - line) : line + strlen(line);
}

/* Removes from the line its comment and, at both ends, blanks and a comma. */
static char *trim(char *line)
{
    char *at = end_of(line);
    while (at > line && (strchr(blanks, at[-1]) || at[-1] == ','))
        at--;
    *at = '\0';
    return line + strspn(line, blanks);
}

/* Reads the whole file as text, without its byte order mark. The caller frees *text. `name` is for
 * messages. */
static enum gf_status read_text(FILE *file, const char *name, char **text, struct gf_error *error)
{
    *text = malloc(BYTES_MOST + 1);
    GF_ALLOCATED(*text, error);
    errno = 0;
    const size_t size = fread(*text, 1, BYTES_MOST + 1, file);
    if (ferror(file))
        return gf_fail(error, gf_status_of_name(GF_ERROR_USAGE, GF_ERROR_READ), "%s: %s", name,
                       strerror(errno));
    if (size > BYTES_MOST)
        return gf_fail(error, GF_ERROR_USAGE, "%s: more than 1 MB is no chain", name);
    size_t mark;
    struct gf_error detail;
    const enum gf_status status = gf_text_mark(*text, size, GF_ERROR_USAGE, &mark, &detail);
    if (status)
        return gf_fail(error, status, "%s: %s", name, detail.text);
    if (memchr(*text, 0, size))
        return gf_fail(error, GF_ERROR_USAGE, "%s: holds NUL bytes, which no chain does", name);
    memmove(*text, *text + mark, size - mark);
    (*text)[size - mark] = '\0';
    return GF_OK;
}

/* Joins the lines that are not empty by commas, in place, to a chain of one line. */
static void join_lines(char *text)
{
    char *to = text, *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        const char *const trimmed = trim(line);
        const size_t length = strlen(trimmed);
        if (length && to > text)
            *to++ = ',';
        memmove(to, trimmed, length);
        to += length;
    }
    *to = '\0';
}

/* Parses the chain of a file to check it. The message about a mistake names the file. */
static enum gf_status check(const char *text, const char *name, struct gf_error *error)
{
    struct gf_chain chain = {0};
    struct gf_error detail;
    if (!*text)
        return gf_fail(error, GF_ERROR_USAGE, "%s: holds no filter", name);
    const enum gf_status status = gf_chain_parse(text, &chain, &detail);
    gf_chain_free(&chain);
    return status ? gf_fail(error, status, "%s: %s", name, detail.text) : GF_OK;
}

enum gf_status gf_chain_file_read(const char *path, char **chain, struct gf_error *error)
{
    const bool standard = !strcmp(path, "-");
    const char *const name = standard ? "stdin" : path;
    *chain = NULL;
    FILE *const file = standard ? stdin : fopen(path, "re");
    if (!file)
        return gf_fail(error, gf_status_of_name(GF_ERROR_USAGE, GF_ERROR_READ), "%s: %s", path,
                       strerror(errno));
    enum gf_status status = read_text(file, name, chain, error);
    if (!standard)
        fclose(file);
    if (!status) {
        join_lines(*chain);
        status = check(*chain, name, error);
    }
    if (status) {
        free(*chain);
        *chain = NULL;
    }
    return status;
}
