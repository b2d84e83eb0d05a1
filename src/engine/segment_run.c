#include "engine/segment_run.h"

void gf_segment_run_fail(struct gf_segment_run *segment_run, enum gf_status status,
                         const struct gf_error *error)
{
    pthread_mutex_lock(&segment_run->lock);
    if (!segment_run->status) {
        segment_run->status = status;
        segment_run->error = *error;
    }
    pthread_cond_broadcast(&segment_run->can_read);
    pthread_cond_broadcast(&segment_run->can_filter);
    pthread_cond_broadcast(&segment_run->can_write);
    pthread_mutex_unlock(&segment_run->lock);
}

bool gf_segment_run_wait_for_input(struct gf_segment_run *segment_run, int b)
{
    pthread_mutex_lock(&segment_run->lock);
    while (!segment_run->status && segment_run->ready <= b)
        pthread_cond_wait(&segment_run->can_filter, &segment_run->lock);
    const bool going = !segment_run->status;
    pthread_mutex_unlock(&segment_run->lock);
    return going;
}

/* Whether that band can be filtered now. */
static bool is_ready(const struct gf_segment_run *segment_run, int b)
{
    const bool streams_in = segment_run->in.kind == GF_PLACEMENT_STREAM;
    const bool streams_out =
        segment_run->out.kind == GF_PLACEMENT_STREAM && !segment_run->pass_through;
    return (!streams_in || segment_run->ready > b) &&
           (!streams_out || segment_run->written > b - segment_run->out_ring->count);
}

/* Because bands are taken in order, the lowest unfinished one always gets what it needs, and the
 * threads cannot wait for each other in a circle. */
int gf_segment_run_take_band(struct gf_segment_run *segment_run)
{
    int b = -1;
    pthread_mutex_lock(&segment_run->lock);
    while (!segment_run->status && segment_run->next < segment_run->bands.count &&
           !is_ready(segment_run, segment_run->next))
        pthread_cond_wait(&segment_run->can_filter, &segment_run->lock);
    if (!segment_run->status && segment_run->next < segment_run->bands.count)
        b = segment_run->next++;
    if (segment_run->next >= segment_run->bands.count)
        pthread_cond_broadcast(&segment_run->can_filter);
    else if (is_ready(segment_run, segment_run->next))
        pthread_cond_signal(&segment_run->can_filter);
    pthread_mutex_unlock(&segment_run->lock);
    return b;
}

void gf_segment_run_finish_band(struct gf_segment_run *segment_run, int b)
{
    pthread_mutex_lock(&segment_run->lock);
    segment_run->done[b] = true;
    pthread_cond_signal(&segment_run->can_read);
    pthread_cond_signal(&segment_run->can_write);
    pthread_mutex_unlock(&segment_run->lock);
    if (segment_run->run->progress)
        segment_run->run->progress->done++;
}

void gf_segment_run_publish(struct gf_segment_run *segment_run, int *counter, int value)
{
    pthread_mutex_lock(&segment_run->lock);
    *counter = value;
    pthread_cond_signal(&segment_run->can_filter);
    pthread_cond_signal(&segment_run->can_read);
    pthread_mutex_unlock(&segment_run->lock);
}

unsigned char *gf_segment_run_input_slot(const struct gf_segment_run *segment_run, int b,
                                         int first_row)
{
    return segment_run->decode_in_place ? gf_view_row(&segment_run->out.view, first_row)
                                        : gf_ring_slot(segment_run->in_ring, b);
}

struct gf_view gf_segment_run_host_input(const struct gf_segment_run *segment_run, int b,
                                         struct gf_rows rows)
{
    return segment_run->in.kind == GF_PLACEMENT_STREAM
               ? gf_view_make(gf_segment_run_input_slot(segment_run, b, rows.first),
                              segment_run->bands.in_pitch, segment_run->segment->in, rows)
               : gf_view_part(&segment_run->in.view, rows);
}

struct gf_view gf_segment_run_host_output(const struct gf_segment_run *segment_run, int b,
                                          struct gf_rows rows)
{
    if (segment_run->out.kind != GF_PLACEMENT_STREAM)
        return gf_view_part(&segment_run->out.view, rows);
    unsigned char *const slot = segment_run->pass_through ? gf_ring_slot(segment_run->in_ring, b)
                                                          : gf_ring_slot(segment_run->out_ring, b);
    return gf_view_make(slot, segment_run->bands.out_pitch, segment_run->segment->out, rows);
}
