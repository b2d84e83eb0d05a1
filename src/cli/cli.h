/* What the files of the program share: messages and reports, the progress of a batch, the actions,
 * and the end of the program. Messages go to standard error. Reports go to standard output, to
 * standard error if a picture or the trace is written there, or to files, which appear complete
 * or not at all. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/text/json.h"
#include "batch/batch.h"
#include "cli/command/command.h"
#include "codec/io/output.h"

/* Prints "gpufilter: KIND TEXT" to standard error as one line; `kind` is "" or "warning: ". Control
 * characters, which file names may contain and terminals obey, become '?'. */
void gf_message_print(const char *kind, const char *text);
/* Prints a warning; this is the function gf_options.warn of the program. */
void gf_message_warn(void *context, const char *text);
/* Prints a warning about a picture, "NAME: TEXT", unless one of its kind was printed for another
 * picture: then it is counted. Two are of one kind if their texts differ in numbers and in the name
 * alone. gf_message_more_warnings() prints, for each kind, of how many further pictures it is. */
void gf_message_warn_once(const char *text);
void gf_message_more_warnings(void);

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

/* Writes a report to the stream. */
typedef enum gf_status gf_report_writer(FILE *file, const void *context, struct gf_error *error);

/* Opens the output file that an option names. A name that cannot be an output's is
 * GF_ERROR_USAGE. */
enum gf_status gf_report_open(const char *path, struct gf_output **output,
                              struct gf_error *error) GF_CHECKED;
/* Calls `write` with a stream that leads to the output, and commits the output. */
enum gf_status gf_report_write(struct gf_output *output, gf_report_writer *write,
                               const void *context, struct gf_error *error) GF_CHECKED;

/* ---- the progress of a batch (progress.c) ---- */

/* Shows the progress of a batch: a bar on a terminal, lines of text, or lines of JSON; the file of
 * --metrics; and one line when the batch is done, or when a signal ends it. */

struct gf_progress {
    FILE *file;
    enum gf_progress_form form; /* the chosen form, never AUTO */
    double tick_s;              /* seconds between two calls of gf_progress_show() */
    int columns;
    bool colour;
    bool drawn;  /* the bar stands in the terminal's last line */
    bool single; /* there is one input, and the bar shows how much of its picture is done */
};

/* Returns a progress that prints to `file`. AUTO means a bar if the file is a terminal, else a line
 * every ten seconds. For a single input no lines are printed, and the bar appears after a
 * second. */
struct gf_progress gf_progress_make(FILE *file, enum gf_progress_form form, size_t inputs);
void gf_progress_show(struct gf_progress *progress, const struct gf_batch_state *state,
                      bool at_end);
/* Removes the bar, so that something else can be printed in its place. */
void gf_progress_clear(struct gf_progress *progress);

/* ---- the summary of a batch: one line when the batch is done, or when a signal ends it ---- */

/* Writes a summary such as "3 files done, 1 skipped, in 0.52 s: 12.0 Mpixel, 5.8 pictures/s, bound
 * by decode". */
void gf_summary_make(const struct gf_batch_state *state, char *text, size_t size);

/* Prepares the line that a signal prints: the counts, and the option by which a later run can
 * continue. Returns the counts, which the batch updates. Without this call, and with --quiet, a
 * signal prints nothing. */
struct gf_batch_counts *gf_summary_prepare(const struct gf_command *command);
/* Prints the line that gf_summary_prepare() has prepared. The signal handler calls this
 * function. */
void gf_summary_interrupted(void);

/* Prints how long each step of the start of the devices took, in ms since the start of the
 * program. */
void gf_summary_start(void);

/* ---- the file of --metrics: the counts of a batch in Prometheus' text format, for the textfile
 * collector of node_exporter ---- */

/* Replaces the file of --metrics by one with the counts of `state`. */
enum gf_status gf_metrics_write(const char *path, const struct gf_batch_state *state,
                                struct gf_error *error) GF_CHECKED;

/* ---- the actions, except for those of the study (study/study.h) ---- */

/* Filters every input into its output (filter_pictures.c). */
enum gf_status gf_act_filter(struct gf_command *command, struct gf_error *error) GF_CHECKED;
enum gf_status gf_act_calibrate(const struct gf_command *command,
                                struct gf_error *error) GF_CHECKED;
/* Does the actions --serve and --serve=stop (actions.c). */
enum gf_status gf_act_serve(struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* Does the action --compare (likeness_run.c). */
enum gf_status gf_act_compare(const struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* The keys of the JSON that --compare prints, for the manual; {0} ends them. */
extern const struct gf_key_help gf_likeness_keys[];
/* Does the action --report=json:FILE (actions.c), if that form of --report was asked for. */
bool gf_account_asked(const struct gf_command *command);
enum gf_status gf_act_account(const struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* Does the action --info (info.c). */
enum gf_status gf_act_info(const struct gf_command *command, struct gf_error *error) GF_CHECKED;

/* ---- the end of the program (leave.c) ---- */

/* Ends the process with that status, in the way that gf_leaving() returns. Standard output must
 * have been flushed. */
_Noreturn void gf_leave(int status);

enum gf_leaving {
    GF_LEAVING_ORDERLY,     /* by exit(); no device is being started */
    GF_LEAVING_AT_ONCE,     /* by _exit(), while a device that nobody needs is being started */
    GF_LEAVING_HANDING_OVER /* by gf_leave_handing_over(): a clone does the teardown */
};

/* Returns how to end the process. `starting`: a device is being started; `started`: a device has
 * started; `shared`: other processes may use the started devices at the same time; `replaced`: a
 * large file that was replaced is still to be freed. The teardown is not handed over if the next
 * process would find a device in use. The end is orderly if a tool is loaded that watches CUDA or
 * the end of the program. */
enum gf_leaving gf_leaving(bool starting, bool started, bool shared, bool replaced);

/* Ends the process with that status and hands its teardown over to a clone. The driver needs 65 ms
 * (H200) to destroy a context, and the kernel 10 ms to free a file of 100 MB in memory. A process
 * that waits for this one need not wait for that. The clone shares the memory and the open files
 * and keeps them until the process has ended. It closes the standard streams at once, and ends
 * after the process. If no clone can be made, the process ends in the usual way. */
_Noreturn void gf_leave_handing_over(int status);
