#include "cuda/png/encode_plan.cuh"

extern "C" {
#include "codec/png/png_mark.h"
}

/* ARRAYS: in device memory, each aligned. */
enum { ARRAYS = 16, OUTPUT_MARGIN = 16 };

/* ---- stripes ---- */

static unsigned row_bytes(struct gf_format format)
{
    return (unsigned)gf_row_bytes(format);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The memory of the output first holds the candidates for repeats. */
static void add_stripe(struct part *part, uint64_t size)
{
    part->stripes++;
    part->cells += cells_of(size);
    part->output += larger(chunk_most(size), cells_of(size) * sizeof(uint16_t));
}

struct part gf_png_part(struct gf_format format)
{
    struct part part = {};
    const int rows = gf_png_mark_rows(row_bytes(format), format.height);
    const uint64_t row = (uint64_t)row_bytes(format) + 1;
    for (int y = 0; y < format.height; y += rows)
        add_stripe(&part, row * (uint64_t)(format.height - y < rows ? format.height - y : rows));
    return part;
}

/* ---- memory ---- */

static uint64_t fixed_bytes(void)
{
    return ARRAYS * ALIGNMENT + OUTPUT_MARGIN + sizeof(uint64_t) * 2;
}

static uint64_t part_bytes(const struct part *part)
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
    const struct part part = gf_png_part(format);
    return part_bytes(&part) + fixed_bytes();
}

extern "C" bool gf_png_encoder_takes(struct gf_format format)
{
    return format.channels <= 4 && (format.bits == 8 || format.bits == 16);
}

bool gf_png_choose(struct gf_png_encoder *encoder, int count)
{
    uint64_t bytes = fixed_bytes();
    int chosen = 0;
    for (int i = 0; i < count; i++) {
        struct part *const part = encoder->parts + i;
        const uint64_t own = part_bytes(part);
        if (part->state != WAITING)
            continue;
        if (fixed_bytes() + own > encoder->memory_most)
            part->state = ENDED;
        else if (chosen < PICTURES_MOST && bytes + own <= encoder->memory_most) {
            part->state = CHOSEN;
            bytes += own;
            chosen++;
        }
    }
    encoder->placed_count = chosen;
    return chosen > 0;
}

/* ---- a round ---- */

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
    return aligned((uint64_t)encoder->placed_count * sizeof *encoder->pictures) +
           encoder->group.count * sizeof *encoder->stripes;
}

uint64_t gf_png_zeroed_bytes(const struct gf_png_encoder *encoder)
{
    return (uint64_t)((unsigned char *)(encoder->group.states + encoder->states) -
                      (unsigned char *)encoder->group.counts);
}

/* Takes the next array from *at. */
template <class T> static void take(T **array, unsigned char **at, uint64_t count)
{
    *array = (T *)*at;
    *at += aligned(count * sizeof(T));
}

/* Divides memory that begins at `at`; returns where it ends. */
static unsigned char *divide(struct gf_png_encoder *encoder, unsigned char *at)
{
    struct png_group *const group = &encoder->group;
    struct png_picture *pictures;
    struct png_stripe *stripes;
    take(&pictures, &at, (uint64_t)encoder->placed_count);
    take(&stripes, &at, group->count);
    group->pictures = pictures;
    group->stripes = stripes;
    group->tables = encoder->tables;
    take(&group->counts, &at, group->count);
    take(&group->adler, &at, (uint64_t)encoder->placed_count);
    take(&group->states, &at, encoder->states);
    take(&group->chunks, &at, group->count);
    take(&group->starts, &at, group->count + (uint64_t)1);
    for (int coding = RUNS; coding < CODINGS; coding++) {
        take(&group->codes[coding], &at, group->count);
        take(&group->found[coding], &at, encoder->cells / 32);
        take(&group->breaks[coding], &at, encoder->cells / 32);
    }
    take(&group->distances, &at, encoder->cells);
    take(&group->filtered, &at, encoder->cells * CELL);
    group->first = (uint16_t *)at;
    take(&group->out, &at, encoder->output / sizeof *group->out + 1);
    return at;
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
    enum gf_status status = gf_png_reserve_descriptions(encoder, encoder->placed_count,
                                                        chosen_stripes(encoder, count), error);
    if (status)
        return status;
    describe(encoder, pictures, count);
    const uint64_t bytes = (uint64_t)(divide(encoder, NULL) - (unsigned char *)NULL);
    status = gf_png_reserve_device(encoder, bytes, error);
    if (!status)
        divide(encoder, encoder->memory);
    return status;
}
