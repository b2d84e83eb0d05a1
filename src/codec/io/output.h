/* Writes an output that appears complete or not at all. The bytes go to a temporary file in the
 * target's folder (without a name if the file system allows it), which commit renames over the
 * target. For standard output, a FIFO or a device the bytes are kept in a spool file, which commit
 * copies. An existing target keeps its permissions, access control list and user attributes, and a
 * symbolic link is followed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "gpufilter/status.h"

struct gf_output;

/* The options of an output. All are off unless gf_output_set_options() sets them. */
struct gf_output_options {
    bool no_clobber;       /* fail if the file exists, even if it appeared just before the commit */
    bool sync;             /* the commit waits until the file and its folder are on the disk */
    uint64_t max_bytes;    /* a larger output is GF_ERROR_UNFIT; 0: no limit */
    uint64_t bytes_before; /* bytes that other outputs have already used of max_bytes */
};
void gf_output_set_options(struct gf_output *output, struct gf_output_options options);
/* Sets the times of the last access and change that the output's file gets. Standard output,
 * devices and outputs in memory have none. */
void gf_output_set_times(struct gf_output *output, const struct timespec times[2]);
int64_t gf_output_size(const struct gf_output *output); /* number of bytes written so far */
enum gf_status gf_output_open(const char *path, struct gf_output **output,
                              struct gf_error *error) GF_CHECKED;
/* Opens an output in memory; the name is for messages. */
enum gf_status gf_output_open_memory(const char *name, struct gf_output **output,
                                     struct gf_error *error) GF_CHECKED;
/* Gives the output a folder of files: an output in memory then stands for the folder alone, and a
 * file is complete after its folder, `target`, is. The commit replaces an older folder of tiles,
 * and no other folder. */
enum gf_status gf_output_add_folder(struct gf_output *output, const char *target,
                                    struct gf_error *error) GF_CHECKED;
/* Writes a file to the folder; `name` may lead through folders, which are made. */
enum gf_status gf_output_put_file(struct gf_output *output, const char *name, const void *data,
                                  size_t size, struct gf_error *error) GF_CHECKED;
/* Opens an output to a file that another process puts in its place; gf_output_commit() here only
 * finishes the writing. The output owns the descriptor from now on, even after a failure. */
enum gf_status gf_output_open_descriptor(int descriptor, const char *name,
                                         struct gf_output **output,
                                         struct gf_error *error) GF_CHECKED;
/* Returns the descriptor of the file that receives the output's bytes, for another process to write
 * from its start; -1: there is none. An output in memory gets a file for that. */
int gf_output_descriptor(struct gf_output *output);
/* Tells the output that another process has written `size` bytes to its file; they count as the
 * output's from now on. */
enum gf_status gf_output_adopt(struct gf_output *output, int64_t size,
                               struct gf_error *error) GF_CHECKED;
/* Makes an output in memory, to which nothing was written yet, write to `size` bytes of the
 * caller's memory; if they do not suffice, it moves to memory of its own. */
void gf_output_borrow(struct gf_output *output, void *memory, size_t size);
/* Returns the bytes of a committed output in memory. The caller frees them. */
void *gf_output_take(struct gf_output *output, size_t *size);
/* Returns the path to which symbolic links lead, even if no file exists there yet. The caller frees
 * it. Returns NULL with errno. */
char *gf_output_resolve(const char *path);
const char *gf_output_name(const struct gf_output *output);
/* Announces that `size` bytes will be written from here on, by one of `threads` threads. The disk
 * space of a large file is then allocated in the background, and the memory of an output in memory
 * at once. */
void gf_output_expect(struct gf_output *output, int64_t size, int threads);
enum gf_status gf_output_write(struct gf_output *output, const void *data, size_t size,
                               struct gf_error *error) GF_CHECKED;
/* Lends `size` bytes of an output in memory, so that nothing is copied: the caller fills them and
 * passes them to its next gf_output_write(). Returns NULL for other outputs and when out of
 * memory. */
unsigned char *gf_output_lend(struct gf_output *output, size_t size);
/* Replaces bytes that were written. The new bytes must end before gf_output_size(). */
enum gf_status gf_output_write_at(struct gf_output *output, int64_t offset, const void *data,
                                  size_t size, struct gf_error *error) GF_CHECKED;
/* Reads bytes that were written; they must end before gf_output_size(). */
enum gf_status gf_output_read_at(struct gf_output *output, int64_t offset, void *data, size_t size,
                                 struct gf_error *error) GF_CHECKED;
/* Drops the bytes that were written so far, and starts again at offset 0. */
enum gf_status gf_output_rewind(struct gf_output *output, struct gf_error *error) GF_CHECKED;
enum gf_status gf_output_commit(struct gf_output *output, struct gf_error *error) GF_CHECKED;
/* From now on the process keeps the first large file open that an output replaces. Freeing a file's
 * pages takes the kernel as long as writing them; with this call only the end of the process waits
 * for that. */
void gf_output_keep_replaced(void);
bool gf_output_keeps_replaced(void);            /* whether a replaced file is being kept open */
void gf_output_close(struct gf_output *output); /* also removes an output that was not committed */

/* ---- temporary files (temporary.c) ---- */

/* The name of a temporary file contains the boot, the process and the time at which the
 * process started, and the file is locked while it is in use. A later run can therefore tell which
 * files a killed process left behind, and removes them. gf_abandon_outputs (pipeline.h), which a
 * signal handler calls, removes the files of its own process. */

struct gf_temporary {
    char *path; /* path of the temporary file; NULL: there is none */
    struct gf_temporary_slot *slot;
};

/* Makes what `make` makes under a name next to the target, and registers it. If make() fails with
 * EEXIST, another name is tried. The first call for a folder also removes the files there that
 * killed processes left behind. Returns false with errno after a failure. */
bool gf_temporary_make(struct gf_temporary *temporary, const char *target,
                       bool (*make)(void *context, const char *path), void *context);
/* Between these two calls the thread changes what has the temporary name: it renames it, or makes
 * files in it. A signal handler removes it only after that or before, which the first call then
 * waits for. gf_temporary_end() releases, too. */
void gf_temporary_hold(struct gf_temporary *temporary);
void gf_temporary_release(struct gf_temporary *temporary);
/* Waits while a signal handler removes files, at whose end the process usually ends. Who tells of
 * failures calls it first, since some fail because of that. */
void gf_temporary_wait(void);
/* Locks the file. Returns false with EEXIST if another process is about to remove the file, so that
 * it must not be used. */
bool gf_temporary_lock(int fd);
/* Makes a file, or a folder if the mode has S_IFDIR, by gf_temporary_make(), and locks it. Returns
 * its descriptor; -1 with errno after a failure. */
int gf_temporary_open(struct gf_temporary *temporary, const char *target, mode_t mode);
int gf_temporary_spool(struct gf_temporary *temporary, const char *name,
                       mode_t mode); /* the same in gf_spool_folder() */
/* Ends the registration after the file was renamed. With `remove` it removes the file. errno does
 * not change. */
void gf_temporary_end(struct gf_temporary *temporary, bool remove);
/* What gf_abandon_outputs() does, in a process that then ends: from now on no output appears, and
 * none is told to have failed. */
void gf_outputs_end(void);

/* Removes a file, or a folder with all that it holds, from the open folder `folder`. */
bool gf_remove_tree(int folder, const char *name);

/* Returns the length of a path's folder with its slash; 0 for a bare name. */
size_t gf_folder_length(const char *path);
/* Returns the folder of a path, "." for a bare name, which the caller frees. Returns NULL when out
 * of memory. */
char *gf_folder_of(const char *path);

/* ---- unnamed temporary files, for bytes that are kept for later ---- */

/* Returns the folder for temporary files: $TMPDIR, or /tmp. */
const char *gf_spool_folder(void);
/* Opens a file in gf_spool_folder() that has no name and vanishes when it is closed. Returns -1
 * with errno after a failure. */
int gf_spool_open(void);

/* Writes all bytes, with as many calls of write() as necessary. Returns false with errno after a
 * failure. */
bool gf_write_fully(int fd, const void *data, size_t size);
