#include "codec/common/metadata/heif_coded.h"

#include <string.h>

#include "codec/common/metadata/heif_boxes.h"
#include "codec/common/metadata/metadata.h"
#include "pixel/yuv/heif_colours.h"
#include "pixel/yuv/yuv.h"

/* META_MOST limits the work, since each tile's boxes are looked for in the whole list. */
enum { META_MOST = 64 << 10, FILE_MOST = 1 << 30, SIDE_MOST = 1 << 16 };
enum { SIDEWAYS = 5 }; /* EXIF's orientations from 5 on exchange width and height */
/* Bytes before hvcC's lists and av1C's OBUs; of a length or a start code. */
enum { HVCC_HEAD = 23, AV1C_HEAD = 4, START = 4 };

/* ---- reading boxes ---- */

struct boxes {
    struct gf_blob file, items, places, references, data;
};

/* An item of the file: a frame or a grid. */
struct item {
    char type[4];
    struct gf_heif_span span;
    int32_t width, height, matrix, full, bits; /* bits: 0: no box pixi says them */
    struct gf_blob parameters, crop;           /* the bodies of hvcC or av1C, and clap */
    int rotations, mirrorings;
};

static bool is_av1(const struct item *item)
{
    return !memcmp(item->type, "av01", 4);
}

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

/* Takes the version of a box and passes over its flags, whose last bit *flag becomes. */
static bool take_version(struct gf_blob *rest, uint64_t *version, uint64_t *flag)
{
    const bool taken = take(rest, 1, version) && take(rest, 3, flag);
    *flag &= 1;
    return taken;
}

/* Reads the item's type. Returns false if it is protected or not listed. */
static bool read_type(const struct boxes *boxes, uint32_t id, struct item *item)
{
    struct gf_blob rest = boxes->items, body;
    uint64_t version, count, number, protection;
    char type[4];
    if (!take_version(&rest, &version, &number) || !take(&rest, version ? 4 : 2, &count))
        return false;
    while (gf_heif_take_box(&rest, type, &body)) {
        if (!take_version(&body, &version, &number) || version < 2 || version > 3 ||
            !take(&body, version == 3 ? 4 : 2, &number) || !take(&body, 2, &protection) ||
            body.size < 4)
            return false;
        memcpy(item->type, body.data, 4);
        if (number == id)
            return !protection;
    }
    return false;
}

/* Whether the span lies in that many bytes. */
static bool fits(struct gf_heif_span span, size_t bytes)
{
    return span.size && span.size <= bytes && span.offset <= bytes - span.size;
}

/* Finds the item's bytes by the box iloc (ISO/IEC 14496-12, 8.11.3). Returns false if they are not
 * one piece of the file or of the box idat. */
static bool read_place(const struct boxes *boxes, uint32_t id, struct item *item)
{
    enum { IN_FILE, IN_DATA };
    struct gf_blob rest = boxes->places;
    uint64_t version, sizes, count, number, method = IN_FILE, source, base, extents, index;
    uint64_t offset = 0, size = 0;
    if (!take_version(&rest, &version, &number) || !take(&rest, 2, &sizes) ||
        !take(&rest, version == 2 ? 4 : 2, &count))
        return false;
    const int offset_bytes = (int)(sizes >> 12), size_bytes = (int)(sizes >> 8 & 15),
              base_bytes = (int)(sizes >> 4 & 15), index_bytes = version ? (int)(sizes & 15) : 0;
    if ((offset_bytes | size_bytes | base_bytes | index_bytes) & ~12 || !size_bytes)
        return false; /* each is 0, 4 or 8 */
    for (; count; count--) {
        if (!take(&rest, version == 2 ? 4 : 2, &number) || (version && !take(&rest, 2, &method)) ||
            !take(&rest, 2, &source) || !take(&rest, base_bytes, &base) ||
            !take(&rest, 2, &extents))
            return false;
        for (uint64_t i = 0; i < extents; i++) {
            if (!take(&rest, index_bytes, &index) || !take(&rest, offset_bytes, &offset) ||
                !take(&rest, size_bytes, &size))
                return false;
        }
        if (number != id)
            continue;
        const struct gf_blob *const in = method == IN_DATA ? &boxes->data : &boxes->file;
        item->span = (struct gf_heif_span){(uint32_t)(base + offset), (uint32_t)size};
        if (extents != 1 || source || method > IN_DATA || base > FILE_MOST || offset > FILE_MOST ||
            size > FILE_MOST || !fits(item->span, in->size))
            return false;
        item->span.offset += (uint32_t)(in->data - boxes->file.data);
        return true;
    }
    return false;
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
static bool read_property(void *context, const char type[4], struct gf_blob body, bool essential)
{
    struct item *const item = context;
    enum { SIZE, PARAMETERS, COLOURS, DEPTH, ROTATION, MIRRORING, CROP, AV1_PARAMETERS };
    static const char known[] = "ispehvcCcolrpixiirotimirclapav1C";
    int kind = 0;
    while (known[4 * kind] && memcmp(known + 4 * kind, type, 4) != 0)
        kind++;
    switch (kind) {
    case SIZE:
        if (body.size < 12)
            return false;
        item->width = (int32_t)gf_get_be(body.data + 4, 4);
        item->height = (int32_t)gf_get_be(body.data + 8, 4);
        return true;
    case PARAMETERS:
    case AV1_PARAMETERS:
        item->parameters = body;
        return (kind == AV1_PARAMETERS) == is_av1(item) &&
               body.size >= (is_av1(item) ? AV1C_HEAD : HVCC_HEAD);
    case COLOURS:
        return read_colours(body, item);
    case DEPTH:
        item->bits = body.size > 5 ? body.data[5] : 0;
        return true;
    case ROTATION: /* gf_heif_item_orientation() knows one rotation and one mirroring */
        return !item->rotations++;
    case MIRRORING:
        return !item->mirrorings++;
    case CROP:
        item->crop = body;
        return body.size >= 32 && !item->rotations && !item->mirrorings;
    default:
        return !essential;
    }
}

static bool read_item(const struct boxes *boxes, uint32_t id, struct item *item)
{
    *item = (struct item){.matrix = -1};
    return read_type(boxes, id, item) && read_place(boxes, id, item) &&
           gf_heif_each_property(&boxes->file, id, read_property, item);
}

/* ---- the description ---- */

/* Reads the kind of frames from the box av1C (AV1 Codec ISO Media File Format Binding, 2.3.3). */
static bool read_av1_kind(const struct item *frame, struct gf_heif_coded *coded)
{
    enum { FIRST_VERSION = 0x81, DEEP = 0x40, DEEPER = 0x20, MONO = 0x10 };
    const unsigned char *const data = frame->parameters.data;
    coded->av1 = 1;
    coded->bits = !(data[2] & DEEP) ? 8 : data[2] & DEEPER ? 12 : 10;
    coded->half_width = data[2] >> 3 & 1;
    coded->half_height = data[2] >> 2 & 1;
    return data[0] == FIRST_VERSION && !(data[2] & MONO);
}

/* Reads the kind of frames from the box hvcC (ISO/IEC 14496-15, 8.3.3.1). */
static bool read_kind(const struct item *frame, struct gf_heif_coded *coded)
{
    if (is_av1(frame))
        return read_av1_kind(frame, coded);
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

/* Finds the numbers of a grid's frames, of `bytes` bytes each. Returns false if something else
 * belongs to one of them, such as a plane of alpha. */
static bool find_tiles(const struct boxes *boxes, uint32_t grid, int count,
                       const unsigned char **ids, int *bytes)
{
    struct gf_blob rest = boxes->references, body;
    uint64_t version, flag, from, listed;
    char type[4];
    *ids = NULL;
    if (!take_version(&rest, &version, &flag))
        return false;
    *bytes = version ? 4 : 2;
    for (struct gf_blob left = rest; !*ids && gf_heif_take_box(&left, type, &body);) {
        if (take(&body, *bytes, &from) && take(&body, 2, &listed) && from == grid &&
            !memcmp(type, "dimg", 4) && listed == (unsigned)count &&
            body.size == listed * (unsigned)*bytes)
            *ids = body.data;
    }
    while (*ids && gf_heif_take_box(&rest, type, &body)) {
        const bool auxiliary = !memcmp(type, "auxl", 4);
        for (size_t at = (size_t)*bytes + 2; auxiliary && at + (size_t)*bytes <= body.size;
             at += (size_t)*bytes) {
            for (int i = 0; i < count; i++) {
                if (!memcmp(body.data + at, *ids + i * *bytes, (size_t)*bytes))
                    return false;
            }
        }
    }
    return *ids;
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
            (memcmp(tile.type, "hvc1", 4) != 0 && !is_av1(&tile)) || tile.rotations ||
            tile.mirrorings || tile.crop.size)
            return false;
        if (!i)
            *first = tile;
        if (!tile.parameters.size || tile.width != first->width || tile.height != first->height ||
            tile.matrix != first->matrix || tile.full != first->full || tile.bits != first->bits ||
            is_av1(&tile) != is_av1(first) || tile.parameters.size != first->parameters.size ||
            memcmp(tile.parameters.data, first->parameters.data, tile.parameters.size) != 0)
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
           (grid->matrix < 0 || is_av1(frame) || /* libavif's reader knows it */
            (grid->matrix == frame->matrix && grid->full == frame->full));
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
                                      : memcmp(item.type, "hvc1", 4) != 0 && !is_av1(&item))
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

uint32_t gf_heif_main_item(const struct gf_blob *file)
{
    struct gf_blob rest = gf_heif_find_box(gf_heif_meta(file), "pitm");
    uint64_t version, flag = 0, item;
    return take_version(&rest, &version, &flag) && take(&rest, version ? 4 : 2, &item)
               ? (uint32_t)item
               : 0;
}

bool gf_heif_coded_read(const struct gf_blob *file, uint32_t item, struct gf_heif_coded *coded)
{
    const struct gf_blob meta = gf_heif_meta(file);
    const struct boxes boxes = {*file, gf_heif_find_box(meta, "iinf"),
                                gf_heif_find_box(meta, "iloc"), gf_heif_find_box(meta, "iref"),
                                gf_heif_find_box(meta, "idat")};
    if (file->size > FILE_MOST || meta.size > META_MOST || !read_coded(&boxes, item, coded))
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
        !(coded->half_width && coded->columns > 1 && coded->tile_width % 2) &&
        !(coded->half_height && coded->rows > 1 && coded->tile_height % 2) &&
        coded->columns * coded->rows <= GF_HEIF_TILES_MOST && coded->bits >= 8 &&
        coded->bits <= 12 &&
        (coded->half_width | coded->half_height | coded->full | coded->av1) >> 1 == 0 &&
        coded->half_width >= coded->half_height && coded->matrix >= -1 &&
        coded->matrix <= UINT16_MAX && is_part(coded->left, coded->shown_width, coded->width) &&
        is_part(coded->top, coded->shown_height, coded->height) && coded->orientation >= 1 &&
        coded->orientation <= 8 && fits(coded->parameters, file_bytes) &&
        coded->parameters.size >= (coded->av1 ? AV1C_HEAD : HVCC_HEAD);
    uint64_t sum = 0;
    for (int i = 0; good && i < coded->columns * coded->rows; i++) {
        sum += coded->tile[i].size;
        if (!fits(coded->tile[i], file_bytes) || sum > file_bytes)
            return false; /* frames that share bytes would be more work than the file's size says */
    }
    return good;
}

bool gf_heif_coded_suits_device(const struct gf_heif_coded *coded)
{
    enum { LEAST = 144, MOST = 8192 };
    struct gf_heif_colours colours;
    enum gf_yuv_matrix matrix;
    return (coded->av1 ? gf_yuv_matrix_of(coded->matrix, &matrix) && coded->half_height &&
                             coded->bits <= 10 && !((coded->tile_width | coded->tile_height) & 1)
                       : coded->matrix < 0 || gf_heif_colours_of(coded->matrix, coded->full,
                                                                 coded->bits, &colours)) &&
           coded->half_width == coded->half_height && coded->tile_width >= LEAST &&
           coded->tile_height >= LEAST && coded->tile_width <= MOST && coded->tile_height <= MOST;
}

bool gf_heif_coded_sideways(const struct gf_heif_coded *coded)
{
    return coded->orientation >= SIDEWAYS;
}

struct gf_format gf_heif_coded_format(const struct gf_heif_coded *coded)
{
    const bool sideways = gf_heif_coded_sideways(coded);
    return (struct gf_format){.width = sideways ? coded->shown_height : coded->shown_width,
                              .height = sideways ? coded->shown_width : coded->shown_height,
                              .channels = 3,
                              .bits = coded->bits > 8 ? 16 : 8};
}

struct gf_heif_placing gf_heif_placing_of(int orientation, int width, int height, size_t pixel,
                                          size_t pitch)
{
    const bool sideways = orientation >= SIDEWAYS, flip_x = memchr("\2\3\7\10", orientation, 4),
               flip_y = memchr("\3\4\6\7", orientation, 4);
    const ptrdiff_t step = (ptrdiff_t)(sideways ? pitch : pixel),
                    row = (ptrdiff_t)(sideways ? pixel : pitch);
    return (struct gf_heif_placing){.first = (flip_x ? (width - 1) * step : 0) +
                                             (flip_y ? (height - 1) * row : 0),
                                    .step = flip_x ? -step : step,
                                    .row = flip_y ? -row : row};
}

struct gf_heif_placing gf_heif_coded_placing(const struct gf_heif_coded *coded, size_t pixel,
                                             size_t pitch)
{
    return gf_heif_placing_of(coded->orientation, coded->shown_width, coded->shown_height, pixel,
                              pitch);
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

static size_t put_av1(struct gf_blob sequence, struct gf_blob frame, unsigned char *stream)
{
    static const unsigned char delimiter[] = {0x12, 0};
    memcpy(stream, delimiter, sizeof delimiter);
    memcpy(stream + sizeof delimiter, sequence.data, sequence.size);
    memcpy(stream + sizeof delimiter + sequence.size, frame.data, frame.size);
    return sizeof delimiter + sequence.size + frame.size;
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
    if (coded->av1)
        return put_av1((struct gf_blob){(unsigned char *)file + sets.offset + AV1C_HEAD,
                                        sets.size - AV1C_HEAD},
                       rest, stream);
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
