/* One segment of a run under way, and what its threads share: a reader that decodes rows into a
 * ring of bands (reader.c), lanes that filter bands (worker.c), and the calling thread, which hands
 * finished bands to the sink (schedule.c). */
#ifndef GF_ENGINE_SEGMENT_RUN_H
#define GF_ENGINE_SEGMENT_RUN_H

#include "engine/bands.h"
#include "engine/placement.h"
#include "engine/ring.h"
#include "engine/schedule.h"

/* One segment under way. The lock guards the counters below it; `changed` tells of every change. */
struct gf_segment_run {
    struct gf_run *run;
    const struct gf_segment *segment;
    struct gf_bands bands;
    struct gf_placement in, out;
    struct gf_ring *in_ring, *out_ring;
    const void *constants[GF_CUTS_MAX];
    bool decode_in_place; /* nothing to filter: rows are decoded where the result lies */
    bool pass_through;    /* nothing to filter: the sink reads the input's band */
    bool first_on_host; /* the first stage reads the whole picture, which only host memory holds */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int ready;             /* bands whose input is there */
    int next;              /* band that the next free lane takes */
    int written;           /* bands taken by the sink */
    bool *done;            /* [band] */
    enum gf_status status; /* the first failure of any thread */
    struct gf_error error;
};

/* The threads of the lanes, which stay from segment to segment: starting them takes longer than a
 * band. */
struct gf_thread_pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct gf_segment_run *segment_run; /* the order under way */
    int submitted;                      /* given so far */
    int working;                        /* threads that have not finished it */
    bool stopping;
};

/* A lane with its buffers, carved from one allocation for the whole run. */
struct gf_worker {
    struct gf_thread_pool *pool;
    struct gf_segment_run *segment_run;
    struct gf_lane *lane;
    pthread_t thread;
    unsigned char *arena;
    unsigned char *in, *between[2], *scratch;
    struct gf_ring host; /* for a first stage on the host: its result and its scratch */
};

/* Stops the job: the first failure of any thread is the one that is kept. */
void gf_segment_run_fail(struct gf_segment_run *segment_run, enum gf_status status,
                         const struct gf_error *error);
/* Sets one of the job's counters and tells everybody. */
void gf_segment_run_publish(struct gf_segment_run *segment_run, int *counter, int value);

/* Where band b's input, which starts at first_row, is decoded to. */
unsigned char *gf_segment_run_input_slot(const struct gf_segment_run *segment_run, int b,
                                         int first_row);
/* Band b's input and its result in host memory. */
struct gf_view gf_segment_run_host_input(const struct gf_segment_run *segment_run, int b,
                                         struct gf_rows rows);
struct gf_view gf_segment_run_host_output(const struct gf_segment_run *segment_run, int b,
                                          struct gf_rows rows);

void *gf_reader_main(void *segment_run); /* thread: struct gf_segment_run */
/* The reader's steps, for a caller that takes them itself: band b's rows, of which *held are in the
 * ring from the band before; and what follows the last band's. */
enum gf_status gf_reader_band(struct gf_segment_run *segment_run, int b, struct gf_rows *held,
                              struct gf_error *error) GF_CHECKED;
enum gf_status gf_reader_end(struct gf_segment_run *segment_run, struct gf_rows held,
                             struct gf_error *error) GF_CHECKED;

/* Band b through the stages, on the calling thread. */
enum gf_status gf_worker_band(struct gf_worker *worker, int b, struct gf_error *error) GF_CHECKED;

/* Starts a thread for each worker whose lane is open; `started` counts them, also on failure. */
enum gf_status gf_thread_pool_start(struct gf_thread_pool *pool, struct gf_worker *workers,
                                    int count, int *started, struct gf_error *error) GF_CHECKED;
/* Gives `count` threads a job; waits until they have done it. */
void gf_thread_pool_submit(struct gf_thread_pool *pool, struct gf_segment_run *segment_run,
                           int count);
void gf_thread_pool_wait(struct gf_thread_pool *pool);
void gf_thread_pool_stop(struct gf_thread_pool *pool, struct gf_worker *workers, int started);

#endif
