/* Changes of an XMP packet, in place. */
#ifndef GF_CODEC_COMMON_XMP_H
#define GF_CODEC_COMMON_XMP_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/common/texts.h"

/* Names properties of a namespace: one name or, where it ends with '*', all names that begin with
 * it. */
struct gf_xmp_name {
    const char *space, *name;
};

/* Removes the properties, attributes and elements; `names` ends with a NULL. False where the packet
 * is damaged, so that one of them could not be removed. */
bool gf_xmp_remove(struct gf_blob *xmp, const struct gf_xmp_name *names);

/* The properties about things that no output has: a gain map, pictures and films behind a JPEG's
 * end, and the second part of a long packet. */
extern const struct gf_xmp_name gf_xmp_of_lost_things[];
/* The properties with small pictures that show the file's pixels. */
extern const struct gf_xmp_name gf_xmp_thumbnails[];

/* Whether the packet says that the file has a gain map. */
bool gf_xmp_names_gain_map(const struct gf_blob *xmp);
/* How many bytes behind a JPEG's end marker the packet's directory names. */
int64_t gf_xmp_bytes_behind(const struct gf_blob *xmp);
/* Sets tiff:Orientation, where the packet has it. */
void gf_xmp_set_orientation(struct gf_blob *xmp, int orientation);

#endif
