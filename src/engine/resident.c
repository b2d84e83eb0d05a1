/* Plans that stay ready for pictures in the device's memory, which are filtered one at a time, or
 * many in one launch. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "engine/engine.h"
#include "engine/layout.h"
#include "engine/pass.h"
#include "pixel/histogram/histogram.h"

/* KEPT is the number of plans that are kept, for as many formats of pictures; VECTOR is the
 * alignment in bytes that kernels need. */
enum { KEPT = 8, VECTOR = 16 };

struct gf_resident_memory {
    unsigned char *data;
    size_t bytes;
};

struct gf_ready_plan {
    struct gf_plan plan;
    struct gf_schedule schedule;
    struct gf_lane_state lane;
    struct gf_pass *pass; /* an element for each segment */
    /* Copies of an input and of an output whose rows are not aligned. */
    struct gf_placement copy[2];
    size_t lane_bytes;
    struct gf_histogram histogram;
    /* Memory for pictures between stages, if a batch's pictures share launches. */
    struct gf_resident_memory stacks;
    uint64_t turn; /* the number of the last call that used the plan */
};

struct gf_resident {
    struct gf_backend *backend;
    const struct gf_options *options;
    struct gf_spans spans; /* recording is always off */
    struct gf_lane *lane;
    struct gf_ready_plan *kept[KEPT];
    uint64_t turns;
};

/* Allocates device memory. Does nothing if *status is already a failure. */
static void *resident_take(const struct gf_resident *resident, size_t bytes, enum gf_status *status,
                           struct gf_error *error)
{
    void *const memory =
        bytes && !*status ? resident->backend->calls->alloc(resident->backend, bytes) : NULL;
    if (bytes && !*status && !memory)
        *status = gf_fail(error, GF_ERROR_DEVICE_MEMORY,
                          "out of device memory for a buffer of %zu kB", bytes >> 10);
    return memory;
}

static void resident_give(const struct gf_resident *resident, struct gf_resident_memory *memory)
{
    if (memory->data)
        resident->backend->calls->release(resident->backend, memory->data, memory->bytes);
    *memory = (struct gf_resident_memory){0};
}

/* Whether kernels can read and write the rows of the images where they are, since all begin at
 * multiples of VECTOR bytes. */
static bool are_aligned(const struct gf_image *image, int count)
{
    uintptr_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= (uintptr_t)image[i].data | image[i].pitch;
    return bits % VECTOR == 0;
}

enum gf_status gf_resident_open(struct gf_backend *backend, const struct gf_options *options,
                                struct gf_resident **resident, struct gf_error *error)
{
    GF_NEW(struct gf_resident, opened, error);
    opened->backend = backend;
    opened->options = options;
    const enum gf_status status =
        backend->calls->guest_open(backend, &opened->spans, &opened->lane, error);
    GF_OPENED(status, free, opened, resident);
}

static size_t bytes_of(const struct gf_placement *placement)
{
    return placement->view.pitch * (size_t)placement->view.rows;
}

static enum gf_status place(const struct gf_resident *resident, struct gf_format format,
                            struct gf_placement *placement, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    const struct gf_rows rows = {0, format.height};
    *placement = (struct gf_placement){.kind = GF_PLACEMENT_BACKEND};
    placement->view = gf_view_make(NULL, gf_band_pitch(resident->backend, format), format, rows);
    placement->view.data = resident_take(resident, bytes_of(placement), &status, error);
    placement->from_pool = !status;
    return status;
}

static void give(const struct gf_resident *resident, struct gf_placement *placement)
{
    if (placement->from_pool)
        resident->backend->calls->release(resident->backend, placement->view.data,
                                          bytes_of(placement));
    *placement = (struct gf_placement){0};
}

/* Frees a plan and what belongs to it. No call may still work with it. */
static void close_plan(const struct gf_resident *resident, struct gf_ready_plan *ready)
{
    struct gf_backend *const backend = resident->backend;
    for (int s = 0; ready->pass && s < ready->plan.segment_count; s++) {
        for (int i = 0; i < ready->plan.segment[s].count; i++) {
            if (ready->pass[s].constants[i])
                backend->calls->unload(backend, ready->pass[s].constants[i]);
        }
        if (s)
            give(resident, &ready->pass[s].in);
    }
    resident_give(resident, &ready->stacks);
    give(resident, &ready->copy[0]);
    give(resident, &ready->copy[1]);
    if (ready->lane.memory)
        backend->calls->release(backend, ready->lane.memory, ready->lane_bytes);
    free(ready->histogram.count);
    free(ready->pass);
    gf_plan_free(&ready->plan);
    free(ready);
}

enum gf_status gf_resident_wait(struct gf_resident *resident, void *stream, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = resident->backend->calls;
    GF_TRY(calls->follow(resident->lane, stream, error));
    const enum gf_status status = calls->wait(resident->lane, error);
    calls->leave(resident->lane);
    return status;
}

void gf_resident_close(struct gf_resident *resident)
{
    if (!resident)
        return;
    /* This waits for the work of the last call. */
    resident->backend->calls->lane_close(resident->lane);
    for (int i = 0; i < KEPT; i++) {
        if (resident->kept[i])
            close_plan(resident, resident->kept[i]);
    }
    free(resident);
}

struct gf_ready_plan *gf_resident_find(struct gf_resident *resident, struct gf_format in)
{
    for (int i = 0; i < KEPT; i++) {
        struct gf_ready_plan *const ready = resident->kept[i];
        if (ready && !memcmp(&ready->plan.in, &in, sizeof in))
            return ready;
    }
    return NULL;
}

const struct gf_plan *gf_ready_plan_of(const struct gf_ready_plan *ready)
{
    return &ready->plan;
}

static bool can_stay(const struct gf_plan *plan)
{
    bool can = true;
    for (int i = 0; i < plan->stage_count; i++) {
        const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
        for (int n = gf_stage_pictures(&plan->stage[i], list); n > 0; n--)
            can &= !list[n - 1]->brief;
    }
    return can;
}

/* Returns the rows of a band of the segment. With one stage it is the whole picture, in one launch;
 * with several stages it is less, so that each stage finds the result of the one before in the
 * device's cache. */
static int band_rows(const struct gf_resident *resident, const struct gf_plan *plan,
                     const struct gf_segment *segment)
{
    const struct gf_backend_calls *const calls = resident->backend->calls;
    const int height = segment->out.height;
    if (resident->options->band_rows)
        return resident->options->band_rows;
    if (!segment->count ||
        (segment->count == 1 && !calls->scratch(&plan->stage[segment->first], height)))
        return height;
    return (int)(calls->band_bytes_most /
                 gf_larger(gf_row_bytes(segment->in), gf_row_bytes(segment->out))) +
           1;
}

static enum gf_status open_segment(struct gf_resident *resident, struct gf_ready_plan *ready, int s,
                                   struct gf_error *error)
{
    const struct gf_segment *const segment = &ready->plan.segment[s];
    struct gf_backend *const backend = resident->backend;
    struct gf_pass *const pass = &ready->pass[s];
    const struct gf_bands_budget budget = {.bytes = UINT64_MAX};
    enum gf_status status = GF_OK;
    pass->schedule = &ready->schedule;
    pass->segment = segment;
    pass->bands = gf_bands_cut(&ready->plan, segment, backend,
                               band_rows(resident, &ready->plan, segment), 1, &budget);
    pass->in.kind = pass->out.kind = GF_PLACEMENT_BACKEND;
    /* The result of a first segment without stages is the input itself. */
    if (s && ready->plan.segment[s - 1].count)
        status = place(resident, segment->in, &pass->in, error);
    if (s)
        ready->pass[s - 1].out = gf_placement_borrow(&pass->in);
    for (int i = 0; !status && i < segment->count; i++) {
        struct gf_stage *const stage = &ready->plan.stage[segment->first + i];
        stage->histogram = i ? NULL : &ready->histogram;
        if (gf_stage_statistic(stage))
            continue;
        status = gf_stage_prepare(stage, error);
        GF_THEN(status, backend->calls->load(backend, NULL, stage, &pass->constants[i], error));
    }
    return status;
}

/* Allocates the buffers for results between the stages of a segment, which all segments share. */
static enum gf_status open_lane(const struct gf_resident *resident, struct gf_ready_plan *ready,
                                struct gf_error *error)
{
    struct gf_lane_state *const lane = &ready->lane;
    size_t between = 0, scratch = 0;
    for (int s = 0; s < ready->plan.segment_count; s++) {
        const struct gf_bands *const bands = &ready->pass[s].bands;
        if (ready->plan.segment[s].count > 1)
            between = gf_larger(between, gf_layout_round(bands->between_bytes));
        scratch = gf_larger(scratch, gf_layout_round(bands->scratch_bytes));
    }
    enum gf_status status = GF_OK;
    ready->lane_bytes = 2 * between + scratch;
    lane->queue = resident->lane;
    lane->memory = resident_take(resident, ready->lane_bytes, &status, error);
    if (!lane->memory)
        return status;
    lane->between[0] = lane->memory;
    lane->between[1] = lane->memory + between;
    lane->scratch = lane->memory + 2 * between;
    return GF_OK;
}

static enum gf_status open_plan(struct gf_resident *resident, struct gf_ready_plan *ready,
                                struct gf_error *error)
{
    const int count = ready->plan.segment_count;
    ready->schedule = (struct gf_schedule){.plan = &ready->plan,
                                           .backend = resident->backend,
                                           .options = resident->options,
                                           .spans = &resident->spans};
    ready->pass = calloc((size_t)count, sizeof *ready->pass);
    GF_ALLOCATED(ready->pass, error);
    for (int s = 0; s < count; s++)
        GF_TRY(open_segment(resident, ready, s, error));
    return open_lane(resident, ready, error);
}

enum gf_status gf_resident_add(struct gf_resident *resident, struct gf_plan *plan,
                               struct gf_ready_plan **ready, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = resident->backend->calls;
    struct gf_ready_plan *const made = calloc(1, sizeof *made), **place = &resident->kept[0];
    enum gf_status status = made ? GF_OK : gf_fail_memory(error);
    if (!status && !can_stay(plan))
        status = gf_fail(error, GF_ERROR_UNFIT, "the plan belongs to one picture");
    for (int i = 0; *place && i < KEPT; i++) {
        if (!resident->kept[i] || resident->kept[i]->turn < (*place)->turn)
            place = &resident->kept[i];
    }
    if (!status && *place) {
        status = calls->wait(resident->lane, error);
        close_plan(resident, *place);
        *place = NULL;
    }
    if (!made) {
        gf_plan_free(plan);
        return status;
    }
    made->plan = *plan;
    *plan = (struct gf_plan){0};
    GF_THEN(status, open_plan(resident, made, error));
    if (status)
        close_plan(resident, made);
    else
        *ready = *place = made;
    return status;
}

enum gf_status gf_resident_check(const struct gf_resident *resident, const struct gf_image *image,
                                 struct gf_memory_range *known, struct gf_error *error)
{
    const size_t bytes =
        image->pitch * (size_t)(image->format.height - 1) + gf_row_bytes(image->format);
    return resident->backend->calls->owns(resident->backend, image->data, bytes, known, error);
}

/* Counts the result of segment s, and prepares the first stage of the next segment, which needs the
 * histogram. */
static enum gf_status bring_histogram(struct gf_ready_plan *ready, int s, struct gf_error *error)
{
    const struct gf_segment *const segment = &ready->plan.segment[s];
    struct gf_lane *const lane = ready->lane.queue;
    const struct gf_backend_calls *const calls = lane->backend->calls;
    struct gf_stage *const stage = &ready->plan.stage[segment->first + segment->count];
    const void **const constants = &ready->pass[s + 1].constants[0];
    free(ready->histogram.count);
    GF_TRY(gf_histogram_alloc(&ready->histogram, segment->statistic, segment->out, error));
    const enum gf_status status = calls->statistic_take(lane, &ready->histogram, error);
    calls->statistic_close(lane);
    GF_TRY(status);
    GF_TRY(gf_stage_prepare(stage, error));
    if (*constants)
        calls->unload(lane->backend, *constants);
    *constants = NULL;
    return calls->load(lane->backend, lane, stage, constants, error);
}

static enum gf_status run_segment(struct gf_ready_plan *ready, int s, struct gf_error *error)
{
    struct gf_lane_state *const lane = &ready->lane;
    const struct gf_segment *const segment = &ready->plan.segment[s];
    lane->pass = &ready->pass[s];
    if (segment->statistic)
        GF_TRY(lane->queue->backend->calls->statistic_open(
            lane->queue, &ready->plan.stage[segment->first + segment->count], error));
    for (int b = 0; b < lane->pass->bands.count; b++)
        GF_TRY(gf_lane_queue_band(lane, b, error));
    return segment->statistic ? bring_histogram(ready, s, error) : GF_OK;
}

/* Sets *placement to the picture or, if its rows are not aligned, to a buffer for a copy of it. */
static enum gf_status place_image(const struct gf_resident *resident, const struct gf_image *image,
                                  struct gf_placement *copy, struct gf_placement *placement,
                                  struct gf_error *error)
{
    enum gf_status status = GF_OK;
    *placement = (struct gf_placement){.kind = GF_PLACEMENT_BACKEND, .view = gf_image_view(image)};
    if (are_aligned(image, 1))
        return GF_OK;
    if (!copy->from_pool)
        status = place(resident, image->format, copy, error);
    *placement = gf_placement_borrow(copy);
    return status;
}

/* Queues one picture on the lane, which follows a caller's stream. */
static GF_CHECKED enum gf_status
resident_run_one(struct gf_resident *resident, struct gf_ready_plan *ready,
                 const struct gf_image *in, const struct gf_image *out, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = resident->backend->calls;
    const struct gf_view source = gf_image_view(in), result = gf_image_view(out);
    const int last = ready->plan.segment_count - 1;
    struct gf_placement *const first = &ready->pass[0].in, *const end = &ready->pass[last].out;
    enum gf_status status = place_image(resident, in, &ready->copy[0], first, error);
    GF_THEN(status, place_image(resident, out, &ready->copy[1], end, error));
    if (last && !ready->plan.segment[0].count)
        ready->pass[0].out = ready->pass[1].in = gf_placement_borrow(first);
    if (!status && first->view.data != in->data)
        status = calls->upload(resident->lane, &first->view, &source, error);
    for (int s = 0; !status && s <= last; s++)
        status = run_segment(ready, s, error);
    if (!status && end->view.data != out->data)
        status = calls->download(resident->lane, &result, &end->view, error);
    return status;
}

/* Batches: many pictures of one format on the device. Small ones share launches: they lie one below
 * the other in a stack, which goes through one stage after the other. */

/* The most bytes of a stack: enough to keep the device busy, and few enough for its cache. */
enum { STACK_MOST = 16 << 20 };

/* Pictures of one format: each begins `rows` rows after the one before, or they lie anywhere. */
struct stack {
    struct gf_view first;
    int rows;
    const struct gf_image *image; /* the pictures, if they lie anywhere; otherwise NULL */
};

/* The buffers of a batch, by index: two results of stages that take turns (0 and 1), a copy of the
 * input, a copy with rows above and below each picture, and what a stencil makes of that copy. */
enum { RESULTS = 2, INPUT = 2, TALL = 3, MADE = 4, BUFFERS = 5 };

struct batch {
    const struct gf_resident *resident;
    const struct gf_ready_plan *ready;
    int count;
};

static struct gf_view picture_of(const struct stack *stack, int i)
{
    struct gf_view view = stack->image ? gf_image_view(&stack->image[i]) : stack->first;
    if (!stack->image)
        view.data += (size_t)i * (size_t)stack->rows * view.pitch;
    return view;
}

static struct stack stack_of(const struct gf_image *image, int count)
{
    const size_t pitch = image->pitch;
    const ptrdiff_t step = count > 1 ? image[1].data - image[0].data
                                     : (ptrdiff_t)(pitch * (size_t)image->format.height);
    const ptrdiff_t between = step / (ptrdiff_t)pitch;
    struct stack stack = {.first = gf_image_view(image), .rows = (int)between};
    bool is_one = step % (ptrdiff_t)pitch == 0 && between >= image->format.height &&
                  between * count <= INT32_MAX;
    for (int i = 1; is_one && i < count; i++)
        is_one = image[i].pitch == pitch && image[i].data - image[i - 1].data == step;
    stack.image = is_one ? NULL : image;
    return stack;
}

/* Returns an empty stack in one of the batch's buffers, with `halo` rows above and below each
 * picture. */
static struct stack buffer_of(const struct batch *batch, int buffer, struct gf_format format,
                              int halo)
{
    const size_t pitch = gf_band_pitch(batch->resident->backend, format);
    unsigned char *const data = batch->ready->stacks.data +
                                (size_t)buffer * (batch->ready->stacks.bytes / BUFFERS) +
                                (size_t)halo * pitch;
    const struct gf_rows rows = {0, format.height};
    return (struct stack){gf_view_make(data, pitch, format, rows), format.height + 2 * halo, NULL};
}

/* Returns a stack of `count` pictures as one tall picture, with the `halo` rows around each
 * picture. */
static struct gf_view tall_view(const struct stack *stack, int count, int halo)
{
    struct gf_view view = stack->first;
    view.data -= (size_t)halo * view.pitch;
    view.rows = view.format.height = stack->rows * count;
    return view;
}

/* Copies a stack, and fills the `halo` rows above and below each picture by the rule `border`. */
static enum gf_status copy_stack(const struct batch *batch, const struct stack *to,
                                 const struct stack *from, int halo, int border,
                                 struct gf_error *error)
{
    const struct gf_resident *const resident = batch->resident;
    const struct gf_backend_calls *const calls = resident->backend->calls;
    const bool has_gaps = from->rows != from->first.rows || to->rows != to->first.rows;
    if (!from->image && !to->image && !has_gaps) {
        const struct gf_view source = tall_view(from, batch->count, 0),
                             target = tall_view(to, batch->count, 0);
        return calls->download(resident->lane, &target, &source, error);
    }
    for (int done = 0, some; done < batch->count; done += some) {
        struct gf_view source[GF_COPIES_MOST], target[GF_COPIES_MOST];
        some = batch->count - done < GF_COPIES_MOST ? batch->count - done : GF_COPIES_MOST;
        for (int i = 0; i < some; i++) {
            source[i] = picture_of(from, done + i);
            target[i] = picture_of(to, done + i);
            target[i].data -= (size_t)halo * target[i].pitch;
            target[i].rows += 2 * halo;
        }
        GF_TRY(calls->copy_pictures(resident->lane, target, source, some, border, error));
    }
    return GF_OK;
}

/* Returns how many rows above and below a picture let the stage filter a stack as one tall picture;
 * 0 if it cannot. */
static int halo_of(const struct gf_resident *resident, const struct gf_stage *stage)
{
    const struct gf_filter *const filter = stage->filter;
    const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
    const bool can = filter->radius && !memcmp(&stage->in, &stage->out, sizeof stage->in) &&
                     !(filter->needs_whole && filter->needs_whole(stage->params)) &&
                     !gf_stage_pictures(stage, list) && !gf_stage_statistic(stage) &&
                     !resident->backend->calls->scratch(stage, stage->out.height);
    return can ? gf_stage_radius(stage) : 0;
}

/* Runs a stencil on a stack as on one tall picture, in which the rows around each picture are those
 * of its border. */
static enum gf_status run_tall(const struct batch *batch, const struct gf_stage *stage,
                               const void *constants, const struct stack *from,
                               const struct stack *to, struct gf_error *error)
{
    const struct gf_resident *const resident = batch->resident;
    const int halo = halo_of(resident, stage);
    const struct stack around = buffer_of(batch, TALL, stage->in, halo),
                       made = buffer_of(batch, MADE, stage->out, halo);
    const struct gf_view in = tall_view(&around, batch->count, halo),
                         out = tall_view(&made, batch->count, halo);
    struct gf_stage tall = *stage;
    tall.in.height = tall.out.height = in.rows;
    GF_TRY(copy_stack(batch, &around, from, halo, gf_stage_border(stage), error));
    GF_TRY(resident->backend->calls->run(resident->lane, &tall, constants, &in, &out, NULL, error));
    return copy_stack(batch, to, &made, 0, GF_BORDER_EDGE, error);
}

/* Runs a stage on a stack: by kernels for stacks, as one tall picture, or picture after picture. */
static enum gf_status run_stage(const struct batch *batch, const struct gf_stage *stage,
                                const void *constants, const struct stack *from,
                                const struct stack *to, struct gf_error *error)
{
    const struct gf_resident *const resident = batch->resident;
    const struct gf_backend_calls *const calls = resident->backend->calls;
    const struct gf_stack stack = {batch->count, from->rows, to->rows, NULL};
    bool ran = false;
    if (!to->image)
        GF_TRY(calls->run_stacked(resident->lane, stage, constants, &from->first, &to->first,
                                  &stack, &ran, error));
    if (!ran && halo_of(resident, stage))
        return run_tall(batch, stage, constants, from, to, error);
    for (int i = 0; !ran && i < batch->count; i++) {
        const struct gf_view in = picture_of(from, i), out = picture_of(to, i);
        GF_TRY(calls->run(resident->lane, stage, constants, &in, &out, batch->ready->lane.scratch,
                          error));
    }
    return GF_OK;
}

/* Runs the first stage on pictures that lie anywhere, if its kernels take a list of addresses. *ran
 * becomes whether it ran. */
static enum gf_status run_listed(const struct batch *batch, const struct gf_stage *stage,
                                 const void *constants, const struct gf_image *in,
                                 const struct stack *to, bool *ran, struct gf_error *error)
{
    const struct gf_resident *const resident = batch->resident;
    const struct gf_view first = gf_image_view(in);
    const unsigned char *listed[GF_LISTED_MOST];
    const struct gf_stack stack = {batch->count, 0, to->rows, listed};
    if (to->image || batch->count > GF_LISTED_MOST || !are_aligned(in, batch->count))
        return GF_OK;
    for (int i = 0; i < batch->count; i++) {
        if (in[i].pitch != in->pitch)
            return GF_OK;
        listed[i] = in[i].data;
    }
    return resident->backend->calls->run_stacked(resident->lane, stage, constants, &first,
                                                 &to->first, &stack, ran, error);
}

/* Runs all stages on a stack, from pictures `in` to pictures `out`. Returns false in *fits, and
 * does nothing, if the pictures would have to be copied first, and the buffer is too small for
 * that. */
static enum gf_status run_stack(const struct batch *batch, const struct gf_image *in,
                                const struct gf_image *out, bool *fits, struct gf_error *error)
{
    const struct gf_plan *const plan = &batch->ready->plan;
    const struct stack source = stack_of(in, batch->count), end = stack_of(out, batch->count);
    struct stack from = source;
    const bool into_end = !end.image && are_aligned(out, 1);
    enum gf_status status = GF_OK;
    int stages = 0;
    for (int s = 0; s < plan->segment_count; s++) {
        for (int i = 0; !status && i < plan->segment[s].count; i++, stages++) {
            const struct gf_stage *const stage = &plan->stage[plan->segment[s].first + i];
            const struct stack to = stages + 1 == plan->stage_count && into_end
                                        ? end
                                        : buffer_of(batch, stages % RESULTS, stage->out, 0);
            const void *const constants = batch->ready->pass[s].constants[i];
            bool ran = false;
            if (!stages && (from.image || !are_aligned(in, 1))) {
                status = run_listed(batch, stage, constants, in, &to, &ran, error);
                from = buffer_of(batch, INPUT, plan->in, 0);
                *fits = ran || from.first.pitch * (size_t)from.rows * (size_t)batch->count <=
                                   batch->ready->stacks.bytes / BUFFERS;
                if (!status && !*fits)
                    return GF_OK;
                if (!status && !ran)
                    status = copy_stack(batch, &from, &source, 0, GF_BORDER_EDGE, error);
            }
            if (!status && !ran)
                status = run_stage(batch, stage, constants, &from, &to, error);
            from = to;
        }
    }
    return status || from.first.data == end.first.data
               ? status
               : copy_stack(batch, &end, &from, 0, GF_BORDER_EDGE, error);
}

/* Returns the bytes that a picture's results take in a buffer of a stack; 0 if pictures of the plan
 * cannot share launches. */
static size_t result_bytes(const struct gf_resident *resident, const struct gf_plan *plan)
{
    size_t largest = 0;
    for (int i = 0; i < plan->stage_count; i++) {
        const struct gf_stage *const stage = &plan->stage[i];
        const size_t rows = (size_t)stage->out.height + 2 * (size_t)halo_of(resident, stage);
        largest = gf_larger(largest, gf_band_pitch(resident->backend, stage->out) * rows);
        if (gf_stage_statistic(stage))
            return 0;
    }
    return resident->options->band_rows ? 0 : gf_layout_round(largest);
}

/* Enlarges the memory of the stacks to `bytes` bytes, if it has less. */
static enum gf_status reserve(struct gf_resident *resident, struct gf_ready_plan *ready,
                              size_t bytes, struct gf_error *error)
{
    if (ready->stacks.bytes >= bytes)
        return GF_OK;
    enum gf_status status = GF_OK;
    GF_TRY(resident->backend->calls->wait(resident->lane, error));
    resident_give(resident, &ready->stacks);
    ready->stacks.data = resident_take(resident, bytes, &status, error);
    ready->stacks.bytes = ready->stacks.data ? bytes : 0;
    return status;
}

/* Reserves a stack for up to `count` pictures of `bytes` bytes, of which *most fit. */
static enum gf_status reserve_for(struct gf_resident *resident, struct gf_ready_plan *ready,
                                  size_t bytes, int count, int *most, struct gf_error *error)
{
    const int fit = bytes ? (int)(STACK_MOST / bytes) : 0;
    *most = fit < count ? fit : count;
    return *most > 1 ? reserve(resident, ready, BUFFERS * bytes * (size_t)*most, error) : GF_OK;
}

static enum gf_status run_all(struct gf_resident *resident, struct gf_ready_plan *ready,
                              const struct gf_image *in, const struct gf_image *out, int count,
                              struct gf_error *error)
{
    const struct gf_format format = ready->plan.in;
    const size_t source = gf_band_pitch(resident->backend, format) * (size_t)format.height,
                 result = result_bytes(resident, &ready->plan);
    int most;
    GF_TRY(reserve_for(resident, ready, result,
                       source > result && count > GF_LISTED_MOST ? GF_LISTED_MOST : count, &most,
                       error));
    for (int i = 0; i < count;) {
        const int left = count - i;
        const struct batch batch = {resident, ready, left < most ? left : most};
        bool fits = true;
        GF_TRY(most > 1 ? run_stack(&batch, in + i, out + i, &fits, error)
                        : resident_run_one(resident, ready, in + i, out + i, error));
        if (fits)
            i += most > 1 ? most : 1;
        else
            GF_TRY(reserve_for(resident, ready, gf_larger(result, gf_layout_round(source)), count,
                               &most, error));
    }
    return GF_OK;
}

enum gf_status gf_resident_run(struct gf_resident *resident, struct gf_ready_plan *ready,
                               const struct gf_image *in, const struct gf_image *out, int count,
                               void *stream, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = resident->backend->calls;
    GF_TRY(calls->follow(resident->lane, stream, error));
    ready->turn = ++resident->turns;
    const enum gf_status status = run_all(resident, ready, in, out, count, error);
    calls->leave(resident->lane);
    return status;
}
