/* A cell: a process that decodes pictures and can do nothing else. It is the program itself,
 * executed anew, with no files, no network and few system calls; it gets one open file, and gives
 * back rows through shared memory. The program checks what a cell sends as if a stranger had sent
 * it. */
#pragma once

#include "codec/common/opening.h"

/* The hidden first argument of a cell's process; the second is the format's word, such as
 * "webp". */
#define GF_CELL_ARGUMENT "--decoder-cell"

/* Opens the picture in a cell of that format (its word, such as "webp"). The input must be at the
 * picture's start. by_name: the cell's library opens the file by its name. *absent becomes true if
 * this machine or the build has no cells, or none that can open a file by its name; the call then
 * fails and leaves the input as it was. The call fails with GF_ERROR_MEMORY if a cell cannot be
 * started at the moment. */
enum gf_status gf_cell_source_open(struct gf_input *input, const char *format, bool by_name,
                                   const struct gf_options *options, struct gf_source **source,
                                   bool *absent, struct gf_error *error) GF_CHECKED;

/* Starts a cell unless one was started before. `holds`, of 160 bytes, gets a text that says which
 * mechanisms confine it. Fails with the reason where there are no cells. */
enum gf_status gf_cell_try(const struct gf_options *options, char *holds,
                           struct gf_error *error) GF_CHECKED;

/* Warns that this machine has no cells if an attempt to start one has shown that. Only the first
 * call in a process warns. */
void gf_cells_warn(const struct gf_options *options);

/* Makes cells read, from now on, the ICC profiles whose struct gf_icc asks for that. */
void gf_cells_read_profiles(void);

/* Cells live on, to decode further pictures, while users have joined and not left. */
void gf_cells_join(void);
void gf_cells_leave(void);

/* What the children of a zygote do. */
struct gf_cell_work {
    bool threads;           /* they may start threads */
    gf_source_opener *open; /* opens pictures */
    /* Makes the libraries load all that they need, before the first fork; may be NULL. */
    enum gf_status (*warm)(struct gf_error *error);
    /* NULL, or the library opens the picture by its name: a child may read the file and this
     * folder, and nothing else. */
    gf_folder_call *folder;
};

/* Runs a zygote: a process whose forked children become cells. Each child confines itself and
 * serves until the program closes its socket. Returns the exit status. */
int gf_cell_serve(const struct gf_cell_work *work);
