#include "cuda/png/encode_plan.cuh"

extern "C" {
#include "codec/png/png_mark.h"
}

/* ARRAYS: number of aligned arrays in device memory. */
enum { ARRAYS = 16, OUTPUT_MARGIN = 16 };

static unsigned row_bytes(struct gf_format format)
{
    return (unsigned)gf_row_bytes(format);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Adds a stripe. The memory of the output contains the candidates for repeats first. */
static void add_stripe(struct png_part *part, uint64_t size)
{
    part->stripes++;
    part->cells += cells_of(size);
    part->output += larger(chunk_most(size), cells_of(size) * sizeof(uint16_t));
}

struct png_part gf_png_part(struct gf_format format)
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
           gf_png_pack_states(part->cells, part->stripes) * sizeof(uint64_t) + part->cells * CELL +
           part->cells / 8 * 2 * CODINGS + part->cells * sizeof(uint16_t) + part->output;
}

extern "C" uint64_t gf_png_encoder_bytes(struct gf_format format)
{
    const struct png_part part = gf_png_part(format);
    return part_bytes(&part) + fixed_bytes();
}

extern "C" bool gf_png_encoder_takes(struct gf_format format)
{
    return format.channels <= 4 && (format.bits == 8 || format.bits == 16);
}

uint64_t gf_png_choose(struct gf_png_encoder *encoder, int count)
{
    return choose_pictures(encoder, count, fixed_bytes(), part_bytes);
}

/* Describes the stripes of picture `index`. */
static void describe_stripes(struct gf_png_encoder *encoder, struct gf_format format, int index)
{
    struct png_group *const group = &encoder->group;
    const int rows = gf_png_mark_rows(row_bytes(format), format.height);
    for (int y = 0; y < format.height; y += rows) {
        struct png_stripe *const stripe = encoder->stripes + group->count++;
        *stripe = {};
        stripe->cells = encoder->cells;
        stripe->picture = (unsigned)index;
        stripe->row = y;
        stripe->rows = format.height - y < rows ? format.height - y : rows;
        stripe->size = (row_bytes(format) + 1) * (unsigned)stripe->rows;
        stripe->first = y == 0;
        stripe->last = y + stripe->rows == format.height;
        encoder->cells += cells_of(stripe->size);
        group->cells_most = (unsigned)larger(group->cells_most, cells_of(stripe->size));
        group->rows_most = (int)larger((uint64_t)group->rows_most, (uint64_t)stripe->rows);
    }
}

static void describe(struct gf_png_encoder *encoder, const struct gf_png_encode_picture *pictures,
                     int count)
{
    int placed = 0;
    encoder->group = {};
    encoder->cells = 0;
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
    encoder->states = gf_png_pack_states(encoder->cells, encoder->group.count);
}

uint64_t gf_png_descriptions_bytes(const struct gf_png_encoder *encoder)
{
    return aligned((uint64_t)encoder->placed * sizeof *encoder->pictures) +
           encoder->group.count * sizeof *encoder->stripes;
}

uint64_t gf_png_zeroed_bytes(const struct gf_png_encoder *encoder)
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
        take(&arena, group->found[coding], encoder->cells / 32);
        take(&arena, group->breaks[coding], encoder->cells / 32);
    }
    take(&arena, group->distances, encoder->cells);
    take(&arena, group->filtered, encoder->cells * CELL);
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

enum gf_status gf_png_lay_out(struct gf_png_encoder *encoder,
                              const struct gf_png_encode_picture *pictures, int count,
                              struct gf_error *error)
{
    GF_TRY(reserve_descriptions(encoder, chosen_stripes(encoder, count), error));
    describe(encoder, pictures, count);
    GF_TRY(coder_reserve(encoder, divide(encoder, NULL), encoder->placed, error));
    divide(encoder, encoder->memory);
    return GF_OK;
}
