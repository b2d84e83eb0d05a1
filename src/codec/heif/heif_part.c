#include "codec/heif/heif_part.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the description of a grid (ISO/IEC 23008-12, 6.6.2.3.2). */
enum { GRID_BYTES = 12 };

static int tiles_of(const struct gf_heif_coded *part)
{
    return part->columns * part->rows;
}

/* Keeps of a side's frames those that show its pixels from *begin on and one sample of chroma
 * beside them, which libheif may mix in. Returns the first of them. */
static int keep(int32_t tile, int32_t shown, int32_t *begin, int32_t *side, int32_t *count)
{
    enum { BESIDE = 2 };
    const int first = (*begin > BESIDE ? *begin - BESIDE : 0) / tile,
              end = (*begin + shown + BESIDE - 1) / tile + 1, rest = *side - first * tile;
    *count = (end < *count ? end : *count) - first;
    *side = rest < *count * tile ? rest : *count * tile;
    *begin -= first * tile;
    return first;
}

void gf_heif_part_of(const struct gf_heif_coded *coded, struct gf_rectangle window,
                     struct gf_heif_coded *part)
{
    const struct gf_heif_placing at = gf_heif_coded_placing(coded, 1, 1);
    const bool sideways = gf_heif_coded_sideways(coded);
    *part = *coded;
    part->left = sideways ? window.y : window.x;
    part->top = sideways ? window.x : window.y;
    part->shown_width = sideways ? window.height : window.width;
    part->shown_height = sideways ? window.width : window.height;
    if (at.step < 0)
        part->left = coded->width - part->left - part->shown_width;
    if (at.row < 0)
        part->top = coded->height - part->top - part->shown_height;
    const int column = keep(part->tile_width, part->shown_width, &part->left, &part->width,
                            &part->columns),
              row = keep(part->tile_height, part->shown_height, &part->top, &part->height,
                         &part->rows);
    for (int i = 0; i < tiles_of(part); i++)
        part->tile[i] =
            coded->tile[(row + i / part->columns) * coded->columns + column + i % part->columns];
}

static void put(struct gf_blob *to, uint64_t number, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        to->data[to->size++] = (unsigned char)(number >> 8 * i);
}

static void put_bytes(struct gf_blob *to, const void *bytes, size_t size)
{
    memcpy(to->data + to->size, bytes, size);
    to->size += size;
}

/* Begins a box, after whose type some have a version and flags, all 0 here. Returns its place, for
 * end(), which sets its size. */
static size_t begin(struct gf_blob *to, const char *type, bool has_version)
{
    put(to, 0, 4);
    put_bytes(to, type, 4);
    put(to, 0, has_version ? 4 : 0);
    return to->size - (has_version ? 12 : 8);
}

static void end(const struct gf_blob *to, size_t at)
{
    put(&(struct gf_blob){to->data + at, 0}, to->size - at, 4);
}

/* Puts the items: their types, their places from `offset` on, and that the first is made of the
 * others. */
static void put_items(const struct gf_heif_coded *part, size_t offset, struct gf_blob *to)
{
    const int tiles = tiles_of(part);
    size_t box = begin(to, "iinf", true);
    put(to, (uint64_t)tiles + 1, 2);
    for (int i = 0; i <= tiles; i++) {
        put_bytes(to, "\0\0\0\x15infe\2\0\0\0", 12);
        put(to, (uint64_t)(i + GF_HEIF_PART_ITEM), 2);
        put_bytes(to, i ? "\0\0hvc1" : "\0\0grid", 7); /* unprotected, and without a name */
    }
    end(to, box);
    box = begin(to, "iloc", true);
    put(to, 0x4400, 2); /* places and sizes have four bytes */
    put(to, (uint64_t)tiles + 1, 2);
    for (int i = 0; i <= tiles; i++) {
        const size_t bytes = i ? part->tile[i - 1].size : GRID_BYTES;
        put(to, (uint64_t)(i + GF_HEIF_PART_ITEM), 2);
        put(to, 1, 4); /* in this file, in one piece */
        put(to, offset, 4);
        put(to, bytes, 4);
        offset += bytes;
    }
    end(to, box);
    box = begin(to, "iref", true);
    const size_t made_of = begin(to, "dimg", false);
    put(to, GF_HEIF_PART_ITEM, 2);
    put(to, (uint64_t)tiles, 2);
    for (int i = 1; i <= tiles; i++)
        put(to, (uint64_t)(i + GF_HEIF_PART_ITEM), 2);
    end(to, made_of);
    end(to, box);
}

/* Puts the properties: 1: the frames' parameters, 2: their size, 3: the grid's, 4: the matrix; then
 * which item has which. */
static void put_properties(const struct gf_heif_coded *part, bool has_colours,
                           const unsigned char *file, struct gf_blob *to)
{
    const size_t box = begin(to, "iprp", false), all = begin(to, "ipco", false),
                 parameters = begin(to, "hvcC", false);
    put_bytes(to, file + part->parameters.offset, part->parameters.size);
    end(to, parameters);
    for (int i = 0; i < 2; i++) {
        put_bytes(to, "\0\0\0\x14ispe\0\0\0", 12);
        put(to, (uint64_t)(i ? part->width : part->tile_width), 4);
        put(to, (uint64_t)(i ? part->height : part->tile_height), 4);
    }
    put_bytes(to, "\0\0\0\23colrnclx\0\1\0\15", 16); /* RGB depends on the matrix alone */
    put(to, (uint64_t)part->matrix, 2);
    put(to, part->full ? 0x80 : 0, 1);
    end(to, all);
    const size_t which = begin(to, "ipma", true);
    put(to, (uint64_t)tiles_of(part) + 1, 4);
    for (int i = 0; i <= tiles_of(part); i++) {
        const bool coloured = part->matrix >= 0 && (i || has_colours);
        put(to, (uint64_t)(i + GF_HEIF_PART_ITEM), 2);
        put(to, (i ? 2 : 1) + coloured, 1);
        put(to, i ? 0x8102 : 3, i ? 2 : 1); /* no reader may do without the parameters */
        put(to, 4, coloured);
    }
    end(to, which);
    end(to, box);
}

struct gf_blob gf_heif_part_make(const struct gf_heif_coded *part, bool has_colours,
                                 const unsigned char *file)
{
    enum { OTHERS = 512, FOR_TILE = 64 }; /* bytes of all boxes, and of those that a frame adds */
    size_t most = OTHERS + part->parameters.size;
    for (int i = 0; i < tiles_of(part); i++)
        most += FOR_TILE + part->tile[i].size;
    struct gf_blob made = {malloc(most), 0};
    if (!made.data)
        return made;
    put_bytes(&made,
              "\0\0\0\x18"
              "ftypheic\0\0\0\0mif1heic",
              24);
    size_t box = begin(&made, "mdat", false);
    const size_t grid = made.size;
    put(&made, 1, 2); /* version 0, and sides of four bytes */
    put(&made, (uint64_t)(part->rows - 1), 1);
    put(&made, (uint64_t)(part->columns - 1), 1);
    put(&made, (uint64_t)part->width, 4);
    put(&made, (uint64_t)part->height, 4);
    for (int i = 0; i < tiles_of(part); i++)
        put_bytes(&made, file + part->tile[i].offset, part->tile[i].size);
    end(&made, box);
    box = begin(&made, "meta", true);
    put_bytes(&made, "\0\0\0\x21hdlr\0\0\0\0\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0", 33);
    put_bytes(&made, "\0\0\0\x0Epitm\0\0\0\0\0\1", 14); /* GF_HEIF_PART_ITEM */
    put_items(part, grid, &made);
    put_properties(part, has_colours, file, &made);
    end(&made, box);
    return made;
}
