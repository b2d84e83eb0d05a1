#include "codec/jxl/jxl_calls.h"

#include "codec/common/checks.h"

struct gf_jxl_calls gf_jxl;
struct gf_library gf_jxl_library = GF_LIBRARY(gf_jxl, GF_JXL_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_jxl),
                                              GF_LIBRARY_TEXT(GF_LIBRARY_jxl_threads));

uint64_t gf_jxl_thread_bytes(uint64_t width, uint64_t height, int planes,
                             const struct gf_options *options)
{
    const uint64_t side = 256, threads = (uint64_t)gf_library_threads(options),
                   parts = (width + side - 1) / side * ((height + side - 1) / side);
    return (parts < threads ? parts : threads) * side * side * (uint64_t)planes * sizeof(float);
}
