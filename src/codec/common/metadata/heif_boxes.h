/* Reads the boxes of HEIF and AVIF files about which their libraries do not inform: the rotation
 * (irot) and the mirroring (imir) that files have instead of EXIF's orientation, and the types of
 * items. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "codec/common/metadata/texts.h"

/* Takes the next box of `rest` (ISO/IEC 14496-12, 4.2). Returns false if no whole box is left. */
bool gf_heif_take_box(struct gf_blob *rest, char type[4], struct gf_blob *body);
/* Returns the content of the first box of that type; it is empty if there is none. */
struct gf_blob gf_heif_find_box(struct gf_blob rest, const char *wanted);
/* Returns the boxes of the file's box meta, behind its version and flags. */
struct gf_blob gf_heif_meta(const struct gf_blob *file);

/* Hands each property of an item to the function `taker`, which returns false to end that; the
 * bytes belong to the file. Returns false then, and if the boxes are not whole. */
typedef bool gf_heif_property_taker(void *context, const char type[4], struct gf_blob body,
                                    bool essential);
bool gf_heif_each_property(const struct gf_blob *file, uint32_t item, gf_heif_property_taker *taker,
                           void *context);

/* How a picture is turned for display: first by `angle` quarter turns counter-clockwise, then by a
 * mirroring that exchanges top and bottom (0), left and right (1), or nothing (GF_NO_MIRROR).
 * (ISO/IEC 23008-12, 6.5.10 and 6.5.12) */
struct gf_heif_turn {
    int angle, mirror;
};
enum { GF_NO_MIRROR = -1 };

/* Returns the EXIF orientation, 1..8, with the same effect; the second function does the
 * reverse. */
int gf_heif_turn_orientation(struct gf_heif_turn turn);
struct gf_heif_turn gf_heif_turn_of(int orientation);

/* Returns the EXIF orientation that the file's boxes state for the item of that number; 1 if they
 * state none. */
int gf_heif_item_orientation(const struct gf_blob *file, uint32_t item);
/* Returns how many items of that type, such as "hvc1", the file has. */
int gf_heif_items(const struct gf_blob *file, const char *type);
/* Whether the pictures of a grid are listed in another order than that of their item numbers. */
bool gf_heif_grid_is_mixed(const struct gf_blob *file);
/* Whether a picture is made of itself, or of pictures that are made of others, and so on, more
 * often than any camera does: libheif would start a thread for each without end. */
bool gf_heif_is_nested(const struct gf_blob *file);
/* Whether the box meta states no size, and so lasts to the end of the file. */
bool gf_heif_meta_is_open(const struct gf_blob *file);
/* Whether the file has a track of that kind, such as "soun". */
bool gf_heif_has_track(const struct gf_blob *file, const char *kind);
/* Returns the type of the first auxiliary track, such as
 * "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"; the blob is empty if there is no such track or
 * type. */
struct gf_blob gf_heif_auxiliary_track(const struct gf_blob *file);
