/* Finds the pictures that the arguments of -i name: files, folders, patterns of file names, lists.
 * The pictures keep the order of the arguments; pictures of one folder or one pattern are sorted by
 * the bytes of their names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/status.h"

struct gf_input_name {
    char *path;
    char *url; /* the name that commands get: the path, signed; NULL: the path itself */
    /* The offset in `path` of the part below the searched folder; 0: -i names the file itself. */
    size_t below;
    size_t index;        /* the position in the list of all parts, from 0 */
    const char *archive; /* the name of the archive that the input is a member of, or NULL */
    const void *data;    /* the bytes of a member of an archive; NULL: the input is a file */
    size_t size;
    /* What the line of a list states after the name: the file's bytes, 0 if they are not stated,
     * and another word, which changes if the file does; NULL: there is none. The word lies in the
     * memory of the path. */
    uint64_t bytes;
    const char *etag;
};

struct gf_inputs {
    struct gf_input_name *item;
    size_t count;
    size_t elsewhere; /* the number of inputs of other parts, which are not in the list */
    size_t left_out; /* the number of files in folders that were left out, since their names are not
                      * names of pictures */
    /* For the inputs of one part, a hash of the names and bytes of all parts' inputs, in their
     * order: parts belong together if it is the same. 0: there are no parts. */
    uint64_t list;
    /* The first picture of a folder whose archives were left out because of its pictures; NULL:
     * there is no such folder. */
    char *mixed;
    bool is_found; /* a folder or a pattern named inputs, and not only a list */
};

struct gf_inputs_request {
    /* Each argument is a file, "-", a folder, a pattern with *, ? or [, or "@LIST". */
    const char *const *argument;
    int count;
    bool recursive;     /* folders in folders are searched, too */
    bool nul_separated; /* names in lists end with NUL instead of a line break */
    int shard, shards;  /* the part of the inputs that is wanted, 1..shards; shards 0: all inputs */
    /* The folders of outputs. The search does not enter them, since they hold an earlier run's
     * results. There is one for each of outputs_count outputs; it may be "". */
    char *const *outputs;
    int outputs_count;
    struct gf_inputs *left_out; /* NULL, or the list that gets the names of the files that are no
                                 * pictures */
};

/* Returns the number of inputs of all parts. */
static inline size_t gf_inputs_total(const struct gf_inputs *inputs)
{
    return inputs->count + inputs->elsewhere;
}

/* Whether the input is a pipe or a device, which can be read only once. */
bool gf_input_named_is_stream(const char *path);

/* Whether the argument may stand for more than one picture. */
bool gf_inputs_is_group(const char *argument);

/* Expands the arguments. A folder stands for its files with a picture's extension, without hidden
 * ones, or for its archives if it holds no pictures; links to folders are not followed, and a link
 * that leads nowhere counts by its own name. A name in a list is a file or a folder, never a
 * pattern; a line may end with CR LF, and a tab and the file's bytes may follow the name, by which
 * the parts are divided. The lines of other parts are dropped at once, and their files are not
 * looked at. Missing files and unreadable folders in folders become inputs, which fail when they
 * are opened. An argument that names no picture at all is an error. */
enum gf_status gf_inputs_expand(const struct gf_inputs_request *request, struct gf_inputs *inputs,
                                struct gf_error *error) GF_CHECKED;
void gf_inputs_free(struct gf_inputs *inputs);
