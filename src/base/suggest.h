/* "Did you mean": the nearest of some words to a mistyped one. */
#ifndef GF_BASE_SUGGEST_H
#define GF_BASE_SUGGEST_H

#include <stddef.h>

/* Keep the best of several candidates: start with *best = NULL, *distance = 0. A candidate further
 * away than a third of the word (at least 1) is never taken. */
void gf_suggest_consider(const char *word, const char *candidate, const char **best, int *distance);

#endif
