#include "chain/chain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/line.h"
#include "chain/token.h"

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

/* Removes the comment and, at both ends, blanks and a comma from the line. */
static char *trim(char *line)
{
    char *at = end_of(line);
    while (at > line && (strchr(blanks, at[-1]) || at[-1] == ','))
        at--;
    *at = '\0';
    return line + strspn(line, blanks);
}

/* Reads the whole file, without its byte order mark. The caller frees *text. */
static enum gf_status read_text(FILE *file, const char *name, char **text, struct gf_error *error)
{
    *text = malloc(BYTES_MOST + 1);
    if (!*text)
        return gf_fail_memory(error);
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

/* Joins the lines that are not empty by commas, in place. */
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

/* Parses the chain, so that the message about a mistake names the file. */
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
