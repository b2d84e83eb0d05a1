#pragma once

#include <stdbool.h>

#include "gpufilter/pipeline.h"

/* The joined profiles. All zeros: no pictures. One thread at a time may add a picture. */
struct gf_batch_profile {
    struct gf_profile merged;
    /* The spans of all pictures. Each picture's times count from its own begin until
     * gf_batch_profile_timeline() changes them. */
    struct gf_span *span;
    size_t span_room;
    struct gf_batch_profile_picture *picture;
    size_t pictures;
    struct gf_profile_stage *stage; /* the stages of all pictures, whose formats may differ */
    bool incomplete;                /* memory ran out */
};

/* Adds a picture. begin_s is the time at which its run began, counted from the begin of the
 * batch. */
void gf_batch_profile_add(struct gf_batch_profile *profile, const struct gf_profile *picture,
                          double begin_s, int worker);

/* Changes the times of the spans to times of one timeline and returns its profile. With
 * `sequential` the pictures follow one another, so that the times of simultaneous work add up;
 * otherwise they keep the times at which they ran. */
enum gf_status gf_batch_profile_timeline(struct gf_batch_profile *profile, bool sequential,
                                         struct gf_error *error) GF_CHECKED;
void gf_batch_profile_free(struct gf_batch_profile *profile);
