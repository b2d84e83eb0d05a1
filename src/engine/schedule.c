#include "engine/schedule.h"

#include <stdlib.h>

#include "base/nvtx.h"
#include "codec/common/source.h"
#include "engine/layout.h"
#include "engine/segment_run.h"
#include "pixel/histogram.h"

struct state {
    struct gf_run *run;
    struct gf_store *store;
    struct gf_store own_store; /* where the caller keeps none */
    struct gf_layout layout;
    struct gf_ring in_ring, out_ring;
    struct gf_worker *worker;
    int workers; /* whose lanes are open */
    struct gf_thread_pool pool;
    int threads; /* of the crew; 0 before it is there */
    size_t arena_bytes;
    struct gf_segment_run segment_run;
    struct gf_placement between;             /* the last segment's whole result */
    struct gf_placement image_in, image_out; /* the caller's, pinned for the whole run */
    pthread_t reader;
    bool reading;
    struct gf_histogram histogram;
};

static enum gf_status write_band(struct gf_segment_run *segment_run, int b, struct gf_error *error)
{
    struct gf_sink *const sink = segment_run->run->sink;
    const struct gf_view view = gf_segment_run_host_output(
        segment_run, b, gf_bands_rows(&segment_run->bands, segment_run->segment, b));
    const double begin_s = gf_now();
    gf_nvtx_push(gf_span_kind_name(GF_SPAN_ENCODE));
    const enum gf_status status = sink->write(sink, view.rows, view.data, view.pitch, error);
    gf_nvtx_pop();
    gf_spans_add(segment_run->run->spans, GF_SPAN_ENCODE, -1, -1, begin_s, gf_now(),
                 gf_view_bytes(&view));
    return status;
}

static enum gf_status finish_sink(struct gf_segment_run *segment_run, struct gf_error *error)
{
    const double begin_s = gf_now();
    const enum gf_status status = segment_run->run->sink->finish(segment_run->run->sink, error);
    gf_spans_add(segment_run->run->spans, GF_SPAN_ENCODE, -1, -1, begin_s, gf_now(), 0);
    return status;
}

/* The calling thread is the writer: it hands finished bands to the sink. */
static void write_bands(struct gf_segment_run *segment_run)
{
    struct gf_error error = {0};
    enum gf_status status = GF_OK;
    for (int b = 0; !status && b < segment_run->bands.count; b++) {
        pthread_mutex_lock(&segment_run->lock);
        while (!segment_run->status && !segment_run->done[b])
            pthread_cond_wait(&segment_run->changed, &segment_run->lock);
        const bool going = !segment_run->status;
        pthread_mutex_unlock(&segment_run->lock);
        if (!going)
            return;
        status = write_band(segment_run, b, &error);
        gf_segment_run_publish(segment_run, &segment_run->written, b + 1);
    }
    if (!status)
        status = finish_sink(segment_run, &error);
    if (status)
        gf_segment_run_fail(segment_run, status, &error);
}

static void run_lanes(struct state *state)
{
    gf_thread_pool_submit(&state->pool, &state->segment_run, state->workers);
    if (state->segment_run.out.kind == GF_PLACEMENT_STREAM)
        write_bands(&state->segment_run);
    gf_thread_pool_wait(&state->pool);
}

/* Band by band, each from the decoder to the encoder: nobody waits, and the band is still in the
 * cache. */
static void run_serially(struct state *state)
{
    struct gf_segment_run *const segment_run = &state->segment_run;
    struct gf_worker *const worker = &state->worker[0];
    const bool reads = segment_run->in.kind == GF_PLACEMENT_STREAM,
               writes = segment_run->out.kind == GF_PLACEMENT_STREAM;
    struct gf_error error = {0};
    struct gf_rows held = {0, 0};
    enum gf_status status = GF_OK;
    worker->segment_run = segment_run;
    worker->lane->backend->calls->lane_enter(worker->lane);
    for (int b = 0; !status && b < segment_run->bands.count; b++) {
        if (reads)
            status = gf_reader_band(segment_run, b, &held, &error);
        if (!status)
            status = gf_worker_band(worker, b, &error);
        if (!status && writes)
            status = write_band(segment_run, b, &error);
    }
    if (!status && reads)
        status = gf_reader_end(segment_run, held, &error);
    if (!status && writes)
        status = finish_sink(segment_run, &error);
    if (status)
        gf_segment_run_fail(segment_run, status, &error);
}

static enum gf_status open_statistics(struct state *state, struct gf_error *error)
{
    const struct gf_segment *const segment = state->segment_run.segment;
    const struct gf_stage *const wanting =
        &state->run->plan->stage[segment->first + segment->count];
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < state->workers; i++) {
        state->run->backend->calls->lane_enter(state->worker[i].lane);
        status = state->run->backend->calls->statistic_open(state->worker[i].lane, wanting, error);
    }
    return status;
}

/* Adds up the lanes' partial histograms. */
static enum gf_status take_statistics(struct state *state, struct gf_error *error)
{
    const struct gf_segment *const segment = state->segment_run.segment;
    struct gf_histogram *const histogram = &state->histogram;
    free(histogram->count);
    *histogram =
        (struct gf_histogram){.channels = gf_statistic_channels(segment->statistic, segment->out),
                              .bins = 1 << segment->out.bits};
    histogram->count =
        calloc((size_t)histogram->channels * (size_t)histogram->bins, sizeof(uint64_t));
    if (!histogram->count)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < state->workers; i++) {
        status =
            state->run->backend->calls->statistic_take(state->worker[i].lane, histogram, error);
        state->run->backend->calls->statistic_close(state->worker[i].lane);
    }
    return status;
}

static enum gf_status load_stages(struct state *state, struct gf_error *error)
{
    struct gf_segment_run *const segment_run = &state->segment_run;
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < segment_run->segment->count; i++) {
        struct gf_stage *const stage =
            &segment_run->run->plan->stage[segment_run->segment->first + i];
        stage->histogram = i ? NULL : &state->histogram;
        status = gf_stage_prepare(stage, error);
        if (!status)
            status = segment_run->run->backend->calls->load(segment_run->run->backend, stage,
                                                            &segment_run->constants[i], error);
    }
    return status;
}

static void unload_stages(struct gf_segment_run *segment_run)
{
    for (int i = 0; i < segment_run->segment->count; i++) {
        if (segment_run->constants[i])
            segment_run->run->backend->calls->unload(segment_run->run->backend,
                                                     segment_run->constants[i]);
        segment_run->constants[i] = NULL;
        gf_stage_release(&segment_run->run->plan->stage[segment_run->segment->first + i]);
    }
}

static enum gf_status place_output(struct state *state, int s, struct gf_error *error)
{
    struct gf_segment_run *const segment_run = &state->segment_run;
    struct gf_run *const run = state->run;
    const bool last = s + 1 == run->plan->segment_count;
    const bool lies_whole =
        !segment_run->segment->count && segment_run->in.kind == GF_PLACEMENT_MEMORY;
    /* Elsewhere than on unified memory the reader is already at work and knows nothing of it. */
    const bool idle = !segment_run->segment->count && run->backend->calls->unified;
    if (last && run->sink) {
        if (idle && segment_run->in.kind == GF_PLACEMENT_STREAM)
            segment_run->pass_through = true;
        return GF_OK;
    }
    if (last) {
        segment_run->out = gf_placement_borrow(&state->image_out);
        return GF_OK;
    }
    if (lies_whole) {
        segment_run->out = gf_placement_borrow(&segment_run->in);
        return GF_OK;
    }
    if (idle)
        segment_run->decode_in_place = true;
    return gf_placement_alloc(state->store, segment_run->segment->out, state->layout.on_device[s],
                              &segment_run->out, error);
}

static enum gf_status open_job(struct state *state, int s, struct gf_error *error)
{
    struct gf_segment_run *const segment_run = &state->segment_run;
    *segment_run = (struct gf_segment_run){
        .run = state->run,
        .segment = &state->run->plan->segment[s],
        .bands = state->layout.bands[s],
        .first_on_host = gf_layout_starts_on_host(state->run, &state->layout, s),
        .in_ring = &state->in_ring,
        .out_ring = &state->out_ring};
    pthread_mutex_init(&segment_run->lock, NULL);
    pthread_cond_init(&segment_run->changed, NULL);
    if (s)
        segment_run->in = state->between;
    segment_run->done = calloc((size_t)segment_run->bands.count, sizeof *segment_run->done);
    return segment_run->done ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}

static void close_job(struct state *state)
{
    struct gf_segment_run *const segment_run = &state->segment_run;
    if (!segment_run->segment)
        return;
    if (state->reading)
        pthread_join(state->reader, NULL);
    state->reading = false;
    unload_stages(segment_run);
    for (int i = 0; i < state->workers; i++)
        gf_ring_free(&state->worker[i].host, state->store);
    gf_placement_free(state->store, &segment_run->in);
    state->between = segment_run->out;
    free(segment_run->done);
    pthread_cond_destroy(&segment_run->changed);
    pthread_mutex_destroy(&segment_run->lock);
    segment_run->segment = NULL;
}

static enum gf_status open_workers(struct state *state, struct gf_error *error)
{
    struct gf_backend *const backend = state->run->backend;
    const int count = gf_layout_lanes(state->run, &state->layout);
    state->arena_bytes =
        state->layout.in_bytes + 2 * state->layout.between_bytes + state->layout.scratch_bytes;
    for (int i = 0; i < count; i++) {
        struct gf_worker *const worker = &state->worker[i];
        const enum gf_status status =
            gf_store_lane(state->store, i, state->run->spans, &worker->lane, error);
        if (status)
            return status;
        state->workers++;
        if (!state->arena_bytes)
            continue;
        worker->arena = gf_store_take(state->store, state->arena_bytes);
        if (!worker->arena)
            return gf_fail(error,
                           backend->calls->unified ? GF_ERROR_MEMORY : GF_ERROR_DEVICE_MEMORY,
                           "out of memory for %d lanes of %zu kB", count, state->arena_bytes >> 10);
        worker->in = worker->arena;
        worker->between[0] = worker->in + state->layout.in_bytes;
        worker->between[1] = worker->between[0] + state->layout.between_bytes;
        worker->scratch = worker->between[1] + state->layout.between_bytes;
    }
    return GF_OK;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Two slots a worker: a band of the first stage's result, and the stage's scratch. */
static enum gf_status open_host_stage(struct state *state, struct gf_error *error)
{
    const struct gf_segment_run *const segment_run = &state->segment_run;
    struct gf_backend *const backend = state->run->backend;
    const struct gf_stage *const stage = &state->run->plan->stage[segment_run->segment->first];
    const int rows = (int)(segment_run->bands.between_bytes / gf_band_pitch(backend, stage->out));
    const size_t scratch = stage->filter->cpu_scratch ? stage->filter->cpu_scratch(stage, rows) : 0;
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < state->workers; i++) {
        status = gf_ring_alloc(&state->worker[i].host, state->store,
                               larger(segment_run->bands.between_bytes, scratch), 2, error);
        if (!status)
            gf_store_pin(state->store, state->worker[i].host.data);
    }
    return status;
}

/* No more slots than bands: they are pinned, and pinning touches them. */
static enum gf_status alloc_ring(struct state *state, struct gf_ring *ring, size_t slot_bytes,
                                 const struct gf_bands *bands, struct gf_error *error)
{
    const int lanes = state->run->lanes;
    return gf_ring_alloc(ring, state->store, slot_bytes,
                         bands->count < lanes + 1 ? bands->count : lanes + 1, error);
}

static enum gf_status alloc_rings(struct state *state, struct gf_error *error)
{
    const struct gf_run *const run = state->run;
    const struct gf_bands *const first = &state->layout.bands[0];
    const struct gf_bands *const last = &state->layout.bands[run->plan->segment_count - 1];
    enum gf_status status = GF_OK;
    if (run->source)
        status = alloc_ring(state, &state->in_ring, first->in_bytes, first, error);
    if (!status && run->sink)
        status = alloc_ring(state, &state->out_ring, last->out_bytes, last, error);
    return status;
}

static enum gf_status start_reader(struct state *state, struct gf_error *error)
{
    if (!state->run->source || state->run->serial)
        return GF_OK;
    state->reading = !pthread_create(&state->reader, NULL, gf_reader_main, &state->segment_run);
    return state->reading ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
}

/* The caller's pictures: pinning and unpinning take as long as a copy, so neither comes between
 * two. */
static void take_images(struct state *state)
{
    const struct gf_run *const run = state->run;
    if (run->image_in)
        state->image_in = gf_placement_image(run->backend, run->image_in, run->in_on_device);
    if (run->image_in)
        state->segment_run.in = gf_placement_borrow(&state->image_in);
    if (run->image_out)
        state->image_out = gf_placement_image(run->backend, run->image_out, run->out_on_device);
}

/* The first segment, up to where its lanes can start: the reader decodes while the device starts.
 */
static enum gf_status begin(struct state *state, struct gf_error *error)
{
    struct gf_run *const run = state->run;
    struct gf_backend *const backend = run->backend;
    const bool unified = backend->calls->unified;
    enum gf_status status = open_job(state, 0, error);
    if (!status && unified)
        take_images(state);
    if (!status && unified)
        status = place_output(state, 0, error);
    if (!status)
        status = start_reader(state, error);
    if (!status)
        status = backend->calls->ready(backend, error);
    if (!status && !unified) {
        take_images(state);
        gf_store_pin(state->store, state->in_ring.data);
        gf_store_pin(state->store, state->out_ring.data);
        gf_layout_divide(run, &state->layout);
    }
    if (!status)
        status = open_workers(state, error);
    if (!status && !unified)
        status = place_output(state, 0, error);
    if (!status && !run->serial)
        status = gf_thread_pool_start(&state->pool, state->worker, state->workers, &state->threads,
                                      error);
    return status;
}

static enum gf_status run_segment(struct state *state, int s, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    if (s) {
        status = open_job(state, s, error);
        if (!status)
            status = place_output(state, s, error);
        if (!status && state->segment_run.first_on_host)
            status = open_host_stage(state, error);
    }
    if (!status)
        status = load_stages(state, error);
    if (!status && state->segment_run.segment->statistic)
        status = open_statistics(state, error);
    if (status)
        return status;
    if (state->run->serial)
        run_serially(state);
    else
        run_lanes(state);
    if (state->reading) { /* damage behind the last band counts too */
        pthread_join(state->reader, NULL);
        state->reading = false;
    }
    status = state->segment_run.status;
    if (status && error)
        *error = state->segment_run.error;
    if (!status && state->segment_run.segment->statistic)
        status = take_statistics(state, error);
    return status;
}

static void clean_up(struct state *state)
{
    if (state->threads)
        gf_thread_pool_stop(&state->pool, state->worker, state->threads);
    gf_placement_free(state->store, &state->between);
    gf_placement_free(state->store, &state->image_in);
    gf_placement_free(state->store, &state->image_out);
    for (int i = 0; i < state->workers; i++)
        gf_store_give(state->store, state->worker[i].arena);
    gf_ring_free(&state->in_ring, state->store);
    gf_ring_free(&state->out_ring, state->store);
    if (state->store == &state->own_store)
        gf_store_close(state->store);
    free(state->histogram.count);
    free(state->worker);
    gf_layout_free(&state->layout);
}

enum gf_status gf_schedule(struct gf_run *run, struct gf_error *error)
{
    struct state state = {.run = run, .store = run->store};
    if (!state.store) {
        state.store = &state.own_store;
        gf_store_open(state.store, run->backend);
    }
    enum gf_status status = gf_layout_make(run, &state.layout, error);
    if (!status) {
        run->first_band_rows = state.layout.bands[0].rows;
        state.worker = calloc((size_t)run->lanes, sizeof *state.worker);
        status = state.worker ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    if (!status)
        status = alloc_rings(&state, error);
    if (!status)
        status = begin(&state, error);
    for (int s = 0; !status && s < run->plan->segment_count; s++) {
        status = run_segment(&state, s, error);
        if (!status)
            close_job(&state);
    }
    if (status && state.segment_run.segment) {
        gf_segment_run_fail(&state.segment_run, status,
                            &(struct gf_error){0}); /* stops the reader */
        close_job(&state);
    }
    clean_up(&state);
    return status;
}
