/* Divides the inputs of a run among parts, for --shard. Every part reads the same list, and so
 * comes to the same division without a look at any file. */
#ifndef GF_BATCH_NAMES_PARTS_H
#define GF_BATCH_NAMES_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gf_part_load {
    uint64_t bytes;
    int part; /* from 0 */
};

struct gf_parts {
    int part, parts;           /* part 1..parts; parts 0: one part has all inputs */
    size_t position;           /* the number of inputs so far */
    struct gf_part_load *load; /* the parts in a heap, the least loaded first; NULL: no input had
                                * bytes so far */
};

/* Gives the next input to a part. With bytes, the part that has the fewest bytes so far gets it;
 * with bytes < 0, the parts take turns. *own tells whether it is an input of the own part. Returns
 * false when out of memory. */
bool gf_parts_take(struct gf_parts *parts, int64_t bytes, bool *own);
void gf_parts_free(struct gf_parts *parts);

#endif
