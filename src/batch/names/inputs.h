/* Finds the pictures that the arguments of -i name: files, folders, patterns of file names, lists.
 * The pictures keep the order of the arguments; those of one folder or one pattern are sorted by
 * their bytes. */
#ifndef GF_BATCH_NAMES_INPUTS_H
#define GF_BATCH_NAMES_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"

struct gf_input_name {
    char *path;
    size_t below; /* where in `path` the part below the searched folder begins; 0: -i names the file
                   * itself */
    const void *data; /* the bytes of a member of an archive; NULL: the input is a file */
    size_t size;
};

struct gf_inputs {
    struct gf_input_name *item;
    size_t count, capacity;
    size_t left_out; /* files of folders that were not taken for pictures */
};

struct gf_inputs_request {
    const char *const *argument; /* a file, "-", a folder, a pattern with *, ? or [, "@LIST" */
    int count;
    bool recursive;       /* search folders in folders */
    bool nul_separated;   /* lists end their names with NUL, not with a line break */
    char *const *outputs; /* [outputs_count]: folders that the search does not enter, since the last
                           * run's results lie there; "" stands for none */
    int outputs_count;
    struct gf_inputs *left_out; /* gets the names of the files that are no pictures; or NULL */
};

/* Whether the input is a pipe or a device: it can be read only once. */
bool gf_input_named_is_stream(const char *path);

/* Whether the argument may stand for more than one picture. */
bool gf_inputs_is_group(const char *argument);

/* Expands the arguments. A folder stands for its files with a picture's extension, without hidden
 * ones; links to folders are not followed, and a link that leads nowhere counts by its own name. A
 * name in a list is a file or a folder, never a pattern; a line may end with CR LF. Missing files
 * and unreadable folders in folders become inputs, which fail when they are opened. An argument
 * that names no picture at all is an error. */
enum gf_status gf_inputs_expand(const struct gf_inputs_request *request, struct gf_inputs *inputs,
                                struct gf_error *error) GF_CHECKED;
void gf_inputs_free(struct gf_inputs *inputs);

#endif
