/* Reads lists of inputs, for -i @LIST. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/line.h"
#include "batch/names/search.h"

static bool is_there(const char *path)
{
    struct stat file;
    return !lstat(path, &file);
}

/* The most bytes of a list. A longer list is a device or a mistake. */
static const size_t list_most = (size_t)64 << 30;

/* Removes a byte order mark from the first line of a list, unless a file has a name that begins
 * with the mark. */
static enum gf_status skip_mark(const struct gf_search *search, const char *name, char *line,
                                size_t *length)
{
    size_t mark;
    struct gf_error detail;
    if (is_there(line))
        return GF_OK;
    const enum gf_status status = gf_text_mark(line, *length, GF_ERROR_USAGE, &mark, &detail);
    if (status)
        return gf_fail(search->error, status, "%s: %s", name, detail.text);
    *length -= mark;
    memmove(line, line + mark, *length + 1);
    return GF_OK;
}

/* Reads the bytes after the name in a line "NAME<TAB>BYTES" or "NAME<TAB>BYTES<TAB>ETAG", and ends
 * the name before them. Returns -1 if the line has none. *etag is "" or what follows the bytes. */
static int64_t split_bytes(char *line, const char **etag)
{
    char *const tab = strchr(line, '\t');
    char *end;
    *etag = "";
    if (!tab || !isdigit((unsigned char)tab[1]))
        return -1;
    errno = 0;
    const long long bytes = strtoll(tab + 1, &end, 10);
    if (errno || (*end && *end != '\t'))
        return -1;
    *tab = '\0';
    *etag = *end ? end + 1 : "";
    return bytes;
}

/* Adds an input of this part. The word after the bytes is kept behind the name. */
static enum gf_status add_line(struct gf_search *search, const char *line, int64_t bytes,
                               const char *etag)
{
    const size_t length = strlen(line);
    char *const path = malloc(length + strlen(etag) + 2);
    if (!path)
        return gf_fail_memory(search->error);
    strcpy(path, line);
    strcpy(path + length + 1, etag);
    GF_TRY(gf_search_add(search, path, 0));
    struct gf_input_name *const name = &search->inputs->item[search->inputs->count - 1];
    name->bytes = bytes > 0 ? (uint64_t)bytes : 0;
    name->etag = *etag ? path + length + 1 : NULL;
    return GF_OK;
}

/* Takes a line of a list. A line is one input, whose file is not looked at if it is another part's;
 * only a folder whose name ends in a slash is divided among the parts. */
static enum gf_status take_line(struct gf_search *search, const char *name, char *line)
{
    const char *etag = "";
    const int64_t bytes = search->request->nul_separated ? -1 : split_bytes(line, &etag);
    const size_t length = strlen(line), position = search->parts.position;
    bool own;
    if (!length)
        return GF_OK;
    if (bytes < 0 && (!search->request->shards || line[length - 1] == '/')) {
        GF_TRY(gf_search_path(search, line));
        return gf_search_select_own(search);
    }
    if (!gf_parts_take(&search->parts, line, bytes, &own))
        return gf_fail_memory(search->error);
    search->inputs->elsewhere += !own;
    if (!own)
        return GF_OK;
    if (gf_search_is_folder(line))
        return gf_fail(
            search->error, GF_ERROR_INPUT,
            "%s: '%.200s' is a folder: in a list for parts its line ends in /, without bytes", name,
            line);
    GF_TRY(add_line(search, line, bytes, etag));
    search->inputs->item[search->selected++].index = position;
    return GF_OK;
}

static enum gf_status take_lines(struct gf_search *search, FILE *file, const char *name)
{
    const int end = search->request->nul_separated ? '\0' : '\n';
    char *const line = malloc(GF_LINE_MOST + 1);
    enum gf_status status = line ? GF_OK : gf_fail_memory(search->error);
    size_t bytes = 0, length;
    errno = 0;
    while (!status && (length = gf_line_read(file, end, line))) {
        const bool is_long = length == GF_LINE_MOST, is_first = !bytes;
        bytes += length;
        if (line[length - 1] == end)
            line[--length] = '\0';
        if (is_first && (status = skip_mark(search, name, line, &length)))
            break;
        if (end == '\n' && length && line[length - 1] == '\r' && !is_there(line))
            line[--length] = '\0'; /* lines of a list from Windows end with CR LF */
        if (is_long || bytes > list_most)
            status = gf_fail(search->error, GF_ERROR_INPUT, "%s: more than %s is no list", name,
                             is_long ? "1 MB in a line" : "64 GB");
        else if (strlen(line) != length)
            status = gf_fail(search->error, GF_ERROR_INPUT,
                             "%s: holds NUL bytes: -0 reads such a list", name);
        else
            status = take_line(search, name, line);
    }
    if (!status && ferror(file))
        status = gf_fail(search->error, GF_ERROR_READ, "%s: %s", name, strerror(errno));
    free(line);
    return status;
}

enum gf_status gf_search_list(struct gf_search *search, const char *path)
{
    const bool standard = !strcmp(path, "-");
    const size_t first = gf_inputs_total(search->inputs);
    FILE *const file = standard ? stdin : fopen(path, "re");
    if (!file)
        return gf_fail(search->error, gf_status_of_name(GF_ERROR_USAGE, GF_ERROR_READ), "%s: %s",
                       path, strerror(errno));
    enum gf_status status = take_lines(search, file, standard ? "stdin" : path);
    if (!standard)
        fclose(file);
    if (!status && gf_inputs_total(search->inputs) == first)
        status = gf_fail(search->error, GF_ERROR_INPUT, "%s: the list names no file",
                         standard ? "stdin" : path);
    return status;
}
