/* Schedules the segments of a plan one after another, and passes the bands of each through its
 * stages, on the threads of its lanes or on the calling thread. */
#include <limits.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "engine/engine.h"
#include "engine/pass.h"
#include "pixel/histogram/histogram.h"

/* Whether the schedule is one of many serial ones, which acquire the right to call the device. */
static bool takes_turns(const struct gf_schedule *schedule)
{
    return schedule->serial && schedule->backend->calls->acquire;
}

/* Call these before and after the calls that give the device work. In a serial schedule they
 * acquire and give back the right to use the device (acquire(), give_back()), since a batch runs
 * many serial schedules at a time. They do nothing in other schedules. */
static void schedule_begin_turn(const struct gf_schedule *schedule)
{
    if (takes_turns(schedule))
        schedule->backend->calls->acquire(schedule->backend);
}

static void schedule_end_turn(const struct gf_schedule *schedule)
{
    if (takes_turns(schedule))
        schedule->backend->calls->give_back(schedule->backend);
}

static void pass_by_lanes(struct gf_schedule_state *state)
{
    struct gf_thread_pool *const threads = &state->buffers->threads;
    gf_thread_pool_submit(threads, &state->pass, state->lane + state->helps, state->threads);
    const bool writes = state->pass.out.kind == GF_PLACEMENT_STREAM;
    if (state->helps)
        gf_lane_compute_bands(&state->lane[0], &state->pass);
    if (writes)
        gf_writer_write_bands(&state->pass);
    gf_thread_pool_wait(threads, state->helps || writes);
}

/* Passes the bands on the calling thread: each goes from the decoder through the stages to the
 * encoder while it is in the cache. There may still be a reader's thread, if no further thread
 * could be started. */
static void pass_by_calling_thread(struct gf_schedule_state *state)
{
    struct gf_pass *const pass = &state->pass;
    struct gf_lane_state *const lane = &state->lane[0];
    const bool streams_in = pass->in.kind == GF_PLACEMENT_STREAM,
               streams_out = pass->out.kind == GF_PLACEMENT_STREAM;
    struct gf_error error = {0};
    struct gf_rows held = {0, 0};
    enum gf_status status = GF_OK;
    lane->pass = pass;
    lane->queue->backend->calls->lane_enter(lane->queue);
    for (int b = 0; !status && b < pass->bands.count; b++) {
        if (state->reading && streams_in && !gf_pass_wait_for_input(pass, b))
            return;
        if (!state->reading && streams_in)
            status = gf_reader_read_band(pass, b, &held, &error);
        if (!status) {
            schedule_begin_turn(pass->schedule);
            status = gf_lane_compute_band(lane, b, &error);
            schedule_end_turn(pass->schedule);
        }
        if (!status)
            gf_pass_finish_band(pass, b);
        if (!status && streams_out)
            status = gf_writer_write_band(pass, b, &error);
        if (!status)
            gf_pass_publish(pass, &pass->written, b + 1);
    }
    if (!status && !state->reading && streams_in)
        status = gf_reader_end(pass, held, &error);
    if (!status && streams_out)
        status = gf_writer_end(pass, &error);
    if (!status)
        return;
    /* Waits for the work on the band's memory, since statistic_take(), which also waits, is not
     * called now. */
    (void)!lane->queue->backend->calls->wait(lane->queue, NULL);
    gf_pass_fail(pass, status, &error);
}

/* Queues all bands of a segment at once. Between two pictures in memory the lane's stream keeps the
 * bands in order without a host thread: the calling thread queues the bands, lane by lane, and
 * waits at the end. Threads that wait for each band would leave the bus idle while they wake up, a
 * tenth of the whole time. */
static void queue_bands(struct gf_schedule_state *state)
{
    struct gf_pass *const pass = &state->pass;
    const struct gf_backend_calls *const calls = state->schedule->backend->calls;
    struct gf_error error = {0};
    enum gf_status status = GF_OK;
    for (int b = 0; !status && b < pass->bands.count; b++) {
        struct gf_lane_state *const lane = &state->lane[b % state->lanes];
        const bool full = b / state->lanes % GF_BANDS_QUEUED == GF_BANDS_QUEUED - 1;
        lane->pass = pass;
        calls->lane_enter(lane->queue);
        status = full ? gf_lane_compute_band(lane, b, &error) : gf_lane_queue_band(lane, b, &error);
        if (!status)
            gf_pass_finish_band(pass, b);
    }
    for (int i = 0; i < state->lanes; i++) {
        calls->lane_enter(state->lane[i].queue);
        const enum gf_status waited = calls->wait(state->lane[i].queue, status ? NULL : &error);
        status = status ? status : waited;
    }
    if (status)
        gf_pass_fail(pass, status, &error);
}

/* Whether the calling thread may queue the bands, so that no thread for each lane is needed. */
static bool schedule_can_queue(const struct gf_schedule_state *state)
{
    const struct gf_schedule *const schedule = state->schedule;
    bool can = !schedule->backend->calls->unified && !schedule->source && !schedule->sink &&
               !schedule->serial && gf_time_limit() <= 0 && !state->image_in.waits &&
               !state->image_out.waits;
    for (int s = 0; s + 1 < schedule->plan->segment_count; s++)
        can &= state->layout.on_device[s];
    return can;
}

/* Passes all bands of the segment through its stages. A failure is stored in the pass. */
static void pass_bands(struct gf_schedule_state *state)
{
    if (state->queues)
        queue_bands(state);
    else if (state->threads)
        pass_by_lanes(state);
    else
        pass_by_calling_thread(state);
}

/* Running the segments of a plan one after another. */

static enum gf_status load_stages(struct gf_schedule_state *state, struct gf_error *error)
{
    struct gf_pass *const pass = &state->pass;
    struct gf_lane *const lane = state->lanes == 1 ? state->lane[0].queue : NULL;
    for (int i = 0; i < pass->segment->count; i++) {
        struct gf_stage *const stage = &pass->schedule->plan->stage[pass->segment->first + i];
        stage->histogram = i ? NULL : &state->histogram;
        if (!stage->constants || gf_stage_statistic(stage))
            GF_TRY(gf_stage_prepare(stage, error));
        GF_TRY(pass->schedule->backend->calls->load(pass->schedule->backend, lane, stage,
                                                    &pass->constants[i], error));
    }
    return GF_OK;
}

static void unload_stages(struct gf_pass *pass)
{
    for (int i = 0; i < pass->segment->count; i++) {
        if (pass->constants[i])
            pass->schedule->backend->calls->unload(pass->schedule->backend, pass->constants[i]);
        pass->constants[i] = NULL;
    }
}

static enum gf_status place_output(struct gf_schedule_state *state, int s, struct gf_error *error)
{
    struct gf_pass *const pass = &state->pass;
    struct gf_schedule *const schedule = state->schedule;
    const bool last = s + 1 == schedule->plan->segment_count;
    const bool lies_whole = !pass->segment->count && pass->in.kind == GF_PLACEMENT_BACKEND;
    /* If the device has its own memory, the reader has already begun to fill the ring. */
    const bool filters_nothing = !pass->segment->count && schedule->backend->calls->unified;
    if (last && schedule->sink) {
        if (filters_nothing && pass->in.kind == GF_PLACEMENT_STREAM)
            pass->pass_through = true;
        return GF_OK;
    }
    if (last) {
        pass->out = gf_placement_borrow(&state->image_out);
        if (filters_nothing && pass->in.kind == GF_PLACEMENT_STREAM &&
            pass->out.view.pitch == pass->bands.in_pitch)
            pass->decode_in_place = true;
        return GF_OK;
    }
    if (lies_whole) {
        pass->out = gf_placement_borrow(&pass->in);
        return GF_OK;
    }
    if (filters_nothing)
        pass->decode_in_place = true;
    return gf_placement_alloc(state->buffers, pass->segment->out, state->layout.on_device[s],
                              &pass->out, error);
}

static enum gf_status open_pass(struct gf_schedule_state *state, int s, struct gf_error *error)
{
    struct gf_pass *const pass = &state->pass;
    *pass = (struct gf_pass){.schedule = state->schedule,
                             .segment = &state->schedule->plan->segment[s],
                             .bands = state->layout.bands[s],
                             .first_on_host =
                                 gf_layout_first_stage_on_host(state->schedule, &state->layout, s),
                             .time_limit_s = gf_time_limit(),
                             .in_ring = &state->in_ring,
                             .out_ring = &state->out_ring};
    pthread_mutex_init(&pass->lock, NULL);
    pthread_cond_init(&pass->can_read, NULL);
    pthread_cond_init(&pass->can_filter, NULL);
    pthread_cond_init(&pass->can_write, NULL);
    if (s)
        pass->in = state->between;
    pass->done = calloc((size_t)pass->bands.count, sizeof *pass->done);
    return pass->done ? GF_OK : gf_fail_memory(error);
}

static void join_reader(struct gf_schedule_state *state)
{
    if (state->reading)
        pthread_join(state->reader, NULL);
    state->reading = false;
}

static void close_pass(struct gf_schedule_state *state)
{
    struct gf_pass *const pass = &state->pass;
    if (!pass->segment)
        return;
    join_reader(state);
    unload_stages(pass);
    for (int i = 0; i < state->lanes; i++)
        gf_ring_free(&state->lane[i].host, state->buffers);
    gf_placement_free(state->buffers, &pass->in);
    state->between = pass->out;
    free(pass->done);
    pthread_cond_destroy(&pass->can_read);
    pthread_cond_destroy(&pass->can_filter);
    pthread_cond_destroy(&pass->can_write);
    pthread_mutex_destroy(&pass->lock);
    pass->segment = NULL;
}

/* Whether one lane does a picture so small that starting a reader's thread takes longer than it
 * saves. */
static bool is_small(const struct gf_schedule *schedule)
{
    return schedule->backend->calls->unified && schedule->lanes == 1 &&
           gf_plan_is_small(schedule->plan);
}

/* Starts the reader's thread. In a serial schedule there is none: the calling thread reads. */
static void start_reader(struct gf_schedule_state *state)
{
    if (!state->schedule->source || state->serial)
        return;
    state->reading = !pthread_create(&state->reader, NULL, gf_reader_main, &state->pass);
    state->serial = !state->reading;
}

/* Starts the threads of the lanes. On the CPU, without source and sink, the calling thread would
 * only wait for them; it then works on a lane, too. */
static void start_threads(struct gf_schedule_state *state)
{
    const struct gf_schedule *const schedule = state->schedule;
    state->helps = schedule->backend->calls->unified && !schedule->source && !schedule->sink;
    if (state->lanes > state->helps)
        state->threads =
            gf_thread_pool_start(&state->buffers->threads, state->lanes - state->helps);
}

/* Pins the caller's pictures once for the whole schedule, because pinning each band takes as long
 * as copying it. */
static void pin_images(struct gf_schedule_state *state)
{
    const struct gf_schedule *const schedule = state->schedule;
    if (schedule->image_in)
        state->image_in =
            gf_placement_image(schedule->backend, schedule->image_in, schedule->in_on_device);
    if (schedule->image_in)
        state->pass.in = gf_placement_borrow(&state->image_in);
    if (schedule->image_out)
        state->image_out =
            gf_placement_image(schedule->backend, schedule->image_out, schedule->out_on_device);
}

/* Loads the second pictures of all stages before other memory of the device is taken. */
static enum gf_status hold_pictures(const struct gf_schedule *schedule, struct gf_error *error)
{
    if (schedule->backend->calls->drop_brief)
        schedule->backend->calls->drop_brief(schedule->backend);
    for (int i = 0; schedule->backend->calls->hold && i < schedule->plan->stage_count; i++)
        GF_TRY(schedule->backend->calls->hold(schedule->backend, &schedule->plan->stage[i], error));
    return GF_OK;
}

/* Waits until the device has started. This time does not count against the picture's time limit. */
static enum gf_status wait_for_device(struct gf_pass *pass, struct gf_error *error)
{
    struct gf_backend *const backend = pass->schedule->backend;
    const double begin_s = gf_now();
    const enum gf_status status = backend->calls->ready(backend, error);
    gf_time_limit_excuse(begin_s);
    pthread_mutex_lock(&pass->lock);
    pass->time_limit_s = gf_time_limit();
    pthread_mutex_unlock(&pass->lock);
    return status;
}

/* Opens the first segment, and what later segments use, too. The reader decodes while the device
 * starts, so that everything that needs the device comes after ready(). */
static enum gf_status open_first_segment(struct gf_schedule_state *state, struct gf_error *error)
{
    struct gf_schedule *const schedule = state->schedule;
    struct gf_backend *const backend = schedule->backend;
    const bool unified = backend->calls->unified;
    enum gf_status status = open_pass(state, 0, error);
    if (!status && unified)
        pin_images(state);
    if (!status && unified)
        status = place_output(state, 0, error);
    if (!status)
        start_reader(state);
    GF_THEN(status, wait_for_device(&state->pass, error));
    GF_THEN(status, hold_pictures(schedule, error));
    if (!status && !unified) {
        pin_images(state);
        gf_buffer_pool_pin(state->buffers, state->in_ring.data);
        gf_buffer_pool_pin(state->buffers, state->out_ring.data);
        gf_layout_place_pictures(schedule, &state->layout);
    }
    GF_THEN(status, gf_lanes_open(state, error));
    if (!status && !unified)
        status = place_output(state, 0, error);
    state->queues = !status && schedule_can_queue(state);
    if (!status && !state->serial && !state->queues)
        start_threads(state);
    return status;
}

/* Adds the histograms of the frames of a film before this one to the histogram of this one, if the
 * next segment's filter has `smooth`. */
static enum gf_status smooth_histogram(struct gf_schedule_state *state, int s,
                                       struct gf_error *error)
{
    const struct gf_plan *const plan = state->schedule->plan;
    const struct gf_stage *const stage = &plan->stage[plan->segment[s + 1].first];
    return gf_smooth_add(gf_filter_smooth(stage->filter, stage->params), &state->histogram, error);
}

static enum gf_status pass_segment(struct gf_schedule_state *state, int s, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    if (s) {
        status = open_pass(state, s, error);
        GF_THEN(status, place_output(state, s, error));
        if (!status && state->pass.first_on_host)
            status = gf_lanes_open_host_stage(state, error);
    }
    schedule_begin_turn(state->schedule);
    GF_THEN(status, load_stages(state, error));
    if (!status && state->pass.segment->statistic)
        status = gf_lanes_open_histograms(state, error);
    schedule_end_turn(state->schedule);
    if (status)
        return status;
    pass_bands(state);
    join_reader(state); /* the reader may still find damage behind the last band */
    status = state->pass.status;
    if (status && error)
        *error = state->pass.error;
    if (!status && state->pass.segment->statistic) {
        schedule_begin_turn(state->schedule);
        status = gf_lanes_take_histograms(state, error);
        schedule_end_turn(state->schedule);
        GF_THEN(status, smooth_histogram(state, s, error));
    }
    return status;
}

static void clean_up(struct gf_schedule_state *state)
{
    gf_placement_free(state->buffers, &state->between);
    gf_placement_free(state->buffers, &state->image_in);
    gf_placement_free(state->buffers, &state->image_out);
    for (int i = 0; i < state->lanes; i++)
        gf_buffer_pool_return(state->buffers, state->lane[i].memory);
    gf_ring_free(&state->in_ring, state->buffers);
    gf_ring_free(&state->out_ring, state->buffers);
    if (state->buffers == &state->own_buffers)
        gf_buffer_pool_close(state->buffers);
    free(state->histogram.count);
    free(state->lane);
    gf_layout_free(&state->layout);
}

static void begin_progress(const struct gf_schedule_state *state)
{
    struct gf_schedule_progress *const progress = state->schedule->progress;
    int total = 0;
    for (int s = 0; s < state->schedule->plan->segment_count; s++)
        total += state->layout.bands[s].count;
    if (!progress)
        return;
    const int most = total ? INT_MAX / total : 1, frames = progress->frames < 1 ? 1
                                                           : progress->frames < most
                                                               ? progress->frames
                                                               : most;
    progress->done = progress->frame < frames ? progress->frame * total : 0;
    progress->total = frames * total;
}

enum gf_status gf_schedule_plan(struct gf_schedule *schedule, struct gf_error *error)
{
    struct gf_schedule_state state = {
        .schedule = schedule, .buffers = schedule->buffers, .serial = schedule->serial};
    if (!state.buffers) {
        state.buffers = &state.own_buffers;
        gf_buffer_pool_open(state.buffers, schedule->backend);
    }
    enum gf_status status = gf_layout_make(schedule, &state.layout, error);
    if (!status) {
        schedule->first_band_rows = state.layout.bands[0].rows;
        state.serial |= is_small(schedule);
        begin_progress(&state);
        state.lane = calloc((size_t)schedule->lanes, sizeof *state.lane);
        status = state.lane ? GF_OK : gf_fail_memory(error);
    }
    GF_THEN(status, gf_lanes_alloc_rings(&state, error));
    GF_THEN(status, open_first_segment(&state, error));
    for (int s = 0; !status && s < schedule->plan->segment_count; s++) {
        status = pass_segment(&state, s, error);
        if (!status)
            close_pass(&state);
    }
    if (status && state.pass.segment) {
        const struct gf_error none = {0}; /* *error already has the text */
        gf_pass_fail(&state.pass, status, &none);
        close_pass(&state);
    }
    clean_up(&state);
    return status;
}
