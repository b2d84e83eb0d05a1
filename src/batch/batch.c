#include "batch/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/cpu.h"
#include "batch/batch_work.h"
#include "batch/cost.h"
#include "chain/chain.h"

static enum gf_status fail_memory(struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}

/* ---- what is said ---- */

static void say_notes(const struct gf_batch *batch, struct gf_batch_item *item)
{
    const struct gf_batch_request *const request = batch->request;
    char *rest = item->notes;
    for (char *line; request->say && (line = strsep(&rest, "\n"));) {
        if (*line)
            request->say(request->context,
                         *line == 'w'   ? GF_SAY_WARNING
                         : *line == 'p' ? GF_SAY_PICTURE
                                        : GF_SAY_ERROR,
                         line + 1);
    }
    free(item->notes);
    item->notes = NULL;
}

/* Says what is due: everything up to the first input that is not finished. With the lock. */
static void say_in_order(struct gf_batch *batch)
{
    while (batch->told < batch->count) {
        struct gf_batch_item *const item = &batch->item[gf_batch_index(batch, batch->told)];
        if (item->outcome == GF_OUTCOME_WAITING)
            break;
        say_notes(batch, item);
        batch->told++;
    }
}

/* ---- workers ---- */

static void stop(struct gf_batch *batch, enum gf_status status, const struct gf_error *error)
{
    if (!batch->fatal) {
        batch->status = status;
        batch->error = *error;
        batch->fatal = true;
    }
    batch->stopped = true;
}

static void log_without_picture(struct gf_batch_worker *worker, enum gf_outcome outcome,
                                const char *why)
{
    const struct gf_batch *const batch = worker->batch;
    /* What the log says to be done stands in it. */
    const bool logged =
        outcome == GF_OUTCOME_DONE || (outcome == GF_OUTCOME_SKIPPED && batch->request->resume);
    if (!batch->request->log || logged || worker->log_status)
        return;
    const struct gf_batch_log_entry entry = {.index = worker->index + 1,
                                             .input = worker->input->path,
                                             .output =
                                                 worker->path ? worker->path : worker->item->output,
                                             .outcome = outcome,
                                             .message = why,
                                             .bytes_in = -1,
                                             .bytes_out = -1,
                                             .fingerprint = batch->fingerprint};
    worker->log_status = gf_batch_log_add(batch->request->log, &entry, &worker->log_error);
}

static void finish_item(struct gf_batch_worker *worker, enum gf_outcome outcome,
                        enum gf_status status, const struct gf_error *why)
{
    struct gf_batch *const batch = worker->batch;
    const struct gf_batch_request *const request = batch->request;
    /* What ends the whole run is said at its end: nobody reads standard output any more, for one.
     */
    const bool ends = request->inputs->count == 1 || status == GF_ERROR_UNAVAILABLE ||
                      (request->output->is_stdout && status == GF_ERROR_OUTPUT);
    if (outcome == GF_OUTCOME_FAILED && !ends)
        fprintf(worker->notes_file, "e%s\n", why->text);
    fflush(worker->notes_file);
    const long length = ftell(worker->notes_file);
    char *const notes = length > 0 ? strndup(worker->notes, (size_t)length) : NULL;
    rewind(worker->notes_file);
    pthread_mutex_lock(&batch->lock);
    worker->item->notes = notes;
    worker->item->outcome = outcome;
    batch->state.done += outcome == GF_OUTCOME_DONE;
    batch->state.failed += outcome == GF_OUTCOME_FAILED;
    batch->state.skipped += outcome == GF_OUTCOME_SKIPPED;
    if (outcome == GF_OUTCOME_FAILED && ends)
        stop(batch, status, why);
    if (worker->log_status)
        stop(batch, worker->log_status, &worker->log_error);
    if (outcome == GF_OUTCOME_FAILED && request->fail_fast)
        batch->stopped = true;
    say_in_order(batch);
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

static void do_item(struct gf_batch_worker *worker)
{
    struct gf_error why = {0};
    enum gf_status status = GF_OK;
    free(worker->path);
    worker->path = NULL;
    enum gf_outcome outcome =
        gf_batch_consider(worker->batch, worker->index, why.text, sizeof why.text);
    if (outcome == GF_OUTCOME_FAILED)
        status = GF_ERROR_OUTPUT;
    if (outcome == GF_OUTCOME_WAITING) {
        status = gf_batch_do_file(worker, &why);
        outcome = status ? GF_OUTCOME_FAILED : GF_OUTCOME_DONE;
    }
    log_without_picture(worker, outcome, why.text);
    finish_item(worker, outcome, status, &why);
}

static bool take_item(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    pthread_mutex_lock(&batch->lock);
    const bool taken = !batch->stopped && batch->next < batch->count;
    if (taken)
        worker->index = gf_batch_index(batch, batch->next++);
    pthread_mutex_unlock(&batch->lock);
    if (taken) {
        worker->input = &batch->request->inputs->item[worker->index];
        worker->item = &batch->item[worker->index];
    }
    return taken;
}

static void *worker_main(void *argument)
{
    struct gf_batch_worker *const worker = argument;
    struct gf_batch *const batch = worker->batch;
    while (take_item(worker))
        do_item(worker);
    gf_pipeline_close(worker->pipeline);
    free(worker->path);
    pthread_mutex_lock(&batch->lock);
    batch->working--;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    return NULL;
}

/* ---- the calling thread ---- */

static void tick(struct gf_batch *batch, bool at_end)
{
    const struct gf_batch_request *const request = batch->request;
    batch->state.elapsed_s = gf_now() - batch->begin_s;
    const struct gf_batch_state state = batch->state;
    if (request->tick)
        request->tick(request->context, &state, at_end);
}

static struct timespec after(double seconds)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    const double sum = (double)time.tv_nsec * 1e-9 + seconds;
    time.tv_sec += (time_t)sum;
    time.tv_nsec = (long)((sum - (double)(time_t)sum) * 1e9);
    return time;
}

static void watch(struct gf_batch *batch)
{
    const double tick_s =
        batch->request->tick && batch->request->tick_s > 0 ? batch->request->tick_s : 3600;
    struct timespec next = after(tick_s);
    pthread_mutex_lock(&batch->lock);
    while (batch->working) {
        if (pthread_cond_timedwait(&batch->changed, &batch->lock, &next) == ETIMEDOUT) {
            tick(batch, false);
            next = after(tick_s);
        }
    }
    tick(batch, true);
    pthread_mutex_unlock(&batch->lock);
}

static enum gf_status open_worker(struct gf_batch_worker *worker, struct gf_batch *batch,
                                  int number, struct gf_error *error)
{
    const int device = batch->devices ? number % batch->devices : -1;
    *worker = (struct gf_batch_worker){.batch = batch, .home = device, .device = device};
    worker->notes_file = open_memstream(&worker->notes, &worker->notes_bytes);
    if (!worker->notes_file)
        return fail_memory(error);
    batch->working++;
    if (!pthread_create(&worker->thread, NULL, worker_main, worker))
        return GF_OK;
    batch->working--;
    fclose(worker->notes_file);
    free(worker->notes);
    return gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
}

static enum gf_status run_workers(struct gf_batch *batch, int count, struct gf_error *error)
{
    struct gf_batch_worker *const worker = calloc((size_t)count, sizeof *worker);
    enum gf_status status = worker ? GF_OK : fail_memory(error);
    int started = 0;
    pthread_mutex_lock(&batch->lock);
    while (!status && started < count) {
        status = open_worker(&worker[started], batch, started, error);
        started += !status;
    }
    if (status)
        batch->stopped = true;
    pthread_mutex_unlock(&batch->lock);
    if (started)
        watch(batch);
    for (int i = 0; i < started; i++) {
        pthread_join(worker[i].thread, NULL);
        fclose(worker[i].notes_file);
        free(worker[i].notes);
    }
    free(worker);
    return status;
}

/* ---- how many, with what ---- */

static uint64_t physical_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : (uint64_t)1 << 30;
}

/* As many workers as can have their files open at once. */
static int most_workers(void)
{
    enum { FILES_OF_ALL = 8, FILES_OF_EACH = 4 };
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) ||
        files.rlim_cur >= FILES_OF_ALL + FILES_OF_EACH * GF_BATCH_WORKERS_MAX)
        return GF_BATCH_WORKERS_MAX;
    const int affordable = ((int)files.rlim_cur - FILES_OF_ALL) / FILES_OF_EACH;
    return affordable > 1 ? affordable : 1;
}

/* A worker for each processor, each doing everything itself, where there are pictures enough to
 * keep them busy to the end; else fewer, each with all processors. Returns how many. */
static int divide_work(struct gf_batch *batch)
{
    enum { TURNS = 4 };
    struct gf_options *const options = &batch->options;
    const uint64_t memory = options->memory_bytes, least = (uint64_t)1 << 20;
    int threads = options->threads > 0 ? options->threads : gf_cpu_count();
    const int most = most_workers();
    threads = threads < most ? threads : most;
    int workers = batch->count < (size_t)threads ? (int)batch->count : threads;
    const bool device_codec =
        options->codec == GF_CODEC_GPU || options->codec == GF_CODEC_GPU_IF_FAST;
    if (batch->devices && device_codec) {
        /* Each waits most of the time for the GPU's decoder, which is fast with many pictures at
         * once. */
        workers = GF_BATCH_CODEC_WORKERS * batch->devices;
        workers = options->threads > 0 || workers < threads ? threads : workers;
        workers = workers < most ? workers : most;
        workers = batch->count < (size_t)workers ? (int)batch->count : workers;
        options->serial = true;
    }
    if (batch->request->output->is_stdout)
        workers = 1;
    if (memory && (uint64_t)workers > memory / 2 / least) { /* fewer, who share the processors */
        workers = memory / 2 / least ? (int)(memory / 2 / least) : 1;
        options->threads = workers < threads ? threads / workers : 1;
    }
    if (workers == threads && batch->count >= (size_t)(TURNS * threads) && !options->lanes)
        options->serial = true;
    if (options->serial)
        options->threads = 1;
    /* Half for bands, half for pictures that lie whole. */
    gf_memory_budget_open(&batch->memory_budget, memory ? memory / 2 : physical_bytes() / 4,
                          workers);
    if (memory && workers > 1)
        options->memory_bytes = memory / 2 / (uint64_t)workers;
    if (options->device_memory_bytes && batch->devices)
        options->device_memory_bytes = options->device_memory_bytes * (uint64_t)batch->devices /
                                       (uint64_t)(workers + batch->devices - 1);
    return workers ? workers : 1;
}

static void choose_devices(struct gf_batch *batch)
{
    const struct gf_batch_request *const request = batch->request;
    const enum gf_device_kind kind = request->options.device;
    snprintf(batch->reason, sizeof batch->reason, "asked for");
    const bool gpu_wanted = request->options.codec == GF_CODEC_GPU;
    batch->falls_back = kind == GF_DEVICE_AUTO && !gpu_wanted;
    if (kind == GF_DEVICE_CPU)
        return;
    if (!gpu_wanted) {
        const struct gf_cost_choice choice =
            gf_cost_choose(request, batch->reason, sizeof batch->reason);
        if (choice.device == GF_DEVICE_CPU)
            return;
        batch->options.codec = choice.codec;
    }
    for (int i = 0; i < request->devices && batch->devices < GF_BATCH_DEVICES_MAX; i++)
        batch->device[batch->devices++].index = request->device[i];
    if (!batch->devices)
        batch->device[batch->devices++].index = request->options.device_index;
}

/* Before a folder is made for results that cannot be. How many there are is asked where that can
 * decide: it takes a tenth of a second. */
static enum gf_status check_devices(const struct gf_batch *batch, struct gf_error *error)
{
    const char *why = "";
    int highest = 0;
    if (!batch->devices || batch->falls_back || batch->request->open)
        return GF_OK;
    if (!gf_backend_cuda_likely(&why))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "no CUDA device: %s", why);
    for (int i = 0; i < batch->devices; i++)
        highest = batch->device[i].index > highest ? batch->device[i].index : highest;
    const int count = highest ? gf_device_count(&why) : 1;
    if (highest < count)
        return GF_OK;
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "cuda:%d: no such device (there %s %d)", highest,
                   count == 1 ? "is" : "are", count);
}

/* ---- the whole ---- */

static enum gf_status check_chain(const char *text, struct gf_error *error)
{
    struct gf_chain chain = {0};
    const enum gf_status status = gf_chain_parse(text, &chain, error);
    gf_chain_free(&chain);
    return status;
}

static void say_plan(const struct gf_batch *batch)
{
    const struct gf_batch_request *const request = batch->request;
    for (size_t j = 0; j < batch->count; j++) {
        const size_t i = gf_batch_index(batch, j);
        const char *const output = batch->item[i].output;
        char why[400], *line = NULL;
        const enum gf_outcome outcome = gf_batch_consider(batch, i, why, sizeof why);
        if (asprintf(&line, "%s -> %s%s%s%s", request->inputs->item[i].path,
                     output ? output : request->output->text,
                     outcome == GF_OUTCOME_SKIPPED  ? " (skipped: "
                     : outcome == GF_OUTCOME_FAILED ? " (refused: "
                                                    : "",
                     why, *why ? ")" : "") < 0)
            return;
        request->say(request->context, GF_SAY_PLAN, line);
        free(line);
    }
}

static void say_choice(const struct gf_batch *batch, int workers)
{
    char text[300];
    snprintf(text, sizeof text, "%zu files on %s%s by %d worker%s: %s", batch->count,
             batch->devices ? "CUDA" : "the CPU",
             batch->options.codec == GF_CODEC_GPU_IF_FAST ? " with its codec" : "", workers,
             workers == 1 ? "" : "s", batch->reason);
    batch->request->say(batch->request->context, GF_SAY_CHOICE, text);
}

static enum gf_status conclude(const struct gf_batch *batch, struct gf_error *error)
{
    const struct gf_batch_state *const state = &batch->state;
    if (batch->fatal) {
        *error = batch->error;
        return batch->status;
    }
    if (!state->failed)
        return GF_OK;
    const size_t left = state->files - state->done - state->failed - state->skipped;
    char more[80] = "";
    if (left)
        snprintf(more, sizeof more, ", %zu not begun (--fail-fast)", left);
    else if (state->skipped)
        snprintf(more, sizeof more, ", %zu skipped", state->skipped);
    return gf_fail(error, GF_ERROR_INPUT, "%zu of %zu files failed, %zu done%s", state->failed,
                   state->files, state->done, more);
}

static enum gf_status run(struct gf_batch *batch, struct gf_error *error)
{
    enum gf_status status = check_chain(batch->request->chain, error);
    if (!status)
        status = gf_batch_name_outputs(batch, error);
    if (status || batch->request->dry_run || !batch->count) {
        if (!status && batch->request->dry_run)
            say_plan(batch);
        return status;
    }
    choose_devices(batch);
    status = check_devices(batch, error);
    if (status)
        return status;
    const int workers = divide_work(batch);
    if (batch->request->verbose && batch->count > 1)
        say_choice(batch, workers);
    status = run_workers(batch, workers, error);
    gf_memory_budget_close(&batch->memory_budget);
    return status ? status : conclude(batch, error);
}

enum gf_status gf_batch_run(const struct gf_batch_request *request, struct gf_batch_state *state,
                            struct gf_error *error)
{
    const size_t inputs = request->inputs->count;
    struct gf_batch batch = {.request = request,
                             .fingerprint = gf_chain_fingerprint(request->chain, &request->options),
                             .first = request->shards ? (size_t)(request->shard - 1) : 0,
                             .step = request->shards ? (size_t)request->shards : 1,
                             .options = request->options,
                             .begin_s = gf_now()};
    pthread_condattr_t attributes;
    batch.count = batch.first < inputs ? (inputs - batch.first + batch.step - 1) / batch.step : 0;
    batch.state.files = batch.count;
    batch.options.spans |= request->log || request->tick;
    batch.item = calloc(inputs + 1, sizeof *batch.item);
    pthread_mutex_init(&batch.lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&batch.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    const enum gf_status status = batch.item ? run(&batch, error) : fail_memory(error);
    for (size_t i = 0; batch.item && i < inputs; i++) {
        free(batch.item[i].output);
        free(batch.item[i].notes);
    }
    free(batch.item);
    pthread_cond_destroy(&batch.changed);
    pthread_mutex_destroy(&batch.lock);
    *state = batch.state;
    return status;
}
