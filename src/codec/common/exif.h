/* EXIF: a TIFF structure in either byte order, which is read and changed in place, since a maker's
 * note refers to places in it. A damaged block is left unchanged. */
#ifndef GF_CODEC_COMMON_EXIF_H
#define GF_CODEC_COMMON_EXIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/common/texts.h"

/* Whether a TIFF structure begins with these bytes. */
bool gf_exif_begins(const unsigned char *data, size_t size);
/* The orientation that EXIF states, 1..8; 1 where it states none. */
int gf_exif_orientation(const struct gf_blob *exif);
/* Makes EXIF state that orientation. An entry is added where none is there, and an empty block
 * becomes EXIF, unless the orientation is 1. False when out of memory. */
bool gf_exif_set_orientation(struct gf_blob *exif, int orientation);
/* Sets the picture's size in pixels, where EXIF states it. */
void gf_exif_set_size(struct gf_blob *exif, int width, int height);
/* Whether EXIF states a resolution. */
bool gf_exif_has_density(const struct gf_blob *exif);
/* Removes the thumbnails: nothing refers to them any more, and their bytes are zero or cut off. */
void gf_exif_remove_thumbnails(struct gf_blob *exif);

/* What an MPF index names behind a JPEG's own picture. The index is a TIFF structure, too. (CIPA
 * DC-007, Multi-Picture Format) */
struct gf_mpf {
    int pictures; /* thumbnails of the JPEG's own one aside */
    int64_t end;  /* where the last of them ends, counted from the segment's payload; 0: it is not
                   * known */
};
/* Reads the payload of a JPEG's APP2 segment; false: the payload is no such index. */
bool gf_mpf_read(const void *payload, size_t size, struct gf_mpf *mpf);

#endif
