/* "Did you mean": finds the word nearest to a mistyped one. */
#ifndef GF_BASE_SUGGEST_H
#define GF_BASE_SUGGEST_H

/* Call the function for each candidate. *best is NULL and *distance is 0 before the first call;
 * *best is the nearest candidate after the last call. A candidate that differs in more than a third
 * of the word's letters (at least 1; 2 for a word of 5 letters) never becomes *best. */
void gf_suggest_consider(const char *word, const char *candidate, const char **best, int *distance);

#endif
