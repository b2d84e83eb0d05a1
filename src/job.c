#include "job.h"

void gf_job_fail(struct gf_job *job, enum gf_status status, const struct gf_error *error)
{
    pthread_mutex_lock(&job->lock);
    if (!job->status) {
        job->status = status;
        job->error = *error;
    }
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
}

void gf_job_publish(struct gf_job *job, int *counter, int value)
{
    pthread_mutex_lock(&job->lock);
    *counter = value;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
}

unsigned char *gf_job_input_slot(const struct gf_job *job, int b, int first_row)
{
    return job->decode_in_place ? gf_view_row(&job->out.view, first_row)
                                : gf_ring_slot(job->in_ring, b);
}

struct gf_view gf_job_host_input(const struct gf_job *job, int b, struct gf_rows rows)
{
    return job->in.kind == GF_PLACE_STREAM
               ? gf_view_make(gf_job_input_slot(job, b, rows.first), job->bands.in_pitch,
                              job->segment->in, rows)
               : gf_view_part(&job->in.view, rows);
}

struct gf_view gf_job_host_output(const struct gf_job *job, int b, struct gf_rows rows)
{
    if (job->out.kind != GF_PLACE_STREAM)
        return gf_view_part(&job->out.view, rows);
    unsigned char *const slot =
        job->pass_through ? gf_ring_slot(job->in_ring, b) : gf_ring_slot(job->out_ring, b);
    return gf_view_make(slot, job->bands.out_pitch, job->segment->out, rows);
}
