#include "engine/resident.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "engine/layout.h"
#include "engine/resident_state.h"
#include "pixel/histogram/histogram.h"

enum gf_status gf_resident_open(struct gf_backend *backend, const struct gf_options *options,
                                struct gf_resident **resident, struct gf_error *error)
{
    struct gf_resident *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail_memory(error);
    opened->backend = backend;
    opened->options = options;
    const enum gf_status status =
        backend->calls->guest_open(backend, &opened->spans, &opened->lane, error);
    if (status)
        free(opened);
    else
        *resident = opened;
    return status;
}

static size_t bytes_of(const struct gf_placement *placement)
{
    return placement->view.pitch * (size_t)placement->view.rows;
}

static enum gf_status place(const struct gf_resident *resident, struct gf_format format,
                            struct gf_placement *placement, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    const struct gf_rows rows = {0, format.height};
    *placement = (struct gf_placement){.kind = GF_PLACEMENT_BACKEND};
    placement->view = gf_view_make(NULL, gf_band_pitch(resident->backend, format), format, rows);
    placement->view.data = gf_resident_take(resident, bytes_of(placement), &status, error);
    placement->from_pool = !status;
    return status;
}

static void give(const struct gf_resident *resident, struct gf_placement *placement)
{
    if (placement->from_pool)
        resident->backend->calls->release(resident->backend, placement->view.data,
                                          bytes_of(placement));
    *placement = (struct gf_placement){0};
}

/* The work of all calls must have ended. */
static void close_plan(const struct gf_resident *resident, struct gf_ready_plan *ready)
{
    struct gf_backend *const backend = resident->backend;
    for (int s = 0; ready->pass && s < ready->plan.segment_count; s++) {
        for (int i = 0; i < ready->plan.segment[s].count; i++) {
            if (ready->pass[s].constants[i])
                backend->calls->unload(backend, ready->pass[s].constants[i]);
        }
        if (s)
            give(resident, &ready->pass[s].in);
    }
    gf_resident_give(resident, &ready->stacks);
    give(resident, &ready->copy[0]);
    give(resident, &ready->copy[1]);
    if (ready->worker.memory)
        backend->calls->release(backend, ready->worker.memory, ready->worker_bytes);
    free(ready->histogram.count);
    free(ready->pass);
    gf_plan_free(&ready->plan);
    free(ready);
}

enum gf_status gf_resident_wait(struct gf_resident *resident, void *stream, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = resident->backend->calls;
    GF_TRY(calls->follow(resident->lane, stream, error));
    const enum gf_status status = calls->wait(resident->lane, error);
    calls->leave(resident->lane);
    return status;
}

void gf_resident_close(struct gf_resident *resident)
{
    if (!resident)
        return;
    resident->backend->calls->lane_close(resident->lane); /* waits for the last call */
    for (int i = 0; i < KEPT; i++) {
        if (resident->kept[i])
            close_plan(resident, resident->kept[i]);
    }
    free(resident);
}

struct gf_ready_plan *gf_resident_find(struct gf_resident *resident, struct gf_format in)
{
    for (int i = 0; i < KEPT; i++) {
        struct gf_ready_plan *const ready = resident->kept[i];
        if (ready && !memcmp(&ready->plan.in, &in, sizeof in))
            return ready;
    }
    return NULL;
}

const struct gf_plan *gf_ready_plan_of(const struct gf_ready_plan *ready)
{
    return &ready->plan;
}

static bool can_stay(const struct gf_plan *plan)
{
    bool can = true;
    for (int i = 0; i < plan->stage_count; i++) {
        const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
        for (int n = gf_stage_pictures(&plan->stage[i], list); n > 0; n--)
            can &= !list[n - 1]->brief;
    }
    return can;
}

/* A stage alone takes the whole picture in one launch. Several stages take bands, so that one finds
 * the result of the other in the device's cache. */
static int band_rows(const struct gf_resident *resident, const struct gf_plan *plan,
                     const struct gf_segment *segment)
{
    const struct gf_backend_calls *const calls = resident->backend->calls;
    const int height = segment->out.height;
    if (resident->options->band_rows)
        return resident->options->band_rows;
    if (!segment->count ||
        (segment->count == 1 && !calls->scratch(&plan->stage[segment->first], height)))
        return height;
    return (int)(calls->band_bytes_most /
                 gf_larger(gf_row_bytes(segment->in), gf_row_bytes(segment->out))) +
           1;
}

static enum gf_status open_segment(struct gf_resident *resident, struct gf_ready_plan *ready, int s,
                                   struct gf_error *error)
{
    const struct gf_segment *const segment = &ready->plan.segment[s];
    struct gf_backend *const backend = resident->backend;
    struct gf_pass *const pass = &ready->pass[s];
    const struct gf_bands_budget budget = {.bytes = UINT64_MAX};
    enum gf_status status = GF_OK;
    pass->schedule = &ready->schedule;
    pass->segment = segment;
    pass->bands = gf_bands_cut(&ready->plan, segment, backend,
                               band_rows(resident, &ready->plan, segment), 1, &budget);
    pass->in.kind = pass->out.kind = GF_PLACEMENT_BACKEND;
    /* The result of a first segment without stages is the input itself. */
    if (s && ready->plan.segment[s - 1].count)
        status = place(resident, segment->in, &pass->in, error);
    if (s)
        ready->pass[s - 1].out = gf_placement_borrow(&pass->in);
    for (int i = 0; !status && i < segment->count; i++) {
        struct gf_stage *const stage = &ready->plan.stage[segment->first + i];
        stage->histogram = i ? NULL : &ready->histogram;
        if (gf_stage_statistic(stage))
            continue;
        status = gf_stage_prepare(stage, error);
        if (!status)
            status = backend->calls->load(backend, NULL, stage, &pass->constants[i], error);
    }
    return status;
}

/* Allocates the buffers between the stages of a segment, which all segments share. */
static enum gf_status open_worker(const struct gf_resident *resident, struct gf_ready_plan *ready,
                                  struct gf_error *error)
{
    struct gf_worker *const worker = &ready->worker;
    size_t between = 0, scratch = 0;
    for (int s = 0; s < ready->plan.segment_count; s++) {
        const struct gf_bands *const bands = &ready->pass[s].bands;
        if (ready->plan.segment[s].count > 1)
            between = gf_larger(between, gf_layout_round(bands->between_bytes));
        scratch = gf_larger(scratch, gf_layout_round(bands->scratch_bytes));
    }
    enum gf_status status = GF_OK;
    ready->worker_bytes = 2 * between + scratch;
    worker->lane = resident->lane;
    worker->memory = gf_resident_take(resident, ready->worker_bytes, &status, error);
    if (!worker->memory)
        return status;
    worker->between[0] = worker->memory;
    worker->between[1] = worker->memory + between;
    worker->scratch = worker->memory + 2 * between;
    return GF_OK;
}

static enum gf_status open_plan(struct gf_resident *resident, struct gf_ready_plan *ready,
                                struct gf_error *error)
{
    const int count = ready->plan.segment_count;
    ready->schedule = (struct gf_schedule){.plan = &ready->plan,
                                           .backend = resident->backend,
                                           .options = resident->options,
                                           .spans = &resident->spans};
    ready->pass = calloc((size_t)count, sizeof *ready->pass);
    if (!ready->pass)
        return gf_fail_memory(error);
    for (int s = 0; s < count; s++)
        GF_TRY(open_segment(resident, ready, s, error));
    return open_worker(resident, ready, error);
}

enum gf_status gf_resident_add(struct gf_resident *resident, struct gf_plan *plan,
                               struct gf_ready_plan **ready, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = resident->backend->calls;
    struct gf_ready_plan *const made = calloc(1, sizeof *made), **place = &resident->kept[0];
    enum gf_status status = made ? GF_OK : gf_fail_memory(error);
    if (!status && !can_stay(plan))
        status = gf_fail(error, GF_ERROR_UNFIT, "the plan belongs to one picture");
    for (int i = 0; *place && i < KEPT; i++) {
        if (!resident->kept[i] || resident->kept[i]->turn < (*place)->turn)
            place = &resident->kept[i];
    }
    if (!status && *place) {
        status = calls->wait(resident->lane, error);
        close_plan(resident, *place);
        *place = NULL;
    }
    if (!made) {
        gf_plan_free(plan);
        return status;
    }
    made->plan = *plan;
    *plan = (struct gf_plan){0};
    if (!status)
        status = open_plan(resident, made, error);
    if (status)
        close_plan(resident, made);
    else
        *ready = *place = made;
    return status;
}

enum gf_status gf_resident_check(const struct gf_resident *resident, const struct gf_image *image,
                                 struct gf_memory_range *known, struct gf_error *error)
{
    const size_t bytes =
        image->pitch * (size_t)(image->format.height - 1) + gf_row_bytes(image->format);
    return resident->backend->calls->owns(resident->backend, image->data, bytes, known, error);
}

/* Counts the segment's result, and prepares the stage that needs the histogram. */
static enum gf_status bring_histogram(struct gf_ready_plan *ready, int s, struct gf_error *error)
{
    const struct gf_segment *const segment = &ready->plan.segment[s];
    struct gf_lane *const lane = ready->worker.lane;
    const struct gf_backend_calls *const calls = lane->backend->calls;
    struct gf_stage *const stage = &ready->plan.stage[segment->first + segment->count];
    const void **const constants = &ready->pass[s + 1].constants[0];
    free(ready->histogram.count);
    ready->histogram =
        (struct gf_histogram){.channels = gf_statistic_channels(segment->statistic, segment->out),
                              .bins = 1 << segment->out.bits};
    ready->histogram.count =
        calloc(gf_histogram_counters(&ready->histogram), sizeof *ready->histogram.count);
    if (!ready->histogram.count)
        return gf_fail_memory(error);
    enum gf_status status = calls->statistic_take(lane, &ready->histogram, error);
    calls->statistic_close(lane);
    if (!status)
        status = gf_stage_prepare(stage, error);
    if (status)
        return status;
    if (*constants)
        calls->unload(lane->backend, *constants);
    *constants = NULL;
    return calls->load(lane->backend, lane, stage, constants, error);
}

static enum gf_status run_segment(struct gf_ready_plan *ready, int s, struct gf_error *error)
{
    struct gf_worker *const worker = &ready->worker;
    const struct gf_segment *const segment = &ready->plan.segment[s];
    worker->pass = &ready->pass[s];
    if (segment->statistic)
        GF_TRY(worker->lane->backend->calls->statistic_open(
            worker->lane, &ready->plan.stage[segment->first + segment->count], error));
    for (int b = 0; b < worker->pass->bands.count; b++)
        GF_TRY(gf_worker_queue_band(worker, b, error));
    return segment->statistic ? bring_histogram(ready, s, error) : GF_OK;
}

/* Returns the picture, or a buffer for its copy. */
static enum gf_status place_image(const struct gf_resident *resident, const struct gf_image *image,
                                  struct gf_placement *copy, struct gf_placement *placement,
                                  struct gf_error *error)
{
    enum gf_status status = GF_OK;
    *placement = (struct gf_placement){.kind = GF_PLACEMENT_BACKEND, .view = gf_image_view(image)};
    if (gf_resident_is_aligned(image))
        return GF_OK;
    if (!copy->from_pool)
        status = place(resident, image->format, copy, error);
    *placement = gf_placement_borrow(copy);
    return status;
}

enum gf_status gf_resident_run_one(struct gf_resident *resident, struct gf_ready_plan *ready,
                                   const struct gf_image *in, const struct gf_image *out,
                                   struct gf_error *error)
{
    const struct gf_backend_calls *const calls = resident->backend->calls;
    const struct gf_view source = gf_image_view(in), result = gf_image_view(out);
    const int last = ready->plan.segment_count - 1;
    struct gf_placement *const first = &ready->pass[0].in, *const end = &ready->pass[last].out;
    enum gf_status status = place_image(resident, in, &ready->copy[0], first, error);
    if (!status)
        status = place_image(resident, out, &ready->copy[1], end, error);
    if (last && !ready->plan.segment[0].count)
        ready->pass[0].out = ready->pass[1].in = gf_placement_borrow(first);
    if (!status && first->view.data != in->data)
        status = calls->upload(resident->lane, &first->view, &source, error);
    for (int s = 0; !status && s <= last; s++)
        status = run_segment(ready, s, error);
    if (!status && end->view.data != out->data)
        status = calls->download(resident->lane, &result, &end->view, error);
    return status;
}
