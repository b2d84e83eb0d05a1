/* What ImageMagick, libvips, sharp and FFmpeg call by words that no filter has. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "stage/filter.h"

/* Returns a chain that does what other programs do for the first item of the chain, such as
 * "rotate=90" for "transpose=clock"; NULL if there is none. It is an example, in which the values
 * of the item do not stand. */
const char *gf_foreign_meaning(const char *chain);
/* Returns the index-th chain of the table, for tests; NULL after the last one. */
const char *gf_foreign_meaning_at(int index);

/* The geometry of ImageMagick, as in 400x300, 50%x50%, x300, 300x200+10+20 and 400x300>. */

/* If the filter takes the geometry in place of its first lengths, `values` becomes these, separated
 * by colons, and their most is returned: 2, or 4 with a place; else 0. These filters are those
 * whose w and h mean what they mean in ImageMagick. */
int gf_geometry_lengths(const struct gf_filter *filter, const char *text, char *values,
                        size_t size);
/* Writes what the filter takes in place of the geometry, such as "resize=400:300:fit=inside".
 * Returns false if the text is no geometry. */
bool gf_geometry_meaning(const struct gf_filter *filter, const char *text, char *meaning,
                         size_t size);
