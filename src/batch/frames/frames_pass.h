/* The frames of a film on their way through the workers. */
#pragma once

#include <pthread.h>

#include "batch/frames/film.h"
#include "batch/frames/frames_run.h"
#include "pixel/histogram/smooth.h"

/* A frame on its way. Frame number i is at slot[i % room]. */
struct gf_frames_slot {
    size_t number;
    struct gf_film_frame frame;
    char name[300];
    struct gf_input_name input;
    struct gf_batch_item item;
    char *output; /* the name of the only output; NULL: not known before */
    struct gf_bytes bytes;
    bool is_done;
};

struct gf_frames {
    struct gf_batch *batch;
    struct gf_batch_request request; /* the batch's, for many pictures */
    struct gf_raw_frames raw;
    bool to_stream; /* the output is standard output, a FIFO or a device */
    bool raw_in, raw_out, film_out;
    bool files; /* the frames are the pictures of several inputs */
    struct gf_film_reader reader;
    struct gf_film_writer writer;
    pthread_mutex_t reading; /* held by the worker that reads a frame */
    struct gf_frames_slot *slot;
    size_t room;
    struct gf_smooth *smooth; /* the frames' histograms */
    /* The batch's lock guards these members. */
    size_t written;
    bool at_end;
    enum gf_status end_status; /* why the film ended before its end */
    struct gf_error end_error;
};

/* Returns what gives the frames to the workers and writes those that are done, in their order. */
struct gf_batch_supply gf_frames_supply(struct gf_frames *frames);
