/* Keeps the output names that are taken, for runs in which not all names are known at the begin. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct gf_claims {
    void *tree; /* the names, in a tree of tsearch() */
};

/* Takes the name `output` for the input at `index`, which may already have it. With `repeats`
 * another input of the same name may have it, too. *why becomes NULL or, if another input has the
 * name, a line from malloc() that says so. Returns false when out of memory. */
bool gf_claim(struct gf_claims *claims, const char *output, const char *input, size_t index,
              bool repeats, char **why);
void gf_claims_free(struct gf_claims *claims);
