/* Memory for a use of Little CMS by one thread. Only builds with it have this. */
#ifndef GF_ICC_ICC_MEMORY_H
#define GF_ICC_ICC_MEMORY_H

#include <lcms2.h>
#include <stddef.h>

#include "gpufilter/status.h"

/* The context is for all that the thread opens until gf_icc_memory_end(), which comes after all of
 * it is closed. profiles: the bytes of those that will be read. */
enum gf_status gf_icc_memory_begin(size_t profiles, cmsContext *context,
                                   struct gf_error *error) GF_CHECKED;
/* GF_ERROR_MEMORY where memory was short meanwhile, else the status. */
enum gf_status gf_icc_memory_end(cmsContext context, enum gf_status status,
                                 struct gf_error *error) GF_CHECKED;

#endif
