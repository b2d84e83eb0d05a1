#include "report/profile/profile_report.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"

/* The tracks, from the top: the start of the device, the reader, the lanes, and after them the
 * writer. */
enum { TRACK_START, TRACK_READER, TRACK_LANES };

static int track_of(const struct gf_span *span, int writer)
{
    if (span->kind == GF_SPAN_START)
        return TRACK_START;
    if (span->lane >= 0)
        return TRACK_LANES + span->lane;
    return span->kind == GF_SPAN_ENCODE ? writer : TRACK_READER;
}

static int by_track(const void *a, const void *b)
{
    const struct gf_timeline_event *const x = a, *const y = b;
    if (x->track != y->track)
        return x->track - y->track;
    const double p = x->span->begin_s, q = y->span->begin_s;
    return (p > q) - (p < q);
}

/* Puts each event on the first layer of the event's track on which no earlier event still runs.
 * free_s is scratch memory: free_s[layer] is the time when the layer's last event ends. */
static void assign_layers(struct gf_timeline *timeline, double *free_s)
{
    struct gf_timeline_event *const event = timeline->event;
    int layers = 0;
    for (size_t i = 0; i < timeline->count; i++) {
        if (!i || event[i].track != event[i - 1].track)
            layers = 0;
        int layer = 0;
        while (layer < layers && free_s[layer] > event[i].span->begin_s)
            layer++;
        layers = layer == layers ? layers + 1 : layers;
        event[i].layer = layer;
        free_s[layer] = event[i].span->end_s;
    }
}

enum gf_status gf_timeline_make(const struct gf_profile *profile, struct gf_timeline *timeline,
                                struct gf_error *error)
{
    const size_t count = profile->span_count;
    double *const free_s = malloc((count + 1) * sizeof *free_s);
    *timeline = (struct gf_timeline){.count = count, .writer = TRACK_LANES};
    timeline->event = malloc((count + 1) * sizeof *timeline->event);
    if (!timeline->event || !free_s) {
        free(free_s);
        gf_timeline_free(timeline);
        return gf_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        if (profile->spans[i].lane >= timeline->writer - TRACK_LANES)
            timeline->writer = TRACK_LANES + profile->spans[i].lane + 1;
    }
    for (size_t i = 0; i < count; i++)
        timeline->event[i] = (struct gf_timeline_event){
            &profile->spans[i], track_of(&profile->spans[i], timeline->writer), 0};
    qsort(timeline->event, count, sizeof *timeline->event, by_track);
    assign_layers(timeline, free_s);
    free(free_s);
    return GF_OK;
}

void gf_timeline_free(struct gf_timeline *timeline)
{
    free(timeline->event);
    timeline->event = NULL;
    timeline->count = 0;
}

void gf_timeline_name(const struct gf_timeline *timeline, const struct gf_timeline_event *event,
                      char *name, size_t size)
{
    char layer[16] = "";
    const int track = event->track;
    if (event->layer)
        snprintf(layer, sizeof layer, " (%d)", event->layer + 1);
    if (track >= TRACK_LANES && track != timeline->writer)
        snprintf(name, size, "lane %d%s", track - TRACK_LANES, layer);
    else
        snprintf(name, size, "%s%s",
                 track == TRACK_START    ? "CUDA start"
                 : track == TRACK_READER ? "reader"
                                         : "writer",
                 layer);
}
