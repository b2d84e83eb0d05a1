/* What the header of a picture file says (--info), as a line of JSON, a row of a table, or a list.
 */
#pragma once

#include <stdio.h>

#include "base/text/json.h"
#include "bench/hashes.h"
#include "codec/common/rows/source.h"
#include "pipeline/pipeline_internal.h"

/* The facts. Arguments of FACT: the end of its GF_FACT_ name, its key in JSON, and its
 * description. */

/* clang-format off */
#define GF_FACTS_ALL(FACT) \
    FACT(FILE, "file", "the name of the file") \
    FACT(FORMAT, "format", "the file's format, known by its content") \
    FACT(BYTES, "bytes", "the size of the file; null for a pipe") \
    FACT(PAGES, "pages", "pages or frames; null: the header counts none") \
    FACT(WIDTH, "width", "columns, before the orientation is applied") \
    FACT(HEIGHT, "height", "rows") \
    FACT(CHANNELS, "channels", "channels with alpha; those of a palette's colours") \
    FACT(BITS, "bits", "bits of a sample in the file") \
    FACT(SAMPLES, "samples", "integer or float") \
    FACT(MODEL, "model", "gray, RGB, palette, YCbCr, CMYK or YCCK") \
    FACT(ALPHA, "alpha", "whether pixels can be transparent") \
    FACT(COLOURS, "colours", "the name of the colours") \
    FACT(COLOURS_FROM, "colours_from", "what names the colours: ICC, CICP, EXIF, format") \
    FACT(CICP, "cicp", "primaries, transfer, matrix and range of H.273, as 9/16/0/1") \
    FACT(ORIENTATION, "orientation", "EXIF's number, 1 to 8; 1 is upright") \
    FACT(DENSITY_X, "density_x", "dots per inch across") \
    FACT(DENSITY_Y, "density_y", "dots per inch down") \
    FACT(CAMERA, "camera", "EXIF's maker and model") \
    FACT(LENS, "lens", "EXIF's lens") \
    FACT(TIME, "time", "when the picture was taken, by EXIF") \
    FACT(COPYRIGHT, "copyright", "EXIF's copyright") \
    FACT(ARTIST, "artist", "EXIF's artist") \
    FACT(DESCRIPTION, "description", "EXIF's description") \
    FACT(GPS, "gps", "whether EXIF or XMP says where") \
    FACT(METADATA, "metadata", "the kinds of metadata, also of those that are not read") \
    FACT(PICTURES, "pictures", "the kinds of several pictures, how many of each") \
    FACT(LEVELS, "levels", "sizes of levels, from the full one") \
    FACT(LOOPS, "loops", "how many times an animation is shown; 0 is forever") \
    FACT(SECONDS, "seconds", "how long an animation's frames are shown, once") \
    FACT(ICC_BYTES, "icc_bytes", "the size of the ICC profile") \
    FACT(EXIF_BYTES, "exif_bytes", "the size of EXIF") \
    FACT(XMP_BYTES, "xmp_bytes", "the size of XMP") \
    FACT(IPTC_BYTES, "iptc_bytes", "the size of IPTC") \
    FACT(THUMBNAIL_BYTES, "thumbnail_bytes", "the size of EXIF's thumbnail") \
    FACT(DHASH, "dhash", "of --info=hash: whether tiles are brighter than their left neighbours, 8 rows of 9") \
    FACT(PHASH, "phash", "likewise: whether frequencies are above the median, the lowest 8 x 8 of a DCT-II")
/* clang-format on */
enum gf_fact {
#define FACT(end, key, help) GF_FACT_##end,
    GF_FACTS_ALL(FACT)
#undef FACT
        GF_FACTS
};

/* The facts of one file. An empty text or a NaN means that the fact is not known. */
struct gf_facts {
    char *text[GF_FACTS]; /* from malloc(); NULL: the fact is a number, or true or false */
    double number[GF_FACTS];
};

/* Collects the facts of a source whose file has this size (-1: unknown). Returns false when out of
 * memory. */
bool gf_facts_read(struct gf_facts *facts, const char *name, int64_t bytes,
                   const struct gf_source *source);
/* Adds the hashes of the picture to the facts that were read. Returns false when out of memory. */
bool gf_facts_add_hashes(struct gf_facts *facts, struct gf_hashes hashes);
/* Returns the hashes that were added. */
struct gf_hashes gf_facts_hashes(const struct gf_facts *facts);
void gf_facts_free(struct gf_facts *facts);

/* Writes the facts as members of the JSON object that is open; unknown facts become null. */
void gf_facts_json(const struct gf_facts *facts, struct gf_json *json);
/* Prints a row of a table, which is one of hashes if they were added. The first function prints the
 * table's heading. */
void gf_facts_heading(bool hashes, FILE *file);
void gf_facts_row(const struct gf_facts *facts, FILE *file);
/* Prints a line for each fact that is known. */
void gf_facts_list(const struct gf_facts *facts, FILE *file);

/* The keys of the JSON, for the manual; {0} ends them. */
extern const struct gf_key_help gf_facts_keys[GF_FACTS + 1];

/* Writes the statistics of the levels as a member of the JSON object that is open. */
void gf_levels_json(const struct gf_levels *levels, struct gf_json *json);
/* Prints a line of statistics and a small histogram for each channel. */
void gf_levels_plot(const struct gf_levels *levels, FILE *file);

/* The keys of the JSON, for the manual; {0} ends them. */
extern const struct gf_key_help gf_levels_keys[];
