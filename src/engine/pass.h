/* The pass of a segment, which computes all its bands, and what its threads share. A reader decodes
 * rows into a ring of bands, lanes compute bands (lane.c), and the calling thread gives finished
 * bands to the sink (pass.c). */
#pragma once

#include "engine/engine.h"
#include "engine/layout.h"

/* The state of a pass. The lock guards the members below it. A change wakes only threads that may
 * wait for it: of the lanes one, which wakes the next if there is a band for that one, too. */
struct gf_pass {
    struct gf_schedule *schedule;
    const struct gf_segment *segment;
    struct gf_bands bands;
    struct gf_placement in, out;
    struct gf_ring *in_ring, *out_ring;
    const void *constants[GF_CUTS_MAX];
    bool decode_in_place; /* the segment has no stages: rows are decoded directly into the whole
                           * result */
    bool pass_through;    /* the segment has no stages: the sink reads the bands of the input */
    double time_limit_s;  /* gf_time_limit() of the picture's calling thread */
    bool first_on_host;   /* the host runs the first stage, see gf_layout_first_stage_on_host() */
    pthread_mutex_t lock;
    pthread_cond_t can_read, can_filter, can_write; /* the conditions on which the reader, the
                                                     * lanes and the writer wait */
    int ready;                                      /* the number of bands that are decoded */
    int next;                                       /* the band that the next idle lane takes */
    int written;                                    /* the number of bands that the sink has got */
    bool *done;                                     /* done[b]: the result of band b is complete */
    enum gf_status status; /* the first failure of any thread, which stops all threads */
    struct gf_error error;
};

/* A lane of the engine: the backend's lane with the buffers of a band, which are parts of one
 * allocation. */
struct gf_lane_state {
    struct gf_pass *pass;
    struct gf_lane *queue; /* the backend's lane, on which the stages run */
    unsigned char *memory; /* one allocation, in which the following buffers lie, kept for the whole
                            * schedule */
    unsigned char *in, *between[2], *scratch;
    struct gf_ring host; /* two slots for a first stage that runs on the host: its result and its
                          * scratch memory */
};

/* Fails the pass, which stops all its threads. Of several failures the first is kept. */
void gf_pass_fail(struct gf_pass *pass, enum gf_status status, const struct gf_error *error);
/* Waits until the rows of band b are decoded. Returns false if the pass has failed. */
bool gf_pass_wait_for_input(struct gf_pass *pass, int b);
/* Waits until the next band has its input and a buffer for its result, and returns its number; -1
 * if there are no more bands, or the pass has failed. */
int gf_pass_take_band(struct gf_pass *pass);
/* Marks band b as computed. */
void gf_pass_finish_band(struct gf_pass *pass, int b);
/* Sets a counter and wakes the threads that wait for it. */
void gf_pass_publish(struct gf_pass *pass, int *counter, int value);

/* Return views of the input and of the result of band b in host memory. */
struct gf_view gf_pass_host_input(const struct gf_pass *pass, int b, struct gf_rows rows);
struct gf_view gf_pass_host_output(const struct gf_pass *pass, int b, struct gf_rows rows);

/* The main function of the reader's thread. Its argument is the struct gf_pass. */
void *gf_reader_main(void *pass);
/* Decodes the rows of band b into its slot. *held are the input rows that the last slot has: those
 * of band b - 1 before the call, those of band b after it. */
enum gf_status gf_reader_read_band(struct gf_pass *pass, int b, struct gf_rows *held,
                                   struct gf_error *error) GF_CHECKED;
/* Decodes and drops the rows after the last band, and lets the source check the end of the file.
 * `held`: the rows that the last band has. */
enum gf_status gf_reader_end(struct gf_pass *pass, struct gf_rows held,
                             struct gf_error *error) GF_CHECKED;

/* Queues the stages for band b from the calling thread. The caller must still wait for the lane. */
enum gf_status gf_lane_queue_band(struct gf_lane_state *lane, int b,
                                  struct gf_error *error) GF_CHECKED;
enum gf_status gf_lane_compute_band(struct gf_lane_state *lane, int b,
                                    struct gf_error *error) GF_CHECKED;

/* Gives all bands to the sink, in order, as they are finished. A failure is stored in the pass. */
void gf_writer_write_bands(struct gf_pass *pass);
enum gf_status gf_writer_write_band(struct gf_pass *pass, int b, struct gf_error *error) GF_CHECKED;
enum gf_status gf_writer_end(struct gf_pass *pass, struct gf_error *error) GF_CHECKED;

/* Computes bands of the segment on the calling thread until no band is left. */
void gf_lane_compute_bands(struct gf_lane_state *lane, struct gf_pass *pass);

/* The state of gf_schedule_plan(). The functions below, in layout.c, open its lanes. */

struct gf_schedule_state {
    struct gf_schedule *schedule;
    struct gf_buffer_pool *buffers;
    struct gf_buffer_pool own_buffers; /* used if the caller has no pool */
    struct gf_layout layout;
    struct gf_ring in_ring, out_ring;
    struct gf_lane_state *lane;
    int lanes;   /* the number of lanes that are open */
    int threads; /* the number of the pool's threads that compute; 0: the calling thread does
                  * everything */
    bool helps;  /* lane 0 is computed by the calling thread, the others by the pool's threads */
    struct gf_pass pass;
    struct gf_placement between;             /* the result of the previous segment, whole */
    struct gf_placement image_in, image_out; /* the caller's pictures, pinned for the whole
                                              * schedule */
    pthread_t reader;
    bool reading; /* the reader's thread is running */
    bool queues;  /* the calling thread queues all bands at once, see queue_bands() */
    bool serial;  /* no threads are started, because the schedule or the system forbids them, or the
                   * picture is small */
    struct gf_histogram histogram;
};

/* Allocates the rings between the codecs and the lanes, in host memory that is not pinned yet. */
enum gf_status gf_lanes_alloc_rings(struct gf_schedule_state *state,
                                    struct gf_error *error) GF_CHECKED;
/* Opens the lanes and allocates their device buffers. */
enum gf_status gf_lanes_open(struct gf_schedule_state *state, struct gf_error *error) GF_CHECKED;
/* Allocates host memory for the lanes, if the host runs the segment's first stage. */
enum gf_status gf_lanes_open_host_stage(struct gf_schedule_state *state,
                                        struct gf_error *error) GF_CHECKED;
/* Call these before and after a segment whose result is counted. Every lane counts a histogram of
 * its own, and gf_lanes_take_histograms() adds them up in state->histogram. */
enum gf_status gf_lanes_open_histograms(struct gf_schedule_state *state,
                                        struct gf_error *error) GF_CHECKED;
enum gf_status gf_lanes_take_histograms(struct gf_schedule_state *state,
                                        struct gf_error *error) GF_CHECKED;
