/* The search for inputs, of which search.c reads folders and patterns, and input_lists.c lists. */
#ifndef GF_BATCH_NAMES_SEARCH_H
#define GF_BATCH_NAMES_SEARCH_H

#include "batch/names/inputs.h"
#include "batch/names/parts.h"

struct gf_search {
    const struct gf_inputs_request *request;
    struct gf_inputs *inputs;
    struct gf_parts parts;
    size_t selected;           /* the number of inputs that are known to be of this part */
    struct gf_inputs archives; /* the archives of the folder that is searched */
    struct gf_error *error;
};

/* Adds a path from malloc(), which the list then owns. */
enum gf_status gf_search_add(struct gf_search *search, char *path, size_t below) GF_CHECKED;
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

#endif
