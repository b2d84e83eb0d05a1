/* The reader: decodes rows into the ring of input bands, as far ahead as the ring has free slots.
 */
#include <string.h>

#include "base/fail.h"
#include "base/nvtx.h"
#include "base/pages.h"
#include "base/time_limit.h"
#include "codec/common/source.h"
#include "engine/pass.h"

/* Waits until the ring's slot for band b is free. Returns false if the segment has failed. */
static bool wait_for_slot(struct gf_pass *pass, int b)
{
    const int before = b - pass->in_ring->count;
    pthread_mutex_lock(&pass->lock);
    while (!pass->status && before >= 0 && !pass->decode_in_place &&
           !(pass->pass_through ? pass->written > before : pass->done[before]))
        pthread_cond_wait(&pass->can_read, &pass->lock);
    const bool going = !pass->status;
    gf_time_limit_set(pass->time_limit_s); /* the device's start moves the limit */
    pthread_mutex_unlock(&pass->lock);
    return going;
}

static enum gf_status decode_rows(struct gf_pass *pass, int rows, unsigned char *dst,
                                  struct gf_error *error)
{
    const double begin_s = gf_now();
    gf_nvtx_push(gf_span_kind_name(GF_SPAN_DECODE));
    enum gf_status status = gf_time_check(error);
    if (!status)
        status = pass->schedule->source->read(pass->schedule->source, rows, dst,
                                              pass->bands.in_pitch, error);
    gf_nvtx_pop();
    gf_spans_add(pass->schedule->spans, GF_SPAN_DECODE, -1, -1, begin_s, gf_now(),
                 gf_row_bytes(pass->segment->in) * (size_t)rows);
    return status;
}

/* Skips rows that no band needs, such as the rows above a crop. Rows that may be damaged are
 * decoded. */
static enum gf_status skip_rows(struct gf_pass *pass, int rows, unsigned char *buffer,
                                struct gf_error *error)
{
    struct gf_source *const source = pass->schedule->source;
    enum gf_status status = GF_OK;
    if (source->pass_over && source->pass_over(source, rows))
        return GF_OK;
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
    unsigned char *const slot = gf_pass_input_slot(pass, b, cut[0].first);
    const size_t pitch = pass->bands.in_pitch;
    enum gf_status status = GF_OK;
    if (cut[0].first > held->end) {
        status = skip_rows(pass, cut[0].first - held->end, slot, error);
        held->end = cut[0].first;
    } else if (b && !pass->decode_in_place) { /* rows shared with the band before */
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

/* Rows that no band needs are decoded, too, so that damage in them is found. */
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
    if (!status && source->finish)
        status = source->finish(source, error);
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
    if (!status)
        status = gf_reader_end(pass, held, &error);
    if (status)
        gf_pass_fail(pass, status, &error);
    return NULL;
}
