#pragma once

#include "codec/common/metadata.h"
#include "codec/io/input.h"
#include "codec/io/output.h"

struct gf_png_chunk {
    const char *type; /* four letters and a zero */
    const unsigned char *data;
    size_t size;
    uint32_t crc; /* the checksum in the file */
};

bool gf_png_chunk_is_sound(const struct gf_png_chunk *chunk); /* whether its checksum is right */

/* Adds the metadata of a chunk, if it contains any. Damaged metadata is left out with a warning.
 * Returns false when out of memory. */
bool gf_png_add_metadata(struct gf_metadata *metadata, const struct gf_png_chunk *chunk,
                         const struct gf_options *options, const char *file);

/* Adds the metadata of the chunks after `offset` in a regular file, up to its end or the first
 * damage. *frameless becomes whether it ends without an fcTL chunk. Returns false when out of
 * memory. */
bool gf_png_add_late_metadata(struct gf_metadata *metadata, struct gf_input *input, int64_t offset,
                              const struct gf_options *options, bool *frameless);

/* Writes the chunks of metadata, which are between the header and the pixels. The metadata is from
 * gf_metadata_for_output(). */
enum gf_status gf_png_write_metadata(struct gf_output *output, const struct gf_metadata *metadata,
                                     struct gf_error *error) GF_CHECKED;

/* ---- "Raw profile type" texts (png_raw_profile.c) ----
 *
 * ImageMagick and exiftool store EXIF, XMP and IPTC as hexadecimal numbers in tEXt and zTXt chunks
 * with such a keyword. A PNG has no other place for IPTC. */

#define GF_PNG_RAW_PROFILE "Raw profile type " /* beginning of the keyword */

/* Adds the profile in the text, if its type is "exif", "APP1", "xmp", "iptc" or "8bim". *damaged is
 * set if the text has not the form of such a profile. Returns false when out of memory. */
bool gf_png_add_raw_profile(struct gf_metadata *metadata, const char *type, const char *text,
                            size_t size, bool *damaged);

/* Makes the text of a profile. Returns false when out of memory. */
bool gf_png_make_raw_profile(const char *type, const struct gf_blob *profile, struct gf_blob *text);

enum { GF_PNG_METADATA_CHUNK_MAX = GF_METADATA_MAX + 4096 }; /* a longer chunk is skipped */
