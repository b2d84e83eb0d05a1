/* What travels beside the pixels: EXIF's orientation, the pieces of an ICC profile, what an output
 * keeps. */
#ifndef GF_CODEC_COMMON_METADATA_H
#define GF_CODEC_COMMON_METADATA_H

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/image.h"
#include "gpufilter/pipeline.h"

/* What travels beside the pixels. Blocks are malloc'ed, size 0 where absent. */
struct gf_blob {
    unsigned char *data;
    size_t size;
};
struct gf_metadata {
    struct gf_blob icc;          /* an ICC profile */
    struct gf_blob exif;         /* TIFF structure, from "II" or "MM" on, without "Exif\0\0" */
    struct gf_blob xmp;          /* the XMP packet */
    double density_x, density_y; /* pixels per metre; 0: unknown */
    int orientation;             /* EXIF's 1..8; 1 where there is none */
};
void gf_metadata_free(struct gf_metadata *metadata);

/* More than this of any one kind is left out: what JPEG can hold of an ICC profile. */
enum { GF_METADATA_MAX = 255 * 65519 };

/* A copy of the bytes; false when out of memory. What the blob held before is freed. */
bool gf_blob_set(struct gf_blob *blob, const void *data, size_t size);

/* EXIF from a file, with or without "Exif\0\0": kept, and its orientation read, if it is a TIFF
 * structure and the first of its kind. False when out of memory. */
bool gf_metadata_take_exif(struct gf_metadata *metadata, const void *data, size_t size);
/* The payload of a JPEG's APP1: EXIF or XMP, each the first of its kind. False when out of memory.
 */
bool gf_metadata_take_app1(struct gf_metadata *metadata, const void *data, size_t size);

#define GF_APP1_EXIF "Exif\0"                      /* and the terminating zero */
#define GF_APP1_XMP "http://ns.adobe.com/xap/1.0/" /* and the terminating zero */
#define GF_APP2_ICC "ICC_PROFILE"                  /* and the terminating zero */

/* An ICC profile out of the APP2 segments of a JPEG, which may come in any order. */
struct gf_icc_parts {
    struct gf_blob part[256]; /* by their number, from 1 on */
    int count;                /* that there should be */
    bool broken;              /* numbers that contradict each other */
};
/* The payload of an APP2; others than ICC's are ignored. False when out of memory. */
bool gf_icc_parts_add(struct gf_icc_parts *parts, const void *data, size_t size);
/* An incomplete profile is none. False when out of memory. */
bool gf_icc_parts_join(const struct gf_icc_parts *parts, struct gf_blob *icc);
void gf_icc_parts_free(struct gf_icc_parts *parts);

/* EXIF's orientation, 1..8; 1 where it has none. */
int gf_exif_orientation(const struct gf_blob *exif);
/* Orientation 1. A thumbnail that lay otherwise is unlinked: it would now be shown on its side. */
void gf_exif_set_upright(struct gf_blob *exif);
/* The same for tiff:Orientation in an XMP packet. */
void gf_xmp_set_upright(struct gf_blob *xmp);

/* What an output of that format keeps: nothing under options->strip; the orientation reset, where
 * options->autorotate applied it; no ICC profile of another colour space (RGB for a gray picture).
 * The result is freed by gf_metadata_free. */
enum gf_status gf_metadata_for_output(const struct gf_metadata *metadata, struct gf_format format,
                                      const struct gf_options *options, struct gf_metadata *kept,
                                      struct gf_error *error) GF_CHECKED;

#endif
