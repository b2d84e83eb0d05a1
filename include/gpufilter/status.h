/* The status that a call of the library returns, and the details of a failure. */
#ifndef GPUFILTER_STATUS_H
#define GPUFILTER_STATUS_H

#include "gpufilter/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The list of all statuses, with their names and meanings. New ones are added at the end. */
#define GF_STATUS_LIST(X) \
    X(GF_OK, "success") \
    X(GF_ERROR_USAGE, "unknown filter, option or parameter, or a value out of range") \
    X(GF_ERROR_INPUT, "an input is damaged, of no known format or over a limit") \
    X(GF_ERROR_OUTPUT, "an output cannot be written") \
    X(GF_ERROR_MEMORY, "out of host memory") \
    X(GF_ERROR_DEVICE_MEMORY, "out of device memory") \
    X(GF_ERROR_DEVICE, "a device failed") \
    X(GF_ERROR_UNAVAILABLE, "what was asked for is not on this machine") \
    X(GF_ERROR_READ, "an input is missing or cannot be read") \
    X(GF_ERROR_UNFIT, "a picture does not fit the chain or the output's format") \
    X(GF_ERROR_LIBRARY, "the library that a file's format needs is not on this machine") \
    X(GF_ERROR_DIFFERENT, "pictures differ by more than a limit") \
    X(GF_ERROR_CANCELLED, "the caller has cancelled the run")

#define GF_STATUS_ENUM(name, text) name,
enum gf_status { GF_STATUS_LIST(GF_STATUS_ENUM) GF_STATUS_COUNT };
#undef GF_STATUS_ENUM

/* A failure in words for a user: "in.png: truncated after row 412 of 2160". A message about an
 * option names it as "options.NAME". */
struct gf_error {
    enum gf_status status;
    char text[400]; /* one line without a newline or another control character */
};

/* Writes the failure to *error, unless `error` is NULL, and returns status. `format` is printf's;
 * with NULL the text is the meaning of the status. A program can report its own failures in this
 * way. */
GF_API enum gf_status gf_fail(struct gf_error *error, enum gf_status status, const char *format,
                              ...) GF_PRINTF(3, 4);

/* gf_status_name() returns the status's name, "GF_ERROR_INPUT", and gf_status_meaning() its
 * meaning. Both return a text for a number that is no status, too. */
GF_API const char *gf_status_name(enum gf_status status);
GF_API const char *gf_status_meaning(enum gf_status status);

#ifdef __cplusplus
}
#endif
#endif
