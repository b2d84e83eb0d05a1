#include "batch/archives/archive_links.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/grow.h"

#ifdef GF_LIBRARY_archive

struct known {
    char *name, *target; /* `target` is the target of a link; else NULL */
    int64_t position;
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct known *)a)->name, ((const struct known *)b)->name);
}

static void free_known(void *known)
{
    struct known *const it = known;
    free(it->name);
    free(it->target);
    free(it);
}

char *gf_archive_resolve(const char *folder, size_t length, const char *name)
{
    char *text, *rest;
    size_t size = 0;
    if (asprintf(&text, "%.*s/%s", (int)length, folder, name) < 0)
        return NULL;
    for (char *part = strtok_r(text, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
        const size_t bytes = strlen(part);
        if (!strcmp(part, "."))
            continue;
        if (strcmp(part, "..")) {
            if (size)
                text[size++] = '/';
            memmove(text + size, part, bytes);
            size += bytes;
            continue;
        }
        if (!size)
            break; /* the name leads out of the archive */
        while (size && text[size - 1] != '/')
            size--;
        size -= size > 0;
    }
    text[size] = '\0';
    return text;
}

/* Returns the name that a link leads to. A hard link names a member; a symbolic link names a place
 * as seen from its own folder. */
static char *target_of(const struct gf_archive_member *member, const char *target)
{
    const char *const slash = strrchr(member->name, '/');
    if (gf_archive_member_is_hard_link(member))
        return gf_archive_resolve("", 0, target);
    return *target == '/' ? strdup("")
                          : gf_archive_resolve(member->name,
                                               slash ? (size_t)(slash - member->name) : 0, target);
}

bool gf_archive_links_note(struct gf_archive_links *links, const struct gf_archive_reader *reader,
                           const struct gf_archive_member *member)
{
    const char *const target = gf_archive_member_target(member);
    struct known *const known = calloc(1, sizeof *known);
    if (!known || (!target && !member->is_file)) {
        free(known);
        return known != NULL;
    }
    known->name = gf_archive_resolve("", 0, member->name);
    known->target = target ? target_of(member, target) : NULL;
    known->position = gf_archive_position(reader);
    void *const *const found =
        known->name && (!target || known->target) ? tsearch(known, &links->members, compare) : NULL;
    if (found && *found != known) { /* if several members have one name, the last counts */
        struct known *const before = *found;
        const struct known swapped = *before;
        *before = *known;
        *known = swapped;
    }
    if (!found || *found != known)
        free_known(known);
    return found != NULL;
}

bool gf_archive_links_add(struct gf_archive_links *links, const char *name)
{
    if (!GF_GROW(links->name, links->count))
        return false;
    links->name[links->count] = strdup(name);
    return links->name[links->count++];
}

/* Returns the file that a member stands for, after following links; NULL: there is none. */
static const struct known *file_behind_link(const struct gf_archive_links *links, const char *name)
{
    enum { LINKS_MAX = 40 };
    char *const own = gf_archive_resolve("", 0, name);
    struct known key = {.name = own};
    const struct known *known = NULL;
    for (int i = 0; own && i < LINKS_MAX; i++) {
        void *const *const found = tfind(&key, &links->members, compare);
        known = found ? *found : NULL;
        if (!known || !known->target)
            break;
        key.name = known->target;
        known = NULL;
    }
    free(own);
    return known;
}

/* Finds the member at `position` for link number `number`. A packed archive is read further, as
 * long as the member lies ahead. */
static enum gf_status find_member_at(struct gf_archive_links *links,
                                     const struct gf_archive_reader *reader, size_t number,
                                     int64_t position, struct gf_archive_member *member,
                                     struct gf_error *error)
{
    bool found = true;
    const bool packed = gf_archive_reader_size(reader) < 0;
    if (links->again && (!packed || gf_archive_position(links->again) >= position)) {
        gf_archive_reader_close(links->again);
        links->again = NULL;
    }
    if (!links->again)
        GF_TRY(gf_archive_reader_again(reader, position, &links->again, error));
    while (found) {
        GF_TRY(gf_archive_next(links->again, member, &found, error));
        if (!found || gf_archive_position(links->again) == position)
            break;
        gf_archive_member_free(member);
    }
    return found
               ? GF_OK
               : gf_fail(error, GF_ERROR_READ, "%s: the archive was changed", links->name[number]);
}

enum gf_status gf_archive_links_open(struct gf_archive_links *links,
                                     const struct gf_archive_reader *reader, size_t number,
                                     struct gf_archive_member *member, const char **why,
                                     struct gf_error *error)
{
    struct stat file;
    char *const name = strdup(links->name[number]);
    const struct known *const known = name ? file_behind_link(links, name) : NULL;
    enum gf_status status = name ? GF_OK : gf_fail_memory(error);
    *member = (struct gf_archive_member){0};
    *why = NULL;
    if (!known)
        *why = "a link to what is no file of the archive";
    else if (!gf_archive_reader_file(reader, &file))
        *why = "a link, which a stream cannot be read again for: use an archive that is a file";
    else
        status = find_member_at(links, reader, number, known->position, member, error);
    if (status) {
        free(name);
        return status;
    }
    free(member->name);
    member->name = name;
    return GF_OK;
}

void gf_archive_links_free(struct gf_archive_links *links)
{
    tdestroy(links->members, free_known);
    for (size_t i = 0; i < links->count; i++)
        free(links->name[i]);
    free(links->name);
    gf_archive_reader_close(links->again);
}

#endif
