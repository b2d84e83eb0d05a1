/* Makes the chains of the self-test: a filter with values that its declaration allows. */
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

/* Writes a chain such as "blur=sigma=0.1:border=edge" with a set of values: the defaults, all
 * parameters at their least or at their greatest, and from GF_SELFTEST_CHOICES on each choice in
 * turn. text has room for GF_SELFTEST_TEXT bytes. Returns false if there is no such set, nor a
 * later one. */
bool gf_selftest_chain(const struct gf_filter *filter, int set, char *text);
/* Likewise with the defaults, within a region that has shapes of both kinds and soft edges. Returns
 * false if the filter takes no region. */
bool gf_selftest_region(const struct gf_filter *filter, char *text);

#endif
