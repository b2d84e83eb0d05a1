/* A source whose rows are the HDR picture of a JPEG and its gain map. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/metadata.h"
#include "codec/jpeg/jpeg.h"
#include "codec/jpeg/jpeg_libjpeg.h"
#include "icc/icc_hdr.h"

enum { ROWS = 16, PART = 65536 /* between neighbouring pixels of the map */ };

/* Where a row or column of the picture lies between two neighbouring ones of the map. part / PART
 * is the weight of the second one. */
struct place {
    int first, second;
    unsigned part;
};

struct hdr_source {
    struct gf_source base;
    struct gf_source *picture;
    struct gf_image map;
    struct gf_gain *gain;
    struct place *column; /* a place for each column; NULL before the first row */
    /* Samples of the map at the height of a row of the picture: at the map's own columns, and at
     * the picture's. */
    uint16_t *mixed, *row;
    unsigned char *pixels; /* ROWS rows of the picture */
    int y;
};

/* Returns the place of the middle of row or column `at`. The picture has `side` of them and the map
 * has `map_side` over the same length. */
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
    GF_ALLOCATED(source->column && source->mixed && source->row && source->pixels, error);
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
    GF_THEN(status,
            gf_gain_map_check(decoder->format, picture->format, jpeg->size, options, error));
    GF_THEN(status, gf_source_read_all(decoder, &source->map, error));
    if (!status && map->own_colours && decoder->metadata.icc.size)
        wish.colours = gf_metadata_icc(&decoder->metadata, decoder->format, options);
    GF_THEN(status, gf_gain_build(&wish, &source->gain, error));
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
    gf_colour_tags_set_cicp(&base->metadata.colour, GF_PRIMARIES_BT2020, GF_CURVE_PQ);
    source->picture = picture;
}

/* Makes the HDR picture of a source and the JPEG of its gain map. On success *source becomes the
 * HDR picture's source, which owns the other one; else *source is unchanged. */
static GF_CHECKED enum gf_status jpeg_gain_apply(const struct gf_blob *jpeg,
                                                 const struct gf_gain_map_facts *map,
                                                 const struct gf_options *options,
                                                 struct gf_source **source, struct gf_error *error)
{
    GF_NEW(struct hdr_source, opened, error);
    const enum gf_status status = read_map(opened, jpeg, map, *source, options, error);
    if (status) {
        hdr_close(&opened->base);
        return status;
    }
    describe(opened, *source);
    *source = &opened->base;
    return GF_OK;
}

/* Finds the gain map behind a JPEG's end marker. */

/* Reads a picture that the index lists, or its first `most` bytes. The blob is empty if the place
 * is not in the file, or holds no JPEG. */
static enum gf_status read_picture(struct gf_input *input, int64_t offset, int64_t bytes,
                                   int64_t most, struct gf_blob *jpeg, struct gf_error *error)
{
    static const unsigned char begin[] = {0xff, 0xd8, 0xff};
    const int64_t size = gf_input_size(input);
    unsigned char head[sizeof begin];
    size_t got = 0;
    *jpeg = (struct gf_blob){0};
    if (offset <= 0 || offset >= size || bytes <= (int64_t)sizeof begin)
        return GF_OK;
    GF_TRY(gf_input_read_at(input, offset, head, sizeof head, &got, error));
    if (got < sizeof head || memcmp(head, begin, sizeof head) != 0)
        return GF_OK;
    bytes = bytes < size - offset ? bytes : size - offset;
    if (bytes > GF_METADATA_MAX)
        return GF_OK;
    bytes = bytes < most ? bytes : most;
    jpeg->data = malloc((size_t)bytes);
    GF_ALLOCATED(jpeg->data, error);
    return gf_input_read_at(input, offset, jpeg->data, (size_t)bytes, &jpeg->size, error);
}

/* Adds the headroom from the picture's maker note to a gain map of Apple that lacks it. */
static enum gf_status add_headroom(const struct gf_jpeg_source *source, struct gf_blob *jpeg,
                                   struct gf_gain_map_facts *map, const char **why,
                                   struct gf_error *error)
{
    const double headroom =
        map->lacks_headroom ? gf_exif_apple_headroom(&source->base.metadata.exif) : 0;
    if (!headroom)
        return GF_OK;
    GF_ALLOCATED(gf_gain_map_add_headroom(jpeg, headroom), error);
    (void)gf_gain_map_read(jpeg, map, why);
    return GF_OK;
}

/* Finds the gain map among the pictures that the index lists or, without an index, at the end of
 * the file, with the length that the XMP states. Reads at most `most` bytes of it. The caller frees
 * the blob, which is empty if there is none. */
static enum gf_status find_map(const struct gf_jpeg_source *source, int64_t most,
                               struct gf_blob *jpeg, struct gf_gain_map_facts *map,
                               const char **why, struct gf_error *error)
{
    const struct gf_mpf *const mpf = &source->mpf;
    const int listed = mpf->pictures < GF_MPF_LISTED ? mpf->pictures : GF_MPF_LISTED;
    const int64_t behind = gf_xmp_bytes_behind(&source->base.metadata.xmp);
    for (int i = 0; i < listed + !listed; i++) {
        GF_TRY(listed ? read_picture(source->input, source->mpf_place + mpf->picture[i].begin,
                                     mpf->picture[i].bytes, most, jpeg, error)
                      : read_picture(source->input, gf_input_size(source->input) - behind, behind,
                                     most, jpeg, error));
        if (jpeg->size && gf_gain_map_read(jpeg, map, why))
            return add_headroom(source, jpeg, map, why, error);
        free(jpeg->data);
        *jpeg = (struct gf_blob){0};
    }
    *why = mpf->pictures ? "none of the other pictures says that it is the gain map"
                         : "it is not where the file says";
    return GF_OK;
}

static bool has_map(const struct gf_metadata *metadata)
{
    return gf_metadata_kinds(metadata) & GF_KIND_GAIN_MAP || gf_xmp_names_gain_map(&metadata->xmp);
}

/* Notes that the file has a gain map if neither the index nor the XMP says so, as in Apple's files:
 * the gain map's own first marker segments say what it is. */
static enum gf_status note_map(struct gf_source *source, struct gf_error *error)
{
    enum { MARKERS = 64 << 10 };
    struct gf_blob head = {0};
    struct gf_gain_map_facts map;
    const char *why;
    if (has_map(&source->metadata) || !(source->metadata.unread & GF_KIND_PICTURES))
        return GF_OK;
    const enum gf_status status =
        find_map((struct gf_jpeg_source *)source, MARKERS, &head, &map, &why, error);
    source->metadata.unread |= head.size ? GF_KIND_GAIN_MAP : 0;
    free(head.data);
    return status;
}

/* Uses the map as the options say. *why becomes the reason if it cannot be used. */
static enum gf_status use_map(const struct gf_options *options, struct gf_source **source,
                              struct gf_error *why, struct gf_error *error)
{
    struct gf_blob jpeg;
    struct gf_gain_map_facts map;
    const char *reason = NULL;
    enum gf_status status =
        find_map((struct gf_jpeg_source *)*source, INT64_MAX, &jpeg, &map, &reason, error);
    if (!status && reason)
        (void)gf_fail(why, GF_ERROR_INPUT, "%s", reason);
    if (!status && !reason && options->gain_map == GF_GAIN_MAP_KEEP) {
        (*source)->metadata.gain_map = jpeg;
        return GF_OK;
    }
    if (!status && !reason && jpeg_gain_apply(&jpeg, &map, options, source, why) == GF_ERROR_MEMORY)
        status = gf_fail_memory(error);
    free(jpeg.data);
    return status;
}

/* Whether the picture that is read is not the file's main one. */
static bool is_another(const struct gf_input *input)
{
    const int page = gf_input_page(input);
    return gf_input_is_part(input) || (page > 0 && gf_page_kind(page) != GF_PICTURE_MAIN);
}

/* Reads a stream to its end, so that the input has a size and the gain map after the picture can be
 * read. */
static enum gf_status take_whole(struct gf_input *input, const struct gf_options *options,
                                 struct gf_error *error)
{
    struct gf_input_loan loan;
    const enum gf_status status = gf_input_lend(
        input, options->memory_bytes ? options->memory_bytes : SIZE_MAX / 2, &loan, error);
    if (loan.descriptor >= 0)
        close(loan.descriptor);
    return status;
}

enum gf_status gf_jpeg_gain_open(struct gf_input *input, const struct gf_options *options,
                                 struct gf_source **source, struct gf_error *error)
{
    struct gf_error why = {.text = ""};
    enum gf_status status =
        options->gain_map && gf_input_size(input) < 0 ? take_whole(input, options, error) : GF_OK;
    GF_THEN(status, gf_jpeg_source_open(input, options, 0, source, error));
    if (status || is_another(input))
        return status;
    status = note_map(*source, error);
    if (!status && options->gain_map == GF_GAIN_MAP_APPLY && (*source)->coefficients &&
        has_map(&(*source)->metadata))
        status = gf_fail(error, GF_ERROR_UNFIT,
                         "%s: its gain map is applied to pixels, and without loss it has none "
                         "(options.lossless)",
                         gf_input_name(input));
    else if (!status && options->gain_map && has_map(&(*source)->metadata))
        status = use_map(options, source, &why, error);
    if (status) {
        (*source)->close(*source);
        *source = NULL;
    } else if (*why.text) {
        gf_warn(options, "%s: its gain map is left out: %s", gf_input_name(input), why.text);
    }
    return status;
}
