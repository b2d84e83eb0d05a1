#pragma once

#include "gpufilter/status.h"

static inline enum gf_status gf_fail_memory(struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}

/* Returns from the calling function with the status of a call that fails. It is for functions that
 * then have nothing to close or to free. */
#define GF_TRY(call) \
    do { \
        const enum gf_status gf_tried = (call); \
        if (gf_tried) \
            return gf_tried; \
    } while (0)
