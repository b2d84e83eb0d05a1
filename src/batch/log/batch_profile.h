/* Joins the profiles of all pictures of a batch to one, for --profile and --trace. */
#ifndef GF_BATCH_LOG_BATCH_PROFILE_H
#define GF_BATCH_LOG_BATCH_PROFILE_H

#include <stdbool.h>

#include "gpufilter/pipeline.h"

/* All zeros: no pictures. One thread at a time may add a picture. */
struct gf_batch_profile {
    struct gf_profile merged;
    /* the spans of all pictures; each picture's times count from its own beginning until
     * gf_batch_profile_timeline() moves them */
    struct gf_span *span;
    size_t span_capacity;
    struct gf_batch_profile_picture *picture;
    size_t pictures, picture_capacity;
    struct gf_profile_stage *stage; /* the stages of all pictures, whose formats may differ */
    bool incomplete;                /* memory ran out */
};

/* Adds a picture. begin_s is the time when its run began, counted from the beginning of the
 * batch. */
void gf_batch_profile_add(struct gf_batch_profile *profile, const struct gf_profile *picture,
                          double begin_s, int worker);

/* Moves the spans to the times of one timeline and returns its profile. With `sequential` the
 * pictures lie one after another, so that the times of simultaneous work add up; otherwise they lie
 * as they ran. */
enum gf_status gf_batch_profile_timeline(struct gf_batch_profile *profile, bool sequential,
                                         struct gf_error *error) GF_CHECKED;
void gf_batch_profile_free(struct gf_batch_profile *profile);

#endif
