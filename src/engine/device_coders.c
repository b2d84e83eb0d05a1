/* The coders of a device: the threads that decode and encode groups of pictures, and the queues in
 * which the pictures of all pipelines wait. */
#include "engine/device_coders.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "gpufilter/device.h"

/* Two threads decode and two encode, so that one of them copies while the other one computes. With
 * larger groups all callers would come and go together, and the device would do one kind of work at
 * a time. SLOW_THREADS more threads decode the pictures of slow coders (gf_coder_calls), and one
 * more gives pictures to coders that last; they are started when the first such picture comes. On
 * an H200 8 groups of 128 progressive JPEGs at once decode 10,966 pictures of 1080p a second, 4
 * groups 7,538. */
enum role { DECODES, ENCODES, DECODES_SLOWLY, HANDS_OVER, ROLES };
enum {
    USUAL_THREADS = 4,
    SLOW_THREADS = 8,
    HANDING_THREAD = USUAL_THREADS + SLOW_THREADS,
    THREADS,
    TURNS = 2
};

/* How long the first picture of a slow group waits for others. When a group is done, the callers
 * bring their next pictures at about the same time. Without the wait the first of them would be a
 * group of its own, and the others would wait until a thread has decoded it. */
static const double GATHER_S = 4e-3;

/* The pictures that wait for the threads of a role. */
struct queue {
    struct gf_coding *first, **last;
    int count;
    bool slow, staffed; /* staffed: it has a thread */
    unsigned wanted;    /* kinds of coders to create, a bit for each */
    pthread_cond_t filled;
};

struct coder {
    void *state; /* NULL: the coder was not created, or creating it failed */
    /* Bytes of device memory that the coder may use; 0: nobody has tried to create it. */
    uint64_t bytes;
    enum gf_status status;
    struct gf_error error;
};

/* A thread that decodes or encodes, with coders of its own. */
struct coding_thread {
    struct gf_device_coders *coders;
    struct queue *queue;
    bool started, served;
    pthread_t thread;
    unsigned prepared; /* kinds that the thread has coded so far, bit k for kind k */
    struct coder coder[GF_CODER_KINDS];
    /* For each of the last two groups, in turn: how many results callers have not returned yet
     * (`lent`), and the semaphore that each return posts. */
    int turn, lent[TURNS];
    sem_t returned[TURNS];
};

struct gf_device_coders {
    int device, users;
    pthread_mutex_t lock; /* guards the members below */
    /* Bytes of device memory that users have lent; 0: usual_bytes is the limit. */
    uint64_t lent_bytes, usual_bytes;
    int callers; /* how many callers may come at the same time */
    bool ended;
    int threads; /* how many threads have been started, with those that could not be started */
    struct queue queue[ROLES];
    struct coding_thread thread[THREADS];
};

static inline void semaphore_wait(sem_t *semaphore)
{
    while (sem_wait(semaphore) && errno == EINTR)
        ;
}

/* Returns the bytes of device memory that one thread's coders may use. The caller holds the
 * lock. */
static inline uint64_t bytes_of_thread(const struct gf_device_coders *coders)
{
    return (coders->lent_bytes ? coders->lent_bytes : coders->usual_bytes) /
           (unsigned)coders->threads;
}

/* The main function of the coding threads, and what it calls. */

/* Waits until callers have returned all results of the group that had the turn. */
static void await_returned(struct coding_thread *thread, int turn)
{
    for (; thread->lent[turn]; thread->lent[turn]--)
        semaphore_wait(&thread->returned[turn]);
}

static void await_all_returned(struct coding_thread *thread)
{
    for (int turn = 0; turn < TURNS; turn++)
        await_returned(thread, turn);
}

static void close_coder(struct coding_thread *thread, int kind)
{
    struct coder *const coder = &thread->coder[kind];
    await_all_returned(thread);
    if (coder->state)
        gf_coder_calls[kind].destroy(coder->state);
    *coder = (struct coder){.state = NULL};
}

/* Closes coders of other kinds than `kind`, which gets `bytes`, until all of the thread's coders
 * together use at most `most` bytes. */
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

/* Returns the bytes that a coder may use: the thread's memory in equal parts for all kinds that it
 * has coded. */
static uint64_t share_of(const struct coding_thread *thread, int kind, uint64_t most)
{
    return most / (unsigned)__builtin_popcount(thread->prepared | 1U << kind);
}

/* Returns the likely number of pictures that come at the same time. */
static int expected_pictures(struct gf_device_coders *coders, int most)
{
    pthread_mutex_lock(&coders->lock);
    const int callers = coders->callers;
    pthread_mutex_unlock(&coders->lock);
    if (callers < 1) /* all have left while a coder was created */
        return 1;
    return callers < most ? callers : most;
}

/* Creates the coder, or creates it again if the next group needs more memory, or if the coder may
 * now use much more or less, since the number of users or of threads has changed. */
static void open_coder(struct coding_thread *thread, int kind, uint64_t needed)
{
    struct gf_device_coders *const coders = thread->coders;
    struct coder *const coder = &thread->coder[kind];
    pthread_mutex_lock(&coders->lock);
    const uint64_t most = bytes_of_thread(coders);
    pthread_mutex_unlock(&coders->lock);
    const uint64_t share = share_of(thread, kind, most);
    thread->prepared |= 1U << kind;
    if (coder->bytes > share / 2 && coder->bytes >= needed && coder->bytes <= most)
        return;
    const uint64_t bytes = share > needed ? share : needed;
    close_coder(thread, kind);
    make_room(thread, kind, bytes, most);
    coder->bytes = bytes;
    const struct gf_coder_calls *const calls = &gf_coder_calls[kind];
    coder->status = calls->create(coders->device, bytes, &coder->state, &coder->error);
    if (!coder->status)
        calls->expect(coder->state, expected_pictures(coders, calls->group_most));
}

/* Takes the first waiting picture from the queue, and others of the same kind, as many as a group
 * may have. *bytes becomes the device memory that the group needs. Returns their number. */
static int take_waiting(struct coding_thread *thread, struct gf_coding **group, uint64_t *bytes)
{
    struct queue *const queue = thread->queue;
    struct gf_coding **at = &queue->first;
    if (!*at)
        return 0;
    const enum gf_coder_kind kind = (*at)->picture->kind;
    const uint64_t share = share_of(thread, (int)kind, bytes_of_thread(thread->coders)),
                   usual = gf_coder_calls[kind].group_bytes, most = share < usual ? share : usual;
    int count = 0;
    *bytes = 0;
    while (*at && count < gf_coder_calls[kind].group_most) {
        struct gf_coding *const coding = *at;
        if (!count || (coding->picture->kind == kind && *bytes + coding->bytes <= most)) {
            group[count++] = coding;
            *bytes += coding->bytes;
            *at = coding->next;
        } else {
            at = &coding->next;
        }
    }
    for (at = &queue->first; *at; at = &(*at)->next)
        ;
    queue->last = at;
    queue->count -= count;
    return count;
}

/* Whether a group can begin. A group of slow pictures waits for a moment for more of them, unless
 * it is as large as it can be or all callers wait already. The caller holds the lock. */
static bool is_gathered(const struct gf_device_coders *coders, const struct queue *queue)
{
    return !queue->slow || queue->count >= GF_CODER_GROUP_MOST ||
           queue->count + 1 >= coders->callers || gf_now() - queue->first->came_s >= GATHER_S;
}

/* Waits until another picture comes, but at most GATHER_S from the time when the first one came. */
static void gather(struct gf_device_coders *coders, struct queue *queue)
{
    const double until_s = queue->first->came_s + GATHER_S;
    const struct timespec until = {(time_t)until_s,
                                   (long)((until_s - (double)(time_t)until_s) * 1e9)};
    pthread_cond_timedwait(&queue->filled, &coders->lock, &until);
}

/* Waits for pictures and takes a group of them. Returns 0 if there are only coders to prepare
 * (*wanted), or if the threads must end. */
static int take_group(struct coding_thread *thread, struct gf_coding **group, uint64_t *bytes,
                      unsigned *wanted, bool *ended)
{
    struct gf_device_coders *const coders = thread->coders;
    struct queue *const queue = thread->queue;
    pthread_mutex_lock(&coders->lock);
    while (!coders->ended && !(queue->wanted & ~thread->prepared) &&
           (!queue->first || !is_gathered(coders, queue))) {
        if (queue->first)
            gather(coders, queue);
        else
            pthread_cond_wait(&queue->filled, &coders->lock);
    }
    /* The coders of slow pictures are created before a group begins: creating one waits for the
     * device's work. */
    const bool begins =
        queue->first && (!queue->slow || coders->ended ||
                         (!(queue->wanted & ~thread->prepared) && is_gathered(coders, queue)));
    const int count = begins ? take_waiting(thread, group, bytes) : 0;
    if (count && queue->first) /* for another thread */
        pthread_cond_signal(&queue->filled);
    *wanted = queue->wanted & ~thread->prepared;
    *ended = coders->ended;
    pthread_mutex_unlock(&coders->lock);
    return count;
}

static enum gf_status code_group(struct coding_thread *thread, struct gf_error *error,
                                 struct gf_coding *const *group, int count)
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
    const struct gf_coder_calls *const calls = &gf_coder_calls[kind];
    return calls->run(coder->state, expected_pictures(thread->coders, calls->group_most), pictures,
                      count, error);
}

static void serve_group(struct coding_thread *thread, struct gf_coding *const *group, int count)
{
    const struct gf_coder_calls *const calls = &gf_coder_calls[group[0]->picture->kind];
    struct gf_error error = {0};
    const int turn = thread->turn = (thread->turn + 1) % TURNS;
    if (calls->keeps && count > 1)
        await_returned(thread, turn);
    else
        await_all_returned(thread);
    const double begin_s = gf_now();
    const enum gf_status status = code_group(thread, &error, group, count);
    if (calls->lasts && !status)
        return;
    if (!thread->served)
        gf_start_note(calls->encodes ? GF_START_ENCODER : GF_START_DECODER, begin_s);
    thread->served = true;
    for (int i = 0; i < count; i++) {
        const bool lends = calls->encodes && !status && group[i]->picture->done;
        group[i]->picture->returned = lends ? &thread->returned[turn] : NULL;
        thread->lent[turn] += lends;
        group[i]->status = status;
        group[i]->error = error;
        group[i]->ended(group[i]);
    }
}

/* The main function of a coding thread. Its argument is the struct coding_thread. */
static void *coding_thread_main(void *argument)
{
    struct coding_thread *const thread = argument;
    struct gf_coding *group[GF_CODER_GROUP_MOST];
    uint64_t bytes;
    unsigned wanted;
    bool ended = false;
    while (!ended) {
        const int count = take_group(thread, group, &bytes, &wanted, &ended);
        if (count) {
            open_coder(thread, (int)group[0]->picture->kind, bytes);
            serve_group(thread, group, count);
            ended = false; /* the queue may still have pictures */
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

enum { DEVICES_MOST = 64 };

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gf_device_coders *registry[DEVICES_MOST];

/* Starts a thread, unless one cannot be started. */
static void start_thread(struct gf_device_coders *coders, int i, enum role role)
{
    struct coding_thread *const thread = &coders->thread[i];
    thread->coders = coders;
    thread->queue = &coders->queue[role];
    thread->started = !pthread_create(&thread->thread, NULL, coding_thread_main, thread);
    thread->queue->staffed |= thread->started;
}

/* Starts `count` threads of a role, unless they have been: they get a part of the memory of the
 * others. The caller holds the lock. */
static void start_more_threads(struct gf_device_coders *coders, int first, int count,
                               enum role role)
{
    if (coders->thread[first].coders)
        return;
    coders->threads += count;
    for (int i = first; i < first + count; i++)
        start_thread(coders, i, role);
}

/* Returns the queue for pictures of that kind, whose threads have been started. The caller holds
 * the lock. */
static struct queue *queue_of(struct gf_device_coders *coders, enum gf_coder_kind kind)
{
    const struct gf_coder_calls *const calls = &gf_coder_calls[kind];
    if (calls->slow)
        start_more_threads(coders, USUAL_THREADS, SLOW_THREADS, DECODES_SLOWLY);
    if (calls->lasts)
        start_more_threads(coders, HANDING_THREAD, 1, HANDS_OVER);
    return &coders->queue[calls->slow      ? DECODES_SLOWLY
                          : calls->lasts   ? HANDS_OVER
                          : calls->encodes ? ENCODES
                                           : DECODES];
}

void gf_device_coders_prepare(struct gf_device_coders *coders, enum gf_coder_kind kind)
{
    pthread_mutex_lock(&coders->lock);
    struct queue *const queue = queue_of(coders, kind);
    if (!(queue->wanted & 1U << kind)) {
        queue->wanted |= 1U << kind;
        pthread_cond_broadcast(&queue->filled);
    }
    pthread_mutex_unlock(&coders->lock);
}

/* Appends the picture to its queue. Returns false if it needs more memory than a coder may use, or
 * if no thread would take it. The caller holds the lock. */
static bool append(struct gf_device_coders *coders, struct gf_coding *coding)
{
    struct queue *const queue = queue_of(coders, coding->picture->kind);
    if (coding->bytes > bytes_of_thread(coders) || !queue->staffed)
        return false;
    coding->next = NULL;
    coding->came_s = gf_now();
    queue->count++;
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
        picture->coding = codings[i];
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

/* A picture for which its caller waits. */
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
    semaphore_wait(&awaited.ended);
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

/* The set of coders that each device has, shared by its users. */

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
    coders->threads = USUAL_THREADS;
    for (int i = 0; i < USUAL_THREADS; i++)
        start_thread(coders, i, i % 2 ? ENCODES : DECODES);
    /* each role must have a thread */
    return coders->queue[DECODES].staffed && coders->queue[ENCODES].staffed;
}

/* The threads' waits for pictures end by the clock of gf_now(). */
static void open_queue(struct queue *queue)
{
    queue->last = &queue->first;
    gf_cond_init(&queue->filled);
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
    for (int role = 0; role < ROLES; role++)
        open_queue(&coders->queue[role]);
    coders->queue[DECODES_SLOWLY].slow = true;
    for (int i = 0; i < THREADS; i++) {
        for (int turn = 0; turn < TURNS; turn++)
            sem_init(&coders->thread[i].returned[turn], 0, 0);
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
