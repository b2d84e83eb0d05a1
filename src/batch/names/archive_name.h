/* Tells which arguments of -i and -o name archives. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether an argument of -i or -o names an archive: by its extension, or by "tar:" before the name
 * of a file or before "-" for standard input and output. */
bool gf_archive_named(const char *argument);
/* Returns the argument without "tar:". */
const char *gf_archive_path(const char *argument);
/* Returns the length of a name without folder that is left without its extension, which is that of
 * an archive, as in "train.tar.gz", or another one. */
size_t gf_archive_stem(const char *name);
/* Returns the name of the packer for an archive of that name, such as "gzip"; NULL if the archive
 * is not packed. */
const char *gf_archive_packer(const char *argument);
