/* The layout of a schedule: the bands of each segment, the number of lanes that work on them, the
 * sizes of a lane's buffers, and which pictures between segments stay on the device. --explain and
 * gf_schedule_plan() use the same layout. */
#pragma once

#include "engine/bands.h"
#include "engine/schedule.h"

struct gf_layout {
    struct gf_bands *bands; /* [segment] */
    bool *on_device;        /* [segment]: the segment's result, if it is kept whole, stays on the
                             * device */
    size_t in_bytes, between_bytes, scratch_bytes; /* the sizes of a lane's buffers */
};

/* Cuts every segment into bands, and makes a lane's buffers large enough for every segment. The
 * device need not be ready. */
enum gf_status gf_layout_make(const struct gf_schedule *schedule, struct gf_layout *layout,
                              struct gf_error *error) GF_CHECKED;
void gf_layout_free(struct gf_layout *layout);
/* Decides which pictures between segments stay on the device, so that enough memory is left for the
 * lanes, and how large the lanes' inputs are. The device must be ready. */
void gf_layout_place_pictures(const struct gf_schedule *schedule, struct gf_layout *layout);
/* Returns the number of lanes: at most the number of bands of the segment with the most bands. */
int gf_layout_lanes(const struct gf_schedule *schedule, const struct gf_layout *layout);
/* Returns the host memory of the lanes, and of the rings between them and the codecs. */
uint64_t gf_layout_host_bytes(const struct gf_schedule *schedule, const struct gf_layout *layout);
/* Whether the segment's first stage must run on the host: each of its bands reads most of a
 * picture, as a transpose does, and the device has too little memory for that picture. */
bool gf_layout_first_stage_on_host(const struct gf_schedule *schedule,
                                   const struct gf_layout *layout, int segment);

/* Buffers of a lane begin at multiples of 256 bytes. */
static inline size_t gf_layout_round(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Returns the size of all of a lane's buffers together. */
static inline size_t gf_layout_lane_bytes(const struct gf_layout *layout)
{
    return layout->in_bytes + 2 * layout->between_bytes + layout->scratch_bytes;
}
