/* Runs a batch whose input or output is a film: a Y4M, or raw frames. */
#pragma once

#include "batch/workers/workers.h"

/* Runs the batch if its output is a film, or if its only input is one whose frames all become
 * pictures with numbers. *done is false if there is no film; the input of a stream is then open in
 * batch->opened. */
enum gf_status gf_frames_run(struct gf_batch *batch, bool *done, struct gf_error *error) GF_CHECKED;
