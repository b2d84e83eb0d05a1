/* Goes over the pictures of an archive, one by one. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "batch/archives/archive_file.h"
#include "batch/names/archive_name.h"
#include "codec/codec.h"

#ifdef GF_LIBRARY_archive

/* Reads a member into memory and hands it over as "ARCHIVE/NAME". */
static enum gf_status take(struct gf_archive_reader *reader, const char *archive,
                           const struct gf_archive_member *member, gf_archive_taker *taker,
                           void *context, struct gf_error *error)
{
    const size_t size = (size_t)member->size;
    char *name = NULL;
    void *const data = malloc(size ? size : 1);
    enum gf_status status =
        data && asprintf(&name, "%s/%s", gf_archive_path(archive), member->name) >= 0
            ? gf_archive_read(reader, data, size, error)
            : gf_fail_memory(error);
    if (!status)
        taker(context, name, data, size);
    free(name);
    free(data);
    return status;
}

enum gf_status gf_archive_each(const char *archive, gf_archive_taker *taker, void *context,
                               struct gf_error *error)
{
    struct gf_archive_reader *reader = NULL;
    bool found = true, more;
    enum gf_status status = gf_archive_reader_open(archive, &reader, error);
    if (status)
        return status;
    while (!status && found) {
        struct gf_archive_member member;
        status = gf_archive_next(reader, &member, &found, error);
        if (status || !found)
            break;
        if (member.is_file && gf_file_format_named(member.name) != GF_FILE_AUTO)
            status = take(reader, archive, &member, taker, context, error);
        gf_archive_member_free(&member);
    }
    if (!status)
        status = gf_archive_end(reader, &more, error);
    gf_archive_reader_close(reader);
    return status;
}

#else

enum gf_status gf_archive_each(const char *archive, gf_archive_taker *taker, void *context,
                               struct gf_error *error)
{
    (void)taker;
    (void)context;
    return gf_archive_load(archive, error);
}

#endif
