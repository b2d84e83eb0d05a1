/* "Did you mean": finds the word nearest to a mistyped one. */
#ifndef GF_BASE_SUGGEST_H
#define GF_BASE_SUGGEST_H

/* Call it for each candidate, first with *best = NULL and *distance = 0; *best is then the nearest.
 * A candidate that differs in more than a third of the word's letters (at least 1, 2 of 5) is never
 * it. */
void gf_suggest_consider(const char *word, const char *candidate, const char **best, int *distance);

#endif
