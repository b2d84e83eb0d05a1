/* The program's exit status for an outcome of the library. */
#ifndef GF_CLI_EXIT_STATUS_H
#define GF_CLI_EXIT_STATUS_H

#include "gpufilter/status.h"

enum { GF_EXIT_MAX = 3 };

/* 0..GF_EXIT_MAX. */
int gf_exit_status(enum gf_status status);

#endif
