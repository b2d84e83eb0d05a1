#include "codec/tiff/tiff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/common/checks.h"

static const double inch = 0.0254, centimetre = 0.01;

/* The tags that hold texts, and the PNG keyword for each. */
static const struct {
    uint32_t tag;
    const char *keyword;
} texts[] = {{TIFFTAG_IMAGEDESCRIPTION, "Description"},
             {TIFFTAG_ARTIST, "Author"},
             {TIFFTAG_COPYRIGHT, "Copyright"},
             {TIFFTAG_SOFTWARE, "Software"}};

/* Reads the tag's bytes to *blob, and warns if the file has the tag, but libtiff could not read it.
 * Returns false when out of memory. */
static bool read_blob(const struct gf_tiff_handle *handle, const struct gf_ifd_reader *reader,
                      uint16_t tag, const char *what, const struct gf_options *options,
                      struct gf_blob *blob)
{
    uint32_t size = 0;
    const void *data = NULL;
    if (gf_tiff.TIFFGetField(handle->tiff, tag, &size, &data))
        return !size || size > GF_METADATA_MAX || gf_blob_set(blob, data, size);
    if (gf_ifd_has(reader, gf_tiff.TIFFCurrentDirOffset(handle->tiff), tag))
        gf_warn(options, "%s: its %s is damaged: left out", handle->name, what);
    return true;
}

static bool read_texts(const struct gf_tiff_handle *handle, struct gf_metadata *metadata)
{
    bool left_out = false;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = NULL;
        if (gf_tiff.TIFFGetField(handle->tiff, texts[i].tag, &text) && text && *text &&
            !gf_texts_add_latin1(&metadata->texts, texts[i].keyword, text, strlen(text), &left_out))
            return false;
    }
    return true;
}

static void read_density(const struct gf_tiff_handle *handle, struct gf_metadata *metadata)
{
    float x = 0, y = 0;
    uint16_t unit = RESUNIT_INCH;
    gf_tiff.TIFFGetFieldDefaulted(handle->tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
    if (!gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_XRESOLUTION, &x) ||
        !gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_YRESOLUTION, &y) || !(x > 0 && y > 0))
        return;
    if (unit == RESUNIT_NONE) {
        gf_metadata_set_ratio(metadata, x, y);
        return;
    }
    const double metre = unit == RESUNIT_CENTIMETER ? 1 / centimetre : 1 / inch;
    metadata->density_x = (double)x * metre;
    metadata->density_y = (double)y * metre;
}

/* ---- EXIF, which in a TIFF is part of the file's own directories ---- */

/* Reads IPTC: from Photoshop's resources, or from a tag of its own. Many writers wrongly declare
 * the tag as 4-byte numbers, whose bytes are in the wrong order if a program has changed the file's
 * byte order. */
static bool read_iptc(const struct gf_tiff_handle *handle, const struct gf_ifd_reader *reader,
                      struct gf_metadata *metadata)
{
    enum { IPTC_BEGIN = 0x1c };
    uint32_t size = 0;
    const void *data = NULL;
    struct gf_blob alone;
    if (gf_tiff.TIFFGetField(handle->tiff, TIFFTAG_PHOTOSHOP, &size, &data) && size &&
        !gf_metadata_add_photoshop(metadata, data, size))
        return false;
    if (!gf_ifd_bytes(reader, gf_tiff.TIFFCurrentDirOffset(handle->tiff), TIFFTAG_RICHTIFFIPTC, 0,
                      &alone))
        return false;
    if (alone.size > 3 && alone.data[0] != IPTC_BEGIN && alone.data[3] == IPTC_BEGIN)
        gf_tiff.TIFFSwabArrayOfLong((uint32_t *)(void *)alone.data, (tmsize_t)(alone.size / 4));
    const bool added = gf_metadata_add_photoshop(metadata, alone.data, alone.size);
    free(alone.data);
    return added;
}

static bool set_blob(const struct gf_tiff_handle *handle, uint32_t tag, const struct gf_blob *blob)
{
    return !blob->size || gf_tiff.TIFFSetField(handle->tiff, tag, (uint32_t)blob->size, blob->data);
}

/* Tags of EXIF that libtiff does not know and must be told of. */
static const TIFFFieldInfo fields[] = {
#define SEVERAL(tag, type, name) \
    { \
        tag, TIFF_VARIABLE2, TIFF_VARIABLE2, type, FIELD_CUSTOM, 1, 1, name \
    }
#define NUMBER(tag, name) \
    { \
        tag, 1, 1, TIFF_SHORT, FIELD_CUSTOM, 1, 0, name \
    }
    NUMBER(GF_IFD_RATING, "Rating"),
    NUMBER(GF_IFD_RATING_PERCENT, "RatingPercent"),
    SEVERAL(GF_IFD_XP_TITLE, TIFF_BYTE, "XPTitle"),
    SEVERAL(GF_IFD_XP_TITLE + 1, TIFF_BYTE, "XPComment"),
    SEVERAL(GF_IFD_XP_TITLE + 2, TIFF_BYTE, "XPAuthor"),
    SEVERAL(GF_IFD_XP_TITLE + 3, TIFF_BYTE, "XPKeywords"),
    SEVERAL(GF_IFD_XP_SUBJECT, TIFF_BYTE, "XPSubject"),
    SEVERAL(GF_IFD_PRINT, TIFF_UNDEFINED, "PrintIM")};

/* Whether a tag needs no copy: it describes the samples and where they are, or this file handles it
 * by its name. */
static bool is_of_samples(uint16_t tag)
{
    static const uint16_t ranges[][2] = {
        {0x00fe, 0x010a}, {0x0111, 0x0111}, {0x0115, 0x011c}, {0x011e, 0x0129}, {0x013d, 0x013d},
        {0x0140, 0x0214}, {0x02bc, 0x02bc}, {0x1001, 0x1002}, {0x8000, 0x80ff}, {0x828d, 0x828e},
        {0x830e, 0x830e}, {0x83bb, 0x83bb}, {0x8482, 0x8482}, {0x85d8, 0x85d8}, {0x8649, 0x8649},
        {0x8773, 0x8773}, {0x87af, 0x87b1}, {0xa480, 0xa481}, {0xc612, 0xcfff}, {0xea1c, 0xea1c}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (tag >= ranges[i][0] && tag <= ranges[i][1])
            return true;
    }
    return false;
}

/* Warns of tags in the directory that are kept neither in EXIF nor in a TIFF output, and names
 * them. */
static void warn_of_tags(const struct gf_tiff_handle *handle, const struct gf_ifd_reader *reader,
                         uint64_t directory, const struct gf_options *options)
{
    enum { TAGS_MOST = 64 };
    uint16_t tag[TAGS_MOST];
    char names[400] = "";
    size_t length = 0;
    const size_t count = gf_ifd_tags(reader, directory, tag, TAGS_MOST);
    for (size_t i = 0; i < count && length < sizeof names; i++) {
        const uint16_t *listed = gf_exif_tags_in_tiff;
        while (*listed && *listed != tag[i])
            listed++;
        if (*listed || is_of_samples(tag[i]))
            continue;
        const TIFFField *const field = gf_tiff.TIFFFindField(handle->tiff, tag[i], TIFF_ANY);
        const char *const comma = length ? ", " : "";
        length += (size_t)(field ? snprintf(names + length, sizeof names - length, "%s%s", comma,
                                            gf_tiff.TIFFFieldName(field))
                                 : snprintf(names + length, sizeof names - length, "%sTag %u",
                                            comma, tag[i]));
    }
    if (*names && !(gf_kinds_unwanted(options) & GF_KIND_EXIF))
        gf_warn(options, "%s: tags are left out: %s", handle->name, names);
}

/* Sets a tag of the TIFF to its value in EXIF, if EXIF has the tag. */
static bool set_tag(const struct gf_tiff_handle *handle, const struct gf_ifd_reader *reader,
                    uint64_t directory, uint16_t tag)
{
    const TIFFDataType type =
        gf_tiff.TIFFFieldDataType(gf_tiff.TIFFFindField(handle->tiff, tag, TIFF_ANY));
    struct gf_blob bytes = {0};
    uint64_t number;
    bool done = true;
    if (type == TIFF_ASCII) {
        char *const text = gf_ifd_text(reader, directory, tag);
        done = !text || !*text || gf_tiff.TIFFSetField(handle->tiff, tag, text);
        free(text);
    } else if (type == TIFF_SHORT && gf_ifd_numbers(reader, directory, tag, &number, 1))
        done = gf_tiff.TIFFSetField(handle->tiff, tag, (int)number);
    else if (type == TIFF_BYTE || type == TIFF_UNDEFINED)
        done = gf_ifd_bytes(reader, directory, tag, 0, &bytes) && set_blob(handle, tag, &bytes);
    free(bytes.data);
    return done;
}

/* Appends the directories of EXIF to the file, and sets the tags that refer to them. */
static bool write_exif(struct gf_tiff_handle *handle, const struct gf_metadata *metadata,
                       const struct gf_options *options)
{
    static const uint16_t links[] = {GF_IFD_EXIF, GF_IFD_GPS};
    uint64_t first;
    const struct gf_ifd_reader reader = gf_exif_reader(&metadata->exif, &first);
    if (!first)
        return true;
    struct gf_output *const output = handle->exif ? handle->exif : handle->output;
    struct gf_ifd_writer writer = {.base = (uint64_t)(gf_output_size(output) + handle->exif_at),
                                   .big_endian = gf_tiff.TIFFIsBigEndian(handle->tiff),
                                   .big_tiff = gf_tiff.TIFFIsBigTIFF(handle->tiff)};
    (void)gf_tiff.TIFFMergeFieldInfo(handle->tiff, fields, sizeof fields / sizeof *fields);
    gf_ifd_keep_note(&reader, first, &writer);
    bool done = true;
    for (int i = 0; i < 2; i++) {
        const uint64_t from = gf_ifd_link(&reader, first, links[i]);
        const uint64_t copy = from ? gf_ifd_copy(&reader, from, NULL, &writer) : 0;
        done &= !copy || gf_tiff.TIFFSetField(handle->tiff, links[i], copy);
    }
    for (int i = 0; done && gf_exif_tags_in_tiff[i]; i++)
        done = set_tag(handle, &reader, first, gf_exif_tags_in_tiff[i]);
    gf_warn_of_note(&writer, handle->name, options);
    warn_of_tags(handle, &reader, first, options);
    if (done && writer.bytes.size && !writer.out_of_memory)
        done = !gf_output_write(output, writer.bytes.data, writer.bytes.size, &handle->error);
    free(writer.bytes.data);
    return done && !writer.out_of_memory;
}

/* The tags gf_geo_tags. */
static const TIFFFieldInfo geo_fields[] = {
#define TEXT(tag, name) \
    { \
        tag, TIFF_VARIABLE, TIFF_VARIABLE, TIFF_ASCII, FIELD_CUSTOM, 1, 0, name \
    }
    SEVERAL(33550, TIFF_DOUBLE, "ModelPixelScale"),
    SEVERAL(33922, TIFF_DOUBLE, "ModelTiepoint"),
    SEVERAL(34264, TIFF_DOUBLE, "ModelTransformation"),
    SEVERAL(34735, TIFF_SHORT, "GeoKeyDirectory"),
    SEVERAL(34736, TIFF_DOUBLE, "GeoDoubleParams"),
    TEXT(34737, "GeoAsciiParams"),
    TEXT(42112, "GDAL_METADATA"),
    TEXT(42113, "GDAL_NODATA")};

/* Sets GeoTIFF's tags. One that has another type than it should is left out. */
static bool set_geo(const struct gf_tiff_handle *handle, const struct gf_blob *geo)
{
    enum { FIELDS = sizeof geo_fields / sizeof *geo_fields };
    uint64_t first;
    const struct gf_ifd_reader reader = gf_exif_reader(geo, &first);
    bool done = true;
    if (first)
        (void)gf_tiff.TIFFMergeFieldInfo(handle->tiff, geo_fields, FIELDS);
    for (int i = 0; first && done && i < FIELDS; i++) {
        const uint16_t tag = (uint16_t)geo_fields[i].field_tag;
        const TIFFDataType type = geo_fields[i].field_type;
        struct gf_blob value = {0};
        char *const text = type == TIFF_ASCII ? gf_ifd_text(&reader, first, tag) : NULL;
        if (text)
            done = gf_tiff.TIFFSetField(handle->tiff, tag, text);
        else
            done = gf_ifd_bytes(&reader, first, tag, (int)type, &value);
        value.size /= type == TIFF_SHORT ? sizeof(uint16_t) : sizeof(double);
        done = done && (type == TIFF_ASCII || set_blob(handle, tag, &value));
        free(text);
        free(value.data);
    }
    return done;
}

bool gf_tiff_read_metadata(const struct gf_tiff_handle *handle, const struct gf_options *options,
                           struct gf_metadata *metadata)
{
    uint64_t first;
    const struct gf_ifd_reader reader = gf_ifd_reader_of(handle->input, &first);
    const uint64_t directory = gf_tiff.TIFFCurrentDirOffset(handle->tiff);
    /* The orientation is read without libtiff, which ignores the tag if it has several numbers. */
    const uint64_t orientation = gf_ifd_link(&reader, directory, GF_IFD_ORIENTATION);
    read_density(handle, metadata);
    warn_of_tags(handle, &reader, directory, options);
    if (!read_blob(handle, &reader, TIFFTAG_ICCPROFILE, "ICC profile", options, &metadata->icc) ||
        !read_blob(handle, &reader, TIFFTAG_XMLPACKET, "XMP", options, &metadata->xmp) ||
        !read_iptc(handle, &reader, metadata) ||
        !gf_metadata_add_exif_in_tiff(metadata, &reader, directory, handle->name, options) ||
        !gf_metadata_add_geo(metadata, &reader, directory) ||
        (!metadata->exif.size && !read_texts(handle, metadata)))
        return false;
    metadata->orientation = orientation >= 1 && orientation <= 8 ? (int)orientation : 1;
    return true;
}

/* Sets the tag of IPTC. libtiff before 4.5 wants the bytes as numbers of 4 bytes. */
static bool set_iptc(const struct gf_tiff_handle *handle, const struct gf_blob *iptc)
{
    const struct gf_blob records = gf_iptc_records(iptc);
    const TIFFField *const field = gf_tiff.TIFFFieldWithTag(handle->tiff, TIFFTAG_RICHTIFFIPTC);
    const bool numbers = field && gf_tiff.TIFFFieldDataType(field) == TIFF_LONG;
    const uint32_t count = (uint32_t)(numbers ? (records.size + 3) / 4 : records.size);
    void *const padded = records.size ? calloc(records.size + 3, 1) : NULL;
    if (padded)
        memcpy(padded, records.data, records.size);
    const bool done =
        !records.size ||
        (padded && gf_tiff.TIFFSetField(handle->tiff, TIFFTAG_RICHTIFFIPTC, count, padded));
    free(padded);
    return done;
}

static bool set_density(const struct gf_tiff_handle *handle, const struct gf_metadata *metadata)
{
    const struct gf_exif_facts exif = gf_exif_read(&metadata->exif);
    /* 72 dots per inch are JFIF's value for "unknown", so that EXIF's density counts instead if it
     * has one. */
    const bool own = metadata->density_x > 0 && metadata->density_y > 0 &&
                     !(exif.density_x > 0 && fabs(metadata->density_x * inch - 72) < 0.1);
    const double x = own ? metadata->density_x : exif.density_x,
                 y = own ? metadata->density_y : exif.density_y;
    if (!(x > 0 && y > 0))
        return true;
    const bool ratio = own && metadata->density_is_ratio;
    const double unit = ratio ? 1 : inch;
    return gf_tiff.TIFFSetField(handle->tiff, TIFFTAG_RESOLUTIONUNIT,
                                ratio ? RESUNIT_NONE : RESUNIT_INCH) &&
           gf_tiff.TIFFSetField(handle->tiff, TIFFTAG_XRESOLUTION, x * unit) &&
           gf_tiff.TIFFSetField(handle->tiff, TIFFTAG_YRESOLUTION, y * unit);
}

/* Whether EXIF, which is written after the texts, has that tag with another text. */
static bool exif_says_otherwise(const struct gf_metadata *metadata, uint32_t tag, const char *text)
{
    uint64_t first;
    const struct gf_ifd_reader reader = gf_exif_reader(&metadata->exif, &first);
    char *const said = first ? gf_ifd_text(&reader, first, (uint16_t)tag) : NULL;
    const bool other = said && *said && strcmp(said, text) != 0;
    free(said);
    return other;
}

/* Sets the tags of texts. Only the first text for each tag is kept; a comment counts as a
 * description. */
static bool set_texts(const struct gf_tiff_handle *handle, const struct gf_metadata *metadata,
                      const struct gf_options *options)
{
    enum { TAGS = sizeof texts / sizeof *texts };
    bool set[TAGS] = {0};
    int left_out = 0;
    for (int i = 0; i < metadata->texts.count; i++) {
        const struct gf_text *const text = &metadata->texts.item[i];
        const char *const keyword =
            gf_text_is_comment(text) ? texts[0].keyword : (const char *)text->head.data;
        int k = 0;
        while (k < TAGS && strcmp(keyword, texts[k].keyword) != 0)
            k++;
        if (k == TAGS || set[k]) {
            left_out++;
            continue;
        }
        char *const value = strndup((const char *)text->text.data, text->text.size);
        left_out += value && exif_says_otherwise(metadata, texts[k].tag, value);
        set[k] = value && gf_tiff.TIFFSetField(handle->tiff, texts[k].tag, value);
        free(value);
        if (!set[k])
            return false;
    }
    if (left_out)
        gf_warn(options,
                "%s: TIFF has one %s, %s, %s and %s: %d more texts or comments are left out",
                handle->name, texts[0].keyword, texts[1].keyword, texts[2].keyword,
                texts[3].keyword, left_out);
    return true;
}

enum gf_status gf_tiff_write_metadata(struct gf_tiff_handle *handle,
                                      const struct gf_metadata *metadata,
                                      const struct gf_options *options, struct gf_error *error)
{
    const bool done =
        set_density(handle, metadata) && set_texts(handle, metadata, options) &&
        write_exif(handle, metadata, options) && set_geo(handle, &metadata->geo) &&
        set_blob(handle, TIFFTAG_ICCPROFILE, &metadata->icc) &&
        set_blob(handle, TIFFTAG_XMLPACKET, &metadata->xmp) && set_iptc(handle, &metadata->iptc) &&
        gf_tiff.TIFFSetField(handle->tiff, TIFFTAG_ORIENTATION, metadata->orientation);
    return done ? GF_OK : gf_tiff_fail(handle, -1, 0, error);
}
