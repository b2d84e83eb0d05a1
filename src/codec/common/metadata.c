#include "codec/common/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "icc/icc_build.h"

void gf_metadata_free(struct gf_metadata *metadata)
{
    free(metadata->icc.data);
    free(metadata->exif.data);
    free(metadata->xmp.data);
    free(metadata->iptc.data);
    free(metadata->palette.data);
    gf_texts_free(&metadata->texts);
    *metadata = (struct gf_metadata){.orientation = 1};
}

static uint32_t get_be(const unsigned char *at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

/* ---- EXIF: a TIFF structure in either byte order ---- */

enum {
    TIFF_HEADER = 8,
    TIFF_ENTRY = 12,
    TIFF_BYTE = 1,
    TIFF_SHORT = 3,
    TIFF_LONG = 4,
    TAG_ORIENTATION = 0x0112,
    TAG_EXIF_DIRECTORY = 0x8769,
    TAG_WIDTH = 0xa002, /* PixelXDimension, which exiftool calls ExifImageWidth */
    TAG_HEIGHT = 0xa003
};

static bool is_tiff(const unsigned char *data, size_t size)
{
    return size >= TIFF_HEADER && (!memcmp(data, "II\x2a\0", 4) || !memcmp(data, "MM\0\x2a", 4));
}

static uint32_t tiff_get(const struct gf_blob *exif, size_t at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) {
        const int place = exif->data[0] == 'M' ? i : bytes - 1 - i;
        value = value << 8 | exif->data[at + (size_t)place];
    }
    return value;
}

static void tiff_put(struct gf_blob *exif, size_t at, int bytes, uint32_t value)
{
    for (int i = 0; i < bytes; i++) {
        const int place = exif->data[0] == 'M' ? bytes - 1 - i : i;
        exif->data[at + (size_t)place] = (unsigned char)(value >> 8 * i);
    }
}

struct directory {
    size_t first; /* offset of the first entry */
    size_t count; /* entries that lie within the block */
    size_t next;  /* offset of the link to the next directory, 0 where that is cut off */
};

static bool read_directory(const struct gf_blob *exif, size_t offset, struct directory *directory)
{
    if (offset < TIFF_HEADER || offset > exif->size - 2)
        return false;
    const size_t count = tiff_get(exif, offset, 2);
    const size_t room = exif->size - offset - 2;
    *directory = (struct directory){.first = offset + 2, .count = count};
    if (count > room / TIFF_ENTRY)
        directory->count = room / TIFF_ENTRY;
    else if (room - count * TIFF_ENTRY >= 4)
        directory->next = directory->first + count * TIFF_ENTRY;
    return true;
}

static bool first_directory(const struct gf_blob *exif, struct directory *directory)
{
    return is_tiff(exif->data, exif->size) && read_directory(exif, tiff_get(exif, 4, 4), directory);
}

/* The offset of a single number's value, and its size in bytes; 0 where the directory has none. */
static size_t find_number(const struct gf_blob *exif, const struct directory *directory,
                          uint32_t tag, int *bytes)
{
    for (size_t i = 0; i < directory->count; i++) {
        const size_t entry = directory->first + i * TIFF_ENTRY;
        if (tiff_get(exif, entry, 2) != tag || tiff_get(exif, entry + 4, 4) != 1)
            continue;
        const uint32_t type = tiff_get(exif, entry + 2, 2);
        *bytes = type == TIFF_SHORT ? 2 : type == TIFF_LONG ? 4 : type == TIFF_BYTE ? 1 : 0;
        return *bytes ? entry + 8 : 0;
    }
    return 0;
}

static size_t find_orientation(const struct gf_blob *exif, int *bytes)
{
    struct directory directory;
    return first_directory(exif, &directory) ? find_number(exif, &directory, TAG_ORIENTATION, bytes)
                                             : 0;
}

int gf_exif_orientation(const struct gf_blob *exif)
{
    int bytes;
    const size_t at = find_orientation(exif, &bytes);
    const uint32_t value = at ? tiff_get(exif, at, bytes) : 1;
    return value >= 1 && value <= 8 ? (int)value : 1;
}

void gf_exif_set_upright(struct gf_blob *exif)
{
    int bytes;
    const size_t at = find_orientation(exif, &bytes);
    if (!at || tiff_get(exif, at, bytes) == 1)
        return;
    tiff_put(exif, at, bytes, 1);
    struct directory directory;
    if (first_directory(exif, &directory) && directory.next)
        tiff_put(exif, directory.next, 4, 0);
}

/* A number that is too large for its type becomes a LONG: the entry has room for one. */
static void set_number(struct gf_blob *exif, const struct directory *directory, uint32_t tag,
                       uint32_t value)
{
    int bytes;
    const size_t at = find_number(exif, directory, tag, &bytes);
    if (!at || tiff_get(exif, at, bytes) == value)
        return;
    if (bytes < 4 && value >> 8 * bytes) {
        tiff_put(exif, at - 6, 2, TIFF_LONG);
        bytes = 4;
    }
    tiff_put(exif, at, bytes, value);
}

void gf_exif_set_size(struct gf_blob *exif, int width, int height)
{
    struct directory directory;
    int bytes;
    const size_t link = first_directory(exif, &directory)
                            ? find_number(exif, &directory, TAG_EXIF_DIRECTORY, &bytes)
                            : 0;
    if (!link || bytes != 4 || !read_directory(exif, tiff_get(exif, link, 4), &directory))
        return;
    set_number(exif, &directory, TAG_WIDTH, (uint32_t)width);
    set_number(exif, &directory, TAG_HEIGHT, (uint32_t)height);
}

void gf_xmp_set_upright(struct gf_blob *xmp)
{
    static const char tag[] = "tiff:Orientation";
    if (!xmp->size)
        return;
    const unsigned char *const end = xmp->data + xmp->size;
    unsigned char *at = xmp->data;
    while ((at = memmem(at, (size_t)(end - at), tag, sizeof tag - 1))) {
        at += sizeof tag - 1;
        /* It stands as ="6" in an attribute, as >6< in an element. */
        if (end - at >= 3 && at[0] == '=' && (at[1] == '"' || at[1] == '\''))
            at++;
        if (end - at >= 3 && memchr("\"'>", at[0], 3) && at[1] >= '1' && at[1] <= '8' &&
            memchr("\"'<", at[2], 3))
            at[1] = '1';
    }
}

bool gf_metadata_add_exif(struct gf_metadata *metadata, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    if (size >= sizeof GF_APP1_EXIF && !memcmp(bytes, GF_APP1_EXIF, sizeof GF_APP1_EXIF)) {
        bytes += sizeof GF_APP1_EXIF;
        size -= sizeof GF_APP1_EXIF;
    }
    if (metadata->exif.size || !is_tiff(bytes, size))
        return true;
    if (!gf_blob_set(&metadata->exif, bytes, size))
        return false;
    metadata->orientation = gf_exif_orientation(&metadata->exif);
    return true;
}

bool gf_metadata_add_exif_box(struct gf_metadata *metadata, const unsigned char *box, size_t size)
{
    if (size < 4)
        return true;
    const size_t offset = get_be(box, 4);
    return offset > size - 4 || gf_metadata_add_exif(metadata, box + 4 + offset, size - 4 - offset);
}

bool gf_metadata_add_app1(struct gf_metadata *metadata, const void *data, size_t size)
{
    if (size >= sizeof GF_APP1_EXIF && !memcmp(data, GF_APP1_EXIF, sizeof GF_APP1_EXIF))
        return gf_metadata_add_exif(metadata, data, size);
    if (metadata->xmp.size || size <= sizeof GF_APP1_XMP ||
        memcmp(data, GF_APP1_XMP, sizeof GF_APP1_XMP) != 0)
        return true;
    return gf_blob_set(&metadata->xmp, (const unsigned char *)data + sizeof GF_APP1_XMP,
                       size - sizeof GF_APP1_XMP);
}

/* ---- IPTC, as Photoshop stores it ---- */

enum { RESOURCE_HEAD = 12, IPTC_RESOURCE = 0x0404, IPTC_TAG = 0x1c };

static size_t even(size_t size)
{
    return size + size % 2;
}

/* Makes the resource of these records. It has no name. */
static bool set_iptc(struct gf_blob *iptc, const unsigned char *records, size_t size)
{
    unsigned char *const resource = calloc(1, RESOURCE_HEAD + even(size));
    if (!resource)
        return false;
    memcpy(resource, "8BIM\4\4\0\0", 8);
    for (int i = 0; i < 4; i++)
        resource[8 + i] = (unsigned char)(size >> (24 - 8 * i));
    memcpy(resource + RESOURCE_HEAD, records, size);
    free(iptc->data);
    *iptc = (struct gf_blob){resource, RESOURCE_HEAD + even(size)};
    return true;
}

bool gf_metadata_add_photoshop(struct gf_metadata *metadata, const void *data, size_t size)
{
    const unsigned char *at = data, *const end = at + size;
    if (metadata->iptc.size || size < RESOURCE_HEAD || size > GF_METADATA_MAX)
        return true;
    if (at[0] == IPTC_TAG)
        return set_iptc(&metadata->iptc, at, size);
    while (end - at >= RESOURCE_HEAD && !memcmp(at, "8BIM", 4)) {
        const size_t name = even((size_t)at[6] + 1); /* with its length */
        if ((size_t)(end - at) < 6 + name + 4)
            break;
        const size_t length = get_be(at + 6 + name, 4);
        const unsigned char *const records = at + 6 + name + 4;
        if (length > (size_t)(end - records))
            break;
        if (get_be(at + 4, 2) == IPTC_RESOURCE)
            return !length || set_iptc(&metadata->iptc, records, length);
        if (even(length) > (size_t)(end - records))
            break;
        at = records + even(length);
    }
    return true;
}

/* ---- ICC ---- */

enum { ICC_PART_HEADER = sizeof GF_APP2_ICC + 2, ICC_COLOUR_SPACE = 16 };

bool gf_icc_parts_add(struct gf_icc_parts *parts, const void *data, size_t size)
{
    const unsigned char *const bytes = data;
    if (size <= ICC_PART_HEADER || memcmp(bytes, GF_APP2_ICC, sizeof GF_APP2_ICC) != 0)
        return true;
    const int number = bytes[ICC_PART_HEADER - 2], count = bytes[ICC_PART_HEADER - 1];
    if (number < 1 || number > count || parts->part[number].size ||
        (parts->count && parts->count != count)) {
        parts->broken = true;
        return true;
    }
    parts->count = count;
    return gf_blob_set(&parts->part[number], bytes + ICC_PART_HEADER, size - ICC_PART_HEADER);
}

bool gf_icc_parts_join(const struct gf_icc_parts *parts, struct gf_blob *icc)
{
    size_t size = 0;
    for (int i = 1; i <= parts->count; i++) {
        if (!parts->part[i].size)
            return true;
        size += parts->part[i].size;
    }
    if (parts->broken || !size)
        return true;
    unsigned char *const joined = malloc(size);
    if (!joined)
        return false;
    size_t at = 0;
    for (int i = 1; i <= parts->count; i++) {
        memcpy(joined + at, parts->part[i].data, parts->part[i].size);
        at += parts->part[i].size;
    }
    free(icc->data);
    *icc = (struct gf_blob){joined, size};
    return true;
}

void gf_icc_parts_free(struct gf_icc_parts *parts)
{
    for (int i = 0; i < 256; i++)
        free(parts->part[i].data);
    *parts = (struct gf_icc_parts){0};
}

/* Whether a profile's colour space is that of the picture. An unknown colour space passes. */
static bool icc_fits(struct gf_icc icc, struct gf_format format)
{
    if (icc.size < ICC_COLOUR_SPACE + 4)
        return true;
    const unsigned char *const space = icc.data + ICC_COLOUR_SPACE;
    const char *const other = gf_colour_channels(format) == 1 ? "RGB " : "GRAY";
    return memcmp(space, other, 4) != 0 && memcmp(space, "CMYK", 4) != 0;
}

struct gf_icc gf_metadata_icc(struct gf_metadata *metadata, struct gf_format format)
{
    const struct gf_icc own = {metadata->icc.data, metadata->icc.size};
    const int channels = gf_colour_channels(format);
    struct gf_icc made = {.data = metadata->made};
    if (!gf_colour_tags_win(&metadata->colour, own.size))
        return gf_icc_fits(own, channels) && gf_icc_is_sound(own) ? own : (struct gf_icc){0};
    made.size = gf_colour_tags_profile(&metadata->colour, channels == 1, metadata->made);
    return made;
}

/* The profile that the output is to have, of what the file said of its colours. */
static bool keep_colours(const struct gf_metadata *metadata, struct gf_format format,
                         bool keep_tags, struct gf_metadata *kept)
{
    unsigned char made[GF_ICC_MADE_MOST];
    const struct gf_icc icc = gf_icc_for((struct gf_icc){metadata->icc.data, metadata->icc.size},
                                         gf_colour_channels(format));
    if (keep_tags)
        kept->colour = metadata->colour;
    else if (gf_colour_tags_win(&metadata->colour, metadata->icc.size)) {
        const size_t size =
            gf_colour_tags_profile(&metadata->colour, gf_colour_channels(format) == 1, made);
        return gf_blob_set(&kept->icc, made, size);
    }
    return !icc_fits(icc, format) || gf_blob_set(&kept->icc, icc.data, icc.size);
}

enum gf_status gf_metadata_for_output(const struct gf_metadata *metadata, struct gf_format format,
                                      bool keep_tags, const struct gf_options *options,
                                      struct gf_metadata *kept, struct gf_error *error)
{
    *kept = (struct gf_metadata){.orientation = 1};
    if (!metadata || options->strip)
        return GF_OK;
    kept->density_x = metadata->density_x;
    kept->density_y = metadata->density_y;
    if (!gf_blob_set(&kept->exif, metadata->exif.data, metadata->exif.size) ||
        !gf_blob_set(&kept->xmp, metadata->xmp.data, metadata->xmp.size) ||
        !gf_blob_set(&kept->iptc, metadata->iptc.data, metadata->iptc.size) ||
        !gf_texts_copy(&kept->texts, &metadata->texts) ||
        !keep_colours(metadata, format, keep_tags, kept)) {
        gf_metadata_free(kept);
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    gf_exif_set_size(&kept->exif, format.width, format.height);
    if (!options->autorotate)
        kept->orientation = metadata->orientation;
    else if (metadata->orientation != 1) {
        gf_exif_set_upright(&kept->exif);
        gf_xmp_set_upright(&kept->xmp);
    }
    return GF_OK;
}
