/* The threads that decode and encode on a device, each with coders of its own. */
#include "base/spans.h"
#include "base/start_times.h"
#include "engine/device_coders_state.h"

/* Waits until callers have returned the results of a turn. */
static void await_returned(struct coding_thread *thread, int turn)
{
    for (; thread->lent[turn]; thread->lent[turn]--)
        gf_semaphore_wait(&thread->returned[turn]);
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

/* Closes the coders of other kinds until all coders together use at most `most` bytes. */
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

/* Returns the part of the thread's memory that a coder may use. All kinds that the thread has coded
 * share the memory equally. */
static uint64_t share_of(const struct coding_thread *thread, int kind, uint64_t most)
{
    return most / (unsigned)__builtin_popcount(thread->prepared | 1U << kind);
}

/* Creates the coder, or creates it again if the next group needs more memory, or if the coder may
 * now use much more, since the number of users has changed. */
static void open_coder(struct coding_thread *thread, int kind, uint64_t needed)
{
    struct gf_device_coders *const coders = thread->coders;
    struct coder *const coder = &thread->coder[kind];
    pthread_mutex_lock(&coders->lock);
    const uint64_t most = gf_bytes_of_thread(coders);
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

/* Returns the likely number of pictures that come at the same time. */
static int expected_pictures(struct gf_device_coders *coders)
{
    pthread_mutex_lock(&coders->lock);
    const int callers = coders->callers;
    pthread_mutex_unlock(&coders->lock);
    return callers < GF_CODER_GROUP_MOST ? callers : GF_CODER_GROUP_MOST;
}

/* Takes the first picture that waits, and the following pictures of the same kind, as many as a
 * group may have. The group needs *bytes. */
static int take_waiting(struct coding_thread *thread, struct gf_coding **group, uint64_t *bytes)
{
    struct queue *const queue = thread->queue;
    struct gf_coding **at = &queue->first;
    if (!*at)
        return 0;
    const enum gf_coder_kind kind = (*at)->picture->kind;
    const uint64_t share = share_of(thread, (int)kind, gf_bytes_of_thread(thread->coders)),
                   usual = gf_coder_calls[kind].group_bytes, most = share < usual ? share : usual;
    int count = 0;
    *bytes = 0;
    while (*at && count < GF_CODER_GROUP_MOST) {
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
    return count;
}

/* Waits for pictures and takes a group of them. Returns 0 if there are only coders to prepare
 * (*wanted), or if the threads must end. */
static int take_group(struct coding_thread *thread, struct gf_coding **group, uint64_t *bytes,
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
    return gf_coder_calls[kind].run(coder->state, expected_pictures(thread->coders), pictures,
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

void *gf_coding_thread_main(void *argument)
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
            ended = false; /* more pictures may wait */
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
