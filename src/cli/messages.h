/* What the program prints besides pictures: messages, and reports to the stream that is free. */
#ifndef GF_CLI_MESSAGES_H
#define GF_CLI_MESSAGES_H

#include <stdio.h>

#include "cli/command/command.h"

/* Prints "gpufilter: KIND TEXT" to standard error as one line; kind is "" or "warning: ". What
 * a terminal would obey, which file names may hold, becomes '?'. */
void gf_message_print(const char *kind, const char *text);
/* A warning; for gf_options.warn. */
void gf_message_warn(void *context, const char *text);

/* A further error of the run, or GF_OK: the graver of both becomes the run's, the other is printed.
 */
void gf_message_add_error(enum gf_status further, const struct gf_error *further_error,
                          enum gf_status *status, struct gf_error *error);

/* Standard error, for the program's own lines. */
FILE *gf_message_file(void);
/* From now on what libraries print to stderr is lost, on any thread: dav1d and libjxl say of a
 * damaged file what the program says itself, and cannot be told not to. To be called while there is
 * one thread. */
void gf_message_silence_libraries(void);

/* Where a report goes: standard output, unless the picture or the trace goes there. */
FILE *gf_report_file(const struct gf_command *command);
/* Flushes standard output; an error, such as a full disk, may stem from any earlier print. */
enum gf_status gf_flush_stdout(struct gf_error *error) GF_CHECKED;

/* Refuses a picture from standard input if that is a terminal. */
enum gf_status gf_check_stdin(struct gf_error *error) GF_CHECKED;

#endif
