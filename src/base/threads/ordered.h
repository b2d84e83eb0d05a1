/* Ordered work: one caller submits numbered items, several threads work on them, and the caller
 * takes them back in the order of their numbers, as if it had done them one after another. The
 * first failure in that order is the one that the caller gets. */
#pragma once

#include <stdbool.h>

#include "gpufilter/status.h"

struct gf_ordered; /* opaque */

/* Works on an item. Items are numbered from 0, and so are the working threads. */
typedef enum gf_status gf_ordered_call(void *context, int thread, int item, struct gf_error *error);

struct gf_ordered_setup {
    gf_ordered_call *call;
    void *context;
    int threads; /* the most threads that work. With 1, or if none can be started, the caller's own
                  * thread works on each item as it is submitted, or while it waits if `helps` is
                  * set */
    bool helps;  /* the caller's own thread is one of the threads: it works while it waits */
    bool aside;  /* a thread is started even if `threads` is 1, because the caller does other work
                  * meanwhile */
    int slots;   /* the most items that are submitted and not yet taken back */
};

/* Prepares ordered work. Threads are started later, each when an item would have to wait for
 * one. */
enum gf_status gf_ordered_open(const struct gf_ordered_setup *setup, struct gf_ordered **ordered,
                               struct gf_error *error) GF_CHECKED;
/* Waits for the items that are in work, begins no other item, and ends the threads. */
void gf_ordered_close(struct gf_ordered *ordered);

/* Submits the next item; less than `slots` items may be submitted and not yet taken back. The
 * threads work with the time limit of the calling thread (gf_time_limit()) from now on. */
void gf_ordered_submit(struct gf_ordered *ordered);
/* Whether the caller should take an item back now: more than `most` are submitted, or the next one
 * is done. */
bool gf_ordered_is_due(struct gf_ordered *ordered, int most);
/* Waits for the next item that is submitted, and takes it back. Returns its failure. No item is
 * begun or taken back after one that has failed: each further call returns the same failure. */
enum gf_status gf_ordered_take(struct gf_ordered *ordered, struct gf_error *error) GF_CHECKED;
/* Takes the next of `items` items back, and before that submits as many of them as there are slots.
 * What belongs to items that were taken back before may be reused for new ones. The caller must not
 * call it for more than `items` items. */
enum gf_status gf_ordered_next(struct gf_ordered *ordered, int items,
                               struct gf_error *error) GF_CHECKED;
/* Takes back all items that are submitted. When it returns, even with a failure, no thread
 * works. */
enum gf_status gf_ordered_finish(struct gf_ordered *ordered, struct gf_error *error) GF_CHECKED;

/* Works on the items 0 .. items - 1 by at most `threads` threads, of which the caller's own is one,
 * and waits for all. */
enum gf_status gf_ordered_run(int threads, int items, gf_ordered_call *call, void *context,
                              struct gf_error *error) GF_CHECKED;
