/* Writes reports to files. A file appears complete or not at all. */
#pragma once

#include <stdio.h>

#include "codec/io/output.h"

/* Writes a report to the stream. */
typedef enum gf_status gf_report_writer(FILE *file, const void *context, struct gf_error *error);

/* Opens the file that an option names: a name that cannot be is a mistake of the command line. */
enum gf_status gf_report_open(const char *path, struct gf_output **output,
                              struct gf_error *error) GF_CHECKED;
/* Calls `write` with a stream that leads to the output, and commits the output. */
enum gf_status gf_report_write(struct gf_output *output, gf_report_writer *write,
                               const void *context, struct gf_error *error) GF_CHECKED;
