/* Lines of a text that may have no end: a device, a pipe. */
#ifndef GF_BASE_LINE_H
#define GF_BASE_LINE_H

#include <stddef.h>
#include <stdio.h>

enum { GF_LINE_MOST = 1 << 20 };

/* Reads to the byte `end`, which it keeps, or to the end of the file; a zero follows. line: of
 * GF_LINE_MOST + 1 bytes. Returns how many there are: 0 at the end of the file or after an error;
 * GF_LINE_MOST where the line is too long. */
size_t gf_line_read(FILE *file, int end, char *line);

#endif
