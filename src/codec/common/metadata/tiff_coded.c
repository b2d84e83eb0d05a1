#include "codec/common/metadata/tiff_coded.h"

#include "base/fail.h"

/* libjpeg's largest side; the kernels' rows begin at multiples of 16 bytes. */
enum { SIDE_MOST = 65500, TILE_STEP = 16, FACTOR_MOST = 4 };

static uint64_t tiles_of(const struct gf_tiff_coded *coded)
{
    return (uint64_t)coded->columns * (uint64_t)coded->rows;
}

/* Whether that many tiles cover a side, and none lies outside. */
static bool covers(int side, int tile, int count)
{
    return side >= 1 && tile >= TILE_STEP && tile <= SIDE_MOST && tile % TILE_STEP == 0 &&
           count == (side - 1) / tile + 1;
}

static bool is_part(uint64_t begin, uint64_t bytes, uint64_t whole)
{
    return begin <= whole && bytes <= whole - begin;
}

bool gf_tiff_coded_check(const struct gf_tiff_coded *coded, uint64_t file_bytes)
{
    const int offset = coded->offset_bytes, count = coded->count_bytes;
    return covers(coded->width, coded->tile_width, coded->columns) &&
           covers(coded->height, coded->tile_height, coded->rows) && tiles_of(coded) <= INT32_MAX &&
           (coded->channels == 1 || coded->channels == 3) && coded->h >= 1 &&
           coded->h <= FACTOR_MOST && coded->v >= 1 && coded->v <= FACTOR_MOST &&
           (coded->ycc | coded->big_endian) >> 1 == 0 && (offset == 4 || offset == 8) &&
           (count == 2 || count == 4 || count == 8) &&
           is_part(coded->offsets, tiles_of(coded) * (uint64_t)offset, file_bytes) &&
           is_part(coded->counts, tiles_of(coded) * (uint64_t)count, file_bytes) &&
           is_part(coded->tables, coded->tables_bytes, file_bytes) && coded->begin < coded->end &&
           coded->end <= file_bytes && !coded->shift;
}

struct gf_format gf_tiff_coded_format(const struct gf_tiff_coded *coded)
{
    return (struct gf_format){coded->width, coded->height, coded->channels, 8, GF_SAMPLES_INTEGER};
}

static uint64_t number(const struct gf_tiff_coded *coded, const unsigned char *list, int bytes,
                       int index)
{
    const unsigned char *const from = list + (size_t)index * (size_t)bytes;
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | from[coded->big_endian ? i : bytes - 1 - i];
    return value;
}

static bool read_list(struct gf_input *input, uint64_t list, int bytes, uint64_t first, int count,
                      unsigned char *to)
{
    const size_t size = (size_t)count * (size_t)bytes;
    size_t got = 0;
    return !gf_input_read_at(input, (int64_t)(list + first * (uint64_t)bytes), to, size, &got,
                             NULL) &&
           got == size;
}

bool gf_tiff_coded_find_part(struct gf_tiff_coded *coded, struct gf_input *input)
{
    enum { PIECE = 1024 };
    unsigned char offsets[8 * PIECE], counts[8 * PIECE];
    const uint64_t tiles = tiles_of(coded), whole = (uint64_t)gf_input_size(input);
    coded->begin = UINT64_MAX;
    coded->end = 0;
    for (uint64_t first = 0; first < tiles; first += PIECE) {
        const int piece = tiles - first < PIECE ? (int)(tiles - first) : PIECE;
        if (!read_list(input, coded->offsets, coded->offset_bytes, first, piece, offsets) ||
            !read_list(input, coded->counts, coded->count_bytes, first, piece, counts))
            return false;
        for (int i = 0; i < piece; i++) {
            const uint64_t at = number(coded, offsets, coded->offset_bytes, i),
                           bytes = number(coded, counts, coded->count_bytes, i);
            if (!bytes || !is_part(at, bytes, whole))
                return false;
            coded->begin = at < coded->begin ? at : coded->begin;
            coded->end = at + bytes > coded->end ? at + bytes : coded->end;
        }
    }
    return true;
}

bool gf_tiff_coded_tile(const struct gf_tiff_coded *coded, const unsigned char *data, size_t size,
                        int tile, size_t *offset, size_t *bytes)
{
    const uint64_t at = number(coded, data + coded->offsets, coded->offset_bytes, tile),
                   count = number(coded, data + coded->counts, coded->count_bytes, tile);
    *offset = (size_t)(at - coded->shift);
    *bytes = (size_t)count;
    return count && at >= coded->begin && is_part(at, count, coded->end) &&
           is_part(*offset, count, size);
}

uint64_t gf_tiff_coded_bytes(const struct gf_tiff_coded *coded)
{
    return tiles_of(coded) * (uint64_t)(coded->offset_bytes + coded->count_bytes) +
           coded->tables_bytes + coded->end - coded->begin;
}

/* Reads a part of the file to data[*at], and makes *place, its offset, that in `data`. */
static enum gf_status take(struct gf_input *input, uint64_t *place, uint64_t bytes,
                           unsigned char *data, uint64_t *at, struct gf_error *error)
{
    size_t got;
    GF_TRY(gf_input_read_at(input, (int64_t)*place, data + *at, (size_t)bytes, &got, error));
    *place = *at;
    *at += bytes;
    return got == bytes ? GF_OK
                        : gf_fail(error, GF_ERROR_READ, "%s: became shorter while it was read",
                                  gf_input_name(input));
}

enum gf_status gf_tiff_coded_copy(struct gf_tiff_coded *coded, struct gf_input *input,
                                  unsigned char *data, struct gf_error *error)
{
    const uint64_t tiles = tiles_of(coded);
    uint64_t at = 0, place = coded->begin;
    GF_TRY(take(input, &coded->offsets, tiles * (uint64_t)coded->offset_bytes, data, &at, error));
    GF_TRY(take(input, &coded->counts, tiles * (uint64_t)coded->count_bytes, data, &at, error));
    GF_TRY(take(input, &coded->tables, coded->tables_bytes, data, &at, error));
    GF_TRY(take(input, &place, coded->end - coded->begin, data, &at, error));
    coded->shift = coded->begin - place;
    return GF_OK;
}
