#include "codec/png/png_part.h"

#include <string.h>

#include "codec/png/inflate.h"
#include "codec/png/png_chunk.h"

enum {
    ZLIB_HEAD_BYTES = 2,
    ADLER_BYTES = 4,
    WINDOW = GF_INFLATE_WINDOW,
    COLUMNS = 16 /* a row is cut into so many pieces, whose filters are undone one by one */
};

/* How far a part is. The number of pieces of its rows that are undone is added to UNDONE. */
enum { FAILED = -1, BEGUN, GATHERED, JOINED, REPLACED, UNDONE = REPLACED };

static void reach(struct gf_png_parts *parts, struct gf_png_part *part, int step)
{
    pthread_mutex_lock(&parts->lock);
    part->step = step;
    pthread_cond_signal(&part->changed);
    pthread_mutex_unlock(&parts->lock);
}

/* Waits for the part before, which was begun earlier and so comes to an end. False: it failed. */
static bool wait_for(struct gf_png_parts *parts, struct gf_png_part *before, int step)
{
    if (!before)
        return true;
    pthread_mutex_lock(&parts->lock);
    while (before->step >= BEGUN && before->step < step)
        pthread_cond_wait(&before->changed, &parts->lock);
    const bool reached = before->step >= step;
    pthread_mutex_unlock(&parts->lock);
    return reached;
}

static bool head_is_right(const uint8_t *head)
{
    enum { DEFLATE = 8, DICTIONARY = 32 };
    return (head[0] & 15) == DEFLATE && !(head[1] & DICTIONARY) &&
           (head[0] << 8 | head[1]) % 31 == 0;
}

/* Gathers the bytes of the part, and some behind them; where the stream ends there, all. */
static bool gather(struct gf_png_parts *parts, struct gf_png_part *part,
                   const struct gf_png_part *before)
{
    const size_t most = 2 * parts->part_bytes;
    struct gf_png_fault fault;
    size_t had = 0, got;
    if (before) {
        had = before->packed_bytes - parts->part_bytes;
        memcpy(part->packed, before->packed + parts->part_bytes, had);
    }
    if (!gf_png_idat_packed(parts->idat, part->packed + had, most - had, &got, &fault))
        return false;
    memset(part->packed + had + got, 0, GF_INFLATE_MARGIN);
    part->packed_bytes = had + got;
    part->ends = parts->gathered = part->packed_bytes < most;
    return before || (part->packed_bytes > ZLIB_HEAD_BYTES && head_is_right(part->packed));
}

/* Unpacks the part as far as that goes without the one before it. */
static bool unpack(const struct gf_png_parts *parts, struct gf_png_part *part,
                   struct gf_png_part_room *room)
{
    struct gf_inflate_part *const unpacked = &part->unpacked;
    *unpacked = (struct gf_inflate_part){
        .begin = part->first ? 8 * ZLIB_HEAD_BYTES : 0,
        .stop = 8 * (uint64_t)(part->ends ? part->packed_bytes : parts->part_bytes),
        .first = part->first};
    if (!part->first &&
        !gf_inflate_find_block(part->packed, part->packed_bytes, &room->decoder, unpacked))
        return false;
    return gf_inflate_part(part->packed, part->packed_bytes, &room->decoder, unpacked,
                           room->samples + WINDOW, parts->room) &&
           unpacked->last == part->ends && (unpacked->last || unpacked->count >= WINDOW);
}

/* The last part ends with the picture and the checksum. */
static bool ends_well(struct gf_png_parts *parts, const struct gf_png_part *part)
{
    const size_t packed = (size_t)((part->unpacked.end + 7) / 8);
    if (part->packed_bytes != packed + ADLER_BYTES || part->rest ||
        part->first_row + part->row_count != parts->height)
        return false;
    parts->stated_adler = gf_png_get_be32(part->packed + packed);
    return true;
}

/* Takes over from the part before, and makes the window for the one behind. */
static bool join(struct gf_png_parts *parts, struct gf_png_part *part,
                 const struct gf_png_part *before, const uint16_t *samples)
{
    const size_t count = part->unpacked.count, tail = count < WINDOW ? count : WINDOW;
    if (before && before->unpacked.end != part->unpacked.begin + 8 * (uint64_t)parts->part_bytes)
        return false;
    part->first_row = before ? before->first_row + before->row_count : 0;
    part->carried = before ? before->rest : 0;
    part->row_count = (int)((part->carried + count) / parts->filtered);
    part->rest = (part->carried + count) % parts->filtered;
    gf_inflate_resolve(samples + count - tail, tail, before ? &before->table : &part->table,
                       part->table.byte + sizeof part->table.byte - tail);
    if (part->ends)
        return ends_well(parts, part);
    /* What comes behind the picture's last row is for one thread to judge. */
    return part->row_count && part->first_row + part->row_count < parts->height;
}

static void replace(struct gf_png_part *part, const struct gf_png_part *before,
                    const uint16_t *samples)
{
    uint8_t *const bytes = part->rows + part->carried;
    gf_inflate_resolve(samples, part->unpacked.count, before ? &before->table : &part->table,
                       bytes);
    part->adler = gf_adler32(bytes, part->unpacked.count);
}

/* The bytes before the part's own, of which the part before has no whole row. */
static bool carry(struct gf_png_parts *parts, struct gf_png_part *part, struct gf_png_part *before)
{
    if (!wait_for(parts, before, REPLACED))
        return false;
    if (part->carried)
        memcpy(part->rows, before->rows + parts->filtered * (size_t)before->row_count,
               part->carried);
    return true;
}

/* A piece of the row above is read a little past its end. */
static bool undo_filters(struct gf_png_parts *parts, struct gf_png_part *part,
                         struct gf_png_part *before)
{
    const size_t row = parts->filtered - 1, bpp = (size_t)parts->bpp;
    const size_t step = (row / bpp + COLUMNS - 1) / COLUMNS * bpp;
    const uint8_t *const above =
        before ? before->rows + parts->filtered * (size_t)(before->row_count - 1) + 1
               : parts->zeros;
    for (int i = 0; i < COLUMNS; i++) {
        const size_t from = step * (size_t)i, end = from + step < row ? from + step : row;
        if (!wait_for(parts, before, UNDONE + (i + 2 < COLUMNS ? i + 2 : COLUMNS)) ||
            (from < end && gf_png_undo_columns(parts->filters, part->rows, part->row_count, above,
                                               row, from, end, parts->bpp) < part->row_count))
            return false;
        reach(parts, part, UNDONE + 1 + i);
    }
    return true;
}

void gf_png_part_begin(struct gf_png_part *part, bool first)
{
    part->first = first;
    part->step = BEGUN;
}

/* Reads what was gathered. */
static bool read_gathered(struct gf_png_parts *parts, struct gf_png_part *part,
                          struct gf_png_part *before, struct gf_png_part_room *room)
{
    const uint16_t *const samples = room->samples + WINDOW;
    if (!unpack(parts, part, room) || !wait_for(parts, before, JOINED) ||
        !join(parts, part, before, samples))
        return false;
    reach(parts, part, JOINED);
    replace(part, before, samples);
    if (!carry(parts, part, before))
        return false;
    reach(parts, part, REPLACED);
    return undo_filters(parts, part, before);
}

bool gf_png_part_read(struct gf_png_parts *parts, struct gf_png_part *part,
                      struct gf_png_part *before, struct gf_png_part_room *room)
{
    bool sound = wait_for(parts, before, GATHERED);
    const bool behind = parts->gathered;
    if (sound && !behind) {
        sound = gather(parts, part, before);
        if (sound)
            reach(parts, part, GATHERED);
        sound = sound && read_gathered(parts, part, before, room);
    }
    if (!sound || behind)
        reach(parts, part, FAILED);
    return sound || behind;
}
