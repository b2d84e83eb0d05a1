/* Who runs the bands of a segment: the threads of its lanes, or the calling thread. */
#include "engine/run_state.h"

/* Whether each call to the device waits for its turn. */
static bool takes_turns(const struct gf_run *run)
{
    return run->serial && run->backend->calls->acquire;
}

void gf_run_begin_turn(const struct gf_run *run)
{
    if (takes_turns(run))
        run->backend->calls->acquire(run->backend);
}

void gf_run_end_turn(const struct gf_run *run)
{
    if (takes_turns(run))
        run->backend->calls->give_back(run->backend);
}

static void run_lanes(struct gf_run_state *state)
{
    struct gf_thread_pool *const threads = &state->buffers->threads;
    gf_thread_pool_submit(threads, &state->segment_run, state->worker + state->helps,
                          state->threads);
    const bool writes = state->segment_run.out.kind == GF_PLACEMENT_STREAM;
    if (state->helps)
        gf_worker_run(&state->worker[0], &state->segment_run);
    if (writes)
        gf_writer_run(&state->segment_run);
    gf_thread_pool_wait(threads, state->helps || writes);
}

/* The calling thread takes each band from the decoder through the stages to the encoder while it is
 * still in the cache. A reader may be running all the same, where no further thread could be
 * started. */
static void run_on_calling_thread(struct gf_run_state *state)
{
    struct gf_segment_run *const segment_run = &state->segment_run;
    struct gf_worker *const worker = &state->worker[0];
    const bool streams_in = segment_run->in.kind == GF_PLACEMENT_STREAM,
               streams_out = segment_run->out.kind == GF_PLACEMENT_STREAM;
    struct gf_error error = {0};
    struct gf_rows held = {0, 0};
    enum gf_status status = GF_OK;
    worker->segment_run = segment_run;
    worker->lane->backend->calls->lane_enter(worker->lane);
    for (int b = 0; !status && b < segment_run->bands.count; b++) {
        if (state->reading && streams_in && !gf_segment_run_wait_for_input(segment_run, b))
            return;
        if (!state->reading && streams_in)
            status = gf_reader_band(segment_run, b, &held, &error);
        if (!status) {
            gf_run_begin_turn(segment_run->run);
            status = gf_worker_band(worker, b, &error);
            gf_run_end_turn(segment_run->run);
        }
        if (!status)
            gf_segment_run_finish_band(segment_run, b);
        if (!status && streams_out)
            status = gf_writer_band(segment_run, b, &error);
        if (!status)
            gf_segment_run_publish(segment_run, &segment_run->written, b + 1);
    }
    if (!status && !state->reading && streams_in)
        status = gf_reader_end(segment_run, held, &error);
    if (!status && streams_out)
        status = gf_writer_end(segment_run, &error);
    if (!status)
        return;
    /* Nobody takes the histogram of this band any more, but the band may still be read. */
    (void)!worker->lane->backend->calls->wait(worker->lane, NULL);
    gf_segment_run_fail(segment_run, status, &error);
}

/* Between memory and memory the device needs no host thread between two bands of a lane, since the
 * lane's stream keeps them in order: the calling thread queues the bands, lane by lane, and waits
 * at the end. Threads that wait for each band would leave the bus idle while they wake up, a tenth
 * of the whole time. */
static void queue_bands(struct gf_run_state *state)
{
    struct gf_segment_run *const segment_run = &state->segment_run;
    const struct gf_backend_calls *const calls = state->run->backend->calls;
    struct gf_error error = {0};
    enum gf_status status = GF_OK;
    for (int b = 0; !status && b < segment_run->bands.count; b++) {
        struct gf_worker *const worker = &state->worker[b % state->workers];
        const bool full = b / state->workers % GF_BANDS_QUEUED == GF_BANDS_QUEUED - 1;
        worker->segment_run = segment_run;
        calls->lane_enter(worker->lane);
        status = full ? gf_worker_band(worker, b, &error) : gf_worker_queue(worker, b, &error);
        if (!status)
            gf_segment_run_finish_band(segment_run, b);
    }
    for (int i = 0; i < state->workers; i++) {
        calls->lane_enter(state->worker[i].lane);
        const enum gf_status waited = calls->wait(state->worker[i].lane, status ? NULL : &error);
        status = status ? status : waited;
    }
    if (status)
        gf_segment_run_fail(segment_run, status, &error);
}

bool gf_run_can_queue(const struct gf_run_state *state)
{
    const struct gf_run *const run = state->run;
    bool can = !run->backend->calls->unified && !run->source && !run->sink && !run->serial &&
               !state->image_in.waits && !state->image_out.waits;
    for (int s = 0; s + 1 < run->plan->segment_count; s++)
        can &= state->layout.on_device[s];
    return can;
}

void gf_run_bands(struct gf_run_state *state)
{
    if (state->queues)
        queue_bands(state);
    else if (state->threads)
        run_lanes(state);
    else
        run_on_calling_thread(state);
}
