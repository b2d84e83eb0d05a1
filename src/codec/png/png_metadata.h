/* Metadata as a PNG's chunks. */
#ifndef GF_CODEC_PNG_PNG_METADATA_H
#define GF_CODEC_PNG_PNG_METADATA_H

#include "codec/common/metadata.h"
#include "codec/io/input.h"
#include "codec/io/output.h"

struct gf_png_chunk {
    const char *type; /* four letters and a zero */
    const unsigned char *data;
    size_t size;
    uint32_t crc; /* the checksum that the file states */
};

bool gf_png_chunk_is_sound(const struct gf_png_chunk *chunk); /* its checksum is right */

/* Adds what the chunk holds, if it holds metadata. Damaged metadata is left out with a warning.
 * False when out of memory. */
bool gf_png_add_metadata(struct gf_metadata *metadata, const struct gf_png_chunk *chunk,
                         const struct gf_options *options, const char *file);

/* Adds the metadata of the chunks from that offset of a regular file on. Where the file ends or is
 * damaged there is no more. False when out of memory. */
bool gf_png_add_late_metadata(struct gf_metadata *metadata, struct gf_input *input, int64_t offset,
                              const struct gf_options *options);

/* Writes the chunks, which stand between the header and the pixels. metadata is that of
 * gf_metadata_for_output. */
enum gf_status gf_png_write_metadata(struct gf_output *output, const struct gf_metadata *metadata,
                                     struct gf_error *error) GF_CHECKED;

/* ---- "Raw profile type" texts (png_raw_profile.c) ----
 *
 * ImageMagick and exiftool store EXIF, XMP and IPTC in tEXt and zTXt chunks as hexadecimal numbers
 * under such a keyword. IPTC has no other place in a PNG. */

#define GF_PNG_RAW_PROFILE "Raw profile type " /* the keyword's beginning */

/* Adds the profile of that type ("exif", "APP1", "xmp", "iptc", "8bim"), others not at all.
 * *damaged says that the text is not what such a text must be. False when out of memory. */
bool gf_png_add_raw_profile(struct gf_metadata *metadata, const char *type, const char *text,
                            size_t size, bool *damaged);

/* Makes the text of such a profile. False when out of memory. */
bool gf_png_make_raw_profile(const char *type, const struct gf_blob *profile, struct gf_blob *text);

enum { GF_PNG_METADATA_CHUNK_MAX = GF_METADATA_MAX + 4096 }; /* a longer chunk is skipped */

#endif
