/* Numbered items that several threads work on side by side. One caller submits them in order and
 * takes them back in the same order. */
#ifndef GF_CODEC_COMMON_ORDERED_WORK_H
#define GF_CODEC_COMMON_ORDERED_WORK_H

#include <stdbool.h>

#include "gpufilter/status.h"

struct gf_ordered_work;

/* Works on an item; `thread` counts from 0. False: the work failed. */
typedef bool gf_ordered_work_call(void *context, int thread, int item);

/* Starts the threads. With one thread, or where none can be started, the caller's own thread works
 * on the items as they are submitted, as thread 0. */
enum gf_status gf_ordered_work_open(int threads, int slots, gf_ordered_work_call *call,
                                    void *context, struct gf_ordered_work **work,
                                    struct gf_error *error) GF_CHECKED;
/* Ends the threads, even while items are left. */
void gf_ordered_work_close(struct gf_ordered_work *work);
/* Hands over the next item. At most `slots` items may be submitted and not taken back. */
void gf_ordered_work_submit(struct gf_ordered_work *work);
/* The number of items that are submitted and not taken back. */
int gf_ordered_work_pending(const struct gf_ordered_work *work);
/* Takes the next item back if it is done; with `wait` it waits until the item is done. `failed`
 * says whether an item has failed so far. False: the item is not done, or none is submitted. */
bool gf_ordered_work_take(struct gf_ordered_work *work, bool wait, bool *failed);

#endif
