/* What people of other programs type, and what it is here: the table foreign.def, whose numbers are
 * converted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "stage/filter.h"

/* What a row of the table is about: a filter's name or form, an option, a form that a filter takes
 * although it probably means something else, the extension of an output, or an option with what
 * follows it. */
enum gf_foreign_kind {
    GF_FOREIGN_FILTER,
    GF_FOREIGN_OPTION,
    GF_FOREIGN_HINT,
    GF_FOREIGN_FORMAT,
    GF_FOREIGN_TOGETHER
};

struct gf_foreign_row {
    enum gf_foreign_kind kind;
    const char *words, *whose, *meaning, *note; /* see foreign.def */
};
struct gf_foreign_answer {
    char meaning[200], note[280]; /* what to type instead, and a sentence; "": none */
    const char *whose;            /* the programs that say so; "" */
    int row; /* its index in the table; -1: the item itself, without signs and units */
};

/* Returns the row of that index; NULL after the last one. */
const struct gf_foreign_row *gf_foreign_at(int index);

/* Returns the length of the chain's first item. A comma before a number belongs to it, as in
 * modulate=100,150, since no filter's name begins with a digit. A function of CSS is an item. */
size_t gf_foreign_length(const char *chain);

/* Looks up the first item of a chain, or, for GF_FOREIGN_OPTION, an option's name without dashes
 * with "=VALUE" behind it where it has a value. `usual`: the numbers of the item are left out, so
 * that the answer has those of the table. Returns false if the table has no answer. */
bool gf_foreign_answer(enum gf_foreign_kind kind, const char *item, bool usual,
                       struct gf_foreign_answer *answer);

/* Reads a geometry of ImageMagick, such as 400x300, 50%x50%, x300 or 300x200+10+20, in place of the
 * filter's first lengths. `values` becomes these lengths, separated by colons, and the most that
 * the filter takes is returned: 2, or 4 with a place. Returns 0 if the text is no geometry or the
 * filter's w and h mean something else than ImageMagick's. */
int gf_geometry_lengths(const struct gf_filter *filter, const char *text, char *values,
                        size_t size);
/* Writes the filter and parameters that mean the same as the filter with a geometry, such as
 * "resize=400:300:fit=inside" for 400x300. Returns false if the text is no geometry, or no filter
 * means the same. */
bool gf_geometry_meaning(const struct gf_filter *filter, const char *text, char *meaning,
                         size_t size);
