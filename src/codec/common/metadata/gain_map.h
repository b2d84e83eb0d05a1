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
        int64_t begin, bytes;         /* offset and size; begin is 0 if the index lacks it */
    } picture[GF_MPF_LISTED];         /* the first GF_MPF_LISTED of the counted pictures */
    int64_t end;                      /* offset behind the last picture; 0: unknown */
    uint16_t kinds[GF_PICTURE_KINDS]; /* how many pictures of each kind the index lists */
    int64_t chosen, chosen_bytes;     /* offset and size of the chosen picture; 0: none */
};
/* Reads the payload of a JPEG's APP2 marker segment, from whose start offsets count. `page` chooses
 * a picture as gf_input_page() does. Returns false if the payload is no such index. */
bool gf_mpf_read(const void *payload, size_t size, int page, struct gf_mpf *mpf);

/* Narrows the input, a JPEG in a regular file or memory, to the picture of its index that
 * gf_input_page() chooses. */
enum gf_status gf_mpf_choose(struct gf_input *input, struct gf_error *error) GF_CHECKED;

/* The gain map of a JPEG (Ultra HDR 1.0, ISO 21496-1, Apple's): a JPEG of its own behind the
 * picture's, whose marker segments say what its samples mean. */

#define GF_GAIN_MAP_OF_APPLE "urn:com:apple:photo:2020:aux:hdrgainmap"
/* The name of the segment, with its terminating zero. */
#define GF_APP2_GAIN_MAP "urn:iso:std:iso:ts:21496:-1"

/* What the marker segments of a gain map's JPEG hold. The blobs point into the JPEG. */
struct gf_gain_map_facts {
    struct gf_blob xmp; /* the XMP packet about the gain map; size 0: none */
    /* The binary metadata of ISO 21496-1, without the segment's name; size 0: none. */
    struct gf_blob iso;
    /* Apple's XMP packet, used if there is neither xmp nor iso; size 0: none. */
    struct gf_blob apple;
    struct gf_gain_channel channel[3];
    /* Log2 of the display headrooms up to which the map is not used, and from which on it is fully
     * used. */
    double capacity[2];
    /* The map multiplies light with the primaries of its own profile, not of the picture's. */
    bool own_colours;
    bool lacks_headroom; /* a map of Apple whose headroom is in the maker note of its picture */
};

/* Reads the marker segments of a gain map's JPEG. *why becomes NULL, or says why the map cannot be
 * used. Returns false if the JPEG is no gain map. */
bool gf_gain_map_read(const struct gf_blob *jpeg, struct gf_gain_map_facts *map, const char **why);

/* Writes the headroom into the JPEG of a map of Apple. Returns false when out of memory. */
bool gf_gain_map_add_headroom(struct gf_blob *jpeg, double headroom);

/* Checks that a map has the shape of its picture, whatever its size, and room in memory. The
 * error's text does not name the file. */
enum gf_status gf_gain_map_check(struct gf_format map, struct gf_format picture, size_t jpeg_bytes,
                                 const struct gf_options *options,
                                 struct gf_error *error) GF_CHECKED;

/* Adds the metadata of the facts to the JPEG of a map. `has_own`: the facts come from this JPEG,
 * which lacks at most the XMP. The XMP is made if the facts have none, unless XMP cannot express
 * them. Returns false when out of memory. */
bool gf_gain_map_describe(const struct gf_gain_map_facts *facts, bool has_own,
                          struct gf_blob *jpeg);

/* Makes the XMP of a picture announce its gain map of map_bytes bytes: adds to the packet, or makes
 * one. Returns false when out of memory. */
bool gf_gain_map_announce(struct gf_blob *xmp, size_t map_bytes);

/* Adds the marker segments that announce the map to the JPEG of the picture: the index of both
 * (MPF) and, if the map has binary metadata, their version. False when out of memory. */
bool gf_gain_map_index(struct gf_blob *jpeg, const struct gf_blob *map);
