/* Passes the bands of a segment, by the threads of its lanes or by the calling thread. */
#include "engine/schedule_state.h"

#include "base/time_limit.h"

/* Whether each call to the device waits for its turn. */
static bool takes_turns(const struct gf_schedule *schedule)
{
    return schedule->serial && schedule->backend->calls->acquire;
}

void gf_schedule_begin_turn(const struct gf_schedule *schedule)
{
    if (takes_turns(schedule))
        schedule->backend->calls->acquire(schedule->backend);
}

void gf_schedule_end_turn(const struct gf_schedule *schedule)
{
    if (takes_turns(schedule))
        schedule->backend->calls->give_back(schedule->backend);
}

static void pass_by_lanes(struct gf_schedule_state *state)
{
    struct gf_thread_pool *const threads = &state->buffers->threads;
    gf_thread_pool_submit(threads, &state->pass, state->worker + state->helps, state->threads);
    const bool writes = state->pass.out.kind == GF_PLACEMENT_STREAM;
    if (state->helps)
        gf_worker_compute_bands(&state->worker[0], &state->pass);
    if (writes)
        gf_writer_write_bands(&state->pass);
    gf_thread_pool_wait(threads, state->helps || writes);
}

/* The calling thread takes each band from the decoder through the stages to the encoder while the
 * band is in the cache. There may be a reader's thread nevertheless, if no further thread could be
 * started. */
static void pass_by_calling_thread(struct gf_schedule_state *state)
{
    struct gf_pass *const pass = &state->pass;
    struct gf_worker *const worker = &state->worker[0];
    const bool streams_in = pass->in.kind == GF_PLACEMENT_STREAM,
               streams_out = pass->out.kind == GF_PLACEMENT_STREAM;
    struct gf_error error = {0};
    struct gf_rows held = {0, 0};
    enum gf_status status = GF_OK;
    worker->pass = pass;
    worker->lane->backend->calls->lane_enter(worker->lane);
    for (int b = 0; !status && b < pass->bands.count; b++) {
        if (state->reading && streams_in && !gf_pass_wait_for_input(pass, b))
            return;
        if (!state->reading && streams_in)
            status = gf_reader_read_band(pass, b, &held, &error);
        if (!status) {
            gf_schedule_begin_turn(pass->schedule);
            status = gf_worker_compute_band(worker, b, &error);
            gf_schedule_end_turn(pass->schedule);
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
    /* This wait ends the work on the band's memory, because statistic_take() will not be called. */
    (void)!worker->lane->backend->calls->wait(worker->lane, NULL);
    gf_pass_fail(pass, status, &error);
}

/* Queues all bands. Between two pictures in memory the lane's stream keeps the bands in order, so
 * that the device needs no host thread between them: the calling thread queues the bands, lane by
 * lane, and waits at the end. Threads that wait for each band would leave the bus idle while they
 * wake up, a tenth of the whole time. */
static void queue_bands(struct gf_schedule_state *state)
{
    struct gf_pass *const pass = &state->pass;
    const struct gf_backend_calls *const calls = state->schedule->backend->calls;
    struct gf_error error = {0};
    enum gf_status status = GF_OK;
    for (int b = 0; !status && b < pass->bands.count; b++) {
        struct gf_worker *const worker = &state->worker[b % state->workers];
        const bool full = b / state->workers % GF_BANDS_QUEUED == GF_BANDS_QUEUED - 1;
        worker->pass = pass;
        calls->lane_enter(worker->lane);
        status = full ? gf_worker_compute_band(worker, b, &error)
                      : gf_worker_queue_band(worker, b, &error);
        if (!status)
            gf_pass_finish_band(pass, b);
    }
    for (int i = 0; i < state->workers; i++) {
        calls->lane_enter(state->worker[i].lane);
        const enum gf_status waited = calls->wait(state->worker[i].lane, status ? NULL : &error);
        status = status ? status : waited;
    }
    if (status)
        gf_pass_fail(pass, status, &error);
}

bool gf_schedule_can_queue(const struct gf_schedule_state *state)
{
    const struct gf_schedule *const schedule = state->schedule;
    bool can = !schedule->backend->calls->unified && !schedule->source && !schedule->sink &&
               !schedule->serial && gf_time_limit() <= 0 && !state->image_in.waits &&
               !state->image_out.waits;
    for (int s = 0; s + 1 < schedule->plan->segment_count; s++)
        can &= state->layout.on_device[s];
    return can;
}

void gf_pass_bands(struct gf_schedule_state *state)
{
    if (state->queues)
        queue_bands(state);
    else if (state->threads)
        pass_by_lanes(state);
    else
        pass_by_calling_thread(state);
}
