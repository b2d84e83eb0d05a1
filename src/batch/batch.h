/* Runs many pictures through one chain. A worker is a thread with a pipeline of its own. Workers
 * take one file after another and process each from start to end. This keeps every core and the GPU
 * busy and bounds memory, and a file that fails does not affect the others. Messages come in the
 * order of the inputs, whichever picture is finished first. */
#pragma once

#include "batch/request/request.h"

/* Runs the batch. For a single input, the status and the error are the input's. For several, each
 * failing file has a message, and the error is the summary. */
enum gf_status gf_batch_run(const struct gf_batch_request *request, struct gf_batch_state *state,
                            struct gf_error *error) GF_CHECKED;
