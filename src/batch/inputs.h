/* The pictures that the arguments of -i name: files, folders, patterns of file names, lists. The
 * order is that of the arguments; within a folder or a pattern that of the names' bytes, so that it
 * never changes. */
#ifndef GF_BATCH_INPUTS_H
#define GF_BATCH_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"

struct gf_input_name {
    char *path;
    size_t below; /* where in path the part below the searched folder begins; 0: the file was named
                     itself */
};

struct gf_inputs {
    struct gf_input_name *item;
    size_t count, capacity;
};

struct gf_inputs_request {
    const char *const *argument; /* a file, "-", a folder, a pattern with *, ? or [, "@LIST" */
    int count;
    bool recursive;      /* search folders in folders */
    bool nul_separated;  /* lists end their names with NUL, not with a line break */
    const char *outputs; /* a folder that no search enters, or NULL: the results of the run before
                            lie there */
};

/* Whether the argument may stand for more than one picture. */
bool gf_inputs_is_group(const char *argument);

/* A folder gives the files that have a picture's extension; hidden names are left out, links to
 * folders are not followed. A name in a list is a file or a folder, nothing else; its line may
 * end with CR LF. A file that is missing and a folder below one that cannot be read are inputs all
 * the same, which then fail by themselves; that there is nothing at all is an error. */
enum gf_status gf_inputs_expand(const struct gf_inputs_request *request, struct gf_inputs *inputs,
                                struct gf_error *error) GF_CHECKED;
void gf_inputs_free(struct gf_inputs *inputs);

#endif
