/* Helpers for failures: they make one with a status, hand it on to the caller, and check the
 * arguments of public functions. */
#pragma once

#include <errno.h>

#include "gpufilter/status.h"

/* Returns `never` if errno says that no file can have such a name: it is too long, leads through a
 * file or in a circle of links, or is a folder's. Another try then fails, too. Otherwise returns
 * `again`, for errors that may pass. */
static inline enum gf_status gf_status_of_name(enum gf_status never, enum gf_status again)
{
    return errno == ENAMETOOLONG || errno == ENOTDIR || errno == ELOOP || errno == EISDIR ? never
                                                                                          : again;
}

static inline enum gf_status gf_fail_memory(struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}

/* Returns from the calling function with GF_ERROR_MEMORY if `memory` is NULL or false. */
#define GF_ALLOCATED(memory, error) \
    do { \
        if (!(memory)) \
            return gf_fail_memory(error); \
    } while (0)

/* Declares `name`, a new structure of zeros, or returns from the calling function as above. */
#define GF_NEW(type, name, error) \
    type *const name = (type *)calloc(1, sizeof *name); \
    GF_ALLOCATED(name, error)

/* Returns from the calling function with the status of `call` if it fails. It is for functions that
 * then have nothing to close or to free. */
#define GF_TRY(call) \
    do { \
        const enum gf_status gf_tried = (call); \
        if (gf_tried) \
            return gf_tried; \
    } while (0)

/* Makes the next call unless one before has failed: `status` stays the first failure. It is for
 * functions that have something to close or to free. */
#define GF_THEN(status, call) \
    do { \
        if (!(status)) \
            (status) = (call); \
    } while (0)

/* Ends a function that opens something: it becomes *to, or is closed again if `call` fails, whose
 * status the function returns. */
#define GF_OPENED(call, close, opened, to) \
    do { \
        const enum gf_status gf_called = (call); \
        if (gf_called) \
            close(opened); \
        else \
            *(to) = (opened); \
        return gf_called; \
    } while (0)

/* Returns from the function with GF_ERROR_USAGE if the argument is NULL:
 * "gf_pipeline_run_file: output is NULL". */
#define GF_NOT_NULL(argument, error) \
    do { \
        if (!(argument)) \
            return gf_fail(error, GF_ERROR_USAGE, "%s: %s is NULL", __func__, #argument); \
    } while (0)
