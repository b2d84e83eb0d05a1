#pragma once

#include "gpufilter/status.h"

static inline enum gf_status gf_fail_memory(struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}
