/* Runs the segments of a plan one after another. */
#include "engine/schedule.h"

#include <stdlib.h>

#include "base/fail.h"
#include "codec/common/source.h"
#include "engine/run_state.h"

static enum gf_status load_stages(struct gf_run_state *state, struct gf_error *error)
{
    struct gf_segment_run *const segment_run = &state->segment_run;
    struct gf_lane *const lane = state->workers == 1 ? state->worker[0].lane : NULL;
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < segment_run->segment->count; i++) {
        struct gf_stage *const stage =
            &segment_run->run->plan->stage[segment_run->segment->first + i];
        stage->histogram = i ? NULL : &state->histogram;
        if (!stage->constants || gf_stage_statistic(stage))
            status = gf_stage_prepare(stage, error);
        if (!status)
            status = segment_run->run->backend->calls->load(segment_run->run->backend, lane, stage,
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
    }
}

static enum gf_status place_output(struct gf_run_state *state, int s, struct gf_error *error)
{
    struct gf_segment_run *const segment_run = &state->segment_run;
    struct gf_run *const run = state->run;
    const bool last = s + 1 == run->plan->segment_count;
    const bool lies_whole =
        !segment_run->segment->count && segment_run->in.kind == GF_PLACEMENT_BACKEND;
    /* On a device with memory of its own the reader has started already, and is filling the
     * ring. */
    const bool filters_nothing = !segment_run->segment->count && run->backend->calls->unified;
    if (last && run->sink) {
        if (filters_nothing && segment_run->in.kind == GF_PLACEMENT_STREAM)
            segment_run->pass_through = true;
        return GF_OK;
    }
    if (last) {
        segment_run->out = gf_placement_borrow(&state->image_out);
        if (filters_nothing && segment_run->in.kind == GF_PLACEMENT_STREAM &&
            segment_run->out.view.pitch == segment_run->bands.in_pitch)
            segment_run->decode_in_place = true;
        return GF_OK;
    }
    if (lies_whole) {
        segment_run->out = gf_placement_borrow(&segment_run->in);
        return GF_OK;
    }
    if (filters_nothing)
        segment_run->decode_in_place = true;
    return gf_placement_alloc(state->buffers, segment_run->segment->out, state->layout.on_device[s],
                              &segment_run->out, error);
}

static enum gf_status open_segment_run(struct gf_run_state *state, int s, struct gf_error *error)
{
    struct gf_segment_run *const segment_run = &state->segment_run;
    *segment_run = (struct gf_segment_run){
        .run = state->run,
        .segment = &state->run->plan->segment[s],
        .bands = state->layout.bands[s],
        .first_on_host = gf_layout_first_stage_on_host(state->run, &state->layout, s),
        .in_ring = &state->in_ring,
        .out_ring = &state->out_ring};
    pthread_mutex_init(&segment_run->lock, NULL);
    pthread_cond_init(&segment_run->can_read, NULL);
    pthread_cond_init(&segment_run->can_filter, NULL);
    pthread_cond_init(&segment_run->can_write, NULL);
    if (s)
        segment_run->in = state->between;
    segment_run->done = calloc((size_t)segment_run->bands.count, sizeof *segment_run->done);
    return segment_run->done ? GF_OK : gf_fail_memory(error);
}

static void join_reader(struct gf_run_state *state)
{
    if (state->reading)
        pthread_join(state->reader, NULL);
    state->reading = false;
}

static void close_segment_run(struct gf_run_state *state)
{
    struct gf_segment_run *const segment_run = &state->segment_run;
    if (!segment_run->segment)
        return;
    join_reader(state);
    unload_stages(segment_run);
    for (int i = 0; i < state->workers; i++)
        gf_ring_free(&state->worker[i].host, state->buffers);
    gf_placement_free(state->buffers, &segment_run->in);
    state->between = segment_run->out;
    free(segment_run->done);
    pthread_cond_destroy(&segment_run->can_read);
    pthread_cond_destroy(&segment_run->can_filter);
    pthread_cond_destroy(&segment_run->can_write);
    pthread_mutex_destroy(&segment_run->lock);
    segment_run->segment = NULL;
}

/* In a serial run the reader gets no thread: the calling thread reads, too. */
static void start_reader(struct gf_run_state *state)
{
    if (!state->run->source || state->run->serial)
        return;
    state->reading = !pthread_create(&state->reader, NULL, gf_reader_main, &state->segment_run);
    state->serial = !state->reading;
}

/* Where there is neither a source nor a sink, on the CPU, the calling thread would only wait for
 * the others; there it is a worker, too. */
static void start_threads(struct gf_run_state *state)
{
    const struct gf_run *const run = state->run;
    state->helps = run->backend->calls->unified && !run->source && !run->sink;
    if (state->workers > state->helps)
        state->threads =
            gf_thread_pool_start(&state->buffers->threads, state->workers - state->helps);
}

/* Pins the caller's pictures once for the whole run: pinning takes as long as a copy. */
static void pin_images(struct gf_run_state *state)
{
    const struct gf_run *const run = state->run;
    if (run->image_in)
        state->image_in = gf_placement_image(run->backend, run->image_in, run->in_on_device);
    if (run->image_in)
        state->segment_run.in = gf_placement_borrow(&state->image_in);
    if (run->image_out)
        state->image_out = gf_placement_image(run->backend, run->image_out, run->out_on_device);
}

/* Second pictures are loaded before anything else takes the device's memory. */
static enum gf_status hold_pictures(const struct gf_run *run, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (int i = 0; !status && run->backend->calls->hold && i < run->plan->stage_count; i++)
        status = run->backend->calls->hold(run->backend, &run->plan->stage[i], error);
    return status;
}

/* Opens the first segment, and everything that the later segments also use. The reader decodes
 * while the device starts, so everything that needs the device comes after ready(). */
static enum gf_status open_first_segment(struct gf_run_state *state, struct gf_error *error)
{
    struct gf_run *const run = state->run;
    struct gf_backend *const backend = run->backend;
    const bool unified = backend->calls->unified;
    enum gf_status status = open_segment_run(state, 0, error);
    if (!status && unified)
        pin_images(state);
    if (!status && unified)
        status = place_output(state, 0, error);
    if (!status)
        start_reader(state);
    if (!status)
        status = backend->calls->ready(backend, error);
    if (!status)
        status = hold_pictures(run, error);
    if (!status && !unified) {
        pin_images(state);
        gf_buffer_pool_pin(state->buffers, state->in_ring.data);
        gf_buffer_pool_pin(state->buffers, state->out_ring.data);
        gf_layout_place_pictures(run, &state->layout);
    }
    if (!status)
        status = gf_lanes_open(state, error);
    if (!status && !unified)
        status = place_output(state, 0, error);
    state->queues = !status && gf_run_can_queue(state);
    if (!status && !state->serial && !state->queues)
        start_threads(state);
    return status;
}

static enum gf_status run_segment(struct gf_run_state *state, int s, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    if (s) {
        status = open_segment_run(state, s, error);
        if (!status)
            status = place_output(state, s, error);
        if (!status && state->segment_run.first_on_host)
            status = gf_lanes_open_host_stage(state, error);
    }
    gf_run_begin_turn(state->run);
    if (!status)
        status = load_stages(state, error);
    if (!status && state->segment_run.segment->statistic)
        status = gf_lanes_open_histograms(state, error);
    gf_run_end_turn(state->run);
    if (status)
        return status;
    gf_run_bands(state);
    join_reader(state); /* the reader may still find damage behind the last band */
    status = state->segment_run.status;
    if (status && error)
        *error = state->segment_run.error;
    if (!status && state->segment_run.segment->statistic) {
        gf_run_begin_turn(state->run);
        status = gf_lanes_take_histograms(state, error);
        gf_run_end_turn(state->run);
    }
    return status;
}

static void clean_up(struct gf_run_state *state)
{
    gf_placement_free(state->buffers, &state->between);
    gf_placement_free(state->buffers, &state->image_in);
    gf_placement_free(state->buffers, &state->image_out);
    for (int i = 0; i < state->workers; i++)
        gf_buffer_pool_return(state->buffers, state->worker[i].memory);
    gf_ring_free(&state->in_ring, state->buffers);
    gf_ring_free(&state->out_ring, state->buffers);
    if (state->buffers == &state->own_buffers)
        gf_buffer_pool_close(state->buffers);
    free(state->histogram.count);
    free(state->worker);
    gf_layout_free(&state->layout);
}

static void begin_progress(const struct gf_run_state *state)
{
    struct gf_run_progress *const progress = state->run->progress;
    int total = 0;
    for (int s = 0; s < state->run->plan->segment_count; s++)
        total += state->layout.bands[s].count;
    if (!progress)
        return;
    progress->done = 0;
    progress->total = total;
}

enum gf_status gf_schedule(struct gf_run *run, struct gf_error *error)
{
    struct gf_run_state state = {.run = run, .buffers = run->buffers, .serial = run->serial};
    if (!state.buffers) {
        state.buffers = &state.own_buffers;
        gf_buffer_pool_open(state.buffers, run->backend);
    }
    enum gf_status status = gf_layout_make(run, &state.layout, error);
    if (!status) {
        run->first_band_rows = state.layout.bands[0].rows;
        begin_progress(&state);
        state.worker = calloc((size_t)run->lanes, sizeof *state.worker);
        status = state.worker ? GF_OK : gf_fail_memory(error);
    }
    if (!status)
        status = gf_lanes_alloc_rings(&state, error);
    if (!status)
        status = open_first_segment(&state, error);
    for (int s = 0; !status && s < run->plan->segment_count; s++) {
        status = run_segment(&state, s, error);
        if (!status)
            close_segment_run(&state);
    }
    if (status && state.segment_run.segment) {
        const struct gf_error none = {0}; /* *error has it already */
        gf_segment_run_fail(&state.segment_run, status, &none);
        close_segment_run(&state);
    }
    clean_up(&state);
    return status;
}
