/* The reader: decodes rows into the bands of the ring, as far ahead as the ring has room. */
#include <string.h>

#include "job.h"
#include "pages.h"
#include "range.h"

/* Whether the ring's buffer for band b is free: the band before it there has been used up. */
static bool wait_for_slot(struct gf_job *job, int b)
{
    const int before = b - job->in_ring->count;
    pthread_mutex_lock(&job->lock);
    while (!job->status && before >= 0 && !job->decode_in_place &&
           !(job->pass_through ? job->written > before : job->done[before]))
        pthread_cond_wait(&job->changed, &job->lock);
    const bool going = !job->status;
    pthread_mutex_unlock(&job->lock);
    return going;
}

static enum gf_status decode_rows(struct gf_job *job, int rows, unsigned char *dst,
                                  struct gf_error *error)
{
    const double begin_s = gf_now();
    gf_range_begin(gf_span_kind_name(GF_SPAN_DECODE));
    const enum gf_status status =
        job->run->source->read(job->run->source, rows, dst, job->bands.in_pitch, error);
    gf_range_end();
    gf_spans_add(job->run->spans, GF_SPAN_DECODE, -1, -1, begin_s, gf_now(),
                 gf_row_bytes(job->segment->in) * (size_t)rows);
    return status;
}

/* Decodes and drops rows that no band wants (crop), through one band's buffer. */
static enum gf_status skip_rows(struct gf_job *job, int rows, unsigned char *buffer,
                                struct gf_error *error)
{
    enum gf_status status = GF_OK;
    while (!status && rows > 0) {
        const int some = rows < job->bands.in_rows ? rows : job->bands.in_rows;
        status = decode_rows(job, some, buffer, error);
        rows -= some;
    }
    return status;
}

enum gf_status gf_reader_band(struct gf_job *job, int b, struct gf_rows *held,
                              struct gf_error *error)
{
    struct gf_rows cut[GF_CUTS_MAX + 1];
    const struct gf_rows rows = gf_bands_rows(&job->bands, job->segment, b);
    gf_segment_rows(job->run->plan, job->segment, rows.first, rows.end, cut);
    unsigned char *const slot = gf_job_input_slot(job, b, cut[0].first);
    const size_t pitch = job->bands.in_pitch;
    enum gf_status status = GF_OK;
    if (cut[0].first > held->end) {
        status = skip_rows(job, cut[0].first - held->end, slot, error);
        held->end = cut[0].first;
    } else if (b && !job->decode_in_place) { /* the rows shared with the band before */
        memcpy(slot,
               gf_ring_slot(job->in_ring, b - 1) + (size_t)(cut[0].first - held->first) * pitch,
               (size_t)(held->end - cut[0].first) * pitch);
    }
    if (!status && cut[0].end > held->end)
        status = decode_rows(job, cut[0].end - held->end,
                             slot + (size_t)(held->end - cut[0].first) * pitch, error);
    *held = (struct gf_rows){cut[0].first, cut[0].end > held->end ? cut[0].end : held->end};
    return status;
}

/* What no band wants is read all the same: damage after the last row used is damage. */
enum gf_status gf_reader_end(struct gf_job *job, struct gf_rows held, struct gf_error *error)
{
    struct gf_source *const source = job->run->source;
    const int rest = job->segment->in.height - held.end;
    enum gf_status status = GF_OK;
    if (rest > 0) {
        const size_t bytes = job->bands.in_pitch * (size_t)job->bands.in_rows;
        unsigned char *const buffer = gf_pages_alloc(bytes);
        status = buffer ? skip_rows(job, rest, buffer, error)
                        : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
        gf_pages_free(buffer, bytes);
    }
    if (!status && source->finish)
        status = source->finish(source, error);
    return status;
}

void *gf_reader_main(void *argument)
{
    struct gf_job *const job = argument;
    struct gf_error error = {0};
    struct gf_rows held = {0, 0};
    enum gf_status status = GF_OK;
    for (int b = 0; !status && b < job->bands.count; b++) {
        if (!wait_for_slot(job, b))
            return NULL;
        status = gf_reader_band(job, b, &held, &error);
        if (!status)
            gf_job_publish(job, &job->ready, b + 1);
    }
    if (!status)
        status = gf_reader_end(job, held, &error);
    if (status)
        gf_job_fail(job, status, &error);
    return NULL;
}
