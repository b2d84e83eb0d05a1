/* Spans record what ran, where and when. Any thread may add a span. Spans are read after the
 * run. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "base/c_linkage.h"
#include "gpufilter/profile.h"

GF_C_BEGIN

struct gf_spans {
    pthread_mutex_t lock;
    bool on;         /* spans are recorded; otherwise they are dropped */
    double origin_s; /* gf_now at the beginning of the run */
    struct gf_span *item;
    size_t count, capacity;
};

struct gf_interval {
    double begin_s, end_s;
};
/* Returns the time that the intervals cover together. Sorts the intervals. */
double gf_intervals_union(struct gf_interval *interval, size_t count);

double gf_now(void); /* seconds of a monotonic clock */

void gf_spans_init(struct gf_spans *spans);
void gf_spans_free(struct gf_spans *spans);
/* Drops all spans and sets the origin to now. */
void gf_spans_restart(struct gf_spans *spans, bool on);
/* Adds a span. begin_s and end_s are times of gf_now(). The span is dropped if there is no memory
 * for it. */
void gf_spans_add(struct gf_spans *spans, enum gf_span_kind kind, int stage, int lane,
                  double begin_s, double end_s, size_t bytes);

GF_C_END
