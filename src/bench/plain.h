/* The CPU's code once more, compiled without vector instructions: what they are worth is the
 * difference. The Makefile makes one object of these copies in which every name but the two below
 * is local (plain.c). */
#ifndef GF_BENCH_PLAIN_H
#define GF_BENCH_PLAIN_H

#include "stage/stage.h"

/* The copy of the filter of that name, internal ones included. Only its entries for the CPU are of
 * use; they take the stages of the filter itself. */
const struct gf_filter *gf_plain_filter(const char *name);
/* gf_histogram_add's copy. */
void gf_plain_histogram_add(const struct gf_view *view, enum gf_statistic statistic,
                            struct gf_histogram *histogram);

#endif
