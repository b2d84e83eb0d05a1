#include "codec/jp2/jp2_header.h"

#include <limits.h>
#include <math.h>

enum marker { SOC = 0xff4f, SIZ = 0xff51, COD, COC, SOT = 0xff90, SOD = 0xff93, EOC = 0xffd9 };

static const char damaged_size[] = "damaged: the size of its picture makes no sense";
static const char damaged_markers[] = "damaged: its markers make no sense";
static const char cut[] = "damaged: its end is missing";

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* ---- the size ---- */

static const char *read_components(const unsigned char *data, struct gf_jp2_header *header)
{
    enum { BITS_MAX = 31 }; /* of OpenJPEG */
    for (int i = 0; i < header->components; i++) {
        struct gf_jp2_component *const component = &header->component[i];
        component->bits = (data[3 * i] & 0x7f) + 1;
        component->is_signed = data[3 * i] >> 7;
        component->dx = data[3 * i + 1];
        component->dy = data[3 * i + 2];
        if (!component->dx || !component->dy ||
            divide_up(header->x1, (uint64_t)component->dx) <=
                divide_up(header->x0, (uint64_t)component->dx) ||
            divide_up(header->y1, (uint64_t)component->dy) <=
                divide_up(header->y0, (uint64_t)component->dy))
            return damaged_size;
        if (component->bits > BITS_MAX)
            return "samples of more than 31 bits";
    }
    return NULL;
}

/* `data` are the bytes behind the segment's length. */
static const char *read_size(const unsigned char *data, size_t size, struct gf_jp2_header *header)
{
    enum { HEAD = 36, TILES_MAX = 65535 };
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
    if (header->components > GF_JP2_CHANNELS_MAX)
        return "more than four channels";
    if (size < HEAD + 3 * (size_t)header->components)
        return damaged_size;
    header->tiles = divide_up(header->x1 - header->tile_x0, header->tile_dx) *
                    divide_up(header->y1 - header->tile_y0, header->tile_dy);
    if (header->tiles > TILES_MAX)
        return damaged_size;
    return read_components(data + HEAD, header);
}

/* ---- how the samples are coded ---- */

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

/* Returns the bytes of the structs of one resolution for each of its samples. The exponents are
 * those of the width and height of its precincts and of its code blocks. */
static double structs_of(int precinct_x, int precinct_y, int block_x, int block_y)
{
    enum { BLOCK_BYTES = 480, PRECINCT_BYTES = 250 };
    const int block = least_of(block_x, precinct_x) + least_of(block_y, precinct_y);
    return (double)BLOCK_BYTES / (1 << block) +
           (double)PRECINCT_BYTES / (1 << (precinct_x + precinct_y));
}

/* Reads the levels, the code blocks and the precincts. */
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
    header->least_levels = least_of(levels, header->least_levels);
    double structs = 0, part = pow(0.25, levels); /* of all samples */
    for (int i = 0; i <= levels; i++) {
        const int both = has_precincts ? data[HEAD + i] : WHOLE << 4 | WHOLE;
        const int half = i > 0; /* the samples of a level are in bands of half its size */
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

static const char *read_segment(int marker, const unsigned char *data, size_t size,
                                struct gf_jp2_header *header)
{
    if (marker == COD && size > 5) {
        const int layers = (int)gf_get_be(data + 2, 2);
        header->layers = layers > header->layers ? layers : header->layers;
        return read_coding(data + 5, size - 5, data[0] & 1, header);
    }
    if (marker == COC && size > 2)
        return read_coding(data + 2, size - 2, data[1] & 1, header);
    return marker == COD || marker == COC ? damaged_markers : NULL;
}

/* Reads the segments from *at on, up to the marker `last`, behind which *at then is. */
static const char *read_segments(struct gf_jp2_header *header, size_t *at, int last)
{
    const unsigned char *const data = header->stream.data;
    while (header->stream.size - *at >= 2) {
        const int marker = (int)gf_get_be(data + *at, 2);
        *at += 2;
        if (marker == last)
            return NULL;
        const size_t left = header->stream.size - *at,
                     size = left >= 2 ? gf_get_be(data + *at, 2) : 0;
        if (marker < 0xff00 || marker == EOC || (left >= 2 && size < 2))
            return damaged_markers;
        if (left < 2 || size > left)
            return cut;
        const char *const why = read_segment(marker, data + *at + 2, size - 2, header);
        if (why)
            return why;
        *at += size;
    }
    return cut;
}

/* Reads the head of a tile's part, whose marker was before *at. *at is then behind the part. */
static const char *read_part(struct gf_jp2_header *header, size_t *at, uint64_t *tiles)
{
    enum { HEAD = 10, MARKER = 2 };
    const unsigned char *const data = header->stream.data + *at;
    const size_t left = header->stream.size - *at;
    if (left < HEAD)
        return cut;
    const uint64_t length = gf_get_be(data + 4, 4);
    *tiles += !data[8];
    if (length && (length < HEAD + 2 * MARKER))
        return damaged_markers;
    if (length && length - MARKER > left)
        return cut;
    size_t inner = *at + HEAD;
    const char *const why = read_segments(header, &inner, SOD);
    /* The last part may go to the end marker without saying its length. */
    *at = length ? *at + (size_t)length - MARKER : header->stream.size - MARKER;
    return why ? why : inner > *at ? damaged_markers : NULL;
}

const char *gf_jp2_read_markers(struct gf_jp2_header *header)
{
    const unsigned char *const data = header->stream.data;
    size_t at = 4;
    uint64_t tiles = 0;
    header->least_levels = INT_MAX;
    const size_t size = header->stream.size > at + 2 ? gf_get_be(data + at, 2) : 0;
    if (size < 2 || size > header->stream.size - at)
        return cut;
    const char *why = read_size(data + at + 2, size - 2, header);
    at += size;
    if (!why)
        why = read_segments(header, &at, SOT);
    while (!why) {
        why = read_part(header, &at, &tiles);
        if (why)
            break;
        const uint32_t marker =
            header->stream.size - at >= 2 ? gf_get_be(data + at, 2) : (uint32_t)0;
        at += 2;
        if (marker == EOC)
            return tiles < header->tiles ? "damaged: tiles are missing" : NULL;
        why = marker == SOT ? NULL : marker ? damaged_markers : cut;
    }
    return why;
}
