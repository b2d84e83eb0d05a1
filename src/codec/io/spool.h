/* Unnamed temporary files for bytes that have to be held back, and write() without partial
 * writes. */
#ifndef GF_CODEC_IO_SPOOL_H
#define GF_CODEC_IO_SPOOL_H

#include <stdbool.h>
#include <stddef.h>

/* The folder for temporary files: $TMPDIR, or /tmp. */
const char *gf_spool_folder(void);
/* Opens a file in gf_spool_folder() that has no name and vanishes when it is closed. -1 with
 * errno. */
int gf_spool_open(void);

/* Writes all bytes, however many write() takes at once. False with errno. */
bool gf_write_fully(int fd, const void *data, size_t size);

#endif
