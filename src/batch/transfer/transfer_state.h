/* The data that the threads of the transfers share. */
#pragma once

#include <pthread.h>

#include "batch/transfer/command.h"
#include "batch/transfer/transfer.h"

/* The most inputs that are fetched ahead. */
enum { GF_TRANSFER_AHEAD = 64 };

struct gf_transfer_input {
    bool ready;
    struct gf_fetched fetched;
};

/* An output that is to be stored, or whose store has ended. */
struct gf_transfer_job {
    struct gf_transfer_job *next;
    char *file, *out;
    const char *given; /* the name by which a URL is signed */
    void *item;        /* the caller's, from malloc(); or NULL */
    uint64_t counted;
    bool outdated;   /* the record of another file is there */
    bool is_awaited; /* the job belongs to a thread that waits until it has ended; no record */
    bool ended;
    enum gf_status status;
    struct gf_error why;
};

struct gf_transfer_queue {
    struct gf_transfer_job *first, **end;
};

struct gf_transfers {
    struct gf_transfer_options options;
    const struct gf_inputs *inputs;
    bool (*look)(void *context, struct gf_fetched *fetched);
    void *context;
    pthread_t thread[GF_COMMANDS_MAX];
    int threads, numbered; /* the number of threads, and of those that have a number */
    pthread_mutex_t lock;  /* guards the members below */
    pthread_cond_t changed;
    struct gf_transfer_input input[GF_TRANSFER_AHEAD]; /* by the remainder of the position */
    size_t begun, taken;      /* the numbers of inputs whose fetch has begun, and that were taken */
    size_t fetching, storing; /* the numbers of commands that run */
    struct gf_transfer_queue to_store, ended;
    uint64_t held;    /* the bytes in the folder, and those that are to come */
    uint64_t largest; /* the largest input so far */
    bool stopped;     /* no fetch begins any more */
    bool closing;     /* the threads end */
};

/* The number of the calling thread among those of the transfers. */
extern _Thread_local int gf_transfer_thread;
/* Runs a command until it succeeds, as often as the options allow (attempts.c). A fetched file must
 * be there and have that many bytes, if `bytes` is not 0. `name` is the file's name in messages. */
enum gf_status gf_transfer_run(struct gf_transfers *transfers, char *const *words,
                               const char *option, const struct gf_command_values *values,
                               uint64_t bytes, const char *name, enum gf_status failure,
                               struct gf_error *error) GF_CHECKED;
/* Runs the command --probe once (attempts.c). */
bool gf_transfer_run_probe(const struct gf_transfers *transfers,
                           const struct gf_command_values *values, int printed);

/* Whether the next input may be fetched. The caller holds the lock. */
bool gf_transfer_may_fetch(const struct gf_transfers *transfers);
/* Fetches the next input, or stores the next output. The caller holds the lock, which the command
 * does not. */
void gf_transfer_fetch_next(struct gf_transfers *transfers);
void gf_transfer_store_next(struct gf_transfers *transfers);
/* Frees what was not fetched for anybody, or not stored. */
void gf_transfer_free_inputs(struct gf_transfers *transfers);
void gf_transfer_free_jobs(struct gf_transfers *transfers);
