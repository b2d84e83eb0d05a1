/* What the header of a picture file says (--info), as a line of JSON, a row of a table, or a list.
 */
#ifndef GF_REPORT_INFO_FACTS_H
#define GF_REPORT_INFO_FACTS_H

#include <stdio.h>

#include "base/json.h"
#include "codec/common/source.h"
#include "gpufilter/options.h"

enum gf_fact {
    GF_FACT_FILE,
    GF_FACT_FORMAT,
    GF_FACT_BYTES,
    GF_FACT_PAGES,
    GF_FACT_WIDTH,
    GF_FACT_HEIGHT,
    GF_FACT_CHANNELS,
    GF_FACT_BITS,
    GF_FACT_SAMPLES,
    GF_FACT_MODEL,
    GF_FACT_ALPHA,
    GF_FACT_COLOURS,
    GF_FACT_COLOURS_FROM,
    GF_FACT_CICP,
    GF_FACT_ORIENTATION,
    GF_FACT_DENSITY_X,
    GF_FACT_DENSITY_Y,
    GF_FACT_CAMERA,
    GF_FACT_LENS,
    GF_FACT_TIME,
    GF_FACT_GPS,
    GF_FACT_METADATA,
    GF_FACT_ICC_BYTES,
    GF_FACT_EXIF_BYTES,
    GF_FACT_XMP_BYTES,
    GF_FACT_IPTC_BYTES,
    GF_FACT_THUMBNAIL_BYTES,
    GF_FACTS
};

/* The facts of one file. A text that is empty, and a number that is NaN, is not known. */
struct gf_facts {
    char *text[GF_FACTS]; /* from malloc(); NULL: the fact is a number, or true or false */
    double number[GF_FACTS];
};

/* Collects the facts of a source whose file has this format and size (-1: unknown). Returns false
 * when out of memory. */
bool gf_facts_read(struct gf_facts *facts, const char *name, enum gf_file_format format,
                   int64_t bytes, const struct gf_source *source);
void gf_facts_free(struct gf_facts *facts);

/* Writes the facts as members of the object that is open; what is not known becomes null. */
void gf_facts_json(const struct gf_facts *facts, struct gf_json *json);
/* Prints a row of a table. The first function prints the table's heading. */
void gf_facts_heading(FILE *file);
void gf_facts_row(const struct gf_facts *facts, FILE *file);
/* Prints a line for each fact that is known. */
void gf_facts_list(const struct gf_facts *facts, FILE *file);

/* Returns a key of the JSON with its description; NULL past the last one. */
const struct gf_key_help *gf_facts_key_at(int index);

#endif
