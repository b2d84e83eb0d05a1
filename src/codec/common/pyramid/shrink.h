/* Makes the rows of a level of a pyramid from those of the level before, as they come. */
#pragma once

#include "codec/common/pyramid/pyramid.h"

struct gf_shrinker; /* opaque */

/* Opens a shrinker of rows of `from` to rows of half the width. */
enum gf_status gf_shrinker_open(enum gf_shrink shrink, struct gf_format from,
                                struct gf_shrinker **shrinker, struct gf_error *error) GF_CHECKED;
/* Takes the next row, which must stay until the rows that it completes are made: the caller calls
 * gf_shrinker_make() as long as gf_shrinker_can() returns true. */
void gf_shrinker_take(struct gf_shrinker *shrinker, const unsigned char *row);
/* Whether the rows that were taken suffice for the next row of the result. */
bool gf_shrinker_can(struct gf_shrinker *shrinker);
void gf_shrinker_make(struct gf_shrinker *shrinker, unsigned char *row);
void gf_shrinker_close(struct gf_shrinker *shrinker);
/* Returns the memory that a shrinker takes. */
uint64_t gf_shrinker_bytes(enum gf_shrink shrink, struct gf_format from);
