/* Takes from a process what a decoder does not need: files, network, other processes, most system
 * calls. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gpufilter/status.h"

/* Returns the failure of a system call: GF_ERROR_UNAVAILABLE where errno says that the machine has
 * no cells, GF_ERROR_MEMORY for everything that may pass. */
enum gf_status gf_cell_fail_errno(int why, const char *what, struct gf_error *error);

/* Prepares the lock of this process's children. `threads`: they may start threads. Fails where the
 * build has no libseccomp. */
enum gf_status gf_cell_lock_prepare(bool threads, struct gf_error *error) GF_CHECKED;

/* Locks the calling process, a child, for good. *landlock gets the version of Landlock's interface,
 * 0 where the kernel has none: then the list of system calls alone keeps files and network away.
 * Fails where the kernel or a container does not allow the list, and where memory runs out. */
enum gf_status gf_cell_lock(uint32_t *landlock, struct gf_error *error) GF_CHECKED;

/* False in a build for a sanitizer, whose own system calls are not in the list. */
extern const bool gf_cell_lock_is_real;
