/* NVTX ranges, so that Nsight shows by name what a thread is at: the same names as the profile's
 * rows. Without a tool attached a range costs a few nanoseconds; without the toolkit's headers
 * there are none. */
#ifndef GF_RANGE_H
#define GF_RANGE_H

#if defined(GF_WITH_CUDA) && defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#define GF_RANGES 1
#include <nvtx3/nvToolsExt.h>
#endif
#endif

static inline void gf_range_begin(const char *name)
{
#ifdef GF_RANGES
    nvtxRangePushA(name);
#else
    (void)name;
#endif
}

static inline void gf_range_end(void)
{
#ifdef GF_RANGES
    nvtxRangePop();
#endif
}

#endif
