/* Histograms, privatised: each block has its own in shared memory (Programming Guide 2.2.3.8). */
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

extern "C" int gf_histogram_cuda(const struct gf_view *view, enum gf_statistic statistic,
                                 unsigned long long *count, const void *tables, void *stream)
{
    static cudaError_t (*const launch[2][4])(const struct request *) = {
        {launch_gray_8<1>, launch_gray_8<2>, launch_colour_8<3>, launch_colour_8<4>},
        {launch_16<1>, launch_16<2>, launch_16<3>, launch_16<4>},
    };
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
    if (!view->rows)
        return cudaSuccess;
    return launch[view->format.bits == 16][view->format.channels - 1](&request);
}
