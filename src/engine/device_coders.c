#include "engine/device_coders.h"

#include <stdlib.h>

#include "engine/device_coders_state.h"
#include "gpufilter/device.h"

enum { DEVICES_MOST = 64 };

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gf_device_coders *registry[DEVICES_MOST];

static struct queue *queue_of(struct gf_device_coders *coders, enum gf_coder_kind kind)
{
    return &coders->queue[gf_coder_calls[kind].encodes];
}

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

/* Appends the picture to its queue. Returns false if it needs more memory than a coder may use. The
 * caller holds the lock. */
static bool append(struct gf_device_coders *coders, struct gf_coding *coding)
{
    struct queue *const queue = queue_of(coders, coding->picture->kind);
    if (coding->bytes > gf_bytes_of_thread(coders))
        return false;
    coding->next = NULL;
    *queue->last = coding;
    queue->last = &coding->next;
    pthread_cond_signal(&queue->filled);
    return true;
}

void gf_device_coders_begin(struct gf_device_coders *coders, struct gf_coding *const *codings,
                            int count)
{
    struct gf_coding *left = NULL;
    for (int i = 0; i < count; i++) {
        struct gf_coder_picture *const picture = codings[i]->picture;
        picture->done = false;
        picture->returned = NULL;
        codings[i]->status = GF_OK;
        codings[i]->bytes = gf_coder_calls[picture->kind].bytes(picture);
    }
    pthread_mutex_lock(&coders->lock);
    for (int i = 0; i < count; i++) {
        if (!append(coders, codings[i])) {
            codings[i]->next = left;
            left = codings[i];
        }
    }
    pthread_mutex_unlock(&coders->lock);
    for (struct gf_coding *next; left; left = next) {
        next = left->next;
        left->ended(left);
    }
}

/* A picture whose caller waits for it. */
struct awaited {
    struct gf_coding coding;
    sem_t ended;
};

static void wake(struct gf_coding *coding)
{
    sem_post(&((struct awaited *)coding)->ended);
}

enum gf_status gf_device_coders_run(struct gf_device_coders *coders,
                                    struct gf_coder_picture *picture, struct gf_error *error)
{
    struct awaited awaited = {.coding = {.picture = picture, .ended = wake}};
    struct gf_coding *const coding = &awaited.coding;
    sem_init(&awaited.ended, 0, 0);
    gf_device_coders_begin(coders, &coding, 1);
    gf_semaphore_wait(&awaited.ended);
    sem_destroy(&awaited.ended);
    if (coding->status && error)
        *error = coding->error;
    return coding->status;
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
        for (int turn = 0; turn < TURNS; turn++)
            sem_destroy(&coders->thread[i].returned[turn]);
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
        for (int turn = 0; turn < TURNS; turn++)
            sem_init(&thread->returned[turn], 0, 0);
        thread->started = !pthread_create(&thread->thread, NULL, gf_coding_thread_main, thread);
        if (!thread->started && i < ROLES) /* each role must have a thread */
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

void gf_device_coders_expect(struct gf_device_coders *coders, int pictures)
{
    add_caller(coders, pictures, 0);
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
