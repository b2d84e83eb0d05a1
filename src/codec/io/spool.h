/* Unnamed temporary files for bytes that are kept for later, and a function that writes all bytes
 * of a call. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the folder for temporary files: $TMPDIR, or /tmp. */
const char *gf_spool_folder(void);
/* Opens a file in gf_spool_folder() that has no name and vanishes when it is closed. Returns -1
 * with errno after a failure. */
int gf_spool_open(void);

/* Writes all bytes, however many write() accepts at once. Returns false with errno after a
 * failure. */
bool gf_write_fully(int fd, const void *data, size_t size);
