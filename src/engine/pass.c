#include "engine/pass.h"

void gf_pass_fail(struct gf_pass *pass, enum gf_status status, const struct gf_error *error)
{
    pthread_mutex_lock(&pass->lock);
    if (!pass->status) {
        pass->status = status;
        pass->error = *error;
    }
    pthread_cond_broadcast(&pass->can_read);
    pthread_cond_broadcast(&pass->can_filter);
    pthread_cond_broadcast(&pass->can_write);
    pthread_mutex_unlock(&pass->lock);
}

bool gf_pass_wait_for_input(struct gf_pass *pass, int b)
{
    pthread_mutex_lock(&pass->lock);
    while (!pass->status && pass->ready <= b)
        pthread_cond_wait(&pass->can_filter, &pass->lock);
    const bool going = !pass->status;
    pthread_mutex_unlock(&pass->lock);
    return going;
}

/* Whether the band can be computed now. */
static bool is_ready(const struct gf_pass *pass, int b)
{
    const bool streams_in = pass->in.kind == GF_PLACEMENT_STREAM;
    const bool streams_out = pass->out.kind == GF_PLACEMENT_STREAM && !pass->pass_through;
    return (!streams_in || pass->ready > b) &&
           (!streams_out || pass->written > b - pass->out_ring->count);
}

/* Takes the next band. Because bands are taken in order, the lowest unfinished band always gets its
 * input and its output buffer, and the threads cannot wait for each other in a circle. */
int gf_pass_take_band(struct gf_pass *pass)
{
    int b = -1;
    pthread_mutex_lock(&pass->lock);
    while (!pass->status && pass->next < pass->bands.count && !is_ready(pass, pass->next))
        pthread_cond_wait(&pass->can_filter, &pass->lock);
    if (!pass->status && pass->next < pass->bands.count)
        b = pass->next++;
    if (pass->next >= pass->bands.count)
        pthread_cond_broadcast(&pass->can_filter);
    else if (is_ready(pass, pass->next))
        pthread_cond_signal(&pass->can_filter);
    pthread_mutex_unlock(&pass->lock);
    return b;
}

static void tell_progress(struct gf_schedule_progress *progress)
{
    if (!progress->watch) {
        progress->done++;
        return;
    }
    pthread_mutex_lock(&progress->watching);
    const int done = ++progress->done;
    if (!progress->cancelled && !progress->watch(progress->context, done / (double)progress->total))
        progress->cancelled = true;
    pthread_mutex_unlock(&progress->watching);
}

void gf_schedule_tell_whole(struct gf_schedule_progress *progress)
{
    progress->done = 0;
    progress->total = 1;
    tell_progress(progress);
}

void gf_pass_finish_band(struct gf_pass *pass, int b)
{
    pthread_mutex_lock(&pass->lock);
    pass->done[b] = true;
    pthread_cond_signal(&pass->can_read);
    pthread_cond_signal(&pass->can_write);
    pthread_mutex_unlock(&pass->lock);
    if (pass->schedule->progress)
        tell_progress(pass->schedule->progress);
}

void gf_pass_publish(struct gf_pass *pass, int *counter, int value)
{
    pthread_mutex_lock(&pass->lock);
    *counter = value;
    pthread_cond_signal(&pass->can_filter);
    pthread_cond_signal(&pass->can_read);
    pthread_mutex_unlock(&pass->lock);
}

unsigned char *gf_pass_input_slot(const struct gf_pass *pass, int b, int first_row)
{
    return pass->decode_in_place ? gf_view_row(&pass->out.view, first_row)
                                 : gf_ring_slot(pass->in_ring, b);
}

struct gf_view gf_pass_host_input(const struct gf_pass *pass, int b, struct gf_rows rows)
{
    return pass->in.kind == GF_PLACEMENT_STREAM
               ? gf_view_make(gf_pass_input_slot(pass, b, rows.first), pass->bands.in_pitch,
                              pass->segment->in, rows)
               : gf_view_part(&pass->in.view, rows);
}

struct gf_view gf_pass_host_output(const struct gf_pass *pass, int b, struct gf_rows rows)
{
    if (pass->out.kind != GF_PLACEMENT_STREAM)
        return gf_view_part(&pass->out.view, rows);
    unsigned char *const slot =
        pass->pass_through ? gf_ring_slot(pass->in_ring, b) : gf_ring_slot(pass->out_ring, b);
    return gf_view_make(slot, pass->bands.out_pitch, pass->segment->out, rows);
}
