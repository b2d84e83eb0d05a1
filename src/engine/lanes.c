/* The lanes of a schedule: their buffers, and the histograms that they count. */
#include "base/fail.h"
#include "engine/schedule_state.h"

#include <stdlib.h>

#include "pixel/histogram/histogram.h"

enum gf_status gf_lanes_open(struct gf_schedule_state *state, struct gf_error *error)
{
    struct gf_backend *const backend = state->schedule->backend;
    const int count = gf_layout_lanes(state->schedule, &state->layout);
    const size_t bytes = gf_layout_lane_bytes(&state->layout);
    for (int i = 0; i < count; i++) {
        struct gf_worker *const worker = &state->worker[i];
        GF_TRY(
            gf_buffer_pool_lane(state->buffers, i, state->schedule->spans, &worker->lane, error));
        state->workers++;
        if (!bytes)
            continue;
        worker->memory = gf_buffer_pool_take(state->buffers, bytes);
        if (!worker->memory)
            return gf_fail(error,
                           backend->calls->unified ? GF_ERROR_MEMORY : GF_ERROR_DEVICE_MEMORY,
                           "out of memory for %d lanes of %zu kB", count, bytes >> 10);
        worker->in = worker->memory;
        worker->between[0] = worker->in + state->layout.in_bytes;
        worker->between[1] = worker->between[0] + state->layout.between_bytes;
        worker->scratch = worker->between[1] + state->layout.between_bytes;
    }
    return GF_OK;
}

/* Allocates a worker's ring with two slots: one for a band of the first stage's result, one for the
 * stage's scratch memory. */
enum gf_status gf_lanes_open_host_stage(struct gf_schedule_state *state, struct gf_error *error)
{
    const struct gf_pass *const pass = &state->pass;
    struct gf_backend *const backend = state->schedule->backend;
    const struct gf_stage *const stage = &state->schedule->plan->stage[pass->segment->first];
    const int rows = (int)(pass->bands.between_bytes / gf_band_pitch(backend, stage->out));
    const size_t scratch = stage->filter->cpu_scratch ? stage->filter->cpu_scratch(stage, rows) : 0;
    for (int i = 0; i < state->workers; i++) {
        GF_TRY(gf_ring_alloc(&state->worker[i].host, state->buffers,
                             gf_larger(pass->bands.between_bytes, scratch), 2, error));
        gf_buffer_pool_pin(state->buffers, state->worker[i].host.data);
    }
    return GF_OK;
}

/* Allocates a ring with at most as many slots as there are bands, because pinning touches every
 * page of it. The ring uses the memory of `lender` if that is large enough. `lender` may be
 * NULL. */
static enum gf_status alloc_ring(struct gf_schedule_state *state, struct gf_ring *ring,
                                 size_t slot_bytes, const struct gf_bands *bands,
                                 const struct gf_ring *lender, struct gf_error *error)
{
    const int most = state->schedule->lanes + 1, count = bands->count < most ? bands->count : most;
    if (lender && gf_ring_borrow(ring, lender, slot_bytes, count))
        return GF_OK;
    GF_TRY(gf_ring_alloc(ring, state->buffers, slot_bytes, count, error));
    if (state->schedule->backend->calls->unified && !state->schedule->serial)
        gf_pages_ahead_begin(&ring->ahead, ring->data, ring->slot_bytes * (size_t)count);
    return GF_OK;
}

/* With several segments the reader has ended before the writer begins, so that their rings can
 * share memory. */
enum gf_status gf_lanes_alloc_rings(struct gf_schedule_state *state, struct gf_error *error)
{
    const struct gf_schedule *const schedule = state->schedule;
    const int segments = schedule->plan->segment_count;
    const struct gf_bands *const first = &state->layout.bands[0];
    const struct gf_bands *const last = &state->layout.bands[segments - 1];
    if (schedule->source)
        GF_TRY(alloc_ring(state, &state->in_ring, first->in_bytes, first, NULL, error));
    if (schedule->sink)
        GF_TRY(alloc_ring(state, &state->out_ring, last->out_bytes, last,
                          schedule->source && segments > 1 ? &state->in_ring : NULL, error));
    return GF_OK;
}

enum gf_status gf_lanes_open_histograms(struct gf_schedule_state *state, struct gf_error *error)
{
    const struct gf_segment *const segment = state->pass.segment;
    const struct gf_stage *const wanting =
        &state->schedule->plan->stage[segment->first + segment->count];
    for (int i = 0; i < state->workers; i++) {
        state->schedule->backend->calls->lane_enter(state->worker[i].lane);
        GF_TRY(
            state->schedule->backend->calls->statistic_open(state->worker[i].lane, wanting, error));
    }
    return GF_OK;
}

enum gf_status gf_lanes_take_histograms(struct gf_schedule_state *state, struct gf_error *error)
{
    const struct gf_segment *const segment = state->pass.segment;
    struct gf_histogram *const histogram = &state->histogram;
    free(histogram->count);
    *histogram =
        (struct gf_histogram){.channels = gf_statistic_channels(segment->statistic, segment->out),
                              .bins = 1 << segment->out.bits};
    histogram->count =
        calloc((size_t)histogram->channels * (size_t)histogram->bins, sizeof(uint64_t));
    if (!histogram->count)
        return gf_fail_memory(error);
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < state->workers; i++) {
        status = state->schedule->backend->calls->statistic_take(state->worker[i].lane, histogram,
                                                                 error);
        state->schedule->backend->calls->statistic_close(state->worker[i].lane);
    }
    return status;
}
