/* The one place where options are checked. */
#ifndef GF_PIPELINE_OPTIONS_H
#define GF_PIPELINE_OPTIONS_H

#include "gpufilter/options.h"
#include "gpufilter/status.h"

/* Copies the options, with defaults for members that the caller's version does not have. given may
 * be NULL: the defaults. */
enum gf_status gf_options_check(const struct gf_options *given, struct gf_options *checked,
                                struct gf_error *error) GF_CHECKED;

#endif
