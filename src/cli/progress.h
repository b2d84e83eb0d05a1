/* Shows how a batch gets on: a bar on a terminal, lines of text, or lines of JSON; the file of
 * --metrics; and one line when the batch is done, or when a signal ends it. */
#pragma once

#include <stdio.h>

#include "batch/batch.h"
#include "cli/command/command.h"

struct gf_progress {
    FILE *file;
    enum gf_progress_form form; /* never AUTO */
    double tick_s;              /* the time between two calls of gf_progress_show() */
    int columns;
    bool colour;
    bool drawn;  /* the bar is in the terminal's last line */
    bool single; /* there is one input, and the bar shows how much of its picture is done */
};

/* Returns a progress that prints to `file`. AUTO means a bar if the file is a terminal, else a line
 * every ten seconds. A single input has no lines, and its bar begins after a second. */
struct gf_progress gf_progress_make(FILE *file, enum gf_progress_form form, size_t inputs);
void gf_progress_show(struct gf_progress *progress, const struct gf_batch_state *state,
                      bool at_end);
/* Removes the bar, so that something else can be printed in its place. */
void gf_progress_clear(struct gf_progress *progress);

/* Prints the summary of a batch: one line when the batch is done, or when a signal ends it. */

/* Writes a summary such as "3 files done, 1 skipped, in 0.52 s: 12.0 Mpixel, 5.8 pictures/s, bound
 * by decode". */
void gf_summary_make(const struct gf_batch_state *state, char *text, size_t size);

/* Prepares the line that a signal prints: the counts, and the option by which a later run goes on.
 * Returns the counts, which the batch updates. Without this call, and with --quiet, a signal prints
 * nothing. */
struct gf_batch_counts *gf_summary_prepare(const struct gf_command *command);
/* Prints the line. The signal handler calls this function. */
void gf_summary_interrupted(void);

/* Prints how long each step of the start of the devices took, from the start of the program on. */
void gf_summary_start(void);

/* The file of --metrics: the counts of a batch in Prometheus' text format, for the textfile
 * collector of node_exporter. */

/* Replaces the file by one with these counts. */
enum gf_status gf_metrics_write(const char *path, const struct gf_batch_state *state,
                                struct gf_error *error) GF_CHECKED;
