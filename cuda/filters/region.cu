/* Runs the kernels of a filter for the rows of a region, and replaces the pixels that the region
 * covers. */
#include "pixel/region/region.h"

#include <cuda_runtime.h>

#include "base/image.h"
#include "cuda/common/row_copy.cuh"

constexpr int THREADS = 256;

struct region_rows {
    struct gf_region_cover cover;
    struct gf_region_mask mask;
    /* The filtered picture, from the first pixel of the region's box on. */
    const unsigned char *filtered;
    size_t filtered_pitch;
    /* The result, from the first pixel of the box on; at first a copy of the input. */
    unsigned char *out;
    size_t out_pitch;
    int x, y, width, channels;
    unsigned total;
};

static __device__ __forceinline__ void mix(uint8_t *pixel, const uint8_t *filtered, int channels,
                                           float coverage)
{
    gf_region_mix_bytes(pixel, filtered, channels, 255.0f, coverage);
}

static __device__ __forceinline__ void mix(uint16_t *pixel, const uint16_t *filtered, int channels,
                                           float coverage)
{
    gf_region_mix_words(pixel, filtered, channels, 65535.0f, coverage);
}

/* Each thread replaces a pixel of the box by the filtered one, or mixes both where the region
 * covers a part of it. */
template <typename SAMPLE>
static __global__ void __launch_bounds__(THREADS)
    region_replace_kernel(const __grid_constant__ struct region_rows rows)
{
    const unsigned index = blockIdx.x * THREADS + threadIdx.x;
    if (index >= rows.total)
        return;
    const int row = (int)(index / (unsigned)rows.width);
    const int column = (int)(index - (unsigned)row * (unsigned)rows.width);
    const float coverage =
        gf_region_coverage(&rows.cover, &rows.mask, rows.x + column, rows.y + row);
    const size_t at = (size_t)column * (size_t)rows.channels;
    const SAMPLE *const filtered =
        (const SAMPLE *)(rows.filtered + (size_t)row * rows.filtered_pitch) + at;
    SAMPLE *const pixel = (SAMPLE *)(rows.out + (size_t)row * rows.out_pitch) + at;
    if (coverage >= 1.0f) {
        for (int c = 0; c < rows.channels; c++)
            pixel[c] = filtered[c];
    } else if (coverage > 0.0f) {
        mix(pixel, filtered, rows.channels, coverage);
    }
}

/* Copies the columns of `in` from column `from` on to `out`, which has fewer columns or as many. */
static int copy_columns(const struct gf_view *in, int from, const struct gf_view *out,
                        cudaStream_t stream)
{
    const struct gf_row_copy copy = {
        gf_view_row(in, out->y),
        (ptrdiff_t)in->pitch,
        out->data,
        out->pitch,
        gf_row_bytes(in->format),
        (size_t)from * gf_pixel_bytes(in->format),
        gf_row_bytes(out->format),
        out->rows,
    };
    return gf_rows_copy_cuda(&copy, stream);
}

/* Runs the stages of a region's box. *view becomes the result of the last one. */
static int run_stages(const struct gf_launch *launch, const struct gf_region_band *band,
                      struct gf_view *view)
{
    const struct gf_region_parts *const parts =
        (const struct gf_region_parts *)launch->stage->params;
    const struct gf_region_constants *const constants =
        (const struct gf_region_constants *)launch->stage->constants;
    const struct gf_region_box *const box = band->box;
    const struct gf_format needed = parts->stage[box->first].in;
    struct gf_launch own = *launch;
    int status = cudaSuccess;
    own.scratch = band->scratch;
    own.pictures = launch->pictures + (parts->mask ? 1 : 0);
    if (box->columns < launch->in.format.width) {
        own.in = gf_view_make(band->columns, gf_region_pitch(needed), needed, band->cut[0]);
        status = copy_columns(&launch->in, box->from, &own.in, launch->stream);
    }
    for (int i = 0; status == cudaSuccess && i < box->count; i++) {
        const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
        const struct gf_stage stage = gf_region_stage(launch->stage, band, i, &own.out);
        const bool chosen = stage.variant && stage.variant->launch;
        own.stage = &stage;
        own.constants = (const char *)launch->constants + constants->at[box->first + i];
        status = (chosen ? stage.variant->launch : stage.filter->cuda[0].launch)(&own);
        own.in = own.out;
        own.pictures += gf_stage_pictures(&stage, list);
    }
    *view = own.in;
    return status;
}

static int replace(const struct gf_launch *launch, const struct gf_region_band *band,
                   const struct gf_view *made)
{
    const struct gf_region_parts *const parts =
        (const struct gf_region_parts *)launch->stage->params;
    const struct gf_region_box *const box = band->box;
    const struct gf_rows made_rows = band->cut[box->count];
    const struct gf_format format = launch->out.format;
    const size_t size = gf_pixel_bytes(format);
    struct region_rows rows;
    rows.cover = parts->cover;
    rows.mask = gf_region_mask_of(parts, format, launch->pictures);
    rows.filtered = gf_view_row(made, made_rows.first) + (size_t)(box->at.x - box->from) * size;
    rows.filtered_pitch = made->pitch;
    rows.out = gf_view_row(&launch->out, made_rows.first) + (size_t)box->at.x * size;
    rows.out_pitch = launch->out.pitch;
    rows.x = box->at.x;
    rows.y = made_rows.first;
    rows.width = box->at.width;
    rows.channels = format.channels;
    const size_t total = (size_t)box->at.width * (size_t)(made_rows.end - made_rows.first);
    if (total > UINT32_MAX - THREADS)
        return cudaErrorInvalidValue;
    rows.total = (unsigned)total;
    const unsigned blocks = (rows.total + THREADS - 1) / THREADS;
    const auto kernel =
        format.bits == 8 ? region_replace_kernel<uint8_t> : region_replace_kernel<uint16_t>;
    return launch_kernel(kernel, blocks, THREADS, 0, launch->stream, rows);
}

extern "C" int gf_region_cuda(const struct gf_launch *launch)
{
    const struct gf_region_parts *const parts =
        (const struct gf_region_parts *)launch->stage->params;
    int status = copy_columns(&launch->in, 0, &launch->out, launch->stream);
    for (int b = 0; status == cudaSuccess && b < parts->boxes; b++) {
        struct gf_region_band band;
        struct gf_view made;
        if (!gf_region_band(launch->stage, b, &launch->out, launch->scratch, &band))
            continue;
        status = run_stages(launch, &band, &made);
        GF_THEN(status, replace(launch, &band, &made));
    }
    return status;
}
