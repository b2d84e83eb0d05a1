/* Texts from other programs: how they begin, and lines of one that may have no end, as a device's
 * or a pipe's. */
#ifndef GF_BASE_LINE_H
#define GF_BASE_LINE_H

#include <stddef.h>
#include <stdio.h>

#include "gpufilter/status.h"

enum { GF_LINE_MOST = 1 << 20 };

/* How many bytes at the beginning of a text are a byte order mark, and no text: 3 or 0. `failure`
 * for UTF-16, which the error says without the file's name. */
enum gf_status gf_text_mark(const char *text, size_t size, enum gf_status failure, size_t *bytes,
                            struct gf_error *error) GF_CHECKED;

/* Reads to the byte `end`, which it keeps, or to the end of the file; a zero follows. line: of
 * GF_LINE_MOST + 1 bytes. Returns how many there are: 0 at the end of the file or after an error;
 * GF_LINE_MOST where the line is too long. */
size_t gf_line_read(FILE *file, int end, char *line);

#endif
