/* A source whose rows are the HDR picture of a JPEG and its gain map. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/jpeg/jpeg.h"
#include "codec/jpeg/jpeg_gain.h"
#include "icc/icc_gain.h"

enum { ROWS = 16, PART = 65536 /* the distance of two pixels of the map */ };

/* Where a pixel of the picture lies between two pixels of the map; part: of the second, of PART. */
struct place {
    int first, second;
    unsigned part;
};

struct hdr_source {
    struct gf_source base;
    struct gf_source *picture;
    struct gf_image map;
    struct gf_gain *gain;
    struct place *column;  /* a place for each column; NULL before the first row */
    uint16_t *mixed, *row; /* a row of the map between two of its rows, and at each pixel */
    unsigned char *pixels; /* ROWS rows of the picture */
    int y;
};

/* Both sides are of the same length: the middles of pixels are compared. */
static struct place place_of(int at, int side, int map_side)
{
    const int64_t middle = ((2 * (int64_t)at + 1) * map_side * (PART / 2)) / side - PART / 2,
                  last = (int64_t)(map_side - 1) * PART,
                  within = middle < 0      ? 0
                           : middle > last ? last
                                           : middle;
    const int first = (int)(within / PART);
    return (struct place){first, first + 1 < map_side ? first + 1 : first,
                          (unsigned)(within % PART)};
}

static enum gf_status allocate(struct hdr_source *source, struct gf_error *error)
{
    const struct gf_format map = source->map.format;
    const int width = source->base.format.width;
    const size_t channels = (size_t)map.channels;
    source->column = malloc((size_t)width * sizeof *source->column);
    source->mixed = malloc((size_t)map.width * channels * sizeof *source->mixed);
    source->row = malloc((size_t)width * channels * sizeof *source->row);
    source->pixels = malloc(gf_row_bytes(source->picture->format) * ROWS);
    if (!source->column || !source->mixed || !source->row || !source->pixels)
        return gf_fail_memory(error);
    for (int x = 0; x < width; x++)
        source->column[x] = place_of(x, width, map.width);
    return GF_OK;
}

static uint16_t mixed(unsigned first, unsigned second, unsigned part)
{
    return (uint16_t)(((uint64_t)first * (PART - part) + (uint64_t)second * part + PART / 2) /
                      PART);
}

/* Fills `row` with the map's samples at the pixels of the picture's row y. */
static void enlarge(struct hdr_source *source, int y)
{
    const struct gf_image *const map = &source->map;
    const struct place at = place_of(y, source->base.format.height, map->format.height);
    const unsigned char *const first = map->data + (size_t)at.first * map->pitch,
                               *const second = map->data + (size_t)at.second * map->pitch;
    const int channels = map->format.channels;
    for (int i = 0; i < map->format.width * channels; i++)
        source->mixed[i] = mixed(first[i] * GF_GAIN_ONE, second[i] * GF_GAIN_ONE, at.part);
    for (int x = 0; x < source->base.format.width; x++) {
        const struct place place = source->column[x];
        const uint16_t *const left = source->mixed + place.first * channels, *const right =
                                                                                 source->mixed +
                                                                                 place.second *
                                                                                     channels;
        for (int c = 0; c < channels; c++)
            source->row[x * channels + c] = mixed(left[c], right[c], place.part);
    }
}

static enum gf_status hdr_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                               struct gf_error *error)
{
    struct hdr_source *const source = (struct hdr_source *)base;
    struct gf_source *const picture = source->picture;
    const size_t row_bytes = gf_row_bytes(picture->format);
    enum gf_status status = source->column ? GF_OK : allocate(source, error);
    while (!status && rows) {
        const int some = rows < ROWS ? rows : ROWS;
        status = picture->read(picture, some, source->pixels, row_bytes, error);
        for (int i = 0; !status && i < some; i++, dst += pitch) {
            enlarge(source, source->y++);
            gf_gain_row(source->gain, source->pixels + (size_t)i * row_bytes,
                        picture->format.channels, source->row, source->map.format.channels,
                        base->format.width, (uint16_t *)(void *)dst);
        }
        rows -= some;
    }
    return status;
}

static void hdr_reduce(struct gf_source *base, int reduction)
{
    struct gf_source *const picture = ((struct hdr_source *)base)->picture;
    picture->reduce(picture, reduction);
    base->reduction = reduction;
    base->format.width = picture->format.width;
    base->format.height = picture->format.height;
}

static enum gf_status hdr_finish(struct gf_source *base, struct gf_error *error)
{
    struct gf_source *const picture = ((struct hdr_source *)base)->picture;
    return picture->finish(picture, error);
}

static void hdr_close(struct gf_source *base)
{
    struct hdr_source *const source = (struct hdr_source *)base;
    if (source->picture)
        source->picture->close(source->picture);
    gf_image_free(&source->map);
    gf_gain_free(source->gain);
    free(source->column);
    free(source->mixed);
    free(source->row);
    free(source->pixels);
    free(source);
}

/* Decodes the map, and makes the tables. */
static enum gf_status read_map(struct hdr_source *source, const struct gf_blob *jpeg,
                               const struct gf_gain_map_facts *map, struct gf_source *picture,
                               const struct gf_options *options, struct gf_error *error)
{
    struct gf_options of_map = *options;
    struct gf_input *input;
    struct gf_source *decoder = NULL;
    struct gf_gain_wish wish = {.base =
                                    gf_metadata_icc(&picture->metadata, picture->format, options)};
    if (picture->format.channels == 1)
        wish.base.size = 0;
    memcpy(wish.channel, map->channel, sizeof wish.channel);
    of_map.gain_map = GF_GAIN_MAP_DROP;
    GF_TRY(gf_input_open_memory(jpeg->data, jpeg->size, "the gain map", &input, error));
    enum gf_status status = gf_jpeg_source_open(input, &of_map, 0, &decoder, error);
    if (!status)
        status = gf_gain_map_check(decoder->format, picture->format, jpeg->size, options, error);
    if (!status)
        status = gf_source_read_all(decoder, &source->map, error);
    if (!status && map->own_colours && decoder->metadata.icc.size)
        wish.colours = gf_metadata_icc(&decoder->metadata, decoder->format, options);
    if (!status)
        status = gf_gain_build(&wish, &source->gain, error);
    if (decoder)
        decoder->close(decoder);
    gf_input_close(input);
    return status;
}

/* Describes the HDR picture. Its metadata belong to the picture's source. */
static void describe(struct hdr_source *source, struct gf_source *picture)
{
    struct gf_source *const base = &source->base;
    *base = (struct gf_source){.format = picture->format,
                               .stored = picture->stored,
                               .metadata = picture->metadata,
                               .memory = picture->memory,
                               .reduction = picture->reduction,
                               .most_reduction = picture->most_reduction,
                               .reduce = hdr_reduce,
                               .read = hdr_read,
                               .finish = hdr_finish,
                               .close = hdr_close};
    base->format.channels = 3;
    base->format.bits = 16;
    base->memory.bytes += source->map.pitch * (size_t)source->map.format.height;
    base->memory.why = base->memory.why ? base->memory.why : "its gain map is decoded as a whole";
    base->metadata.icc = (struct gf_blob){0};
    base->metadata.unread &= ~(unsigned)(GF_KIND_GAIN_MAP | GF_KIND_PICTURES);
    gf_colour_tags_set_cicp(&base->metadata.colour, GF_PRIMARIES_BT2020, GF_TRANSFER_PQ);
    source->picture = picture;
}

enum gf_status gf_jpeg_gain_apply(const struct gf_blob *jpeg, const struct gf_gain_map_facts *map,
                                  const struct gf_options *options, struct gf_source **source,
                                  struct gf_error *error)
{
    struct hdr_source *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail_memory(error);
    const enum gf_status status = read_map(opened, jpeg, map, *source, options, error);
    if (status) {
        hdr_close(&opened->base);
        return status;
    }
    describe(opened, *source);
    *source = &opened->base;
    return GF_OK;
}
