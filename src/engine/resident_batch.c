/* Many pictures of one format on the device. Small ones share launches: they lie one below the
 * other in a stack, which goes through one stage after the other. */
#include <string.h>

#include "base/fail.h"
#include "engine/layout.h"
#include "engine/resident_state.h"

/* The bytes of a stack: large enough to keep the device busy, small enough for its cache. */
enum { STACK_MOST = 16 << 20 };

/* Pictures of one format: each `rows` rows after the one before, or anywhere. */
struct stack {
    struct gf_view first;
    int rows;
    const struct gf_image *image; /* NULL, or the pictures that lie anywhere */
};

/* The buffers of a batch: for two results of stages that take turns, for a copy of the input, and
 * for a copy with rows around its pictures and what becomes of it. */
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

/* Returns a stack in the batch's memory, with `halo` rows above and below each picture. */
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

/* Returns the stack as one picture, with the `halo` rows around its pictures. */
static struct gf_view tall_view(const struct stack *stack, int count, int halo)
{
    struct gf_view view = stack->first;
    view.data -= (size_t)halo * view.pitch;
    view.rows = view.format.height = stack->rows * count;
    return view;
}

/* Copies a stack, and fills `halo` rows above and below each picture by the border. */
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

/* Returns the rows above and below a picture that let the stage take a stack as one tall picture;
 * 0 if it does not. */
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

/* Runs a stencil on a tall picture, in which the rows around each picture are what its border
 * says. */
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

/* Runs a stage: on the stack by kernels for that, on a tall picture, or on one after the other. */
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
        GF_TRY(calls->run(resident->lane, stage, constants, &in, &out, batch->ready->worker.scratch,
                          error));
    }
    return GF_OK;
}

static bool is_aligned(const struct gf_image *image, int count)
{
    bool is = true;
    for (int i = 0; i < count; i++)
        is &= gf_resident_is_aligned(&image[i]);
    return is;
}

/* Runs the first stage on pictures that lie anywhere, if its kernels take their addresses. */
static enum gf_status run_listed(const struct batch *batch, const struct gf_stage *stage,
                                 const void *constants, const struct gf_image *in,
                                 const struct stack *to, bool *ran, struct gf_error *error)
{
    const struct gf_resident *const resident = batch->resident;
    const struct gf_view first = gf_image_view(in);
    const unsigned char *listed[GF_LISTED_MOST];
    const struct gf_stack stack = {batch->count, 0, to->rows, listed};
    if (to->image || batch->count > GF_LISTED_MOST || !is_aligned(in, batch->count))
        return GF_OK;
    for (int i = 0; i < batch->count; i++) {
        if (in[i].pitch != in->pitch)
            return GF_OK;
        listed[i] = in[i].data;
    }
    return resident->backend->calls->run_stacked(resident->lane, stage, constants, &first,
                                                 &to->first, &stack, ran, error);
}

/* Runs all stages on a stack. */
static enum gf_status run_stack(const struct batch *batch, const struct gf_image *in,
                                const struct gf_image *out, struct gf_error *error)
{
    const struct gf_plan *const plan = &batch->ready->plan;
    const struct stack end = stack_of(out, batch->count);
    const struct stack source = stack_of(in, batch->count);
    struct stack from = source;
    const bool into_end = !end.image && is_aligned(out, 1);
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
            if (!stages && (from.image || !is_aligned(in, 1))) {
                status = run_listed(batch, stage, constants, in, &to, &ran, error);
                from = buffer_of(batch, INPUT, plan->in, 0);
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

/* Returns the bytes of a buffer for each picture of a stack; 0 if the plan's pictures cannot share
 * launches. */
static size_t largest_bytes(const struct gf_resident *resident, const struct gf_plan *plan)
{
    size_t largest = gf_band_pitch(resident->backend, plan->in) * (size_t)plan->in.height;
    for (int i = 0; i < plan->stage_count; i++) {
        const struct gf_stage *const stage = &plan->stage[i];
        const size_t rows = (size_t)stage->out.height + 2 * (size_t)halo_of(resident, stage);
        largest = gf_larger(largest, gf_band_pitch(resident->backend, stage->out) * rows);
        if (gf_stage_statistic(stage))
            return 0;
    }
    return plan->stage_count && !resident->options->band_rows ? gf_layout_round(largest) : 0;
}

/* Makes the memory of the stacks large enough. */
static enum gf_status reserve(struct gf_resident *resident, struct gf_ready_plan *ready,
                              size_t bytes, struct gf_error *error)
{
    if (ready->stacks.bytes >= bytes)
        return GF_OK;
    enum gf_status status = resident->backend->calls->wait(resident->lane, error);
    if (status)
        return status;
    gf_resident_give(resident, &ready->stacks);
    ready->stacks.data = gf_resident_take(resident, bytes, &status, error);
    ready->stacks.bytes = ready->stacks.data ? bytes : 0;
    return status;
}

static enum gf_status run_all(struct gf_resident *resident, struct gf_ready_plan *ready,
                              const struct gf_image *in, const struct gf_image *out, int count,
                              struct gf_error *error)
{
    const size_t largest = largest_bytes(resident, &ready->plan);
    const int fit = largest ? (int)(STACK_MOST / largest) : 0, most = fit < count ? fit : count;
    if (most > 1)
        GF_TRY(reserve(resident, ready, BUFFERS * largest * (size_t)most, error));
    for (int i = 0; i<count; i += most> 1 ? most : 1) {
        const int left = count - i;
        const struct batch batch = {resident, ready, left < most ? left : most};
        GF_TRY(most > 1 ? run_stack(&batch, in + i, out + i, error)
                        : gf_resident_run_one(resident, ready, in + i, out + i, error));
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
