/* Pillow's Image.reduce(): blocks of pixels become their means. */
#include <string.h>

#include "base/cpu.h"
#include "filters/resize/pillow.h"
#include "pixel/stencil.h"

static enum gf_status reduce_shape(const void *params, struct gf_format in, struct gf_format *out,
                                   struct gf_error *error)
{
    const struct gf_reduce_params *const reduce = params;
    if (in.bits == 16)
        return gf_fail(error, GF_ERROR_USAGE,
                       "reducing_gap takes samples of 8 bits only, as Pillow does");
    if ((double)reduce->x * reduce->y >= 1 << 24)
        return gf_fail(error, GF_ERROR_USAGE, "reducing_gap would join 2^24 pixels or more");
    out->width = (reduce->box[2] - reduce->box[0] + reduce->x - 1) / reduce->x;
    out->height = (reduce->box[3] - reduce->box[1] + reduce->y - 1) / reduce->y;
    return GF_OK;
}

static void reduce_input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    const struct gf_reduce_params *const reduce = stage->params;
    int count;
    *first = gf_reduce_block(y0, reduce->y, reduce->box[1], reduce->box[3], &count);
    *end = gf_reduce_block(y1 - 1, reduce->y, reduce->box[1], reduce->box[3], &count) + count;
}

static int reduce_rows_most(const struct gf_stage *stage, int rows)
{
    const double most = (double)rows * ((const struct gf_reduce_params *)stage->params)->y;
    return most < stage->in.height ? (int)most : stage->in.height;
}

static size_t reduce_scratch(const struct gf_stage *stage, int rows)
{
    return gf_samples(stage->in) * sizeof(uint32_t);
}

GF_TARGET_CLONES static void add_row(const unsigned char *row, size_t samples,
                                     uint32_t *restrict sums)
{
    for (size_t i = 0; i < samples; i++)
        sums[i] += row[i];
}

static void add_premultiplied(const unsigned char *row, struct gf_format format,
                              uint32_t *restrict sums)
{
    const size_t alpha = (size_t)format.channels - 1;
    for (size_t i = 0; i < gf_samples(format); i += alpha + 1) {
        for (size_t c = 0; c < alpha; c++)
            sums[i + c] += (uint32_t)gf_pillow_premultiplied(row[i + c], row[i + alpha]);
        sums[i + alpha] += row[i + alpha];
    }
}

static void reduce_cpu(const struct gf_stage *stage, const struct gf_view *in,
                       const struct gf_view *out, void *scratch)
{
    const struct gf_reduce_params *const reduce = stage->params;
    const int channels = in->format.channels;
    const size_t samples = gf_samples(in->format);
    uint32_t *const sums = scratch;
    for (int y = out->y; y < out->y + out->rows; y++) {
        int rows, columns;
        const int top = gf_reduce_block(y, reduce->y, reduce->box[1], reduce->box[3], &rows);
        unsigned char *const to = gf_view_row(out, y);
        memset(sums, 0, samples * sizeof *sums);
        for (int i = 0; i < rows; i++) {
            const unsigned char *const row = gf_view_row(in, top + i);
            if (gf_has_alpha(in->format))
                add_premultiplied(row, in->format, sums);
            else
                add_row(row, samples, sums);
        }
        for (int x = 0; x < out->format.width; x++) {
            const int left =
                gf_reduce_block(x, reduce->x, reduce->box[0], reduce->box[2], &columns);
            const uint32_t pixels = (uint32_t)(rows * columns);
            for (int c = 0; c < channels; c++) {
                uint32_t sum = pixels / 2;
                for (int i = 0; i < columns; i++)
                    sum += sums[(left + i) * channels + c];
                to[x * channels + c] = (unsigned char)((sum * gf_reduce_factor((int)pixels)) >> 24);
            }
        }
    }
}

extern gf_launcher gf_reduce_cuda;

const struct gf_filter gf_reduce_filter = {
    .name = "reduce",
    .params_size = sizeof(struct gf_reduce_params),
    .kind = GF_STRAIGHT,
    .takes_no_region = true,
    .cost = {.pixel = 1, .row = 1},
    .shape = reduce_shape,
    .input_rows = reduce_input_rows,
    .input_rows_most = reduce_rows_most,
    .cpu_scratch = reduce_scratch,
    .cpu = reduce_cpu,
    .cuda = GF_CUDA({GF_VARIANT("tiled", gf_reduce_cuda, "a thread for each block of pixels")}),
};
