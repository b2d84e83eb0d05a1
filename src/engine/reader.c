/* The reader: decodes rows into the ring of input bands, as far ahead as the ring has free slots.
 */
#include <string.h>

#include "base/fail.h"
#include "base/nvtx.h"
#include "base/pages.h"
#include "codec/common/source.h"
#include "engine/segment_run.h"

/* Waits until the ring's slot for band b is free; false if the segment has failed. */
static bool wait_for_slot(struct gf_segment_run *segment_run, int b)
{
    const int before = b - segment_run->in_ring->count;
    pthread_mutex_lock(&segment_run->lock);
    while (!segment_run->status && before >= 0 && !segment_run->decode_in_place &&
           !(segment_run->pass_through ? segment_run->written > before : segment_run->done[before]))
        pthread_cond_wait(&segment_run->can_read, &segment_run->lock);
    const bool going = !segment_run->status;
    pthread_mutex_unlock(&segment_run->lock);
    return going;
}

static enum gf_status decode_rows(struct gf_segment_run *segment_run, int rows, unsigned char *dst,
                                  struct gf_error *error)
{
    const double begin_s = gf_now();
    gf_nvtx_push(gf_span_kind_name(GF_SPAN_DECODE));
    const enum gf_status status = segment_run->run->source->read(
        segment_run->run->source, rows, dst, segment_run->bands.in_pitch, error);
    gf_nvtx_pop();
    gf_spans_add(segment_run->run->spans, GF_SPAN_DECODE, -1, -1, begin_s, gf_now(),
                 gf_row_bytes(segment_run->segment->in) * (size_t)rows);
    return status;
}

/* Passes over rows that no band needs, such as the rows above a crop. Rows in which there can be
 * damage are decoded. */
static enum gf_status skip_rows(struct gf_segment_run *segment_run, int rows, unsigned char *buffer,
                                struct gf_error *error)
{
    struct gf_source *const source = segment_run->run->source;
    enum gf_status status = GF_OK;
    if (source->pass_over && source->pass_over(source, rows))
        return GF_OK;
    while (!status && rows > 0) {
        const int some = rows < segment_run->bands.in_rows ? rows : segment_run->bands.in_rows;
        status = decode_rows(segment_run, some, buffer, error);
        rows -= some;
    }
    return status;
}

enum gf_status gf_reader_band(struct gf_segment_run *segment_run, int b, struct gf_rows *held,
                              struct gf_error *error)
{
    struct gf_rows cut[GF_CUTS_MAX + 1];
    const struct gf_rows rows = gf_bands_rows(&segment_run->bands, segment_run->segment, b);
    gf_segment_rows(segment_run->run->plan, segment_run->segment, rows.first, rows.end, cut);
    unsigned char *const slot = gf_segment_run_input_slot(segment_run, b, cut[0].first);
    const size_t pitch = segment_run->bands.in_pitch;
    enum gf_status status = GF_OK;
    if (cut[0].first > held->end) {
        status = skip_rows(segment_run, cut[0].first - held->end, slot, error);
        held->end = cut[0].first;
    } else if (b && !segment_run->decode_in_place) { /* rows shared with the band before */
        memcpy(slot,
               gf_ring_slot(segment_run->in_ring, b - 1) +
                   (size_t)(cut[0].first - held->first) * pitch,
               (size_t)(held->end - cut[0].first) * pitch);
    }
    if (!status && cut[0].end > held->end)
        status = decode_rows(segment_run, cut[0].end - held->end,
                             slot + (size_t)(held->end - cut[0].first) * pitch, error);
    *held = (struct gf_rows){cut[0].first, cut[0].end > held->end ? cut[0].end : held->end};
    return status;
}

/* Rows that no band needs are decoded too, so that damage in them is found. */
enum gf_status gf_reader_end(struct gf_segment_run *segment_run, struct gf_rows held,
                             struct gf_error *error)
{
    struct gf_source *const source = segment_run->run->source;
    const int rest = segment_run->segment->in.height - held.end;
    enum gf_status status = GF_OK;
    if (rest > 0) {
        const size_t bytes = segment_run->bands.in_pitch * (size_t)segment_run->bands.in_rows;
        unsigned char *const buffer = gf_pages_alloc(bytes);
        status = buffer ? skip_rows(segment_run, rest, buffer, error) : gf_fail_memory(error);
        gf_pages_free(buffer, bytes);
    }
    if (!status && source->finish)
        status = source->finish(source, error);
    return status;
}

void *gf_reader_main(void *argument)
{
    struct gf_segment_run *const segment_run = argument;
    struct gf_error error = {0};
    struct gf_rows held = {0, 0};
    enum gf_status status = GF_OK;
    for (int b = 0; !status && b < segment_run->bands.count; b++) {
        if (!wait_for_slot(segment_run, b))
            return NULL;
        status = gf_reader_band(segment_run, b, &held, &error);
        if (!status)
            gf_segment_run_publish(segment_run, &segment_run->ready, b + 1);
    }
    if (!status)
        status = gf_reader_end(segment_run, held, &error);
    if (status)
        gf_segment_run_fail(segment_run, status, &error);
    return NULL;
}
