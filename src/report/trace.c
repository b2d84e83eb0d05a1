/* The timeline in Chrome's trace-event format: complete events ("X"), times in microseconds. */
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/report.h"

/* Tracks, from the top: the start-up, the reader, the lanes, the writer. */
enum { TRACK_START, TRACK_READER, TRACK_LANES };

struct event {
    const struct gf_span *span;
    int track;
    int layer; /* spans of one track that overlap lie in layers: a viewer only nests what is nested
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

/* Gives each event the first layer of its track that is free again; the events are sorted. */
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

/* Thread ids stay unique and in order with up to this many layers, and stay readable numbers. */
enum { LAYERS_MAX = 1000 };

static int thread_of(const struct event *event)
{
    return 1 + event->track * LAYERS_MAX + event->layer % LAYERS_MAX;
}

static void put_metadata(FILE *file, int thread, const char *what, const char *key,
                         const char *value)
{
    fprintf(file,
            ",\n{\"ph\": \"M\", \"pid\": 1, \"tid\": %d, \"name\": \"%s\", \"args\": {\"%s\": ",
            thread, what, key);
    gf_json_string(file, value);
    fputs("}}", file);
}

/* The names of the tracks, each before its first event. */
static void put_track(FILE *file, const struct event *event, int writer)
{
    char name[48];
    name_track(event->track, writer, name, sizeof name);
    if (event->layer)
        snprintf(name + strlen(name), sizeof name - strlen(name), " (%d)", event->layer + 1);
    put_metadata(file, thread_of(event), "thread_name", "name", name);
    fprintf(file,
            ",\n{\"ph\": \"M\", \"pid\": 1, \"tid\": %d, \"name\": \"thread_sort_index\", "
            "\"args\": {\"sort_index\": %d}}",
            thread_of(event), thread_of(event));
}

static void put_event(FILE *file, const struct gf_profile *profile, const struct event *event)
{
    const struct gf_span *const span = event->span;
    const double duration_s = span->end_s > span->begin_s ? span->end_s - span->begin_s : 0;
    char name[112];
    gf_report_name(profile, span->kind, span->stage, name, sizeof name);
    fputs(",\n{\"ph\": \"X\", \"name\": ", file);
    gf_json_string(file, name);
    fprintf(file,
            ", \"cat\": \"%s\", \"pid\": 1, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, "
            "\"args\": {\"bytes\": %zu",
            gf_span_kind_name(span->kind), thread_of(event), span->begin_s * 1e6, duration_s * 1e6,
            span->bytes);
    if (span->bytes && duration_s > 0)
        fprintf(file, ", \"GB/s\": %.3f", (double)span->bytes / duration_s * 1e-9);
    fputs("}}", file);
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
    fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
          "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": ",
          file);
    gf_json_string(file, "gpufilter");
    fputs("}}", file);
    put_metadata(file, 0, "process_labels", "labels", profile->device);
    int named = 0; /* the events come by track; threads are named as they first appear */
    for (size_t i = 0; i < count; i++) {
        if (thread_of(&event[i]) > named) {
            named = thread_of(&event[i]);
            put_track(file, &event[i], writer);
        }
        put_event(file, profile, &event[i]);
    }
    fputs("\n]}\n", file);
    free(event);
    free(free_s);
    return GF_OK;
}
