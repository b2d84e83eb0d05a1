/* Collects the metadata of a picture for readers, and keeps or strips it for an output. */
#include "codec/common/metadata/metadata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/gain_map.h"
#include "icc/icc_build.h"

enum { TAGS_MOST = 3, ALL = (1 << GF_METADATA_ITEMS) - 1 };

/* Where each item that --strip and --keep name is found in the metadata. */
static const struct rule {
    unsigned kinds;                /* kinds that are the item as a whole (enum gf_metadata_kind) */
    uint16_t tags[TAGS_MOST + 1];  /* the item's tags in EXIF's first directory; 0 at the end */
    const struct gf_xmp_name *xmp; /* the item's properties in XMP; or NULL */
    const char *keyword;           /* the beginning of a text's keyword behind a prefix such as
                                    * "exif:", by which ImageMagick copies EXIF and XMP; or NULL */
    int dataset;                   /* the item's dataset in IPTC's record 2; or 0 */
} rules[] = {
#define GF_METADATA_ITEM(id, word, ...) [GF_METADATA_##id] = {__VA_ARGS__},
#include "codec/common/items.def"
};
_Static_assert(sizeof rules / sizeof *rules == GF_METADATA_ITEMS, "items.def has all items");

static bool has(uint64_t set, int item)
{
    return set >> item & 1;
}

bool gf_strips(const struct gf_options *options, enum gf_metadata_item item)
{
    return options->strip ||
           (has(options->stripped, (int)item) && (options->stripped != ALL || !options->kept));
}

bool gf_keeps(const struct gf_options *options, enum gf_metadata_item item)
{
    const bool with_exif = item == GF_METADATA_ORIENTATION && has(options->kept, GF_METADATA_EXIF);
    return !gf_strips(options, item) &&
           (!options->kept || has(options->kept, (int)item) || with_exif);
}

static bool has_app1(const struct gf_blob *blob)
{
    return blob->size && (memmem(blob->data, blob->size, GF_APP1_EXIF, sizeof GF_APP1_EXIF) ||
                          memmem(blob->data, blob->size, GF_APP1_XMP, sizeof GF_APP1_XMP));
}

/* Whether the thumbnails are stripped: the user names them, or one is a JPEG with EXIF or XMP of
 * its own, which may repeat the place or the copyright that is stripped. */
static bool strips_thumbnails(const struct gf_metadata *metadata, const struct gf_options *options)
{
    const bool strips_within =
        gf_strips(options, GF_METADATA_GPS) || gf_strips(options, GF_METADATA_COPYRIGHT);
    return gf_strips(options, GF_METADATA_THUMBNAILS) ||
           (strips_within && (has_app1(&metadata->exif) || has_app1(&metadata->iptc)));
}

bool gf_converts_for_output(const struct gf_options *options)
{
    return !options->strip && !gf_keeps(options, GF_METADATA_ICC) && !options->lossless &&
           gf_icc_available();
}

unsigned gf_kinds_unwanted(const struct gf_options *options)
{
    const bool most = options->strip || options->kept || options->stripped == ALL;
    const bool named = options->stripped != ALL && has(options->stripped, GF_METADATA_ORIENTATION);
    unsigned wanted = 0, unwanted = 0;
    for (int i = 0; i < GF_METADATA_ITEMS; i++) {
        if (gf_keeps(options, (enum gf_metadata_item)i))
            wanted |= rules[i].kinds;
        else
            unwanted |= rules[i].kinds;
    }
    return most ? ~wanted & ~(named ? 0u : GF_KIND_ORIENTATION) : unwanted;
}

/* Whether the text, by its keyword, belongs to an item that is kept by name, or, if `strip` is set,
 * to one that is stripped. */
static bool is_covered(const struct gf_text *text, const struct gf_options *options, bool strip)
{
    const char *const whole = text->head.size ? (const char *)text->head.data : "",
                      *const prefix = strrchr(whole, ':'),
                      *const keyword = prefix ? prefix + 1 : whole;
    for (int i = 0; i < GF_METADATA_ITEMS; i++) {
        const char *const begin = rules[i].keyword;
        const bool counts =
            strip ? gf_strips(options, (enum gf_metadata_item)i) : has(options->kept, i);
        if (counts && begin && !strncasecmp(keyword, begin, strlen(begin)))
            return true;
    }
    return false;
}

static bool keeps_text(const struct gf_text *text, const struct gf_options *options)
{
    const enum gf_metadata_item item =
        gf_text_is_comment(text) ? GF_METADATA_COMMENTS : GF_METADATA_TEXTS;
    return !is_covered(text, options, true) &&
           (gf_keeps(options, item) || is_covered(text, options, false));
}

static void strip_texts(struct gf_texts *texts, const struct gf_options *options)
{
    int count = 0;
    for (int i = 0; i < texts->count; i++) {
        if (keeps_text(&texts->item[i], options))
            texts->item[count++] = texts->item[i];
        else
            gf_text_free(&texts->item[i]);
    }
    texts->count = count;
}

/* Removes everything from EXIF except the items that --keep names. Returns false when out of
 * memory. */
static bool strip_exif(struct gf_blob *exif, const struct gf_options *options)
{
    uint16_t tags[GF_METADATA_ITEMS * TAGS_MOST + 1] = {0};
    size_t count = 0;
    for (int i = 0; i < GF_METADATA_ITEMS; i++) {
        const bool kept = options->kept && gf_keeps(options, (enum gf_metadata_item)i);
        for (const uint16_t *tag = rules[i].tags; kept && *tag; tag++)
            tags[count++] = *tag;
    }
    return gf_exif_keep_only(exif, tags);
}

bool gf_metadata_strip(struct gf_metadata *metadata, const struct gf_options *options)
{
    for (int i = 0; i < GF_METADATA_ITEMS; i++) {
        const struct rule *const rule = &rules[i];
        if (!gf_strips(options, (enum gf_metadata_item)i))
            continue;
        gf_exif_remove(&metadata->exif, rule->tags);
        if (rule->xmp && !gf_xmp_remove(&metadata->xmp, rule->xmp))
            metadata->xmp.size = 0;
        if (rule->dataset)
            gf_iptc_remove(&metadata->iptc, rule->dataset, rule->dataset);
    }
    strip_texts(&metadata->texts, options);
    if (!gf_keeps(options, GF_METADATA_XMP))
        metadata->xmp.size = 0;
    if (!gf_keeps(options, GF_METADATA_IPTC))
        metadata->iptc.size = 0;
    if (!gf_keeps(options, GF_METADATA_DENSITY)) {
        metadata->density_x = metadata->density_y = 0;
        metadata->density_is_ratio = false;
    }
    return gf_keeps(options, GF_METADATA_EXIF) || strip_exif(&metadata->exif, options);
}

const struct gf_metadata gf_no_metadata = {.orientation = 1};

void gf_metadata_free(struct gf_metadata *metadata)
{
    free(metadata->icc.data);
    free(metadata->exif.data);
    free(metadata->xmp.data);
    free(metadata->iptc.data);
    free(metadata->palette.data);
    free(metadata->y4m.data);
    free(metadata->gain_map.data);
    free(metadata->geo.data);
    gf_texts_free(&metadata->texts);
    *metadata = (struct gf_metadata){.orientation = 1};
}

static bool has_density(const struct gf_metadata *metadata)
{
    const double unknown = 72 / 0.0254;
    return metadata->density_x > 0 && metadata->density_y > 0 && !metadata->density_is_ratio &&
           !gf_exif_has_density(&metadata->exif) &&
           (fabs(metadata->density_x - unknown) > 1 || fabs(metadata->density_y - unknown) > 1);
}

unsigned gf_metadata_kinds(const struct gf_metadata *metadata)
{
    unsigned kinds = metadata->unread;
    kinds |= metadata->icc.size ? GF_KIND_ICC : 0;
    kinds |= metadata->exif.size ? GF_KIND_EXIF : 0;
    kinds |= metadata->xmp.size ? GF_KIND_XMP : 0;
    kinds |= metadata->iptc.size ? GF_KIND_IPTC : 0;
    for (int i = 0; i < metadata->texts.count; i++)
        kinds |= gf_text_is_comment(&metadata->texts.item[i]) ? GF_KIND_COMMENTS : GF_KIND_TEXTS;
    kinds |= metadata->gain_map.size ? GF_KIND_GAIN_MAP : 0;
    kinds |= metadata->geo.size ? GF_KIND_GEO : 0;
    kinds |= has_density(metadata) ? GF_KIND_DENSITY : 0;
    kinds |= metadata->density_is_ratio ? GF_KIND_ASPECT : 0;
    kinds |= metadata->orientation > 1 ? GF_KIND_ORIENTATION : 0;
    kinds |= metadata->colour.has_clli ? GF_KIND_LIGHT : 0;
    kinds |= metadata->colour.has_mdcv ? GF_KIND_MASTERING : 0;
    if (kinds & GF_KIND_PICTURES && gf_xmp_names_gain_map(&metadata->xmp))
        kinds |= GF_KIND_GAIN_MAP;
    return kinds & GF_KIND_GAIN_MAP ? kinds & ~(unsigned)GF_KIND_PICTURES : kinds;
}

void gf_metadata_set_ratio(struct gf_metadata *metadata, double across, double down)
{
    if (!(across > 0 && down > 0) || across == down)
        return;
    metadata->density_x = across;
    metadata->density_y = down;
    metadata->density_is_ratio = true;
}

void gf_metadata_ratio(const struct gf_metadata *metadata, double most, uint32_t *across,
                       uint32_t *down)
{
    const double x = metadata->density_x, y = metadata->density_y, larger = fmax(x, y),
                 whole = x == nearbyint(x) && y == nearbyint(y) && larger <= most,
                 scale = whole ? 1 : fmin(most, 10000) / larger;
    *across = (uint32_t)fmax(nearbyint(x * scale), 1);
    *down = (uint32_t)fmax(nearbyint(y * scale), 1);
}

bool gf_metadata_add_exif(struct gf_metadata *metadata, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    if (size >= sizeof GF_APP1_EXIF && !memcmp(bytes, GF_APP1_EXIF, sizeof GF_APP1_EXIF)) {
        bytes += sizeof GF_APP1_EXIF;
        size -= sizeof GF_APP1_EXIF;
    }
    if (metadata->exif.size || !gf_exif_begins(bytes, size))
        return true;
    if (!gf_blob_set(&metadata->exif, bytes, size))
        return false;
    metadata->orientation = gf_exif_orientation(&metadata->exif);
    return true;
}

/* A TIFF that has only the first 5 of these tags, or an orientation of 1, yields no EXIF. */
enum { EXIF_LESS_WORTH = 5 };
const uint16_t gf_exif_tags_in_tiff[] = {GF_IFD_DESCRIPTION,
                                         GF_IFD_SOFTWARE,
                                         GF_IFD_ARTIST,
                                         GF_IFD_COPYRIGHT,
                                         GF_IFD_ORIENTATION,
                                         GF_IFD_DOCUMENT,
                                         GF_IFD_MAKE,
                                         GF_IFD_MODEL,
                                         GF_IFD_PAGE,
                                         GF_IFD_TIME,
                                         GF_IFD_COMPUTER,
                                         GF_IFD_RATING,
                                         GF_IFD_RATING_PERCENT,
                                         GF_IFD_EXIF,
                                         GF_IFD_GPS,
                                         GF_IFD_XP_TITLE,
                                         GF_IFD_XP_TITLE + 1,
                                         GF_IFD_XP_TITLE + 2,
                                         GF_IFD_XP_TITLE + 3,
                                         GF_IFD_XP_SUBJECT,
                                         GF_IFD_PRINT,
                                         0};

/* Whether a TIFF's directory has a tag without which its EXIF is not worth keeping. */
static bool tells_something(const struct gf_ifd_reader *reader, uint64_t directory)
{
    bool tells = gf_ifd_link(reader, directory, GF_IFD_ORIENTATION) > 1;
    for (const uint16_t *tag = gf_exif_tags_in_tiff + EXIF_LESS_WORTH; !tells && *tag; tag++)
        tells = gf_ifd_has(reader, directory, *tag);
    return tells;
}

void gf_warn_of_note(const struct gf_ifd_writer *writer, const char *name,
                     const struct gf_options *options)
{
    if (writer->note_left_out && !(gf_kinds_unwanted(options) & GF_KIND_EXIF))
        gf_warn(options,
                "%s: the maker's note is left out: it is right only where it was in the file",
                name);
}

/* Appends a TIFF's header and a copy of the directory, of the wanted tags alone, to the writer.
 * Returns whether there is such a copy, which is not too large. */
static bool copy_tags(const struct gf_ifd_reader *reader, uint64_t directory,
                      const uint16_t *wanted, struct gf_ifd_writer *writer)
{
    static const unsigned char headers[2][8] = {{'I', 'I', 42, 0}, {'M', 'M', 0, 42}};
    if (!gf_blob_set(&writer->bytes, headers[writer->big_endian], sizeof *headers)) {
        writer->out_of_memory = true;
        return false;
    }
    gf_ifd_keep_note(reader, directory, writer);
    const uint64_t first = gf_ifd_copy(reader, directory, wanted, writer);
    for (int i = 0; first && i < 4; i++)
        writer->bytes.data[writer->big_endian ? 7 - i : 4 + i] = (unsigned char)(first >> 8 * i);
    return first && !writer->out_of_memory && writer->bytes.size <= GF_METADATA_MAX;
}

bool gf_metadata_add_exif_in_tiff(struct gf_metadata *metadata, const struct gf_ifd_reader *reader,
                                  uint64_t directory, const char *name,
                                  const struct gf_options *options)
{
    struct gf_ifd_writer writer = {.big_endian = reader->big_endian};
    bool done = true;
    if (!tells_something(reader, directory))
        return true;
    if (copy_tags(reader, directory, gf_exif_tags_in_tiff, &writer)) {
        gf_warn_of_note(&writer, name, options);
        done = gf_metadata_add_exif(metadata, writer.bytes.data, writer.bytes.size);
    }
    free(writer.bytes.data);
    return done && !writer.out_of_memory;
}

const uint16_t gf_geo_tags[] = {33550, 33922, 34264, 34735, 34736, 34737, 42112, 42113, 0};

bool gf_metadata_add_geo(struct gf_metadata *metadata, const struct gf_ifd_reader *reader,
                         uint64_t directory)
{
    struct gf_ifd_writer writer = {.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__};
    const bool done = !copy_tags(reader, directory, gf_geo_tags, &writer) ||
                      gf_blob_set(&metadata->geo, writer.bytes.data, writer.bytes.size);
    free(writer.bytes.data);
    return done && !writer.out_of_memory;
}

bool gf_metadata_add_exif_box(struct gf_metadata *metadata, const unsigned char *box, size_t size)
{
    if (size < 4)
        return true;
    const size_t offset = gf_get_be(box, 4);
    return offset > size - 4 || gf_metadata_add_exif(metadata, box + 4 + offset, size - 4 - offset);
}

bool gf_metadata_add_app1(struct gf_metadata *metadata, const void *data, size_t size)
{
    static const char app1_extension[] = "http://ns.adobe.com/xmp/extension/";
    if (size >= sizeof GF_APP1_EXIF && !memcmp(data, GF_APP1_EXIF, sizeof GF_APP1_EXIF))
        return gf_metadata_add_exif(metadata, data, size);
    if (size >= sizeof app1_extension && !memcmp(data, app1_extension, sizeof app1_extension))
        metadata->unread |= GF_KIND_EXTENDED_XMP;
    if (metadata->xmp.size || size <= sizeof GF_APP1_XMP ||
        memcmp(data, GF_APP1_XMP, sizeof GF_APP1_XMP) != 0)
        return true;
    return gf_blob_set(&metadata->xmp, (const unsigned char *)data + sizeof GF_APP1_XMP,
                       size - sizeof GF_APP1_XMP);
}

void gf_metadata_note_app2(struct gf_metadata *metadata, const void *data, size_t size)
{
    struct gf_mpf mpf;
    if (gf_mpf_read(data, size, -1, &mpf) && mpf.pictures)
        metadata->unread |= GF_KIND_PICTURES;
    if (size >= sizeof GF_APP2_GAIN_MAP && !memcmp(data, GF_APP2_GAIN_MAP, sizeof GF_APP2_GAIN_MAP))
        metadata->unread |= GF_KIND_GAIN_MAP;
}

unsigned gf_auxiliary_kind(const char *type, size_t length)
{
    static const struct {
        const char *end;
        unsigned kind;
    } ends[] = {{":alpha", 0},
                {":auxid:1", 0},
                {":depth", GF_KIND_DEPTH},
                {":auxid:2", GF_KIND_DEPTH},
                {":hdrgainmap", GF_KIND_GAIN_MAP}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t size = strlen(ends[i].end);
        if (size <= length && !memcmp(type + length - size, ends[i].end, size))
            return ends[i].kind;
    }
    return GF_KIND_AUXILIARY;
}

/* Notes auxiliary pictures. A brand in the first box announces a gain map of the ISO standard. The
 * types of other auxiliary pictures are in boxes before the pixels. */
void gf_metadata_note_heif(struct gf_metadata *metadata, const struct gf_blob *file)
{
    enum { BOXES_MOST = 64 << 10, TYPE_HEAD = 8 };
    const size_t brands = file->size < 4 ? 0 : gf_get_be(file->data, 4);
    const size_t boxes = file->size < BOXES_MOST ? file->size : BOXES_MOST;
    const unsigned char *at = file->data, *const end = boxes ? at + boxes : at;
    if (brands < boxes && memmem(file->data, brands, "tmap", 4))
        metadata->unread |= GF_KIND_GAIN_MAP;
    while (boxes && (at = memmem(at, (size_t)(end - at), "auxC\0\0\0", TYPE_HEAD))) {
        const char *const type = (const char *)(at += TYPE_HEAD);
        metadata->unread |= gf_auxiliary_kind(type, strnlen(type, (size_t)(end - at)));
    }
    gf_colour_tags_add_heif(&metadata->colour, file->data, boxes);
}

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

/* Whether a profile describes gray for a gray picture and RGB for others. Profiles of unknown
 * colour spaces pass. */
static bool icc_fits(struct gf_icc icc, struct gf_format format)
{
    if (icc.size < ICC_COLOUR_SPACE + 4)
        return true;
    const unsigned char *const space = icc.data + ICC_COLOUR_SPACE;
    const char *const other = gf_colour_channels(format) == 1 ? "RGB " : "GRAY";
    return memcmp(space, other, 4) != 0 && memcmp(space, "CMYK", 4) != 0;
}

struct gf_icc gf_metadata_icc(struct gf_metadata *metadata, struct gf_format format,
                              const struct gf_options *options)
{
    const struct gf_icc own = {.data = metadata->icc.data,
                               .size = metadata->icc.size,
                               .sandbox = options->sandbox,
                               .sandbox_program = options->sandbox_program};
    const int channels = gf_colour_channels(format);
    struct gf_icc made = {.data = metadata->made};
    char text[GF_COLOURS_TEXT_SIZE];
    if (!gf_colour_tags_win(&metadata->colour, own.size))
        return gf_icc_fits(own, channels) && gf_icc_is_sound(own) ? own : (struct gf_icc){0};
    made.unsaid = gf_colour_tags_unsaid(&metadata->colour, own.size, text);
    made.peak = gf_colour_tags_peak(&metadata->colour);
    if (made.unsaid)
        gf_colour_tags_hdr(&metadata->colour, made.hdr);
    else
        made.size = gf_colour_tags_profile(&metadata->colour, channels == 1, metadata->made);
    return made;
}

bool gf_metadata_is_srgb(const struct gf_metadata *metadata, struct gf_format format,
                         const struct gf_options *options)
{
    struct gf_metadata stated = *metadata; /* a copy whose blobs still belong to `metadata` */
    const struct gf_icc icc = gf_metadata_icc(&stated, format, options);
    return !icc.unsaid && gf_icc_is_srgb(icc, gf_colour_channels(format));
}

/* Sets the ICC profile of the output from the input's profile or its colour tags. */
static bool keep_colours(const struct gf_metadata *metadata, struct gf_format format,
                         enum gf_tags_room room, struct gf_metadata *kept)
{
    unsigned char made[GF_ICC_MADE_MOST];
    const struct gf_icc icc =
        gf_icc_for((struct gf_icc){.data = metadata->icc.data, .size = metadata->icc.size},
                   gf_colour_channels(format));
    if (room == GF_TAGS_ALL)
        kept->colour = metadata->colour;
    else if (gf_colour_tags_win(&metadata->colour, metadata->icc.size)) {
        if (gf_colour_tags_keep_cicp(&metadata->colour, room, &kept->colour))
            return true;
        /* JPEG XL's writer says linear light of floats, too, beside the profile. */
        if (room == GF_TAGS_HDR && gf_is_float(format))
            kept->colour = metadata->colour;
        const size_t size =
            gf_colour_tags_profile(&metadata->colour, gf_colour_channels(format) == 1, made);
        if (size)
            return gf_blob_set(&kept->icc, made, size);
    }
    return !(metadata->inks || icc_fits(icc, format)) ||
           gf_blob_set(&kept->icc, icc.data, icc.size);
}

/* Makes XMP state the output's size and orientation if it states them. */
static bool set_xmp_geometry(struct gf_blob *xmp, struct gf_format format, int orientation)
{
    return gf_xmp_set_number(xmp, "tiff:Orientation", orientation) &&
           gf_xmp_set_number(xmp, "tiff:ImageWidth", format.width) &&
           gf_xmp_set_number(xmp, "tiff:ImageLength", format.height) &&
           gf_xmp_set_number(xmp, "exif:PixelXDimension", format.width) &&
           gf_xmp_set_number(xmp, "exif:PixelYDimension", format.height);
}

enum gf_status gf_metadata_for_output(const struct gf_metadata *metadata, struct gf_format format,
                                      enum gf_tags_room room, const struct gf_options *options,
                                      struct gf_metadata *kept, struct gf_error *error)
{
    /* Datasets of IPTC for small previews, which are removed. */
    enum { PREVIEW = 200, PREVIEW_END = 202 };
    *kept = (struct gf_metadata){.orientation = 1, .inks = metadata && metadata->inks};
    if (!metadata || options->strip) {
        if (gf_metadata_set(kept, options->set))
            return GF_OK;
        gf_metadata_free(kept);
        return gf_fail_memory(error);
    }
    const bool turned = !options->autorotate && gf_keeps(options, GF_METADATA_ORIENTATION),
               colours = gf_keeps(options, GF_METADATA_ICC) ||
                         !gf_metadata_is_srgb(metadata, format, options);
    kept->density_x = metadata->density_x;
    kept->density_y = metadata->density_y;
    kept->density_is_ratio = metadata->density_is_ratio;
    kept->orientation = turned ? metadata->orientation : 1;
    if (!gf_blob_set(&kept->exif, metadata->exif.data, metadata->exif.size) ||
        !gf_blob_set(&kept->xmp, metadata->xmp.data, metadata->xmp.size) ||
        !gf_blob_set(&kept->iptc, metadata->iptc.data, metadata->iptc.size) ||
        (gf_keeps(options, GF_METADATA_GAINMAP) &&
         !gf_blob_set(&kept->gain_map, metadata->gain_map.data, metadata->gain_map.size)) ||
        (gf_keeps(options, GF_METADATA_GEO) &&
         !gf_blob_set(&kept->geo, metadata->geo.data, metadata->geo.size)) ||
        !gf_texts_copy(&kept->texts, &metadata->texts) || !gf_metadata_strip(kept, options) ||
        !set_xmp_geometry(&kept->xmp, format, kept->orientation) ||
        (colours && !keep_colours(metadata, format, room, kept))) {
        gf_metadata_free(kept);
        return gf_fail_memory(error);
    }
    gf_exif_set_size(&kept->exif, format.width, format.height);
    const bool no_thumbnails = metadata->filtered || strips_thumbnails(kept, options);
    if (no_thumbnails) {
        gf_exif_remove_thumbnails(&kept->exif);
        gf_iptc_remove(&kept->iptc, PREVIEW, PREVIEW_END);
    }
    if (!gf_xmp_remove(&kept->xmp, gf_xmp_of_lost_things) ||
        (no_thumbnails && !gf_xmp_remove(&kept->xmp, gf_xmp_thumbnails)))
        kept->xmp.size = 0;
    /* The orientation is set last: the parts of a damaged block may overlap, and a wrong
     * orientation would turn the picture. */
    if (gf_metadata_set(kept, options->set) &&
        gf_exif_set_orientation(&kept->exif, kept->orientation))
        return GF_OK;
    gf_metadata_free(kept);
    return gf_fail_memory(error);
}
