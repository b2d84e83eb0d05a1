/* The layout of a schedule in memory: its bands and lanes, the rings between codecs and lanes, and
 * the pictures that are held whole between segments. */
#include "engine/layout.h"

#include <stdlib.h>

#include "base/fail.h"
#include "engine/pass.h"
#include "pixel/histogram/histogram.h"
#include "pixel/float_stage.h"

enum gf_status gf_layout_make(const struct gf_schedule *schedule, struct gf_layout *layout,
                              struct gf_error *error)
{
    const int count = schedule->plan->segment_count;
    const bool unified = schedule->backend->calls->unified;
    *layout = (struct gf_layout){.bands = calloc((size_t)count, sizeof *layout->bands),
                                 .on_device = calloc((size_t)count, sizeof *layout->on_device)};
    GF_ALLOCATED(layout->bands && layout->on_device, error);
    for (int s = 0; s < count; s++) {
        const struct gf_segment *const segment = &schedule->plan->segment[s];
        struct gf_bands *const bands = &layout->bands[s];
        const struct gf_bands_budget budget = {.bytes = schedule->options->memory_bytes,
                                               .is_limit = schedule->memory_is_limit,
                                               .streams_in = !s && schedule->source,
                                               .streams_out = s + 1 == count && schedule->sink};
        *bands = gf_bands_cut(schedule->plan, segment, schedule->backend, schedule->band_rows,
                              schedule->lanes, &budget);
        if (!unified || segment->count > 1)
            layout->between_bytes =
                gf_larger(layout->between_bytes, gf_layout_round(bands->between_bytes));
        layout->scratch_bytes =
            gf_larger(layout->scratch_bytes, gf_layout_round(bands->scratch_bytes));
    }
    return GF_OK;
}

void gf_layout_free(struct gf_layout *layout)
{
    free(layout->on_device);
    free(layout->bands);
    *layout = (struct gf_layout){0};
}

int gf_layout_lanes(const struct gf_schedule *schedule, const struct gf_layout *layout)
{
    int most = 1;
    for (int s = 0; s < schedule->plan->segment_count; s++)
        most = layout->bands[s].count > most ? layout->bands[s].count : most;
    return most < schedule->lanes ? most : schedule->lanes;
}

uint64_t gf_layout_host_bytes(const struct gf_schedule *schedule, const struct gf_layout *layout)
{
    const struct gf_bands *const first = &layout->bands[0],
                                 *const last = &layout->bands[schedule->plan->segment_count - 1];
    const uint64_t lanes = (uint64_t)gf_layout_lanes(schedule, layout);
    const uint64_t in = schedule->source ? first->in_bytes : 0,
                   out = schedule->sink ? last->out_bytes : 0;
    /* With several segments the writer uses the reader's ring if that is large enough
     * (gf_lanes_alloc_rings()). */
    const bool shared = schedule->plan->segment_count > 1 && out <= in;
    const uint64_t ring = shared ? in : in + out;
    return ring * (lanes + 1) +
           (schedule->backend->calls->unified ? gf_layout_lane_bytes(layout) * lanes : 0);
}

bool gf_layout_first_stage_on_host(const struct gf_schedule *schedule,
                                   const struct gf_layout *layout, int s)
{
    const struct gf_plan *const plan = schedule->plan;
    const struct gf_segment *const segment = &plan->segment[s];
    return s && !schedule->backend->calls->unified && !layout->on_device[s - 1] &&
           gf_stage_needs_whole(&plan->stage[segment->first]) &&
           layout->bands[s].in_rows > segment->in.height / 2;
}

/* Returns the bytes of a segment's result as a whole picture. */
static uint64_t result_bytes(const struct gf_schedule *schedule, int s)
{
    const struct gf_format format = schedule->plan->segment[s].out;
    return (uint64_t)gf_band_pitch(schedule->backend, format) * (uint64_t)format.height;
}

/* Returns the bytes of device memory that are left for the lanes, which need lanes_bytes, and for
 * whole pictures between segments. The driver, which answers slowly, is asked only if the buffers
 * that the pool keeps from the last picture are not enough. */
static uint64_t available_bytes(const struct gf_schedule *schedule, uint64_t lanes_bytes)
{
    uint64_t enough = lanes_bytes;
    if (schedule->plan->segment_count < 2)
        return 0;
    if (!schedule->buffers)
        return schedule->backend->calls->free_bytes(schedule->backend);
    for (int s = 0; s + 1 < schedule->plan->segment_count; s++)
        enough += result_bytes(schedule, s);
    return gf_buffer_pool_free_bytes(schedule->buffers, enough);
}

void gf_layout_place_pictures(const struct gf_schedule *schedule, struct gf_layout *layout)
{
    layout->in_bytes = gf_layout_round(layout->bands[0].in_bytes);
    const uint64_t lanes_bytes =
        (uint64_t)gf_layout_lanes(schedule, layout) * gf_layout_lane_bytes(layout);
    const uint64_t free_bytes = available_bytes(schedule, lanes_bytes);
    uint64_t before = 0;
    for (int s = 0; s + 1 < schedule->plan->segment_count; s++) {
        /* The result of a first segment without stages is the input itself. */
        const bool is_input = !s && schedule->in_on_device && !schedule->plan->segment[s].count;
        const uint64_t bytes = is_input ? 0 : result_bytes(schedule, s);
        layout->on_device[s] = is_input || lanes_bytes + before + bytes <= free_bytes;
        before = layout->on_device[s] ? bytes : 0;
        if (!layout->on_device[s])
            layout->in_bytes =
                gf_larger(layout->in_bytes, gf_layout_first_stage_on_host(schedule, layout, s + 1)
                                                ? layout->between_bytes
                                                : gf_layout_round(layout->bands[s + 1].in_bytes));
    }
}

enum { PAGE = 4096 };

static struct gf_ring shape(size_t slot_bytes, int count)
{
    return (struct gf_ring){.slot_bytes = (slot_bytes + PAGE - 1) / PAGE * PAGE, .count = count};
}

static GF_CHECKED enum gf_status ring_alloc(struct gf_ring *ring, struct gf_buffer_pool *buffers,
                                            size_t slot_bytes, int count, struct gf_error *error)
{
    *ring = shape(slot_bytes, count);
    ring->data = gf_buffer_pool_take_host(buffers, ring->slot_bytes * (size_t)count);
    return ring->data ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory for band buffers");
}

/* Puts a ring into the memory of another ring, `lender`, which must live longer and must not be
 * used at the same time. Returns false if that memory is too small. */
static bool ring_borrow(struct gf_ring *ring, const struct gf_ring *lender, size_t slot_bytes,
                        int count)
{
    struct gf_ring borrowed = shape(slot_bytes, count);
    if (borrowed.slot_bytes * (size_t)count > lender->slot_bytes * (size_t)lender->count)
        return false;
    borrowed.data = lender->data;
    borrowed.borrowed = true;
    *ring = borrowed;
    return true;
}

void gf_ring_free(struct gf_ring *ring, struct gf_buffer_pool *buffers)
{
    gf_pages_ahead_end(&ring->ahead);
    if (!ring->borrowed)
        gf_buffer_pool_return(buffers, ring->data);
    *ring = (struct gf_ring){0};
}

enum gf_status gf_placement_alloc(struct gf_buffer_pool *buffers, struct gf_format format,
                                  bool on_device, struct gf_placement *placement,
                                  struct gf_error *error)
{
    const bool in_memory = buffers->backend->calls->unified || on_device;
    const size_t pitch = gf_band_pitch(buffers->backend, format);
    const size_t bytes = pitch * (size_t)format.height;
    void *const data =
        in_memory ? gf_buffer_pool_take(buffers, bytes) : gf_buffer_pool_take_host(buffers, bytes);
    *placement =
        (struct gf_placement){.kind = in_memory ? GF_PLACEMENT_BACKEND : GF_PLACEMENT_HOST};
    if (!data)
        return gf_fail(error,
                       !buffers->backend->calls->unified && on_device ? GF_ERROR_DEVICE_MEMORY
                                                                      : GF_ERROR_MEMORY,
                       "out of memory for a picture of %dx%d", format.width, format.height);
    if (!in_memory)
        gf_buffer_pool_pin(buffers, data);
    placement->from_pool = true;
    placement->view = gf_view_make(data, pitch, format, (struct gf_rows){0, format.height});
    return GF_OK;
}

struct gf_placement gf_placement_image(struct gf_backend *backend, const struct gf_image *image,
                                       bool on_device)
{
    const struct gf_rows rows = {0, image->format.height};
    const size_t bytes =
        image->pitch * (size_t)(image->format.height - 1) + gf_row_bytes(image->format);
    const enum gf_pinning pinning =
        on_device ? GF_NOT_PINNED : backend->calls->pin(backend, image->data, bytes);
    return (struct gf_placement){
        .kind = backend->calls->unified || on_device ? GF_PLACEMENT_BACKEND : GF_PLACEMENT_HOST,
        .view = gf_view_make(image->data, image->pitch, image->format, rows),
        .pinned = pinning == GF_PINNED,
        .waits = !on_device && pinning == GF_NOT_PINNED,
    };
}

struct gf_placement gf_placement_borrow(const struct gf_placement *placement)
{
    return (struct gf_placement){
        .kind = placement->kind, .view = placement->view, .waits = placement->waits};
}

void gf_placement_free(struct gf_buffer_pool *buffers, struct gf_placement *placement)
{
    if (placement->pinned)
        buffers->backend->calls->unpin(buffers->backend, placement->view.data);
    if (placement->from_pool)
        gf_buffer_pool_return(buffers, placement->view.data);
    *placement = (struct gf_placement){0};
}

/* The lanes of a schedule: opening them, their buffers, and the histograms that they count. */

enum gf_status gf_lanes_open(struct gf_schedule_state *state, struct gf_error *error)
{
    struct gf_backend *const backend = state->schedule->backend;
    const int count = gf_layout_lanes(state->schedule, &state->layout);
    const size_t bytes = gf_layout_lane_bytes(&state->layout);
    for (int i = 0; i < count; i++) {
        struct gf_lane_state *const lane = &state->lane[i];
        GF_TRY(gf_buffer_pool_lane(state->buffers, i, state->schedule->spans, &lane->queue, error));
        state->lanes++;
        if (!bytes)
            continue;
        lane->memory = gf_buffer_pool_take(state->buffers, bytes);
        if (!lane->memory)
            return gf_fail(error,
                           backend->calls->unified ? GF_ERROR_MEMORY : GF_ERROR_DEVICE_MEMORY,
                           "out of memory for %d lanes of %zu kB", count, bytes >> 10);
        lane->in = lane->memory;
        lane->between[0] = lane->in + state->layout.in_bytes;
        lane->between[1] = lane->between[0] + state->layout.between_bytes;
        lane->scratch = lane->between[1] + state->layout.between_bytes;
    }
    return GF_OK;
}

/* Allocates a lane's ring with two slots: one for a band of the first stage's result, one for the
 * stage's scratch memory. */
enum gf_status gf_lanes_open_host_stage(struct gf_schedule_state *state, struct gf_error *error)
{
    const struct gf_pass *const pass = &state->pass;
    struct gf_backend *const backend = state->schedule->backend;
    const struct gf_stage *const stage = &state->schedule->plan->stage[pass->segment->first];
    const int rows = (int)(pass->bands.between_bytes / gf_band_pitch(backend, stage->out));
    const size_t scratch = gf_stage_cpu_scratch(stage, rows);
    for (int i = 0; i < state->lanes; i++) {
        GF_TRY(ring_alloc(&state->lane[i].host, state->buffers,
                          gf_larger(pass->bands.between_bytes, scratch), 2, error));
        gf_buffer_pool_pin(state->buffers, state->lane[i].host.data);
    }
    return GF_OK;
}

/* Allocates a ring of bands. It has at most as many slots as there are bands, because pinning
 * touches every page of it. It uses the memory of `lender`, which may be NULL, if that is large
 * enough. */
static enum gf_status alloc_ring(struct gf_schedule_state *state, struct gf_ring *ring,
                                 size_t slot_bytes, const struct gf_bands *bands,
                                 const struct gf_ring *lender, struct gf_error *error)
{
    const int most = state->schedule->lanes + 1, count = bands->count < most ? bands->count : most;
    if (lender && ring_borrow(ring, lender, slot_bytes, count))
        return GF_OK;
    GF_TRY(ring_alloc(ring, state->buffers, slot_bytes, count, error));
    if (state->schedule->backend->calls->unified && !state->schedule->serial)
        gf_pages_ahead_begin(&ring->ahead, ring->data, ring->slot_bytes * (size_t)count);
    return GF_OK;
}

/* If there are several segments, the reader has ended before the writer begins, so that their two
 * rings can share memory. */
enum gf_status gf_lanes_alloc_rings(struct gf_schedule_state *state, struct gf_error *error)
{
    const struct gf_schedule *const schedule = state->schedule;
    const int segments = schedule->plan->segment_count;
    const struct gf_bands *const first = &state->layout.bands[0];
    const struct gf_bands *const last = &state->layout.bands[segments - 1];
    if (schedule->source)
        GF_TRY(alloc_ring(state, &state->in_ring, first->in_bytes, first, NULL, error));
    if (schedule->sink)
        GF_TRY(alloc_ring(state, &state->out_ring, last->out_bytes, last,
                          schedule->source && segments > 1 ? &state->in_ring : NULL, error));
    return GF_OK;
}

enum gf_status gf_lanes_open_histograms(struct gf_schedule_state *state, struct gf_error *error)
{
    const struct gf_segment *const segment = state->pass.segment;
    const struct gf_stage *const wanting =
        &state->schedule->plan->stage[segment->first + segment->count];
    for (int i = 0; i < state->lanes; i++) {
        state->schedule->backend->calls->lane_enter(state->lane[i].queue);
        GF_TRY(
            state->schedule->backend->calls->statistic_open(state->lane[i].queue, wanting, error));
    }
    return GF_OK;
}

enum gf_status gf_lanes_take_histograms(struct gf_schedule_state *state, struct gf_error *error)
{
    const struct gf_segment *const segment = state->pass.segment;
    struct gf_histogram *const histogram = &state->histogram;
    free(histogram->count);
    *histogram = gf_histogram_of(segment->statistic, segment->out);
    histogram->count =
        calloc((size_t)histogram->channels * (size_t)histogram->bins, sizeof(uint64_t));
    GF_ALLOCATED(histogram->count, error);
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < state->lanes; i++) {
        status =
            state->schedule->backend->calls->statistic_take(state->lane[i].queue, histogram, error);
        state->schedule->backend->calls->statistic_close(state->lane[i].queue);
    }
    return status;
}
