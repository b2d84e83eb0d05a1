/* Writes what announces a gain map, and what it means. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/common/gain_map.h"
#include "codec/common/metadata.h"
#include "codec/common/xmp.h"

enum { APP1 = 0xe1, APP2 = 0xe2, TEXT_SIZE = 2048 };

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
#define DESCRIPTION \
    "<rdf:Description xmlns:rdf=\"" RDF "\" rdf:about=\"\" xmlns:hdrgm=\"" GF_XMP_GAIN_MAP \
    "\" hdrgm:Version=\"1.0\""
#define BEGIN "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"" RDF "\">"
#define END "</rdf:RDF></x:xmpmeta>"

/* Adds bytes at an offset of the blob. False when out of memory. */
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

/* Adds a segment of a name, with its terminating zero, and a payload. */
static bool insert_segment(struct gf_blob *jpeg, size_t at, int marker, const char *name,
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
    return insert_segment(jpeg, SOI, APP1, GF_APP1_XMP, text, (size_t)length);
}

/* Writes a property with a number for each channel. */
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
        !insert_segment(jpeg, SOI, APP2, GF_APP2_GAIN_MAP, facts->iso.data, facts->iso.size))
        return false;
    if (facts->xmp.size)
        return has_own ||
               insert_segment(jpeg, SOI, APP1, GF_APP1_XMP, facts->xmp.data, facts->xmp.size);
    return facts->own_colours ||
           insert_segment(jpeg, SOI, APP1, GF_APP1_XMP, text, write_meaning(facts, text));
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
    xmp->size = 0; /* what is no XMP is not kept */
    return insert(xmp, 0, BEGIN END, sizeof BEGIN END - 1) &&
           insert(xmp, sizeof BEGIN - 1, text, length);
}

static void put(unsigned char *at, size_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Returns the offset behind the segments APP0 to APP15 with which the JPEG begins. */
static size_t behind_segments(const struct gf_blob *jpeg)
{
    size_t at = 2;
    while (at + 4 < jpeg->size && jpeg->data[at] == 0xff && jpeg->data[at + 1] >> 4 == 0xe)
        at += 2 + gf_get_be(jpeg->data + at + 2, 2);
    return at < jpeg->size ? at : 2;
}

bool gf_gain_map_index(struct gf_blob *jpeg, const struct gf_blob *map)
{
    /* Behind the name: the header of a TIFF, a directory of the version, the number of pictures and
     * their list, and the list. */
    enum { NAME = 4, SEGMENT_HEAD = 4, LIST = 50, ENTRY = 16 };
    unsigned char index[LIST + 2 * ENTRY] =
        "MM\0\x2a\0\0\0\x08\0\3\xb0\0\0\7\0\0\0\x04"
        "0100\xb0\1\0\4\0\0\0\1\0\0\0\2\xb0\2\0\7\0\0\0\x20\0\0\0\x32\0\0\0\0\0\3\0\0";
    struct gf_gain_map_facts facts;
    const char *why;
    const size_t at = behind_segments(jpeg);
    (void)gf_gain_map_read(map, &facts, &why);
    if (facts.iso.size && !insert_segment(jpeg, at, APP2, GF_APP2_GAIN_MAP, "\0\0\0", 4))
        return false;
    const size_t size = jpeg->size + SEGMENT_HEAD + NAME + sizeof index;
    put(index + LIST + 4, size);
    put(index + LIST + ENTRY + 4, map->size);
    put(index + LIST + ENTRY + 8, size - (at + SEGMENT_HEAD + NAME));
    return insert_segment(jpeg, at, APP2, "MPF", index, sizeof index);
}
