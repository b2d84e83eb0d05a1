/* Runs a batch with tar archives. The members of an input archive stream in their order, with their
 * names, times and modes, into other archives and into files. In an archive a picture whose format
 * changes gets the new format's extension. Members whose names are not names of pictures are copied
 * unchanged. Input files go into archives, too. A member is written when it is complete. A damaged
 * member is reported and left out, or ends the run (fail_fast). */
#pragma once

#include "gpufilter/status.h"

struct gf_batch;

/* Runs a batch for which gf_batch_has_archives() holds. */
enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error) GF_CHECKED;
