/* Computes bands by the stages of a segment: the lanes, and the threads that work on them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/threads/nvtx.h"
#include "base/threads/times.h"
#include "engine/engine.h"
#include "engine/pass.h"
#include "pixel/float_stage.h"

/* Whether the backend's stages can access a picture with that placement where it lies. */
static bool needs_no_copy(const struct gf_pass *pass, enum gf_placement_kind kind)
{
    return pass->schedule->backend->calls->unified || kind == GF_PLACEMENT_BACKEND;
}

/* Whether the device's stages can access this host memory where it lies (--transfer=zero-copy). */
static bool reaches(const struct gf_pass *pass, const struct gf_view *host)
{
    struct gf_backend *const backend = pass->schedule->backend;
    return backend->calls->reaches && backend->calls->reaches(backend, host);
}

/* Begins an NVTX range with the stage's name in the profile. */
static void begin_stage(const struct gf_pass *pass, int index, const char *suffix)
{
    char name[128];
    gf_plan_stage_name(&pass->schedule->plan->stage[index], name, sizeof name - 16);
    strcat(name, suffix);
    gf_nvtx_push(name);
}

/* Returns the index in the segment of the first stage that the backend runs. */
static int first_stage(const struct gf_pass *pass)
{
    return pass->first_on_host ? 1 : 0;
}

/* Returns the bytes that the stage reads and writes for the rows of one band. If it reads the whole
 * picture for each band, only the band's share of the picture counts. */
static size_t stage_bytes(const struct gf_stage *stage, struct gf_rows in,
                          const struct gf_view *out)
{
    const size_t row_bytes = gf_row_bytes(stage->in);
    const size_t read =
        gf_stage_needs_whole(stage)
            ? row_bytes * (size_t)stage->in.height * (size_t)out->rows / (size_t)stage->out.height
            : row_bytes * (size_t)(in.end - in.first);
    return read + gf_view_bytes(out);
}

/* Computes the first stage on the host: reads the whole picture, and returns the rows of one
 * band. */
static struct gf_view compute_on_host(const struct gf_lane_state *lane, struct gf_rows rows)
{
    const struct gf_pass *const pass = lane->pass;
    const struct gf_stage *const stage = &pass->schedule->plan->stage[pass->segment->first];
    const struct gf_view out = gf_view_make(
        lane->host.data, gf_band_pitch(pass->schedule->backend, stage->out), stage->out, rows);
    const double begin_s = gf_now();
    gf_stage_cpu(stage, &pass->in.view, &out, gf_ring_slot(&lane->host, 1));
    gf_spans_add(pass->schedule->spans, GF_SPAN_STAGE, pass->segment->first, lane->queue->index,
                 begin_s, gf_now(), stage_bytes(stage, rows, &out));
    return out;
}

/* Finds the view that the backend's first stage reads for band b. Copies the rows to the device if
 * necessary. */
static enum gf_status fetch_input(struct gf_lane_state *lane, int b, const struct gf_rows *cut,
                                  struct gf_view *view, struct gf_error *error)
{
    const struct gf_pass *const pass = lane->pass;
    const struct gf_backend_calls *const calls = pass->schedule->backend->calls;
    if (needs_no_copy(pass, pass->in.kind)) {
        *view = pass->in.kind == GF_PLACEMENT_BACKEND ? pass->in.view
                                                      : gf_pass_host_input(pass, b, cut[0]);
        calls->mark(lane->queue, GF_SPAN_START, -1, 0);
        return GF_OK;
    }
    const struct gf_rows rows = cut[first_stage(pass)];
    const struct gf_view host =
        pass->first_on_host ? compute_on_host(lane, rows) : gf_pass_host_input(pass, b, rows);
    if (first_stage(pass) < pass->segment->count && reaches(pass, &host)) {
        *view = host;
        calls->mark(lane->queue, GF_SPAN_START, -1, 0);
        return GF_OK;
    }
    if (first_stage(pass) == pass->segment->count && pass->out.kind == GF_PLACEMENT_BACKEND)
        *view = gf_view_part(&pass->out.view, rows);
    else
        *view = gf_view_make(lane->in, gf_band_pitch(pass->schedule->backend, host.format),
                             host.format, rows);
    calls->mark(lane->queue, GF_SPAN_START, -1, 0);
    gf_nvtx_push(gf_span_kind_name(GF_SPAN_UPLOAD));
    const enum gf_status status = calls->upload(lane->queue, view, &host, error);
    gf_nvtx_pop();
    calls->mark(lane->queue, GF_SPAN_UPLOAD, -1, gf_view_bytes(view));
    return status;
}

/* Returns the view that stage i of the segment writes. The last stage writes directly to the result
 * if it can reach it. */
static struct gf_view stage_output(const struct gf_lane_state *lane, int b, int i,
                                   struct gf_rows rows)
{
    const struct gf_pass *const pass = lane->pass;
    const struct gf_format format = pass->schedule->plan->stage[pass->segment->first + i].out;
    if (i + 1 == pass->segment->count) {
        const struct gf_view out = gf_pass_host_output(pass, b, rows);
        if (needs_no_copy(pass, pass->out.kind) || reaches(pass, &out))
            return out;
    }
    return gf_view_make(lane->between[i % 2], gf_band_pitch(pass->schedule->backend, format),
                        format, rows);
}

/* Whether stage i may count its result while it writes it: it is the segment's last stage, and the
 * next segment needs a histogram. */
static bool may_count(const struct gf_pass *pass, int i)
{
    return pass->segment->statistic && i + 1 == pass->segment->count &&
           !pass->schedule->options->no_fuse;
}

/* Runs the backend's stages on band b. *view is their input, and becomes the result. *counted
 * becomes whether the result has been counted. */
static enum gf_status compute_stages(struct gf_lane_state *lane, int b, const struct gf_rows *cut,
                                     struct gf_view *view, bool *counted, struct gf_error *error)
{
    const struct gf_pass *const pass = lane->pass;
    const struct gf_backend_calls *const calls = pass->schedule->backend->calls;
    enum gf_status status = gf_time_check(error);
    for (int i = first_stage(pass); !status && i < pass->segment->count; i++) {
        const int index = pass->segment->first + i;
        const struct gf_stage *const stage = &pass->schedule->plan->stage[index];
        const struct gf_stage_work work = {.stage = stage,
                                           .constants = pass->constants[i],
                                           .in = *view,
                                           .out = stage_output(lane, b, i, cut[i + 1]),
                                           .scratch = lane->scratch,
                                           .counted = may_count(pass, i) ? counted : NULL};
        begin_stage(pass, index, "");
        status = gf_stage_work_run(lane->queue, &work, error);
        gf_nvtx_pop();
        calls->mark(lane->queue, GF_SPAN_STAGE, index, stage_bytes(stage, cut[i], &work.out));
        GF_THEN(status, gf_time_check(error));
        *view = work.out;
    }
    return status;
}

static void copy_rows(const struct gf_view *dst, const struct gf_view *src)
{
    for (int row = dst->y; row < dst->y + dst->rows; row++)
        memcpy(gf_view_row(dst, row), gf_view_row(src, row), gf_row_bytes(dst->format));
}

/* Copies the band's result to where it belongs, unless the last stage wrote it there. */
static enum gf_status place_result(struct gf_lane_state *lane, int b, struct gf_rows rows,
                                   const struct gf_view *view, struct gf_error *error)
{
    const struct gf_pass *const pass = lane->pass;
    const struct gf_backend_calls *const calls = pass->schedule->backend->calls;
    const struct gf_view out = gf_pass_host_output(pass, b, rows);
    const struct gf_view from = gf_view_part(view, rows);
    if (from.data == out.data)
        return GF_OK;
    if (calls->unified) {
        copy_rows(&out, &from);
        return GF_OK;
    }
    gf_nvtx_push(gf_span_kind_name(GF_SPAN_DOWNLOAD));
    const enum gf_status status = calls->download(lane->queue, &out, &from, error);
    gf_nvtx_pop();
    calls->mark(lane->queue, GF_SPAN_DOWNLOAD, -1, gf_view_bytes(&from));
    return status;
}

/* Whether nothing but the lane's histogram is needed of the segment. Then nobody waits for the
 * bands; statistic_take() waits, and the memory of the bands' input must last until then. */
static bool histogram_waits(const struct gf_pass *pass)
{
    return pass->schedule->serial && pass->segment->statistic &&
           (pass->in.kind == GF_PLACEMENT_BACKEND || pass->bands.count == 1) &&
           pass->out.kind == GF_PLACEMENT_BACKEND;
}

enum gf_status gf_lane_queue_band(struct gf_lane_state *lane, int b, struct gf_error *error)
{
    const struct gf_pass *const pass = lane->pass;
    const struct gf_segment *const segment = pass->segment;
    const struct gf_backend_calls *const calls = pass->schedule->backend->calls;
    struct gf_rows cut[GF_CUTS_MAX + 1];
    const struct gf_rows rows = gf_bands_rows(&pass->bands, segment, b);
    gf_segment_rows(pass->schedule->plan, segment, rows.first, rows.end, cut);
    if (pass->schedule->progress && pass->schedule->progress->cancelled)
        return gf_fail(error, GF_ERROR_CANCELLED, "the run was cancelled");
    struct gf_view view;
    bool counted = false;
    enum gf_status status = fetch_input(lane, b, cut, &view, error);
    GF_THEN(status, compute_stages(lane, b, cut, &view, &counted, error));
    if (!status && segment->statistic && !counted) {
        const struct gf_view result = gf_view_part(&view, rows);
        begin_stage(pass, segment->first + segment->count, " histogram");
        status = calls->statistic_add(lane->queue, &result, error);
        gf_nvtx_pop();
        calls->mark(lane->queue, GF_SPAN_STATISTIC, segment->first + segment->count,
                    gf_view_bytes(&result));
    }
    return status ? status : place_result(lane, b, rows, &view, error);
}

enum gf_status gf_lane_compute_band(struct gf_lane_state *lane, int b, struct gf_error *error)
{
    const enum gf_status status = gf_lane_queue_band(lane, b, error);
    if (!status && histogram_waits(lane->pass))
        return GF_OK;
    const enum gf_status waited =
        lane->pass->schedule->backend->calls->wait(lane->queue, status ? NULL : error);
    return status ? status : waited;
}

/* The threads of the lanes. Each computes one band after another. */

struct gf_pool_thread {
    struct gf_pool_thread *next;
    struct gf_thread_pool *pool;
    int index;
    int submitted; /* number of the first segment that the thread can compute */
    pthread_t thread;
};

static void compute_bands(struct gf_lane_state *lane)
{
    struct gf_pass *const pass = lane->pass;
    for (int b; (b = gf_pass_take_band(pass)) >= 0;) {
        struct gf_error error = {0};
        const enum gf_status status = gf_lane_compute_band(lane, b, &error);
        if (status) {
            gf_pass_fail(pass, status, &error);
            break;
        }
        gf_pass_finish_band(pass, b);
    }
}

void gf_lane_compute_bands(struct gf_lane_state *lane, struct gf_pass *pass)
{
    lane->pass = pass;
    gf_time_limit_set(pass->time_limit_s);
    lane->queue->backend->calls->lane_enter(lane->queue);
    compute_bands(lane);
}

static void *thread_main(void *argument)
{
    struct gf_pool_thread *const self = argument;
    struct gf_thread_pool *const pool = self->pool;
    int submitted = self->submitted;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->submitted == submitted && !pool->stopping)
            pthread_cond_wait(&pool->submission, &pool->lock);
        if (pool->stopping)
            break;
        submitted = pool->submitted;
        if (self->index >= pool->wanted)
            continue;
        struct gf_lane_state *const lane = &pool->lane[self->index];
        struct gf_pass *const pass = pool->pass;
        pool->begun++;
        pthread_mutex_unlock(&pool->lock);
        gf_lane_compute_bands(lane, pass);
        pthread_mutex_lock(&pool->lock);
        if (!--pool->pending)
            pthread_cond_signal(&pool->end);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void open_pool(struct gf_thread_pool *pool)
{
    *pool = (struct gf_thread_pool){.process = getpid()};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->submission, NULL);
    pthread_cond_init(&pool->end, NULL);
}

static bool start_one(struct gf_thread_pool *pool)
{
    struct gf_pool_thread *const thread = malloc(sizeof *thread);
    if (!thread)
        return false;
    *thread = (struct gf_pool_thread){
        .next = pool->first, .pool = pool, .index = pool->started, .submitted = pool->submitted};
    if (pthread_create(&thread->thread, NULL, thread_main, thread)) {
        free(thread);
        return false;
    }
    pool->first = thread;
    pool->started++;
    return true;
}

int gf_thread_pool_start(struct gf_thread_pool *pool, int count)
{
    if (pool->process != getpid()) /* a forked child leaves its parent's threads alone */
        open_pool(pool);
    while (pool->started < count && start_one(pool))
        continue;
    return pool->started < count ? pool->started : count;
}

void gf_thread_pool_submit(struct gf_thread_pool *pool, struct gf_pass *pass,
                           struct gf_lane_state *lane, int count)
{
    if (!count)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->pass = pass;
    pool->lane = lane;
    pool->wanted = pool->pending = count;
    pool->begun = 0;
    pool->submitted++;
    pthread_cond_broadcast(&pool->submission);
    pthread_mutex_unlock(&pool->lock);
}

void gf_thread_pool_wait(struct gf_thread_pool *pool, bool all_taken)
{
    if (!pool->started)
        return;
    pthread_mutex_lock(&pool->lock);
    if (all_taken) { /* threads that have not begun would find no band, and are not waited for */
        pool->pending -= pool->wanted - pool->begun;
        pool->wanted = pool->begun = 0;
    }
    while (pool->pending)
        pthread_cond_wait(&pool->end, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void gf_thread_pool_close(struct gf_thread_pool *pool)
{
    if (pool->process != getpid())
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->submission);
    pthread_mutex_unlock(&pool->lock);
    for (struct gf_pool_thread *thread = pool->first, *next; thread; thread = next) {
        next = thread->next;
        pthread_join(thread->thread, NULL);
        free(thread);
    }
    pthread_cond_destroy(&pool->submission);
    pthread_cond_destroy(&pool->end);
    pthread_mutex_destroy(&pool->lock);
    *pool = (struct gf_thread_pool){0};
}
