/* The pass of a segment's bands, and the state that its threads share. A reader decodes rows into a
 * ring of bands, lanes compute bands (lane.c), and the calling
 * thread gives finished bands to the sink (pass.c). */
#pragma once

#include "engine/engine.h"
#include "engine/layout.h"

/* The lock guards the members below it. A change wakes only threads that may wait for it. It wakes
 * one lane, which wakes the next lane if there is a band for that lane, too. */
struct gf_pass {
    struct gf_schedule *schedule;
    const struct gf_segment *segment;
    struct gf_bands bands;
    struct gf_placement in, out;
    struct gf_ring *in_ring, *out_ring;
    const void *constants[GF_CUTS_MAX];
    bool decode_in_place; /* without stages: rows are decoded directly into the result */
    bool pass_through;    /* without stages: the sink reads the input's bands */
    double time_limit_s;  /* the time limit of base/threads/times.h */
    bool first_on_host;   /* see gf_layout_first_stage_on_host() */
    pthread_mutex_t lock;
    pthread_cond_t can_read, can_filter, can_write; /* the conditions on which the reader, the
                                                     * lanes and the writer wait */
    int ready;                                      /* the number of bands that are decoded */
    int next;                                       /* the band that the next idle lane takes */
    int written;                                    /* the number of bands that the sink has got */
    bool *done;                                     /* [band]: the band's result is there */
    enum gf_status status; /* the first failure of any thread, which stops all */
    struct gf_error error;
};

/* A lane of the engine: the backend's lane with the buffers of a band, which are parts of one
 * allocation. */
struct gf_lane_state {
    struct gf_pass *pass;
    struct gf_lane *queue; /* the backend's lane */
    unsigned char *memory; /* the allocation, kept for the whole schedule */
    unsigned char *in, *between[2], *scratch;
    struct gf_ring host; /* the result and the scratch memory of a first stage on the host */
};

/* Stops all threads of the segment. The first failure is kept. */
void gf_pass_fail(struct gf_pass *pass, enum gf_status status, const struct gf_error *error);
/* Waits until band b is decoded. Returns false if the segment has failed. */
bool gf_pass_wait_for_input(struct gf_pass *pass, int b);
/* Waits until the next band has its input and a buffer for its result, and returns its number; -1
 * if there are no more bands, or the segment has failed. */
int gf_pass_take_band(struct gf_pass *pass);
/* Marks band b as computed. */
void gf_pass_finish_band(struct gf_pass *pass, int b);
/* Sets a counter and wakes the threads that wait for it. */
void gf_pass_publish(struct gf_pass *pass, int *counter, int value);

/* Return the input and the result of band b in host memory. */
struct gf_view gf_pass_host_input(const struct gf_pass *pass, int b, struct gf_rows rows);
struct gf_view gf_pass_host_output(const struct gf_pass *pass, int b, struct gf_rows rows);

/* The main function of the reader's thread. The argument is a struct gf_pass. */
void *gf_reader_main(void *pass);
/* Decodes the rows of band b. *held are the rows in the ring: of the previous band before the call,
 * of this band after it. */
enum gf_status gf_reader_read_band(struct gf_pass *pass, int b, struct gf_rows *held,
                                   struct gf_error *error) GF_CHECKED;
/* Decodes and drops the rows after the last band, and lets the source check the end of the file. */
enum gf_status gf_reader_end(struct gf_pass *pass, struct gf_rows held,
                             struct gf_error *error) GF_CHECKED;

/* Queues the stages for band b from the calling thread. The caller must still wait for the lane. */
enum gf_status gf_lane_queue_band(struct gf_lane_state *lane, int b,
                                  struct gf_error *error) GF_CHECKED;
enum gf_status gf_lane_compute_band(struct gf_lane_state *lane, int b,
                                    struct gf_error *error) GF_CHECKED;

/* Gives all bands to the sink as they are finished. A failure is stored in the segment. */
void gf_writer_write_bands(struct gf_pass *pass);
enum gf_status gf_writer_write_band(struct gf_pass *pass, int b, struct gf_error *error) GF_CHECKED;
enum gf_status gf_writer_end(struct gf_pass *pass, struct gf_error *error) GF_CHECKED;

/* Computes bands of the segment on the calling thread until no band is left. */
void gf_lane_compute_bands(struct gf_lane_state *lane, struct gf_pass *pass);

/* gf_schedule_plan() keeps its state in this struct. layout.c defines the functions below, which
 * open its lanes. */

struct gf_schedule_state {
    struct gf_schedule *schedule;
    struct gf_buffer_pool *buffers;
    struct gf_buffer_pool own_buffers; /* used if the caller has no pool */
    struct gf_layout layout;
    struct gf_ring in_ring, out_ring;
    struct gf_lane_state *lane;
    int lanes;   /* the number of lanes that are open */
    int threads; /* the number of the pool's threads that work; 0: the calling thread does
                  * everything */
    bool helps;  /* lane 0 is the calling thread, and the other lanes are the pool's threads */
    struct gf_pass pass;
    struct gf_placement between;             /* the whole result of the previous segment */
    struct gf_placement image_in, image_out; /* the caller's pictures, pinned for the whole
                                              * schedule */
    pthread_t reader;
    bool reading; /* the reader's thread is running */
    bool queues;  /* the calling thread queues all bands, see queue_bands() */
    bool serial;  /* no threads are started, because the schedule or the system forbids them, or the
                   * picture is small */
    struct gf_histogram histogram;
};

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
