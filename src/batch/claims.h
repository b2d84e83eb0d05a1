/* The names of outputs that are taken, where they are not all known before the run. */
#ifndef GF_BATCH_CLAIMS_H
#define GF_BATCH_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>

struct gf_claims {
    void *tree; /* of tsearch() */
};

/* Takes the name for the input at that index, which may have it already, as may, if it repeats, an
 * input of the same name. *why: another input has it, says this line from malloc(); else NULL.
 * False when out of memory. */
bool gf_claim(struct gf_claims *claims, const char *output, const char *input, size_t index,
              bool repeats, char **why);
void gf_claims_free(struct gf_claims *claims);

#endif
