/* Loads shared libraries when they are first needed. Linking the program with all libraries of
 * picture formats would make every start take 15 ms more. A format lists the functions that it
 * calls:
 * #define WEBP_CALLS(CALL) CALL(WebPDecode) CALL(WebPEncode)
 * struct webp_calls { WEBP_CALLS(GF_LIBRARY_CALL) };
 * extern struct webp_calls webp;
 * Then it calls webp.WebPDecode(...), after gf_library_load() of
 * struct gf_library library = GF_LIBRARY(webp, WEBP_CALLS, "libwebp.so.7"); */
#pragma once

#include <pthread.h>
#include <stddef.h>

#include "gpufilter/status.h"

#define GF_LIBRARY_CALL(name) __typeof__(name) *name;
#define GF_LIBRARY_NAME(name) #name,
/* Makes a string of what the build defines without quotes, such as libwebp.so.7=libwebp7. */
#define GF_LIBRARY_TEXT_(name) #name
#define GF_LIBRARY_TEXT(name) GF_LIBRARY_TEXT_(name)

enum { GF_LIBRARIES_MAX = 4 };

struct gf_library {
    const char *file[GF_LIBRARIES_MAX]; /* The files, in the order in which they are tried.
                                         * "libwebp.so.7=libwebp7" is a file and its package; the
                                         * package may be left out. */
    const char *const *names;           /* the names of the functions; NULL after the last */
    void **calls;                       /* the struct of pointers to the functions, in the order of
                                         * their names */
    pthread_mutex_t lock;
    int state; /* 0: not tried, or the last try failed and another may succeed; 1: loaded; -1:
                * missing */
    char why[200];
};

/* Initialises a struct gf_library: calls_ is the struct of pointers to functions, LIST the list of
 * functions, and the rest are the names of files to try. */
#define GF_LIBRARY(calls_, LIST, ...) \
    { \
        .file = {__VA_ARGS__}, .names = (const char *const[]){LIST(GF_LIBRARY_NAME) NULL}, \
        .calls = (void **)&(calls_), .lock = PTHREAD_MUTEX_INITIALIZER \
    }

/* Loads the library, unless it is loaded. If it is missing, the status is `failure`, and the
 * message says that `subject` (a file or a format) needs it. Too little memory or too few
 * descriptors is GF_ERROR_MEMORY, and the next call tries again. Any thread may call this
 * function. */
enum gf_status gf_library_load(struct gf_library *library, const char *subject,
                               enum gf_status failure, struct gf_error *error) GF_CHECKED;
