#include "codec/common/keep.h"

#include <string.h>
#include <strings.h>

#include "codec/common/xmp.h"
#include "icc/icc_build.h"

enum { TAGS_MOST = 3, ALL = (1 << GF_METADATA_ITEMS) - 1 };

/* What belongs to an item. */
static const struct rule {
    unsigned kinds;                /* the kinds of metadata that the item is (enum
                                    * gf_metadata_kind) */
    uint16_t tags[TAGS_MOST + 1];  /* tags of EXIF's first directory; 0 at the end */
    const struct gf_xmp_name *xmp; /* properties of XMP; or NULL */
    const char *keyword;           /* the beginning of a text's keyword behind a prefix such as
                                    * "exif:", by which ImageMagick copies EXIF and XMP; or NULL */
    int dataset;                   /* of IPTC's record 2; or 0 */
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

bool gf_strips_thumbnails(const struct gf_metadata *metadata, const struct gf_options *options)
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

/* Whether an item that is kept, or one that is stripped, covers the text by its keyword. */
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

/* Strips the whole block of EXIF but for the items that are kept by name. */
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
