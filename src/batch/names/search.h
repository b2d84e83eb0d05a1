/* The search for inputs, of which search.c reads folders and patterns, and input_lists.c lists. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/names/inputs.h"

/* Divides the inputs of a run among parts, for --shard. Every part reads the same list, and so
 * comes to the same division without a look at any file. */
struct gf_part_load {
    uint64_t bytes;
    int part; /* from 0 */
};

struct gf_parts {
    int part, parts;           /* part 1..parts; parts 0: one part has all inputs */
    size_t position;           /* the number of inputs so far */
    uint64_t list;             /* a hash of their names and bytes */
    struct gf_part_load *load; /* the parts in a heap, the least loaded first; NULL: no input had
                                * bytes so far */
};

/* Gives the next input, of that name, to a part. With bytes, the part that has the fewest bytes so
 * far gets it; with bytes < 0, the parts take turns. *own tells whether it is an input of the own
 * part. Returns false when out of memory. */
bool gf_parts_take(struct gf_parts *parts, const char *name, int64_t bytes, bool *own);
void gf_parts_free(struct gf_parts *parts);

struct gf_search {
    const struct gf_inputs_request *request;
    struct gf_inputs *inputs;
    struct gf_parts parts;
    size_t selected;           /* the number of inputs that are known to be of this part */
    struct gf_inputs archives; /* the archives of the folder that is searched */
    struct gf_error *error;
};

/* Adds a path from malloc(), which the list then owns. Of a URL the path keeps what does not sign
 * it. */
enum gf_status gf_search_add(struct gf_search *search, char *path, size_t below) GF_CHECKED;
void gf_search_free_name(struct gf_input_name *name);
bool gf_search_is_folder(const char *path);
/* Takes a file, or the files of a folder. */
enum gf_status gf_search_path(struct gf_search *search, const char *path) GF_CHECKED;
/* Whether the text is a pattern. The bracket of a page number, as in a.tif[2], does not make the
 * text a pattern. */
bool gf_search_is_pattern(const char *text);
/* Takes the files that match a pattern. */
enum gf_status gf_search_pattern(struct gf_search *search, const char *pattern) GF_CHECKED;
/* Sorts the inputs from number `first` on by their paths. */
void gf_search_sort(struct gf_inputs *inputs, size_t first);
/* Drops the inputs of other parts among those that were found since the last call. */
enum gf_status gf_search_select_own(struct gf_search *search) GF_CHECKED;
/* Takes the inputs that a list names; "-" is standard input. */
enum gf_status gf_search_list(struct gf_search *search, const char *path) GF_CHECKED;
