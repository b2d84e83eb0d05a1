/* EXIF metadata: a TIFF structure in either byte order. It is read and changed in place, since a
 * maker's note refers to offsets in the structure. A damaged structure is left unchanged. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/common/ifd.h"

/* Whether a TIFF structure begins with these bytes. */
bool gf_exif_begins(const unsigned char *data, size_t size);
/* Returns the orientation that EXIF states, 1..8; 1 if it states none. */
int gf_exif_orientation(const struct gf_blob *exif);
/* Sets the orientation in EXIF. If EXIF lacks an orientation an entry is added, and an empty block
 * becomes EXIF, unless the orientation is 1. Returns false when out of memory. */
bool gf_exif_set_orientation(struct gf_blob *exif, int orientation);
/* Adds a density in pixels per metre to EXIF that states none; an empty block becomes EXIF. Returns
 * false when out of memory. */
bool gf_exif_add_density(struct gf_blob *exif, double x, double y);
/* Changes the picture's size in pixels if EXIF states one. */
void gf_exif_set_size(struct gf_blob *exif, int width, int height);
/* Makes EXIF say that the colours are sRGB if it says which they are. */
void gf_exif_set_srgb(struct gf_blob *exif);
/* Whether EXIF states a resolution. */
bool gf_exif_has_density(const struct gf_blob *exif);
/* Removes the thumbnails: nothing refers to them any more, and their bytes are zero or cut off. */
void gf_exif_remove_thumbnails(struct gf_blob *exif);
/* Removes the entries of these tags, with 0 at the end, from the first directory. Their values, and
 * the directory to which an entry of GPS links, become zeros or are cut off; all other bytes stay
 * where they are. The block becomes empty if the directory has no other entry, or if the values are
 * too many or too large. */
void gf_exif_remove(struct gf_blob *exif, const uint16_t *tags);
/* Replaces the block by a small one that has only the entries of these tags, with 0 at the end; the
 * block becomes empty if it has none of them. Returns false when out of memory. */
bool gf_exif_keep_only(struct gf_blob *exif, const uint16_t *tags);

/* Returns a reader of the bytes of EXIF. *first becomes the offset of the first directory; 0 if the
 * bytes are no EXIF. The blob must outlive the reader. */
struct gf_ifd_reader gf_exif_reader(const struct gf_blob *exif, uint64_t *first);

/* What EXIF says about a picture. A text is empty, and a number 0, if EXIF says nothing. */
struct gf_exif_facts {
    char camera[128]; /* the maker and the model */
    char lens[128];
    char time[32];               /* when the picture was taken: "2024-05-01T12:30:00" */
    const char *colour;          /* "sRGB", "Adobe RGB" or "" */
    double density_x, density_y; /* pixels per metre */
    bool has_gps;                /* there is more of a place than the version of its record */
    size_t thumbnail_bytes;
};
struct gf_exif_facts gf_exif_read(const struct gf_blob *exif);
/* Returns the headroom of a gain map by Apple's maker note: how many times brighter than white it
 * makes a picture; 0 if EXIF has no such note. (Apple: Applying Apple HDR effect to your photos) */
double gf_exif_apple_headroom(const struct gf_blob *exif);
