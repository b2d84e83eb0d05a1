#include "engine/layout.h"

#include <stdlib.h>

#include "base/fail.h"

enum gf_status gf_layout_make(const struct gf_schedule *schedule, struct gf_layout *layout,
                              struct gf_error *error)
{
    const int count = schedule->plan->segment_count;
    const bool unified = schedule->backend->calls->unified;
    *layout = (struct gf_layout){.bands = calloc((size_t)count, sizeof *layout->bands),
                                 .on_device = calloc((size_t)count, sizeof *layout->on_device)};
    if (!layout->bands || !layout->on_device)
        return gf_fail_memory(error);
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
    /* With several segments the writer uses the reader's ring if that is large enough. */
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

/* Returns the bytes of a segment's whole result. */
static uint64_t result_bytes(const struct gf_schedule *schedule, int s)
{
    const struct gf_format format = schedule->plan->segment[s].out;
    return (uint64_t)gf_band_pitch(schedule->backend, format) * (uint64_t)format.height;
}

/* Returns the device memory for the lanes, which need lanes_bytes, and for the pictures between
 * segments. The driver, which answers slowly, is asked only if the buffers kept from the last
 * picture do not suffice. */
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
