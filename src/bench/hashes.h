/* Hashes of what pictures show, by which copies of one picture are found, and the groups of
 * pictures whose hashes are near (--info=hash, --duplicates). The definition is that of the
 * manual's page "reports"; it is in integers, so that every machine finds the same bits. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "codec/common/rows/source.h"

/* The bits of each hash, row by row from the top left, the first bit the highest. */
struct gf_hashes {
    uint64_t dhash; /* whether each of 8 x 8 tiles is brighter than the one to its left */
    uint64_t phash; /* whether each of 8 x 8 frequencies is above their median */
};

/* Reads the rows of the source to the end, a few at a time, and computes the hashes of the picture,
 * turned upright by its orientation if `upright` is set. Returns the source's errors. */
enum gf_status gf_hashes_read(struct gf_source *source, bool upright, struct gf_hashes *hashes,
                              struct gf_error *error) GF_CHECKED;
/* Returns the bytes of memory that gf_hashes_read() takes beside the source's own. */
uint64_t gf_hashes_bytes(struct gf_format format);

enum {
    GF_ALIKE_MOST = 12, /* the greatest distance that can be asked for */
    GF_ALIKE_USUAL = 8
};

/* Returns how many bits differ in the hash of the two of which more do. */
int gf_hashes_distance(struct gf_hashes a, struct gf_hashes b);
/* Divides `count` pictures into groups: two whose distance is at most `most`, 0..GF_ALIKE_MOST, are
 * in one group, so that a group may have pictures that are alike only by way of others. group[i]
 * becomes the least index of the group of picture i. Fails when out of memory. */
enum gf_status gf_hashes_group(const struct gf_hashes *hashes, size_t count, int most,
                               size_t *group, struct gf_error *error) GF_CHECKED;
