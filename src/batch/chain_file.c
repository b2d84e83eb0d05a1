#include "chain_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n\v\f";

/* The line without its comment and without the blanks and the comma at its ends. */
static char *trim(char *line)
{
    char quote = 0, *at = line;
    for (; *at && (quote || *at != '#'); at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"')
            quote = quote ? 0 : *at;
    }
    while (at > line && (strchr(blanks, at[-1]) || at[-1] == ','))
        at--;
    *at = '\0';
    return line + strspn(line, blanks);
}

static enum gf_status read_lines(FILE *file, const char *name, FILE *chain, struct gf_error *error)
{
    char *line = NULL;
    size_t capacity = 0, filters = 0;
    errno = 0;
    while (getline(&line, &capacity, file) >= 0) {
        const char *const text = trim(line);
        if (!*text)
            continue;
        fprintf(chain, "%s%s", filters++ ? "," : "", text);
    }
    free(line);
    if (ferror(file))
        return gf_fail(error, GF_ERROR_INPUT, "%s: %s", name, strerror(errno));
    return filters ? GF_OK : gf_fail(error, GF_ERROR_USAGE, "%s: holds no filter", name);
}

enum gf_status gf_chain_file_read(const char *path, char **chain, struct gf_error *error)
{
    const int standard = !strcmp(path, "-");
    size_t size = 0;
    *chain = NULL;
    FILE *const file = standard ? stdin : fopen(path, "re");
    if (!file)
        return gf_fail(error, GF_ERROR_INPUT, "%s: %s", path, strerror(errno));
    FILE *const memory = open_memstream(chain, &size);
    enum gf_status status = memory ? read_lines(file, standard ? "stdin" : path, memory, error)
                                   : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (memory && fclose(memory) && !status)
        status = gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (!standard)
        fclose(file);
    if (status) {
        free(*chain);
        *chain = NULL;
    }
    return status;
}
