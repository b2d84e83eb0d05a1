/* Chooses the kernel that counts a histogram for the format of the picture. All methods of counting
 * use this file. */
#pragma once

#include "cuda/filters/histogram/levels.cuh"
#include "pixel/histogram/histogram.h"

/* A task and its counters in device memory. */
struct counting {
    struct level_task task;
    unsigned counters;
    unsigned long long *count;
};

/* The threads of a block. Tables for 16 bits are large, so that a multiprocessor holds only one or
 * two blocks. */
template <int BITS> constexpr int count_threads = BITS == 8 ? 512 : 1024;

template <class METHOD, int BITS, int COUNT>
static cudaError_t launch_mixture(const struct counting &counting, enum mixture mixture)
{
    constexpr int luma = COUNT >= 3 ? LUMA_OF_3 : EACH;
    if (mixture == LIGHTNESS_OF_3)
        return METHOD::template launch<BITS, COUNT, LIGHTNESS_OF_3>(counting);
    return mixture == EACH ? METHOD::template launch<BITS, COUNT, EACH>(counting)
                           : METHOD::template launch<BITS, COUNT, luma>(counting);
}

template <class METHOD, int BITS>
static cudaError_t launch_bits(const struct counting &counting, int channels, enum mixture mixture)
{
    switch (channels) {
    case 1:
        return launch_mixture<METHOD, BITS, 1>(counting, mixture);
    case 2:
        return launch_mixture<METHOD, BITS, 2>(counting, mixture);
    case 3:
        return launch_mixture<METHOD, BITS, 3>(counting, mixture);
    default:
        return launch_mixture<METHOD, BITS, 4>(counting, mixture);
    }
}

static inline struct counting counting_of(const struct gf_view *view, enum gf_statistic statistic,
                                          unsigned long long *count, const void *tables,
                                          void *stream)
{
    const unsigned histograms = (unsigned)gf_statistic_channels(statistic, view->format);
    return {task_of(view, statistic, tables, stream), histograms << view->format.bits, count};
}

/* A gf_counter (stage/variant.h), which calls METHOD::launch<BITS, COUNT, MIXTURE>. */
template <class METHOD>
static int count_by(const struct gf_view *view, enum gf_statistic statistic,
                    unsigned long long *count, const void *tables, void *stream)
{
    const struct counting counting = counting_of(view, statistic, count, tables, stream);
    const enum mixture mixture = mixture_of(statistic, view->format);
    if (!view->rows)
        return cudaSuccess;
    return view->format.bits == 8
               ? launch_bits<METHOD, 8>(counting, view->format.channels, mixture)
               : launch_bits<METHOD, 16>(counting, view->format.channels, mixture);
}
