/* JPEGs with a gain map, made from two JPEGs by segments that are written here. */
#pragma once

#include "codec_test.h"

#define HDRGM "xmlns:h='http://ns.adobe.com/hdr-gain-map/1.0/'"
#define XMP_HEAD "http://ns.adobe.com/xap/1.0/"
#define PACKET(attributes, elements) \
    XMP_HEAD "\0<x:xmpmeta xmlns:x='adobe:ns:meta/'><r:RDF " \
             "xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><r:Description " HDRGM \
             " h:Version='1.0' " attributes ">" elements "</r:Description></r:RDF></x:xmpmeta>"
#define ISO "urn:iso:std:iso:ts:21496:-1"

struct segment {
    int marker;
    const char *data;
    size_t size;
};
#define SEGMENT(marker_, text_) \
    { \
        marker_, text_, sizeof(text_) - 1 \
    }

static inline void insert_segment(struct bytes *jpeg, const struct segment *segment)
{
    struct bytes made = {0};
    const size_t size = segment->size + 2;
    const unsigned char head[] = {0xff, (unsigned char)segment->marker, (unsigned char)(size >> 8),
                                  (unsigned char)size};
    append(&made, jpeg->data, 2);
    append(&made, head, sizeof head);
    append(&made, segment->data, segment->size);
    append(&made, jpeg->data + 2, jpeg->size - 2);
    free(jpeg->data);
    *jpeg = made;
}

static inline void put_be(unsigned char *at, size_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Writes a file of the two JPEGs with an index, which is the first segment. `moved` is added to the
 * map's place in it. */
static inline void save_with_map(const char *path, struct bytes picture, struct bytes map,
                                 long moved)
{
    enum { PAYLOAD = 6, HEADER = PAYLOAD + 4, ENTRY = HEADER + 26 + 16 };
    char index[] = "MPF\0MM\0\x2a\0\0\0\x08\0\1\xb0\2\0\7\0\0\0\x20\0\0\0\x1a\0\0\0\0"
                   "\0\3\0\0    \0\0\0\0\0\0\0\0"
                   "\0\0\0\0    \0\0\0\0\0\0\0";
    struct bytes file = {0};
    append(&file, picture.data, picture.size);
    insert_segment(&file, &(struct segment){0xe2, index, sizeof index});
    put_be(file.data + ENTRY - 12, file.size);
    put_be(file.data + ENTRY + 4, map.size);
    put_be(file.data + ENTRY + 8, (size_t)((long)(file.size - HEADER) + moved));
    append(&file, map.data, map.size);
    save(path, file.data, file.size);
    free(file.data);
}

/* Makes a JPEG of a picture that is soft but for a few steps. */
static inline struct bytes jpeg_of(int width, int height, int channels, unsigned step)
{
    struct gf_options options = plain_options();
    struct picture picture = smooth_picture(width, height, channels, 8);
    options.quality = 95;
    for (size_t i = 0; i < picture_bytes(picture.format); i++)
        picture.data[i] = (unsigned char)(picture.data[i] + (i / step) % 3 * 20);
    assert_int_equal(encode(in_folder("part.jpg"), &picture, &options), GF_OK);
    free_picture(&picture);
    return load(in_folder("part.jpg"));
}
