/* The names of temporary files. A name contains the boot, the process and the time at which the
 * process started, and the file is locked while it is in use. A later run can therefore tell which
 * files a killed process left behind, and removes them. gf_abandon_outputs (pipeline.h), which a
 * signal handler calls, removes the files of its own process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct gf_temporary {
    char *path; /* NULL: there is no file */
    struct gf_temporary_slot *slot;
};

/* Makes a name next to the target and registers it, before the file exists. The first call for a
 * folder also removes the files there that killed processes left behind. Returns false with errno
 * after a failure. */
bool gf_temporary_begin(struct gf_temporary *temporary, const char *target);
/* Locks the file. Returns false if another process is about to remove the file, so that it must not
 * be used. */
bool gf_temporary_lock(int fd);
/* Ends the registration after the file was renamed. With `remove` it removes the file. errno does
 * not change. */
void gf_temporary_end(struct gf_temporary *temporary, bool remove);

/* Returns the length of a path's folder with its slash; 0 for a bare name. */
size_t gf_folder_length(const char *path);
/* Returns the folder of a path, "." for a bare name, which the caller frees. Returns NULL when out
 * of memory. */
char *gf_folder_of(const char *path);

/* Unnamed temporary files for bytes that are kept for later, and a function that writes all bytes
 * of a call. */

/* Returns the folder for temporary files: $TMPDIR, or /tmp. */
const char *gf_spool_folder(void);
/* Opens a file in gf_spool_folder() that has no name and vanishes when it is closed. Returns -1
 * with errno after a failure. */
int gf_spool_open(void);

/* Writes all bytes, however many write() accepts at once. Returns false with errno after a
 * failure. */
bool gf_write_fully(int fd, const void *data, size_t size);
