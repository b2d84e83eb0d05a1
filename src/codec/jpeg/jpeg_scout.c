#include "codec/jpeg/jpeg_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "codec/common/ordered_work.h"

enum {
    SEGMENT_BYTES = 128 << 10,
    MARKS_MOST = 64 << 10, /* the most marks of a segment; its other units have none */
    FAILURES_MOST = 1000   /* the most wrong guesses in a segment */
};

/* Segment k is in slot k % slots. */
struct gf_jpeg_scouts {
    const struct gf_jpeg_unit *unit;
    struct gf_input *input;
    int64_t begin, size; /* offset of the scan; size of the input */
    int segment_bytes, segments, threads, slots;
    struct gf_jpeg_segment *slot;
    struct gf_jpeg_bits *bits; /* one for each thread */
    struct gf_ordered_work *work;
    int taken;
};

/* Returns the offset in the input where a segment begins. A stuffed zero belongs to the segment
 * before. */
static int64_t segment_begin(const struct gf_jpeg_scouts *scouts, int index)
{
    const int64_t begin = scouts->begin + (int64_t)index * scouts->segment_bytes;
    unsigned char two[2] = {0};
    size_t got;
    if (begin >= scouts->size)
        return scouts->size;
    if (index && gf_input_read_at(scouts->input, begin - 1, two, sizeof two, &got, NULL))
        return begin;
    return begin + (two[0] == 0xff);
}

static bool add_mark(struct gf_jpeg_segment *segment, int64_t bit, const int32_t *dc)
{
    if (segment->count == MARKS_MOST ||
        !GF_RESERVE(segment->mark, segment->room, segment->count + 1))
        return false;
    struct gf_jpeg_mark *const mark = &segment->mark[segment->count++];
    mark->bit = bit;
    memcpy(mark->dc, dc, sizeof mark->dc);
    return true;
}

/* Walks over a segment and marks where units begin, up to the first unit after the segment. After
 * an invalid code the marks are dropped, and the walk starts again one bit later. */
static bool scout(void *context, int thread, int index)
{
    struct gf_jpeg_scouts *const scouts = context;
    struct gf_jpeg_segment *const segment = &scouts->slot[index % scouts->slots];
    struct gf_jpeg_bits *const bits = &scouts->bits[thread];
    int32_t dc[GF_JPEG_COMPONENTS] = {0};
    segment->count = 0;
    segment->end = segment_begin(scouts, index + 1);
    gf_jpeg_bits_open(bits, scouts->input, 8 * segment_begin(scouts, index), scouts->size);
    for (int failures = 0; failures < FAILURES_MOST && gf_jpeg_bits_advance(bits);) {
        const int64_t bit = gf_jpeg_bits_place(bits);
        if (!add_mark(segment, bit, dc) || bit >= 8 * segment->end)
            break;
        if (gf_jpeg_walk(scouts->unit, bits, 1, dc)) {
            if (gf_jpeg_bits_left(bits) < 0)
                break;
            continue;
        }
        segment->count = 0;
        failures++;
        gf_jpeg_refill(&bits->next);
        gf_jpeg_skip(&bits->next, 1);
    }
    return true;
}

struct gf_jpeg_scouts *gf_jpeg_scouts_open(const struct gf_jpeg_unit *unit, struct gf_input *input,
                                           int64_t begin, int threads, int segment_bytes)
{
    struct gf_jpeg_scouts *const scouts = calloc(1, sizeof *scouts);
    if (!scouts)
        return NULL;
    scouts->unit = unit;
    scouts->input = input;
    scouts->begin = begin;
    scouts->size = gf_input_size(input);
    scouts->segment_bytes = segment_bytes ? segment_bytes : SEGMENT_BYTES;
    scouts->segments =
        (int)((scouts->size - begin + scouts->segment_bytes - 1) / scouts->segment_bytes);
    scouts->threads = threads < scouts->segments ? threads : scouts->segments;
    const int slots = scouts->threads + scouts->threads / 2 + 1;
    scouts->slots = slots < scouts->segments ? slots : scouts->segments;
    if (scouts->threads > 1) {
        scouts->slot = calloc((size_t)scouts->slots, sizeof *scouts->slot);
        scouts->bits = malloc((size_t)scouts->threads * sizeof *scouts->bits);
    }
    if (!scouts->slot || !scouts->bits ||
        gf_ordered_work_open(scouts->threads, scouts->slots, scout, scouts, &scouts->work, NULL)) {
        gf_jpeg_scouts_close(scouts);
        return NULL;
    }
    for (int i = 0; i < scouts->slots; i++)
        gf_ordered_work_submit(scouts->work);
    return scouts;
}

void gf_jpeg_scouts_close(struct gf_jpeg_scouts *scouts)
{
    if (!scouts)
        return;
    gf_ordered_work_close(scouts->work);
    for (int i = 0; scouts->slot && i < scouts->slots; i++)
        free(scouts->slot[i].mark);
    free(scouts->bits);
    free(scouts->slot);
    free(scouts);
}

const struct gf_jpeg_segment *gf_jpeg_scouts_next(struct gf_jpeg_scouts *scouts)
{
    bool failed;
    if (scouts->taken && scouts->taken + scouts->slots <= scouts->segments)
        gf_ordered_work_submit(scouts->work);
    if (!gf_ordered_work_take(scouts->work, true, &failed))
        return NULL;
    return &scouts->slot[scouts->taken++ % scouts->slots];
}
