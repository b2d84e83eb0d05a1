/* A stage's variants on a device: each runs once to be held against the CPU's result, is then
 * looked at and timed, warm and cold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/compare.h"
#include "chain/variants.h"
#include "engine/bands.h"
#include "engine/placement.h"

enum { POISON = 0xa5 };

/* A group under way. The device's views are of whole pictures. */
struct variants {
    const struct gf_bench *bench;
    const struct gf_compare_case *what;
    struct gf_compare_group *group;
    struct gf_store store;       /* of the pictures on the device */
    struct gf_placement in, out; /* on the device */
    struct gf_image result;      /* what came back */
    struct gf_histogram counted;
    bool pinned_in, pinned_result;
};

static size_t image_bytes(const struct gf_image *image)
{
    return image->pitch * (size_t)(image->format.height - 1) + gf_row_bytes(image->format);
}

static struct gf_view whole(const struct gf_image *image)
{
    return gf_view_make(image->data, image->pitch, image->format,
                        (struct gf_rows){0, image->format.height});
}

static enum gf_status copy(const struct variants *v, bool up, const struct gf_image *image,
                           const struct gf_placement *place, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = v->bench->backend->calls;
    const struct gf_view host = whole(image);
    enum gf_status status = up ? calls->upload(v->bench->lane, &place->view, &host, error)
                               : calls->download(v->bench->lane, &host, &place->view, error);
    if (!status)
        status = calls->wait(v->bench->lane, error);
    return status;
}

/* So that nothing of the variant before passes for this one's. */
static enum gf_status poison(struct variants *v, struct gf_error *error)
{
    memset(v->result.data, POISON, v->result.pitch * (size_t)v->result.format.height);
    return copy(v, true, &v->result, &v->out, error);
}

static enum gf_status check_picture(struct variants *v, const struct gf_work *work,
                                    struct gf_compare_row *row, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = v->bench->backend->calls;
    enum gf_status status = poison(v, error);
    if (!status)
        status = gf_work_run(v->bench->lane, work, error);
    if (!status)
        status = calls->wait(v->bench->lane, error);
    if (!status)
        status = copy(v, false, &v->result, &v->out, error);
    if (!status)
        row->difference = gf_compare_images(&v->result, v->what->out);
    return status;
}

static enum gf_status check_histogram(struct variants *v, const struct gf_work *work,
                                      struct gf_compare_row *row, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = v->bench->backend->calls;
    const size_t counters = (size_t)v->counted.channels * (size_t)v->counted.bins;
    memset(v->counted.count, 0, counters * sizeof *v->counted.count);
    enum gf_status status = gf_work_run(v->bench->lane, work, error);
    if (!status)
        status = calls->wait(v->bench->lane, error);
    if (!status)
        status = calls->statistic_take(v->bench->lane, &v->counted, error);
    const struct gf_variant *const counting = gf_stage_counting(work->stage);
    if (!status)
        row->difference = gf_compare_histograms(&v->counted, v->what->histogram,
                                                counting && counting->count_extremes);
    return status;
}

static enum gf_status time_runs(const struct variants *v, const struct gf_work *work, bool cold,
                                int runs, struct gf_timing *times, struct gf_error *error)
{
    double seconds[GF_TIMING_RUNS_MAX];
    const enum gf_status status =
        v->bench->backend->calls->time(v->bench->lane, work, cold, runs, seconds, error);
    if (!status)
        *times = gf_timing_of(seconds, runs);
    return status;
}

/* What a single run takes says how many there are. */
static enum gf_status time_row(const struct variants *v, const struct gf_work *work,
                               struct gf_compare_row *row, struct gf_error *error)
{
    if (!v->bench->backend->calls->time)
        return GF_OK;
    enum gf_status status = time_runs(v, work, true, 1, &row->cold, error);
    const int runs = gf_timing_runs(row->cold.median_s, v->bench->budget_s);
    if (!status)
        status = time_runs(v, work, false, runs, &row->warm, error);
    if (!status && runs > 1)
        status = time_runs(v, work, true, runs, &row->cold, error);
    return status;
}

static enum gf_status measure_row(struct variants *v, const struct gf_work *work,
                                  struct gf_compare_row *row, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = v->bench->backend->calls;
    enum gf_status status =
        work->counts ? check_histogram(v, work, row, error) : check_picture(v, work, row, error);
    if (!status && calls->inspect)
        status = calls->inspect(v->bench->lane, work, row->kernel, GF_COMPARE_KERNELS,
                                &row->kernels, error);
    return status ? status : time_row(v, work, row, error);
}

/* The variant's own constants on the device: what they hold may depend on it. */
static enum gf_status load_constants(const struct variants *v, struct gf_stage *stage,
                                     const void **constants, struct gf_error *error)
{
    struct gf_backend *const backend = v->bench->backend;
    stage->constants = NULL;
    stage->constants_size = 0;
    const enum gf_status status = gf_stage_prepare(stage, error);
    return status ? status : backend->calls->load(backend, stage, constants, error);
}

/* The variant with what it needs: constants and scratch, or an empty histogram. */
static enum gf_status open_row(struct variants *v, struct gf_stage *stage,
                               struct gf_compare_row *row, struct gf_error *error)
{
    struct gf_backend *const backend = v->bench->backend;
    const struct gf_backend_calls *const calls = backend->calls;
    struct gf_work work = {
        .stage = stage, .in = v->in.view, .out = v->out.view, .counts = v->what->counts};
    enum gf_status status = work.counts ? calls->statistic_open(v->bench->lane, stage, error)
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
        calls->statistic_close(v->bench->lane);
    else
        gf_stage_release(stage);
    return status;
}

/* A variant that cannot run here or on this picture is a row that says why. */
static enum gf_status add_row(struct variants *v, const struct gf_variant *variant,
                              const char *name, bool chosen, struct gf_error *error)
{
    struct gf_stage stage = *v->what->stage;
    struct gf_error why = {0};
    struct gf_compare_row *const row = gf_compare_add_row(v->group, name);
    if (!row)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    stage.variant = variant;
    row->summary = variant->summary;
    row->chosen = chosen;
    const char *const refused = variant->refuses ? variant->refuses(&stage) : NULL;
    if (refused) {
        snprintf(row->refused, sizeof row->refused, "%s", refused);
        return GF_OK;
    }
    const enum gf_status status = open_row(v, &stage, row, &why);
    if (status == GF_ERROR_UNAVAILABLE || status == GF_ERROR_DEVICE_MEMORY) {
        snprintf(row->refused, sizeof row->refused, "%.159s", why.text);
        return GF_OK;
    }
    if (status && error)
        *error = why;
    return status;
}

/* Of a filter that wants a histogram some variants count and the others are kernels of the stage.
 */
static bool belongs(const struct variants *v, const struct gf_variant *variant)
{
    return v->what->counts ? variant->count != NULL : variant->launch || !variant->count;
}

/* What the chain runs without a variant: the first kernel, or the counter that all filters share,
 * which may have no name among the filter's variants. */
static const struct gf_variant *usual(const struct variants *v)
{
    const struct gf_filter *const filter = gf_stage_variants(v->what->stage);
    struct gf_stage plain = *v->what->stage;
    const struct gf_variant *variant;
    plain.variant = NULL;
    for (int i = 0; v->what->counts && (variant = gf_filter_variant_at(filter, i)); i++) {
        if (variant->count && variant->count == gf_stage_counter(&plain))
            return variant;
    }
    return gf_filter_variant_at(filter, 0);
}

/* The naive one bears that name, or is the second. */
static enum gf_status add_rows(struct variants *v, struct gf_error *error)
{
    const struct gf_filter *const filter = gf_stage_variants(v->what->stage);
    const struct gf_variant *const first = usual(v), *const asked = v->what->stage->variant;
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
    struct gf_backend *const backend = v->bench->backend;
    const struct gf_compare_case *const what = v->what;
    gf_store_open(&v->store, backend);
    enum gf_status status = gf_placement_alloc(&v->store, what->in->format, true, &v->in, error);
    if (!status && !what->counts)
        status = gf_placement_alloc(&v->store, what->out->format, true, &v->out, error);
    if (!status && !what->counts)
        status = gf_image_alloc(&v->result, what->out->format, error);
    if (!status && what->counts) {
        v->counted = *what->histogram;
        v->counted.count =
            calloc((size_t)v->counted.channels * (size_t)v->counted.bins, sizeof(uint64_t));
        status = v->counted.count ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    if (status)
        return status;
    v->pinned_in = backend->calls->pin(backend, what->in->data, image_bytes(what->in));
    if (v->result.data)
        v->pinned_result = backend->calls->pin(backend, v->result.data, image_bytes(&v->result));
    return copy(v, true, what->in, &v->in, error);
}

static void close_pictures(struct variants *v)
{
    struct gf_backend *const backend = v->bench->backend;
    if (v->pinned_in)
        backend->calls->unpin(backend, v->what->in->data);
    if (v->pinned_result)
        backend->calls->unpin(backend, v->result.data);
    gf_store_close(&v->store);
    gf_image_free(&v->result);
    free(v->counted.count);
}

/* A picture that the device has no room for makes one row, which says so. */
enum gf_status gf_compare_device_rows(const struct gf_bench *bench,
                                      const struct gf_compare_case *what,
                                      struct gf_compare_group *group, struct gf_error *error)
{
    struct variants v = {.bench = bench, .what = what, .group = group};
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
