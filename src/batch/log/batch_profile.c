#include "batch/log/batch_profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"

/* A picture. Its spans are first..end-1. begin_s is the time at which its run began, counted from
 * the batch's begin; wall_s is how long the run took. shift_s is what gf_batch_profile_timeline()
 * last added to the times of its spans, at first 0. */
struct gf_batch_profile_picture {
    size_t first, end;
    double begin_s, wall_s, shift_s;
};

/* Returns the stage's index among the stages of all pictures; -1 if memory runs out. */
static int stage_index(struct gf_batch_profile *profile, const struct gf_profile_stage *stage)
{
    struct gf_profile *const merged = &profile->merged;
    for (int i = 0; i < merged->stage_count; i++) {
        if (profile->stage[i].segment == stage->segment &&
            !strcmp(profile->stage[i].name, stage->name))
            return i;
    }
    if (!GF_GROW(profile->stage, merged->stage_count))
        return -1;
    profile->stage[merged->stage_count] = *stage;
    return merged->stage_count++;
}

static bool add_spans(struct gf_batch_profile *profile, const struct gf_profile *picture,
                      int worker)
{
    struct gf_profile *const merged = &profile->merged;
    const bool grown =
        GF_RESERVE(profile->span, profile->span_room, merged->span_count + picture->span_count);
    for (size_t i = 0; grown && i < picture->span_count; i++) {
        struct gf_span span = picture->spans[i];
        if (span.stage >= 0 && span.stage < picture->stage_count)
            span.stage = stage_index(profile, &picture->stages[span.stage]);
        if (span.lane >= 0)
            span.lane += worker * picture->lanes;
        profile->span[merged->span_count++] = span;
    }
    return grown;
}

void gf_batch_profile_add(struct gf_batch_profile *profile, const struct gf_profile *picture,
                          double begin_s, int worker)
{
    struct gf_profile *const merged = &profile->merged;
    const size_t first = merged->span_count;
    const double wall_s = merged->wall_s;
    if (!GF_GROW(profile->picture, profile->pictures) || !add_spans(profile, picture, worker)) {
        profile->incomplete = true;
        return;
    }
    /* Members about the device and about the plan describe the last picture. */
    const int stages = merged->stage_count, frames = merged->frames;
    *merged = *picture;
    merged->span_count = first + picture->span_count;
    merged->stage_count = stages;
    merged->wall_s = wall_s + picture->wall_s;
    merged->frames = frames + picture->frames;
    profile->picture[profile->pictures++] = (struct gf_batch_profile_picture){
        .first = first, .end = merged->span_count, .begin_s = begin_s, .wall_s = picture->wall_s};
}

enum gf_status gf_batch_profile_timeline(struct gf_batch_profile *profile, bool sequential,
                                         struct gf_error *error)
{
    double end_s = 0;
    if (profile->incomplete)
        return gf_fail_memory(error);
    for (size_t p = 0; p < profile->pictures; p++) {
        struct gf_batch_profile_picture *const picture = &profile->picture[p];
        const double shift_s = sequential ? end_s : picture->begin_s;
        for (size_t i = picture->first; i < picture->end; i++) {
            profile->span[i].begin_s += shift_s - picture->shift_s;
            profile->span[i].end_s += shift_s - picture->shift_s;
        }
        picture->shift_s = shift_s;
        end_s += picture->wall_s;
    }
    profile->merged.spans = profile->span;
    profile->merged.stages = profile->stage;
    return GF_OK;
}

void gf_batch_profile_free(struct gf_batch_profile *profile)
{
    free(profile->span);
    free(profile->picture);
    free(profile->stage);
    *profile = (struct gf_batch_profile){0};
}
