/* The state of a device's coders, which the coding threads and their callers share. */
#pragma once

#include <errno.h>
#include <pthread.h>

#include "base/fail.h"
#include "engine/device_coders.h"

/* Two threads decode and two encode, so that one of them copies while the other one computes. With
 * larger groups all callers would come and go together, and the device would do one kind of work at
 * a time. */
enum { ROLES = 2, THREADS = 2 * ROLES, TURNS = 2 };

/* The pictures that wait for the decoding threads, or for the encoding threads. */
struct queue {
    struct gf_coding *first, **last;
    unsigned wanted; /* kinds of coders to create, a bit for each */
    pthread_cond_t filled;
};

struct coder {
    void *state;    /* NULL: the coder was not created, or creating it failed */
    uint64_t bytes; /* the device memory that the coder may use; 0: creating it was not tried */
    enum gf_status status;
    struct gf_error error;
};

/* A thread that decodes or encodes, with coders of its own. */
struct coding_thread {
    struct gf_device_coders *coders;
    struct queue *queue;
    bool started, served;
    pthread_t thread;
    unsigned prepared; /* kinds that the thread has coded, a bit for each */
    struct coder coder[GF_CODER_KINDS];
    /* The results of the last two groups, in turns: those that callers have not returned yet, and
     * what they post when they return one. */
    int turn, lent[TURNS];
    sem_t returned[TURNS];
};

struct gf_device_coders {
    int device, users;
    pthread_mutex_t lock; /* guards the members below */
    uint64_t lent_bytes;  /* the device memory that users have lent; 0: usual_bytes is the limit */
    uint64_t usual_bytes;
    int callers; /* the number of callers, which may all come at once */
    bool ended;
    struct queue queue[ROLES];
    struct coding_thread thread[THREADS];
};

static inline void gf_semaphore_wait(sem_t *semaphore)
{
    while (sem_wait(semaphore) && errno == EINTR)
        ;
}

/* Returns the device memory that a thread may use. The caller holds the lock. */
static inline uint64_t gf_bytes_of_thread(const struct gf_device_coders *coders)
{
    return (coders->lent_bytes ? coders->lent_bytes : coders->usual_bytes) / THREADS;
}

/* The main function of a coding thread. The argument is its struct coding_thread. */
void *gf_coding_thread_main(void *argument);
