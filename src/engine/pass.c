/* The pass of a segment, which computes all its bands: what its threads share, the reader, and the
 * writer. */
#include "engine/pass.h"

#include <string.h>

#include "base/fail.h"
#include "base/memory/buffers.h"
#include "base/threads/nvtx.h"
#include "base/threads/times.h"
#include "codec/common/rows/source.h"

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

/* Whether band b can be computed now: its input is decoded, and its result has a free slot. */
static bool is_ready(const struct gf_pass *pass, int b)
{
    const bool streams_in = pass->in.kind == GF_PLACEMENT_STREAM;
    const bool streams_out = pass->out.kind == GF_PLACEMENT_STREAM && !pass->pass_through;
    return (!streams_in || pass->ready > b) &&
           (!streams_out || pass->written > b - pass->out_ring->count);
}

/* Takes the next band. Because bands are taken in order, the lowest unfinished band always gets its
 * input and a slot for its result, so that the threads cannot wait for each other in a circle. */
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

/* Returns the memory into which the input of band b is decoded; first_row is its first row. */
static unsigned char *pass_input_slot(const struct gf_pass *pass, int b, int first_row)
{
    return pass->decode_in_place ? gf_view_row(&pass->out.view, first_row)
                                 : gf_ring_slot(pass->in_ring, b);
}

struct gf_view gf_pass_host_input(const struct gf_pass *pass, int b, struct gf_rows rows)
{
    return pass->in.kind == GF_PLACEMENT_STREAM
               ? gf_view_make(pass_input_slot(pass, b, rows.first), pass->bands.in_pitch,
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

/* The reader: decodes rows into the ring of input bands, as long as the ring has free slots. */

/* Waits until band b can use its slot, since the band before in that slot is done. Returns false if
 * the pass has failed. */
static bool wait_for_slot(struct gf_pass *pass, int b)
{
    const int before = b - pass->in_ring->count;
    pthread_mutex_lock(&pass->lock);
    while (!pass->status && before >= 0 && !pass->decode_in_place &&
           !(pass->pass_through ? pass->written > before : pass->done[before]))
        pthread_cond_wait(&pass->can_read, &pass->lock);
    const bool going = !pass->status;
    gf_time_limit_set(pass->time_limit_s); /* wait_for_device() may have moved the limit */
    pthread_mutex_unlock(&pass->lock);
    return going;
}

static enum gf_status decode_rows(struct gf_pass *pass, int rows, unsigned char *dst,
                                  struct gf_error *error)
{
    struct gf_source *const source = pass->schedule->source;
    const double begin_s = gf_now();
    gf_nvtx_push(gf_span_kind_name(GF_SPAN_DECODE));
    enum gf_status status = gf_time_check(error);
    if (!status) {
        status = source->read(source, rows, dst, pass->bands.in_pitch, error);
        source->failed = status;
    }
    gf_nvtx_pop();
    gf_spans_add(pass->schedule->spans, GF_SPAN_DECODE, -1, -1, begin_s, gf_now(),
                 gf_row_bytes(pass->segment->in) * (size_t)rows);
    return status;
}

/* Skips rows that no band needs. They are decoded, so that damage is found. */
static enum gf_status skip_rows(struct gf_pass *pass, int rows, unsigned char *buffer,
                                struct gf_error *error)
{
    enum gf_status status = GF_OK;
    while (!status && rows > 0) {
        const int some = rows < pass->bands.in_rows ? rows : pass->bands.in_rows;
        status = decode_rows(pass, some, buffer, error);
        rows -= some;
    }
    return status;
}

enum gf_status gf_reader_read_band(struct gf_pass *pass, int b, struct gf_rows *held,
                                   struct gf_error *error)
{
    struct gf_rows cut[GF_CUTS_MAX + 1];
    const struct gf_rows rows = gf_bands_rows(&pass->bands, pass->segment, b);
    gf_segment_rows(pass->schedule->plan, pass->segment, rows.first, rows.end, cut);
    unsigned char *const slot = pass_input_slot(pass, b, cut[0].first);
    const size_t pitch = pass->bands.in_pitch;
    enum gf_status status = GF_OK;
    if (cut[0].first > held->end) {
        status = skip_rows(pass, cut[0].first - held->end, slot, error);
        held->end = cut[0].first;
    } else if (b && !pass->decode_in_place) { /* copies the rows that band b - 1 has, too */
        memcpy(slot,
               gf_ring_slot(pass->in_ring, b - 1) + (size_t)(cut[0].first - held->first) * pitch,
               (size_t)(held->end - cut[0].first) * pitch);
    }
    if (!status && cut[0].end > held->end)
        status = decode_rows(pass, cut[0].end - held->end,
                             slot + (size_t)(held->end - cut[0].first) * pitch, error);
    *held = (struct gf_rows){cut[0].first, cut[0].end > held->end ? cut[0].end : held->end};
    return status;
}

/* Decodes the rows after those that bands need, so that damage in them is found. */
enum gf_status gf_reader_end(struct gf_pass *pass, struct gf_rows held, struct gf_error *error)
{
    struct gf_source *const source = pass->schedule->source;
    const int rest = pass->segment->in.height - held.end;
    enum gf_status status = GF_OK;
    if (rest > 0) {
        const size_t bytes = pass->bands.in_pitch * (size_t)pass->bands.in_rows;
        unsigned char *const buffer = gf_pages_alloc(bytes);
        status = buffer ? skip_rows(pass, rest, buffer, error) : gf_fail_memory(error);
        gf_pages_free(buffer, bytes);
    }
    if (!status && source->finish) {
        status = source->finish(source, error);
        source->failed = status;
    }
    return status;
}

void *gf_reader_main(void *argument)
{
    struct gf_pass *const pass = argument;
    struct gf_error error = {0};
    struct gf_rows held = {0, 0};
    enum gf_status status = GF_OK;
    for (int b = 0; !status && b < pass->bands.count; b++) {
        if (!wait_for_slot(pass, b))
            return NULL;
        status = gf_reader_read_band(pass, b, &held, &error);
        if (!status)
            gf_pass_publish(pass, &pass->ready, b + 1);
    }
    GF_THEN(status, gf_reader_end(pass, held, &error));
    if (status)
        gf_pass_fail(pass, status, &error);
    return NULL;
}

/* The writer: gives finished bands to the sink, in order. */

enum gf_status gf_writer_write_band(struct gf_pass *pass, int b, struct gf_error *error)
{
    struct gf_sink *const sink = pass->schedule->sink;
    const struct gf_view view =
        gf_pass_host_output(pass, b, gf_bands_rows(&pass->bands, pass->segment, b));
    const double begin_s = gf_now();
    gf_nvtx_push(gf_span_kind_name(GF_SPAN_ENCODE));
    enum gf_status status = gf_time_check(error);
    GF_THEN(status, sink->write(sink, view.rows, view.data, view.pitch, error));
    gf_nvtx_pop();
    gf_spans_add(pass->schedule->spans, GF_SPAN_ENCODE, -1, -1, begin_s, gf_now(),
                 gf_view_bytes(&view));
    return status;
}

enum gf_status gf_writer_end(struct gf_pass *pass, struct gf_error *error)
{
    const double begin_s = gf_now();
    enum gf_status status = gf_time_check(error);
    GF_THEN(status, pass->schedule->sink->finish(pass->schedule->sink, error));
    if (!status) /* a call of an encoder cannot be interrupted, and may have taken too long */
        status = gf_time_check(error);
    gf_spans_add(pass->schedule->spans, GF_SPAN_ENCODE, -1, -1, begin_s, gf_now(), 0);
    return status;
}

void gf_writer_write_bands(struct gf_pass *pass)
{
    struct gf_error error = {0};
    enum gf_status status = GF_OK;
    for (int b = 0; !status && b < pass->bands.count; b++) {
        pthread_mutex_lock(&pass->lock);
        while (!pass->status && !pass->done[b])
            pthread_cond_wait(&pass->can_write, &pass->lock);
        const bool going = !pass->status;
        pthread_mutex_unlock(&pass->lock);
        if (!going)
            return;
        status = gf_writer_write_band(pass, b, &error);
        gf_pass_publish(pass, &pass->written, b + 1);
    }
    GF_THEN(status, gf_writer_end(pass, &error));
    if (status)
        gf_pass_fail(pass, status, &error);
}
