#include "codec/jp2/jp2.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/extremes.h"
#include "base/fail.h"
#include "codec/common/checks.h"

enum marker { SOC = 0xff4f, SIZ = 0xff51, COD, COC, SOT = 0xff90, SOD = 0xff93, EOC = 0xffd9 };
enum { MARKER = 2, PART_HEAD = 10, TILES_MAX = 65535 };

static const char damaged_size[] = "damaged: the size of its picture makes no sense";
static const char damaged_markers[] = "damaged: its markers make no sense";
static const char cut[] = "damaged: its end is missing", no_end[] = "its end is missing";

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* ---- the size of the picture and its components ---- */

struct gf_jp2_component gf_jp2_component(const struct gf_jp2_header *header, int component)
{
    const unsigned char *const size = header->sizes + 3 * component;
    return (struct gf_jp2_component){
        .bits = (size[0] & 0x7f) + 1, .is_signed = size[0] >> 7, .dx = size[1], .dy = size[2]};
}

/* Whether begin..end - 1 contains a multiple of `step`, where a subsampled component has a
 * sample. */
static bool has_sample(uint64_t begin, uint64_t end, int step)
{
    return divide_up(end, (uint64_t)step) > divide_up(begin, (uint64_t)step);
}

static const char *check_components(const struct gf_jp2_header *header)
{
    enum { BITS_MAX = 31 }; /* the most that OpenJPEG can decode */
    for (int i = 0; i < header->components; i++) {
        const struct gf_jp2_component component = gf_jp2_component(header, i);
        if (!component.dx || !component.dy || !has_sample(header->x0, header->x1, component.dx) ||
            !has_sample(header->y0, header->y1, component.dy))
            return damaged_size;
        if (component.bits > BITS_MAX)
            return "samples of more than 31 bits";
    }
    return NULL;
}

/* Reads the marker segment SIZ; `data` are the bytes behind its length. Returns a fault, or
 * NULL. */
static const char *read_size(const unsigned char *data, size_t size, struct gf_jp2_header *header)
{
    enum { HEAD = 36, COMPONENTS_MAX = 16384, TILE_COMPONENTS_MAX = 1 << 24 };
    if (size < HEAD)
        return damaged_size;
    header->x1 = gf_get_be(data + 2, 4);
    header->y1 = gf_get_be(data + 6, 4);
    header->x0 = gf_get_be(data + 10, 4);
    header->y0 = gf_get_be(data + 14, 4);
    header->tile_dx = gf_get_be(data + 18, 4);
    header->tile_dy = gf_get_be(data + 22, 4);
    header->tile_x0 = gf_get_be(data + 26, 4);
    header->tile_y0 = gf_get_be(data + 30, 4);
    header->components = (int)gf_get_be(data + 34, 2);
    if (header->x1 <= header->x0 || header->y1 <= header->y0 || !header->tile_dx ||
        !header->tile_dy || header->tile_x0 > header->x0 || header->tile_y0 > header->y0 ||
        (uint64_t)header->tile_x0 + header->tile_dx <= header->x0 ||
        (uint64_t)header->tile_y0 + header->tile_dy <= header->y0 || !header->components)
        return damaged_size;
    if (header->components > COMPONENTS_MAX || size < HEAD + 3 * (size_t)header->components)
        return damaged_size;
    header->sizes = data + HEAD;
    header->tiles = divide_up(header->x1 - header->tile_x0, header->tile_dx) *
                    divide_up(header->y1 - header->tile_y0, header->tile_dy);
    if (header->tiles > TILES_MAX)
        return damaged_size;
    if (header->tiles * (uint64_t)header->components > TILE_COMPONENTS_MAX)
        return "millions of tiles' components";
    return check_components(header);
}

/* ---- how the samples are coded ---- */

/* Returns how many bytes OpenJPEG's structs of one resolution take for each of its samples. The
 * arguments are log2 of the width and height of its precincts and code blocks. */
static double structs_of(int precinct_x, int precinct_y, int block_x, int block_y)
{
    enum { BLOCK_BYTES = 480, PRECINCT_BYTES = 250 };
    const int block = gf_least(block_x, precinct_x) + gf_least(block_y, precinct_y);
    return (double)BLOCK_BYTES / (1 << block) +
           (double)PRECINCT_BYTES / (1 << (precinct_x + precinct_y));
}

/* Reads the levels and the sizes of code blocks and precincts from a marker segment COD or COC. */
static const char *read_coding(const unsigned char *data, size_t size, bool has_precincts,
                               struct gf_jp2_header *header)
{
    enum { HEAD = 5, LEVELS_MAX = 32, BLOCK_MAX = 10, WHOLE = 15 };
    if (size < HEAD)
        return damaged_markers;
    const int levels = data[0], block_x = data[1] + 2, block_y = data[2] + 2;
    if (levels > LEVELS_MAX || block_x > BLOCK_MAX || block_y > BLOCK_MAX ||
        (has_precincts && size < HEAD + (size_t)levels + 1))
        return damaged_markers;
    header->levels = levels > header->levels ? levels : header->levels;
    header->least_levels = gf_least(levels, header->least_levels);
    /* part: the share of all samples that a resolution has. */
    double structs = 0, part = pow(0.25, levels);
    for (int i = 0; i <= levels; i++) {
        const int both = has_precincts ? data[HEAD + i] : WHOLE << 4 | WHOLE;
        const int half = i > 0; /* from resolution 1 on the samples lie in bands of half its size */
        if ((both & 15) < half || both >> 4 < half)
            return damaged_markers;
        const int x = (both & 15) - half, y = (both >> 4) - half;
        structs += part * structs_of(x, y, block_x, block_y);
        header->includes = fmax(header->includes, 1.0 / (1 << (x + y)));
        part *= i ? 4 : 3;
    }
    header->structs = fmax(header->structs, structs);
    return NULL;
}

static const char *read_marker(int marker, const unsigned char *data, size_t size,
                               struct gf_jp2_header *header)
{
    enum { SOP = 2, EPH = 4 };
    if (marker == COD && size > 5) {
        header->has_sop_alone |= (data[0] & (SOP | EPH)) == SOP;
        const int layers = (int)gf_get_be(data + 2, 2);
        header->layers = layers > header->layers ? layers : header->layers;
        return read_coding(data + 5, size - 5, data[0] & 1, header);
    }
    if (marker == COC && size > 2)
        return read_coding(data + 2, size - 2, data[1] & 1, header);
    return marker == COD || marker == COC ? damaged_markers : NULL;
}

/* Reads the marker segments from *at on, up to the marker `last`, and leaves *at behind that. The
 * markers FF30 to FF3F have no parameters. */
static const char *read_markers(struct gf_jp2_header *header, size_t *at, int last)
{
    const unsigned char *const data = header->stream.data;
    while (header->stream.size - *at >= MARKER) {
        const int marker = (int)gf_get_be(data + *at, 2);
        *at += MARKER;
        if (marker == last)
            return NULL;
        if (marker >= 0xff30 && marker <= 0xff3f)
            continue;
        const size_t left = header->stream.size - *at,
                     size = left >= 2 ? gf_get_be(data + *at, 2) : 0;
        if (marker < 0xff00 || marker == EOC || (left >= 2 && size < 2))
            return damaged_markers;
        if (left < 2 || size > left)
            return cut;
        const char *const why = read_marker(marker, data + *at + 2, size - 2, header);
        if (why)
            return why;
        *at += size;
    }
    return cut;
}

/* ---- the tile-parts ---- */

/* How many parts a tile has. */
struct parts {
    /* seen: parts found; declared: number that the parts state, 0: none does. */
    unsigned char seen, declared;
};

/* Returns the offset of the end marker behind the data at `at`. Packets contain no marker from FF90
 * on, except SOP, whose number may look like one and is skipped. */
static size_t end_of_data(const struct gf_blob *stream, size_t at)
{
    enum { SOP = 0x91, SOP_SIZE = 6 };
    for (; at + MARKER <= stream->size; at++) {
        if (gf_get_be(stream->data + at, 2) == EOC)
            return at;
        if (gf_get_be(stream->data + at, 2) == (0xff00 | SOP))
            at += SOP_SIZE - 1;
    }
    return stream->size;
}

/* Reads the head of a tile's part, whose marker precedes *at. Moves *at behind the part, or to the
 * end of a file that ends within the part. */
static const char *read_part(struct gf_jp2_header *header, size_t *at, struct parts *tiles)
{
    const unsigned char *const data = header->stream.data + *at;
    const size_t left = header->stream.size - *at;
    if (left < PART_HEAD)
        return cut;
    const uint64_t tile = gf_get_be(data + 2, 2), length = gf_get_be(data + 4, 4);
    if (tile >= header->tiles || (length && length < PART_HEAD + 2 * MARKER))
        return damaged_markers;
    size_t inner = *at + PART_HEAD;
    const char *const why = read_markers(header, &inner, SOD);
    if (why)
        return why;
    header->last_part = *at - MARKER;
    tiles[tile].seen += tiles[tile].seen < UCHAR_MAX;
    tiles[tile].declared = data[9] ? data[9] : tiles[tile].declared;
    /* The last part may state the length 0, and then extends to the end marker. */
    *at = !length                   ? end_of_data(&header->stream, inner)
          : length - MARKER <= left ? *at + (size_t)length - MARKER
                                    : header->stream.size;
    header->is_cut = length ? length - MARKER > left : *at == header->stream.size;
    return inner > *at ? damaged_markers : NULL;
}

/* Whether a component has samples in the tile. A tile without any needs no part. */
static bool has_samples(const struct gf_jp2_header *header, uint64_t tile)
{
    const uint64_t across = divide_up(header->x1 - header->tile_x0, header->tile_dx),
                   left = header->tile_x0 + tile % across * header->tile_dx,
                   top = header->tile_y0 + tile / across * header->tile_dy;
    const uint64_t x0 = left > header->x0 ? left : header->x0,
                   y0 = top > header->y0 ? top : header->y0, right = left + header->tile_dx,
                   below = top + header->tile_dy, x1 = right < header->x1 ? right : header->x1,
                   y1 = below < header->y1 ? below : header->y1;
    bool has = false;
    for (int c = 0; !has && c < header->components; c++) {
        const struct gf_jp2_component component = gf_jp2_component(header, c);
        has = has_sample(x0, x1, component.dx) && has_sample(y0, y1, component.dy);
    }
    return has;
}

/* Notes whether a tile has no part, or fewer parts than it declares. */
static void find_missing(struct gf_jp2_header *header, const struct parts *tiles)
{
    for (uint64_t i = 0; !header->is_cut && i < header->tiles; i++) {
        header->is_cut = tiles[i].seen ? tiles[i].seen < tiles[i].declared : has_samples(header, i);
        if (header->is_cut)
            header->lacks = header->lacks ? no_end : "tiles are missing";
    }
}

/* Reads all tile-parts. The marker of the first one ends at `at`. */
static const char *read_parts(struct gf_jp2_header *header, size_t at, struct parts *tiles)
{
    for (uint32_t marker = SOT; marker == SOT; at += MARKER) {
        const char *const why = read_part(header, &at, tiles);
        if (why && (why != cut || !header->last_part))
            return why;
        header->is_cut |= why != NULL;
        header->end = why ? at - MARKER : at;
        marker =
            !why && header->stream.size - at >= MARKER ? gf_get_be(header->stream.data + at, 2) : 0;
        if (marker && marker != SOT && marker != EOC)
            return damaged_markers;
        header->lacks = marker ? NULL : no_end;
        header->end += marker == EOC ? MARKER : 0;
    }
    find_missing(header, tiles);
    return NULL;
}

/* Reads the markers of header->stream, from its beginning to its end marker. Returns why the
 * picture cannot be read; NULL if it can, even if header->lacks says that something is missing. */
static const char *jp2_read_markers(struct gf_jp2_header *header)
{
    const unsigned char *const data = header->stream.data;
    size_t at = 4;
    header->least_levels = INT_MAX;
    const size_t size = header->stream.size > at + 2 ? gf_get_be(data + at, 2) : 0;
    if (size < 2 || size > header->stream.size - at)
        return cut;
    const char *why = read_size(data + at + 2, size - 2, header);
    at += size;
    if (!why)
        why = read_markers(header, &at, SOT);
    if (why)
        return why;
    struct parts *const tiles = calloc(header->tiles, sizeof *tiles);
    why = tiles ? read_parts(header, at, tiles) : "it cannot be read without memory";
    free(tiles);
    return why;
}

/* ---- completing a codestream whose end is missing ---- */

struct gf_blob gf_jp2_mend(const struct gf_jp2_header *header, bool checks)
{
    enum { LENGTH_AT = 6, CHECK = 1024 };
    const size_t end = header->end + (checks ? CHECK : 0);
    unsigned char *const data = malloc(end + MARKER);
    if (!data)
        return (struct gf_blob){0};
    memcpy(data, header->stream.data, header->end);
    memset(data + header->end, 0xff, end - header->end);
    memcpy(data + end, "\xff\xd9", MARKER);
    gf_jp2_put_be(data + header->last_part + LENGTH_AT, end - header->last_part, 4);
    return (struct gf_blob){data, end + MARKER};
}

/* A box of the file: its type, with a zero at the end, and its content. */
struct box {
    char type[5];
    const unsigned char *data;
    size_t size;
};

/* Takes the next box from `all`, which becomes shorter. Returns false at the end, or if the box
 * does not fit. A box without a size, which the last one may be, goes to the end. */
static bool next_box(struct gf_blob *all, struct box *box)
{
    if (all->size < 8)
        return false;
    uint64_t size = gf_get_be(all->data, 4), head = 8;
    if (size == 1 && all->size >= 16) {
        size = (uint64_t)gf_get_be(all->data + 8, 4) << 32 | gf_get_be(all->data + 12, 4);
        head = 16;
    }
    size = size ? size : all->size;
    if (size < head || size > all->size)
        return false;
    memcpy(box->type, all->data + 4, 4);
    box->type[4] = '\0';
    box->data = all->data + head;
    box->size = (size_t)(size - head);
    all->data += size;
    all->size -= (size_t)size;
    return true;
}

static bool is_type(const struct box *box, const char *type)
{
    return !memcmp(box->type, type, 4);
}

/* ---- the boxes within "jp2h" ---- */

/* Reads the box colr: the number of a colour space, or an ICC profile. Only the first such box
 * counts. Returns false when out of memory. */
static bool read_colours(const struct box *box, struct gf_jp2_header *header,
                         struct gf_metadata *metadata)
{
    enum { ENUMERATED = 1, RESTRICTED_ICC = 2, ANY_ICC = 3, HEAD = 3, LAB_SIZE = 24 };
    if (box->size < HEAD + 4 || header->space || metadata->icc.size)
        return true;
    if (box->data[0] == ENUMERATED) {
        header->space = (int)(gf_get_be(box->data + HEAD, 4) & 0xffff);
        header->lab = box->size >= HEAD + 4 + LAB_SIZE ? box->data + HEAD + 4 : NULL;
    } else if ((box->data[0] == RESTRICTED_ICC || box->data[0] == ANY_ICC) &&
               box->size - HEAD <= GF_METADATA_MAX) {
        return gf_blob_set(&metadata->icc, box->data + HEAD, box->size - HEAD);
    }
    return true;
}

static void read_palette(const struct box *box, struct gf_jp2_header *header)
{
    enum { HEAD = 3, ENTRIES_MAX = 1024, BITS_MAX = 16 };
    if (box->size < HEAD + 1)
        return;
    const int entries = (int)gf_get_be(box->data, 2), columns = box->data[2],
              bits = box->data[HEAD] + 1;
    const size_t bytes = (size_t)entries * (size_t)columns * (bits > 8 ? 2 : 1);
    bool plain = entries <= ENTRIES_MAX && columns && columns <= GF_JP2_CHANNELS_MAX &&
                 bits <= BITS_MAX && box->size >= HEAD + (size_t)columns + bytes;
    for (int i = 1; plain && i < columns; i++)
        plain = box->data[HEAD + i] == box->data[HEAD];
    if (!plain)
        return;
    header->palette.entries = entries;
    header->palette.columns = columns;
    header->palette.bits = bits;
    header->palette.values = box->data + HEAD + columns;
}

/* Reads the box cdef, which says which channels are colours and which is alpha. */
static void read_channels(const struct box *box, struct gf_jp2_header *header)
{
    enum { HEAD = 2, ENTRY = 6, OPACITY = 1, PREMULTIPLIED = 2 };
    for (size_t at = HEAD; at + ENTRY <= box->size; at += ENTRY) {
        const uint32_t type = gf_get_be(box->data + at + 2, 2),
                       colour = gf_get_be(box->data + at + 4, 2);
        if (!type && colour >= 1 && colour < GF_JP2_CHANNELS_MAX)
            header->order[colour - 1] = (int)gf_get_be(box->data + at, 2);
        if (header->alpha < 0 && (type == OPACITY || type == PREMULTIPLIED)) {
            header->alpha = (int)gf_get_be(box->data + at, 2);
            header->premultiplied = type == PREMULTIPLIED;
        }
    }
}

/* Returns the density in pixels per metre from a numerator and denominator of 16 bits and an
 * exponent of 10; 0 if it is invalid. */
static double density_of(const unsigned char *fraction, unsigned char exponent)
{
    const double below = gf_get_be(fraction + 2, 2), power = (signed char)exponent;
    const double density = below > 0 ? gf_get_be(fraction, 2) / below * pow(10, power) : 0;
    return density > 0 && density < 1e9 ? density : 0;
}

static void read_density(const struct box *box, struct gf_metadata *metadata)
{
    enum { SIZE = 10 };
    struct gf_blob inner = {(unsigned char *)box->data, box->size};
    struct box fraction;
    while (next_box(&inner, &fraction)) {
        if (fraction.size < SIZE || (!is_type(&fraction, "resc") && !is_type(&fraction, "resd")))
            continue;
        metadata->density_y = density_of(fraction.data, fraction.data[8]);
        metadata->density_x = density_of(fraction.data + 4, fraction.data[9]);
        if (!metadata->density_x || !metadata->density_y)
            metadata->density_x = metadata->density_y = 0;
    }
}

static bool read_header_box(const struct box *outer, struct gf_jp2_header *header,
                            struct gf_metadata *metadata)
{
    struct gf_blob inner = {(unsigned char *)outer->data, outer->size};
    struct box box;
    bool done = true;
    while (done && next_box(&inner, &box)) {
        if (is_type(&box, "colr"))
            done = read_colours(&box, header, metadata);
        else if (is_type(&box, "pclr"))
            read_palette(&box, header);
        else if (is_type(&box, "cdef"))
            read_channels(&box, header);
        else if (is_type(&box, "res "))
            read_density(&box, metadata);
    }
    return done;
}

/* ---- the boxes of the file ---- */

static bool read_metadata(const struct box *box, struct gf_metadata *metadata)
{
    const unsigned char *const data = box->data + GF_JP2_UUID_SIZE;
    const size_t size = box->size - GF_JP2_UUID_SIZE;
    if (box->size <= GF_JP2_UUID_SIZE || size > GF_METADATA_MAX)
        return true;
    if (!memcmp(box->data, GF_JP2_UUID_EXIF, GF_JP2_UUID_SIZE))
        return gf_metadata_add_exif(metadata, data, size);
    if (!memcmp(box->data, GF_JP2_UUID_IPTC, GF_JP2_UUID_SIZE))
        return gf_metadata_add_photoshop(metadata, data, size);
    if (!memcmp(box->data, GF_JP2_UUID_XMP, GF_JP2_UUID_SIZE) && !metadata->xmp.size)
        return gf_blob_set(&metadata->xmp, data, size);
    return true;
}

/* Reads all boxes, and finds the codestream. Returns false when out of memory. */
static bool read_boxes(struct gf_blob all, struct gf_jp2_header *header,
                       struct gf_metadata *metadata)
{
    struct box box;
    bool done = true;
    while (done && next_box(&all, &box)) {
        if (is_type(&box, "jp2h"))
            done = read_header_box(&box, header, metadata);
        else if (is_type(&box, "uuid"))
            done = read_metadata(&box, metadata);
        else if (is_type(&box, "jp2c") && !header->stream.size)
            header->stream = (struct gf_blob){(unsigned char *)box.data, box.size};
    }
    /* next_box() refuses the box of a truncated codestream, since it does not fit. */
    if (done && !header->stream.size && all.size > 16 && !memcmp(all.data + 4, "jp2c", 4)) {
        const size_t head = gf_get_be(all.data, 4) == 1 ? 16 : 8;
        header->stream = (struct gf_blob){all.data + head, all.size - head};
    }
    return done;
}

/* Whether the second and third component are subsampled, and the others are not. */
static bool is_subsampled(const struct gf_jp2_header *header)
{
    enum { LEAST = 3, MOST = 4 };
    bool is = header->components >= LEAST && header->components <= MOST;
    for (int c = 0; is && c < header->components; c++) {
        const struct gf_jp2_component component = gf_jp2_component(header, c);
        is = (component.dx * component.dy > 1) == (c == 1 || c == 2);
    }
    return is;
}

/* Returns how many of the channels are colours. Also sets the colour space of a codestream without
 * boxes (is_bare): YCbCr if chroma is subsampled. */
static int count_colours(struct gf_jp2_header *header, const struct gf_blob *icc, bool is_bare)
{
    enum { SPACE_AT = 16, GRAY = 1, COLOURS = 3, CMYK = 4 };
    if (is_bare && is_subsampled(header))
        header->space = GF_JP2_YCC;
    if (icc->size >= SPACE_AT + 4 && !memcmp(icc->data + SPACE_AT, "CMYK", 4))
        header->space = GF_JP2_CMYK;
    if (header->space == GF_JP2_CMYK)
        return CMYK;
    if (header->space == GF_JP2_YCC || header->space == GF_JP2_LAB)
        return COLOURS;
    const bool is_gray =
        header->space == GF_JP2_GRAY && (header->alpha >= 0 || header->channels > CMYK);
    return is_gray || header->channels < COLOURS ? GRAY : COLOURS;
}

/* Chooses the channels that are read: the first colours, and alpha. A single channel behind the
 * colours counts as alpha even if no box says so. */
static const char *choose_channels(struct gf_jp2_header *header, const struct gf_blob *icc,
                                   bool is_bare)
{
    const bool is_index = header->palette.entries && header->components == 1 &&
                          gf_jp2_component(header, 0).dx == 1 &&
                          gf_jp2_component(header, 0).dy == 1;
    header->palette.entries = is_index ? header->palette.entries : 0;
    header->channels = is_index ? header->palette.columns : header->components;
    header->colours = count_colours(header, icc, is_bare);
    if (is_index && gf_jp2_is_converted(header))
        return "a palette of CMYK or L*a*b*";
    if (header->channels == header->colours + 1)
        header->alpha = header->alpha < 0 ? header->colours : header->alpha;
    header->order[header->colours] = header->alpha;
    const int taken = header->colours + (header->alpha >= 0);
    if (taken > header->channels)
        return "damaged: its channels are too few for its colours";
    for (int c = 0; c < taken; c++)
        for (int other = 0; other <= c; other++)
            if (header->order[c] >= header->channels ||
                (other < c && header->order[other] == header->order[c]))
                return "damaged: its channels make no sense";
    return NULL;
}

enum gf_status gf_jp2_header_read(const struct gf_blob *file, const char *name,
                                  const struct gf_options *options, struct gf_jp2_header *header,
                                  struct gf_metadata *metadata, struct gf_error *error)
{
    static const unsigned char start[] = {0xff, 0x4f, 0xff, 0x51};
    const bool is_bare = file->size > sizeof start && !memcmp(file->data, start, sizeof start);
    header->alpha = -1;
    for (int c = 0; c < GF_JP2_CHANNELS_MAX; c++)
        header->order[c] = c;
    if (is_bare)
        header->stream = *file;
    else if (!read_boxes(*file, header, metadata))
        return gf_fail_memory(error);
    if (header->stream.size < sizeof start || memcmp(header->stream.data, start, sizeof start) != 0)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: it has no codestream", name);
    const char *why = jp2_read_markers(header);
    why = why ? why : choose_channels(header, &metadata->icc, is_bare);
    if (errno == ENOMEM)
        return gf_fail_memory(error);
    if (!why && header->is_cut && !options->allow_truncated)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: %s%s", name, header->lacks,
                       gf_truncated_hint(options));
    if (!why)
        return GF_OK;
    return strncmp(why, "damaged", 7)
               ? gf_fail(error, GF_ERROR_INPUT, "%s: is a JPEG 2000 of %s, which is not read", name,
                         why)
               : gf_fail(error, GF_ERROR_INPUT, "%s: %s", name, why);
}
