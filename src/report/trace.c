/* The timeline in Chrome's trace-event format: complete events ("X"), times in microseconds. */
#include <stdlib.h>
#include <string.h>

#include "report/profile_report.h"

/* Tracks, from the top: the start-up, the reader, the lanes, the writer. */
enum { TRACK_START, TRACK_READER, TRACK_LANES };

struct event {
    const struct gf_span *span;
    int track;
    int layer; /* 0 unless it overlaps others of its track: viewers show only nested spans together
                */
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

/* Puts each event into the first layer of its track that is free at its beginning. The events are
 * sorted. free_s is scratch. */
static void assign_layers(struct event *event, size_t count, double *free_s)
{
    int layers = 0;
    for (size_t i = 0; i < count; i++) {
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

static void name_track(int track, int writer, char *name, size_t size)
{
    if (track >= TRACK_LANES && track != writer)
        snprintf(name, size, "lane %d", track - TRACK_LANES);
    else
        snprintf(name, size, "%s",
                 track == TRACK_START    ? "CUDA start"
                 : track == TRACK_READER ? "reader"
                                         : "writer");
}

/* The number of layers for which thread ids are unique and in the order of the tracks. */
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

/* thread: -1 for the whole process. */
static void put_metadata(struct gf_json *json, int thread, const char *name, const char *key,
                         const char *value)
{
    begin_metadata(json, thread, name);
    gf_json_string(json, key, value);
    end_both(json);
}

/* A track's name and place, before its first event. */
static void put_track(struct gf_json *json, const struct event *event, int writer)
{
    char name[48];
    name_track(event->track, writer, name, sizeof name);
    if (event->layer)
        snprintf(name + strlen(name), sizeof name - strlen(name), " (%d)", event->layer + 1);
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

static void put_trace(FILE *file, const struct gf_profile *profile, const struct event *event,
                      int writer)
{
    struct gf_json json = gf_json_begin(file);
    int named = 0; /* the last thread whose name was written: the events are sorted by track */
    json.indent = 0;
    gf_json_object(&json, NULL, GF_JSON_INLINE);
    gf_json_string(&json, "displayTimeUnit", "ms");
    gf_json_array(&json, "traceEvents", GF_JSON_LINES);
    put_metadata(&json, -1, "process_name", "name", "gpufilter");
    put_metadata(&json, 0, "process_labels", "labels", profile->device);
    for (size_t i = 0; i < profile->span_count; i++) {
        if (thread_of(&event[i]) > named) {
            named = thread_of(&event[i]);
            put_track(&json, &event[i], writer);
        }
        put_event(&json, profile, &event[i]);
    }
    end_both(&json);
}

enum gf_status gf_trace_write(const struct gf_profile *profile, FILE *file, struct gf_error *error)
{
    const size_t count = profile->span_count;
    struct event *const event = malloc((count + 1) * sizeof *event);
    double *const free_s = malloc((count + 1) * sizeof *free_s);
    int writer = TRACK_LANES;
    if (!event || !free_s) {
        free(event);
        free(free_s);
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        if (profile->spans[i].lane >= writer - TRACK_LANES)
            writer = TRACK_LANES + profile->spans[i].lane + 1;
    }
    for (size_t i = 0; i < count; i++)
        event[i] = (struct event){&profile->spans[i], track_of(&profile->spans[i], writer), 0};
    qsort(event, count, sizeof *event, by_track);
    assign_layers(event, count, free_s);
    put_trace(file, profile, event, writer);
    free(event);
    free(free_s);
    return GF_OK;
}
