/* A lane at work: takes bands in order, brings their input to the device, runs the stages, brings
 * the result back. */
#include <string.h>

#include "job.h"
#include "range.h"

/* Whether stages reach the place without a copy. */
static bool reachable(const struct gf_job *job, enum gf_place_kind kind)
{
    return job->run->backend->calls->unified || kind == GF_PLACE_MEMORY;
}

/* Whether the stages of a device take that host memory as it lies: zero copy. */
static bool reaches(const struct gf_job *job, const struct gf_view *host)
{
    struct gf_backend *const backend = job->run->backend;
    return backend->calls->reaches && backend->calls->reaches(backend, host);
}

/* A range of the stage's name, as the profile has it. */
static void begin_stage(const struct gf_job *job, int index, const char *suffix)
{
    char name[128];
    gf_plan_stage_name(&job->run->plan->stage[index], name, sizeof name - 16);
    strcat(name, suffix);
    gf_range_begin(name);
}

/* The stages that the backend runs: all of them, or all but the first. */
static int first_stage(const struct gf_job *job)
{
    return job->first_on_host ? 1 : 0;
}

/* Bytes that the stage moves for these rows: of a picture that it must see whole, the band's share.
 */
static size_t stage_bytes(const struct gf_stage *stage, struct gf_rows in,
                          const struct gf_view *out)
{
    const size_t row_bytes = gf_row_bytes(stage->in);
    const size_t read = gf_stage_whole(stage) ? row_bytes * (size_t)stage->in.height *
                                                    (size_t)out->rows / (size_t)stage->out.height
                                              : row_bytes * (size_t)(in.end - in.first);
    return read + gf_view_bytes(out);
}

/* The first stage on the host, from the whole picture to a band. */
static struct gf_view run_on_host(const struct gf_worker *worker, struct gf_rows rows)
{
    const struct gf_job *const job = worker->job;
    const struct gf_stage *const stage = &job->run->plan->stage[job->segment->first];
    const struct gf_view out = gf_view_make(
        worker->host.data, gf_band_pitch(job->run->backend, stage->out), stage->out, rows);
    const double begin_s = gf_now();
    stage->filter->cpu(stage, &job->in.view, &out, gf_ring_slot(&worker->host, 1));
    gf_spans_add(job->run->spans, GF_SPAN_STAGE, job->segment->first, worker->lane->index, begin_s,
                 gf_now(), stage_bytes(stage, rows, &out));
    return out;
}

/* What the backend's first stage reads, where it can read it; copied there if it has to be. */
static enum gf_status fetch_input(struct gf_worker *worker, int b, const struct gf_rows *cut,
                                  struct gf_view *view, struct gf_error *error)
{
    const struct gf_job *const job = worker->job;
    const struct gf_backend_calls *const calls = job->run->backend->calls;
    if (reachable(job, job->in.kind)) {
        *view = job->in.kind == GF_PLACE_MEMORY ? job->in.view : gf_job_host_input(job, b, cut[0]);
        calls->mark(worker->lane, GF_SPAN_START, -1, 0);
        return GF_OK;
    }
    const struct gf_rows rows = cut[first_stage(job)];
    const struct gf_view host =
        job->first_on_host ? run_on_host(worker, rows) : gf_job_host_input(job, b, rows);
    if (first_stage(job) < job->segment->count && reaches(job, &host)) {
        *view = host;
        calls->mark(worker->lane, GF_SPAN_START, -1, 0);
        return GF_OK;
    }
    if (first_stage(job) == job->segment->count && job->out.kind == GF_PLACE_MEMORY)
        *view = gf_view_part(&job->out.view, rows);
    else
        *view = gf_view_make(worker->in, gf_band_pitch(job->run->backend, host.format), host.format,
                             rows);
    calls->mark(worker->lane, GF_SPAN_START, -1, 0);
    gf_range_begin(gf_span_kind_name(GF_SPAN_UPLOAD));
    const enum gf_status status = calls->upload(worker->lane, view, &host, error);
    gf_range_end();
    calls->mark(worker->lane, GF_SPAN_UPLOAD, -1, gf_view_bytes(view));
    return status;
}

/* Where the segment's i-th stage writes: the last one to the result's place where it can. */
static struct gf_view stage_output(const struct gf_worker *worker, int b, int i,
                                   struct gf_rows rows)
{
    const struct gf_job *const job = worker->job;
    const struct gf_format format = job->run->plan->stage[job->segment->first + i].out;
    if (i + 1 == job->segment->count) {
        const struct gf_view out = gf_job_host_output(job, b, rows);
        if (reachable(job, job->out.kind) || reaches(job, &out))
            return out;
    }
    return gf_view_make(worker->between[i % 2], gf_band_pitch(job->run->backend, format), format,
                        rows);
}

static enum gf_status run_stages(struct gf_worker *worker, int b, const struct gf_rows *cut,
                                 struct gf_view *view, struct gf_error *error)
{
    const struct gf_job *const job = worker->job;
    const struct gf_backend_calls *const calls = job->run->backend->calls;
    enum gf_status status = GF_OK;
    for (int i = first_stage(job); !status && i < job->segment->count; i++) {
        const int index = job->segment->first + i;
        const struct gf_stage *const stage = &job->run->plan->stage[index];
        const struct gf_view out = stage_output(worker, b, i, cut[i + 1]);
        begin_stage(job, index, "");
        status =
            calls->run(worker->lane, stage, job->constants[i], view, &out, worker->scratch, error);
        gf_range_end();
        calls->mark(worker->lane, GF_SPAN_STAGE, index, stage_bytes(stage, cut[i], &out));
        *view = out;
    }
    return status;
}

static void copy_rows(const struct gf_view *dst, const struct gf_view *src)
{
    for (int row = dst->y; row < dst->y + dst->rows; row++)
        memcpy(gf_view_row(dst, row), gf_view_row(src, row), gf_row_bytes(dst->format));
}

/* Brings the band's result from where the last stage left it to where it belongs. */
static enum gf_status deliver(struct gf_worker *worker, int b, struct gf_rows rows,
                              const struct gf_view *view, struct gf_error *error)
{
    const struct gf_job *const job = worker->job;
    const struct gf_backend_calls *const calls = job->run->backend->calls;
    const struct gf_view out = gf_job_host_output(job, b, rows);
    const struct gf_view from = gf_view_part(view, rows);
    if (from.data == out.data)
        return GF_OK;
    if (calls->unified) {
        copy_rows(&out, &from);
        return GF_OK;
    }
    gf_range_begin(gf_span_kind_name(GF_SPAN_DOWNLOAD));
    const enum gf_status status = calls->download(worker->lane, &out, &from, error);
    gf_range_end();
    calls->mark(worker->lane, GF_SPAN_DOWNLOAD, -1, gf_view_bytes(&from));
    return status;
}

enum gf_status gf_worker_band(struct gf_worker *worker, int b, struct gf_error *error)
{
    const struct gf_job *const job = worker->job;
    const struct gf_segment *const segment = job->segment;
    const struct gf_backend_calls *const calls = job->run->backend->calls;
    struct gf_rows cut[GF_CUTS_MAX + 1];
    const struct gf_rows rows = gf_bands_rows(&job->bands, segment, b);
    gf_segment_rows(job->run->plan, segment, rows.first, rows.end, cut);
    struct gf_view view;
    enum gf_status status = fetch_input(worker, b, cut, &view, error);
    if (!status)
        status = run_stages(worker, b, cut, &view, error);
    if (!status && segment->statistic) {
        const struct gf_view result = gf_view_part(&view, rows);
        begin_stage(job, segment->first + segment->count, " histogram");
        status = calls->statistic_add(worker->lane, &result, error);
        gf_range_end();
        calls->mark(worker->lane, GF_SPAN_STATISTIC, segment->first + segment->count,
                    gf_view_bytes(&result));
    }
    if (!status)
        status = deliver(worker, b, rows, &view, error);
    const enum gf_status waited = calls->wait(worker->lane, status ? NULL : error);
    return status ? status : waited;
}

/* The next band in order, once its input and a buffer for its result are there; -1: no more. Bands
 * are taken in order, so that the lowest unfinished one always has what it needs. */
static int take_band(struct gf_job *job)
{
    pthread_mutex_lock(&job->lock);
    const int b = job->next++;
    const bool streams_in = job->in.kind == GF_PLACE_STREAM;
    const bool streams_out = job->out.kind == GF_PLACE_STREAM && !job->pass_through;
    while (!job->status && b < job->bands.count &&
           ((streams_in && job->ready <= b) ||
            (streams_out && job->written <= b - job->out_ring->count)))
        pthread_cond_wait(&job->changed, &job->lock);
    const bool going = !job->status && b < job->bands.count;
    pthread_mutex_unlock(&job->lock);
    return going ? b : -1;
}

static void work(struct gf_worker *worker)
{
    struct gf_job *const job = worker->job;
    for (int b; (b = take_band(job)) >= 0;) {
        struct gf_error error = {0};
        const enum gf_status status = gf_worker_band(worker, b, &error);
        if (status) {
            gf_job_fail(job, status, &error);
            break;
        }
        pthread_mutex_lock(&job->lock);
        job->done[b] = true;
        pthread_cond_broadcast(&job->changed);
        pthread_mutex_unlock(&job->lock);
    }
}

static void *worker_main(void *argument)
{
    struct gf_worker *const worker = argument;
    struct gf_crew *const crew = worker->crew;
    int orders = 0;
    worker->lane->backend->calls->lane_enter(worker->lane);
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (crew->orders == orders && !crew->dismissed)
            pthread_cond_wait(&crew->changed, &crew->lock);
        if (crew->dismissed)
            break;
        orders = crew->orders;
        worker->job = crew->job;
        pthread_mutex_unlock(&crew->lock);
        work(worker);
        pthread_mutex_lock(&crew->lock);
        crew->working--;
        pthread_cond_broadcast(&crew->changed);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

enum gf_status gf_crew_start(struct gf_crew *crew, struct gf_worker *workers, int count,
                             int *started, struct gf_error *error)
{
    *crew = (struct gf_crew){0};
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->changed, NULL);
    for (*started = 0; *started < count; ++*started) {
        struct gf_worker *const worker = &workers[*started];
        worker->crew = crew;
        if (pthread_create(&worker->thread, NULL, worker_main, worker))
            return gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
    }
    return GF_OK;
}

void gf_crew_order(struct gf_crew *crew, struct gf_job *job, int count)
{
    pthread_mutex_lock(&crew->lock);
    crew->job = job;
    crew->working = count;
    crew->orders++;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

void gf_crew_wait(struct gf_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    while (crew->working)
        pthread_cond_wait(&crew->changed, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

void gf_crew_dismiss(struct gf_crew *crew, struct gf_worker *workers, int started)
{
    pthread_mutex_lock(&crew->lock);
    crew->dismissed = true;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_cond_destroy(&crew->changed);
    pthread_mutex_destroy(&crew->lock);
}
