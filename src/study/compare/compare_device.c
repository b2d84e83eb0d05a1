/* Measures the variants of a stage on a device. Each runs once, and its result is compared with the
 * CPU's. Then its kernels are inspected, and it is timed with a warm and with a cold cache. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "study/compare/compare.h"
#include "chain/variants.h"
#include "engine/placement.h"
#include "pixel/histogram/histogram.h"
#include "selftest/difference.h"

enum { POISON = 0xa5 };

/* The group that is being measured, with its whole pictures on the device. */
struct variants {
    const struct gf_compare_setup *setup;
    const struct gf_compare_subject *subject;
    struct gf_compare_group *group;
    struct gf_buffer_pool buffers; /* the buffers of the pictures on the device */
    struct gf_placement in, out;   /* the pictures on the device */
    struct gf_image result;        /* downloaded */
    struct gf_histogram counted;   /* downloaded */
    bool pinned_in, pinned_result;
};

static size_t image_bytes(const struct gf_image *image)
{
    return image->pitch * (size_t)(image->format.height - 1) + gf_row_bytes(image->format);
}

static enum gf_status copy(const struct variants *v, bool up, const struct gf_image *image,
                           const struct gf_placement *place, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = v->setup->backend->calls;
    const struct gf_view host = gf_image_view(image);
    GF_TRY(up ? calls->upload(v->setup->lane, &place->view, &host, error)
              : calls->download(v->setup->lane, &host, &place->view, error));
    return calls->wait(v->setup->lane, error);
}

/* Overwrites the result on the device, so that the result of an earlier variant is not taken for
 * this variant's. */
static enum gf_status poison(struct variants *v, struct gf_error *error)
{
    memset(v->result.data, POISON, v->result.pitch * (size_t)v->result.format.height);
    return copy(v, true, &v->result, &v->out, error);
}

static enum gf_status check_picture(struct variants *v, const struct gf_stage_work *work,
                                    struct gf_compare_row *row, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = v->setup->backend->calls;
    enum gf_status status = poison(v, error);
    if (!status)
        status = gf_stage_work_run(v->setup->lane, work, error);
    if (!status)
        status = calls->wait(v->setup->lane, error);
    if (!status)
        status = copy(v, false, &v->result, &v->out, error);
    const struct gf_view found = gf_image_view(&v->result),
                         expected = gf_image_view(v->subject->out);
    if (!status)
        row->difference = gf_view_difference(&found, &expected);
    if (!status && row->difference > 0)
        row->spot = gf_compare_spot_make(&found, &expected);
    return status;
}

static enum gf_status check_histogram(struct variants *v, const struct gf_stage_work *work,
                                      struct gf_compare_row *row, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = v->setup->backend->calls;
    memset(v->counted.count, 0, gf_histogram_counters(&v->counted) * sizeof *v->counted.count);
    GF_TRY(gf_stage_work_run(v->setup->lane, work, error));
    GF_TRY(calls->wait(v->setup->lane, error));
    GF_TRY(calls->statistic_take(v->setup->lane, &v->counted, error));
    row->difference = gf_histogram_difference(&v->counted, v->subject->histogram,
                                              gf_stage_marks_extremes(work->stage));
    return GF_OK;
}

static enum gf_status time_runs(const struct variants *v, const struct gf_stage_work *work,
                                bool cold, int runs, struct gf_timing *timing,
                                struct gf_error *error)
{
    double seconds[GF_TIMING_RUNS_MAX];
    GF_TRY(v->setup->backend->calls->time(v->setup->lane, work, cold, runs, seconds, error));
    *timing = gf_timing_of(seconds, runs);
    return GF_OK;
}

/* Times a row. The time of one cold run determines the number of cold and of warm runs. */
static enum gf_status time_row(const struct variants *v, const struct gf_stage_work *work,
                               struct gf_compare_row *row, struct gf_error *error)
{
    if (!v->setup->backend->calls->time)
        return GF_OK;
    enum gf_status status = time_runs(v, work, true, 1, &row->cold, error);
    const int runs = gf_timing_runs(row->cold.median_s, v->setup->budget_s);
    if (!status)
        status = time_runs(v, work, false, runs, &row->warm, error);
    if (!status && runs > 1)
        status = time_runs(v, work, true, runs, &row->cold, error);
    return status;
}

static enum gf_status measure_row(struct variants *v, const struct gf_stage_work *work,
                                  struct gf_compare_row *row, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = v->setup->backend->calls;
    GF_TRY(work->counts ? check_histogram(v, work, row, error)
                        : check_picture(v, work, row, error));
    if (calls->inspect)
        GF_TRY(calls->inspect(v->setup->lane, work, row->kernel, GF_COMPARE_KERNELS, &row->kernels,
                              error));
    return time_row(v, work, row, error);
}

/* Loads the constants of this variant, which may differ from those of other variants. */
static enum gf_status load_constants(const struct variants *v, struct gf_stage *stage,
                                     const void **constants, struct gf_error *error)
{
    struct gf_backend *const backend = v->setup->backend;
    stage->constants = NULL;
    stage->constants_size = 0;
    GF_TRY(gf_stage_prepare(stage, error));
    return backend->calls->load(backend, NULL, stage, constants, error);
}

/* Measures the row with the variant's constants and scratch memory, or with an empty histogram. */
static enum gf_status prepare_and_measure_row(struct variants *v, struct gf_stage *stage,
                                              struct gf_compare_row *row, struct gf_error *error)
{
    struct gf_backend *const backend = v->setup->backend;
    const struct gf_backend_calls *const calls = backend->calls;
    struct gf_stage_work work = {
        .stage = stage, .in = v->in.view, .out = v->out.view, .counts = v->subject->counts};
    enum gf_status status = work.counts ? calls->statistic_open(v->setup->lane, stage, error)
                                        : load_constants(v, stage, &work.constants, error);
    const size_t scratch = work.counts || status ? 0 : calls->scratch(stage, stage->out.height);
    if (scratch && !(work.scratch = calls->alloc(backend, scratch)))
        status = gf_fail(error, GF_ERROR_DEVICE_MEMORY, "no device memory for its scratch");
    if (!status)
        status = measure_row(v, &work, row, error);
    if (work.scratch)
        calls->release(backend, work.scratch, scratch);
    if (work.constants)
        calls->unload(backend, work.constants);
    if (work.counts)
        calls->statistic_close(v->setup->lane);
    else
        gf_stage_release(stage);
    return status;
}

/* Adds the row of a variant. If the variant cannot run here, or not on this picture, the row says
 * why. */
static enum gf_status add_row(struct variants *v, const struct gf_variant *variant,
                              const char *name, bool chosen, struct gf_error *error)
{
    struct gf_stage stage = *v->subject->stage;
    struct gf_error why = {0};
    struct gf_compare_row *const row = gf_compare_add_row(v->group, name);
    if (!row)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    stage.variant = variant;
    row->summary = variant->summary;
    row->tolerance = v->subject->counts ? 0 : gf_variant_tolerance(variant, stage.out.bits);
    row->chosen = chosen;
    const char *const refused = variant->refuses ? variant->refuses(&stage) : NULL;
    if (refused) {
        snprintf(row->refused, sizeof row->refused, "%s", refused);
        return GF_OK;
    }
    const enum gf_status status = prepare_and_measure_row(v, &stage, row, &why);
    if (status == GF_ERROR_UNAVAILABLE || status == GF_ERROR_DEVICE_MEMORY) {
        snprintf(row->refused, sizeof row->refused, "%.159s", why.text);
        return GF_OK;
    }
    if (status && error)
        *error = why;
    return status;
}

/* Whether the variant belongs to this group. Some variants of a filter with a histogram count it,
 * the others run the stage. */
static bool belongs(const struct variants *v, const struct gf_variant *variant)
{
    return v->subject->counts ? variant->count != NULL : variant->launch || !variant->count;
}

/* Returns the variant that a chain runs without variant=. For counting it is the counter that all
 * filters share; if the filter's list lacks it, it is the first variant. */
static const struct gf_variant *usual(const struct variants *v)
{
    const struct gf_filter *const filter = gf_stage_variants(v->subject->stage);
    struct gf_stage plain = *v->subject->stage;
    const struct gf_variant *variant;
    plain.variant = NULL;
    for (int i = 0; v->subject->counts && (variant = gf_filter_variant_at(filter, i)); i++) {
        if (variant->count && variant->count == gf_stage_counter(&plain))
            return variant;
    }
    return gf_filter_variant_at(filter, 0);
}

/* Adds the rows of all variants. The naive variant has the name "naive"; if no variant has that
 * name, it is the second. */
static enum gf_status add_rows(struct variants *v, struct gf_error *error)
{
    const struct gf_filter *const filter = gf_stage_variants(v->subject->stage);
    const struct gf_variant *const first = usual(v), *const asked = v->subject->stage->variant;
    const struct gf_variant *const chosen = asked && belongs(v, asked) ? asked : first;
    enum gf_status status = GF_OK;
    if (first)
        status =
            add_row(v, first, belongs(v, first) ? first->name : "default", first == chosen, error);
    const struct gf_variant *variant;
    for (int i = 0; !status && (variant = gf_filter_variant_at(filter, i)); i++) {
        if (variant != first && belongs(v, variant))
            status = add_row(v, variant, variant->name, variant == chosen, error);
    }
    v->group->naive = v->group->rows > 1 ? 1 : -1;
    for (int i = 0; i < v->group->rows; i++) {
        if (!strcmp(v->group->row[i].name, "naive"))
            v->group->naive = i;
    }
    return status;
}

static enum gf_status open_pictures(struct variants *v, struct gf_error *error)
{
    struct gf_backend *const backend = v->setup->backend;
    const struct gf_compare_subject *const subject = v->subject;
    gf_buffer_pool_open(&v->buffers, backend);
    GF_TRY(gf_placement_alloc(&v->buffers, subject->in->format, true, &v->in, error));
    if (!subject->counts)
        GF_TRY(gf_placement_alloc(&v->buffers, subject->out->format, true, &v->out, error));
    if (!subject->counts)
        GF_TRY(gf_image_alloc(&v->result, subject->out->format, error));
    if (subject->counts)
        GF_TRY(gf_histogram_alloc(&v->counted, gf_stage_statistic(subject->stage),
                                  subject->in->format, error));
    v->pinned_in =
        backend->calls->pin(backend, subject->in->data, image_bytes(subject->in)) == GF_PINNED;
    if (v->result.data)
        v->pinned_result =
            backend->calls->pin(backend, v->result.data, image_bytes(&v->result)) == GF_PINNED;
    return copy(v, true, subject->in, &v->in, error);
}

static void close_pictures(struct variants *v)
{
    struct gf_backend *const backend = v->setup->backend;
    if (v->pinned_in)
        backend->calls->unpin(backend, v->subject->in->data);
    if (v->pinned_result)
        backend->calls->unpin(backend, v->result.data);
    gf_buffer_pool_close(&v->buffers);
    gf_image_free(&v->result);
    free(v->counted.count);
}

/* If the device has too little memory for the picture, one row says so. */
enum gf_status gf_compare_device_rows(const struct gf_compare_setup *setup,
                                      const struct gf_compare_subject *subject,
                                      struct gf_compare_group *group, struct gf_error *error)
{
    struct variants v = {.setup = setup, .subject = subject, .group = group};
    struct gf_error why = {0};
    enum gf_status status = open_pictures(&v, &why);
    if (!status)
        status = add_rows(&v, &why);
    close_pictures(&v);
    if (status == GF_ERROR_DEVICE_MEMORY) {
        struct gf_compare_row *const row = gf_compare_add_row(group, "all");
        if (!row)
            return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
        snprintf(row->refused, sizeof row->refused, "%.159s", why.text);
        return GF_OK;
    }
    if (status && error)
        *error = why;
    return status;
}
