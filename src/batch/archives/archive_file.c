/* Loads libarchive, and handles the members of archives. */
#include "batch/archives/archive_file.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_calls.h"

struct gf_archive_calls gf_archive_calls;
static struct gf_library library =
    GF_LIBRARY(gf_archive_calls, GF_ARCHIVE_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_archive));

enum gf_status gf_archive_load(const char *subject, struct gf_error *error)
{
    return gf_library_load(&library, subject, GF_ERROR_UNAVAILABLE, error);
}

locale_t gf_archive_begin_utf8(void)
{
    static locale_t utf8;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!utf8)
        utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    pthread_mutex_unlock(&lock);
    return uselocale(utf8);
}

bool gf_archive_member_of_file(struct gf_archive_member *member, const struct stat *file)
{
    *member =
        (struct gf_archive_member){.header = gf_archive_calls.archive_entry_new(), .is_file = true};
    if (member->header)
        gf_archive_calls.archive_entry_copy_stat(member->header, file);
    return member->header;
}

void gf_archive_member_free(struct gf_archive_member *member)
{
    if (member->header)
        gf_archive_calls.archive_entry_free(member->header);
    free(member->name);
    free(member->fault);
    *member = (struct gf_archive_member){0};
}

bool gf_archive_member_change(struct gf_archive_member *member, const char *name, uint64_t size)
{
    char *const copy = strdup(name);
    if (!copy)
        return false;
    free(member->name);
    member->name = copy;
    member->size = size;
    const locale_t before = gf_archive_begin_utf8();
    gf_archive_calls.archive_entry_copy_pathname(member->header, copy);
    uselocale(before);
    gf_archive_calls.archive_entry_set_size(member->header, (int64_t)size);
    return true;
}

const char *gf_archive_member_target(const struct gf_archive_member *member)
{
    const locale_t before = gf_archive_begin_utf8();
    const char *target = gf_archive_calls.archive_entry_hardlink(member->header);
    if (!target)
        target = gf_archive_calls.archive_entry_symlink(member->header);
    uselocale(before);
    return target;
}

bool gf_archive_member_is_hard_link(const struct gf_archive_member *member)
{
    return gf_archive_calls.archive_entry_hardlink(member->header) != NULL;
}

const char *gf_archive_member_strange(const struct gf_archive_member *member)
{
    const char *const name = member->name;
    const size_t length = strlen(name);
    if (!member->is_file && gf_archive_calls.archive_entry_filetype(member->header) != AE_IFDIR)
        return "it is no plain file (--untrusted)";
    if (!length || *name == '/' || !strcmp(name, "..") || !strncmp(name, "../", 3) ||
        strstr(name, "/../") || (length > 2 && !strcmp(name + length - 3, "/..")))
        return "its name leads out of the archive's folder (--untrusted)";
    return NULL;
}

struct timespec gf_archive_member_time(const struct gf_archive_member *member)
{
    return (struct timespec){gf_archive_calls.archive_entry_mtime(member->header),
                             gf_archive_calls.archive_entry_mtime_nsec(member->header)};
}

void gf_archive_member_set_target(struct gf_archive_member *member, const char *target)
{
    const locale_t before = gf_archive_begin_utf8();
    if (gf_archive_member_is_hard_link(member))
        gf_archive_calls.archive_entry_copy_hardlink(member->header, target);
    else
        gf_archive_calls.archive_entry_copy_symlink(member->header, target);
    uselocale(before);
}

#else
#include "base/fail.h"

enum gf_status gf_archive_load(const char *subject, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "%s: built without libarchive-dev", subject);
}

#endif
