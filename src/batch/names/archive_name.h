/* Which arguments of -i and -o name archives. */
#ifndef GF_BATCH_NAMES_ARCHIVE_NAME_H
#define GF_BATCH_NAMES_ARCHIVE_NAME_H

#include <stdbool.h>

/* Whether an argument of -i or -o names an archive: by its extension, or by "tar:" before the name
 * of a file or before "-" for standard input and output. */
bool gf_archive_named(const char *argument);
/* Without the "tar:". */
const char *gf_archive_path(const char *argument);
/* The name of the packer of an archive of that name ("gzip"); NULL where none packs it. */
const char *gf_archive_packer(const char *argument);

#endif
