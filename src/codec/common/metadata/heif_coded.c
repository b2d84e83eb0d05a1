#include "codec/common/metadata/heif_coded.h"

#include <string.h>

#include "codec/common/metadata/heif_boxes.h"
#include "codec/common/metadata/metadata.h"
#include "pixel/yuv/heif_colours.h"

/* META_MOST limits the work, since each tile's boxes are looked for in the whole list. */
enum { META_MOST = 256 << 10, PROPERTIES_MOST = 1024, FILE_MOST = 1 << 30, SIDE_MOST = 1 << 16 };
enum { HVCC_HEAD = 23, START = 4 }; /* bytes before hvcC's lists; of a length or a start code */

/* ---- reading boxes ---- */

struct property {
    char type[4];
    struct gf_blob body;
};

struct boxes {
    struct gf_blob file, items, places, references, associations, data;
    struct property property[PROPERTIES_MOST];
    unsigned properties;
};

/* An item of the file: a frame or a grid. */
struct item {
    char type[4];
    struct gf_heif_span span;
    int32_t width, height, matrix, full;
    struct gf_blob parameters; /* the body of hvcC */
    struct gf_blob crop;       /* the body of clap */
    int turns;                 /* properties that turn or mirror */
    int bits;                  /* from pixi; 0: there is none */
};

/* Takes a number of 0 to 8 bytes; one of no byte is 0. Returns false if there are too few bytes. */
static bool take(struct gf_blob *rest, int bytes, uint64_t *number)
{
    if (rest->size < (size_t)bytes)
        return false;
    *number = 0;
    for (int i = 0; i < bytes; i++)
        *number = *number << 8 | rest->data[i];
    *rest = (struct gf_blob){rest->data + bytes, rest->size - (size_t)bytes};
    return true;
}

/* Finds the only box of that type. Returns false if there is none, or several. */
static bool find_only(struct gf_blob rest, const char *wanted, struct gf_blob *found)
{
    struct gf_blob body;
    char type[4];
    int count = 0;
    while (gf_heif_take_box(&rest, type, &body)) {
        if (!memcmp(type, wanted, 4)) {
            *found = body;
            count++;
        }
    }
    return count == 1;
}

static bool read_boxes(const struct gf_blob *file, struct boxes *boxes)
{
    const struct gf_blob meta = gf_heif_meta(file);
    struct gf_blob properties, list;
    boxes->file = *file;
    boxes->data = gf_heif_find_box(meta, "idat");
    boxes->references = gf_heif_find_box(meta, "iref");
    boxes->properties = 0;
    if (meta.size > META_MOST || !find_only(meta, "iinf", &boxes->items) ||
        !find_only(meta, "iloc", &boxes->places) || !find_only(meta, "iprp", &properties) ||
        !find_only(properties, "ipco", &list) ||
        !find_only(properties, "ipma", &boxes->associations))
        return false;
    while (boxes->properties < PROPERTIES_MOST) {
        struct property *const property = &boxes->property[boxes->properties];
        if (!gf_heif_take_box(&list, property->type, &property->body))
            return true;
        boxes->properties++;
    }
    return false;
}

/* Reads the item's type. Returns false if it is protected or not listed exactly once. */
static bool read_type(const struct boxes *boxes, uint32_t id, struct item *item)
{
    struct gf_blob rest = boxes->items, body;
    uint64_t version, count, number, protection;
    int found = 0;
    char type[4];
    if (!take(&rest, 1, &version) || !take(&rest, 3, &number) ||
        !take(&rest, version ? 4 : 2, &count))
        return false;
    while (gf_heif_take_box(&rest, type, &body)) {
        if (memcmp(type, "infe", 4) != 0 || !take(&body, 1, &version) || version < 2 ||
            version > 3 || !take(&body, 3, &number) ||
            !take(&body, version == 3 ? 4 : 2, &number) || !take(&body, 2, &protection) ||
            body.size < 4)
            return false;
        if (number != id)
            continue;
        memcpy(item->type, body.data, 4);
        if (protection || found++)
            return false;
    }
    return found;
}

/* The sizes of numbers in the box iloc. */
struct place_sizes {
    int offset, length, base, index;
    bool has_method, wide;
};

/* Takes an item's entry of the box iloc. *usual tells that its bytes lie in one piece. */
static bool take_place(struct gf_blob *rest, const struct place_sizes *sizes, uint64_t *id,
                       uint64_t *method, struct gf_heif_span *span, bool *usual)
{
    uint64_t reference, base, extents, index, offset = 0, length = 0;
    *method = 0;
    if (!take(rest, sizes->wide ? 4 : 2, id) || (sizes->has_method && !take(rest, 2, method)) ||
        !take(rest, 2, &reference) || !take(rest, sizes->base, &base) || !take(rest, 2, &extents))
        return false;
    for (uint64_t i = 0; i < extents; i++) {
        if (!take(rest, sizes->index, &index) || !take(rest, sizes->offset, &offset) ||
            !take(rest, sizes->length, &length))
            return false;
    }
    *usual = extents == 1 && !reference && base < FILE_MOST && offset < FILE_MOST && length &&
             length < FILE_MOST;
    if (*usual)
        *span = (struct gf_heif_span){(uint32_t)(base + offset), (uint32_t)length};
    return true;
}

static bool is_size(int bytes)
{
    return bytes == 0 || bytes == 4 || bytes == 8;
}

/* Whether the span lies in that many bytes. */
static bool fits(struct gf_heif_span span, size_t bytes)
{
    return span.size && span.size <= bytes && span.offset <= bytes - span.size;
}

/* Finds the item's bytes in the file. */
static bool read_place(const struct boxes *boxes, uint32_t id, struct item *item)
{
    enum { IN_FILE, IN_DATA };
    struct gf_blob rest = boxes->places;
    uint64_t version, flags, sizes, count, number, method;
    int found = 0;
    if (!take(&rest, 1, &version) || version > 2 || !take(&rest, 3, &flags) ||
        !take(&rest, 2, &sizes) || !take(&rest, version == 2 ? 4 : 2, &count))
        return false;
    const struct place_sizes of = {(int)(sizes >> 12),
                                   (int)(sizes >> 8 & 15),
                                   (int)(sizes >> 4 & 15),
                                   version ? (int)(sizes & 15) : 0,
                                   version > 0,
                                   version == 2};
    if (!is_size(of.offset) || !is_size(of.length) || !is_size(of.base) || !is_size(of.index))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        struct gf_heif_span span;
        bool usual;
        if (!take_place(&rest, &of, &number, &method, &span, &usual))
            return false;
        if (number != id)
            continue;
        const bool in_data = method == IN_DATA;
        if (!usual || method > IN_DATA || found++ ||
            !fits(span, in_data ? boxes->data.size : boxes->file.size))
            return false;
        item->span = span;
        if (in_data)
            item->span.offset += (uint32_t)(boxes->data.data - boxes->file.data);
    }
    return found;
}

/* Reads the depth from the box pixi, whose channels must agree. */
static bool read_depth(struct gf_blob body, struct item *item)
{
    if (item->bits || body.size < 6 || body.data[4] != body.size - 5)
        return false;
    for (size_t i = 5; i < body.size; i++) {
        if (body.data[i] != body.data[5])
            return false;
    }
    item->bits = body.data[5];
    return true;
}

static bool read_colours(struct gf_blob body, struct item *item)
{
    enum { NCLX_BYTES = 11 };
    if (body.size < 4)
        return false;
    if (memcmp(body.data, "nclx", 4) != 0) /* a profile does not change how RGB is made */
        return !memcmp(body.data, "prof", 4) || !memcmp(body.data, "rICC", 4);
    if (item->matrix >= 0 || body.size < NCLX_BYTES)
        return false;
    item->matrix = (int32_t)gf_get_be(body.data + 8, 2);
    item->full = body.data[10] >> 7;
    return true;
}

/* Reads a property of an item. Those that only inform are passed over. */
static bool read_property(const struct property *property, bool essential, struct item *item)
{
    static const char known[] = "ispehvcCcolrpixiirotimirclap";
    const struct gf_blob body = property->body;
    int kind = 0;
    while (known[4 * kind] && memcmp(known + 4 * kind, property->type, 4) != 0)
        kind++;
    switch (kind) {
    case 0:
        if (item->width || body.size < 12 || gf_get_be(body.data + 4, 4) > SIDE_MOST ||
            gf_get_be(body.data + 8, 4) > SIDE_MOST)
            return false;
        item->width = (int32_t)gf_get_be(body.data + 4, 4);
        item->height = (int32_t)gf_get_be(body.data + 8, 4);
        return item->width && item->height;
    case 1:
        if (item->parameters.size || body.size < HVCC_HEAD)
            return false;
        item->parameters = body;
        return true;
    case 2:
        return read_colours(body, item);
    case 3:
        return read_depth(body, item);
    case 4:
    case 5:
        /* The functions of heif_boxes.h take one rotation and one mirroring. */
        item->turns += kind == 4 ? 1 : 16;
        return body.size && !(item->turns & 0x22);
    case 6:
        if (item->crop.size || item->turns || body.size < 32)
            return false;
        item->crop = body;
        return true;
    default:
        return !essential;
    }
}

/* Reads the properties of an item, which the box ipma lists. */
static bool read_properties(const struct boxes *boxes, uint32_t id, struct item *item)
{
    struct gf_blob rest = boxes->associations;
    uint64_t version, flags, entries, number, count, index;
    int found = 0;
    if (!take(&rest, 1, &version) || !take(&rest, 3, &flags) || !take(&rest, 4, &entries))
        return false;
    const int each = flags & 1 ? 2 : 1;
    for (; entries; entries--) {
        if (!take(&rest, version ? 4 : 2, &number) || !take(&rest, 1, &count) ||
            rest.size < count * (unsigned)each)
            return false;
        if (number == id && found++)
            return false;
        for (; count; count--) {
            (void)!take(&rest, each, &index);
            const uint64_t essential = index >> (8 * each - 1),
                           place = index ^ essential << (8 * each - 1);
            if (number == id && place &&
                (place > boxes->properties ||
                 !read_property(&boxes->property[place - 1], essential, item)))
                return false;
        }
    }
    return found && item->width;
}

static bool read_item(const struct boxes *boxes, uint32_t id, struct item *item)
{
    *item = (struct item){.matrix = -1};
    return read_type(boxes, id, item) && read_place(boxes, id, item) &&
           read_properties(boxes, id, item);
}

/* ---- the description ---- */

/* Reads the kind of frames from the box hvcC (ISO/IEC 14496-15, 8.3.3.1). */
static bool read_kind(const struct item *frame, struct gf_heif_coded *coded)
{
    const unsigned char *const data = frame->parameters.data;
    const int chroma = data[16] & 3, bits = 8 + (data[17] & 7);
    coded->bits = bits;
    coded->half_width = chroma == 1 || chroma == 2;
    coded->half_height = chroma == 1;
    return data[0] == 1 && chroma && bits == 8 + (data[18] & 7) && (data[21] & 3) == START - 1 &&
           (!frame->bits || frame->bits == bits);
}

/* Reads the box clap (ISO/IEC 14496-12, 12.1.4): sides and offsets, each as two numbers, of which
 * the second divides the first. The part must begin at a whole pixel. */
static bool read_crop(struct gf_blob crop, struct gf_heif_coded *coded)
{
    int64_t begin[2], size[2];
    for (int i = 0; i < 2; i++) {
        const unsigned char *const side = crop.data + 8 * i, *const shift = side + 16;
        const int64_t whole = i ? coded->height : coded->width, sides = gf_get_be(side, 4),
                      parts = gf_get_be(side + 4, 4), offset = (int32_t)gf_get_be(shift, 4),
                      of = gf_get_be(shift + 4, 4);
        if (!parts || !of || sides % parts || 2 * offset % of)
            return false;
        size[i] = sides / parts;
        begin[i] = whole - size[i] + 2 * offset / of;
        if (begin[i] & 1 || begin[i] < 0 || begin[i] / 2 > whole - size[i])
            return false;
    }
    coded->left = (int32_t)(begin[0] / 2);
    coded->top = (int32_t)(begin[1] / 2);
    coded->shown_width = (int32_t)size[0];
    coded->shown_height = (int32_t)size[1];
    return true;
}

/* Finds the list of the items of a grid, and checks that nothing else belongs to one of them, such
 * as a plane of alpha. ids: the bytes of their numbers, `number` each. */
static bool find_tiles(const struct boxes *boxes, uint32_t grid, int count,
                       const unsigned char **ids, int *number)
{
    struct gf_blob rest = boxes->references, body;
    uint64_t version, flags, from, listed;
    int found = 0;
    char type[4];
    if (!take(&rest, 1, &version) || !take(&rest, 3, &flags))
        return false;
    *number = version ? 4 : 2;
    struct gf_blob again = rest;
    while (gf_heif_take_box(&rest, type, &body)) {
        if (!take(&body, *number, &from) || !take(&body, 2, &listed) ||
            body.size != listed * (unsigned)*number)
            return false;
        if (memcmp(type, "dimg", 4) != 0 || from != grid)
            continue;
        *ids = body.data;
        if (listed != (unsigned)count || found++)
            return false;
    }
    while (found && gf_heif_take_box(&again, type, &body)) {
        if (memcmp(type, "auxl", 4) != 0)
            continue;
        for (size_t at = (size_t)*number + 2; at < body.size; at += (size_t)*number) {
            for (int i = 0; i < count; i++) {
                if (!memcmp(body.data + at, *ids + i * *number, (size_t)*number))
                    return false;
            }
        }
    }
    return found;
}

static bool same_blob(struct gf_blob a, struct gf_blob b)
{
    return a.size == b.size && !memcmp(a.data, b.data, a.size);
}

/* Reads the frames of a grid; *first becomes the first of them. */
static bool read_tiles(const struct boxes *boxes, uint32_t grid, struct gf_heif_coded *coded,
                       struct item *first)
{
    const int count = coded->columns * coded->rows;
    const unsigned char *ids = NULL;
    int number;
    if (count > GF_HEIF_TILES_MOST || !find_tiles(boxes, grid, count, &ids, &number))
        return false;
    for (int i = 0; i < count; i++) {
        struct item tile;
        if (!read_item(boxes, gf_get_be(ids + i * number, number), &tile) ||
            memcmp(tile.type, "hvc1", 4) != 0 || tile.turns || tile.crop.size)
            return false;
        if (!i)
            *first = tile;
        if (tile.width != first->width || tile.height != first->height ||
            tile.matrix != first->matrix || tile.full != first->full || tile.bits != first->bits ||
            !same_blob(tile.parameters, first->parameters))
            return false;
        coded->tile[i] = tile.span;
    }
    return true;
}

/* Reads a grid (ISO/IEC 23008-12, 6.6.2.3.2). */
static bool read_grid(const struct boxes *boxes, uint32_t id, const struct item *grid,
                      struct gf_heif_coded *coded, struct item *frame)
{
    struct gf_blob rest = {boxes->file.data + grid->span.offset, grid->span.size};
    uint64_t version, flags, rows, columns, width, height;
    if (!take(&rest, 1, &version) || version || !take(&rest, 1, &flags) || !take(&rest, 1, &rows) ||
        !take(&rest, 1, &columns) || !take(&rest, flags & 1 ? 4 : 2, &width) ||
        !take(&rest, flags & 1 ? 4 : 2, &height) || width != (uint64_t)grid->width ||
        height != (uint64_t)grid->height)
        return false;
    coded->columns = (int32_t)columns + 1;
    coded->rows = (int32_t)rows + 1;
    return read_tiles(boxes, id, coded, frame) &&
           (!grid->bits || !frame->bits || grid->bits == frame->bits) &&
           (grid->matrix < 0 || (grid->matrix == frame->matrix && grid->full == frame->full));
}

static bool read_coded(const struct boxes *boxes, uint32_t id, struct gf_heif_coded *coded)
{
    struct item item, frame;
    if (!read_item(boxes, id, &item))
        return false;
    frame = item;
    *coded = (struct gf_heif_coded){.width = item.width,
                                    .height = item.height,
                                    .columns = 1,
                                    .rows = 1,
                                    .shown_width = item.width,
                                    .shown_height = item.height,
                                    .tile = {item.span}};
    if (!memcmp(item.type, "grid", 4) ? !read_grid(boxes, id, &item, coded, &frame)
                                      : memcmp(item.type, "hvc1", 4) != 0)
        return false;
    if (!frame.parameters.size || !read_kind(&frame, coded) ||
        (item.crop.size && !read_crop(item.crop, coded)))
        return false;
    coded->tile_width = frame.width;
    coded->tile_height = frame.height;
    coded->matrix = frame.matrix;
    coded->full = frame.full;
    coded->parameters = (struct gf_heif_span){(uint32_t)(frame.parameters.data - boxes->file.data),
                                              (uint32_t)frame.parameters.size};
    return true;
}

bool gf_heif_coded_read(const struct gf_blob *file, uint32_t item, struct gf_heif_coded *coded)
{
    struct boxes boxes;
    if (file->size > FILE_MOST || !read_boxes(file, &boxes) || !read_coded(&boxes, item, coded))
        return false;
    coded->orientation = gf_heif_item_orientation(file, item);
    return gf_heif_coded_check(coded, file->size);
}

/* Whether `count` frames of `tile` pixels cover a side, and none lies outside. */
static bool covers(int side, int tile, int count)
{
    return side >= 1 && side <= SIDE_MOST && tile >= 1 && tile <= SIDE_MOST && count >= 1 &&
           count <= GF_HEIF_TILES_MOST && (int64_t)tile * count >= side &&
           (int64_t)tile * (count - 1) < side;
}

static bool is_part(int begin, int size, int whole)
{
    return begin >= 0 && size >= 1 && size <= whole && begin <= whole - size;
}

bool gf_heif_coded_check(const struct gf_heif_coded *coded, size_t file_bytes)
{
    const bool good =
        covers(coded->width, coded->tile_width, coded->columns) &&
        covers(coded->height, coded->tile_height, coded->rows) &&
        coded->columns * coded->rows <= GF_HEIF_TILES_MOST && coded->bits >= 8 &&
        coded->bits <= 12 && (coded->half_width | coded->half_height | coded->full) >> 1 == 0 &&
        coded->half_width >= coded->half_height && coded->matrix >= -1 &&
        coded->matrix <= UINT16_MAX && is_part(coded->left, coded->shown_width, coded->width) &&
        is_part(coded->top, coded->shown_height, coded->height) && coded->orientation >= 1 &&
        coded->orientation <= 8 && fits(coded->parameters, file_bytes) &&
        coded->parameters.size >= HVCC_HEAD;
    for (int i = 0; good && i < coded->columns * coded->rows; i++) {
        if (!fits(coded->tile[i], file_bytes))
            return false;
    }
    return good;
}

bool gf_heif_coded_suits_device(const struct gf_heif_coded *coded)
{
    enum { LEAST = 144, MOST = 8192 };
    struct gf_heif_colours colours;
    return (coded->matrix < 0 ||
            gf_heif_colours_of(coded->matrix, coded->full, coded->bits, &colours)) &&
           coded->half_width == coded->half_height && coded->tile_width >= LEAST &&
           coded->tile_height >= LEAST && coded->tile_width <= MOST && coded->tile_height <= MOST;
}

struct gf_heif_placing gf_heif_coded_placing(const struct gf_heif_coded *coded, size_t pixel,
                                             size_t pitch)
{
    enum { SIDEWAYS = 5 }; /* EXIF's orientations from 5 on exchange width and height */
    const int turn = coded->orientation;
    const bool sideways = turn >= SIDEWAYS, flip_x = memchr("\2\3\7\10", turn, 4),
               flip_y = memchr("\3\4\6\7", turn, 4);
    const ptrdiff_t step = (ptrdiff_t)(sideways ? pitch : pixel),
                    row = (ptrdiff_t)(sideways ? pixel : pitch);
    return (struct gf_heif_placing){.first = (flip_x ? (coded->shown_width - 1) * step : 0) +
                                             (flip_y ? (coded->shown_height - 1) * row : 0),
                                    .step = flip_x ? -step : step,
                                    .row = flip_y ? -row : row};
}

/* ---- a frame as a stream ---- */

size_t gf_heif_coded_stream_bytes(const struct gf_heif_coded *coded, int tile)
{
    /* A set of parameters has a length of 2 bytes, which becomes a start code, and at least one
     * byte more. */
    return 2 * (size_t)coded->parameters.size + coded->tile[tile].size;
}

/* Appends a unit of the stream, behind a start code. */
static void put_unit(unsigned char *stream, size_t *used, const unsigned char *unit, size_t size)
{
    memcpy(stream + *used, "\0\0\0\1", START);
    memcpy(stream + *used + START, unit, size);
    *used += START + size;
}

static int unit_type(struct gf_blob unit)
{
    return unit.data[0] >> 1 & 63;
}

static bool put_parameters(struct gf_blob rest, unsigned char *stream, size_t *used)
{
    enum { FIRST_SET = 32, LAST_SET = 34 }; /* VPS, SPS, PPS */
    uint64_t lists, kind, units, size;
    rest = (struct gf_blob){rest.data + HVCC_HEAD - 1, rest.size - (HVCC_HEAD - 1)};
    if (!take(&rest, 1, &lists))
        return false;
    for (; lists; lists--) {
        if (!take(&rest, 1, &kind) || !take(&rest, 2, &units))
            return false;
        for (; units; units--) {
            if (!take(&rest, 2, &size) || size < 3 || size > rest.size)
                return false;
            const struct gf_blob unit = {rest.data, (size_t)size};
            if (unit_type(unit) >= FIRST_SET && unit_type(unit) <= LAST_SET)
                put_unit(stream, used, unit.data, unit.size);
            rest = (struct gf_blob){rest.data + size, rest.size - (size_t)size};
        }
    }
    return *used;
}

size_t gf_heif_coded_stream(const struct gf_heif_coded *coded, const unsigned char *file, int tile,
                            unsigned char *stream)
{
    enum { FIRST_INTRA = 16, LAST_INTRA = 21, VIDEO_TYPES = 32, FIRST_SLICE = 0x80 };
    const struct gf_heif_span span = coded->tile[tile], sets = coded->parameters;
    struct gf_blob rest = {(unsigned char *)file + span.offset, span.size}; /* which is only read */
    size_t used = 0;
    uint64_t size;
    int slices = 0;
    if (!put_parameters((struct gf_blob){(unsigned char *)file + sets.offset, sets.size}, stream,
                        &used))
        return 0;
    while (rest.size) {
        if (!take(&rest, START, &size) || size < 3 || size > rest.size)
            return 0;
        const struct gf_blob unit = {rest.data, (size_t)size};
        const int type = unit_type(unit);
        rest = (struct gf_blob){rest.data + size, rest.size - (size_t)size};
        if (type >= VIDEO_TYPES && type < VIDEO_TYPES + 3)
            return 0;            /* sets of parameters that hvcC does not tell */
        if (type >= VIDEO_TYPES) /* what decoding does not need */
            continue;
        if (type < FIRST_INTRA || type > LAST_INTRA ||
            !(unit.data[2] & FIRST_SLICE) != (slices > 0))
            return 0;
        slices++;
        put_unit(stream, &used, unit.data, unit.size);
    }
    return slices ? used : 0;
}
