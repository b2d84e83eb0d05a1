/* Zygotes: processes that have loaded a format's library and fork a cell whenever one is wanted. A
 * zygote reads nothing of a stranger. It is the parent of its cells: they end with it, and it ends
 * with the program. */
#pragma once

#include <sys/types.h>

#include "codec/cell/messages.h"

enum { GF_CELL_START_MS = 30000 };

/* ---- the program's side ---- */

struct gf_zygote;
struct gf_born {
    struct gf_zygote *zygote;
    pid_t parent, process;
};

/* Forks a cell, which gets both descriptors, from the zygote of that format, which is started
 * unless it is there. GF_ERROR_UNAVAILABLE: there are no cells on this machine; GF_ERROR_MEMORY:
 * not now. */
enum gf_status gf_zygote_fork(const char *format, const char *program, const int descriptor[2],
                              struct gf_born *born, struct gf_error *error) GF_CHECKED;
/* Ends the cell. Returns what waitpid() says of a process that had ended by itself, or that has
 * been killed now; -1 where its zygote has died. */
int gf_zygote_end(const struct gf_born *born);
/* Ends all zygotes, those of living cells with their last one. */
void gf_zygotes_leave(void);

/* ---- the zygote's side ---- */

/* Serves until the program ends, then returns false. Returns true in each new process, which has
 * its descriptors. A failure to become a zygote is the answer to the first wish for a cell. */
bool gf_zygote_serve(enum gf_status status, const struct gf_error *error);
