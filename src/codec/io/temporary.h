/* The names of files that are being written, where they need one. A name states the boot, the
 * process and the time at which that started, and the file is locked while it is in use: a later
 * run can tell which files a killed process left behind, and removes them. gf_abandon_outputs
 * (pipeline.h), which a signal handler calls, removes those of this process. */
#ifndef GF_CODEC_IO_TEMPORARY_H
#define GF_CODEC_IO_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>

struct gf_temporary {
    char *path; /* NULL: there is no such file */
    struct gf_temporary_slot *slot;
};

/* Makes a name beside the target and registers it, before the file exists. Removes, once for each
 * folder, what dead processes left there. False with errno. */
bool gf_temporary_begin(struct gf_temporary *temporary, const char *target);
/* Locks the file. False where it must not be used: another process is about to remove it. */
bool gf_temporary_lock(int fd);
/* Ends the registration, after the file was renamed; with `remove` removes the file. Keeps errno.
 */
void gf_temporary_end(struct gf_temporary *temporary, bool remove);

/* The length of a path's folder with its slash; 0 for a bare name. */
size_t gf_folder_length(const char *path);
/* The folder itself, "." of a bare name, to be freed; NULL: out of memory. */
char *gf_folder_of(const char *path);

#endif
