/* The histograms of a film's frames, of which several workers filter some at a time. The histogram
 * of a frame becomes the sum of its own and of those of the frames before it, whatever the order in
 * which the workers count. */
#pragma once

#include "stage/histogram.h"

#include "gpufilter/status.h"

struct gf_smooth;
/* `room` frames may be at work at a time. The histograms that are kept take at most `bytes`. NULL
 * when out of memory. */
struct gf_smooth *gf_smooth_open(size_t room, uint64_t bytes);
void gf_smooth_close(struct gf_smooth *smooth);
/* The calling thread filters this frame from now on. */
void gf_smooth_begin(struct gf_smooth *smooth, size_t frame);
/* The thread begins with its picture, or once more: its next histogram is the chain's first. */
void gf_smooth_attempt(void);
/* The frame is done, or has failed: nobody waits for a histogram of it any longer. */
void gf_smooth_end(struct gf_smooth *smooth, size_t frame);
/* Adds the histograms of the frames before that of the calling thread, up to `frames` with its own;
 * waits for those that are still to be counted. Does nothing in a thread that filters no frame of a
 * film. */
enum gf_status gf_smooth_add(int frames, struct gf_histogram *histogram,
                             struct gf_error *error) GF_CHECKED;
