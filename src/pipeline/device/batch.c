/* Many pictures in a device's memory in one call: what decoding and encoding them share, and
 * pipelines like another one, for pictures that are worked on at the same time. */
#include "pipeline/device/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/image.h"
#include "base/memory/grow.h"
#include "base/threads/ordered.h"
#include "pipeline/pipeline_state.h"

static void warn_in_turn(void *context, const char *text)
{
    struct gf_crew *const crew = context;
    const struct gf_options *const options = &crew->leader->options;
    pthread_mutex_lock(&crew->warning);
    if (options->warn)
        options->warn(options->warn_context, text);
    pthread_mutex_unlock(&crew->warning);
}

static bool add_member(struct gf_crew *crew)
{
    struct gf_options options = crew->leader->options;
    options.threads = 1;
    options.serial = true;
    options.warn = warn_in_turn;
    options.warn_context = crew;
    if (!GF_GROW(crew->member, crew->count) ||
        gf_pipeline_open(crew->leader->text, &options, &crew->member[crew->count], NULL))
        return false;
    crew->count++;
    return true;
}

/* Opens `count` pipelines with the pipeline's chain and options, each of which uses one thread, and
 * keeps them until it closes. Returns how many there are: 0 if its pictures must follow each other,
 * or have one budget of memory. */
static int pipeline_gather_crew(struct gf_pipeline *pipeline, int count)
{
    const struct gf_options *const options = &pipeline->options;
    if (options->serial || options->memory_bytes || options->device_memory_bytes ||
        pipeline->progress || count < 2)
        return 0;
    if (!pipeline->crew) {
        pipeline->crew = calloc(1, sizeof *pipeline->crew);
        if (!pipeline->crew)
            return 0;
        pipeline->crew->leader = pipeline;
        pthread_mutex_init(&pipeline->crew->warning, NULL);
    }
    while (pipeline->crew->count < count && add_member(pipeline->crew))
        continue;
    return pipeline->crew->count < count ? pipeline->crew->count : count;
}

enum { PICTURES_AT_ONCE = 8 }; /* that a thread prepares before it gives them to the coders */

struct gf_picture_name gf_picture_name(int picture)
{
    struct gf_picture_name name;
    snprintf(name.text, sizeof name.text, "[%d]", picture);
    return name;
}

bool gf_device_image_is_aligned(const struct gf_image *image)
{
    enum { VECTOR = 16 };
    return ((uintptr_t)image->data | image->pitch) % VECTOR == 0;
}

/* Takes the device's coders, unless each picture has to go through the pipeline: if filters look
 * for a box in it, if texts say something about it, or if its time is limited. */
static enum gf_status take_coders(struct gf_device_batch *batch, struct gf_error *error)
{
    struct gf_pipeline *const pipeline = batch->pipeline;
    struct gf_backend *const backend = pipeline->backend;
    if (gf_chain_next_box(&pipeline->chain, 0) < pipeline->chain.count ||
        pipeline->options.codec == GF_CODEC_CPU || pipeline->options.timeout_s > 0 ||
        gf_pipeline_reads_facts(pipeline) || !backend->calls->coders)
        return GF_OK;
    return backend->calls->coders(backend, &batch->coders, error);
}

/* Takes the pool's first lane. Opens the pool before that if it is closed, which it is until the
 * first picture and after a picture that has failed. */
static enum gf_status take_lane(struct gf_pipeline *pipeline, struct gf_lane **lane,
                                struct gf_error *error)
{
    if (!pipeline->buffers.backend)
        gf_buffer_pool_open(&pipeline->buffers, pipeline->backend);
    return gf_buffer_pool_lane(&pipeline->buffers, 0, &pipeline->spans, lane, error);
}

/* Takes what the batch needs of the device, which is the calling thread's now. */
static enum gf_status take_device(struct gf_device_batch *batch, struct gf_error *error)
{
    struct gf_backend *const backend = batch->pipeline->backend;
    GF_TRY(backend->calls->ready(backend, error));
    GF_TRY(take_lane(batch->pipeline, &batch->lane, error));
    GF_TRY(take_coders(batch, error));
    batch->ended = calloc((size_t)batch->count + 1, sizeof *batch->ended);
    if (batch->ended && !batch->errors)
        batch->errors = batch->own_errors =
            malloc(((size_t)batch->count + 1) * sizeof *batch->errors);
    return batch->ended && batch->errors ? GF_OK : gf_fail_memory(error);
}

enum gf_status gf_device_batch_open(struct gf_device_batch *batch, struct gf_pipeline *pipeline,
                                    int count, void *stream, struct gf_error *errors,
                                    struct gf_error *error)
{
    const struct gf_backend_calls *const calls =
        pipeline->options.device == GF_DEVICE_CUDA ? pipeline->backend->calls : NULL;
    *batch = (struct gf_device_batch){
        .pipeline = pipeline, .count = count, .stream = stream, .errors = errors};
    if (!calls || !calls->owns)
        return gf_fail(error, GF_ERROR_USAGE,
                       "pictures in a device's memory need options.device=GF_DEVICE_CUDA");
    if (count < 0)
        return gf_fail(error, GF_ERROR_USAGE, "count=%d is negative", count);
    batch->before = calls->bind(pipeline->backend);
    enum gf_status status = gf_pipeline_check_stream(pipeline, stream, error);
    GF_THEN(status, take_device(batch, error));
    if (status) {
        free(batch->ended);
        calls->unbind(pipeline->backend, batch->before);
        return status;
    }
    for (int i = 0; i < count; i++) {
        batch->errors[i].status = GF_OK;
        batch->errors[i].text[0] = 0;
    }
    if (batch->coders)
        gf_device_coders_expect(batch->coders, count);
    pthread_mutex_init(&batch->lock, NULL);
    sem_init(&batch->coded, 0, 0);
    return GF_OK;
}

enum gf_status gf_device_batch_close(struct gf_device_batch *batch, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (int i = 0; i < batch->count && !status; i++) {
        const struct gf_error *const one = &batch->errors[i];
        if (one->status)
            status = gf_fail(error, one->status, "%s", one->text);
    }
    if (batch->coders)
        gf_device_coders_expect(batch->coders, -batch->count);
    pthread_mutex_destroy(&batch->lock);
    sem_destroy(&batch->coded);
    free(batch->ended);
    free(batch->own_errors);
    batch->pipeline->backend->calls->unbind(batch->pipeline->backend, batch->before);
    return status;
}

/* Called by the coders' threads. */
static void add_coded(struct gf_coding *coding)
{
    struct gf_device_batch *const batch = coding->context;
    pthread_mutex_lock(&batch->lock);
    coding->next = batch->first;
    batch->first = coding;
    pthread_mutex_unlock(&batch->lock);
    sem_post(&batch->coded);
}

/* Waits for the next picture. Returns NULL for one that the coders leave. */
static struct gf_coding *take_coded(struct gf_device_batch *batch)
{
    while (sem_wait(&batch->coded) && errno == EINTR)
        ;
    pthread_mutex_lock(&batch->lock);
    struct gf_coding *const coding = batch->first;
    if (coding)
        batch->first = coding->next;
    pthread_mutex_unlock(&batch->lock);
    return coding;
}

struct coding {
    struct gf_device_batch *batch;
    int first, end, parts;
    gf_prepare_picture *prepare;
    gf_take_picture *take;
    void *context;
    atomic_int taken;
};

static void begin_some(const struct coding *coding, int part)
{
    struct gf_device_batch *const batch = coding->batch;
    struct gf_coding *codings[PICTURES_AT_ONCE];
    int count = 0;
    batch->pipeline->backend->calls->lane_enter(batch->lane);
    const int first = coding->first + part * PICTURES_AT_ONCE;
    for (int i = first; i < first + PICTURES_AT_ONCE && i < coding->end; i++) {
        struct gf_coding *const begun = coding->prepare(coding->context, i);
        if (!begun) {
            sem_post(&batch->coded); /* for a picture that the coders leave */
            continue;
        }
        begun->ended = add_coded;
        begun->context = batch;
        codings[count++] = begun;
    }
    if (count)
        gf_device_coders_begin(batch->coders, codings, count);
}

/* Takes pictures until none is left. */
static void take_some(struct coding *coding)
{
    while (coding->taken++ < coding->end - coding->first) {
        struct gf_coding *const coded = take_coded(coding->batch);
        if (coded)
            coding->take(coding->context, coded);
    }
}

/* All parts have been begun when a thread comes to the items behind them. */
static enum gf_status begin_or_take(void *context, int thread, int item, struct gf_error *error)
{
    struct coding *const coding = context;
    (void)thread;
    (void)error;
    if (item < coding->parts)
        begin_some(coding, item);
    else
        take_some(coding);
    return GF_OK;
}

enum gf_status gf_device_batch_code(struct gf_device_batch *batch, int first, int count,
                                    gf_prepare_picture *prepare, gf_take_picture *take, bool shared,
                                    void *context, struct gf_error *error)
{
    const struct gf_options *const options = &batch->pipeline->options;
    const int parts = (count + PICTURES_AT_ONCE - 1) / PICTURES_AT_ONCE,
              most = options->serial ? 1 : options->threads, threads = most < parts ? most : parts;
    struct coding coding = {batch, first, first + count, parts, prepare, take, context, 0};
    if (parts)
        GF_TRY(
            gf_ordered_run(threads, parts + (shared ? threads : 0), begin_or_take, &coding, error));
    take_some(&coding);
    return GF_OK;
}

enum gf_status gf_device_batch_await(const struct gf_device_batch *batch, struct gf_error *error)
{
    struct gf_backend *const backend = batch->pipeline->backend;
    return backend->calls->await(backend, batch->stream, error);
}

enum gf_status gf_device_batch_check(const struct gf_device_batch *batch,
                                     const struct gf_image *image, const char *name,
                                     struct gf_error *error)
{
    struct gf_backend *const backend = batch->pipeline->backend;
    struct gf_error why = {0};
    GF_TRY(gf_image_check(image, name, error));
    const enum gf_status status = backend->calls->owns(
        backend, image->data,
        image->pitch * (size_t)(image->format.height - 1) + gf_row_bytes(image->format), NULL,
        &why);
    return status ? gf_fail(error, status, "%s: %s", name, why.text) : GF_OK;
}

enum gf_status gf_device_batch_copy(struct gf_pipeline *pipeline, const struct gf_image *to,
                                    const struct gf_image *from, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = pipeline->backend->calls;
    const struct gf_view dst = gf_image_view(to), src = gf_image_view(from);
    struct gf_lane *lane;
    GF_TRY(calls->ready(pipeline->backend, error));
    GF_TRY(take_lane(pipeline, &lane, error));
    calls->lane_enter(lane);
    GF_TRY(calls->upload(lane, &dst, &src, error));
    return calls->wait(lane, error);
}

struct each {
    const struct gf_device_batch *batch;
    const int *pictures;
    gf_picture_work *work;
    void *context;
    int crew;
};

static enum gf_status do_picture(void *context, int thread, int item, struct gf_error *error)
{
    const struct each *const each = context;
    (void)error;
    struct gf_pipeline *const pipeline = each->batch->pipeline;
    each->work(each->context, each->crew ? pipeline->crew->member[thread] : pipeline,
               each->pictures[item]);
    return GF_OK;
}

static void do_pictures(struct each *each, int count)
{
    const int threads = each->batch->pipeline->options.threads;
    each->crew = pipeline_gather_crew(each->batch->pipeline, threads < count ? threads : count);
    if (each->crew > 1 && !gf_ordered_run(each->crew, count, do_picture, each, NULL))
        return;
    each->crew = 0;
    for (int i = 0; i < count; i++)
        do_picture(each, 0, i, NULL);
}

enum gf_status gf_device_batch_finish(const struct gf_device_batch *batch, gf_picture_work *work,
                                      void *context, struct gf_error *error)
{
    int *const pictures = malloc(((size_t)batch->count + 1) * sizeof *pictures), count = 0;
    struct each each = {batch, pictures, work, context, 0};
    GF_ALLOCATED(pictures, error);
    for (int i = 0; i < batch->count; i++) {
        if (!batch->ended[i])
            pictures[count++] = i;
    }
    do_pictures(&each, count);
    free(pictures);
    return GF_OK;
}
