/* Links in an archive that is read, for outputs that are files: a link to a picture is a picture of
 * its own there, as in the unpacked folder. It is read again where the archive is a file. */
#ifndef GF_BATCH_ARCHIVE_LINKS_H
#define GF_BATCH_ARCHIVE_LINKS_H

#include "batch/archive_file.h"

struct gf_archive_links {
    void *members; /* all so far, by their names; of tsearch() */
    char **name;   /* [count] of links that are to be made */
    size_t count, capacity;
    struct gf_archive_reader *again; /* NULL: nothing was read again yet */
};

/* The name without . and .. and doubled slashes, which begins in the folder that length bytes of
 * `folder` name; empty where it leads out of the archive. From malloc(); NULL when out of memory.
 */
char *gf_archive_resolve(const char *folder, size_t length, const char *name);

/* Notes where the member that the reader has found is. False when out of memory. */
bool gf_archive_links_note(struct gf_archive_links *links, const struct gf_archive_reader *reader,
                           const struct gf_archive_member *member);
/* Notes that a picture is to be made of a link. False when out of memory. */
bool gf_archive_links_add(struct gf_archive_links *links, const char *name);
/* The member that a link leads to, under the link's name; links->again gives its bytes. *why: there
 * is none, and the member has no header; else NULL. */
enum gf_status gf_archive_links_open(struct gf_archive_links *links,
                                     const struct gf_archive_reader *reader, size_t number,
                                     struct gf_archive_member *member, const char **why,
                                     struct gf_error *error) GF_CHECKED;
void gf_archive_links_free(struct gf_archive_links *links);

#endif
