/* The summary of a batch: one line when the batch is done, or one when a signal ends it. */
#ifndef GF_CLI_SUMMARY_H
#define GF_CLI_SUMMARY_H

#include "batch/batch.h"
#include "cli/command/command.h"

/* "3 files done, 1 skipped, in 0.52 s: 12.0 Mpixel, 5.8 pictures/s, bound by decode" */
void gf_summary_make(const struct gf_batch_state *state, char *text, size_t size);

/* Prepares the line that a signal prints: the counts, and the option by which to go on. Returns the
 * counts, which the batch keeps up to date. Without a call, and with --quiet, a signal prints
 * nothing. */
struct gf_batch_counts *gf_summary_prepare(const struct gf_command *command);
/* Prints the line; called by the signal handler. */
void gf_summary_interrupted(void);

/* Prints where the start of the devices spent its time, from the start of the program on. */
void gf_summary_start(void);

#endif
