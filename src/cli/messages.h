/* Prints messages and reports. Messages go to standard error. Reports go to standard output, to
 * standard error if a picture or the trace is written there, or to files, which appear complete
 * or not at all. */
#pragma once

#include <stdio.h>

#include "cli/command/command.h"
#include "codec/io/output.h"

/* Prints "gpufilter: KIND TEXT" to standard error as one line; `kind` is "" or "warning: ". Control
 * characters, which file names may contain and terminals obey, become '?'. */
void gf_message_print(const char *kind, const char *text);
/* Prints a warning; this is the function gf_options.warn of the program. */
void gf_message_warn(void *context, const char *text);

/* Adds a further error, or GF_OK, to the run's error. The graver of the two becomes the run's
 * error, and the other one is printed. */
void gf_message_add_error(enum gf_status further, const struct gf_error *further_error,
                          enum gf_status *status, struct gf_error *error);

/* Returns the stream of standard error, for the program's own lines. */
FILE *gf_message_file(void);
/* Discards whatever libraries print to stderr from now on, on any thread. dav1d and libjxl print
 * that a file is damaged, as the program itself does, and have no option to prevent that. The
 * process must have only one thread. */
void gf_message_silence_libraries(void);

/* Returns the stream for a report: standard output, unless the picture or the trace goes there;
 * then standard error. */
FILE *gf_report_file(const struct gf_command *command);
/* Flushes standard output. An error, such as a full disk, may come from any earlier print. */
enum gf_status gf_flush_stdout(struct gf_error *error) GF_CHECKED;

/* Refuses a picture from standard input if standard input is a terminal. */
enum gf_status gf_check_stdin(struct gf_error *error) GF_CHECKED;

/* Writes reports to files. A file appears complete or not at all. */

/* Writes a report to the stream. */
typedef enum gf_status gf_report_writer(FILE *file, const void *context, struct gf_error *error);

/* Opens the file that an option names: a name that cannot be is a mistake of the command line. */
enum gf_status gf_report_open(const char *path, struct gf_output **output,
                              struct gf_error *error) GF_CHECKED;
/* Calls `write` with a stream that leads to the output, and commits the output. */
enum gf_status gf_report_write(struct gf_output *output, gf_report_writer *write,
                               const void *context, struct gf_error *error) GF_CHECKED;
