/* Many pictures of one format on the device. Small ones share launches: they lie one below the
 * other in a stack, which goes through one stage after the other. */
#include "engine/layout.h"
#include "engine/resident_state.h"

/* The bytes of a stack: large enough to keep the device busy, small enough for its cache. */
enum { STACK_MOST = 32 << 20 };

/* Pictures with a pitch, each `rows` rows after the one before. */
struct stack {
    struct gf_view first;
    int rows;
};

/* Whether the images lie one below the other. *rows becomes the rows from one to the next. */
static bool are_stacked(const struct gf_image *image, int count, int *rows)
{
    const size_t pitch = image->pitch;
    const ptrdiff_t step = count > 1 ? image[1].data - image[0].data
                                     : (ptrdiff_t)(pitch * (size_t)image->format.height);
    const ptrdiff_t between = step / (ptrdiff_t)pitch;
    bool are = step % (ptrdiff_t)pitch == 0 && between >= image->format.height &&
               between * count <= INT32_MAX;
    for (int i = 1; are && i < count; i++)
        are = image[i].pitch == pitch && image[i].data - image[i - 1].data == step;
    *rows = (int)between;
    return are;
}

static struct gf_view picture_of(const struct stack *stack, int i)
{
    struct gf_view view = stack->first;
    view.data += (size_t)i * (size_t)stack->rows * view.pitch;
    return view;
}

/* A stack without gaps in the batch's memory. */
static struct stack buffer_of(const struct gf_resident *resident, unsigned char *data,
                              struct gf_format format)
{
    const struct gf_rows rows = {0, format.height};
    return (struct stack){
        gf_view_make(data, gf_band_pitch(resident->backend, format), format, rows), format.height};
}

/* Returns the stack that the images are, or else the buffer, to which they have to be copied. */
static struct stack stack_of(const struct gf_image *image, int count, struct stack buffer)
{
    struct stack own = {.first = gf_image_view(image)};
    return gf_resident_is_aligned(image) && are_stacked(image, count, &own.rows) ? own : buffer;
}

/* Copies the images to the stack, or from it. */
static enum gf_status copy_images(const struct gf_resident *resident, const struct gf_image *image,
                                  int count, const struct stack *stack, bool to_stack,
                                  struct gf_error *error)
{
    const struct gf_backend_calls *const calls = resident->backend->calls;
    struct gf_view there = gf_image_view(image), here = stack->first;
    int rows;
    if (!are_stacked(image, count, &rows) || rows != stack->rows)
        return calls->copy_stack(resident->lane, image, count, &here, stack->rows, to_stack, error);
    there.rows = here.rows = rows * count;
    return to_stack ? calls->upload(resident->lane, &here, &there, error)
                    : calls->download(resident->lane, &there, &here, error);
}

static enum gf_status run_stage(const struct gf_resident *resident,
                                const struct gf_ready_plan *ready, const struct gf_stage *stage,
                                const void *constants, const struct stack *in,
                                const struct stack *out, int count, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = resident->backend->calls;
    const struct gf_stack stack = {count, in->rows, out->rows};
    bool ran = false;
    enum gf_status status = GF_OK;
    if (calls->run_stacked)
        status = calls->run_stacked(resident->lane, stage, constants, &in->first, &out->first,
                                    &stack, &ran, error);
    for (int i = 0; !status && !ran && i < count; i++) {
        const struct gf_view from = picture_of(in, i), to = picture_of(out, i);
        status =
            calls->run(resident->lane, stage, constants, &from, &to, ready->worker.scratch, error);
    }
    return status;
}

/* Runs all stages on a stack. The buffers of the stages' results take turns. */
static enum gf_status run_stack(const struct gf_resident *resident,
                                const struct gf_ready_plan *ready, const struct gf_image *in,
                                const struct gf_image *out, int count, struct gf_error *error)
{
    const struct gf_plan *const plan = &ready->plan;
    const size_t third = ready->stacks.bytes / 3;
    unsigned char *const data = ready->stacks.data;
    struct stack from = stack_of(in, count, buffer_of(resident, data + 2 * third, plan->in));
    const struct stack end = stack_of(
        out, count, buffer_of(resident, data + (plan->stage_count + 1) % 2 * third, plan->out));
    enum gf_status status = GF_OK;
    int stages = 0;
    if (from.first.data != in->data)
        status = copy_images(resident, in, count, &from, true, error);
    for (int s = 0; s < plan->segment_count; s++) {
        for (int i = 0; !status && i < plan->segment[s].count; i++, stages++) {
            const struct gf_stage *const stage = &plan->stage[plan->segment[s].first + i];
            const struct stack to =
                stages + 1 == plan->stage_count
                    ? end
                    : buffer_of(resident, data + stages % 2 * third, stage->out);
            status = run_stage(resident, ready, stage, ready->pass[s].constants[i], &from, &to,
                               count, error);
            from = to;
        }
    }
    if (!status && end.first.data != out->data)
        status = copy_images(resident, out, count, &end, false, error);
    return status;
}

static size_t picture_bytes(const struct gf_resident *resident, struct gf_format format)
{
    return gf_layout_round(gf_band_pitch(resident->backend, format) * (size_t)format.height);
}

/* Returns the bytes of the largest picture that the plan makes or reads; 0 if its pictures cannot
 * share launches. */
static size_t largest_bytes(const struct gf_resident *resident, const struct gf_plan *plan)
{
    size_t bytes =
        plan->stage_count && !resident->options->band_rows ? picture_bytes(resident, plan->in) : 0;
    for (int i = 0; i < plan->stage_count; i++)
        bytes = !bytes || gf_stage_statistic(&plan->stage[i])
                    ? 0
                    : gf_larger(bytes, picture_bytes(resident, plan->stage[i].out));
    return bytes;
}

/* Makes the memory for three stacks large enough. */
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
    enum gf_status status = GF_OK;
    if (most > 1)
        status = reserve(resident, ready, 3 * largest * (size_t)most, error);
    for (int i = 0; !status && i<count; i += most> 1 ? most : 1) {
        const int left = count - i;
        status = most > 1
                     ? run_stack(resident, ready, in + i, out + i, left < most ? left : most, error)
                     : gf_resident_run_one(resident, ready, in + i, out + i, error);
    }
    return status;
}

enum gf_status gf_resident_run(struct gf_resident *resident, struct gf_ready_plan *ready,
                               const struct gf_image *in, const struct gf_image *out, int count,
                               void *stream, struct gf_error *error)
{
    const struct gf_backend_calls *const calls = resident->backend->calls;
    enum gf_status status = calls->follow(resident->lane, stream, error);
    if (status)
        return status;
    ready->turn = ++resident->turns;
    status = run_all(resident, ready, in, out, count, error);
    calls->leave(resident->lane);
    return status;
}
