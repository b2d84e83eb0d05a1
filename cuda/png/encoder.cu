/* The encoder on the host. It encodes pictures in rounds, as many at once as memory allows. */
#include "base/spans.h"
#include "base/start_times.h"
#include "cuda/png/crc.cuh"
#include "cuda/png/encode_plan.cuh"

/* ---- the launches of a round ---- */

/* Launches the steps up to the placement of the chunks, for which the host waits. */
static enum gf_status launch_first(struct gf_png_encoder *encoder, struct gf_error *error)
{
    const struct png_group *const group = &encoder->group;
    const cudaStream_t stream = encoder->stream;
    CODER_TRY(encoder,
              cudaMemcpyAsync(encoder->memory, encoder->pinned, gf_png_descriptions_bytes(encoder),
                              cudaMemcpyHostToDevice, stream));
    CODER_TRY(encoder, coder_mark(encoder, 0, stream));
    CODER_TRY(encoder, cudaMemsetAsync(group->counts, 0, gf_png_zeroed_bytes(encoder), stream));
    CODER_TRY(encoder, gf_png_filter_launch(group, stream));
    CODER_TRY(encoder, gf_png_match_launch(group, stream));
    CODER_TRY(encoder, gf_png_count_launch(group, stream));
    CODER_TRY(encoder, gf_png_fit_launch(group, stream));
    CODER_TRY(encoder, gf_png_place_launch(group, stream));
    CODER_TRY(encoder, cudaMemcpyAsync(encoder->starts, group->starts,
                                       (group->count + (size_t)1) * sizeof *group->starts,
                                       cudaMemcpyDeviceToHost, stream));
    CODER_TRY(encoder, cudaEventRecord(encoder->starts_known, stream));
    CODER_TRY(encoder, cudaMemsetAsync(group->out, 0, encoder->output, stream));
    return GF_OK;
}

/* Returns the number of turns. Turn t packs the stripes from t * count / turns on. */
static unsigned turns_of(const struct gf_png_encoder *encoder)
{
    const uint64_t bytes = encoder->cells * CELL / TURN_BYTES;
    const unsigned least = (encoder->group.count + TURN_STRIPES_MOST - 1) / TURN_STRIPES_MOST;
    unsigned turns = smaller(encoder->group.count, TURNS_MOST);
    turns = bytes < turns ? (unsigned)bytes : turns;
    return turns > least ? turns : least;
}

static unsigned turn_start(const struct gf_png_encoder *encoder, unsigned turn, unsigned turns)
{
    return (unsigned)((uint64_t)encoder->group.count * turn / turns);
}

static enum gf_status launch_turns(struct gf_png_encoder *encoder, unsigned turns,
                                   struct gf_error *error)
{
    const struct png_group *const group = &encoder->group;
    const cudaStream_t stream = encoder->stream;
    for (unsigned turn = 0; turn < turns; turn++) {
        const unsigned first = turn_start(encoder, turn, turns),
                       count = turn_start(encoder, turn + 1, turns) - first;
        CODER_TRY(encoder, gf_png_head_launch(group, first, count, stream));
        CODER_TRY(encoder, gf_png_pack_launch(group, first, count, stream));
        CODER_TRY(encoder, gf_png_crc_launch(group, first, count, stream));
        CODER_TRY(encoder, cudaEventRecord(encoder->packed[turn], stream));
    }
    CODER_TRY(encoder, coder_mark(encoder, 1, stream));
    return GF_OK;
}

/* Passes the bytes of a group's only picture to the caller as they arrive. */
static enum gf_status hand_on(const struct gf_png_encoder *encoder,
                              const struct gf_png_encode_picture *picture, unsigned turns,
                              struct gf_error *error)
{
    for (unsigned turn = 0; turn < turns; turn++) {
        const uint64_t begin = encoder->starts[turn_start(encoder, turn, turns)],
                       end = encoder->starts[turn_start(encoder, turn + 1, turns)];
        CODER_TRY(encoder, cudaEventSynchronize(encoder->copied[turn]));
        picture->arrived(picture->context, encoder->coded.data + encoder->coded_used + begin,
                         end - begin);
    }
    return GF_OK;
}

/* Copies the chunks that the host does not have yet, after each turn as soon as it is packed.
 * `only` is the group's only picture, or NULL. */
static enum gf_status fetch_chunks(struct gf_png_encoder *encoder, unsigned turns,
                                   const struct gf_png_encode_picture *only, struct gf_error *error)
{
    const uint64_t *const starts = encoder->starts;
    CODER_TRY(encoder, cudaEventSynchronize(encoder->starts_known));
    GF_TRY(reserve_coded(encoder, encoder->coded_used + starts[encoder->group.count], error));
    for (unsigned turn = 0; turn < turns; turn++) {
        const uint64_t begin = starts[turn_start(encoder, turn, turns)],
                       end = starts[turn_start(encoder, turn + 1, turns)];
        CODER_TRY(encoder, cudaStreamWaitEvent(encoder->copies, encoder->packed[turn], 0));
        CODER_TRY(encoder, cudaMemcpyAsync(encoder->coded.data + encoder->coded_used + begin,
                                           (const unsigned char *)encoder->group.out + begin,
                                           end - begin, cudaMemcpyDeviceToHost, encoder->copies));
        CODER_TRY(encoder, cudaEventRecord(encoder->copied[turn], encoder->copies));
    }
    CODER_TRY(encoder, coder_mark(encoder, 2, encoder->copies));
    CODER_TRY(encoder, cudaEventRecord(encoder->ended, encoder->copies));
    if (only && only->arrived && turns > 1)
        GF_TRY(hand_on(encoder, only, turns, error));
    CODER_TRY(encoder, cudaEventSynchronize(encoder->ended));
    return GF_OK;
}

/* Notes the addresses of the pictures' chunks. */
static void note_chunks(struct gf_png_encoder *encoder)
{
    for (int i = 0, stripe = 0; i < encoder->placed; i++) {
        struct png_part *const part = encoder->parts + encoder->indices[i];
        const uint64_t begin = encoder->starts[stripe];
        stripe += (int)part->stripes;
        part->state = ENDED;
        part->offset = encoder->coded_used + begin;
        part->size = encoder->starts[stripe] - begin;
    }
    encoder->coded_used += encoder->starts[encoder->group.count];
}

static enum gf_status run_round(struct gf_png_encoder *encoder,
                                const struct gf_png_encode_picture *pictures, int count,
                                struct gf_error *error)
{
    GF_TRY(gf_png_lay_out(encoder, pictures, count, error));
    const unsigned turns = turns_of(encoder);
    GF_TRY(launch_first(encoder, error));
    GF_TRY(launch_turns(encoder, turns, error));
    GF_TRY(fetch_chunks(encoder, turns, count == 1 ? pictures : NULL, error));
    note_chunks(encoder);
    return coder_add_times(encoder, error);
}

extern "C" enum gf_status gf_png_encoder_run(struct gf_png_encoder *encoder,
                                             struct gf_png_encode_picture *pictures, int count,
                                             struct gf_error *error)
{
    GF_TRY(begin_group(encoder, count, error));
    for (int i = 0; i < count; i++)
        encoder->parts[i] = gf_png_part(pictures[i].in.format);
    while (gf_png_choose(encoder, count))
        GF_TRY(run_round(encoder, pictures, count, error));
    for (int i = 0; i < count; i++) {
        const struct png_part *const part = encoder->parts + i;
        pictures[i].encoded = part->size > 0;
        pictures[i].chunks = encoder->coded.data + part->offset;
        pictures[i].size = part->size;
    }
    return GF_OK;
}

/* Loads the kernels while the first pictures are still being decoded. Otherwise they would be
 * loaded at their first launch. */
static enum gf_status load_kernels(const struct gf_png_encoder *encoder, struct gf_error *error)
{
    const double begin_s = gf_now();
    CODER_TRY(encoder, gf_png_filter_load());
    CODER_TRY(encoder, gf_png_match_load());
    CODER_TRY(encoder, gf_png_count_load());
    CODER_TRY(encoder, gf_png_fit_load());
    CODER_TRY(encoder, gf_png_place_load());
    CODER_TRY(encoder, gf_png_pack_load());
    CODER_TRY(encoder, gf_png_crc_load());
    gf_start_note(GF_START_KERNELS, begin_s);
    return GF_OK;
}

static enum gf_status prepare_device(struct gf_png_encoder *encoder, struct gf_error *error)
{
    const unsigned waiting = cudaEventBlockingSync | cudaEventDisableTiming;
    CODER_TRY(encoder, cudaStreamCreateWithFlags(&encoder->copies, cudaStreamNonBlocking));
    CODER_TRY(encoder, cudaEventCreateWithFlags(&encoder->starts_known, waiting));
    for (int i = 0; i < TURNS_MOST; i++) {
        CODER_TRY(encoder, cudaEventCreateWithFlags(&encoder->packed[i], cudaEventDisableTiming));
        CODER_TRY(encoder, cudaEventCreateWithFlags(&encoder->copied[i], waiting));
    }
    CODER_TRY(encoder, gf_png_crc_bring(&encoder->tables, encoder->stream));
    return load_kernels(encoder, error);
}

static void destroy_event(cudaEvent_t event)
{
    if (event)
        cudaEventDestroy(event);
}

static void clear(struct gf_png_encoder *encoder)
{
    (void)cudaFree(encoder->tables);
    destroy_event(encoder->starts_known);
    for (int i = 0; i < TURNS_MOST; i++) {
        destroy_event(encoder->packed[i]);
        destroy_event(encoder->copied[i]);
    }
    if (encoder->copies)
        cudaStreamDestroy(encoder->copies);
    clear_encoder(encoder);
}

DEFINE_CODER(png_encode, prepare_device, clear)
