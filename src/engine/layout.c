#include "engine/layout.h"

#include <stdlib.h>

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

enum gf_status gf_layout_make(const struct gf_run *run, struct gf_layout *layout,
                              struct gf_error *error)
{
    const int count = run->plan->segment_count;
    const bool unified = run->backend->calls->unified;
    *layout = (struct gf_layout){.bands = calloc((size_t)count, sizeof *layout->bands),
                                 .on_device = calloc((size_t)count, sizeof *layout->on_device)};
    if (!layout->bands || !layout->on_device)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    for (int s = 0; s < count; s++) {
        const struct gf_segment *const segment = &run->plan->segment[s];
        struct gf_bands *const bands = &layout->bands[s];
        const struct gf_bands_budget budget = {.bytes = run->options->memory_bytes,
                                               .is_limit = run->memory_is_limit,
                                               .streams_in = !s && run->source,
                                               .streams_out = s + 1 == count && run->sink};
        *bands =
            gf_bands_cut(run->plan, segment, run->backend, run->band_rows, run->lanes, &budget);
        if (!unified || segment->count > 1)
            layout->between_bytes =
                larger(layout->between_bytes, gf_layout_round(bands->between_bytes));
        layout->scratch_bytes =
            larger(layout->scratch_bytes, gf_layout_round(bands->scratch_bytes));
    }
    return GF_OK;
}

void gf_layout_free(struct gf_layout *layout)
{
    free(layout->on_device);
    free(layout->bands);
    *layout = (struct gf_layout){0};
}

int gf_layout_lanes(const struct gf_run *run, const struct gf_layout *layout)
{
    int most = 1;
    for (int s = 0; s < run->plan->segment_count; s++)
        most = layout->bands[s].count > most ? layout->bands[s].count : most;
    return most < run->lanes ? most : run->lanes;
}

bool gf_layout_starts_on_host(const struct gf_run *run, const struct gf_layout *layout, int s)
{
    const struct gf_plan *const plan = run->plan;
    const struct gf_segment *const segment = &plan->segment[s];
    return s && !run->backend->calls->unified && !layout->on_device[s - 1] &&
           gf_stage_needs_whole(&plan->stage[segment->first]) &&
           layout->bands[s].in_rows > segment->in.height / 2;
}

/* Bytes of the picture behind a segment. */
static uint64_t bytes_behind(const struct gf_run *run, int s)
{
    const struct gf_format format = run->plan->segment[s].out;
    return (uint64_t)gf_band_pitch(run->backend, format) * (uint64_t)format.height;
}

/* Bytes that there are on the device for the lanes, who take that much, and for the pictures
 * between segments. The device is only asked where what is kept from the last picture is not
 * enough: asking takes a while. */
static uint64_t room_between(const struct gf_run *run, uint64_t taken)
{
    uint64_t enough = taken;
    if (run->plan->segment_count < 2)
        return 0;
    if (!run->store)
        return run->backend->calls->free_bytes(run->backend);
    for (int s = 0; s + 1 < run->plan->segment_count; s++)
        enough += bytes_behind(run, s);
    return gf_store_free_bytes(run->store, enough);
}

void gf_layout_divide(const struct gf_run *run, struct gf_layout *layout)
{
    layout->in_bytes = gf_layout_round(layout->bands[0].in_bytes);
    const size_t lane_bytes = layout->in_bytes + 2 * layout->between_bytes + layout->scratch_bytes;
    const uint64_t taken = (uint64_t)gf_layout_lanes(run, layout) * lane_bytes;
    const uint64_t free_bytes = room_between(run, taken);
    uint64_t before = 0;
    for (int s = 0; s + 1 < run->plan->segment_count; s++) {
        /* Behind a first segment without stages lies the input itself. */
        const bool is_input = !s && run->in_on_device && !run->plan->segment[s].count;
        const uint64_t bytes = is_input ? 0 : bytes_behind(run, s);
        layout->on_device[s] = is_input || taken + before + bytes <= free_bytes;
        before = layout->on_device[s] ? bytes : 0;
        if (!layout->on_device[s])
            layout->in_bytes =
                larger(layout->in_bytes, gf_layout_starts_on_host(run, layout, s + 1)
                                             ? layout->between_bytes
                                             : gf_layout_round(layout->bands[s + 1].in_bytes));
    }
}
