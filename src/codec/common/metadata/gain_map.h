/* The pictures that follow a JPEG in the same file, such as a camera's second view, previews and
 * a gain map: an index in an APP2 marker segment lists them. The index is a TIFF structure. (CIPA
 * DC-007, Multi-Picture Format) */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/common/metadata/texts.h"
#include "codec/io/input.h"
#include "gpufilter/image.h"
#include "gpufilter/options.h"
#include "icc/icc_hdr.h"

enum { GF_MPF_LISTED = 8 };
struct gf_mpf {
    int pictures; /* number of pictures, without the JPEG itself and its previews */
    struct {
        int64_t begin, bytes;         /* begin is 0 if the index does not say it */
    } picture[GF_MPF_LISTED];         /* the first of them */
    int64_t end;                      /* the end of the last picture; 0: unknown */
    uint16_t kinds[GF_PICTURE_KINDS]; /* how many pictures of each kind the index lists */
    int64_t chosen, chosen_bytes;     /* where the chosen picture begins, and its size; 0: none */
};
/* Reads the payload of a JPEG's APP2 marker segment, from which offsets count. `page` chooses a
 * picture as gf_input_page() does. Returns false if the payload is no such index. */
bool gf_mpf_read(const void *payload, size_t size, int page, struct gf_mpf *mpf);

/* Narrows the input, a JPEG in a regular file or memory, to the picture of its index that
 * gf_input_page() chooses. */
enum gf_status gf_mpf_choose(struct gf_input *input, struct gf_error *error) GF_CHECKED;

/* The gain map of a JPEG (Ultra HDR 1.0, ISO 21496-1, Apple's): a JPEG of its own behind the
 * picture's, whose marker segments say what its samples mean. */

#define GF_GAIN_MAP_OF_APPLE "urn:com:apple:photo:2020:aux:hdrgainmap"
#define GF_APP2_GAIN_MAP "urn:iso:std:iso:ts:21496:-1" /* with the terminating zero */

/* What the marker segments of a gain map's JPEG hold. The blobs point into the JPEG. */
struct gf_gain_map_facts {
    struct gf_blob xmp;   /* the packet; size 0: it has none of a gain map */
    struct gf_blob iso;   /* the binary metadata, without the name; size 0: there are none */
    struct gf_blob apple; /* the packet of a map of Apple, for want of these; size 0: none */
    struct gf_gain_channel channel[3];
    double capacity[2]; /* the headrooms of a display, as powers of 2, at which the map is not used
                         * and fully used */
    /* The light that is multiplied has the primaries of the map's own profile, not the picture's.
     */
    bool own_colours;
    bool lacks_headroom; /* a map of Apple that leaves it to the maker note of its picture */
};

/* Reads the marker segments. *why becomes NULL, or says why the map cannot be used. Returns false
 * if the JPEG is no gain map. */
bool gf_gain_map_read(const struct gf_blob *jpeg, struct gf_gain_map_facts *map, const char **why);

/* Makes the JPEG of a map of Apple say its headroom. False when out of memory. */
bool gf_gain_map_add_headroom(struct gf_blob *jpeg, double headroom);

/* Checks that a map has the shape of its picture, whatever its size, and room in memory. The
 * error's text does not name the file. */
enum gf_status gf_gain_map_check(struct gf_format map, struct gf_format picture, size_t jpeg_bytes,
                                 const struct gf_options *options,
                                 struct gf_error *error) GF_CHECKED;

/* Adds what the facts say to the JPEG of a map that lacks it; `has_own` tells that the JPEG is the
 * one of the facts. What has no XMP gets one, unless XMP cannot say it. False when out of memory.
 */
bool gf_gain_map_describe(const struct gf_gain_map_facts *facts, bool has_own,
                          struct gf_blob *jpeg);

/* Makes the packet of a picture announce its map of that many bytes: adds to the packet, or makes
 * one. False when out of memory. */
bool gf_gain_map_announce(struct gf_blob *xmp, size_t map_bytes);

/* Adds the marker segments that announce the map to the JPEG of the picture: the index of both
 * (MPF) and, if the map has binary metadata, their version. False when out of memory. */
bool gf_gain_map_index(struct gf_blob *jpeg, const struct gf_blob *map);
