/* Changes of an XMP packet, in place. */
#ifndef GF_CODEC_COMMON_XMP_H
#define GF_CODEC_COMMON_XMP_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/common/texts.h"

/* Properties: those of a namespace that have the name, or begin with it where it ends with '*'. */
struct gf_xmp_name {
    const char *space, *name;
};

/* Takes the properties out, attributes and elements; `names` ends with a NULL. False where the
 * packet is damaged, so that one of them could not be taken out. */
bool gf_xmp_remove(struct gf_blob *xmp, const struct gf_xmp_name *names);

/* What speaks of things that no output has: a gain map, pictures and films behind a JPEG's end, and
 * the second part of a long packet. */
extern const struct gf_xmp_name gf_xmp_of_lost_things[];
/* Pictures within the packet that show what the file showed. */
extern const struct gf_xmp_name gf_xmp_thumbnails[];

/* Whether the packet says that the file has a gain map. */
bool gf_xmp_names_gain_map(const struct gf_blob *xmp);
/* The bytes behind a JPEG's end marker that the packet's directory of a container names. */
int64_t gf_xmp_bytes_behind(const struct gf_blob *xmp);
/* Sets tiff:Orientation, where it is there. */
void gf_xmp_set_orientation(struct gf_blob *xmp, int orientation);

#endif
