/* What a file holds beside the pixels and an output keeps: ICC profile, EXIF, XMP, IPTC, texts and
 * density. The codecs find the blocks in their files and write them; what the blocks mean is known
 * here. */
#ifndef GF_CODEC_COMMON_METADATA_H
#define GF_CODEC_COMMON_METADATA_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/common/colour_tags.h"
#include "codec/common/exif.h"
#include "codec/common/texts.h"
#include "gpufilter/image.h"
#include "gpufilter/pipeline.h"
#include "icc/icc.h"
#include "icc/icc_make.h"

/* What a file can hold beside its pixels; sets of kinds are sums. */
enum gf_metadata_kind {
    GF_KIND_ICC = 1,
    GF_KIND_EXIF = 2,
    GF_KIND_XMP = 4,
    GF_KIND_EXTENDED_XMP = 8, /* what is too long for a JPEG's segment */
    GF_KIND_IPTC = 16,
    GF_KIND_TEXTS = 32, /* with a keyword */
    GF_KIND_COMMENTS = 64,
    GF_KIND_DENSITY = 128,
    GF_KIND_ORIENTATION = 256,
    GF_KIND_GAIN_MAP = 512,
    GF_KIND_PICTURES = 1024, /* others, behind the one that is read */
    GF_KIND_DEPTH = 2048,
    GF_KIND_AUXILIARY = 4096, /* pictures of other kinds that say something of the one */
    GF_KINDS_USUAL = GF_KIND_ICC | GF_KIND_EXIF | GF_KIND_XMP | GF_KIND_IPTC | GF_KIND_TEXTS |
                     GF_KIND_COMMENTS | GF_KIND_DENSITY | GF_KIND_ORIENTATION
};

struct gf_metadata {
    struct gf_blob icc;  /* an ICC profile */
    struct gf_blob exif; /* TIFF structure, from "II" or "MM" on, without "Exif\0\0" */
    struct gf_blob xmp;  /* the XMP packet */
    /* Of a PNG with a palette, as RGBA; it goes into a PNG of the same pixels. */
    struct gf_blob palette;
    struct gf_blob iptc; /* a Photoshop resource, "8BIM" 0x0404, of IPTC records */
    struct gf_texts texts;
    struct gf_colour_tags colour;
    unsigned char made[GF_ICC_MADE_MOST]; /* see gf_metadata_icc() */
    double density_x, density_y;          /* pixels per metre; 0: unknown */
    int orientation;                      /* EXIF's 1..8; 1 where there is none */
    unsigned unread; /* enum gf_metadata_kind: what the file has and its reader leaves out */
    bool filtered;   /* the pixels are no longer the file's: thumbnails show what was there */
};
void gf_metadata_free(struct gf_metadata *metadata);

/* The kinds that are there, with those that were not read. A density of 72 dots an inch says that
 * nobody knows it (EXIF 2.32, XResolution); what EXIF states goes with EXIF. */
unsigned gf_metadata_kinds(const struct gf_metadata *metadata);

/* A block over this size is left out. It is the most that JPEG can hold of an ICC profile. */
enum { GF_METADATA_MAX = 255 * 65519 };

/* Adds EXIF, with or without "Exif\0\0" before it, and reads its orientation. It is ignored where
 * it is not a TIFF structure, or not the file's first. False when out of memory. */
bool gf_metadata_add_exif(struct gf_metadata *metadata, const void *data, size_t size);
/* Adds EXIF from a box of HEIF or JPEG XL, where the offset of its TIFF structure stands first. */
bool gf_metadata_add_exif_box(struct gf_metadata *metadata, const unsigned char *box, size_t size);
/* Adds EXIF or XMP from the payload of a JPEG's APP1 segment, likewise. */
bool gf_metadata_add_app1(struct gf_metadata *metadata, const void *data, size_t size);
/* Notes by the payload of a JPEG's APP2 segment that a gain map or other pictures follow. */
void gf_metadata_note_app2(struct gf_metadata *metadata, const void *data, size_t size);
/* Notes the pictures of a HEIF file that say something of the one: a gain map, a depth map. */
void gf_metadata_note_heif(struct gf_metadata *metadata, const struct gf_blob *file);

/* Adds IPTC from Photoshop's resources, or from IPTC records alone. False when out of memory. */
bool gf_metadata_add_photoshop(struct gf_metadata *metadata, const void *data, size_t size);

#define GF_APP1_EXIF "Exif\0"                      /* and the terminating zero */
#define GF_APP1_XMP "http://ns.adobe.com/xap/1.0/" /* and the terminating zero */
#define GF_APP2_ICC "ICC_PROFILE"                  /* and the terminating zero */
#define GF_APP13_PHOTOSHOP "Photoshop 3.0"         /* and the terminating zero */

/* Collects an ICC profile from the APP2 segments of a JPEG, which may come in any order. */
struct gf_icc_parts {
    struct gf_blob part[256]; /* by its number, which counts from 1 */
    int count;                /* the number of parts that each segment states */
    bool broken;              /* the segments contradict each other */
};
/* Adds the payload of an APP2 segment if it is a part of a profile. False when out of memory. */
bool gf_icc_parts_add(struct gf_icc_parts *parts, const void *data, size_t size);
/* Joins the parts; leaves `icc` alone where the profile is incomplete. False when out of memory. */
bool gf_icc_parts_join(const struct gf_icc_parts *parts, struct gf_blob *icc);
void gf_icc_parts_free(struct gf_icc_parts *parts);

/* The profile of the picture's colours, for conversions: the file's, or one of its colour tags,
 * which is made in metadata->made. Empty: there is none of use, which counts as sRGB, or it is
 * unsaid. */
struct gf_icc gf_metadata_icc(struct gf_metadata *metadata, struct gf_format format);

/* Copies what an output of that format keeps. Under options->strip that is nothing. The orientation
 * becomes 1 where options->autorotate applied it, and EXIF and XMP state the one that is kept. What
 * XMP says of things that no output has is taken out, and so are thumbnails of a filtered picture;
 * XMP that is damaged is left out. An ICC profile of another colour space is left
 * out (RGB for a gray picture). Colour tags become an ICC profile, or give way to one, unless the
 * file format has room for them. The caller frees the copy by gf_metadata_free. */
enum gf_status gf_metadata_for_output(const struct gf_metadata *metadata, struct gf_format format,
                                      enum gf_tags_room room, const struct gf_options *options,
                                      struct gf_metadata *kept, struct gf_error *error) GF_CHECKED;

#endif
