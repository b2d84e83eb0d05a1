#include "batch/names/claims.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct claim {
    size_t index;
    char *output, *input;
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct claim *)a)->output, ((const struct claim *)b)->output);
}

static void free_claim(void *claim)
{
    struct claim *const it = claim;
    if (!it)
        return;
    free(it->output);
    free(it->input);
    free(it);
}

static struct claim *new_claim(const char *output, const char *input, size_t index)
{
    struct claim *const claim = calloc(1, sizeof *claim);
    if (!claim)
        return NULL;
    *claim = (struct claim){index, strdup(output), strdup(input)};
    if (claim->output && claim->input)
        return claim;
    free_claim(claim);
    return NULL;
}

bool gf_claim(struct gf_claims *claims, const char *output, const char *input, size_t index,
              bool repeats, char **why)
{
    struct claim *const wanted = new_claim(output, input, index);
    struct claim *const *const found = wanted ? tsearch(wanted, &claims->tree, compare) : NULL;
    *why = NULL;
    if (found && *found == wanted)
        return true;
    const bool own =
        found && ((*found)->index == index || repeats) && !strcmp((*found)->input, input);
    const bool told = !found || own ||
                      asprintf(why, "%s: '%s' and '%s' would both be written to it", output,
                               (*found)->input, input) >= 0;
    free_claim(wanted);
    return found && told;
}

void gf_claims_free(struct gf_claims *claims)
{
    tdestroy(claims->tree, free_claim);
    claims->tree = NULL;
}
