#include "codec/webp/webp_calls.h"

#include "codec/webp/webp.h"

struct gf_webp_calls gf_webp;

static const char *const names[] = {GF_WEBP_CALLS(GF_LIBRARY_NAME) NULL};

struct gf_library gf_webp_library = {.file = {GF_LIBRARY_TEXT(GF_LIBRARY_webp),
                                              GF_LIBRARY_TEXT(GF_LIBRARY_webpdemux),
                                              GF_LIBRARY_TEXT(GF_LIBRARY_webpmux)},
                                     .names = names,
                                     .calls = (void **)&gf_webp,
                                     .lock = PTHREAD_MUTEX_INITIALIZER};
