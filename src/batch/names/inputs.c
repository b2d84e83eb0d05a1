/* Expands the arguments of -i: searches folders, patterns and lists for inputs, and divides the
 * inputs among parts. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/memory/grow.h"
#include "base/process/files.h"
#include "batch/names/names.h"
#include "codec/codec.h"

/* ---- dividing the inputs of a run among parts, for --shard. Every part reads the same list, and
 * so comes to the same division without looking at any file ---- */
struct gf_part_load {
    uint64_t bytes;
    int part; /* the part's number, from 0 */
};

struct gf_parts {
    int part, parts;           /* the wanted part, 1..parts; parts 0: all inputs are wanted */
    size_t position;           /* the number of inputs so far */
    uint64_t list;             /* a hash of the names and bytes of these inputs */
    struct gf_part_load *load; /* the parts in a heap, the least loaded first; NULL: no input had
                                * bytes so far */
};

struct gf_search {
    const struct gf_inputs_request *request;
    struct gf_inputs *inputs;
    struct gf_parts parts;
    size_t selected;           /* the number of inputs that are known to be of this part */
    struct gf_inputs archives; /* the archives found in the folder that is being searched */
    struct gf_error *error;
};

static bool is_less(struct gf_part_load a, struct gf_part_load b)
{
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.part < b.part;
}

/* Restores the order of the heap after load[0] has grown: moves it down to its place. */
static void sift(struct gf_part_load *load, int count)
{
    for (int at = 0, child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && is_less(load[child + 1], load[child]);
        if (!is_less(load[child], load[at]))
            return;
        const struct gf_part_load lower = load[child];
        load[child] = load[at];
        load[at] = lower;
    }
}

static bool open_loads(struct gf_parts *parts)
{
    parts->load = calloc((size_t)parts->parts, sizeof *parts->load);
    for (int i = 0; parts->load && i < parts->parts; i++)
        parts->load[i].part = i;
    return parts->load;
}

/* Continues the hash with an input's name, without its signature if it is a URL, and its bytes. */
static bool hash_input(uint64_t *hash, const char *name, int64_t bytes)
{
    char *const plain = strdup(name);
    if (!plain)
        return false;
    gf_url_hide(plain);
    *hash = gf_hash(gf_hash(*hash, plain, strlen(plain) + 1), &bytes, sizeof bytes);
    free(plain);
    return true;
}

/* Gives the next input, of that name, to a part. With bytes, the part that has the fewest bytes so
 * far gets it; with bytes < 0, the parts take turns. *own tells whether that is the wanted part.
 * Returns false when out of memory. */
static bool parts_take(struct gf_parts *parts, const char *name, int64_t bytes, bool *own)
{
    const size_t position = parts->position++;
    *own = true;
    if (!parts->parts)
        return true;
    if (!hash_input(&parts->list, name, bytes))
        return false;
    if (bytes < 0) {
        *own = position % (size_t)parts->parts == (size_t)parts->part - 1;
        return true;
    }
    if (!parts->load && !open_loads(parts))
        return false;
    *own = parts->load[0].part == parts->part - 1;
    /* Plus 1, so that empty files are distributed, too. */
    parts->load[0].bytes += (uint64_t)bytes + 1;
    sift(parts->load, parts->parts);
    return true;
}

/* ---- folders and patterns ---- */

/* Adds a path from malloc(), which the list then owns. */
static enum gf_status add_to(struct gf_search *search, struct gf_inputs *inputs, char *path,
                             size_t below)
{
    GF_ALLOCATED(path, search->error);
    if (!GF_GROW(inputs->item, inputs->count)) {
        free(path);
        return gf_fail_memory(search->error);
    }
    char *const plain = (char *)gf_archive_path(path), *url = NULL;
    if (gf_url_scheme(plain) && !(url = strdup(plain))) {
        free(path);
        return gf_fail_memory(search->error);
    }
    gf_url_hide(plain);
    inputs->item[inputs->count++] =
        (struct gf_input_name){.path = path, .url = url, .below = below};
    return GF_OK;
}

static void search_free_name(struct gf_input_name *name)
{
    free(name->path);
    free(name->url);
}

/* Adds a path from malloc(), which the list then owns. A URL's signature is split off the path. */
static GF_CHECKED enum gf_status search_add(struct gf_search *search, char *path, size_t below)
{
    return add_to(search, search->inputs, path, below);
}

/* Leaves out a path, from malloc(), whose name is not the name of a picture. */
static enum gf_status leave_out(struct gf_search *search, char *path)
{
    struct gf_inputs *const names = search->request->left_out;
    search->inputs->left_out++;
    if (names)
        return add_to(search, names, path, 0);
    free(path);
    return GF_OK;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct gf_input_name *)a)->path, ((const struct gf_input_name *)b)->path);
}

/* Compares numbers within the paths as numbers. */
static int compare_numbers(const void *a, const void *b)
{
    return strverscmp(((const struct gf_input_name *)a)->path,
                      ((const struct gf_input_name *)b)->path);
}

/* Sorts the inputs from number `first` on by their paths. */
static void search_sort(struct gf_inputs *inputs, size_t first, bool by_number)
{
    if (inputs->count > first)
        qsort(inputs->item + first, inputs->count - first, sizeof *inputs->item,
              by_number ? compare_numbers : compare);
}

static enum gf_status search_folder(struct gf_search *search, const char *folder, size_t below);

static bool is_output_folder(const struct gf_search *search, const struct stat *file)
{
    const struct gf_inputs_request *const request = search->request;
    bool is = false;
    for (int i = 0; !is && i < request->outputs_count; i++) {
        struct stat folder;
        is = *request->outputs[i] && !stat(request->outputs[i], &folder) &&
             file->st_dev == folder.st_dev && file->st_ino == folder.st_ino;
    }
    return is;
}

/* Returns the kind of a file. A link has the kind of the file that it leads to. S_IFLNK means that
 * the link leads to a folder. A link that leads nowhere counts as a file that cannot be opened. */
static mode_t kind_of(const struct dirent *entry, const char *path)
{
    struct stat file;
    if (entry->d_type == DT_REG || entry->d_type == DT_DIR)
        return entry->d_type == DT_REG ? S_IFREG : S_IFDIR;
    if (!lstat(path, &file) && !S_ISLNK(file.st_mode))
        return file.st_mode & S_IFMT;
    if (stat(path, &file))
        return S_IFREG;
    return S_ISDIR(file.st_mode) ? S_IFLNK : file.st_mode & S_IFMT;
}

/* Adds an entry of a folder. Its path is from malloc(), and the search then owns it. */
static enum gf_status take_entry(struct gf_search *search, const struct dirent *entry, char *path,
                                 size_t below)
{
    GF_ALLOCATED(path, search->error);
    const bool recursive = search->request->recursive;
    const mode_t kind = kind_of(entry, path);
    struct stat file;
    enum gf_status status = GF_OK;
    if (kind == S_IFREG && gf_file_format_named(path) != GF_FILE_AUTO)
        return search_add(search, path, below);
    if (kind == S_IFREG && gf_archive_named(path))
        return add_to(search, &search->archives, path, below);
    if (kind != S_IFDIR && (recursive || kind != S_IFLNK))
        return leave_out(search, path);
    /* A folder that cannot be searched becomes an input, which fails as an unreadable file does. */
    if (kind == S_IFDIR && recursive && faccessat(AT_FDCWD, path, R_OK | X_OK, AT_EACCESS))
        return search_add(search, path, below);
    if (kind == S_IFDIR && recursive && !stat(path, &file) && !is_output_folder(search, &file))
        status = search_folder(search, path, below);
    free(path);
    return status;
}

/* Searches a folder. `below` is the length of the part of the path that the user gave, with its
 * slash. */
static enum gf_status search_folder(struct gf_search *search, const char *folder, size_t below)
{
    DIR *const listing = opendir(*folder ? folder : ".");
    const size_t length = strlen(folder);
    const char *const slash = length && folder[length - 1] != '/' ? "/" : "";
    enum gf_status status = GF_OK;
    if (!listing)
        return gf_fail(search->error, gf_status_of_name(GF_ERROR_INPUT, GF_ERROR_READ), "%s: %s",
                       *folder ? folder : ".", strerror(errno));
    errno = 0;
    for (const struct dirent *entry; !status && (entry = readdir(listing)); errno = 0) {
        char *path = NULL;
        if (entry->d_name[0] == '.')
            continue;
        if (asprintf(&path, "%s%s%s", folder, slash, entry->d_name) < 0)
            path = NULL;
        status = take_entry(search, entry, path, below);
    }
    if (!status && errno)
        status = gf_fail(search->error, GF_ERROR_READ, "%s: %s", folder, strerror(errno));
    closedir(listing);
    return status;
}

/* Ends the search of a folder: its archives become inputs if `wanted`, since it holds no pictures;
 * else they are left out. */
static enum gf_status take_archives(struct gf_search *search, bool wanted)
{
    struct gf_inputs *const archives = &search->archives;
    enum gf_status status = GF_OK;
    for (size_t i = 0; i < archives->count; i++) {
        char *const path = archives->item[i].path;
        if (status)
            free(path);
        else
            status = wanted ? search_add(search, path, archives->item[i].below)
                            : leave_out(search, path);
    }
    free(archives->item);
    *archives = (struct gf_inputs){0};
    return status;
}

static enum gf_status take_folder(struct gf_search *search, const char *folder)
{
    const size_t first = search->inputs->count, length = strlen(folder);
    const size_t left_out = search->inputs->left_out;
    char others[60] = "";
    const bool here = !strcmp(folder, ".");
    const size_t below = here ? 0 : length + (folder[length - 1] != '/');
    enum gf_status status = search_folder(search, here ? "" : folder, below);
    const bool mixed = !status && search->archives.count && search->inputs->count > first;
    search->inputs->is_found = true;
    const enum gf_status taken = take_archives(search, search->inputs->count == first);
    status = status ? status : taken;
    if (status)
        return status;
    search_sort(search->inputs, first, search->request->by_number);
    if (mixed && !search->inputs->mixed &&
        !(search->inputs->mixed = strdup(search->inputs->item[first].path)))
        return gf_fail_memory(search->error);
    if (search->inputs->left_out > left_out)
        snprintf(others, sizeof others, ", but %zu other file%s",
                 search->inputs->left_out - left_out,
                 search->inputs->left_out - left_out == 1 ? "" : "s");
    if (search->inputs->count == first)
        return gf_fail(
            search->error, GF_ERROR_INPUT, "%s: holds no picture of a known format%s%s", folder,
            others,
            search->request->recursive ? "" : " (--recursive searches the folders in it, too)");
    return GF_OK;
}

static bool search_is_folder(const char *path)
{
    struct stat file;
    return !stat(path, &file) && S_ISDIR(file.st_mode);
}

/* Adds a file, or the files of a folder, to the inputs. */
static GF_CHECKED enum gf_status search_path(struct gf_search *search, const char *path)
{
    struct stat file;
    errno = 0;
    if (!stat(path, &file) && S_ISDIR(file.st_mode))
        return take_folder(search, path);
    /* With this error the path may be a folder that must not count as a picture. */
    if (errno == EIO)
        return gf_fail(search->error, GF_ERROR_READ, "%s: %s", path, strerror(errno));
    if (errno)
        GF_TRY(gf_input_check_meant(path, search->error));
    return search_add(search, strdup(path), 0);
}

/* Whether the text is a pattern. The bracket of a page number, as in a.tif[2], does not make the
 * text a pattern. */
static bool search_is_pattern(const char *text)
{
    struct stat file;
    struct gf_pages pages;
    const size_t length = gf_input_split_pages(text, &pages);
    const size_t special = strcspn(text, "*?[");
    const bool is_page = length && special == length;
    return text[special] && !is_page && !gf_url_is_web(gf_archive_path(text)) && lstat(text, &file);
}

static GF_CHECKED enum gf_status search_pattern(struct gf_search *search, const char *pattern)
{
    const size_t first = search->inputs->count;
    glob_t found = {0};
    enum gf_status status = GF_OK;
    const int failed = glob(pattern, GLOB_NOSORT, NULL, &found);
    search->inputs->is_found = true;
    if (failed)
        GF_TRY(gf_input_check_meant(pattern, search->error));
    if (failed)
        return gf_fail(search->error, failed == GLOB_NOSPACE ? GF_ERROR_MEMORY : GF_ERROR_READ,
                       failed == GLOB_NOMATCH ? "%s: no such file" : "%s: cannot be read", pattern);
    for (size_t i = 0; !status && i < found.gl_pathc; i++) {
        if (!search_is_folder(found.gl_pathv[i]))
            status = search_add(search, strdup(found.gl_pathv[i]), 0);
    }
    search_sort(search->inputs, first, search->request->by_number);
    for (size_t i = 0; !status && search->request->recursive && i < found.gl_pathc; i++) {
        if (search_is_folder(found.gl_pathv[i]))
            status = take_folder(search, found.gl_pathv[i]);
    }
    globfree(&found);
    if (!status && search->inputs->count == first)
        return gf_fail(search->error, GF_ERROR_INPUT,
                       "%s: only folders (--recursive searches them)", pattern);
    return status;
}

/* Drops the inputs of other parts among those that were found since the last call. */
static GF_CHECKED enum gf_status search_select_own(struct gf_search *search)
{
    struct gf_inputs *const inputs = search->inputs;
    size_t kept = search->selected;
    enum gf_status status = GF_OK;
    for (size_t i = kept; i < inputs->count; i++) {
        bool own = true;
        inputs->item[i].index = search->parts.position;
        if (!status && !parts_take(&search->parts, inputs->item[i].path, -1, &own))
            status = gf_fail_memory(search->error);
        if (own)
            inputs->item[kept++] = inputs->item[i];
        else
            search_free_name(&inputs->item[i]);
    }
    inputs->elsewhere += inputs->count - kept;
    inputs->count = search->selected = kept;
    return status;
}

/* ---- lists of inputs ---- */

static bool is_there(const char *path)
{
    struct stat file;
    return !lstat(path, &file);
}

/* The most bytes of a list of inputs. A longer list is a device or a mistake. */
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

/* Adds an input of this part. `etag` is kept in the memory behind the name. */
static enum gf_status add_line(struct gf_search *search, const char *line, int64_t bytes,
                               const char *etag)
{
    const size_t length = strlen(line);
    char *const path = malloc(length + strlen(etag) + 2);
    GF_ALLOCATED(path, search->error);
    strcpy(path, line);
    strcpy(path + length + 1, etag);
    GF_TRY(search_add(search, path, 0));
    struct gf_input_name *const name = &search->inputs->item[search->inputs->count - 1];
    name->bytes = bytes > 0 ? (uint64_t)bytes : 0;
    name->etag = *etag ? path + length + 1 : NULL;
    return GF_OK;
}

/* Adds what a line of a list names. A line is one input, whose file is not looked at if it is
 * another part's; only a folder whose name ends in a slash is divided among the parts. */
static enum gf_status take_line(struct gf_search *search, const char *name, char *line)
{
    const char *etag = "";
    const int64_t bytes = search->request->nul_separated ? -1 : split_bytes(line, &etag);
    const size_t length = strlen(line), position = search->parts.position;
    bool own;
    if (!length)
        return GF_OK;
    if (bytes < 0 && (!search->request->shards || line[length - 1] == '/')) {
        GF_TRY(search_path(search, line));
        return search_select_own(search);
    }
    GF_ALLOCATED(parts_take(&search->parts, line, bytes, &own), search->error);
    search->inputs->elsewhere += !own;
    if (!own)
        return GF_OK;
    if (search_is_folder(line))
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

/* Adds the inputs that the list in a file names; "-" is standard input. */
static GF_CHECKED enum gf_status search_list(struct gf_search *search, const char *path)
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

bool gf_input_named_is_stream(const char *path)
{
    struct stat file;
    return !strcmp(path, "-") ||
           (gf_input_stat(path, &file) && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode));
}

bool gf_inputs_is_group(const char *argument)
{
    return (argument[0] == '@' && argument[1]) || search_is_pattern(argument) ||
           search_is_folder(argument);
}

enum gf_status gf_inputs_expand(const struct gf_inputs_request *request, struct gf_inputs *inputs,
                                struct gf_error *error)
{
    struct gf_search search = {
        .request = request,
        .inputs = inputs,
        .error = error,
        .parts = {.part = request->shard, .parts = request->shards, .list = GF_HASH_START}};
    enum gf_status status = GF_OK;
    *inputs = (struct gf_inputs){0};
    for (int i = 0; !status && i < request->count; i++) {
        const char *const argument = request->argument[i];
        if (argument[0] == '@' && argument[1])
            status = search_list(&search, argument + 1);
        else if (!strcmp(argument, "-"))
            status = search_add(&search, strdup(argument), 0);
        else if (search_is_pattern(argument))
            status = search_pattern(&search, argument);
        else
            status = search_path(&search, argument);
        GF_THEN(status, search_select_own(&search));
    }
    free(search.parts.load);
    inputs->list = request->shards ? search.parts.list : 0;
    if (request->left_out)
        search_sort(request->left_out, 0, false);
    if (status)
        gf_inputs_free(inputs);
    return status;
}

void gf_inputs_free(struct gf_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        search_free_name(&inputs->item[i]);
    free(inputs->item);
    free(inputs->mixed);
    *inputs = (struct gf_inputs){0};
}
