/* A chain as text, and what it is parsed into. */
#ifndef GF_CHAIN_CHAIN_H
#define GF_CHAIN_CHAIN_H

#include "stage/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gf_chain_item {
    const struct gf_filter *filter;
    void *params;                     /* malloc */
    const struct gf_variant *variant; /* of variant=name; NULL: not given */
};
struct gf_chain {
    struct gf_chain_item *item;
    int count;
    bool no_fuse; /* adjacent point filters are not fused: rounded after each */
};
enum gf_status gf_chain_parse(const char *text, struct gf_chain *chain,
                              struct gf_error *error) GF_CHECKED;
void gf_chain_free(struct gf_chain *chain);

#ifdef __cplusplus
}
#endif
#endif
