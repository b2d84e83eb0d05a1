/* One run of the program in which a call fails. */
#pragma once

#include "faults/scenario.h"
#include "faults/verdict.h"

struct trial {
    const struct scenario *scenario;
    const struct fault *fault; /* NULL: no call fails */
    int n;                     /* the call that fails; 0: none */
    bool more;                 /* and all later ones */
};

/* The program and the library that is loaded before it, both as whole paths. The current folder
 * becomes that of the runs: its pictures are made. */
void trial_setup(const char *program, const char *library);
void trial_run(const struct trial *trial, const char *arguments, const char *piped,
               struct outcome *outcome);
/* Prints the command that repeats a run, to be given to a shell or behind gdb. */
void trial_print(const struct trial *trial);
/* Ends the process where what the test itself needs fails. */
void must(bool good, const char *what);
