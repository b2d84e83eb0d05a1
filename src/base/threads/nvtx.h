/* NVTX ranges: they show in Nsight Systems what each thread does, under the names of the run's
 * profile. A range takes a few nanoseconds while no tool is attached. Both functions do nothing in
 * a build without the CUDA toolkit's headers. */
#pragma once

#if defined(GF_WITH_CUDA) && defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#define GF_HAS_NVTX 1
#include <nvtx3/nvToolsExt.h>
#endif
#endif

static inline void gf_nvtx_push(const char *name)
{
#ifdef GF_HAS_NVTX
    nvtxRangePushA(name);
#else
    (void)name;
#endif
}

static inline void gf_nvtx_pop(void)
{
#ifdef GF_HAS_NVTX
    nvtxRangePop();
#endif
}
