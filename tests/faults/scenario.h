/* What the program is asked to do while a call fails, and which calls fail. */
#pragma once

#include <stdbool.h>

/* The folder of a run: in/ has the pictures, few/ three of them; out/ and tmp/ are empty at first.
 * The program runs in it. */
struct scenario {
    const char *name;
    const char *arguments; /* between spaces */
    const char *before;    /* arguments of a run that makes what is there before; may be NULL */
    const char *again;     /* after a failure these go on and complete; may be NULL */
    const char *piped;     /* the file that comes through a pipe on standard input; may be NULL */
    int log_lines;         /* "ok" lines of the file log after success */
    bool batch;            /* errors of several pictures, and a summary */
    bool report;           /* standard output holds times; a file trace may, too */
    bool named;            /* there are no unnamed files */
    bool loads_driver;     /* CUDA's, whose library ends the process where it gets no memory */
};

extern const struct scenario scenarios[];
extern const int scenario_count;

struct fault {
    const char *name, *kind;
    int error;      /* 0: a short read or write */
    bool harmless;  /* the program must succeed */
    bool once_only; /* no run lets all later calls fail, too */
    bool must_fail; /* success would be a lie */
    bool some_fail; /* at least one of the calls of a run with an output makes it fail */
};

extern const struct fault faults[];
extern const int fault_count;
