/* Which of the ways to count a histogram is the default's, and the two that are nobody else's: a table for each
 * lane of 8-bit samples, and packed counters of 16-bit ones. */
#include "counters.h"
#include "histogram_16.cuh"
#include "histogram_8.cuh"

static int kind_of(enum gf_statistic statistic, struct gf_format format)
{
    switch (statistic) {
    case GF_STATISTIC_LIGHTNESS:
        return LIGHTNESS;
    case GF_STATISTIC_CHANNELS:
        return gf_colour_channels(format) == 3 ? CHANNELS : SAMPLE;
    case GF_STATISTIC_JOINT:
        return gf_colour_channels(format) == 3 ? JOINT : SAMPLE;
    default:
        return gf_colour_channels(format) == 3 ? LUMA : SAMPLE;
    }
}

static struct request request_of(const struct gf_view *view, enum gf_statistic statistic,
                                 unsigned long long *count, const void *tables, void *stream)
{
    struct request request;
    request.band.in = view->data;
    request.band.out = NULL;
    request.band.in_pitch = request.band.out_pitch = view->pitch;
    request.band.width = (unsigned)view->format.width;
    request.band.rows = (unsigned)view->rows;
    request.band = join_rows(request.band, gf_row_bytes(view->format), 0);
    request.kind = kind_of(statistic, view->format);
    request.count = count;
    request.lightness = (const struct gf_lightness *)tables;
    request.stream = (cudaStream_t)stream;
    return request;
}

extern "C" int gf_histogram_lanes_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                       unsigned long long *count, const void *tables, void *stream)
{
    static cudaError_t (*const launch[4])(const struct request *) = {
        launch_gray_8<1>, launch_gray_8<2>, launch_colour_8<3>, launch_colour_8<4>};
    const struct request request = request_of(view, statistic, count, tables, stream);
    return view->rows ? launch[view->format.channels - 1](&request) : cudaSuccess;
}

extern "C" int gf_histogram_packed_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                        unsigned long long *count, const void *tables, void *stream)
{
    static cudaError_t (*const launch[4])(const struct request *) = {launch_16<1>, launch_16<2>,
                                                                     launch_16<3>, launch_16<4>};
    const struct request request = request_of(view, statistic, count, tables, stream);
    return view->rows ? launch[view->format.channels - 1](&request) : cudaSuccess;
}

/* The fastest on an H200. A lightness takes longer to find than to count: of 16 bits, once is better than for
 * each part of the table, where the packed one fits. */
extern "C" int gf_histogram_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                 unsigned long long *count, const void *tables, void *stream)
{
    gf_counter *counter = gf_histogram_lanes_cuda;
    bool fits = false;
    if (view->format.bits == 16) {
        const cudaError_t status = packed_fits(&fits);
        if (status != cudaSuccess)
            return status;
        counter = statistic == GF_STATISTIC_LIGHTNESS && fits ? gf_histogram_packed_cuda
                                                              : gf_histogram_shared_cuda;
    }
    return counter(view, statistic, count, tables, stream);
}
