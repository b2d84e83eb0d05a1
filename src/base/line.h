/* Reads texts of other programs: the byte order mark of a text, and its lines. The input may be
 * endless, such as a device or a pipe. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "gpufilter/status.h"

enum { GF_LINE_MOST = 1 << 20 };

/* Sets *bytes to the length of the byte order mark at the beginning of a text: 3 or 0. For text in
 * UTF-16 it returns `failure`, with an error that does not name the file. */
enum gf_status gf_text_mark(const char *text, size_t size, enum gf_status failure, size_t *bytes,
                            struct gf_error *error) GF_CHECKED;

/* Reads up to and including the byte `end`, or to the end of the file, and appends a zero. `line`
 * has GF_LINE_MOST + 1 bytes. Returns the number of bytes read: 0 at the end of the file or after
 * an error; GF_LINE_MOST if the line is too long. */
size_t gf_line_read(FILE *file, int end, char *line);
