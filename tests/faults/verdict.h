/* Whether a run in which a call failed ended as it has to. */
#pragma once

#include "faults/scenario.h"
#include "faults/snapshot.h"

/* What a run left behind. */
struct outcome {
    int status;   /* of waitpid() */
    int calls;    /* of the fault's kind */
    int injected; /* the calls that failed */
    struct file_copy said, errors, log, trace;
    struct snapshot made, temporary;
};

void outcome_free(struct outcome *outcome);
/* before: the outputs that were there already; right: the outcome without a fault. NULL: all is
 * well, else what is not. fault: NULL for the run without one. */
const char *verdict(const struct scenario *scenario, const struct fault *fault,
                    const struct snapshot *before, const struct outcome *right,
                    const struct outcome *found);
