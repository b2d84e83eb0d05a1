/* How a batch goes on, for people and for programs: a bar on a terminal, plain lines now and then,
 * or JSON lines. */
#ifndef GF_CLI_PROGRESS_H
#define GF_CLI_PROGRESS_H

#include <stdio.h>

#include "batch/batch.h"
#include "cli/command.h"

struct gf_progress {
    FILE *file;
    enum gf_progress_form form; /* settled: not AUTO */
    double tick_s;              /* between two calls of show */
    int columns;
    bool colour;
    bool drawn;   /* the bar stands in the terminal's last line */
    bool started; /* something was shown */
};

/* AUTO is a bar where the file is a terminal; of a single input, nothing. */
struct gf_progress gf_progress_make(FILE *file, enum gf_progress_form form, size_t inputs);
void gf_progress_show(struct gf_progress *progress, const struct gf_batch_state *state,
                      bool at_end);
/* Before something else is printed there. */
void gf_progress_clear(struct gf_progress *progress);

/* The kind of work that took most time so far: "decode", "upload", "filter", "download", "encode";
 * "" before. */
const char *gf_progress_bound(const struct gf_batch_state *state);

#endif
