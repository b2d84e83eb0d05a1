/* The metadata of a file that an output keeps: ICC profile, EXIF, XMP, IPTC, texts and density. The
 * codecs find the blocks in their files and write them; this code interprets the blocks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "codec/common/colour/colour.h"
#include "codec/common/metadata/exif.h"
#include "codec/common/metadata/texts.h"
#include "codec/common/rows/coefficients.h"
#include "gpufilter/image.h"
#include "gpufilter/options.h"
#include "icc/icc.h"

/* Kinds of metadata. A set of kinds is the sum of its members. */
enum gf_metadata_kind {
    GF_KIND_ICC = 1,
    GF_KIND_EXIF = 2,
    GF_KIND_XMP = 4,
    GF_KIND_EXTENDED_XMP = 8, /* XMP that is too long for one marker segment of a JPEG */
    GF_KIND_IPTC = 16,
    GF_KIND_TEXTS = 32, /* texts with a keyword */
    GF_KIND_COMMENTS = 64,
    GF_KIND_DENSITY = 128,
    GF_KIND_ORIENTATION = 256,
    GF_KIND_GAIN_MAP = 512,
    GF_KIND_PICTURES = 1024, /* other pictures after the picture that is read */
    GF_KIND_DEPTH = 2048,
    GF_KIND_AUXILIARY = 4096,  /* auxiliary pictures: a gain map or a depth map of the picture */
    GF_KIND_LIGHT = 8192,      /* light level of HDR content (cLLI) */
    GF_KIND_MASTERING = 16384, /* mastering display of HDR (mDCV) */
    GF_KIND_ASPECT = 32768,    /* the shape of pixels that are not square, without a density */
    GF_KIND_GEO = 65536,       /* GeoTIFF's tags, and GDAL's */
    GF_KINDS_USUAL = GF_KIND_ICC | GF_KIND_EXIF | GF_KIND_XMP | GF_KIND_IPTC | GF_KIND_TEXTS |
                     GF_KIND_COMMENTS | GF_KIND_DENSITY | GF_KIND_ORIENTATION
};

struct gf_metadata {
    struct gf_blob icc;  /* the file's ICC profile */
    struct gf_blob exif; /* a TIFF structure, from "II" or "MM" on, without "Exif\0\0" */
    struct gf_blob xmp;  /* the file's XMP packet */
    /* The palette of a PNG, 4 bytes RGBA for each colour. If the output is a PNG of the same
     * pixels, it gets this palette. */
    struct gf_blob palette;
    /* The header line of a Y4M, a line break, the line before the frame, and a zero. A Y4M output
     * gets the same parameters. */
    struct gf_blob y4m;
    struct gf_blob gain_map; /* the JPEG of the gain map, if the options keep it */
    struct gf_blob iptc;     /* IPTC records within a Photoshop resource ("8BIM" 0x0404) */
    /* A TIFF structure of the tags gf_geo_tags, in the machine's byte order. They hold for pixels
     * that stay where they are. */
    struct gf_blob geo;
    struct gf_texts texts;
    struct gf_colour_tags colour;
    unsigned char made[GF_ICC_MADE_MOST]; /* memory for the profile that gf_metadata_icc() makes */
    double density_x, density_y;          /* pixels per metre; 0: unknown */
    bool density_is_ratio;                /* only the ratio of the densities is known */
    int orientation;                      /* EXIF's number, 1..8; 1 if the file states none */
    unsigned unread; /* kinds of metadata that the file has and that were not read */
    bool inks;       /* for an output: 4 channels are CMYK (0 is no ink), not RGB and alpha */
    /* Bits of a sample in the file; 0: unknown, or no measure of how fine the colours are. */
    int bits;
    /* The file's colours are multiplied by alpha, so that those of pixels with alpha 0 are light.
     */
    bool associated;
    bool animated;  /* for an output: its sink writes several frames */
    unsigned loops; /* how many times an animation is shown; 0: forever */
    bool filtered;  /* filters have changed the pixels: thumbnails do not show them */
    /* For an output: its sink gets coefficients and moves them so, until it is closed; NULL: it
     * gets pixels. */
    const struct gf_coefficients_move *move;
};
/* Empty metadata, for a picture that has none. */
extern const struct gf_metadata gf_no_metadata;
void gf_metadata_free(struct gf_metadata *metadata);

/* Returns the set of kinds of metadata that the file has, including kinds that were not read. A
 * density of 72 dots per inch means that it is unknown (EXIF 2.32, XResolution). A density that
 * EXIF states counts as EXIF. */
unsigned gf_metadata_kinds(const struct gf_metadata *metadata);

/* A block of metadata has at most so many bytes; a larger one is left out. It is the size of the
 * largest ICC profile that a JPEG can hold. */
enum { GF_METADATA_MAX = 255 * 65519 };

/* Whether filters that move pixels must also change the metadata: a gain map, GeoTIFF's tags, or
 * densities that differ across and down. */
static inline bool gf_metadata_moves(const struct gf_metadata *metadata)
{
    return metadata->gain_map.size || metadata->geo.size ||
           metadata->density_x != metadata->density_y;
}

/* Notes that `across` pixels are as long as `down` pixels in the other direction. Does nothing for
 * square pixels. */
void gf_metadata_set_ratio(struct gf_metadata *metadata, double across, double down);
/* Sets *across and *down to the ratio of the densities in whole numbers up to `most`. */
void gf_metadata_ratio(const struct gf_metadata *metadata, double most, uint32_t *across,
                       uint32_t *down);

/* Adds EXIF, with or without "Exif\0\0" before it, and reads its orientation. Data that is no TIFF
 * structure is ignored; of several blocks of EXIF in a file only the first is used. Returns false
 * when out of memory. */
bool gf_metadata_add_exif(struct gf_metadata *metadata, const void *data, size_t size);
/* The tags of a TIFF's directory that belong to EXIF, too: texts, orientation, ratings, and links
 * to other directories; 0 at the end. */
extern const uint16_t gf_exif_tags_in_tiff[];
/* Adds EXIF from the directory of a TIFF, and from those that the directory links to. options->warn
 * is called for a maker's note that would be wrong at another offset. */
bool gf_metadata_add_exif_in_tiff(struct gf_metadata *metadata, const struct gf_ifd_reader *reader,
                                  uint64_t directory, const char *name,
                                  const struct gf_options *options);
/* GeoTIFF's tags, and GDAL's for its metadata and the value without data; 0 at the end. */
extern const uint16_t gf_geo_tags[];
/* Adds those tags from the directory of a TIFF. Returns false when out of memory. */
bool gf_metadata_add_geo(struct gf_metadata *metadata, const struct gf_ifd_reader *reader,
                         uint64_t directory);
/* Warns of a maker's note that was not copied, unless the options strip EXIF. */
void gf_warn_of_note(const struct gf_ifd_writer *writer, const char *name,
                     const struct gf_options *options);
/* Adds EXIF from a box of HEIF or JPEG XL, which begins with the offset of the TIFF structure. */
bool gf_metadata_add_exif_box(struct gf_metadata *metadata, const unsigned char *box, size_t size);
/* Adds the EXIF or XMP in the payload of a JPEG's APP1 marker segment. Returns false when out of
 * memory. */
bool gf_metadata_add_app1(struct gf_metadata *metadata, const void *data, size_t size);
/* Notes whether the payload of a JPEG's APP2 marker segment announces a gain map or other pictures.
 */
void gf_metadata_note_app2(struct gf_metadata *metadata, const void *data, size_t size);
/* Returns the kind of an auxiliary picture, which the end of its type states: GF_KIND_AUXILIARY for
 * unknown types, 0 for alpha, because that is read with the picture. */
unsigned gf_auxiliary_kind(const char *type, size_t length);
/* Notes the auxiliary pictures of a HEIF file, such as a gain map or a depth map, and the light of
 * HDR. */
void gf_metadata_note_heif(struct gf_metadata *metadata, const struct gf_blob *file);

/* Adds IPTC from Photoshop's resources, or from IPTC records alone. False when out of memory. */
bool gf_metadata_add_photoshop(struct gf_metadata *metadata, const void *data, size_t size);

/* Returns the IPTC records without the Photoshop resource around them; the bytes belong to `iptc`.
 */
struct gf_blob gf_iptc_records(const struct gf_blob *iptc);
/* Removes the datasets first..last of record 2 from IPTC (IIM 4.2). Damaged records are removed
 * together with all later records, since they might hold such a dataset. */
void gf_iptc_remove(struct gf_blob *iptc, int first, int last);

/* Sets a dataset of record 2 to a text of UTF-8; an empty block becomes IPTC. If the block's
 * encoding cannot hold the text the dataset is only removed. False when out of memory. */
bool gf_iptc_set(struct gf_blob *iptc, int dataset, const char *text);

/* ---- what the user sets (set.c): lines "KEY=TEXT", the last one of a key counts ---- */

/* Returns the words "KEY=" by their index; NULL past the last one. */
const char *gf_metadata_set_word(int index);
/* Fails if a line has no known key, or a text that its key cannot have. */
enum gf_status gf_metadata_set_check(const char *set, struct gf_error *error) GF_CHECKED;
/* Warns of texts that are too long for IPTC. `name` is the output. */
void gf_metadata_set_warn(const char *set, const char *name, const struct gf_options *options);
/* Sets these facts in EXIF, XMP and, if they are not too long for it, IPTC, and removes texts with
 * the same meaning. `set` is what gf_metadata_set_check() accepts, or NULL. Returns false when out
 * of memory. */
bool gf_metadata_set(struct gf_metadata *metadata, const char *set);

#define GF_APP1_EXIF "Exif\0"                      /* with the terminating zero */
#define GF_APP1_XMP "http://ns.adobe.com/xap/1.0/" /* with the terminating zero */
#define GF_APP2_ICC "ICC_PROFILE"                  /* with the terminating zero */
#define GF_APP13_PHOTOSHOP "Photoshop 3.0"         /* with the terminating zero */

/* Collects the parts of an ICC profile from the APP2 marker segments of a JPEG, which may come in
 * any order. */
struct gf_icc_parts {
    struct gf_blob part[256]; /* indexed by the number of the part, from 1 on */
    int count;                /* the number of parts that the marker segments state; 0: none yet */
    bool broken;              /* the marker segments are inconsistent: no profile */
};
/* Adds the payload of an APP2 marker segment if it is a part of a profile. False when out of
 * memory. */
bool gf_icc_parts_add(struct gf_icc_parts *parts, const void *data, size_t size);
/* Joins the parts to `icc`, which does not change if the profile is incomplete. Returns false when
 * out of memory. */
bool gf_icc_parts_join(const struct gf_icc_parts *parts, struct gf_blob *icc);
void gf_icc_parts_free(struct gf_icc_parts *parts);

/* Returns the profile of the picture's colours, for conversions: the file's own profile, or a
 * profile in metadata->made that is made from its colour tags. The profile is empty if the file has
 * no usable profile, which means sRGB, or if no profile can describe the colours. */
struct gf_icc gf_metadata_icc(struct gf_metadata *metadata, struct gf_format format,
                              const struct gf_options *options);

/* Whether the picture's colours hardly differ from sRGB, or are not said. */
bool gf_metadata_is_srgb(const struct gf_metadata *metadata, struct gf_format format,
                         const struct gf_options *options);

/* Copies the metadata that the output keeps, as the options say, to *kept. `format` is the output's
 * pixel format and `room` the colour tags of its file format. If options->autorotate has applied
 * the orientation it becomes 1, also in EXIF and XMP. Some metadata is removed: XMP about parts
 * that no output has, thumbnails of a filtered picture, damaged XMP, and an ICC profile for another
 * colour model (RGB for a gray picture). The description of colours other than sRGB stays unless
 * options->strip is set. Colour tags that the file format cannot hold become an ICC profile, unless
 * there is one. What options->set sets is added to the rest. The caller frees the copy by
 * gf_metadata_free(). */
enum gf_status gf_metadata_for_output(const struct gf_metadata *metadata, struct gf_format format,
                                      enum gf_tags_room room, const struct gf_options *options,
                                      struct gf_metadata *kept, struct gf_error *error) GF_CHECKED;

/* ---- changing XMP packets in place (xmp.c) ---- */

/* Properties of a namespace: one property or, if `name` ends with '*', all properties whose names
 * begin with `name`. */
struct gf_xmp_name {
    const char *space, *name;
};

/* Removes the properties, which are attributes or elements of the packet. The last of `names` is
 * NULL. Returns false if damage in the packet, or a form that is not read, prevents that. */
bool gf_xmp_remove(struct gf_blob *xmp, const struct gf_xmp_name *names);

/* The properties that describe parts of the file that no output has: a gain map, pictures and films
 * after a JPEG's end, and the second part of a long packet. */
extern const struct gf_xmp_name gf_xmp_of_lost_things[];
/* The properties that hold small copies of the picture. */
extern const struct gf_xmp_name gf_xmp_thumbnails[];
/* The properties that say where the picture was taken, and who has rights in it. */
extern const struct gf_xmp_name gf_xmp_places[], gf_xmp_rights[];

/* Replaces the properties by the elements in the text `property`, with the prefixes dc, photoshop
 * and rdf. A packet that is empty, damaged or not read becomes a new one. False when out of memory.
 */
bool gf_xmp_set(struct gf_blob *xmp, const struct gf_xmp_name *names, const char *property);

/* Whether the packet states that the file has a gain map. */
bool gf_xmp_names_gain_map(const struct gf_blob *xmp);
#define GF_XMP_GAIN_MAP "http://ns.adobe.com/hdr-gain-map/1.0/"
#define GF_XMP_GAIN_MAP_OF_APPLE "http://ns.apple.com/HDRGainMap/1.0/"
/* Reads the numbers of a property, which is an attribute with one number or an element with items;
 * "True" counts as 1 and "False" as 0. Returns how many there are, `most` at most; 0 also if the
 * packet is damaged or in an unsupported form. */
int gf_xmp_numbers(const struct gf_blob *xmp, const char *space, const char *name, double *number,
                   int most);
/* Returns the number of bytes after a JPEG's end marker that belong to the pictures and films in
 * the packet's directory. */
int64_t gf_xmp_bytes_behind(const struct gf_blob *xmp);
/* Changes the number of a property, such as "tiff:Orientation", wherever the packet has it. The
 * packet's memory is from malloc(). Returns false when out of memory. */
bool gf_xmp_set_number(struct gf_blob *xmp, const char *property, int number);

/* ---- which items of metadata the options strip and keep. items.def lists the items ---- */

/* Whether the item is written if the input has it. */
bool gf_keeps(const struct gf_options *options, enum gf_metadata_item item);
/* Whether the options name the item to be stripped. It is then also removed from blocks of metadata
 * that are kept, such as EXIF. */
bool gf_strips(const struct gf_options *options, enum gf_metadata_item item);

/* Whether the colours are to be converted to sRGB, because no profile will describe them. */
bool gf_converts_for_output(const struct gf_options *options);

/* Returns the kinds of metadata (enum gf_metadata_kind) whose loss needs no warning, because the
 * options ask for it. The loss of an orientation other than 1 needs a warning unless the options
 * name it. */
unsigned gf_kinds_unwanted(const struct gf_options *options);

/* Removes the items that the options strip from metadata that will be written, except for the
 * colours and metadata->orientation. Returns false when out of memory. */
bool gf_metadata_strip(struct gf_metadata *metadata, const struct gf_options *options);
