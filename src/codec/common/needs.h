/* What a library of an older version does not read. Such a file is undamaged, and the message names
 * the version that reads it. */
#pragma once

#include <stdbool.h>

#include "gpufilter/status.h"

/* Whether the file has what a row of the table is known by, such as an item of the type "unci". */
typedef bool gf_has_mark(const void *context, const char *mark);

/* Fails with the one line "a.heic: libheif 1.15.1 does not read JPEG 2000 in HEIF; 1.17 does" if
 * the table has a row for the file and the row's version is above the library's. Returns GF_OK if
 * the file needs nothing of that kind. The version is a text with numbers, such as "LIBTIFF,
 * Version 4.5.0". */
enum gf_status gf_fail_needs(const char *name, const char *library, const char *version,
                             gf_has_mark *has, const void *context, struct gf_error *error);
