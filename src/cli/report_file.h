/* Writes reports to files. A file appears complete or not at all. */
#pragma once

#include <stdio.h>

#include "codec/io/output.h"

/* Writes a report to the stream. */
typedef enum gf_status gf_report_writer(FILE *file, const void *context, struct gf_error *error);

/* Calls `write` with a stream that leads to the output, and commits the output. */
enum gf_status gf_report_write(struct gf_output *output, gf_report_writer *write,
                               const void *context, struct gf_error *error) GF_CHECKED;
