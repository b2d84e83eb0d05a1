#include "codec/jp2/jp2_header.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"

/* A part of the file that is read from its beginning. */
struct box {
    char type[5];
    const unsigned char *data;
    size_t size;
};

/* Takes the next box of `all`. Returns false at the end, or if the box does not fit. A box without
 * a size, which the last one may be, goes to the end. */
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

/* Reads the number of a colour space, or an ICC profile. Of several boxes the first counts. */
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

/* Finds the channels of the colours and of alpha. */
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

/* Returns pixels per metre of a numerator, a denominator and an exponent; 0 if they are none. */
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
    /* The box of a codestream whose end is missing does not fit. */
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

/* Returns how many of the channels are colours, and sets the colour space of a codestream without
 * boxes: it is YCbCr if chroma is subsampled. */
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

/* Chooses the channels that are read: the first colours, and alpha, which a single channel behind
 * the colours is also where no box says so. */
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
    const char *why = gf_jp2_read_markers(header);
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
