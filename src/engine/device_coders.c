#include "engine/device_coders.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/spans.h"
#include "base/start_times.h"
#include "gpufilter/device.h"

/* Two threads decode and two encode, so that one copies while the other computes. Larger groups
 * would let all callers come and go at once, and the device would have one kind of work at a time.
 */
enum { ROLES = 2, THREADS = 2 * ROLES, DEVICES_MOST = 64 };

/* The picture of one caller. */
struct request {
    struct request *next;
    struct gf_coder_picture *picture;
    uint64_t bytes; /* of the coders' device memory */
    enum gf_status status;
    struct gf_error error;
    sem_t answered;
};

/* What waits for the threads that decode, or for those that encode. */
struct queue {
    struct request *first, **last;
    unsigned wanted; /* kinds that may come, a bit each */
    pthread_cond_t filled;
};

struct coder {
    void *state;    /* NULL: it was not created, or could not be */
    uint64_t bytes; /* of device memory, at most; 0: it was not tried */
    enum gf_status status;
    struct gf_error error;
};

/* A thread that decodes or encodes, with coders of its own. */
struct coding_thread {
    struct gf_device_coders *coders;
    struct queue *queue;
    bool started, served;
    pthread_t thread;
    unsigned prepared; /* kinds, a bit each */
    struct coder coder[GF_CODER_KINDS];
    sem_t returned; /* what it encoded */
};

struct gf_device_coders {
    int device, users;
    pthread_mutex_t lock; /* guards what follows */
    uint64_t lent_bytes;  /* of device memory; 0: usual_bytes is the limit */
    uint64_t usual_bytes;
    int callers; /* as many may come at once */
    bool ended;
    struct queue queue[ROLES];
    struct coding_thread thread[THREADS];
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gf_device_coders *registry[DEVICES_MOST];

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) && errno == EINTR)
        ;
}

static struct queue *queue_of(struct gf_device_coders *coders, enum gf_coder_kind kind)
{
    return &coders->queue[gf_coder_calls[kind].encodes];
}

/* ---- a thread's coders ---- */

static uint64_t bytes_of_thread(const struct gf_device_coders *coders)
{
    return (coders->lent_bytes ? coders->lent_bytes : coders->usual_bytes) / THREADS;
}

static void close_coder(struct coding_thread *thread, int kind)
{
    struct coder *const coder = &thread->coder[kind];
    if (coder->state)
        gf_coder_calls[kind].destroy(coder->state);
    *coder = (struct coder){.state = NULL};
}

/* Closes coders of other kinds until all together take no more than `most`. */
static void make_room(struct coding_thread *thread, int kind, uint64_t bytes, uint64_t most)
{
    uint64_t sum = bytes;
    for (int k = 0; k < GF_CODER_KINDS; k++)
        sum += k == kind ? 0 : thread->coder[k].bytes;
    for (int k = 0; k < GF_CODER_KINDS && sum > most; k++) {
        if (k == kind)
            continue;
        sum -= thread->coder[k].bytes;
        close_coder(thread, k);
    }
}

/* A coder's part of its thread's memory, which all kinds share that the thread has coded. */
static uint64_t share_of(const struct coding_thread *thread, int kind, uint64_t most)
{
    return most / (unsigned)__builtin_popcount(thread->prepared | 1U << kind);
}

/* Creates the coder, and again where the next group needs more memory than it has, or it may now
 * take much more: users come one by one. */
static void open_coder(struct coding_thread *thread, int kind, uint64_t needed)
{
    struct gf_device_coders *const coders = thread->coders;
    struct coder *const coder = &thread->coder[kind];
    pthread_mutex_lock(&coders->lock);
    const uint64_t most = bytes_of_thread(coders);
    pthread_mutex_unlock(&coders->lock);
    const uint64_t share = share_of(thread, kind, most);
    thread->prepared |= 1U << kind;
    if (coder->bytes > share / 2 && coder->bytes >= needed)
        return;
    const uint64_t bytes = share > needed ? share : needed;
    close_coder(thread, kind);
    make_room(thread, kind, bytes, most);
    coder->bytes = bytes;
    coder->status =
        gf_coder_calls[kind].create(coders->device, bytes, &coder->state, &coder->error);
}

/* ---- a group ---- */

/* The pictures that are likely to come at once. */
static int expected_pictures(struct gf_device_coders *coders)
{
    pthread_mutex_lock(&coders->lock);
    const int callers = coders->callers;
    pthread_mutex_unlock(&coders->lock);
    return callers < GF_CODER_GROUP_MOST ? callers : GF_CODER_GROUP_MOST;
}

/* Takes the first picture that waits and those of its kind behind it, up to a group, which needs
 * *bytes. */
static int take_waiting(struct coding_thread *thread, struct request **group, uint64_t *bytes)
{
    struct queue *const queue = thread->queue;
    struct request **at = &queue->first;
    if (!*at)
        return 0;
    const enum gf_coder_kind kind = (*at)->picture->kind;
    const uint64_t share = share_of(thread, (int)kind, bytes_of_thread(thread->coders)),
                   usual = gf_coder_calls[kind].group_bytes, most = share < usual ? share : usual;
    int count = 0;
    *bytes = 0;
    while (*at && count < GF_CODER_GROUP_MOST) {
        struct request *const request = *at;
        if (!count || (request->picture->kind == kind && *bytes + request->bytes <= most)) {
            group[count++] = request;
            *bytes += request->bytes;
            *at = request->next;
        } else {
            at = &request->next;
        }
    }
    for (at = &queue->first; *at; at = &(*at)->next)
        ;
    queue->last = at;
    return count;
}

/* Waits for pictures and takes a group of them. 0: there is none, but kinds to prepare, or the
 * end. */
static int take_group(struct coding_thread *thread, struct request **group, uint64_t *bytes,
                      unsigned *wanted, bool *ended)
{
    struct gf_device_coders *const coders = thread->coders;
    struct queue *const queue = thread->queue;
    pthread_mutex_lock(&coders->lock);
    while (!queue->first && !coders->ended && !(queue->wanted & ~thread->prepared))
        pthread_cond_wait(&queue->filled, &coders->lock);
    const int count = take_waiting(thread, group, bytes);
    *wanted = queue->wanted & ~thread->prepared;
    *ended = coders->ended;
    pthread_mutex_unlock(&coders->lock);
    return count;
}

static enum gf_status code_group(struct coding_thread *thread, struct gf_error *error,
                                 struct request *const *group, int count)
{
    const enum gf_coder_kind kind = group[0]->picture->kind;
    const struct coder *const coder = &thread->coder[kind];
    struct gf_coder_picture *pictures[GF_CODER_GROUP_MOST];
    for (int i = 0; i < count; i++)
        pictures[i] = group[i]->picture;
    if (coder->status) {
        *error = coder->error;
        return coder->status;
    }
    return gf_coder_calls[kind].run(coder->state, expected_pictures(thread->coders), pictures,
                                    count, error);
}

static void serve_group(struct coding_thread *thread, struct request *const *group, int count)
{
    const bool encodes = gf_coder_calls[group[0]->picture->kind].encodes;
    struct gf_error error = {0};
    int lent = 0;
    const double begin_s = gf_now();
    const enum gf_status status = code_group(thread, &error, group, count);
    if (!thread->served)
        gf_start_note(encodes ? GF_START_ENCODER : GF_START_DECODER, begin_s);
    thread->served = true;
    for (int i = 0; i < count; i++) {
        const bool lends = encodes && !status && group[i]->picture->done;
        group[i]->picture->returned = lends ? &thread->returned : NULL;
        lent += lends;
        group[i]->status = status;
        group[i]->error = error;
        sem_post(&group[i]->answered);
    }
    while (lent--)
        wait_for(&thread->returned);
}

static void *thread_main(void *argument)
{
    struct coding_thread *const thread = argument;
    struct request *group[GF_CODER_GROUP_MOST];
    uint64_t bytes;
    unsigned wanted;
    bool ended = false;
    while (!ended) {
        const int count = take_group(thread, group, &bytes, &wanted, &ended);
        if (count) {
            open_coder(thread, (int)group[0]->picture->kind, bytes);
            serve_group(thread, group, count);
            ended = false; /* more may wait */
            continue;
        }
        for (int kind = 0; kind < GF_CODER_KINDS && !ended; kind++) {
            if (wanted & 1U << kind)
                open_coder(thread, kind, 0);
        }
    }
    for (int kind = 0; kind < GF_CODER_KINDS; kind++)
        close_coder(thread, kind);
    return NULL;
}

/* ---- a caller ---- */

void gf_device_coders_prepare(struct gf_device_coders *coders, enum gf_coder_kind kind)
{
    struct queue *const queue = queue_of(coders, kind);
    pthread_mutex_lock(&coders->lock);
    if (!(queue->wanted & 1U << kind)) {
        queue->wanted |= 1U << kind;
        pthread_cond_broadcast(&queue->filled);
    }
    pthread_mutex_unlock(&coders->lock);
}

enum gf_status gf_device_coders_run(struct gf_device_coders *coders,
                                    struct gf_coder_picture *picture, struct gf_error *error)
{
    struct queue *const queue = queue_of(coders, picture->kind);
    struct request request = {.picture = picture,
                              .bytes = gf_coder_calls[picture->kind].bytes(picture)};
    picture->done = false;
    picture->returned = NULL;
    sem_init(&request.answered, 0, 0);
    pthread_mutex_lock(&coders->lock);
    const bool fits = request.bytes <= bytes_of_thread(coders);
    if (fits) {
        *queue->last = &request;
        queue->last = &request.next;
        pthread_cond_signal(&queue->filled);
    }
    pthread_mutex_unlock(&coders->lock);
    if (fits)
        wait_for(&request.answered);
    sem_destroy(&request.answered);
    if (request.status && error)
        *error = request.error;
    return request.status;
}

void gf_coder_picture_return(struct gf_coder_picture *picture)
{
    if (picture->returned)
        sem_post(picture->returned);
    picture->returned = NULL;
    picture->data = NULL;
}

/* ---- one set of coders for each device ---- */

static void destroy(struct gf_device_coders *coders)
{
    pthread_mutex_lock(&coders->lock);
    coders->ended = true;
    for (int role = 0; role < ROLES; role++)
        pthread_cond_broadcast(&coders->queue[role].filled);
    pthread_mutex_unlock(&coders->lock);
    for (int i = 0; i < THREADS; i++) {
        if (coders->thread[i].started)
            pthread_join(coders->thread[i].thread, NULL);
        sem_destroy(&coders->thread[i].returned);
    }
    for (int role = 0; role < ROLES; role++)
        pthread_cond_destroy(&coders->queue[role].filled);
    pthread_mutex_destroy(&coders->lock);
    free(coders);
}

static bool start_threads(struct gf_device_coders *coders)
{
    for (int i = 0; i < THREADS; i++) {
        struct coding_thread *const thread = &coders->thread[i];
        thread->coders = coders;
        thread->queue = &coders->queue[i % ROLES];
        sem_init(&thread->returned, 0, 0);
        thread->started = !pthread_create(&thread->thread, NULL, thread_main, thread);
        if (!thread->started && i < ROLES) /* there must be one of each */
            return false;
    }
    return true;
}

static struct gf_device_coders *create(int device)
{
    enum { PART = 4 };
    struct gf_device_coders *const coders = calloc(1, sizeof *coders);
    if (!coders)
        return NULL;
    struct gf_device_info info;
    coders->device = device;
    coders->usual_bytes = UINT64_MAX;
    if (!gf_device_describe(device, &info, NULL))
        coders->usual_bytes = info.memory_bytes / PART;
    pthread_mutex_init(&coders->lock, NULL);
    for (int role = 0; role < ROLES; role++) {
        coders->queue[role].last = &coders->queue[role].first;
        pthread_cond_init(&coders->queue[role].filled, NULL);
    }
    if (start_threads(coders))
        return coders;
    destroy(coders);
    return NULL;
}

static void add_caller(struct gf_device_coders *coders, int callers, uint64_t bytes)
{
    pthread_mutex_lock(&coders->lock);
    coders->callers += callers;
    coders->lent_bytes += bytes;
    pthread_mutex_unlock(&coders->lock);
}

enum gf_status gf_device_coders_open(int device, uint64_t bytes, struct gf_device_coders **coders,
                                     struct gf_error *error)
{
    if (device < 0 || device >= DEVICES_MOST)
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "cuda:%d: no such device", device);
    pthread_mutex_lock(&registry_lock);
    if (!registry[device])
        registry[device] = create(device);
    *coders = registry[device];
    if (*coders) {
        (*coders)->users++;
        add_caller(*coders, 1, bytes);
    }
    pthread_mutex_unlock(&registry_lock);
    return *coders ? GF_OK : gf_fail_memory(error);
}

void gf_device_coders_close(struct gf_device_coders *coders, uint64_t bytes)
{
    if (!coders)
        return;
    pthread_mutex_lock(&registry_lock);
    add_caller(coders, -1, -bytes);
    const bool last = !--coders->users;
    if (last)
        registry[coders->device] = NULL;
    pthread_mutex_unlock(&registry_lock);
    if (last)
        destroy(coders);
}
