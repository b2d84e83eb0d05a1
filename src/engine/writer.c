/* The writer: hands finished bands to the sink, in order. */
#include "base/nvtx.h"
#include "codec/common/source.h"
#include "engine/segment_run.h"

enum gf_status gf_writer_band(struct gf_segment_run *segment_run, int b, struct gf_error *error)
{
    struct gf_sink *const sink = segment_run->run->sink;
    const struct gf_view view = gf_segment_run_host_output(
        segment_run, b, gf_bands_rows(&segment_run->bands, segment_run->segment, b));
    const double begin_s = gf_now();
    gf_nvtx_push(gf_span_kind_name(GF_SPAN_ENCODE));
    const enum gf_status status = sink->write(sink, view.rows, view.data, view.pitch, error);
    gf_nvtx_pop();
    gf_spans_add(segment_run->run->spans, GF_SPAN_ENCODE, -1, -1, begin_s, gf_now(),
                 gf_view_bytes(&view));
    return status;
}

enum gf_status gf_writer_end(struct gf_segment_run *segment_run, struct gf_error *error)
{
    const double begin_s = gf_now();
    const enum gf_status status = segment_run->run->sink->finish(segment_run->run->sink, error);
    gf_spans_add(segment_run->run->spans, GF_SPAN_ENCODE, -1, -1, begin_s, gf_now(), 0);
    return status;
}

void gf_writer_run(struct gf_segment_run *segment_run)
{
    struct gf_error error = {0};
    enum gf_status status = GF_OK;
    for (int b = 0; !status && b < segment_run->bands.count; b++) {
        pthread_mutex_lock(&segment_run->lock);
        while (!segment_run->status && !segment_run->done[b])
            pthread_cond_wait(&segment_run->can_write, &segment_run->lock);
        const bool going = !segment_run->status;
        pthread_mutex_unlock(&segment_run->lock);
        if (!going)
            return;
        status = gf_writer_band(segment_run, b, &error);
        gf_segment_run_publish(segment_run, &segment_run->written, b + 1);
    }
    if (!status)
        status = gf_writer_end(segment_run, &error);
    if (status)
        gf_segment_run_fail(segment_run, status, &error);
}
