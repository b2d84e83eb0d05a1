/* The ways to count a histogram on a GPU, as variants of any filter that wants one: only what is done with a
 * level differs (cuda/bins.cuh), and the counts are the same to the last pixel. */
#ifndef GF_COUNTERS_H
#define GF_COUNTERS_H

#include "stage.h"

#ifdef __cplusplus
extern "C" {
#endif

extern gf_counter gf_histogram_global_cuda, gf_histogram_shared_cuda, gf_histogram_warp_cuda,
    gf_histogram_aggregated_cuda, gf_histogram_cluster_cuda;

#ifdef __cplusplus
}
#endif

/* Elements of a filter's .cuda. refuses_: of all of them, or NULL; refuses_wide_: of what is for 8 bits alone
 * (gf_counter_8_bits, which see, where there is nothing else to refuse). */
#define GF_HISTOGRAM_COUNTERS(refuses_, refuses_wide_)                                             \
    {GF_COUNTER("lanes", gf_histogram_cuda,                                                        \
                "what runs by default: 8 bits, a copy of each shared counter for every lane or two, so that no " \
                "lanes collide; 16 bits, shared counters of 16 bits (Programming Guide 2.2.3.2)"), \
     .refuses = refuses_},                                                                         \
    {GF_COUNTER("global", gf_histogram_global_cuda,                                                \
                "an atomic addition in global memory for each sample (Programming Guide 2.2.5)"),  \
     .refuses = refuses_},                                                                         \
    {GF_COUNTER("shared", gf_histogram_shared_cuda,                                                \
                "atomics in shared memory, one table a block, added up at its end; in 16 bits part " \
                "of the table, the picture read again for the next part (Programming Guide 2.2.3.8)"), \
     .refuses = refuses_},                                                                         \
    {GF_COUNTER("warp", gf_histogram_warp_cuda,                                                    \
                "a table in shared memory for each warp (Programming Guide 2.2.3.2)"),             \
     .refuses = refuses_wide_},                                                                    \
    {GF_COUNTER("aggregated", gf_histogram_aggregated_cuda,                                        \
                "shared, but lanes with the same level find each other by match.any and one adds " \
                "for all of them (Programming Guide 2.2.6)"),                                      \
     .refuses = refuses_},                                                                         \
    {GF_COUNTER("cluster", gf_histogram_cluster_cuda,                                              \
                "one table over the shared memory of a cluster of blocks, each holding a part "    \
                "(Programming Guide 2.2.3.8)"),                                                    \
     .refuses = refuses_, .architecture = 90}

static inline const char *gf_counter_8_bits(const struct gf_stage *stage)
{
    return stage->in.bits == 8 ? NULL
                               : "takes 8 bits only: 65,536 counters for each warp do not fit in a "
                                 "block's shared memory";
}

#endif
