/* Runs numbered work items on several threads. One caller submits the items in order and takes them
 * back in the same order. */
#pragma once

#include <stdbool.h>

#include "gpufilter/status.h"

struct gf_ordered_work;

/* Does the work on one item. `thread` is the number of the working thread, from 0. Returns false if
 * the work failed. */
typedef bool gf_ordered_work_call(void *context, int thread, int item);

/* Starts the threads. With one thread, or if none can be started, the caller's own thread works on
 * the items as they are submitted, as thread 0. */
enum gf_status gf_ordered_work_open(int threads, int slots, gf_ordered_work_call *call,
                                    void *context, struct gf_ordered_work **work,
                                    struct gf_error *error) GF_CHECKED;
/* Ends the threads, even while items are left. */
void gf_ordered_work_close(struct gf_ordered_work *work);
/* Submits the next item. At most `slots` items may be submitted and not yet taken back. */
void gf_ordered_work_submit(struct gf_ordered_work *work);
/* Returns the number of items that are submitted and not yet taken back. */
int gf_ordered_work_pending(const struct gf_ordered_work *work);
/* Takes the next item back if it is done; with `wait` the call waits until the item is done.
 * *failed becomes whether any item has failed so far. Returns false if the item is not done, or
 * none is submitted. */
bool gf_ordered_work_take(struct gf_ordered_work *work, bool wait, bool *failed);

/* Works on `items` items and waits for all. An item must fail only because the time is up. */
enum gf_status gf_ordered_work_run(int threads, int items, gf_ordered_work_call *call,
                                   void *context, struct gf_error *error) GF_CHECKED;
