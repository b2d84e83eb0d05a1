/* Shows the progress of a batch: a bar on a terminal, lines of text, or lines of JSON. */
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

/* Returns the kind of work that has taken most time: "decode", "upload", "filter", "download" or
 * "encode"; "" at the begin. */
const char *gf_progress_bound(const struct gf_batch_state *state);
