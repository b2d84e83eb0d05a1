/* The kernels of a stage or of a histogram that the backend would launch for one band. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "pixel/histogram/histogram.h"
#include "study/explain/explain.h"

/* Allocates device memory for rows of a picture. data is NULL if there is no memory. */
static struct gf_view place_rows(struct gf_backend *backend, struct gf_format format,
                                 struct gf_rows rows)
{
    const size_t pitch = gf_band_pitch(backend, format);
    unsigned char *const data =
        backend->calls->alloc(backend, pitch * (size_t)(rows.end - rows.first));
    return gf_view_make(data, pitch, format, rows);
}

static void drop_rows(struct gf_backend *backend, const struct gf_view *view)
{
    if (view->data)
        backend->calls->release(backend, view->data, view->pitch * (size_t)view->rows);
}

/* Makes the histogram that the stage needs, with every level occurring once. Which levels occur may
 * determine which kernel runs; their counts do not. */
static enum gf_status make_flat(const struct gf_stage *stage, struct gf_histogram *histogram,
                                struct gf_error *error)
{
    const enum gf_statistic statistic = gf_stage_statistic(stage);
    *histogram = (struct gf_histogram){0};
    if (!statistic)
        return GF_OK;
    GF_TRY(gf_histogram_alloc(histogram, statistic, stage->in, error));
    for (size_t i = 0; i < gf_histogram_counters(histogram); i++)
        histogram->count[i] = 1;
    return GF_OK;
}

/* Inspects kernels with real device memory, because its alignment may determine which kernels
 * run. */
static enum gf_status inspect(struct gf_lane *lane, struct gf_stage_work *work, struct gf_rows in,
                              struct gf_rows out, struct gf_explained_stage *found,
                              struct gf_error *error)
{
    struct gf_backend *const backend = lane->backend;
    const struct gf_backend_calls *const calls = backend->calls;
    const struct gf_stage *const stage = work->stage;
    const size_t scratch = work->counts ? 0 : calls->scratch(stage, out.end - out.first);
    work->in = place_rows(backend, stage->in, in);
    work->out = work->counts ? (struct gf_view){0} : place_rows(backend, stage->out, out);
    work->scratch = scratch ? calls->alloc(backend, scratch) : NULL;
    enum gf_status status = GF_OK;
    if (!work->in.data || (!work->counts && !work->out.data) || (scratch && !work->scratch))
        status = gf_fail(error, GF_ERROR_DEVICE_MEMORY, "no device memory for a band");
    GF_THEN(status,
            calls->inspect(lane, work, found->kernel, GF_EXPLAIN_KERNELS, &found->kernels, error));
    drop_rows(backend, &work->in);
    drop_rows(backend, &work->out);
    if (work->scratch)
        calls->release(backend, work->scratch, scratch);
    return status;
}

static enum gf_status inspect_stage(struct gf_lane *lane, struct gf_stage *stage,
                                    const struct gf_stage *wanting, struct gf_rows in,
                                    struct gf_rows out, struct gf_explained_stage *found,
                                    struct gf_error *error)
{
    struct gf_backend *const backend = lane->backend;
    struct gf_stage_work work = {.stage = stage};
    struct gf_histogram histogram;
    enum gf_status status = make_flat(stage, &histogram, error);
    stage->histogram = &histogram;
    GF_THEN(status, gf_stage_prepare(stage, error));
    GF_THEN(status, backend->calls->load(backend, NULL, stage, &work.constants, error));
    /* If the counter cannot run here, the explanation of the next stage says so. */
    if (wanting && !backend->calls->statistic_open(lane, wanting, NULL))
        work.counted = &found->counts;
    GF_THEN(status, inspect(lane, &work, in, out, found, error));
    if (wanting)
        backend->calls->statistic_close(lane);
    if (work.constants)
        backend->calls->unload(backend, work.constants);
    gf_stage_release(stage);
    stage->histogram = NULL;
    free(histogram.count);
    return status;
}

static enum gf_status inspect_histogram(struct gf_lane *lane, const struct gf_stage *wanting,
                                        struct gf_rows in, struct gf_explained_stage *found,
                                        struct gf_error *error)
{
    const struct gf_backend_calls *const calls = lane->backend->calls;
    struct gf_stage_work work = {.stage = wanting, .counts = true};
    enum gf_status status = calls->statistic_open(lane, wanting, error);
    GF_THEN(status, inspect(lane, &work, in, in, found, error));
    calls->statistic_close(lane);
    return status;
}

/* Stores a refusal of the device in found->unknown. */
static enum gf_status note_refusal(enum gf_status status, const struct gf_error *why,
                                   struct gf_explained_stage *found, struct gf_error *error)
{
    if (status == GF_ERROR_UNAVAILABLE || status == GF_ERROR_DEVICE_MEMORY) {
        snprintf(found->unknown, sizeof found->unknown, "%.159s", why->text);
        return GF_OK;
    }
    if (status && error)
        *error = *why;
    return status;
}

enum gf_status gf_explain_stage_kernels(struct gf_lane *lane, struct gf_stage *stage,
                                        const struct gf_stage *wanting, struct gf_rows in,
                                        struct gf_rows out, struct gf_explained_stage *found,
                                        struct gf_error *error)
{
    struct gf_error why = {0};
    return note_refusal(inspect_stage(lane, stage, wanting, in, out, found, &why), &why, found,
                        error);
}

enum gf_status gf_explain_histogram_kernels(struct gf_lane *lane, const struct gf_stage *wanting,
                                            struct gf_rows in, struct gf_explained_stage *found,
                                            struct gf_error *error)
{
    struct gf_error why = {0};
    return note_refusal(inspect_histogram(lane, wanting, in, found, &why), &why, found, error);
}
