/* The default counter of histograms. It chooses between three counters: a table for each lane, for
 * 8-bit samples; packed counters, for 16-bit samples; and tables in shared memory. */
#include "cuda/filters/histogram/histogram.cuh"

#include "cuda/filters/histogram/histogram_table.cuh"
#include "pixel/histogram/histogram.h"

static struct count_request request_of(const struct gf_view *view, enum gf_statistic statistic,
                                       unsigned long long *count, const void *tables, void *stream)
{
    struct count_request request;
    request.p = join_rows(input_view(view), gf_row_bytes(view->format), 0);
    request.source = source_of(statistic, view->format);
    request.count = count;
    request.lightness = (const struct gf_lightness *)tables;
    request.stream = (cudaStream_t)stream;
    return request;
}

extern "C" int gf_histogram_lanes_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                       unsigned long long *count, const void *tables, void *stream)
{
    static cudaError_t (*const launch[4])(const struct count_request *) = {
        launch_gray_8<1>, launch_gray_8<2>, launch_colour_8<3>, launch_colour_8<4>};
    const struct count_request request = request_of(view, statistic, count, tables, stream);
    return view->rows ? launch[view->format.channels - 1](&request) : cudaSuccess;
}

extern "C" int gf_histogram_packed_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                        unsigned long long *count, const void *tables, void *stream)
{
    static cudaError_t (*const launch[4])(const struct count_request *) = {
        launch_16<1>, launch_16<2>, launch_16<3>, launch_16<4>};
    const struct count_request request = request_of(view, statistic, count, tables, stream);
    return view->rows ? launch[view->format.channels - 1](&request) : cudaSuccess;
}

/* At most so many pixels are counted sooner in one table a block, which is added up sooner than a
 * table for each lane. On an H200, us: the luma of 900x600 RGB8 4.9 and 5.4, of gray8 4.9 and 5.3,
 * 1920x1080 5.3 and 5.3. */
enum { SHARED_PIXELS = 1 << 20 };

/* Chooses the counter that is fastest for a photograph on an H200. Packed counters look each
 * lightness up once; a table that is counted in parts looks it up once for each part. The tables of
 * three channels leave room for fewer copies: a photograph takes 0.040 ms with a table for each
 * lane and 0.032 ms with one shared table; evenly distributed bytes take 0.041 ms and 0.051 ms. */
static cudaError_t choose(const struct gf_view *view, enum gf_statistic statistic,
                          gf_counter **counter)
{
    bool fits = false;
    const cudaError_t status = packed_fits(&fits);
    if (view->format.bits == 16)
        *counter = statistic == GF_STATISTIC_LIGHTNESS && fits ? gf_histogram_packed_cuda
                                                               : gf_histogram_shared_cuda;
    else
        *counter = (statistic == GF_STATISTIC_CHANNELS && view->format.channels == 3) ||
                           (long long)view->rows * view->format.width <= SHARED_PIXELS
                       ? gf_histogram_shared_cuda
                       : gf_histogram_lanes_cuda;
    return status;
}

extern "C" int gf_histogram_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                 unsigned long long *count, const void *tables, void *stream)
{
    if (gf_statistic_kind(statistic) == GF_STATISTIC_TILES)
        return gf_histogram_tiles_cuda(view, statistic, count, tables, stream);
    gf_counter *counter = NULL;
    const cudaError_t status = choose(view, statistic, &counter);
    return status == cudaSuccess ? counter(view, statistic, count, tables, stream) : status;
}

/* Counts a histogram in a table in the shared memory of each block. */

extern "C" int gf_histogram_shared_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                        unsigned long long *count, const void *tables, void *stream)
{
    return count_by<struct table_method<ONE_TABLE>>(view, statistic, count, tables, stream);
}
