#include "bench/calibrator.h"

#include <stdlib.h>
#include <string.h>

#include "base/spans.h"
#include "batch/devices/cost.h"
#include "chain/chain.h"
#include "codec/formats.h"
#include "pixel/point/fused.h"
#include "pixel/point/point.h"

static void see(struct gf_seen *seen, int figure, double measured_s, double unit_s)
{
    if (figure < 0)
        return;
    seen->figure[figure].measured_s += measured_s;
    seen->figure[figure].unit_s += unit_s;
}

/* Returns the time of the spans of a kind, and sets *bytes to the sum of their bytes. Spans of
 * statistics count as spans of stages. Unless `stage` is -1, only the spans of that stage count.
 * With `cover`, time in which several spans overlap counts once; otherwise the result is the sum of
 * the spans' durations. */
static double spans_s(const struct gf_profile *picture, enum gf_span_kind kind, int stage,
                      bool cover, double *bytes)
{
    struct gf_interval *const interval =
        cover ? malloc((picture->span_count + 1) * sizeof *interval) : NULL;
    size_t count = 0;
    double sum_s = 0;
    *bytes = 0;
    for (size_t i = 0; i < picture->span_count; i++) {
        const struct gf_span *const span = &picture->spans[i];
        const bool counts =
            span->kind == kind || (kind == GF_SPAN_STAGE && span->kind == GF_SPAN_STATISTIC);
        if (!counts || (stage >= 0 && span->stage != stage))
            continue;
        if (interval)
            interval[count++] = (struct gf_interval){span->begin_s, span->end_s};
        sum_s += span->end_s - span->begin_s;
        *bytes += (double)span->bytes;
    }
    if (interval)
        sum_s = gf_intervals_union(interval, count);
    free(interval);
    return sum_s;
}

/* Returns the filter that gets a stage's time: the stencil of a fused stage, or the most expensive
 * filter of a run. */
static const struct gf_filter *filter_of(const struct gf_stage *stage)
{
    if (stage->filter == &gf_fused)
        return ((const struct gf_fused_run *)stage->params)->part[GF_FUSED_STENCIL].filter;
    if (stage->filter != &gf_point)
        return stage->filter;
    const struct gf_point_run *const run = stage->params;
    const struct gf_filter *dearest = run->item[0].filter;
    for (int i = 1; i < run->count; i++) {
        if (run->item[i].filter->cost.pixel > dearest->cost.pixel)
            dearest = run->item[i].filter;
    }
    return dearest;
}

/* Adds the stages' times. It makes the same plan as the pipeline did. */
static void add_stages(struct gf_seen *seen, const char *chain_text,
                       const struct gf_options *options, const struct gf_profile *picture,
                       bool cuda)
{
    struct gf_chain chain = {0};
    struct gf_plan plan = {0};
    double bytes;
    if (gf_chain_parse(chain_text, &chain, NULL))
        return;
    chain.no_fuse = options->no_fuse;
    const struct gf_plan_request request = {.orientation = 1, .on_device = cuda};
    if (!gf_plan_make_for(&chain, picture->in, &request, &plan, NULL) &&
        plan.stage_count == picture->stage_count) {
        for (int i = 0; i < plan.stage_count; i++)
            see(seen, gf_figure_of_filter(filter_of(&plan.stage[i]), cuda),
                spans_s(picture, GF_SPAN_STAGE, i, cuda, &bytes),
                gf_cost_stage_ns(&plan.stage[i], NULL, false) * 1e-9);
    }
    gf_plan_free(&plan);
    gf_chain_free(&chain);
}

static enum gf_file_format format_named(const char *name)
{
    const struct gf_file_type *type;
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        if (!strcmp(type->name, name))
            return type->format;
    }
    return GF_FILE_PNM;
}

static double pixels_of(struct gf_format format)
{
    return (double)format.width * format.height;
}

static void add_cpu_codecs(struct gf_seen *seen, const struct gf_options *options,
                           const struct gf_profile *picture)
{
    const double read = pixels_of(picture->in), written = pixels_of(picture->out);
    double times, bytes;
    enum gf_figure_id figure =
        gf_cost_decoder(format_named(picture->in_file), (double)picture->in_bytes, read, &times);
    see(seen, figure, spans_s(picture, GF_SPAN_DECODE, -1, false, &bytes), times * read * 1e-9);
    figure = gf_cost_encoder(format_named(picture->out_file), options, &times);
    see(seen, figure, spans_s(picture, GF_SPAN_ENCODE, -1, false, &bytes), times * written * 1e-9);
}

/* Adds a PNG that the GPU has encoded. The first PNG also waits for the encoder. */
static void add_device_png(struct gf_seen *seen, const struct gf_profile *picture)
{
    const double unit_s = pixels_of(picture->out) * 1e-9;
    double coded_s = 0, written_s = 0, bytes;
    for (size_t i = 0; i < picture->span_count; i++) {
        const struct gf_span *const span = &picture->spans[i];
        if (span->kind == GF_SPAN_ENCODE)
            *(span->bytes ? &coded_s : &written_s) += span->end_s - span->begin_s;
    }
    see(seen, GF_FIGURE_CUDA_PNG_FILE, written_s, unit_s);
    if (spans_s(picture, GF_SPAN_START, -1, true, &bytes) == 0)
        see(seen, GF_FIGURE_CUDA_PNG_ENCODE, coded_s, unit_s);
}

static void add_copies(struct gf_seen *seen, const struct gf_profile *picture)
{
    double bytes, s = spans_s(picture, GF_SPAN_UPLOAD, -1, true, &bytes);
    see(seen, GF_FIGURE_CUDA_UPLOAD, s, bytes * 1e-9);
    s = spans_s(picture, GF_SPAN_DOWNLOAD, -1, true, &bytes);
    see(seen, GF_FIGURE_CUDA_DOWNLOAD, s, bytes * 1e-9);
}

void gf_calibrate_see(const char *chain, const struct gf_options *options,
                      const struct gf_profile *profile, struct gf_seen *seen)
{
    const bool cuda = strncmp(profile->device, "cpu", 3);
    add_stages(seen, chain, options, profile, cuda);
    if (!cuda) {
        add_cpu_codecs(seen, options, profile);
        return;
    }
    add_copies(seen, profile);
    if (profile->device_encoded && format_named(profile->out_file) == GF_FILE_PNG)
        add_device_png(seen, profile);
}
