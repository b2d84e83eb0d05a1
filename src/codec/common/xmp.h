/* Changes XMP packets in place. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "codec/common/texts.h"

/* Properties of a namespace: one property or, if `name` ends with '*', all properties whose names
 * begin with `name`. */
struct gf_xmp_name {
    const char *space, *name;
};

/* Removes the properties, which are attributes or elements of the packet. The last of `names` is
 * NULL. Returns false if damage in the packet, or a form that is not read, prevents that. */
bool gf_xmp_remove(struct gf_blob *xmp, const struct gf_xmp_name *names);

/* The properties that describe parts of the file that no output has: a gain map, pictures and films
 * after a JPEG's end, and the second part of a long packet. */
extern const struct gf_xmp_name gf_xmp_of_lost_things[];
/* The properties that hold small copies of the picture. */
extern const struct gf_xmp_name gf_xmp_thumbnails[];
/* The properties that say where the picture was taken, and who has rights in it. */
extern const struct gf_xmp_name gf_xmp_places[], gf_xmp_rights[];

/* Whether the packet states that the file has a gain map. */
bool gf_xmp_names_gain_map(const struct gf_blob *xmp);
#define GF_XMP_GAIN_MAP "http://ns.adobe.com/hdr-gain-map/1.0/"
#define GF_XMP_GAIN_MAP_OF_APPLE "http://ns.apple.com/HDRGainMap/1.0/"
/* Reads the numbers of a property: an attribute's one, or those of the items in an element; "True"
 * counts as 1 and "False" as 0. Returns how many there are, `most` at most; 0 also for a packet
 * that is damaged or not read. */
int gf_xmp_numbers(const struct gf_blob *xmp, const char *space, const char *name, double *number,
                   int most);
/* Returns the number of bytes after a JPEG's end marker that belong to the pictures and films in
 * the packet's directory. */
int64_t gf_xmp_bytes_behind(const struct gf_blob *xmp);
/* Changes the number of a property, such as "tiff:Orientation", wherever the packet has it. The
 * packet's memory is from malloc(). Returns false when out of memory. */
bool gf_xmp_set_number(struct gf_blob *xmp, const char *property, int number);
