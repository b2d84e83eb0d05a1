/* The chains that the self-test runs: a filter with parameters from its declaration. */
#ifndef GF_SELFTEST_SELFTEST_CHAINS_H
#define GF_SELFTEST_SELFTEST_CHAINS_H

#include "stage/stage.h"

enum { GF_SELFTEST_TEXT = 16384 }; /* bytes of a chain's text */

enum gf_selftest_set {
    GF_SELFTEST_DEFAULT,
    GF_SELFTEST_LEAST,
    GF_SELFTEST_GREATEST,
    GF_SELFTEST_CHOICES
};

/* "blur=sigma=0.1:border=edge": all parameters at their least or greatest, or each choice in turn.
 * text has room for GF_SELFTEST_TEXT bytes; false: there is no such set, nor one after it. */
bool gf_selftest_chain(const struct gf_filter *filter, int set, char *text);

#endif
