/* A cell: a process that decodes pictures and can do nothing else. It is the program itself,
 * executed anew, with no files, no network and few system calls; it gets one open file, and gives
 * back rows through shared memory. What it sends is checked as a stranger's. */
#pragma once

#include "codec/common/opening.h"

/* The hidden first argument of a cell's process; the second is the word of a format. */
#define GF_CELL_ARGUMENT "--decoder-cell"

/* Opens the picture in a cell of that format (its word, such as "webp"). The input must be at the
 * picture's start. *absent: this machine or the build has no cells, so that the call fails and the
 * input is as it was. A cell that could not be started now is GF_ERROR_MEMORY. */
enum gf_status gf_cell_source_open(struct gf_input *input, const char *format,
                                   const struct gf_options *options, struct gf_source **source,
                                   bool *absent, struct gf_error *error) GF_CHECKED;

/* Starts a cell unless one was started before. `holds`, of 160 bytes, gets what keeps it in. Fails
 * with the reason where there are no cells. */
enum gf_status gf_cell_try(const struct gf_options *options, char *holds,
                           struct gf_error *error) GF_CHECKED;

/* Warns, once in the process, of a machine that has no cells, if that was found out. */
void gf_cells_warn(const struct gf_options *options);

/* From now on cells read the ICC profiles that say so (struct gf_icc). */
void gf_cells_read_profiles(void);

/* Cells wait for further pictures until the last user has left. */
void gf_cells_join(void);
void gf_cells_leave(void);

/* The process of a zygote, whose children become cells: each locks itself and serves until the
 * other side hangs up. `threads`: they may start threads; `open` opens pictures; `warm` makes the
 * libraries load all they need before. Returns the exit status. */
int gf_cell_serve(bool threads, enum gf_status (*warm)(struct gf_error *), gf_source_opener *open);
