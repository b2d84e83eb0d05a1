/* The program's exit statuses, which tell a script what to do next. */
#pragma once

#include "gpufilter/status.h"

enum {
    GF_EXIT_DONE = 0,
    GF_EXIT_DIFFERENT = 1, /* compared pictures differ, or the program itself is at fault */
    GF_EXIT_USAGE = 2,     /* a wrong command line or chain; nothing was begun */
    GF_EXIT_ELSEWHERE = 3, /* a library or a device is missing, which another machine may have */
    GF_EXIT_INPUTS = 4,    /* all inputs were processed, and some of them are bad */
    GF_EXIT_AGAIN = 75     /* another try may succeed; the same number as EX_TEMPFAIL of
                            * sysexits.h */
};

int gf_exit_status(enum gf_status status);

/* Describes an exit status in a few words. Returns NULL for any other number. */
const char *gf_exit_meaning(int exit_status);

/* Returns the status, of two, that decides the exit status of a run. Failures that another try may
 * mend come first, then something missing on this machine, then bad inputs. GF_OK comes last. */
enum gf_status gf_graver_status(enum gf_status a, enum gf_status b);
