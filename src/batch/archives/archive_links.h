/* Links in an input archive, for outputs that are files: a link to a picture becomes a picture of
 * its own there, as in the unpacked folder. For this the archive is read again, where it is a
 * file. */
#ifndef GF_BATCH_ARCHIVES_ARCHIVE_LINKS_H
#define GF_BATCH_ARCHIVES_ARCHIVE_LINKS_H

#include "batch/archives/archive_file.h"

struct gf_archive_links {
    void *members; /* all members so far, by their names; a tree of tsearch() */
    char **name;   /* [count] of links that are to be made */
    size_t count, capacity;
    struct gf_archive_reader *again; /* NULL: nothing was read again yet */
};

/* The name without ".", ".." and doubled slashes. It begins in the folder that the first `length`
 * bytes of `folder` name. Empty where it leads out of the archive. From malloc(); NULL when out of
 * memory. */
char *gf_archive_resolve(const char *folder, size_t length, const char *name);

/* Notes the position of the member that the reader has found. False when out of memory. */
bool gf_archive_links_note(struct gf_archive_links *links, const struct gf_archive_reader *reader,
                           const struct gf_archive_member *member);
/* Notes that a picture is to be made of a link. False when out of memory. */
bool gf_archive_links_add(struct gf_archive_links *links, const char *name);
/* Finds the member that a link leads to, under the link's name; links->again reads its bytes. *why:
 * the reason why there is none, and the member has no header; else NULL. */
enum gf_status gf_archive_links_open(struct gf_archive_links *links,
                                     const struct gf_archive_reader *reader, size_t number,
                                     struct gf_archive_member *member, const char **why,
                                     struct gf_error *error) GF_CHECKED;
void gf_archive_links_free(struct gf_archive_links *links);

#endif
