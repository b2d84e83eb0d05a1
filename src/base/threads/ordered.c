#include "base/threads/ordered.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/threads/times.h"

struct thread {
    struct gf_ordered *ordered;
    int index;
    pthread_t id;
};

/* The counters only grow. Items are begun in their order, so that all items before one that has
 * failed are begun. `lock` guards the members below it; the caller alone changes `submitted` and
 * `taken`. */
struct gf_ordered {
    struct gf_ordered_setup setup;
    struct thread *thread;
    int started, most; /* the number of threads that were started, and the most that may be */
    pthread_mutex_t lock;
    pthread_cond_t can_begin, has_ended;
    int submitted, begun, ended, taken; /* the numbers of items that have reached each state */
    int idle;                           /* the number of threads that wait for an item */
    double time_limit_s; /* the time limit of the caller when it submitted the last item
                          * (gf_time_limit()) */
    bool *done;          /* done[item % slots]: whether the item has ended */
    bool closing;
    /* The failure of item `failed`, the first one in the order of items so far. */
    enum gf_status status;
    int failed;
    struct gf_error error;
};

static bool can_begin(const struct gf_ordered *ordered)
{
    return ordered->begun < ordered->submitted && !ordered->status;
}

/* Begins the next item and works on it. The caller holds the lock, which is released meanwhile. */
static void work_on_next(struct gf_ordered *ordered, int thread)
{
    const struct gf_ordered_setup *const setup = &ordered->setup;
    const int item = ordered->begun++;
    struct gf_error error = {0};
    pthread_mutex_unlock(&ordered->lock);
    const enum gf_status status = setup->call(setup->context, thread, item, &error);
    pthread_mutex_lock(&ordered->lock);
    if (status && (!ordered->status || item < ordered->failed)) {
        ordered->status = status;
        ordered->failed = item;
        ordered->error = error;
    }
    ordered->done[item % setup->slots] = true;
    ordered->ended++;
    pthread_cond_signal(&ordered->has_ended);
}

static void *thread_main(void *argument)
{
    const struct thread *const thread = argument;
    struct gf_ordered *const ordered = thread->ordered;
    pthread_mutex_lock(&ordered->lock);
    while (!ordered->closing) {
        if (can_begin(ordered)) {
            gf_time_limit_set(ordered->time_limit_s);
            work_on_next(ordered, thread->index);
            continue;
        }
        ordered->idle++;
        pthread_cond_wait(&ordered->can_begin, &ordered->lock);
        ordered->idle--;
    }
    pthread_mutex_unlock(&ordered->lock);
    return NULL;
}

/* Starts another thread. If the system refuses it, those that were started do the work. */
static void start_thread(struct gf_ordered *ordered)
{
    struct thread *const thread = &ordered->thread[ordered->started];
    *thread = (struct thread){.ordered = ordered, .index = ordered->started + ordered->setup.helps};
    if (pthread_create(&thread->id, NULL, thread_main, thread))
        ordered->most = ordered->started;
    else
        ordered->started++;
}

enum gf_status gf_ordered_open(const struct gf_ordered_setup *setup, struct gf_ordered **ordered,
                               struct gf_error *error)
{
    GF_NEW(struct gf_ordered, opened, error);
    opened->setup = *setup;
    opened->most = setup->threads > 1 || setup->aside ? setup->threads - setup->helps : 0;
    pthread_mutex_init(&opened->lock, NULL);
    pthread_cond_init(&opened->can_begin, NULL);
    pthread_cond_init(&opened->has_ended, NULL);
    opened->done = calloc((size_t)setup->slots, sizeof *opened->done);
    opened->thread = calloc((size_t)opened->most + 1, sizeof *opened->thread);
    if (!opened->done || !opened->thread) {
        gf_ordered_close(opened);
        return gf_fail_memory(error);
    }
    *ordered = opened;
    return GF_OK;
}

void gf_ordered_close(struct gf_ordered *ordered)
{
    if (!ordered)
        return;
    pthread_mutex_lock(&ordered->lock);
    ordered->closing = true;
    pthread_cond_broadcast(&ordered->can_begin);
    pthread_mutex_unlock(&ordered->lock);
    for (int i = 0; i < ordered->started; i++)
        pthread_join(ordered->thread[i].id, NULL);
    pthread_cond_destroy(&ordered->has_ended);
    pthread_cond_destroy(&ordered->can_begin);
    pthread_mutex_destroy(&ordered->lock);
    free(ordered->thread);
    free(ordered->done);
    free(ordered);
}

/* Whether the caller's own thread works on each item as it is submitted. */
static bool is_alone(const struct gf_ordered *ordered)
{
    return !ordered->most && !ordered->setup.helps;
}

static void work_on_all(struct gf_ordered *ordered)
{
    pthread_mutex_lock(&ordered->lock);
    while (can_begin(ordered))
        work_on_next(ordered, 0);
    pthread_mutex_unlock(&ordered->lock);
}

void gf_ordered_submit(struct gf_ordered *ordered)
{
    pthread_mutex_lock(&ordered->lock);
    ordered->submitted++;
    ordered->time_limit_s = gf_time_limit();
    const int waiting = ordered->submitted - ordered->begun;
    const bool starts = waiting > ordered->idle + ordered->setup.helps;
    pthread_cond_signal(&ordered->can_begin);
    pthread_mutex_unlock(&ordered->lock);
    if (starts && ordered->started < ordered->most)
        start_thread(ordered);
    if (is_alone(ordered))
        work_on_all(ordered);
}

bool gf_ordered_is_due(struct gf_ordered *ordered, int most)
{
    if (ordered->submitted - ordered->taken > most)
        return true;
    pthread_mutex_lock(&ordered->lock);
    const bool is =
        ordered->taken < ordered->submitted && ordered->done[ordered->taken % ordered->setup.slots];
    pthread_mutex_unlock(&ordered->lock);
    return is;
}

enum gf_status gf_ordered_take(struct gf_ordered *ordered, struct gf_error *error)
{
    bool *const done = &ordered->done[ordered->taken % ordered->setup.slots];
    pthread_mutex_lock(&ordered->lock);
    while (!*done) {
        if (ordered->setup.helps && can_begin(ordered))
            work_on_next(ordered, 0);
        else
            pthread_cond_wait(&ordered->has_ended, &ordered->lock);
    }
    const enum gf_status status = ordered->failed == ordered->taken ? ordered->status : GF_OK;
    if (!status) {
        *done = false;
        ordered->taken++;
    } else if (error) {
        *error = ordered->error;
    }
    pthread_mutex_unlock(&ordered->lock);
    return status;
}

enum gf_status gf_ordered_next(struct gf_ordered *ordered, int items, struct gf_error *error)
{
    while (ordered->submitted < items &&
           ordered->submitted - ordered->taken < (is_alone(ordered) ? 1 : ordered->setup.slots))
        gf_ordered_submit(ordered);
    return gf_ordered_take(ordered, error);
}

enum gf_status gf_ordered_finish(struct gf_ordered *ordered, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    while (!status && ordered->taken < ordered->submitted)
        status = gf_ordered_take(ordered, error);
    pthread_mutex_lock(&ordered->lock);
    while (ordered->ended < ordered->begun)
        pthread_cond_wait(&ordered->has_ended, &ordered->lock);
    pthread_mutex_unlock(&ordered->lock);
    return status;
}

enum gf_status gf_ordered_run(int threads, int items, gf_ordered_call *call, void *context,
                              struct gf_error *error)
{
    const struct gf_ordered_setup setup = {
        .call = call, .context = context, .threads = threads, .helps = true, .slots = items};
    struct gf_ordered *ordered;
    GF_TRY(gf_ordered_open(&setup, &ordered, error));
    for (int i = 0; i < items; i++)
        gf_ordered_submit(ordered);
    const enum gf_status status = gf_ordered_finish(ordered, error);
    gf_ordered_close(ordered);
    return status;
}
