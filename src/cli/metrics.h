/* The file of --metrics: the counts of a batch in Prometheus' text format, for the textfile
 * collector of node_exporter. */
#ifndef GF_CLI_METRICS_H
#define GF_CLI_METRICS_H

#include "batch/batch.h"

/* Replaces the file by one with these counts. */
enum gf_status gf_metrics_write(const char *path, const struct gf_batch_state *state,
                                struct gf_error *error) GF_CHECKED;

#endif
