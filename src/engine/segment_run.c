#include "engine/segment_run.h"

void gf_segment_run_fail(struct gf_segment_run *segment_run, enum gf_status status,
                         const struct gf_error *error)
{
    pthread_mutex_lock(&segment_run->lock);
    if (!segment_run->status) {
        segment_run->status = status;
        segment_run->error = *error;
    }
    pthread_cond_broadcast(&segment_run->changed);
    pthread_mutex_unlock(&segment_run->lock);
}

bool gf_segment_run_wait_for_input(struct gf_segment_run *segment_run, int b)
{
    pthread_mutex_lock(&segment_run->lock);
    while (!segment_run->status && segment_run->ready <= b)
        pthread_cond_wait(&segment_run->changed, &segment_run->lock);
    const bool going = !segment_run->status;
    pthread_mutex_unlock(&segment_run->lock);
    return going;
}

void gf_segment_run_finish_band(struct gf_segment_run *segment_run, int b)
{
    pthread_mutex_lock(&segment_run->lock);
    segment_run->done[b] = true;
    pthread_cond_broadcast(&segment_run->changed);
    pthread_mutex_unlock(&segment_run->lock);
    if (segment_run->run->progress)
        segment_run->run->progress->done++;
}

void gf_segment_run_publish(struct gf_segment_run *segment_run, int *counter, int value)
{
    pthread_mutex_lock(&segment_run->lock);
    *counter = value;
    pthread_cond_broadcast(&segment_run->changed);
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
