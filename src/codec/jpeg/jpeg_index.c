#include "codec/jpeg/jpeg_codes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/grow.h"
#include "base/threads/ordered.h"
#include "base/threads/times.h"

enum {
    SUBSEQUENCE_BYTES = 128 << 10,
    MARKS_MOST = 64 << 10, /* the most marks of a subsequence; its other units have none */
    FAILURES_MOST = 1000   /* the most wrong guesses in a subsequence */
};

/* Subsequence k is in slot k % slots. */
struct gf_jpeg_scouts {
    const struct gf_jpeg_unit *unit;
    struct gf_input *input;
    int64_t begin, size; /* offset of the scan; size of the input */
    int subsequence_bytes, subsequences, threads, slots;
    struct gf_jpeg_subsequence *slot;
    struct gf_jpeg_bits *bits; /* one for each thread */
    struct gf_ordered *ordered;
    int taken;
};

/* Returns the offset in the input where a subsequence begins. A stuffed zero belongs to the
 * subsequence before. */
static int64_t subsequence_begin(const struct gf_jpeg_scouts *scouts, int index)
{
    const int64_t begin = scouts->begin + (int64_t)index * scouts->subsequence_bytes;
    unsigned char two[2] = {0};
    size_t got;
    if (begin >= scouts->size)
        return scouts->size;
    if (index && gf_input_read_at(scouts->input, begin - 1, two, sizeof two, &got, NULL))
        return begin;
    return begin + (two[0] == 0xff);
}

static bool add_mark(struct gf_jpeg_subsequence *subsequence, int64_t bit, const int32_t *dc)
{
    if (subsequence->count == MARKS_MOST ||
        !GF_RESERVE(subsequence->mark, subsequence->room, subsequence->count + 1))
        return false;
    struct gf_jpeg_mark *const mark = &subsequence->mark[subsequence->count++];
    mark->bit = bit;
    memcpy(mark->dc, dc, sizeof mark->dc);
    return true;
}

/* Walks over a subsequence and marks where units begin, up to the first unit after the subsequence.
 * After an invalid code the marks are dropped, and the walk starts again one bit later. */
static enum gf_status scout(void *context, int thread, int index, struct gf_error *error)
{
    struct gf_jpeg_scouts *const scouts = context;
    struct gf_jpeg_subsequence *const subsequence = &scouts->slot[index % scouts->slots];
    struct gf_jpeg_bits *const bits = &scouts->bits[thread];
    int32_t dc[GF_JPEG_COMPONENTS] = {0};
    subsequence->count = 0;
    subsequence->end = subsequence_begin(scouts, index + 1);
    gf_jpeg_bits_open(bits, scouts->input, 8 * subsequence_begin(scouts, index), scouts->size);
    for (int failures = 0; failures < FAILURES_MOST && gf_jpeg_bits_advance(bits);) {
        const int64_t bit = gf_jpeg_bits_place(bits);
        if (!add_mark(subsequence, bit, dc) || bit >= 8 * subsequence->end)
            break;
        if (gf_jpeg_walk(scouts->unit, bits, 1, dc)) {
            if (gf_jpeg_bits_left(bits) < 0)
                break;
            continue;
        }
        subsequence->count = 0;
        failures++;
        gf_jpeg_refill(&bits->next);
        gf_jpeg_skip(&bits->next, 1);
    }
    return GF_OK;
}

static void jpeg_scouts_close(struct gf_jpeg_scouts *scouts)
{
    if (!scouts)
        return;
    gf_ordered_close(scouts->ordered);
    for (int i = 0; scouts->slot && i < scouts->slots; i++)
        free(scouts->slot[i].mark);
    free(scouts->bits);
    free(scouts->slot);
    free(scouts);
}

/* Opens scouts for the scan at the offset `begin` of the input. Returns NULL if scouts do not help,
 * or when out of memory. */
static struct gf_jpeg_scouts *jpeg_scouts_open(const struct gf_jpeg_unit *unit,
                                               struct gf_input *input, int64_t begin, int threads,
                                               int subsequence_bytes)
{
    struct gf_jpeg_scouts *const scouts = calloc(1, sizeof *scouts);
    if (!scouts)
        return NULL;
    scouts->unit = unit;
    scouts->input = input;
    scouts->begin = begin;
    scouts->size = gf_input_size(input);
    scouts->subsequence_bytes = subsequence_bytes ? subsequence_bytes : SUBSEQUENCE_BYTES;
    scouts->subsequences =
        (int)((scouts->size - begin + scouts->subsequence_bytes - 1) / scouts->subsequence_bytes);
    scouts->threads = threads < scouts->subsequences ? threads : scouts->subsequences;
    const int slots = scouts->threads + scouts->threads / 2 + 1;
    scouts->slots = slots < scouts->subsequences ? slots : scouts->subsequences;
    if (scouts->threads > 1) {
        scouts->slot = calloc((size_t)scouts->slots, sizeof *scouts->slot);
        scouts->bits = malloc((size_t)scouts->threads * sizeof *scouts->bits);
    }
    const struct gf_ordered_setup setup = {
        .call = scout, .context = scouts, .threads = scouts->threads, .slots = scouts->slots};
    if (!scouts->slot || !scouts->bits || gf_ordered_open(&setup, &scouts->ordered, NULL)) {
        jpeg_scouts_close(scouts);
        return NULL;
    }
    for (int i = 0; i < scouts->slots; i++)
        gf_ordered_submit(scouts->ordered);
    return scouts;
}

/* Waits for the next subsequence, and ends the use of the subsequence before. Returns NULL after
 * the last one. */
static const struct gf_jpeg_subsequence *jpeg_scouts_next(struct gf_jpeg_scouts *scouts)
{
    if (scouts->taken == scouts->subsequences ||
        gf_ordered_next(scouts->ordered, scouts->subsequences, NULL))
        return NULL;
    return &scouts->slot[scouts->taken++ % scouts->slots];
}

enum { RST0 = 0xd0, EOI = 0xd9 };

struct gf_jpeg_index *gf_jpeg_index_open(const struct gf_jpeg_unit *unit, int units_across,
                                         int rows, int restart_interval, struct gf_input *input,
                                         int64_t begin, int threads, int subsequence_bytes)
{
    struct gf_jpeg_index *const index =
        calloc(1, sizeof *index + ((size_t)rows + 1) * sizeof *index->row);
    if (!index)
        return NULL;
    index->unit = unit;
    index->input = input;
    index->units_across = units_across;
    index->rows = rows;
    index->restart_interval = index->until_restart = restart_interval;
    gf_jpeg_bits_open(&index->bits, input, 8 * begin, gf_input_size(input));
    index->row[0] = (struct gf_jpeg_index_row){.bit = 8 * begin, .stop = begin};
    if (!restart_interval)
        index->scouts = jpeg_scouts_open(unit, input, begin, threads, subsequence_bytes);
    return index;
}

void gf_jpeg_index_close(struct gf_jpeg_index *index)
{
    if (index)
        jpeg_scouts_close(index->scouts);
    free(index);
}

static void seek(struct gf_jpeg_index *index, int64_t bit)
{
    gf_jpeg_bits_open(&index->bits, index->input, bit, gf_input_size(index->input));
}

/* Moves *at, an offset in the input, behind the next `count` restart markers. Returns false if
 * there is another marker before. */
static bool pass_restarts(struct gf_input *input, int64_t count, int64_t *at)
{
    unsigned char piece[16 << 10];
    size_t got;
    int64_t passed = 0;
    while (passed < count) {
        size_t i = 0;
        if (gf_input_read_at(input, *at, piece, sizeof piece, &got, NULL) || got < 2)
            return false;
        while (passed < count && i < got - 1) {
            const unsigned char *const found = memchr(piece + i, 0xff, got - 1 - i);
            i = found ? (size_t)(found - piece) + 2 : got - 1;
            if (found && found[1] && found[1] != RST0 + passed++ % 8)
                return false;
        }
        *at += (int64_t)i;
    }
    return true;
}

void gf_jpeg_index_skip(struct gf_jpeg_index *index, int row)
{
    const int64_t units = (int64_t)row * index->units_across;
    int64_t at = index->row[0].stop;
    if (!index->restart_interval || units % index->restart_interval ||
        !pass_restarts(index->input, units / index->restart_interval, &at))
        return;
    index->restarts = (int)(units / index->restart_interval % 8);
    index->known = row;
    index->row[row] = (struct gf_jpeg_index_row){.bit = 8 * at, .stop = at - 2};
    seek(index, 8 * at);
}

/* Returns the offset after the last byte that contains a bit before `bit`. */
static int64_t stop_before(const struct gf_jpeg_index *index, int64_t bit)
{
    unsigned char byte = 0;
    size_t got;
    if (bit % 8 == 0)
        return bit / 8;
    if (gf_input_read_at(index->input, bit / 8, &byte, 1, &got, NULL))
        return bit / 8 + 1;
    return bit / 8 + (byte == 0xff ? 2 : 1);
}

static bool take_restart(struct gf_jpeg_index *index)
{
    index->until_restart = index->restart_interval;
    memset(index->dc, 0, sizeof index->dc);
    return gf_jpeg_bits_take_marker(&index->bits, RST0 + index->restarts++ % 8);
}

static bool walk_units(struct gf_jpeg_index *index, int units)
{
    return gf_jpeg_walk(index->unit, &index->bits, units, index->dc) &&
           gf_jpeg_bits_left(&index->bits) >= 0; /* false: the data ended too early */
}

static bool walk_row(struct gf_jpeg_index *index)
{
    for (int left = index->units_across, some; left; left -= some) {
        some = left;
        if (index->restart_interval && !index->until_restart && !take_restart(index))
            return false;
        if (index->restart_interval && index->until_restart < left)
            some = index->until_restart;
        index->until_restart -= some;
        if (!walk_units(index, some))
            return false;
    }
    return true;
}

/* Notes that the next row begins at `bit`, the reader's position. Takes the restart marker or the
 * end marker that must be there. */
static bool end_row(struct gf_jpeg_index *index, int64_t bit)
{
    struct gf_jpeg_index_row *const row = &index->row[index->known + 1];
    const bool last = index->known + 1 == index->rows;
    row->stop = stop_before(index, bit);
    if (last && !gf_jpeg_bits_take_marker(&index->bits, EOI))
        return false;
    if (!last && index->restart_interval && !index->until_restart) {
        if (!take_restart(index))
            return false;
        bit = gf_jpeg_bits_place(&index->bits);
    }
    row->bit = bit;
    memcpy(row->dc, index->dc, sizeof row->dc);
    for (int c = 0; c < GF_JPEG_COMPONENTS; c++) {
        if (abs(row->dc[c]) > GF_JPEG_DC_MOST)
            return false;
    }
    index->known++;
    return true;
}

/* ---- walking from subsequence to subsequence, with the marks of scouts ---- */

/* Returns the number of units up to the end of the row. */
static int64_t rest_of_row(const struct gf_jpeg_index *index)
{
    return (int64_t)(index->known + 1) * index->units_across - index->units;
}

/* Uses a subsequence's marks: the walk is at `mark`, jumps to `last`, and notes the rows that begin
 * between them. */
static bool take_marks(struct gf_jpeg_index *index, const struct gf_jpeg_mark *mark,
                       const struct gf_jpeg_mark *last)
{
    while (index->known < index->rows && mark < last) {
        const int64_t rest = rest_of_row(index);
        const struct gf_jpeg_mark *const to = rest < last - mark ? mark + rest : last;
        for (int c = 0; c < GF_JPEG_COMPONENTS; c++)
            index->dc[c] += to->dc[c] - mark->dc[c];
        index->units += to - mark;
        mark = to;
        if (mark == last || index->units == (int64_t)index->rows * index->units_across)
            seek(index, mark->bit);
        if (!rest_of_row(index) && !end_row(index, mark->bit))
            return false;
    }
    return true;
}

/* Walks to the next subsequence, one unit after another, until the walk reaches a position that a
 * scout has marked; from there on it uses the scout's marks. */
static bool walk_subsequence(struct gf_jpeg_index *index)
{
    const struct gf_jpeg_subsequence *const subsequence = jpeg_scouts_next(index->scouts);
    const int64_t end = subsequence ? 8 * subsequence->end : INT64_MAX;
    const int count = subsequence ? subsequence->count : 0;
    const struct gf_jpeg_mark *mark = count ? subsequence->mark : NULL;
    const struct gf_jpeg_mark *const last = count ? mark + count - 1 : NULL;
    while (index->known < index->rows) {
        const int64_t bit = gf_jpeg_bits_place(&index->bits);
        if (bit >= end)
            break;
        while (mark < last && mark->bit < bit)
            mark++;
        if (mark < last && mark->bit == bit) {
            if (!take_marks(index, mark, last))
                return false;
            mark = last;
            continue;
        }
        if (!walk_units(index, 1))
            return false;
        index->units++;
        if (!rest_of_row(index) && !end_row(index, gf_jpeg_bits_place(&index->bits)))
            return false;
    }
    return true;
}

bool gf_jpeg_index_reach(struct gf_jpeg_index *index, int row)
{
    while (index->known < row && !index->damaged && !gf_time_is_up()) {
        const bool sound =
            index->scouts ? walk_subsequence(index)
                          : walk_row(index) && end_row(index, gf_jpeg_bits_place(&index->bits));
        index->damaged = !sound;
    }
    return index->known >= row;
}

/* Whether the bits of the current byte that were not taken are ones, as at the end of a scan. */
static bool fills_with_ones(struct gf_jpeg_bits *bits)
{
    if (bits->next.at >= bits->limit && !gf_jpeg_bits_advance(bits))
        return false;
    const int fill = (int)(-gf_jpeg_bits_place(bits) & 7);
    gf_jpeg_refill(&bits->next);
    return !fill || !(~bits->next.value >> (64 - fill));
}

bool gf_jpeg_index_has_more(struct gf_jpeg_index *index)
{
    if (!gf_jpeg_index_reach(index, index->rows - 1) || !walk_row(index) ||
        !fills_with_ones(&index->bits))
        return true;
    while (gf_jpeg_bits_left(&index->bits) > 7) {
        if (!walk_units(index, 1))
            return false;
    }
    return fills_with_ones(&index->bits);
}
