/* PNG's filters in plain C, and the choice of a filter for a row. */
#include "codec/png/png_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/target_clones.h"

static uint8_t paeth_of(uint8_t left, uint8_t above, uint8_t corner)
{
    const int to_left = abs(above - corner), to_above = abs(left - corner);
    const int to_corner = abs(left + above - 2 * corner);
    if (to_left <= to_above && to_left <= to_corner)
        return left;
    return to_above <= to_corner ? above : corner;
}

static uint32_t distance(uint8_t byte)
{
    return byte < 128 ? byte : 256u - byte;
}

GF_TARGET_CLONES static void add_sums(const uint8_t *row, const uint8_t *above, size_t bytes,
                                      int bpp, uint64_t sums[GF_PNG_FILTERS])
{
    enum { RUN = 4096 };
    for (size_t x = 0; x < bytes; x += RUN) {
        const size_t end = bytes - x < RUN ? bytes : x + RUN;
        uint32_t none = 0, sub = 0, up = 0, average = 0, paeth = 0;
        for (size_t i = x; i < end; i++) {
            const uint8_t left = *(row + i - bpp), corner = *(above + i - bpp);
            none += distance(row[i]);
            sub += distance((uint8_t)(row[i] - left));
            up += distance((uint8_t)(row[i] - above[i]));
            average += distance((uint8_t)(row[i] - (left + above[i]) / 2));
            paeth += distance((uint8_t)(row[i] - paeth_of(left, above[i], corner)));
        }
        const uint32_t run[] = {none, sub, up, average, paeth};
        for (int f = 0; f < GF_PNG_FILTERS; f++)
            sums[f] += run[f];
    }
}

void gf_png_sums_plain(const uint8_t *row, const uint8_t *above, size_t bytes, int bpp,
                       uint64_t sums[GF_PNG_FILTERS])
{
    add_sums(row, above, bytes, bpp, sums);
}

GF_TARGET_CLONES static void apply(enum gf_png_filter filter, const uint8_t *row,
                                   const uint8_t *above, size_t bytes, int bpp, uint8_t *out)
{
    const uint8_t *const left = row - bpp, *const corner = above - bpp;
    switch (filter) {
    case GF_PNG_SUB:
        for (size_t i = 0; i < bytes; i++)
            out[i] = (uint8_t)(row[i] - left[i]);
        break;
    case GF_PNG_UP:
        for (size_t i = 0; i < bytes; i++)
            out[i] = (uint8_t)(row[i] - above[i]);
        break;
    case GF_PNG_AVERAGE:
        for (size_t i = 0; i < bytes; i++)
            out[i] = (uint8_t)(row[i] - (left[i] + above[i]) / 2);
        break;
    case GF_PNG_PAETH:
        for (size_t i = 0; i < bytes; i++)
            out[i] = (uint8_t)(row[i] - paeth_of(left[i], above[i], corner[i]));
        break;
    default:
        memcpy(out, row, bytes);
        break;
    }
}

void gf_png_apply_plain(enum gf_png_filter filter, const uint8_t *row, const uint8_t *above,
                        size_t bytes, int bpp, uint8_t *out)
{
    apply(filter, row, above, bytes, bpp, out);
}

static void undo_plain(enum gf_png_filter filter, uint8_t *row, const uint8_t *above, size_t bytes,
                       int bpp)
{
    /* The first pixel has no pixel to its left, where the filters use zeros. */
    const size_t first = (size_t)bpp < bytes ? (size_t)bpp : bytes;
    switch (filter) {
    case GF_PNG_SUB:
        for (size_t i = first; i < bytes; i++)
            row[i] = (uint8_t)(row[i] + *(row + i - bpp));
        break;
    case GF_PNG_UP:
        for (size_t i = 0; i < bytes; i++)
            row[i] = (uint8_t)(row[i] + above[i]);
        break;
    case GF_PNG_AVERAGE:
        for (size_t i = 0; i < first; i++)
            row[i] = (uint8_t)(row[i] + above[i] / 2);
        for (size_t i = first; i < bytes; i++)
            row[i] = (uint8_t)(row[i] + (*(row + i - bpp) + above[i]) / 2);
        break;
    case GF_PNG_PAETH:
        for (size_t i = 0; i < first; i++)
            row[i] = (uint8_t)(row[i] + above[i]);
        for (size_t i = first; i < bytes; i++)
            row[i] = (uint8_t)(row[i] + paeth_of(*(row + i - bpp), above[i], *(above + i - bpp)));
        break;
    default:
        break;
    }
}

static void undo_two_plain(uint8_t *row, uint8_t *next, const uint8_t *above, size_t bytes, int bpp)
{
    undo_plain(GF_PNG_PAETH, row, above, bytes, bpp);
    undo_plain(GF_PNG_PAETH, next, row, bytes, bpp);
}

int gf_png_undo_rows(const struct gf_png_filters *filters, uint8_t *rows, int count,
                     const uint8_t *above, size_t bytes, int bpp)
{
    const size_t step = bytes + 1;
    uint8_t *row = rows;
    for (int y = 0; y < count; y++, above = row + 1, row += step) {
        if (row[0] >= GF_PNG_FILTERS)
            return y;
        if (row[0] == GF_PNG_PAETH && y + 1 < count && row[step] == GF_PNG_PAETH) {
            filters->undo_two(row + 1, row + step + 1, above, bytes, bpp);
            row += step;
            y++;
        } else {
            filters->undo((enum gf_png_filter)row[0], row + 1, above, bytes, bpp);
        }
    }
    return count;
}

void gf_png_filter_row(const struct gf_png_filters *filters, const uint8_t *row,
                       const uint8_t *above, size_t bytes, int bpp, uint8_t *out)
{
    uint64_t sums[GF_PNG_FILTERS] = {0};
    filters->sums(row, above ? above : row, bytes, bpp, sums);
    enum gf_png_filter best = GF_PNG_NONE;
    for (int f = 1; f < (above ? GF_PNG_FILTERS : GF_PNG_UP); f++)
        best = sums[f] < sums[best] ? (enum gf_png_filter)f : best;
    *out = (uint8_t)best;
    filters->apply(best, row, above ? above : row, bytes, bpp, out + 1);
}

const struct gf_png_filters gf_png_filters_plain = {"plain", gf_png_sums_plain, gf_png_apply_plain,
                                                    undo_plain, undo_two_plain};
