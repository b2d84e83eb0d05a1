/* Ways of counting a histogram, beginning with an atomic addition in global memory for each
 * sample. */
#include "cuda/filters/histogram/histogram_table.cuh"
#include "cuda/study/variants/equalize_global.cuh"

extern "C" int gf_histogram_global_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                        unsigned long long *count, const void *tables, void *stream)
{
    return count_by<struct global_method>(view, statistic, count, tables, stream);
}

extern "C" int gf_histogram_aggregated_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                            unsigned long long *count, const void *tables,
                                            void *stream)
{
    return count_by<struct table_method<AGGREGATED>>(view, statistic, count, tables, stream);
}

/* Counts in a table for each warp. The variant refuses 16 bits, whose tables are too large for
 * that. */
extern "C" int gf_histogram_warp_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                      unsigned long long *count, const void *tables, void *stream)
{
    const struct counting counting = counting_of(view, statistic, count, tables, stream);
    if (!view->rows)
        return cudaSuccess;
    return view->format.bits == 8
               ? launch_bits<struct table_method<TABLE_A_WARP>, 8>(
                     counting, view->format.channels, mixture_of(statistic, view->format))
               : cudaErrorInvalidValue;
}
