#include "base/start_times.h"

#include <pthread.h>
#include <stdio.h>

#include "base/spans.h"

/* Times of gf_now(). */
struct times {
    int count;
    double first_s, last_s; /* the first began, and the last ended */
    double sum_s, most_s;   /* of all, one after the other; of the longest */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct times times[GF_START_PARTS];
static double origin_s;

void gf_start_origin(void)
{
    pthread_mutex_lock(&lock);
    origin_s = gf_now();
    pthread_mutex_unlock(&lock);
}

void gf_start_note(enum gf_start_part part, double begin_s)
{
    const double end_s = gf_now(), seconds = end_s - begin_s;
    pthread_mutex_lock(&lock);
    struct times *const time = &times[part];
    if (!time->count || begin_s < time->first_s)
        time->first_s = begin_s;
    if (!time->count || end_s > time->last_s)
        time->last_s = end_s;
    if (seconds > time->most_s)
        time->most_s = seconds;
    time->sum_s += seconds;
    time->count++;
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
        [GF_START_PICTURE] = "first pictures",
    };
    return names[part];
}

bool gf_start_describe(enum gf_start_part part, char *text, size_t size)
{
    pthread_mutex_lock(&lock);
    const struct times time = times[part];
    const double from_ms = 1e3 * (time.first_s - origin_s), to_ms = 1e3 * (time.last_s - origin_s);
    pthread_mutex_unlock(&lock);
    if (time.count == 1)
        snprintf(text, size, "start: %s: once, from %.1f to %.1f ms", name_of(part), from_ms, to_ms);
    else
        snprintf(text, size,
                 "start: %s: %d times, from %.1f to %.1f ms, %.1f ms in all, at most %.1f ms",
                 name_of(part), time.count, from_ms, to_ms, 1e3 * time.sum_s, 1e3 * time.most_s);
    return time.count > 0;
}
