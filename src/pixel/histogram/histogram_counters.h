/* The variants that count a histogram on a GPU. Each filter that needs a histogram includes them in
 * its list of variants. They count in different ways (cuda/filters/histogram/levels.cuh), with
 * equal results. */
#pragma once

#include "base/c_linkage.h"
#include "stage/stage.h"

GF_C_BEGIN

extern gf_counter gf_histogram_global_cuda, gf_histogram_shared_cuda, gf_histogram_warp_cuda,
    gf_histogram_lanes_cuda, gf_histogram_aggregated_cuda, gf_histogram_packed_cuda,
    gf_histogram_cluster_cuda, gf_histogram_tiles_cuda;

GF_C_END

/* Elements of a filter's list .cuda, the simplest one first. refuses_ is the function refuses() of
 * counters for any depth, or NULL. refuses_8_ and refuses_16_ are the functions of counters for 8
 * or 16 bits alone: gf_counter_8_bits and gf_counter_16_bits, if the filter has no other reason to
 * refuse. */
#define GF_HISTOGRAM_COUNTERS(refuses_, refuses_8_, refuses_16_) \
    {GF_COUNTER("global", gf_histogram_global_cuda, \
                "counts by an atomic addition in global memory for each level (Programming Guide " \
                "2.2.5)"), \
     .refuses = refuses_}, \
        {GF_COUNTER( \
             "shared", gf_histogram_shared_cuda, \
             "counts by atomics in shared memory, a table a block; of 16 bits a part of the " \
             "table, beside blocks with the other parts: the default there and of RGB's three " \
             "channels (Programming Guide 2.2.3.8)"), \
         .refuses = refuses_}, \
        {GF_COUNTER("warp", gf_histogram_warp_cuda, \
                    "counts in a table for each warp (Programming Guide 2.2.3.2)"), \
         .refuses = refuses_8_}, \
        {GF_COUNTER( \
             "lanes", gf_histogram_lanes_cuda, \
             "counts in a table for each lane or two of a block's warps, in banks of its own: " \
             "else the default of 8 bits (Best Practices 9.2.3.1)"), \
         .refuses = refuses_8_}, \
        {GF_COUNTER( \
             "aggregated", gf_histogram_aggregated_cuda, \
             "shared, but lanes with the same level find each other by match.any, and one adds " \
             "for them all (Programming Guide 2.2.6)"), \
         .refuses = refuses_}, \
        {GF_COUNTER( \
             "packed", gf_histogram_packed_cuda, \
             "counts in shared memory with two counters a word, so that 65,536 fit, passed on " \
             "before they overflow: the default of 16-bit lightness (Programming Guide 2.2.3.8)"), \
         .refuses = refuses_16_}, \
    { \
        GF_COUNTER( \
            "cluster", gf_histogram_cluster_cuda, \
            "counts in one table over the shared memory of a cluster of blocks (Programming " \
            "Guide 2.2.3.8)"), \
            .refuses = refuses_, .architecture = 90 \
    }

static inline const char *gf_counter_8_bits(const struct gf_stage *stage)
{
    return stage->in.bits == 8
               ? NULL
               : "takes 8 bits only: several tables of 65,536 counters do not fit in a block's "
                 "shared memory";
}

static inline const char *gf_counter_16_bits(const struct gf_stage *stage)
{
    return stage->in.bits == 16 ? NULL : "takes 16 bits only: small tables need not be packed";
}
