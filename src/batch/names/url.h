/* Names that are URLs, as commands that transfer files take them. */
#pragma once

#include <stddef.h>

/* Returns the length of the scheme with which the name begins, as 5 for "s3://bucket/a.tar"; 0: the
 * name is no URL. */
size_t gf_url_scheme(const char *name);
