/* How a schedule lies in memory: bands, rings, whole pictures, and the layout that decides on them.
 * The first part cuts a segment into bands for a backend and computes how much memory a band
 * takes. */
#pragma once

#include <stddef.h>

#include "base/memory/buffers.h"
#include "chain/plan.h"
#include "engine/backend.h"
#include "engine/engine.h"

static inline size_t gf_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

struct gf_bands {
    int rows;     /* the rows of a band of the result; the last band may have fewer */
    int count;    /* the number of bands */
    bool tapered; /* the first two and the last two bands are smaller */
    int in_rows;  /* the largest number of input rows that a band needs */
    size_t in_pitch, out_pitch;
    size_t in_bytes, out_bytes; /* the bytes of a band's input and of its result, with these
                                 * pitches */
    size_t between_bytes; /* bytes of the largest result of a stage before the last; stages write to
                           * two such buffers in turn */
    size_t scratch_bytes;
};

/* Returns the bytes from one row of a band to the next. In device memory rows begin at multiples of
 * 16 bytes; on a unified backend there are no gaps between them. */
size_t gf_band_pitch(const struct gf_backend *backend, struct gf_format format);

/* How much host memory the bands in work may take: in the rings between the codecs and the lanes,
 * and on a unified backend also in the stages' buffers. */
struct gf_bands_budget {
    uint64_t bytes;
    bool is_limit; /* bands must fit the budget, even if their halos then have more rows than their
                    * results */
    /* Whether the segment reads from a codec, and whether it writes to one. */
    bool streams_in, streams_out;
};

/* Cuts a segment into bands of `rows` rows; 0: the backend and the budget determine the number. */
struct gf_bands gf_bands_cut(const struct gf_plan *plan, const struct gf_segment *segment,
                             const struct gf_backend *backend, int rows, int lanes,
                             const struct gf_bands_budget *budget);

/* Returns the rows of the result that belong to band b. */
struct gf_rows gf_bands_rows(const struct gf_bands *bands, const struct gf_segment *segment, int b);

/* A ring of equal slots in host memory. Band b uses slot b mod count. */

struct gf_ring {
    unsigned char *data;
    size_t slot_bytes;
    int count;
    bool borrowed;               /* the memory is another ring's, which frees it */
    struct gf_pages_ahead ahead; /* a thread makes the kernel provide the memory before the reader
                                  * and the lanes use it */
};

void gf_ring_free(struct gf_ring *ring, struct gf_buffer_pool *buffers);

static inline unsigned char *gf_ring_slot(const struct gf_ring *ring, int band)
{
    return ring->data + (size_t)(band % ring->count) * ring->slot_bytes;
}

/* Where a segment's input or its result lies in memory. */

enum gf_placement_kind {
    GF_PLACEMENT_STREAM, /* band by band in a ring of bands; the whole picture is never in memory */
    GF_PLACEMENT_BACKEND, /* whole, in memory that the backend's stages can read and write */
    GF_PLACEMENT_HOST,    /* whole, in host memory from which bands are copied to the device, or to
                           * which they are copied back */
};

struct gf_placement {
    enum gf_placement_kind kind;
    struct gf_view view; /* the whole picture */
    bool from_pool;      /* the picture's memory belongs to the buffer pool */
    bool pinned;         /* the memory is the caller's, and gf_placement_free() must unpin it */
    bool waits;          /* copies from or to this memory are synchronous, since it is not pinned */
};

/* Allocates memory for a whole picture: in host memory or, if on_device is true, in the backend's
 * memory, where GF_ERROR_DEVICE_MEMORY means that none is left. */
enum gf_status gf_placement_alloc(struct gf_buffer_pool *buffers, struct gf_format format,
                                  bool on_device, struct gf_placement *placement,
                                  struct gf_error *error) GF_CHECKED;
/* Describes a caller's picture, which lies in host memory or, if on_device is true, in the
 * backend's memory. */
struct gf_placement gf_placement_image(struct gf_backend *backend, const struct gf_image *image,
                                       bool on_device);
/* Returns the same placement for a second user, whose gf_placement_free() does not free the
 * memory. */
struct gf_placement gf_placement_borrow(const struct gf_placement *placement);
void gf_placement_free(struct gf_buffer_pool *buffers, struct gf_placement *placement);

/* The layout of a schedule: the bands of each segment, the number of lanes that work on them, the
 * sizes of a lane's buffers, and which pictures between segments stay on the device. --explain and
 * gf_schedule_plan() use the same layout. */

struct gf_layout {
    struct gf_bands *bands; /* an element for each segment */
    bool *on_device; /* for each segment: its result, if it is kept whole, stays on the device */
    size_t in_bytes, between_bytes, scratch_bytes; /* bytes of each of a lane's buffers */
};

/* Cuts every segment into bands, and determines the bytes of a lane's buffers, which serve all
 * segments. The device need not be ready. */
enum gf_status gf_layout_make(const struct gf_schedule *schedule, struct gf_layout *layout,
                              struct gf_error *error) GF_CHECKED;
void gf_layout_free(struct gf_layout *layout);
/* Decides which pictures between segments stay on the device, so that enough memory is left for the
 * lanes, and how large the lanes' inputs are. The device must be ready. */
void gf_layout_place_pictures(const struct gf_schedule *schedule, struct gf_layout *layout);
/* Returns the number of lanes: at most one for each band of the segment with the most bands. */
int gf_layout_lanes(const struct gf_schedule *schedule, const struct gf_layout *layout);
/* Returns the bytes of host memory that the lanes and the rings between them and the codecs
 * take. */
uint64_t gf_layout_host_bytes(const struct gf_schedule *schedule, const struct gf_layout *layout);
/* Whether the segment's first stage must run on the host: each of its bands reads most of a
 * picture, as a transpose does, and the device has too little memory for that picture. */
bool gf_layout_first_stage_on_host(const struct gf_schedule *schedule,
                                   const struct gf_layout *layout, int segment);

/* Rounds bytes up to a multiple of 256, where the next of a lane's buffers begins. */
static inline size_t gf_layout_round(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static inline size_t gf_layout_lane_bytes(const struct gf_layout *layout)
{
    return layout->in_bytes + 2 * layout->between_bytes + layout->scratch_bytes;
}
