/* The workers of a server: each does one picture at a time by a pipeline of its own. */
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "server/serve_state.h"

enum { REST_MS = 5000, WORKERS_A_PROCESSOR = 2, WORKERS_USUALLY = 32 };

void gf_server_job_free(struct gf_server_job *job)
{
    if (job->in >= 0)
        close(job->in);
    if (job->out >= 0)
        close(job->out);
    for (int i = 0; i < job->request.files; i++)
        close(job->file[i]);
    pthread_mutex_destroy(&job->lock);
    free(job);
}

static void note_warning(void *context, const char *text)
{
    struct gf_server_job *const job = context;
    pthread_mutex_lock(&job->lock);
    if (job->warnings < GF_SERVER_WARNINGS_MAX)
        snprintf(job->warning[job->warnings++], sizeof job->warning[0], "%s", text);
    pthread_mutex_unlock(&job->lock);
}

static enum gf_status open_pipeline(struct gf_server_worker *worker, struct gf_error *error)
{
    struct gf_server *const server = worker->server;
    const struct gf_server_settings *const settings = server->settings;
    struct gf_options options = gf_options_default();
    if (worker->pipeline)
        return GF_OK;
    options.device = GF_DEVICE_CUDA;
    options.device_index = settings->device;
    options.sandbox_program = GF_OWN_PROGRAM;
    options.sandbox = settings->sandbox;
    options.device_memory_bytes = settings->device_memory_bytes / (uint64_t)server->workers;
    GF_TRY(settings->open
               ? settings->open(settings->context, NULL, &options, &worker->pipeline, error)
               : gf_pipeline_open(NULL, &options, &worker->pipeline, error));
    gf_pipeline_share_budget(worker->pipeline, &server->budget);
    return GF_OK;
}

static void close_pipeline(struct gf_server_worker *worker)
{
    gf_pipeline_close(worker->pipeline);
    worker->pipeline = NULL;
    worker->held_bytes = 0;
}

/* Filters the picture of a job, or compares its pictures. Uses a single thread if other workers are
 * working, too, as in a batch. */
static void do_job(struct gf_server_worker *worker, struct gf_server_job *job)
{
    struct gf_server *const server = worker->server;
    struct gf_remote_work work;
    gf_server_read_work(&job->request, &work);
    work.in = job->in;
    work.out = job->out;
    memcpy(work.file, job->file, sizeof work.file);
    work.options.serial |= !job->alone;
    work.options.warn = job->request.word[GF_SERVER_WARN] ? note_warning : NULL;
    work.options.warn_context = job;
    work.progress = &job->progress;
    job->status = open_pipeline(worker, &job->error);
    if (job->status)
        return;
    job->in = job->out = -1;
    job->status = work.compares ? server->settings->compare(worker->pipeline, &server->budget,
                                                            &work, &job->result, &job->error)
                                : gf_pipeline_filter_remote_work(worker->pipeline, &work,
                                                                 &job->result, &job->error);
    worker->held_bytes = gf_pipeline_held_bytes(worker->pipeline);
    if (job->status == GF_ERROR_DEVICE || job->status == GF_ERROR_DEVICE_MEMORY)
        close_pipeline(worker);
}

static void wake_main_thread(const struct gf_server *server)
{
    const uint64_t one = 1;
    const ssize_t written = write(server->events, &one, sizeof one);
    (void)written; /* a full eventfd wakes the main thread, too */
}

/* Waits for a job; if none comes for a while, frees the worker's memory. Returns NULL if the server
 * ends. */
static struct gf_server_job *wait_for_job(struct gf_server_worker *worker)
{
    struct gf_server *const server = worker->server;
    const int rest_ms = server->settings->rest_ms ? server->settings->rest_ms : REST_MS;
    const struct timespec rested = gf_time_after(1e-3 * rest_ms);
    pthread_mutex_lock(&server->lock);
    while (!worker->job && !server->closing) {
        if (!worker->pipeline) {
            pthread_cond_wait(&worker->wake, &server->lock);
        } else if (pthread_cond_timedwait(&worker->wake, &server->lock, &rested) == ETIMEDOUT) {
            pthread_mutex_unlock(&server->lock);
            close_pipeline(worker);
            if (server->settings->rest)
                server->settings->rest();
            pthread_mutex_lock(&server->lock);
        }
    }
    struct gf_server_job *const job = worker->job;
    pthread_mutex_unlock(&server->lock);
    return job;
}

static void *worker_main(void *argument)
{
    struct gf_server_worker *const worker = argument;
    struct gf_server *const server = worker->server;
    for (struct gf_server_job *job; (job = wait_for_job(worker));) {
        do_job(worker, job);
        pthread_mutex_lock(&server->lock);
        worker->job = NULL;
        job->next = server->finished;
        server->finished = job;
        server->idle[server->idle_count++] = (int)(worker - server->worker);
        pthread_mutex_unlock(&server->lock);
        wake_main_thread(server);
    }
    close_pipeline(worker);
    return NULL;
}

bool gf_server_give_job(struct gf_server *server, struct gf_server_job *job)
{
    pthread_mutex_lock(&server->lock);
    const bool given = server->idle_count > 0;
    if (given) {
        struct gf_server_worker *const worker = &server->worker[server->idle[--server->idle_count]];
        worker->job = job;
        pthread_cond_signal(&worker->wake);
    }
    pthread_mutex_unlock(&server->lock);
    return given;
}

struct gf_server_job *gf_server_take_finished(struct gf_server *server)
{
    pthread_mutex_lock(&server->lock);
    struct gf_server_job *const jobs = server->finished;
    server->finished = NULL;
    pthread_mutex_unlock(&server->lock);
    return jobs;
}

uint64_t gf_server_held_bytes(const struct gf_server *server)
{
    uint64_t bytes = 0;
    for (int i = 0; i < server->workers; i++)
        bytes += server->worker[i].held_bytes;
    return bytes;
}

/* Starts the device by opening the first worker's pipeline. */
static enum gf_status start_device(struct gf_server *server, struct gf_error *error)
{
    const char *why_not = "";
    struct gf_backend *backend;
    bool on_cuda;
    if (!server->settings->open && !gf_backend_cuda_likely(&why_not))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "no CUDA device: %s", why_not);
    GF_TRY(open_pipeline(&server->worker[0], error));
    return gf_pipeline_start(server->worker[0].pipeline, &backend, &on_cuda, error);
}

enum gf_status gf_server_workers_open(struct gf_server *server, struct gf_error *error)
{
    int wanted = WORKERS_A_PROCESSOR * gf_cpu_count();
    wanted = wanted < WORKERS_USUALLY ? wanted : WORKERS_USUALLY;
    wanted = server->settings->workers ? server->settings->workers : wanted;
    wanted = wanted < GF_SERVER_WORKERS_MAX ? wanted : GF_SERVER_WORKERS_MAX;
    server->worker[0].server = server;
    server->workers = wanted; /* the workers share the device's memory */
    const enum gf_status status = start_device(server, error);
    server->workers = 0;
    if (status) {
        close_pipeline(&server->worker[0]);
        return status;
    }
    pthread_mutex_lock(&server->lock);
    for (int i = 0; i < wanted; i++) {
        struct gf_server_worker *const worker = &server->worker[i];
        worker->server = server;
        gf_cond_init(&worker->wake);
        if (pthread_create(&worker->thread, NULL, worker_main, worker)) {
            pthread_cond_destroy(&worker->wake);
            break;
        }
        server->workers = i + 1;
    }
    for (int i = server->workers; i--;)
        server->idle[server->idle_count++] = i; /* the first worker, whose device is started, is on
                                                 * top */
    pthread_mutex_unlock(&server->lock);
    if (server->workers)
        return GF_OK;
    close_pipeline(&server->worker[0]);
    return gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
}

void gf_server_workers_close(struct gf_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->closing = true;
    for (int i = 0; i < server->workers; i++)
        pthread_cond_signal(&server->worker[i].wake);
    pthread_mutex_unlock(&server->lock);
    for (int i = 0; i < server->workers; i++) {
        pthread_join(server->worker[i].thread, NULL);
        pthread_cond_destroy(&server->worker[i].wake);
    }
}
