/* Unnamed temporary files for what has to be held back, and writing that does not stop half-way. */
#ifndef GF_CODEC_IO_SPOOL_H
#define GF_CODEC_IO_SPOOL_H

#include <stdbool.h>
#include <stddef.h>

/* $TMPDIR, or /tmp. */
const char *gf_spool_folder(void);
/* A file there that nobody else sees and that vanishes when closed. -1: errno says why. */
int gf_spool_open(void);

/* All of it, whatever write() takes at once. False: errno says why. */
bool gf_write_fully(int fd, const void *data, size_t size);

#endif
