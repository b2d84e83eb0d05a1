#include "batch/learn.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/spans.h"
#include "batch/cost.h"
#include "batch/figures_cache.h"
#include "chain/chain.h"
#include "codec/formats.h"
#include "pixel/fused.h"
#include "pixel/point.h"

/* Less than this of a figure's work is mostly what the clock and other processes add. */
static const double least_s = 5e-3;
enum { MANY_PICTURES = 64 };

static void see(struct gf_learning *learning, int figure, double measured_s, double unit_s)
{
    if (figure < 0)
        return;
    learning->seen[figure].measured_s += measured_s;
    learning->seen[figure].unit_s += unit_s;
}

static double share(const struct gf_learning *learning)
{
    return learning->processors > 1 ? gf_figure(learning->figures, GF_FIGURE_SHARE) : 1;
}

/* ---- stages ---- */

/* The filter that a stage's time is put down to: the stencil of those that are fused, or the
 * dearest.
 */
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

/* Plans a picture of that format as the pipeline does. */
static void plan_stages(struct gf_learning *learning, struct gf_format format)
{
    struct gf_chain chain = {0};
    struct gf_plan plan = {0};
    learning->format = format;
    learning->stages = -1;
    if (gf_chain_parse(learning->chain, &chain, NULL))
        return;
    chain.no_fuse = learning->options.no_fuse;
    if (!gf_plan_make(&chain, format, 1, &plan, NULL) && plan.stage_count <= GF_LEARN_STAGES) {
        for (int i = 0; i < plan.stage_count; i++) {
            struct gf_learned_stage *const stage = &learning->stage[i];
            gf_plan_stage_name(&plan.stage[i], stage->name, sizeof stage->name);
            stage->filter = filter_of(&plan.stage[i]);
            stage->declared_s = gf_cost_stage_ns(&plan.stage[i], NULL, false) * 1e-9;
        }
        learning->stages = plan.stage_count;
    }
    gf_plan_free(&plan);
    gf_chain_free(&chain);
}

static bool same_format(struct gf_format a, struct gf_format b)
{
    return a.width == b.width && a.height == b.height && a.channels == b.channels &&
           a.bits == b.bits;
}

/* Whether the stages are those of the picture: one that was turned upright has another. */
static bool knows_stages(struct gf_learning *learning, const struct gf_profile *picture)
{
    if (!same_format(learning->format, picture->in))
        plan_stages(learning, picture->in);
    bool same = learning->stages == picture->stage_count;
    for (int i = 0; same && i < learning->stages; i++)
        same = !strcmp(learning->stage[i].name, picture->stages[i].name);
    return same;
}

/* ---- spans ---- */

/* What the spans of that kind, and of that stage unless it is -1, take: together where one thread
 * after the other counts, else the time that they cover. */
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

static void add_stages(struct gf_learning *learning, const struct gf_profile *picture, bool cuda)
{
    double bytes;
    if (!knows_stages(learning, picture) || (cuda && learning->files > 1))
        return;
    for (int i = 0; i < learning->stages; i++) {
        const struct gf_learned_stage *const stage = &learning->stage[i];
        const double s = spans_s(picture, GF_SPAN_STAGE, i, cuda, &bytes);
        see(learning, gf_figure_of_filter(stage->filter, cuda), cuda ? s : s * share(learning),
            stage->declared_s);
    }
}

/* ---- codecs ---- */

static enum gf_file_format format_named(const char *name)
{
    const struct gf_file_type *type;
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        if (!strcmp(type->name, name))
            return type->format;
    }
    return GF_FILE_PNM;
}

static void add_cpu_codec(struct gf_learning *learning, const struct gf_profile *picture,
                          enum gf_span_kind kind)
{
    const bool decodes = kind == GF_SPAN_DECODE;
    const struct gf_format format = decodes ? picture->in : picture->out;
    double times, bytes;
    const double coded_s = spans_s(picture, kind, -1, false, &bytes);
    const double all = (double)gf_row_bytes(format) * format.height;
    const bool passed_over = decodes && bytes > 0 && bytes < all; /* rows that no filter needs */
    const double pixels = (double)format.width * format.height;
    const double coded = passed_over ? bytes / all * pixels : pixels;
    const enum gf_figure_id figure =
        decodes ? gf_cost_decoder(format_named(picture->in_file), (double)picture->in_bytes, pixels,
                                  &times)
                : gf_cost_encoder(format_named(picture->out_file), &learning->options, &times);
    if (learning->serial)
        see(learning, figure, coded_s * share(learning), times * coded * 1e-9);
    else
        learning->codecs_s[figure] += gf_figure(learning->figures, figure) * times * coded * 1e-9 *
                                      gf_cost_strips(learning->figures, figure, pixels,
                                                     learning->files, learning->processors);
}

/* A PNG that the GPU has encoded. The first one waits for the encoder, too. */
static void add_device_png(struct gf_learning *learning, const struct gf_profile *picture)
{
    const double pixels = (double)picture->out.width * picture->out.height;
    double coded_s = 0, written_s = 0, bytes;
    for (size_t i = 0; i < picture->span_count; i++) {
        const struct gf_span *const span = &picture->spans[i];
        if (span->kind == GF_SPAN_ENCODE)
            *(span->bytes ? &coded_s : &written_s) += span->end_s - span->begin_s;
    }
    if (learning->files > 1 || spans_s(picture, GF_SPAN_START, -1, true, &bytes) > 0)
        coded_s = 0;
    see(learning, GF_FIGURE_CUDA_PNG_FILE, written_s * share(learning), pixels * 1e-9);
    see(learning, GF_FIGURE_CUDA_PNG_ENCODE, coded_s, coded_s > 0 ? pixels * 1e-9 : 0);
}

static void add_copies(struct gf_learning *learning, const struct gf_profile *picture)
{
    const enum gf_figure_id start = learning->beside ? GF_FIGURE_CUDA_BESIDE : GF_FIGURE_CUDA_START;
    double bytes, s = spans_s(picture, GF_SPAN_START, -1, true, &bytes);
    if (s > 0 && !learning->seen[start].unit_s) {
        see(learning, start, s, 1e-3);
        learning->started_s = s;
    }
    if (learning->files > 1)
        return;
    s = spans_s(picture, GF_SPAN_UPLOAD, -1, true, &bytes);
    see(learning, GF_FIGURE_CUDA_UPLOAD, s, bytes * 1e-9);
    s = spans_s(picture, GF_SPAN_DOWNLOAD, -1, true, &bytes);
    see(learning, GF_FIGURE_CUDA_DOWNLOAD, s, bytes * 1e-9);
}

static double pixels_of(struct gf_format format)
{
    return (double)format.width * format.height;
}

void gf_learning_add(struct gf_learning *learning, const struct gf_profile *picture)
{
    const bool cuda = strncmp(picture->device, "cpu", 3);
    double bytes;
    if (picture->reduction > 1) {
        learning->reduced++; /* its decoding and its stages are other work */
        return;
    }
    learning->pictures++;
    learning->on_cuda += cuda;
    add_stages(learning, picture, cuda);
    if (cuda) {
        add_copies(learning, picture);
        const bool png = picture->device_encoded && format_named(picture->out_file) == GF_FILE_PNG;
        if (png)
            add_device_png(learning, picture);
        const bool from_png =
            picture->device_decoded && format_named(picture->in_file) == GF_FILE_PNG;
        learning->device_pngs += png || from_png;
        learning->unpacked_pixels += from_png ? pixels_of(picture->in) : 0;
        learning->packed_pixels += png ? pixels_of(picture->out) : 0;
        learning->device_pixels += picture->device_decoded ? pixels_of(picture->in) : 0;
        learning->device_pixels += picture->device_encoded ? pixels_of(picture->out) : 0;
        return;
    }
    learning->stages_s += spans_s(picture, GF_SPAN_STAGE, -1, false, &bytes);
    add_cpu_codec(learning, picture, GF_SPAN_DECODE);
    add_cpu_codec(learning, picture, GF_SPAN_ENCODE);
}

/* ---- the end of a run ---- */

/* Where threads share a picture, its codecs' part is the processor time that the stages did not
 * take. The figures of both codecs move by the same factor. */
static void share_out(struct gf_learning *learning, double processor_s)
{
    const double measured_s = (processor_s - learning->stages_s) * share(learning);
    double expected_s = 0;
    for (int i = 0; i < GF_FIGURE_NAMED; i++)
        expected_s += learning->codecs_s[i];
    for (int i = 0; i < GF_FIGURE_NAMED && measured_s > 0 && expected_s > 0; i++) {
        if (learning->codecs_s[i] > 0.25 * expected_s)
            see(learning, i, learning->codecs_s[i] * measured_s / expected_s,
                learning->codecs_s[i] / gf_figure(learning->figures, i));
    }
}

/* Many pictures wait for the GPU's codec together: only the whole says what one takes, where most
 * of it is no waiting for the first. Of PNGs the decoding takes what the encoding, which single
 * ones teach, leaves. */
static void learn_device_codec(struct gf_learning *learning, double elapsed_s)
{
    const enum gf_figure_id crowd =
        learning->unpacked_pixels > 0 ? GF_FIGURE_CUDA_PNG_CROWD : GF_FIGURE_CUDA_CROWD;
    const double crowd_s = gf_figure(learning->figures, crowd) * 1e-3,
                 left_s = elapsed_s - learning->started_s - crowd_s;
    if (left_s < 2 * crowd_s)
        return;
    const double packed_s =
        gf_figure(learning->figures, GF_FIGURE_CUDA_PNG_ENCODE) * learning->packed_pixels * 1e-9;
    if (learning->device_pngs == learning->pictures && left_s > packed_s)
        see(learning, GF_FIGURE_CUDA_PNG_DECODE, left_s - packed_s,
            learning->unpacked_pixels * 1e-9);
    if (learning->device_pngs)
        return;
    see(learning, GF_FIGURE_CUDA_DECODE, left_s, learning->device_pixels * 1e-9);
    see(learning, GF_FIGURE_CUDA_ENCODE, left_s, learning->device_pixels * 1e-9);
}

void gf_learning_conclude(struct gf_learning *learning, double elapsed_s, double processor_s)
{
    if (!learning->on_cuda && !learning->serial && !learning->reduced)
        share_out(learning, processor_s);
    if (learning->on_cuda == learning->pictures && learning->pictures >= MANY_PICTURES &&
        !learning->reduced && learning->device_pixels > 0)
        learn_device_codec(learning, elapsed_s);
}

static double processor_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void gf_learning_begin(struct gf_learning *learning)
{
    learning->begin_s = gf_now();
    learning->begin_processor_s = processor_s();
}

void gf_learning_end(struct gf_learning *learning)
{
    gf_learning_conclude(learning, gf_now() - learning->begin_s,
                         processor_s() - learning->begin_processor_s);
}

bool gf_learning_apply(const struct gf_learning *learning, struct gf_figures *figures)
{
    const int count = gf_figure_count();
    bool moved = false;
    for (int i = 0; i < count; i++) {
        const struct gf_learned *const seen = &learning->seen[i];
        if (seen->measured_s >= least_s && seen->unit_s > 0)
            moved |= gf_figure_learn(figures, i, seen->measured_s / seen->unit_s);
    }
    return moved;
}

static bool apply(struct gf_figures *figures, void *context)
{
    return gf_learning_apply(context, figures);
}

void gf_learning_keep(const struct gf_learning *learning)
{
    struct gf_figures none = {0};
    /* Where nothing would change, nothing is read either. */
    if (gf_learning_apply(learning, &none))
        (void)gf_figures_change(apply, (void *)learning, NULL);
}
