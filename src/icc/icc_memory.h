/* Memory for Little CMS, from the time when a thread begins to use it until it ends. Only builds
 * with Little CMS have this file. */
#pragma once

#include <lcms2.h>
#include <stddef.h>

#include "gpufilter/status.h"

/* Begins a use of Little CMS. The thread must open everything in *context, and close it before
 * gf_icc_memory_end(). `profiles` is the size in bytes of the profiles that will be read. */
enum gf_status gf_icc_memory_begin(size_t profiles, cmsContext *context,
                                   struct gf_error *error) GF_CHECKED;
/* Ends the use. Returns GF_ERROR_MEMORY if memory ran out since gf_icc_memory_begin(), otherwise
 * `status`. */
enum gf_status gf_icc_memory_end(cmsContext context, enum gf_status status,
                                 struct gf_error *error) GF_CHECKED;
