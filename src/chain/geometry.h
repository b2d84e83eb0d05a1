/* The geometry of ImageMagick, as in 400x300, 50%x50%, x300, 300x200+10+20 and 400x300>. */
#ifndef GF_CHAIN_GEOMETRY_H
#define GF_CHAIN_GEOMETRY_H

#include <stdbool.h>
#include <stddef.h>

#include "stage/filter.h"

/* If the filter takes the geometry in place of its first lengths, `values` becomes these, separated
 * by colons, and their most is returned: 2, or 4 with a place; else 0. These filters are those
 * whose w and h mean what they mean in ImageMagick. */
int gf_geometry_lengths(const struct gf_filter *filter, const char *text, char *values,
                        size_t size);
/* Writes what the filter takes in place of the geometry, such as "resize=400:300:fit=inside".
 * Returns false if the text is no geometry. */
bool gf_geometry_meaning(const struct gf_filter *filter, const char *text, char *meaning,
                         size_t size);

#endif
