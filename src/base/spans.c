#include "base/spans.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/grow.h"

double gf_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void gf_spans_init(struct gf_spans *spans)
{
    *spans = (struct gf_spans){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void gf_spans_free(struct gf_spans *spans)
{
    free(spans->item);
    spans->item = NULL;
    spans->count = spans->capacity = 0;
}

void gf_spans_restart(struct gf_spans *spans, bool on)
{
    spans->on = on;
    spans->count = 0;
    spans->origin_s = gf_now();
}

void gf_spans_add(struct gf_spans *spans, enum gf_span_kind kind, int stage, int lane,
                  double begin_s, double end_s, size_t bytes)
{
    if (!spans->on)
        return;
    pthread_mutex_lock(&spans->lock);
    if (GF_RESERVE(spans->item, spans->capacity, spans->count + 1))
        spans->item[spans->count++] = (struct gf_span){.kind = kind,
                                                       .stage = stage,
                                                       .lane = lane,
                                                       .begin_s = begin_s - spans->origin_s,
                                                       .end_s = end_s - spans->origin_s,
                                                       .bytes = bytes};
    pthread_mutex_unlock(&spans->lock);
}

const char *gf_span_kind_name(enum gf_span_kind kind)
{
    static const char *const names[GF_SPAN_KINDS] = {
        [GF_SPAN_START] = "start",         [GF_SPAN_DECODE] = "decode",
        [GF_SPAN_UPLOAD] = "upload",       [GF_SPAN_STAGE] = "stage",
        [GF_SPAN_STATISTIC] = "statistic", [GF_SPAN_DOWNLOAD] = "download",
        [GF_SPAN_ENCODE] = "encode",
    };
    return (int)kind >= 0 && kind < GF_SPAN_KINDS ? names[kind] : "unknown";
}

static int by_begin(const void *a, const void *b)
{
    const double x = ((const struct gf_interval *)a)->begin_s,
                 y = ((const struct gf_interval *)b)->begin_s;
    return (x > y) - (x < y);
}

double gf_intervals_union(struct gf_interval *interval, size_t count)
{
    double total = 0, end_s = -INFINITY;
    qsort(interval, count, sizeof *interval, by_begin);
    for (size_t i = 0; i < count; i++) {
        const double begin_s = fmax(interval[i].begin_s, end_s);
        if (interval[i].end_s > begin_s) {
            total += interval[i].end_s - begin_s;
            end_s = interval[i].end_s;
        }
    }
    return total;
}
