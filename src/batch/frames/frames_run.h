/* Runs a batch whose only input is a film: a Y4M, or raw frames. */
#ifndef GF_BATCH_FRAMES_FRAMES_RUN_H
#define GF_BATCH_FRAMES_FRAMES_RUN_H

#include "batch/workers/workers.h"

/* Runs the batch if its input is a film whose frames are all wanted: the output is a film too, or
 * its frames are numbered. *done is false if it is none; the input of a stream is then open in
 * batch->opened. */
enum gf_status gf_frames_run(struct gf_batch *batch, bool *done, struct gf_error *error) GF_CHECKED;

#endif
