/* The encoder on the host: plans rounds of pictures, runs their steps, and hands on the chunks. */
#include "base/threads/times.h"
#include "cuda/common/coder.cuh"
#include "cuda/png/coders.h"
#include "cuda/png/crc.cuh"
#include "cuda/png/encode_group.cuh"

extern "C" {
#include "codec/png/png_chunk.h"
}

/* TURNS_MOST: the most parts of a round that are packed one after the other; each is copied to the
 * host while the next is being packed. TURN_STRIPES_MOST: the most rows of a grid. */
enum {
    TURNS_MOST = 16,
    TURN_BYTES = 12 << 20, /* bytes of filtered rows */
    TURN_STRIPES_MOST = 32768
};

/* A picture of the group. */
struct png_part : encoder_part {
    unsigned stripes;
    uint64_t granules, output; /* number of its stripes' granules; bytes of its output */
};

struct gf_png_encoder : encoder<png_part> {
    cudaStream_t copies;
    cudaEvent_t packed[TURNS_MOST], copied[TURNS_MOST];
    cudaEvent_t starts_known;  /* waiting for this event, or for `copied`, does not keep the
                                * processor busy */
    struct crc_tables *tables; /* the tables for checksums, on the device */
    /* In pinned memory: the pictures and stripes of the round, which are copied to the device, and
     * then the offsets of the chunks. */
    struct png_picture *pictures;
    struct png_stripe *stripes;
    uint64_t *starts;
    struct png_group group;
    uint64_t granules, output, states; /* the sums over all stripes: granules; bytes of output;
                                        * words of states */
};

/* Plans rounds: the pictures that a round encodes, the memory that they need, and the addresses of
 * their arrays in device memory. */

/* ARRAYS: number of aligned arrays in device memory. */
enum { ARRAYS = 16, OUTPUT_MARGIN = 16 };

static unsigned row_bytes(struct gf_format format)
{
    return (unsigned)gf_row_bytes(format);
}

/* Adds a stripe. The memory of the output contains the candidates for repeats first. */
static void add_stripe(struct png_part *part, uint64_t size)
{
    part->stripes++;
    part->granules += granules_of(size);
    part->output += max(chunk_most(size), granules_of(size) * sizeof(uint16_t));
}

static struct png_part part_of(struct gf_format format)
{
    struct png_part part = {};
    const int rows = gf_png_mark_rows(row_bytes(format), format.height);
    const uint64_t row = (uint64_t)row_bytes(format) + 1;
    for (int y = 0; y < format.height; y += rows)
        add_stripe(&part, row * (uint64_t)(format.height - y < rows ? format.height - y : rows));
    return part;
}

static uint64_t fixed_bytes(void)
{
    return ARRAYS * CODER_ALIGNMENT + OUTPUT_MARGIN + sizeof(uint64_t) * 2;
}

static uint64_t part_bytes(const struct png_part *part)
{
    const uint64_t stripe = sizeof(struct png_stripe) + sizeof(struct png_counts) +
                            CODINGS * sizeof(struct png_code) + sizeof(struct png_chunk) +
                            sizeof(uint64_t);
    return sizeof(struct png_picture) + sizeof(struct png_adler) + part->stripes * stripe +
           gf_png_pack_states(part->granules, part->stripes) * sizeof(uint64_t) +
           part->granules * GRANULE + part->granules / 8 * 2 * CODINGS +
           part->granules * sizeof(uint16_t) + part->output;
}

extern "C" uint64_t gf_png_encoder_bytes(struct gf_format format)
{
    const struct png_part part = part_of(format);
    return part_bytes(&part) + fixed_bytes();
}

extern "C" bool gf_png_encoder_takes(struct gf_format format)
{
    return format.channels <= 4 && (format.bits == 8 || format.bits == 16);
}

static void describe_stripes(struct gf_png_encoder *encoder, struct gf_format format, int index)
{
    struct png_group *const group = &encoder->group;
    const int rows = gf_png_mark_rows(row_bytes(format), format.height);
    for (int y = 0; y < format.height; y += rows) {
        struct png_stripe *const stripe = encoder->stripes + group->count++;
        *stripe = {};
        stripe->granules = encoder->granules;
        stripe->picture = (unsigned)index;
        stripe->row = y;
        stripe->rows = format.height - y < rows ? format.height - y : rows;
        stripe->size = (row_bytes(format) + 1) * (unsigned)stripe->rows;
        stripe->first = y == 0;
        stripe->last = y + stripe->rows == format.height;
        encoder->granules += granules_of(stripe->size);
        group->granules_most = max(group->granules_most, (unsigned)granules_of(stripe->size));
        group->rows_most = max(group->rows_most, stripe->rows);
    }
}

static void describe(struct gf_png_encoder *encoder, const struct gf_png_encode_picture *pictures,
                     int count)
{
    int placed = 0;
    encoder->group = {};
    encoder->granules = 0;
    encoder->output = OUTPUT_MARGIN;
    for (int i = 0; i < count; i++) {
        if (encoder->parts[i].state != CHOSEN)
            continue;
        const struct gf_view in = pictures[i].in;
        struct png_picture *const picture = encoder->pictures + placed;
        *picture = {};
        picture->pixels = in.data;
        picture->pitch = in.pitch;
        picture->row_bytes = row_bytes(in.format);
        picture->pixel_bytes = (unsigned)(in.format.channels * in.format.bits / 8);
        picture->height = in.format.height;
        picture->swapped = in.format.bits == 16;
        encoder->indices[placed] = i;
        describe_stripes(encoder, in.format, placed++);
        encoder->output += encoder->parts[i].output;
    }
    encoder->states = gf_png_pack_states(encoder->granules, encoder->group.count);
}

/* Returns the bytes of descriptions at the start of device memory. */
static uint64_t descriptions_bytes(const struct gf_png_encoder *encoder)
{
    return aligned((uint64_t)encoder->placed * sizeof *encoder->pictures) +
           encoder->group.count * sizeof *encoder->stripes;
}

/* Returns the bytes from group.counts on that must be zero. */
static uint64_t zeroed_bytes(const struct gf_png_encoder *encoder)
{
    return (uint64_t)((unsigned char *)(encoder->group.states + encoder->states) -
                      (unsigned char *)encoder->group.counts);
}

/* Divides the memory into arrays. Returns the number of bytes that they need. */
static uint64_t divide(struct gf_png_encoder *encoder, unsigned char *memory)
{
    struct png_group *const group = &encoder->group;
    struct arena arena = {memory, 0};
    struct png_picture *pictures;
    struct png_stripe *stripes;
    take(&arena, pictures, (uint64_t)encoder->placed);
    take(&arena, stripes, group->count);
    group->pictures = pictures;
    group->stripes = stripes;
    group->tables = encoder->tables;
    take(&arena, group->counts, group->count);
    take(&arena, group->adler, (uint64_t)encoder->placed);
    take(&arena, group->states, encoder->states);
    take(&arena, group->chunks, group->count);
    take(&arena, group->starts, group->count + (uint64_t)1);
    for (int coding = RUNS; coding < CODINGS; coding++) {
        take(&arena, group->codes[coding], group->count);
        take(&arena, group->found[coding], encoder->granules / 32);
        take(&arena, group->breaks[coding], encoder->granules / 32);
    }
    take(&arena, group->distances, encoder->granules);
    take(&arena, group->filtered, encoder->granules * GRANULE);
    take(&arena, group->out, encoder->output / sizeof *group->out + 1);
    group->first = (uint16_t *)group->out;
    return arena.used;
}

static enum gf_status reserve_descriptions(struct gf_png_encoder *encoder, uint64_t stripes,
                                           struct gf_error *error)
{
    const uint64_t first = aligned((uint64_t)encoder->placed * sizeof *encoder->pictures),
                   second = aligned(stripes * sizeof *encoder->stripes),
                   size = first + second + (stripes + 1) * sizeof *encoder->starts;
    GF_TRY(coder_reserve_pinned(encoder, size, size / 2, encoder->placed, error));
    encoder->pictures = (struct png_picture *)encoder->pinned;
    encoder->stripes = (struct png_stripe *)(encoder->pinned + first);
    encoder->starts = (uint64_t *)(encoder->pinned + first + second);
    return GF_OK;
}

static unsigned chosen_stripes(const struct gf_png_encoder *encoder, int count)
{
    unsigned stripes = 0;
    for (int i = 0; i < count; i++)
        stripes += encoder->parts[i].state == CHOSEN ? encoder->parts[i].stripes : 0;
    return stripes;
}

/* Allocates memory for the chosen pictures, describes them, and sets encoder->group. */
static enum gf_status lay_out(struct gf_png_encoder *encoder,
                              const struct gf_png_encode_picture *pictures, int count,
                              struct gf_error *error)
{
    GF_TRY(reserve_descriptions(encoder, chosen_stripes(encoder, count), error));
    describe(encoder, pictures, count);
    GF_TRY(coder_reserve(encoder, divide(encoder, NULL), encoder->placed, error));
    divide(encoder, encoder->memory);
    return GF_OK;
}

/* The encoder on the host. It encodes pictures in rounds, as many at once as memory allows. */

/* ---- the launches of a round ---- */

/* Launches the steps up to the placement of the chunks, for which the host waits. */
static enum gf_status launch_first(struct gf_png_encoder *encoder, struct gf_error *error)
{
    const struct png_group *const group = &encoder->group;
    const cudaStream_t stream = encoder->stream;
    CODER_TRY(encoder,
              cudaMemcpyAsync(encoder->memory, encoder->pinned, descriptions_bytes(encoder),
                              cudaMemcpyHostToDevice, stream));
    CODER_TRY(encoder, coder_mark(encoder, 0, stream));
    CODER_TRY(encoder, cudaMemsetAsync(group->counts, 0, zeroed_bytes(encoder), stream));
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
    const uint64_t bytes = encoder->granules * GRANULE / TURN_BYTES;
    const unsigned least = (encoder->group.count + TURN_STRIPES_MOST - 1) / TURN_STRIPES_MOST;
    unsigned turns = min(encoder->group.count, (unsigned)TURNS_MOST);
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
    GF_TRY(lay_out(encoder, pictures, count, error));
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
        encoder->parts[i] = part_of(pictures[i].in.format);
    while (choose_pictures(encoder, count, fixed_bytes(), part_bytes))
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
    CODER_TRY(encoder, gf_png_fit_load());
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
