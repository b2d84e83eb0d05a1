/* Names the outputs of a batch before anything runs. */
#pragma once

#include "batch/request/request.h"

/* Names every output that can be named before the run: path[i * outputs + k], from malloc(), is
 * output k of input i. Fails if an output would overwrite another output or an input. */
enum gf_status gf_batch_name_outputs(const struct gf_batch_request *request, char **path,
                                     struct gf_error *error) GF_CHECKED;

/* Fails if the log is the input, which the log would change, or the output, which would replace the
 * log; `log` and `output` may be NULL. */
enum gf_status gf_batch_check_log(const struct gf_batch_log *log, const char *input,
                                  const char *output, struct gf_error *error) GF_CHECKED;

/* Opens a pipeline for calls of gf_pipeline_peek() about an output, unless the pipeline is open. */
enum gf_status gf_batch_open_header_reader(const struct gf_batch_request *request, int output,
                                           struct gf_pipeline **reader,
                                           struct gf_error *error) GF_CHECKED;
