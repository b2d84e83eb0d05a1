/* The groups of pictures that show the same (--duplicates), as text or JSON. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/text/json.h"
#include "bench/hashes.h"

/* A picture among which duplicates are looked for. */
struct gf_copy {
    char *name;
    struct gf_hashes hashes;
    double width, height;
    double bytes; /* of the file; NaN: not known */
    double pages; /* how many pictures the file has; NaN: not known */
};

/* Prints each group of two pictures or more whose hashes differ in at most `most` bits, in the
 * order of the first picture of each: those with the most pixels first, then the largest files.
 * Only the first picture of a file was hashed: files are in one group only if they have as many
 * pictures. A group is a line of JSON, or lines of text with an empty line between groups. */
enum gf_status gf_duplicates_put(const struct gf_copy *found, size_t count, int most, bool json,
                                 FILE *file, struct gf_error *error) GF_CHECKED;

/* The keys of the JSON, for the manual; {0} ends them. */
extern const struct gf_key_help gf_duplicates_keys[];
