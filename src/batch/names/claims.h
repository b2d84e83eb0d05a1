/* The names of outputs that are taken, where not all names are known before the run. */
#ifndef GF_BATCH_NAMES_CLAIMS_H
#define GF_BATCH_NAMES_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>

struct gf_claims {
    void *tree; /* of tsearch() */
};

/* Takes the name for the input at that index. The input may have the name already; so may another
 * input of the same name, if it repeats. *why: a line, from malloc(), that says that another input
 * has the name; else NULL. False when out of memory. */
bool gf_claim(struct gf_claims *claims, const char *output, const char *input, size_t index,
              bool repeats, char **why);
void gf_claims_free(struct gf_claims *claims);

#endif
