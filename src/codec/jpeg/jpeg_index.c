#include "codec/jpeg/jpeg_index.h"

#include <stdlib.h>
#include <string.h>

enum { RST0 = 0xd0, EOI = 0xd9 };

struct gf_jpeg_index *gf_jpeg_index_open(const struct gf_jpeg_unit *unit, int units_across,
                                         int rows, int restart_interval, struct gf_input *input,
                                         int64_t begin)
{
    struct gf_jpeg_index *const index =
        calloc(1, sizeof *index + ((size_t)rows + 1) * sizeof *index->row);
    if (!index)
        return NULL;
    index->unit = unit;
    index->units_across = units_across;
    index->rows = rows;
    index->restart_interval = index->until_restart = restart_interval;
    gf_jpeg_bits_open(&index->bits, input, begin, gf_input_size(input));
    index->row[0] = (struct gf_jpeg_index_row){.place = {.offset = begin, .stop = begin}};
    return index;
}

static bool take_restart(struct gf_jpeg_index *index)
{
    index->until_restart = index->restart_interval;
    memset(index->dc, 0, sizeof index->dc);
    return gf_jpeg_bits_take_marker(&index->bits, RST0 + index->restarts++ % 8);
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
        if (!gf_jpeg_walk(index->unit, &index->bits, some, index->dc) ||
            gf_jpeg_bits_left(&index->bits) < 0) /* the data ended too early */
            return false;
    }
    return true;
}

/* Notes where the next row begins. */
static bool end_row(struct gf_jpeg_index *index)
{
    struct gf_jpeg_index_row *const row = &index->row[index->known + 1];
    const struct gf_jpeg_place place = gf_jpeg_bits_place(&index->bits);
    row->place = place;
    if (index->known + 1 == index->rows)
        return gf_jpeg_bits_take_marker(&index->bits, EOI);
    if (index->restart_interval && !index->until_restart) {
        if (!take_restart(index))
            return false;
        row->place = gf_jpeg_bits_place(&index->bits);
        row->place.stop = place.stop;
    }
    for (int c = 0; c < GF_JPEG_COMPONENTS; c++) {
        row->dc[c] = index->dc[c];
        if (abs(row->dc[c]) > GF_JPEG_DC_MOST)
            return false;
    }
    return true;
}

bool gf_jpeg_index_reach(struct gf_jpeg_index *index, int row)
{
    while (index->known < row && !index->damaged) {
        if (walk_row(index) && end_row(index))
            index->known++;
        else
            index->damaged = true;
    }
    return index->known >= row;
}
