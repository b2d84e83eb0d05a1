/* Puts the spans of a run on tracks and layers of a timeline. Writes the timeline for Perfetto
 * (--trace) and for the page, there with joined spans if they are many. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/text/json.h"
#include "report/profile/profile_report.h"

/* The tracks, from the top: the start of the device, the reader, the lanes, and after them the
 * writer. */
enum { TRACK_START, TRACK_READER, TRACK_LANES };

struct event {
    const struct gf_span *span;
    int track;
    int layer; /* 0 unless the event overlaps others of its track */
};

/* The positions of a run's spans on a timeline. The start of the device, the reader, every lane and
 * the writer have a track each; overlapping spans of a track are on different layers. */
struct timeline {
    struct event *event; /* the events, sorted by track, then by their begin */
    size_t count;
    int writer; /* the track of the writer, which is the last */
};

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
    const struct event *const x = a, *const y = b;
    if (x->track != y->track)
        return x->track - y->track;
    const double p = x->span->begin_s, q = y->span->begin_s;
    return (p > q) - (p < q);
}

/* Puts each event on the first layer of the event's track on which no earlier event still runs.
 * free_s is scratch memory: free_s[layer] is the time when the layer's last event ends. */
static void assign_layers(struct timeline *timeline, double *free_s)
{
    struct event *const event = timeline->event;
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

static void timeline_free(struct timeline *timeline)
{
    free(timeline->event);
    timeline->event = NULL;
    timeline->count = 0;
}

static GF_CHECKED enum gf_status timeline_make(const struct gf_profile *profile,
                                               struct timeline *timeline, struct gf_error *error)
{
    const size_t count = profile->span_count;
    double *const free_s = malloc((count + 1) * sizeof *free_s);
    *timeline = (struct timeline){.count = count, .writer = TRACK_LANES};
    timeline->event = malloc((count + 1) * sizeof *timeline->event);
    if (!timeline->event || !free_s) {
        free(free_s);
        timeline_free(timeline);
        return gf_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        if (profile->spans[i].lane >= timeline->writer - TRACK_LANES)
            timeline->writer = TRACK_LANES + profile->spans[i].lane + 1;
    }
    for (size_t i = 0; i < count; i++)
        timeline->event[i] =
            (struct event){&profile->spans[i], track_of(&profile->spans[i], timeline->writer), 0};
    qsort(timeline->event, count, sizeof *timeline->event, by_track);
    assign_layers(timeline, free_s);
    free(free_s);
    return GF_OK;
}

/* Writes "reader", "lane 2", or "lane 2 (2)" for the second layer. */
static void timeline_name(const struct timeline *timeline, const struct event *event, char *name,
                          size_t size)
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

/* ---- the timeline in Chrome's trace-event format: complete events ("X"), with times in
 * microseconds ---- */

/* The most layers of a track, so that thread ids are unique and in the order of the tracks. */
enum { LAYERS_MAX = 1000 };

static int thread_of(const struct event *event)
{
    return 1 + event->track * LAYERS_MAX + event->layer % LAYERS_MAX;
}

static void begin_metadata(struct gf_json *json, int thread, const char *name)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    gf_json_string(json, "ph", "M");
    gf_json_number(json, "pid", 1, 0);
    if (thread >= 0)
        gf_json_number(json, "tid", thread, 0);
    gf_json_string(json, "name", name);
    gf_json_object(json, "args", GF_JSON_INLINE);
}

static void end_both(struct gf_json *json)
{
    gf_json_end(json);
    gf_json_end(json);
}

/* Writes an event of metadata about a thread; -1 stands for the whole process. */
static void put_metadata(struct gf_json *json, int thread, const char *name, const char *key,
                         const char *value)
{
    begin_metadata(json, thread, name);
    gf_json_string(json, key, value);
    end_both(json);
}

/* Writes a track's name and position, before its first event. */
static void put_track(struct gf_json *json, const struct timeline *timeline,
                      const struct event *event)
{
    char name[48];
    timeline_name(timeline, event, name, sizeof name);
    put_metadata(json, thread_of(event), "thread_name", "name", name);
    begin_metadata(json, thread_of(event), "thread_sort_index");
    gf_json_number(json, "sort_index", thread_of(event), 0);
    end_both(json);
}

static void put_event(struct gf_json *json, const struct gf_profile *profile,
                      const struct event *event)
{
    const struct gf_span *const span = event->span;
    const double duration_s = span->end_s > span->begin_s ? span->end_s - span->begin_s : 0;
    char name[112];
    gf_profile_span_name(profile, span->kind, span->stage, name, sizeof name);
    gf_json_object(json, NULL, GF_JSON_INLINE);
    gf_json_string(json, "ph", "X");
    gf_json_string(json, "name", name);
    gf_json_string(json, "cat", gf_span_kind_name(span->kind));
    gf_json_number(json, "pid", 1, 0);
    gf_json_number(json, "tid", thread_of(event), 0);
    gf_json_number(json, "ts", span->begin_s * 1e6, 3);
    gf_json_number(json, "dur", duration_s * 1e6, 3);
    gf_json_object(json, "args", GF_JSON_INLINE);
    gf_json_number(json, "bytes", (double)span->bytes, 0);
    if (span->bytes && duration_s > 0)
        gf_json_number(json, "GB/s", (double)span->bytes / duration_s * 1e-9, 3);
    end_both(json);
}

static void put_trace(FILE *file, const struct gf_profile *profile, const struct timeline *timeline)
{
    struct gf_json json = gf_json_begin(file);
    /* Number of the highest thread whose name was written; the events are sorted by track. */
    int named = 0;
    json.indent = 0;
    gf_json_object(&json, NULL, GF_JSON_INLINE);
    gf_json_string(&json, "displayTimeUnit", "ms");
    gf_json_array(&json, "traceEvents", GF_JSON_LINES);
    put_metadata(&json, -1, "process_name", "name", "gpufilter");
    put_metadata(&json, 0, "process_labels", "labels", profile->device);
    for (size_t i = 0; i < timeline->count; i++) {
        const struct event *const event = &timeline->event[i];
        if (thread_of(event) > named) {
            named = thread_of(event);
            put_track(&json, timeline, event);
        }
        put_event(&json, profile, event);
    }
    end_both(&json);
}

enum gf_status gf_trace_write(const struct gf_profile *profile, FILE *file, struct gf_error *error)
{
    struct timeline timeline;
    GF_TRY(timeline_make(profile, &timeline, error));
    put_trace(file, profile, &timeline);
    timeline_free(&timeline);
    return GF_OK;
}

/* ---- the timeline on the page ---- */

/* The most boxes of the page's drawing, where spans are joined. */
enum { BOXES_MAX = 2400 };

static int by_layer(const void *a, const void *b)
{
    const struct event *const x = a, *const y = b;
    return x->track == y->track && x->layer != y->layer ? x->layer - y->layer : by_track(a, b);
}

/* Joins the spans of one stage that follow each other on a layer within gap_s, and writes each
 * joined box as the JSON of a profile writes a span, with the number of its spans at the end.
 * Returns how many boxes that makes. With a `json` of NULL nothing is written. */
static size_t join(struct gf_json *json, const struct timeline *timeline,
                   const struct gf_profile_report *report, double gap_s)
{
    size_t boxes = 0;
    for (size_t first = 0, next; first < timeline->count; first = next, boxes++) {
        const struct event *const event = &timeline->event[first];
        const int row = gf_profile_report_row_of(report, event->span);
        double end_s = event->span->end_s, bytes = (double)event->span->bytes;
        for (next = first + 1; next < timeline->count; next++) {
            const struct event *const other = &timeline->event[next];
            if (other->track != event->track || other->layer != event->layer ||
                other->span->begin_s - end_s > gap_s ||
                gf_profile_report_row_of(report, other->span) != row)
                break;
            end_s = fmax(end_s, other->span->end_s);
            bytes += (double)other->span->bytes;
        }
        if (!json)
            continue;
        gf_json_array(json, NULL, GF_JSON_COMPACT);
        gf_json_number(json, NULL, row, 0);
        gf_json_number(json, NULL, event->span->lane, 0);
        gf_json_number(json, NULL, event->span->begin_s * 1e3, 4);
        gf_json_number(json, NULL, end_s * 1e3, 4);
        gf_json_number(json, NULL, bytes, 0);
        gf_json_number(json, NULL, (double)(next - first), 0);
        gf_json_end(json);
    }
    return boxes;
}

/* Writes joined spans for a run that has too many to save them all. */
static GF_CHECKED enum gf_status put_joined(FILE *file, const struct gf_profile_report *report,
                                            const struct gf_profile *profile,
                                            struct gf_error *error)
{
    struct timeline timeline;
    struct gf_json json = gf_json_begin(file);
    double end_s = 0, gap_s = 0;
    GF_TRY(timeline_make(profile, &timeline, error));
    qsort(timeline.event, timeline.count, sizeof *timeline.event, by_layer);
    for (size_t i = 0; i < timeline.count; i++)
        end_s = fmax(end_s, profile->spans[i].end_s);
    do {
        gap_s = gap_s > 0 ? 2 * gap_s : end_s / 8000;
    } while (gap_s < end_s && join(NULL, &timeline, report, gap_s) > BOXES_MAX);
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    gf_json_number(&json, "count", (double)timeline.count, 0);
    gf_json_number(&json, "gap_ms", gap_s * 1e3, 3);
    gf_json_array(&json, "spans", GF_JSON_LINES);
    (void)join(&json, &timeline, report, gap_s);
    gf_json_end(&json);
    gf_json_end(&json);
    timeline_free(&timeline);
    return GF_OK;
}

enum gf_status gf_profile_page(struct gf_page *page, const struct gf_profile_report *report,
                               const struct gf_profile *profile, const char *name,
                               struct gf_error *error)
{
    gf_profile_report_json(report, profile, gf_page_part(page, "run", name));
    if (profile->span_count <= GF_PROFILE_SPANS_SAVED)
        return GF_OK;
    return put_joined(gf_page_part(page, "spans", ""), report, profile, error);
}
