/* The threads that compute bands in addition to the calling thread. A pipeline keeps them from
 * picture to picture: starting and ending them takes longer than a small picture. One thread uses a
 * pool at a time. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

struct gf_pass;
struct gf_worker;
struct gf_pool_thread;

/* A zeroed pool has no threads. A pool with threads must not be moved. */
struct gf_thread_pool {
    struct gf_pool_thread *first;
    int started;
    pid_t process; /* the process that owns the threads; a forked child has the pool, but not the
                    * threads */
    pthread_mutex_t lock;
    pthread_cond_t submission, end;
    struct gf_pass *pass;     /* the pass that was submitted last */
    struct gf_worker *worker; /* an array with a worker for each of the first `wanted` threads */
    int wanted;
    int submitted; /* the number of segments submitted so far */
    int begun;     /* the number of wanted threads that have begun */
    int pending;   /* the number of threads that have begun and not finished */
    bool stopping;
};

/* Starts threads until there are `count`. Returns the number of threads, at most `count`. */
int gf_thread_pool_start(struct gf_thread_pool *pool, int count);
/* Lets the first `count` threads compute the segment's bands, each with a worker of its own. */
void gf_thread_pool_submit(struct gf_thread_pool *pool, struct gf_pass *pass,
                           struct gf_worker *worker, int count);
/* Waits until the threads are done with the segment. all_taken: no bands are left, or the segment
 * has failed, so that threads that have not begun need not begin. */
void gf_thread_pool_wait(struct gf_thread_pool *pool, bool all_taken);
/* Ends the threads. */
void gf_thread_pool_close(struct gf_thread_pool *pool);
