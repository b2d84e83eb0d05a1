/* The state of gf_schedule_plan(), and the calls on its lanes (lanes.c). */
#pragma once

#include "engine/layout.h"
#include "engine/pass.h"

struct gf_schedule_state {
    struct gf_schedule *schedule;
    struct gf_buffer_pool *buffers;
    struct gf_buffer_pool own_buffers; /* used if the caller has no pool */
    struct gf_layout layout;
    struct gf_ring in_ring, out_ring;
    struct gf_worker *worker;
    int workers; /* the number of workers with an open lane */
    int threads; /* the number of the pool's threads that work; 0: the calling thread does
                  * everything */
    bool helps;  /* worker 0 is the calling thread, and the other workers are the pool's threads */
    struct gf_pass pass;
    struct gf_placement between;             /* the whole result of the previous segment */
    struct gf_placement image_in, image_out; /* the caller's pictures, pinned for the whole
                                              * schedule */
    pthread_t reader;
    bool reading; /* the reader's thread is running */
    bool queues;  /* the calling thread queues all bands, see queue_bands() */
    bool serial;  /* no threads are started, because the schedule or the system forbids them */
    struct gf_histogram histogram;
};

/* Passes all bands of the segment through the stages. A failure is stored in the segment. */
void gf_pass_bands(struct gf_schedule_state *state);
/* Whether the calling thread may queue the bands, without a thread for each lane. */
bool gf_schedule_can_queue(const struct gf_schedule_state *state);
/* Called before and after the calls that give the device work in a serial schedule. They acquire
 * and return the backend's right to use the device (acquire(), give_back()), since a batch runs
 * many serial schedules at a time. They do nothing in other schedules. */
void gf_schedule_begin_turn(const struct gf_schedule *schedule);
void gf_schedule_end_turn(const struct gf_schedule *schedule);

/* Allocates the rings between the codecs and the lanes in host memory, which is not pinned yet. */
enum gf_status gf_lanes_alloc_rings(struct gf_schedule_state *state,
                                    struct gf_error *error) GF_CHECKED;
/* Opens the lanes and allocates their device buffers. */
enum gf_status gf_lanes_open(struct gf_schedule_state *state, struct gf_error *error) GF_CHECKED;
/* Allocates the memory of the lanes for running the segment's first stage on the host. */
enum gf_status gf_lanes_open_host_stage(struct gf_schedule_state *state,
                                        struct gf_error *error) GF_CHECKED;
/* Called before and after a segment whose result is counted. Every lane counts into a histogram of
 * its own, and gf_lanes_take_histograms() adds them up in state->histogram. */
enum gf_status gf_lanes_open_histograms(struct gf_schedule_state *state,
                                        struct gf_error *error) GF_CHECKED;
enum gf_status gf_lanes_take_histograms(struct gf_schedule_state *state,
                                        struct gf_error *error) GF_CHECKED;
