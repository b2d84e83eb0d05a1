#include "codec/jxl/jxl_calls.h"

struct gf_jxl_calls gf_jxl;
struct gf_library gf_jxl_library = GF_LIBRARY(gf_jxl, GF_JXL_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_jxl),
                                              GF_LIBRARY_TEXT(GF_LIBRARY_jxl_threads));
