/* What every call of the library returns, and where it puts the details.
 *
 * A function that can fail returns enum gf_status and takes a struct gf_error *, which it fills
 * with one line fit for a user ("in.png: truncated after row 412 of 2160"). Nothing in the library
 * prints or exits. */
#ifndef GPUFILTER_STATUS_H
#define GPUFILTER_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* The one list of outcomes: name, the exit status of the program, what it means. */
#define GF_STATUS_LIST(X) \
    X(GF_OK, 0, "success") \
    X(GF_ERROR_USAGE, 2, "unknown filter, option or parameter, or a value out of range") \
    X(GF_ERROR_INPUT, 1, "an input is missing, damaged or over a limit") \
    X(GF_ERROR_OUTPUT, 1, "an output cannot be written") \
    X(GF_ERROR_MEMORY, 1, "out of host memory") \
    X(GF_ERROR_DEVICE_MEMORY, 1, "out of device memory") \
    X(GF_ERROR_DEVICE, 1, "a device failed") \
    X(GF_ERROR_UNAVAILABLE, 3, "what was asked for is not on this machine")

#define GF_STATUS_ENUM(name, exit_code, text) name,
enum gf_status { GF_STATUS_LIST(GF_STATUS_ENUM) GF_STATUS_COUNT };
#undef GF_STATUS_ENUM

struct gf_error {
    enum gf_status status;
    char text[400]; /* one line, no newline, UTF-8 */
};

#if defined(__GNUC__)
#define GF_CHECKED __attribute__((warn_unused_result))
#define GF_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define GF_CHECKED
#define GF_PRINTF(f, a)
#endif

/* Records the failure in *error (which may be NULL) and returns status. */
enum gf_status gf_fail(struct gf_error *error, enum gf_status status, const char *format, ...)
    GF_PRINTF(3, 4);

/* "GF_ERROR_INPUT", what it means, and the program's exit status for it. */
const char *gf_status_name(enum gf_status status);
const char *gf_status_meaning(enum gf_status status);
int gf_status_exit(enum gf_status status);

#ifdef __cplusplus
}
#endif
#endif
