#include "base/exit_status.h"

#include <stddef.h>

int gf_exit_status(enum gf_status status)
{
    switch (status) {
    case GF_OK:
        return GF_EXIT_DONE;
    case GF_ERROR_USAGE:
        return GF_EXIT_USAGE;
    case GF_ERROR_UNAVAILABLE:
    case GF_ERROR_LIBRARY:
        return GF_EXIT_ELSEWHERE;
    case GF_ERROR_INPUT:
    case GF_ERROR_UNFIT:
        return GF_EXIT_INPUTS;
    case GF_ERROR_OUTPUT:
    case GF_ERROR_MEMORY:
    case GF_ERROR_DEVICE_MEMORY:
    case GF_ERROR_DEVICE:
    case GF_ERROR_READ:
    case GF_ERROR_CANCELLED:
        return GF_EXIT_AGAIN;
    case GF_ERROR_DIFFERENT:
    case GF_STATUS_COUNT:
        break;
    }
    return GF_EXIT_DIFFERENT;
}

const char *gf_exit_meaning(int exit_status)
{
    switch (exit_status) {
    case GF_EXIT_DONE:
        return "everything was done";
    case GF_EXIT_DIFFERENT:
        return "--compare: the pictures differ by more than a limit; else a fault of the program";
    case GF_EXIT_USAGE:
        return "wrong usage: nothing was begun";
    case GF_EXIT_ELSEWHERE:
        return "what was asked for is not on this machine: a GPU, a library";
    case GF_EXIT_INPUTS:
        return "some inputs are damaged, of no known format, beyond a limit, or do not fit the "
               "chain or the output's format; the others are done";
    case GF_EXIT_AGAIN:
        return "another try may do it: an output cannot be written, an input is missing or cannot "
               "be read, memory ran out, a device failed; stands where inputs are bad, too";
    }
    return NULL;
}

/* Returns the gravity of a status. Of two failures of a run, the one with the larger gravity
 * decides the exit status. */
static int gravity(enum gf_status status)
{
    switch (gf_exit_status(status)) {
    case GF_EXIT_DONE:
        return 0;
    case GF_EXIT_INPUTS:
        return 1;
    case GF_EXIT_ELSEWHERE:
        return 2;
    case GF_EXIT_AGAIN:
        return 3;
    }
    return 4; /* the failure ends the run */
}

enum gf_status gf_graver_status(enum gf_status a, enum gf_status b)
{
    return gravity(b) > gravity(a) ? b : a;
}
