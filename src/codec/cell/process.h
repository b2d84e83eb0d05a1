/* The processes of cells: started, kept for the next picture, ended. */
#pragma once

#include <sys/types.h>

#include "codec/cell/zygote.h"

struct gf_cell {
    struct gf_cell *next; /* of the cells that wait */
    struct gf_born born;
    pid_t owner; /* the process that has started it */
    int socket;
    unsigned char *shared; /* two halves */
    char format[16];
    char program[200];
    uint32_t landlock;
    bool single; /* it has one picture, and ends */
};

/* Takes a cell of that format that waits, or starts one, as for a single picture.
 * GF_ERROR_UNAVAILABLE: there are no cells on this machine, which holds for all of the process;
 * GF_ERROR_MEMORY: this one could not be started, as all failures are after the first cell that
 * was. */
enum gf_status gf_cell_take(const char *format, const char *program, bool single,
                            struct gf_cell **cell, struct gf_error *error) GF_CHECKED;
/* Gives it back, which must be without a picture. */
void gf_cell_give_back(struct gf_cell *cell);
/* Ends it. Returns what waitpid() says of a process that had ended by itself, or that has been
 * killed now; -1 where its zygote has died, or where it is another process's. */
int gf_cell_end(struct gf_cell *cell);
/* Sets the most memory that it may have in use, and the seconds of its processors' time from now
 * on, which may be INFINITY. */
void gf_cell_limit(const struct gf_cell *cell, uint64_t bytes, double seconds);

/* The program's talk with a cell about one picture or profile: messages there and back, and the
 * failure when the cell dies, says what makes no sense, or takes too long. */
struct gf_cell_talk {
    struct gf_cell *cell;             /* NULL: it has been ended */
    const char *name;                 /* of the picture; "" if messages name none */
    const struct gf_options *options; /* for the cell's warnings; NULL: nobody wants them */
    uint64_t limit;                   /* of the cell's memory */
    double end_s;                     /* when the talk must be over; 0: with the picture's time */
    long threads_most;                /* of the cell; 0: it can start none */
    double look_s;                    /* when they are counted again */
};

/* Sends a message. A cell that has died shows when its answer is awaited. */
void gf_cell_say(const struct gf_cell_talk *talk, const union gf_cell_message *message,
                 const int *descriptor);
/* Waits for a message of that type; warnings that come before it are passed on. */
enum gf_status gf_cell_wait_for(struct gf_cell_talk *talk, enum gf_cell_type wanted,
                                union gf_cell_message *message, struct gf_error *error) GF_CHECKED;
/* Ends a cell whose answer makes no sense. */
enum gf_status gf_cell_fail_senseless(struct gf_cell_talk *talk, struct gf_error *error);
/* Returns a failure that the cell reports. */
enum gf_status gf_cell_fail_reported(struct gf_cell_talk *talk, uint32_t status, const char *text,
                                     struct gf_error *error) GF_CHECKED;
/* Lets the cell have that much memory beside what its libraries take in any case, and the seconds
 * of its processors' time. */
void gf_cell_allow(struct gf_cell_talk *talk, uint64_t bytes, double seconds);
