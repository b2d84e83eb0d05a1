/* The writer: gives finished bands to the sink, in order. */
#include "base/nvtx.h"
#include "base/time_limit.h"
#include "codec/common/source.h"
#include "engine/pass.h"

enum gf_status gf_writer_write_band(struct gf_pass *pass, int b, struct gf_error *error)
{
    struct gf_sink *const sink = pass->schedule->sink;
    const struct gf_view view =
        gf_pass_host_output(pass, b, gf_bands_rows(&pass->bands, pass->segment, b));
    const double begin_s = gf_now();
    gf_nvtx_push(gf_span_kind_name(GF_SPAN_ENCODE));
    enum gf_status status = gf_time_check(error);
    if (!status)
        status = sink->write(sink, view.rows, view.data, view.pitch, error);
    gf_nvtx_pop();
    gf_spans_add(pass->schedule->spans, GF_SPAN_ENCODE, -1, -1, begin_s, gf_now(),
                 gf_view_bytes(&view));
    return status;
}

enum gf_status gf_writer_end(struct gf_pass *pass, struct gf_error *error)
{
    const double begin_s = gf_now();
    enum gf_status status = gf_time_check(error);
    if (!status)
        status = pass->schedule->sink->finish(pass->schedule->sink, error);
    if (!status) /* one call of an encoder may have used up the time */
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
    if (!status)
        status = gf_writer_end(pass, &error);
    if (status)
        gf_pass_fail(pass, status, &error);
}
