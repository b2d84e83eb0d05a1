/* Runs a batch whose pictures become parts of sheets. */
#pragma once

#include "batch/workers/workers.h"

/* Names the page of each picture: path[i], from malloc(), is that of input i. Fails if a page
 * cannot have its name. */
enum gf_status gf_sheet_name_pages(const struct gf_batch_request *request, char **path,
                                   struct gf_error *error) GF_CHECKED;
/* Runs `workers` workers until the pictures are done, and writes the pages. */
enum gf_status gf_sheet_work(struct gf_batch *batch, int workers,
                             struct gf_error *error) GF_CHECKED;
