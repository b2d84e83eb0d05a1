/* Counts a histogram in a table in the shared memory of each block. */
#include "cuda/filters/histogram/histogram_table.cuh"

extern "C" int gf_histogram_shared_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                        unsigned long long *count, const void *tables, void *stream)
{
    return count_by<struct table_method<ONE_TABLE>>(view, statistic, count, tables, stream);
}
