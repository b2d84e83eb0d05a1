/* The state that the coding threads and their callers share. */
#ifndef GF_ENGINE_DEVICE_CODERS_STATE_H
#define GF_ENGINE_DEVICE_CODERS_STATE_H

#include <errno.h>
#include <pthread.h>

#include "base/fail.h"
#include "engine/device_coders.h"

/* Two threads decode and two encode, so that one copies while the other computes. If groups were
 * larger, all callers would come and go at once, and the device would have one kind of work at a
 * time. */
enum { ROLES = 2, THREADS = 2 * ROLES };

/* The picture of one caller. */
struct request {
    struct request *next;
    struct gf_coder_picture *picture;
    uint64_t bytes; /* of the coders' device memory */
    enum gf_status status;
    struct gf_error error;
    sem_t answered;
};

/* The pictures that wait for the decoding threads, or for the encoding ones. */
struct queue {
    struct request *first, **last;
    unsigned wanted; /* kinds that may come, a bit each */
    pthread_cond_t filled;
};

struct coder {
    void *state;    /* NULL: the coder was not created, or could not be */
    uint64_t bytes; /* how much device memory the coder may take; 0: creating it was not tried */
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
    uint64_t lent_bytes;  /* how much device memory users have lent; 0: usual_bytes is the limit */
    uint64_t usual_bytes;
    int callers; /* as many may come at once */
    bool ended;
    struct queue queue[ROLES];
    struct coding_thread thread[THREADS];
};

static inline void gf_semaphore_wait(sem_t *semaphore)
{
    while (sem_wait(semaphore) && errno == EINTR)
        ;
}

/* How much device memory a thread may take. The caller holds the lock. */
static inline uint64_t gf_bytes_of_thread(const struct gf_device_coders *coders)
{
    return (coders->lent_bytes ? coders->lent_bytes : coders->usual_bytes) / THREADS;
}

/* The thread, a struct coding_thread. */
void *gf_coding_thread_main(void *argument);

#endif
