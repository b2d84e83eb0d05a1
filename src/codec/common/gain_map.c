#include "codec/common/gain_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/common/checks.h"
#include "codec/common/metadata.h"
#include "codec/common/xmp.h"

/* ---- the segments ---- */

/* Takes the next segment before the scan: its marker and its payload. */
static bool next_segment(const struct gf_blob *jpeg, size_t *at, int *marker,
                         struct gf_blob *payload)
{
    enum { SOS = 0xda, HEAD = 4 };
    if (*at > jpeg->size || jpeg->size - *at < HEAD || jpeg->data[*at] != 0xff)
        return false;
    const size_t length = gf_get_be(jpeg->data + *at + 2, 2);
    *marker = jpeg->data[*at + 1];
    if (*marker == SOS || length < 2 || length > jpeg->size - *at - 2)
        return false;
    *payload = (struct gf_blob){jpeg->data + *at + HEAD, length - 2};
    *at += 2 + length;
    return true;
}

static bool begins(const struct gf_blob *payload, const char *name, size_t size,
                   struct gf_blob *rest)
{
    if (payload->size <= size || memcmp(payload->data, name, size) != 0)
        return false;
    *rest = (struct gf_blob){payload->data + size, payload->size - size};
    return true;
}

static void find_blocks(const struct gf_blob *jpeg, struct gf_gain_map_facts *map)
{
    enum { APP1 = 0xe1, APP2 = 0xe2, VERSIONS = 4 };
    struct gf_blob payload, rest;
    size_t at = 2;
    int marker;
    while (next_segment(jpeg, &at, &marker, &payload)) {
        if (marker == APP1 && !map->xmp.size &&
            begins(&payload, GF_APP1_XMP, sizeof GF_APP1_XMP, &rest) &&
            gf_xmp_names_gain_map(&rest))
            map->xmp = rest;
        if (marker == APP1 && !map->apple.size &&
            begins(&payload, GF_APP1_XMP, sizeof GF_APP1_XMP, &rest) &&
            memmem(rest.data, rest.size, GF_GAIN_MAP_OF_APPLE, sizeof GF_GAIN_MAP_OF_APPLE - 1))
            map->apple = rest;
        if (marker == APP2 && begins(&payload, GF_APP2_GAIN_MAP, sizeof GF_APP2_GAIN_MAP, &rest) &&
            rest.size > VERSIONS)
            map->iso = rest;
    }
}

/* ---- the binary metadata of ISO 21496-1 ---- */

struct cursor {
    const unsigned char *at;
    size_t left;
    uint32_t denominator; /* of all fractions; 0: each has its own */
    bool broken;
};

static uint32_t take(struct cursor *from, int bytes)
{
    if (from->left < (size_t)bytes) {
        from->broken = true;
        return 0;
    }
    const uint32_t value = gf_get_be(from->at, bytes);
    from->at += bytes;
    from->left -= (size_t)bytes;
    return value;
}

static double take_fraction(struct cursor *from, bool is_signed)
{
    const uint32_t bits = take(from, 4);
    const uint32_t below = from->denominator ? from->denominator : take(from, 4);
    from->broken |= !below;
    return (is_signed ? (double)(int32_t)bits : (double)bits) / (below ? below : 1);
}

static const char *read_iso(const struct gf_blob *iso, struct gf_gain_map_facts *map)
{
    enum { MANY = 128, BASE_COLOURS = 64, COMMON = 8, BACKWARD = 4 };
    struct cursor from = {.at = iso->data, .left = iso->size};
    if (take(&from, 2))
        return "its metadata are of a later version";
    (void)take(&from, 2); /* the version of the writer */
    const uint32_t flags = take(&from, 1);
    if (flags & COMMON) {
        from.denominator = take(&from, 4);
        from.broken |= !from.denominator;
    }
    const double base = take_fraction(&from, false), other = take_fraction(&from, false);
    for (int c = 0; c < 3; c++) {
        struct gf_gain_channel *const channel = &map->channel[c];
        *channel = map->channel[0];
        if (c && !(flags & MANY))
            continue;
        channel->least = take_fraction(&from, true);
        channel->most = take_fraction(&from, true);
        channel->gamma = take_fraction(&from, false);
        channel->base_offset = take_fraction(&from, true);
        channel->offset = take_fraction(&from, true);
    }
    map->own_colours = !(flags & BASE_COLOURS);
    map->capacity[0] = base;
    map->capacity[1] = other;
    if (from.broken)
        return "its metadata are damaged";
    return flags & BACKWARD || base > other ? "its picture is the HDR one" : NULL;
}

/* ---- the XMP of Ultra HDR 1.0 ---- */

/* Sets the member at that offset of each channel. Returns false if the packet lacks a number that
 * has no default (NAN). */
static bool set_member(const struct gf_blob *xmp, const char *name, size_t offset, double usual,
                       struct gf_gain_map_facts *map)
{
    double number[3] = {usual};
    const int count = gf_xmp_numbers(xmp, GF_XMP_GAIN_MAP, name, number, 3);
    for (int c = 0; c < 3; c++)
        *(double *)((char *)&map->channel[c] + offset) = number[count == 3 ? c : 0];
    return !isnan(number[0]);
}

static const char *read_xmp(const struct gf_blob *xmp, struct gf_gain_map_facts *map)
{
#define MEMBER(name) offsetof(struct gf_gain_channel, name)
    double backward = 0;
    (void)gf_xmp_numbers(xmp, GF_XMP_GAIN_MAP, "BaseRenditionIsHDR", &backward, 1);
    const bool whole = set_member(xmp, "GainMapMin", MEMBER(least), 0, map) &&
                       set_member(xmp, "GainMapMax", MEMBER(most), NAN, map) &&
                       set_member(xmp, "Gamma", MEMBER(gamma), 1, map) &&
                       set_member(xmp, "OffsetSDR", MEMBER(base_offset), 1.0 / 64, map) &&
                       set_member(xmp, "OffsetHDR", MEMBER(offset), 1.0 / 64, map);
#undef MEMBER
    map->own_colours = false;
    return !whole          ? "its metadata lack GainMapMax"
           : backward != 0 ? "its picture is the HDR one"
                           : NULL;
}

/* ---- the XMP of Apple ---- */

static const char *read_apple(const struct gf_blob *xmp, struct gf_gain_map_facts *map)
{
    double headroom = 0;
    map->lacks_headroom =
        !gf_xmp_numbers(xmp, GF_XMP_GAIN_MAP_OF_APPLE, "HDRGainMapHeadroom", &headroom, 1);
    if (map->lacks_headroom)
        return "neither it nor its picture says its headroom";
    for (int c = 0; c < 3; c++)
        map->channel[c] = (struct gf_gain_channel){
            .most = log2(headroom), .gamma = 1, .headroom = headroom >= 1 ? headroom : NAN};
    map->capacity[1] = map->channel[0].most;
    return NULL;
}

/* Whether the numbers are such that tables can be made of them. */
static bool is_usual(const struct gf_gain_channel *channel)
{
    enum { OCTAVES_MOST = 64 };
    return !isnan(channel->headroom) && fabs(channel->least) <= OCTAVES_MOST &&
           fabs(channel->most) <= OCTAVES_MOST && channel->gamma > 0.001 && channel->gamma < 1000 &&
           fabs(channel->base_offset) <= 1 && fabs(channel->offset) <= 1;
}

bool gf_gain_map_read(const struct gf_blob *jpeg, struct gf_gain_map_facts *map, const char **why)
{
    *map = (struct gf_gain_map_facts){.own_colours = false};
    *why = NULL;
    if (jpeg->size < 2 || jpeg->data[0] != 0xff || jpeg->data[1] != 0xd8)
        return false;
    find_blocks(jpeg, map);
    if (!map->iso.size && !map->xmp.size && !map->apple.size)
        return false;
    *why = map->iso.size   ? read_iso(&map->iso, map)
           : map->xmp.size ? read_xmp(&map->xmp, map)
                           : read_apple(&map->apple, map);
    for (int c = 0; !*why && c < 3; c++) {
        if (!is_usual(&map->channel[c]))
            *why = "its metadata hold impossible numbers";
    }
    return true;
}

enum gf_status gf_gain_map_check(struct gf_format map, struct gf_format picture, size_t jpeg_bytes,
                                 const struct gf_options *options, struct gf_error *error)
{
    const int64_t across = (int64_t)map.width * picture.height,
                  down = (int64_t)map.height * picture.width;
    const uint64_t bytes = (uint64_t)gf_row_bytes(map) * (uint64_t)map.height,
                   most = options->memory_bytes ? options->memory_bytes
                                                : gf_bytes_in_proportion(jpeg_bytes);
    /* The sides of both may have been rounded. */
    if (llabs(across - down) > (int64_t)picture.width + picture.height + map.width + map.height)
        return gf_fail(error, GF_ERROR_INPUT, "its shape is %dx%d and the picture's %dx%d",
                       map.width, map.height, picture.width, picture.height);
    return bytes <= most ? GF_OK
                         : gf_fail(error, GF_ERROR_INPUT, "it takes %llu MiB of memory",
                                   (unsigned long long)(bytes >> 20));
}
