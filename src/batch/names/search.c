/* Searches folders and patterns for inputs. */
#include "batch/names/search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/grow.h"
#include "batch/names/archive_name.h"
#include "batch/names/url.h"
#include "codec/codec.h"

/* Adds a path from malloc(), which the list then owns. */
static enum gf_status add_to(struct gf_search *search, struct gf_inputs *inputs, char *path,
                             size_t below)
{
    if (!path)
        return gf_fail_memory(search->error);
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

void gf_search_free_name(struct gf_input_name *name)
{
    free(name->path);
    free(name->url);
}

enum gf_status gf_search_add(struct gf_search *search, char *path, size_t below)
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

void gf_search_sort(struct gf_inputs *inputs, size_t first)
{
    if (inputs->count > first)
        qsort(inputs->item + first, inputs->count - first, sizeof *inputs->item, compare);
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
    if (!path)
        return gf_fail_memory(search->error);
    const bool recursive = search->request->recursive;
    const mode_t kind = kind_of(entry, path);
    struct stat file;
    enum gf_status status = GF_OK;
    if (kind == S_IFREG && gf_file_format_named(path) != GF_FILE_AUTO)
        return gf_search_add(search, path, below);
    if (kind == S_IFREG && gf_archive_named(path))
        return add_to(search, &search->archives, path, below);
    if (kind != S_IFDIR && (recursive || kind != S_IFLNK))
        return leave_out(search, path);
    /* A folder that cannot be searched becomes an input, which fails as an unreadable file does. */
    if (kind == S_IFDIR && recursive && faccessat(AT_FDCWD, path, R_OK | X_OK, AT_EACCESS))
        return gf_search_add(search, path, below);
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

/* Takes the archives of a folder if the folder holds no pictures; otherwise leaves them out. */
static enum gf_status take_archives(struct gf_search *search, bool wanted)
{
    struct gf_inputs *const archives = &search->archives;
    enum gf_status status = GF_OK;
    for (size_t i = 0; i < archives->count; i++) {
        char *const path = archives->item[i].path;
        if (status)
            free(path);
        else
            status = wanted ? gf_search_add(search, path, archives->item[i].below)
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
    gf_search_sort(search->inputs, first);
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

bool gf_search_is_folder(const char *path)
{
    struct stat file;
    return !stat(path, &file) && S_ISDIR(file.st_mode);
}

enum gf_status gf_search_path(struct gf_search *search, const char *path)
{
    struct stat file;
    errno = 0;
    if (!stat(path, &file) && S_ISDIR(file.st_mode))
        return take_folder(search, path);
    /* A folder that cannot be looked at just now is not to become a picture. */
    if (errno == EIO)
        return gf_fail(search->error, GF_ERROR_READ, "%s: %s", path, strerror(errno));
    return gf_search_add(search, strdup(path), 0);
}

bool gf_search_is_pattern(const char *text)
{
    struct stat file;
    struct gf_pages pages;
    const size_t length = gf_input_split_pages(text, &pages);
    const size_t special = strcspn(text, "*?[");
    const bool is_page = length && special == length;
    return text[special] && !is_page && !gf_url_is_web(gf_archive_path(text)) && lstat(text, &file);
}

enum gf_status gf_search_pattern(struct gf_search *search, const char *pattern)
{
    const size_t first = search->inputs->count;
    glob_t found = {0};
    enum gf_status status = GF_OK;
    const int failed = glob(pattern, GLOB_NOSORT, NULL, &found);
    search->inputs->is_found = true;
    if (failed)
        return gf_fail(search->error, failed == GLOB_NOSPACE ? GF_ERROR_MEMORY : GF_ERROR_READ,
                       failed == GLOB_NOMATCH ? "%s: no such file" : "%s: cannot be read", pattern);
    for (size_t i = 0; !status && i < found.gl_pathc; i++) {
        if (!gf_search_is_folder(found.gl_pathv[i]))
            status = gf_search_add(search, strdup(found.gl_pathv[i]), 0);
    }
    gf_search_sort(search->inputs, first);
    for (size_t i = 0; !status && search->request->recursive && i < found.gl_pathc; i++) {
        if (gf_search_is_folder(found.gl_pathv[i]))
            status = take_folder(search, found.gl_pathv[i]);
    }
    globfree(&found);
    if (!status && search->inputs->count == first)
        return gf_fail(search->error, GF_ERROR_INPUT,
                       "%s: only folders (--recursive searches them)", pattern);
    return status;
}

enum gf_status gf_search_select_own(struct gf_search *search)
{
    struct gf_inputs *const inputs = search->inputs;
    size_t kept = search->selected;
    enum gf_status status = GF_OK;
    for (size_t i = kept; i < inputs->count; i++) {
        bool own = true;
        inputs->item[i].index = search->parts.position;
        if (!status && !gf_parts_take(&search->parts, inputs->item[i].path, -1, &own))
            status = gf_fail_memory(search->error);
        if (own)
            inputs->item[kept++] = inputs->item[i];
        else
            gf_search_free_name(&inputs->item[i]);
    }
    inputs->elsewhere += inputs->count - kept;
    inputs->count = search->selected = kept;
    return status;
}
