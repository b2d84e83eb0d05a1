#ifndef GF_BASE_FAIL_H
#define GF_BASE_FAIL_H

#include "base/c_linkage.h"
#include "gpufilter/status.h"

GF_C_BEGIN

static inline enum gf_status gf_fail_memory(struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}

GF_C_END
#endif
