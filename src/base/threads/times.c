/* Reads the clock, records what ran and when, and keeps the time limit of each thread's picture. */
#include "base/threads/times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory/grow.h"

double gf_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void gf_cond_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct timespec gf_time_after(double seconds)
{
    const double at = gf_now() + seconds;
    return (struct timespec){(time_t)at, (long)((at - floor(at)) * 1e9)};
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `noted` */
/* When each part of the start ran, in seconds of gf_now(). */
static struct gf_times noted[GF_START_PARTS];
static double origin_s;

void gf_start_origin(void)
{
    pthread_mutex_lock(&lock);
    origin_s = gf_now();
    pthread_mutex_unlock(&lock);
}

void gf_times_add(struct gf_times *times, double begin_s, double end_s)
{
    const double seconds = end_s - begin_s;
    if (!times->count || begin_s < times->first_s)
        times->first_s = begin_s;
    if (!times->count || end_s > times->last_s)
        times->last_s = end_s;
    if (seconds > times->most_s)
        times->most_s = seconds;
    times->sum_s += seconds;
    times->count++;
}

void gf_start_note(enum gf_start_part part, double begin_s)
{
    const double end_s = gf_now();
    pthread_mutex_lock(&lock);
    gf_times_add(&noted[part], begin_s, end_s);
    pthread_mutex_unlock(&lock);
}

void gf_start_note_times(enum gf_start_part part, const struct gf_times *times, double began_s)
{
    if (!times->count)
        return;
    pthread_mutex_lock(&lock);
    struct gf_times *const known = &noted[part];
    const double first_s = times->first_s + began_s, last_s = times->last_s + began_s;
    known->first_s = known->count && known->first_s < first_s ? known->first_s : first_s;
    known->last_s = known->count && known->last_s > last_s ? known->last_s : last_s;
    known->sum_s += times->sum_s;
    known->most_s = times->most_s > known->most_s ? times->most_s : known->most_s;
    known->count += times->count;
    pthread_mutex_unlock(&lock);
}

static const char *name_of(enum gf_start_part part)
{
    static const char *const names[GF_START_PARTS] = {
        [GF_START_DRIVER] = "driver",
        [GF_START_CONTEXT] = "context",
        [GF_START_DESCRIBE] = "description",
        [GF_START_CLOCK] = "clock",
        [GF_START_WAIT] = "waiting for the device",
        [GF_START_QUEUE] = "queues",
        [GF_START_MEMORY] = "device memory",
        [GF_START_PINNED] = "pinned memory",
        [GF_START_KERNELS] = "kernels loaded ahead",
        [GF_START_DECODER] = "first group decoded",
        [GF_START_ENCODER] = "first group encoded",
        [GF_START_NVDEC] = "decoders of NVDEC",
        [GF_START_FRAME] = "frames by NVDEC",
        [GF_START_CONVERTED] = "frames converted",
        [GF_START_PICTURE] = "first pictures",
        [GF_START_SERVER] = "the server",
    };
    return part >= GF_START_SERVER_KINDS
               ? gf_span_kind_name((enum gf_span_kind)(part - GF_START_SERVER_KINDS))
               : names[part];
}

bool gf_start_describe(enum gf_start_part part, char *text, size_t size)
{
    const char *const whose = part < GF_START_SERVER         ? "start"
                              : part < GF_START_SERVER_KINDS ? "picture"
                                                             : "server";
    pthread_mutex_lock(&lock);
    const struct gf_times time = noted[part];
    const double from_ms = 1e3 * (time.first_s - origin_s), to_ms = 1e3 * (time.last_s - origin_s);
    pthread_mutex_unlock(&lock);
    if (time.count == 1)
        snprintf(text, size, "%s: %s: once, from %.1f to %.1f ms", whose, name_of(part), from_ms,
                 to_ms);
    else
        snprintf(text, size,
                 "%s: %s: %lld times, from %.1f to %.1f ms, %.1f ms in all, at most %.1f ms", whose,
                 name_of(part), (long long)time.count, from_ms, to_ms, 1e3 * time.sum_s,
                 1e3 * time.most_s);
    return time.count > 0;
}

static _Thread_local double limit_s;

double gf_time_limit(void)
{
    return limit_s;
}

void gf_time_limit_set(double at_s)
{
    limit_s = at_s;
}

void gf_time_limit_excuse(double begin_s)
{
    if (limit_s > 0)
        limit_s += gf_now() - begin_s;
}

double gf_time_left(void)
{
    return limit_s > 0 ? limit_s - gf_now() : (double)INFINITY;
}

bool gf_time_is_up(void)
{
    return limit_s > 0 && gf_now() >= limit_s;
}

enum gf_status gf_time_check(struct gf_error *error)
{
    return gf_time_is_up() ? gf_fail(error, GF_ERROR_INPUT, "its time is up") : GF_OK;
}

enum gf_status gf_time_tell(const char *name, double seconds, enum gf_status status,
                            struct gf_error *error)
{
    return status == GF_ERROR_INPUT && seconds > 0 && gf_time_is_up()
               ? gf_fail(error, GF_ERROR_INPUT, "%s: takes longer than options.timeout_s=%g", name,
                         seconds)
               : status;
}
