/* Where a run's data goes: how each segment is cut into bands, how many lanes take them, what a
 * lane's buffers hold, which pictures between segments lie on the device. Arithmetic and one
 * question to the backend; what is explained and what is run are the same. */
#ifndef GF_ENGINE_LAYOUT_H
#define GF_ENGINE_LAYOUT_H

#include "engine/bands.h"
#include "engine/schedule.h"

struct gf_layout {
    struct gf_bands *bands; /* [segment] */
    bool *on_device;        /* [segment]: where its result lies, if it lies whole */
    size_t in_bytes, between_bytes, scratch_bytes; /* of a lane */
};

/* Cuts every segment into bands and takes the largest of what they need. The device need not be
 * there. */
enum gf_status gf_layout_make(const struct gf_run *run, struct gf_layout *layout,
                              struct gf_error *error) GF_CHECKED;
void gf_layout_free(struct gf_layout *layout);
/* On a device that is there: which pictures between segments lie on it, namely those that leave
 * room for the lanes; and what the lanes need to take their input from the host. */
void gf_layout_divide(const struct gf_run *run, struct gf_layout *layout);
/* The lanes: no more than there are bands in any segment. */
int gf_layout_lanes(const struct gf_run *run, const struct gf_layout *layout);
/* Whether the bands of the segment each read most of a picture, as a transpose's do, that lies in
 * host memory because the device had no room for it. */
bool gf_layout_starts_on_host(const struct gf_run *run, const struct gf_layout *layout,
                              int segment);

static inline size_t gf_layout_round(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

#endif
