/* The processes of cells: started, kept for the next picture, ended. */
#ifndef GF_CODEC_CELL_PROCESS_H
#define GF_CODEC_CELL_PROCESS_H

#include <sys/types.h>

#include "codec/cell/messages.h"

struct gf_cell {
    struct gf_cell *next; /* of the cells that wait */
    pid_t process;
    int socket;
    unsigned char *shared; /* two halves */
    char format[16];
    char program[200];
    uint32_t landlock;
};

/* Takes a cell of that format that waits, or starts one. GF_ERROR_UNAVAILABLE: there are no cells
 * on this machine; after the first cell that was started, a failure is GF_ERROR_MEMORY. */
enum gf_status gf_cell_take(const char *format, const char *program, struct gf_cell **cell,
                            struct gf_error *error) GF_CHECKED;
/* Gives it back, which must be without a picture. */
void gf_cell_give_back(struct gf_cell *cell);
/* Ends it. Returns what waitpid() says of a process that had ended by itself, or that has been
 * killed now; -1 where somebody else has waited for it. */
int gf_cell_end(struct gf_cell *cell);
/* Sets the most memory that it may have in use, and the seconds of its processors' time from now
 * on, which may be INFINITY. */
void gf_cell_limit(const struct gf_cell *cell, uint64_t bytes, double seconds);

#endif
