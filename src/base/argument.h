/* Checks the arguments of public functions. */
#pragma once

#include "gpufilter/status.h"

/* Returns from the function with GF_ERROR_USAGE if the argument is NULL:
 * "gf_pipeline_run_file: output is NULL". */
#define GF_NOT_NULL(argument, error) \
    do { \
        if (!(argument)) \
            return gf_fail(error, GF_ERROR_USAGE, "%s: %s is NULL", __func__, #argument); \
    } while (0)
