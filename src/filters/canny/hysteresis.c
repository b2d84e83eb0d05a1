/* A flood fill over words of 64 pixels, which fills a word's runs of pixels at once. A word is at
 * most once on the stack. It returns to the stack only when it has gained pixels, and so at most 64
 * times. */
#include "filters/canny/hysteresis.h"

#include <stdint.h>
#include <string.h>

#include "base/time_limit.h"
#include "pixel/stencil.h"

struct flood {
    const struct gf_view *in;
    unsigned char *bits;
    size_t words; /* words of 64 pixels in a row */
    size_t *stack;
    size_t depth;
    unsigned char *waits; /* whether a word is on the stack */
};

static size_t carve(struct flood *flood, void *base, struct gf_format planes)
{
    struct gf_carver carver = {.base = base};
    flood->words = (size_t)planes.width / 16;
    const size_t count = flood->words * (size_t)planes.height;
    flood->stack = gf_carve(&carver, count * sizeof *flood->stack);
    flood->waits = gf_carve(&carver, count);
    return carver.used;
}

size_t gf_hysteresis_scratch(struct gf_format planes)
{
    struct flood flood;
    return carve(&flood, NULL, planes);
}

static uint64_t load(const unsigned char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static uint64_t candidates(const struct flood *flood, size_t row, size_t word)
{
    return load(gf_view_row(flood->in, (int)row) + word * sizeof(uint64_t));
}

static unsigned char *strong(const struct flood *flood, size_t row, size_t word)
{
    return flood->bits + (row * flood->words + word) * sizeof(uint64_t);
}

/* Returns the runs of ones in `among` that contain a bit of `seeds`. All bits of `seeds` are also
 * in `among`. */
static uint64_t fill_runs(uint64_t seeds, uint64_t among)
{
    uint64_t filled = (among & ~(among + seeds)) | seeds; /* the addition's carry fills the run
                                                           * above a seed */
    for (int step = 1; step < 64; step *= 2) {
        filled |= among & (filled >> step);
        among &= among >> step;
    }
    return filled;
}

static void push(struct flood *flood, size_t at)
{
    if (!flood->waits[at])
        flood->stack[flood->depth++] = at;
    flood->waits[at] = 1;
}

/* Makes the pixels `seeds` of a word strong, if they are weak. */
static void reach(struct flood *flood, size_t row, size_t word, uint64_t seeds)
{
    const uint64_t among = candidates(flood, row, word);
    const uint64_t before = load(strong(flood, row, word));
    if (!(seeds & among & ~before))
        return;
    const uint64_t after = fill_runs((seeds & among) | before, among);
    memcpy(strong(flood, row, word), &after, sizeof after);
    push(flood, row * flood->words + word);
}

static void spread(struct flood *flood, size_t at)
{
    const size_t row = at / flood->words, word = at % flood->words;
    const size_t rows = (size_t)flood->in->format.height;
    const uint64_t bits = load(strong(flood, row, word));
    const size_t first = row ? row - 1 : 0, end = row + 2 < rows ? row + 2 : rows;
    for (size_t y = first; y < end; y++) {
        reach(flood, y, word, bits | bits << 1 | bits >> 1);
        if (bits & 1 && word)
            reach(flood, y, word - 1, (uint64_t)1 << 63);
        if (bits >> 63 && word + 1 < flood->words)
            reach(flood, y, word + 1, 1);
    }
}

void gf_hysteresis(const struct gf_view *in, unsigned char *bits, void *scratch)
{
    struct flood flood = {.in = in, .bits = bits};
    carve(&flood, scratch, in->format);
    const size_t words = flood.words, rows = (size_t)in->format.height;
    memset(flood.waits, 0, words * rows);
    for (size_t y = 0; y < rows; y++)
        memcpy(strong(&flood, y, 0), gf_view_row(in, (int)y) + words * sizeof(uint64_t),
               words * sizeof(uint64_t));
    for (size_t at = 0; at < words * rows; at++) {
        const uint64_t before = load(strong(&flood, at / words, at % words));
        if (at % words == 0 && gf_time_is_up())
            return;
        if (!before)
            continue;
        const uint64_t after = fill_runs(before, candidates(&flood, at / words, at % words));
        memcpy(strong(&flood, at / words, at % words), &after, sizeof after);
        push(&flood, at);
        while (flood.depth) {
            const size_t next = flood.stack[--flood.depth];
            flood.waits[next] = 0;
            spread(&flood, next);
        }
    }
}
