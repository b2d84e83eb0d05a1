#include "codec/jxl/jxl_calls.h"

#include "codec/jxl/jxl.h"

struct gf_jxl_calls gf_jxl;

static const char *const names[] = {GF_JXL_CALLS(GF_LIBRARY_NAME) NULL};

struct gf_library gf_jxl_library = {
    .file = {GF_LIBRARY_TEXT(GF_LIBRARY_jxl), GF_LIBRARY_TEXT(GF_LIBRARY_jxl_threads)},
    .names = names,
    .calls = (void **)&gf_jxl,
    .lock = PTHREAD_MUTEX_INITIALIZER};
