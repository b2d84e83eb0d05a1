/* Finds the pictures that follow a JPEG in its file by their index (MPF), and reads and writes the
 * metadata of a gain map among them. */
#include "codec/common/metadata/gain_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/exif_directory.h"
#include "codec/common/metadata/metadata.h"

static const char mpf_name[] = "MPF";

/* Returns the kind of a picture from the lower 24 bits of its attributes in the index. */
static enum gf_picture_kind kind_of(uint32_t attributes)
{
    static const struct {
        uint32_t type, mask;
        enum gf_picture_kind kind;
    } types[] = {
        {0x030000, 0xffffff, GF_PICTURE_MAIN},     {0x010000, 0xff0000, GF_PICTURE_PREVIEW},
        {0x020001, 0xffffff, GF_PICTURE_PANORAMA}, {0x020002, 0xffffff, GF_PICTURE_DISPARITY},
        {0x020003, 0xffffff, GF_PICTURE_ANGLE},    {0x040000, 0xff0000, GF_PICTURE_ORIGINAL},
        {0x050000, 0xff0000, GF_PICTURE_GAIN_MAP}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if ((attributes & types[i].mask) == types[i].type)
            return types[i].kind;
    }
    return GF_PICTURE_OTHER;
}

static void read_entry(const struct gf_blob *index, size_t at, int number, int page,
                       struct gf_mpf *mpf)
{
    const int64_t bytes = tiff_get(index, at + 4, 4), offset = tiff_get(index, at + 8, 4);
    const enum gf_picture_kind kind = number ? kind_of(tiff_get(index, at, 4)) : GF_PICTURE_MAIN;
    const int64_t begin = (int64_t)sizeof mpf_name + offset;
    const bool wanted = page == number || gf_page_kind(page) == kind;
    mpf->kinds[kind]++;
    if (!number) /* entry 0 is the JPEG itself */
        return;
    if (offset && kind != GF_PICTURE_PREVIEW && mpf->pictures < GF_MPF_LISTED) {
        mpf->picture[mpf->pictures].begin = begin;
        mpf->picture[mpf->pictures].bytes = bytes;
    }
    mpf->pictures += kind != GF_PICTURE_PREVIEW;
    if (offset && begin + bytes > mpf->end)
        mpf->end = begin + bytes;
    if (offset && wanted && !mpf->chosen) {
        mpf->chosen = begin;
        mpf->chosen_bytes = bytes;
    }
}

bool gf_mpf_read(const void *payload, size_t size, int page, struct gf_mpf *mpf)
{
    enum { ENTRIES = 0xb002, ENTRY_BYTES = 16 };
    *mpf = (struct gf_mpf){0};
    if (size < sizeof mpf_name || memcmp(payload, mpf_name, sizeof mpf_name) != 0)
        return false;
    /* The cast is safe, because this blob is only read. */
    const struct gf_blob index = {(unsigned char *)payload + sizeof mpf_name,
                                  size - sizeof mpf_name};
    struct directory directory;
    const size_t entry =
        first_directory(&index, &directory) ? find_entry(&index, &directory, ENTRIES) : 0;
    if (!entry)
        return false;
    const size_t first = tiff_get(&index, entry + 8, 4);
    const size_t room = first < index.size ? (index.size - first) / ENTRY_BYTES : 0;
    const size_t stated = tiff_get(&index, entry + 4, 4) / ENTRY_BYTES;
    for (size_t i = 0; i < stated && i < room; i++)
        read_entry(&index, first + i * ENTRY_BYTES, (int)i, page, mpf);
    return true;
}

/* Searches the marker segments before the first scan for the index. Makes the offset of the chosen
 * picture count from the start of the input. */
static enum gf_status find_index(struct gf_input *input, struct gf_mpf *mpf, struct gf_error *error)
{
    enum { MARKER_MAX = 1 << 16, APP2 = 0xe2, SOS = 0xda };
    unsigned char *const bytes = malloc(MARKER_MAX);
    enum gf_status status = bytes ? GF_OK : gf_fail_memory(error);
    int64_t at = 2;
    size_t got = MARKER_MAX, length = 0;
    bool found = false;
    for (; !status && !found && got >= 4; at += (int64_t)length + 2) {
        status = gf_input_read_at(input, at, bytes, MARKER_MAX, &got, error);
        length = got < 4 ? 0 : (size_t)(bytes[2] << 8 | bytes[3]);
        if (status || length < 2 || bytes[0] != 0xff || bytes[1] == SOS)
            break;
        found = bytes[1] == APP2 && length + 2 <= got &&
                gf_mpf_read(bytes + 4, length - 2, gf_input_page(input), mpf);
        mpf->chosen += found && mpf->chosen ? at + 4 : 0;
    }
    free(bytes);
    return status;
}

enum gf_status gf_mpf_choose(struct gf_input *input, struct gf_error *error)
{
    const int page = gf_input_page(input);
    const enum gf_picture_kind kind = gf_page_kind(page);
    const int64_t size = gf_input_size(input);
    const char *const name = gf_input_name(input);
    struct gf_mpf mpf = {0};
    int count = 0;
    const enum gf_status status = find_index(input, &mpf, error);
    for (int i = 0; i < GF_PICTURE_KINDS; i++)
        count += mpf.kinds[i];
    if (status)
        return status;
    if (kind == GF_PICTURE_MAIN)
        return GF_OK;
    if (!mpf.chosen)
        return gf_fail_page(name, page, count ? count : 1, error);
    unsigned char begin[2] = {0};
    size_t got;
    const enum gf_status read = gf_input_read_at(input, mpf.chosen, begin, 2, &got, error);
    if (read || mpf.chosen_bytes > size - mpf.chosen || begin[0] != 0xff || begin[1] != 0xd8)
        return read ? read
                    : gf_fail(error, GF_ERROR_INPUT,
                              "%s: damaged: the picture is not where the file's index says", name);
    gf_input_narrow(input, mpf.chosen, mpf.chosen_bytes);
    return GF_OK;
}

/* ---- the marker segments of a gain map's JPEG ---- */

/* Takes the next marker segment, its marker and its payload, at *at. Returns false at the scan. */
static bool next_marker(const struct gf_blob *jpeg, size_t *at, int *marker,
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
    while (next_marker(jpeg, &at, &marker, &payload)) {
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
    uint32_t denominator; /* the denominator of all fractions; 0: each has its own */
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
    (void)take(&from, 2); /* skips the version of the writer */
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

/* Reads the property `name` into the member at `offset` in the struct of each channel; `usual` is
 * its default. Returns false if it is missing and has no default (NAN). */
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

/* Whether the channel's numbers lie in the ranges for which tables can be computed. */
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
    /* The shapes may differ by the rounding of both pictures' sides. */
    if (llabs(across - down) > (int64_t)picture.width + picture.height + map.width + map.height)
        return gf_fail(error, GF_ERROR_INPUT, "its shape is %dx%d and the picture's %dx%d",
                       map.width, map.height, picture.width, picture.height);
    return bytes <= most ? GF_OK
                         : gf_fail(error, GF_ERROR_INPUT, "it takes %llu MiB of memory",
                                   (unsigned long long)(bytes >> 20));
}

/* ---- writing the marker segments that announce a gain map, and those that say what it means
 * ---- */

enum { APP1 = 0xe1, APP2 = 0xe2, TEXT_SIZE = 2048 };

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
#define DESCRIPTION \
    "<rdf:Description xmlns:rdf=\"" RDF "\" rdf:about=\"\" xmlns:hdrgm=\"" GF_XMP_GAIN_MAP \
    "\" hdrgm:Version=\"1.0\""
#define BEGIN "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"" RDF "\">"
#define END "</rdf:RDF></x:xmpmeta>"

/* Inserts bytes into the blob at the offset. Returns false when out of memory. */
static bool insert(struct gf_blob *blob, size_t at, const void *bytes, size_t size)
{
    unsigned char *const grown = realloc(blob->data, blob->size + size);
    if (!grown)
        return false;
    memmove(grown + at + size, grown + at, blob->size - at);
    memcpy(grown + at, bytes, size);
    blob->data = grown;
    blob->size += size;
    return true;
}

/* Inserts a marker segment into the JPEG at the offset. It consists of a name with its terminating
 * zero, and a payload. */
static bool insert_marker(struct gf_blob *jpeg, size_t at, int marker, const char *name,
                          const void *payload, size_t size)
{
    const size_t name_size = strlen(name) + 1, length = 2 + name_size + size;
    const unsigned char head[] = {0xff, (unsigned char)marker, (unsigned char)(length >> 8),
                                  (unsigned char)length};
    return insert(jpeg, at, payload, size) && insert(jpeg, at, name, name_size) &&
           insert(jpeg, at, head, sizeof head);
}

bool gf_gain_map_add_headroom(struct gf_blob *jpeg, double headroom)
{
    enum { SOI = 2 };
    char text[TEXT_SIZE];
    const int length =
        snprintf(text, sizeof text,
                 BEGIN "<rdf:Description rdf:about=\"\" xmlns:a=\"" GF_XMP_GAIN_MAP_OF_APPLE
                       "\" a:HDRGainMapHeadroom=\"%.9g\" "
                       "xmlns:i=\"http://ns.apple.com/pixeldatainfo/1.0/\" "
                       "i:AuxiliaryImageType=\"" GF_GAIN_MAP_OF_APPLE "\"/>" END,
                 headroom);
    return insert_marker(jpeg, SOI, APP1, GF_APP1_XMP, text, (size_t)length);
}

/* Writes a property of XMP that has a number for each channel. Returns the length of the text. */
static size_t write_numbers(char *text, size_t size, const char *name, const double number[3])
{
    const int length = snprintf(text, size,
                                "<hdrgm:%s><rdf:Seq><rdf:li>%.9g</rdf:li><rdf:li>%.9g</rdf:li>"
                                "<rdf:li>%.9g</rdf:li></rdf:Seq></hdrgm:%s>",
                                name, number[0], number[1], number[2], name);
    return (size_t)length;
}

static size_t write_meaning(const struct gf_gain_map_facts *facts, char text[TEXT_SIZE])
{
    static const struct {
        const char *name;
        size_t offset;
    } members[] = {{"GainMapMin", offsetof(struct gf_gain_channel, least)},
                   {"GainMapMax", offsetof(struct gf_gain_channel, most)},
                   {"Gamma", offsetof(struct gf_gain_channel, gamma)},
                   {"OffsetSDR", offsetof(struct gf_gain_channel, base_offset)},
                   {"OffsetHDR", offsetof(struct gf_gain_channel, offset)}};
    size_t length = (size_t)snprintf(text, TEXT_SIZE,
                                     BEGIN DESCRIPTION " hdrgm:BaseRenditionIsHDR=\"False\""
                                                       " hdrgm:HDRCapacityMin=\"%.9g\""
                                                       " hdrgm:HDRCapacityMax=\"%.9g\">",
                                     facts->capacity[0], facts->capacity[1]);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        double number[3];
        for (int c = 0; c < 3; c++)
            memcpy(&number[c], (const char *)&facts->channel[c] + members[i].offset,
                   sizeof(double));
        length += write_numbers(text + length, TEXT_SIZE - length, members[i].name, number);
    }
    return length + (size_t)snprintf(text + length, TEXT_SIZE - length, "</rdf:Description>" END);
}

bool gf_gain_map_describe(const struct gf_gain_map_facts *facts, bool has_own, struct gf_blob *jpeg)
{
    enum { SOI = 2 };
    char text[TEXT_SIZE];
    if (facts->iso.size && !has_own &&
        !insert_marker(jpeg, SOI, APP2, GF_APP2_GAIN_MAP, facts->iso.data, facts->iso.size))
        return false;
    if (facts->xmp.size)
        return has_own ||
               insert_marker(jpeg, SOI, APP1, GF_APP1_XMP, facts->xmp.data, facts->xmp.size);
    return facts->own_colours ||
           insert_marker(jpeg, SOI, APP1, GF_APP1_XMP, text, write_meaning(facts, text));
}

bool gf_gain_map_announce(struct gf_blob *xmp, size_t map_bytes)
{
    char text[TEXT_SIZE];
    const size_t length = (size_t)snprintf(
        text, sizeof text,
        DESCRIPTION " xmlns:Container=\"http://ns.google.com/photos/1.0/container/\""
                    " xmlns:Item=\"http://ns.google.com/photos/1.0/container/item/\">"
                    "<Container:Directory><rdf:Seq><rdf:li rdf:parseType=\"Resource\">"
                    "<Container:Item Item:Semantic=\"Primary\" Item:Mime=\"image/jpeg\"/></rdf:li>"
                    "<rdf:li rdf:parseType=\"Resource\"><Container:Item Item:Semantic=\"GainMap\""
                    " Item:Mime=\"image/jpeg\" Item:Length=\"%zu\"/></rdf:li></rdf:Seq>"
                    "</Container:Directory></rdf:Description>",
        map_bytes);
    const unsigned char *end = xmp->data, *at = xmp->data,
                        *const last = xmp->size ? xmp->data + xmp->size : xmp->data;
    while (xmp->size && (at = memmem(at, (size_t)(last - at), ":RDF>", 5)))
        end = at++;
    while (xmp->size && end > xmp->data && *end != '<')
        end--;
    if (xmp->size && last - end > 2 && end[1] == '/')
        return insert(xmp, (size_t)(end - xmp->data), text, length);
    xmp->size = 0; /* data that is no XMP is dropped */
    return insert(xmp, 0, BEGIN END, sizeof BEGIN END - 1) &&
           insert(xmp, sizeof BEGIN - 1, text, length);
}

static void put(unsigned char *at, size_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Returns the offset behind the marker segments APP0 to APP15 with which the JPEG begins. */
static size_t behind_markers(const struct gf_blob *jpeg)
{
    size_t at = 2;
    while (at + 4 < jpeg->size && jpeg->data[at] == 0xff && jpeg->data[at + 1] >> 4 == 0xe)
        at += 2 + gf_get_be(jpeg->data + at + 2, 2);
    return at < jpeg->size ? at : 2;
}

bool gf_gain_map_index(struct gf_blob *jpeg, const struct gf_blob *map)
{
    /* The segment's name is followed by the header of a TIFF, a directory with three entries (the
     * version, the number of pictures, their list), and the list itself. */
    enum { NAME = 4, MARKER_HEAD = 4, LIST = 50, ENTRY = 16 };
    unsigned char index[LIST + 2 * ENTRY] =
        "MM\0\x2a\0\0\0\x08\0\3\xb0\0\0\7\0\0\0\x04"
        "0100\xb0\1\0\4\0\0\0\1\0\0\0\2\xb0\2\0\7\0\0\0\x20\0\0\0\x32\0\0\0\0\0\3\0\0";
    struct gf_gain_map_facts facts;
    const char *why;
    const size_t at = behind_markers(jpeg);
    (void)gf_gain_map_read(map, &facts, &why);
    if (facts.iso.size && !insert_marker(jpeg, at, APP2, GF_APP2_GAIN_MAP, "\0\0\0", 4))
        return false;
    const size_t size = jpeg->size + MARKER_HEAD + NAME + sizeof index;
    put(index + LIST + 4, size);
    put(index + LIST + ENTRY + 4, map->size);
    put(index + LIST + ENTRY + 8, size - (at + MARKER_HEAD + NAME));
    return insert_marker(jpeg, at, APP2, "MPF", index, sizeof index);
}
