#include "pixel/histogram/histogram.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "stage/filter.h"

struct kept {
    size_t next; /* the number of its frame + 1; 0: there is none */
    struct gf_histogram histogram;
};

/* The histograms that one filter of the chain (`place`) needs of the frames. That of frame i is
 * kept[i % count]. Frames in work are at most `room` apart, so that a histogram is no longer needed
 * when another one takes its place. */
struct series {
    struct series *after;
    int place, frames;
    size_t count;
    struct kept kept[];
};

struct gf_smooth {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t room;
    uint64_t bytes, bytes_most;
    struct series *series;
    size_t ended;     /* all frames with a lower number have ended */
    bool has_ended[]; /* [room]: whether frame i, from number `ended` on, has ended, at i % room */
};

static _Thread_local struct gf_smooth *own;
static _Thread_local size_t own_frame;
/* How many histograms the thread's frame has had before the next one. */
static _Thread_local int own_place;

struct gf_smooth *gf_smooth_open(size_t room, uint64_t bytes)
{
    struct gf_smooth *const smooth = calloc(1, sizeof *smooth + room * sizeof *smooth->has_ended);
    if (!smooth)
        return NULL;
    pthread_mutex_init(&smooth->lock, NULL);
    pthread_cond_init(&smooth->changed, NULL);
    smooth->room = room;
    smooth->bytes_most = bytes;
    return smooth;
}

void gf_smooth_close(struct gf_smooth *smooth)
{
    if (!smooth)
        return;
    while (smooth->series) {
        struct series *const series = smooth->series;
        smooth->series = series->after;
        for (size_t i = 0; i < series->count; i++)
            free(series->kept[i].histogram.count);
        free(series);
    }
    pthread_cond_destroy(&smooth->changed);
    pthread_mutex_destroy(&smooth->lock);
    free(smooth);
}

void gf_smooth_begin(struct gf_smooth *smooth, size_t frame)
{
    own = smooth;
    own_frame = frame;
}

void gf_smooth_attempt(void)
{
    own_place = 0;
}

void gf_smooth_end(struct gf_smooth *smooth, size_t frame)
{
    own = NULL;
    pthread_mutex_lock(&smooth->lock);
    smooth->has_ended[frame % smooth->room] = true;
    while (smooth->has_ended[smooth->ended % smooth->room])
        smooth->has_ended[smooth->ended++ % smooth->room] = false;
    pthread_cond_broadcast(&smooth->changed);
    pthread_mutex_unlock(&smooth->lock);
}

static struct series *series_of(struct gf_smooth *smooth, int place, int frames)
{
    struct series *series = smooth->series;
    while (series && (series->place != place || series->frames != frames))
        series = series->after;
    const size_t count = (size_t)frames + smooth->room;
    if (series || !(series = calloc(1, sizeof *series + count * sizeof *series->kept)))
        return series;
    series->place = place;
    series->frames = frames;
    series->count = count;
    series->after = smooth->series;
    smooth->series = series;
    return series;
}

static bool are_alike(const struct gf_histogram *a, const struct gf_histogram *b)
{
    return a->channels == b->channels && a->bins == b->bins && a->exact == b->exact;
}

/* Keeps a copy of the histogram of the thread's frame. A frame that is filtered again keeps its
 * first. */
static enum gf_status keep(struct gf_smooth *smooth, struct series *series,
                           const struct gf_histogram *histogram, struct gf_error *error)
{
    struct kept *const kept = &series->kept[own_frame % series->count];
    const size_t bytes = gf_histogram_counters(histogram) * sizeof *histogram->count;
    if (kept->next == own_frame + 1)
        return GF_OK;
    if (!kept->histogram.count || !are_alike(&kept->histogram, histogram)) {
        if (bytes > smooth->bytes_most - smooth->bytes)
            return gf_fail(
                error, GF_ERROR_UNFIT,
                "the histograms of %d frames (smooth) take more than options.memory_bytes",
                series->frames);
        smooth->bytes += bytes;
        free(kept->histogram.count);
        kept->histogram.count = malloc(bytes);
        GF_ALLOCATED(kept->histogram.count, error);
    }
    uint64_t *const count = kept->histogram.count;
    memcpy(count, histogram->count, bytes);
    kept->histogram = *histogram;
    kept->histogram.count = count;
    kept->next = own_frame + 1;
    return GF_OK;
}

/* Waits until a frame's histogram is kept, and returns it; returns NULL if it never will be. */
static const struct kept *wait_for(struct gf_smooth *smooth, const struct series *series,
                                   size_t frame)
{
    const struct kept *const kept = &series->kept[frame % series->count];
    while (kept->next != frame + 1 && frame >= smooth->ended &&
           !smooth->has_ended[frame % smooth->room])
        pthread_cond_wait(&smooth->changed, &smooth->lock);
    return kept->next == frame + 1 ? kept : NULL;
}

enum gf_status gf_smooth_add(int frames, struct gf_histogram *histogram, struct gf_error *error)
{
    const struct kept *before[GF_SMOOTH_MOST];
    const double begin_s = gf_now();
    struct gf_smooth *const smooth = own;
    if (!smooth || frames < 2)
        return GF_OK;
    pthread_mutex_lock(&smooth->lock);
    struct series *const series = series_of(smooth, own_place++, frames);
    const enum gf_status status =
        series ? keep(smooth, series, histogram, error) : gf_fail_memory(error);
    pthread_cond_broadcast(&smooth->changed);
    const size_t count = status ? 0 : own_frame < (size_t)frames ? own_frame : (size_t)frames - 1;
    for (size_t i = 0; i < count; i++)
        before[i] = wait_for(smooth, series, own_frame - 1 - i);
    pthread_mutex_unlock(&smooth->lock);
    gf_time_limit_excuse(begin_s);
    for (size_t i = 0; i < count; i++) {
        if (!before[i] || !are_alike(&before[i]->histogram, histogram))
            continue;
        gf_histogram_merge(histogram, &before[i]->histogram);
    }
    return status;
}
