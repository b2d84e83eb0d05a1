#include "cuda/study/variants/equalize_cluster.cuh"

extern "C" int gf_histogram_cluster_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                         unsigned long long *count, const void *tables,
                                         void *stream)
{
    return count_by<struct cluster_method>(view, statistic, count, tables, stream);
}
