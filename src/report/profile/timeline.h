/* The positions of a run's spans on a timeline. The start of the device, the reader, every lane and
 * the writer have a track each; overlapping spans of a track are on different layers. */
#ifndef GF_REPORT_PROFILE_TIMELINE_H
#define GF_REPORT_PROFILE_TIMELINE_H

#include "gpufilter/profile.h"
#include "gpufilter/status.h"

struct gf_timeline_event {
    const struct gf_span *span;
    int track;
    int layer; /* 0 unless the event overlaps others of its track */
};

struct gf_timeline {
    struct gf_timeline_event *event; /* the events, sorted by track, then by their begin */
    size_t count;
    int writer; /* the number of the last track */
};

enum gf_status gf_timeline_make(const struct gf_profile *profile, struct gf_timeline *timeline,
                                struct gf_error *error) GF_CHECKED;
void gf_timeline_free(struct gf_timeline *timeline);
/* Writes "reader", "lane 2", or "lane 2 (2)" for the second layer. */
void gf_timeline_name(const struct gf_timeline *timeline, const struct gf_timeline_event *event,
                      char *name, size_t size);

#endif
