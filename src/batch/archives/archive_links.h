/* Follows links in an input archive for outputs that are files. In these outputs a link to a
 * picture becomes a picture of its own, as in the unpacked folder. For this the archive is read a
 * second time, if it is a file. */
#pragma once

#include "batch/archives/archive_file.h"

struct gf_archive_links {
    void *members; /* all members so far, in a tree of tsearch(), ordered by name */
    char **name;   /* the names of links that are to become pictures */
    size_t count;
    struct gf_archive_reader *again; /* the reader of the second reading; NULL: it has not begun */
};

/* Returns the name without ".", ".." and doubled slashes. The name is relative to the folder that
 * the first `length` bytes of `folder` name. The result is empty if the name leads out of the
 * archive. It is from malloc(); NULL when out of memory. */
char *gf_archive_resolve(const char *folder, size_t length, const char *name);

/* Notes the position of the member that the reader has found. Returns false when out of memory. */
bool gf_archive_links_note(struct gf_archive_links *links, const struct gf_archive_reader *reader,
                           const struct gf_archive_member *member);
/* Notes that a link is to become a picture. Returns false when out of memory. */
bool gf_archive_links_add(struct gf_archive_links *links, const char *name);
/* Finds the member that a link leads to and gives it the link's name; links->again reads its bytes.
 * *why becomes NULL or, if there is no such member, the reason; the member then has no header. */
enum gf_status gf_archive_links_open(struct gf_archive_links *links,
                                     const struct gf_archive_reader *reader, size_t number,
                                     struct gf_archive_member *member, const char **why,
                                     struct gf_error *error) GF_CHECKED;
void gf_archive_links_free(struct gf_archive_links *links);
