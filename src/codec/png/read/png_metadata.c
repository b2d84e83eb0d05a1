#include "codec/png/png_metadata.h"

#include <stdlib.h>
#include <string.h>
#include <png.h>
#include <zlib.h>

#include "codec/common/checks.h"
#include "codec/common/metadata.h"
#include "codec/io/input.h"
#include "codec/png/inflate/inflate.h"
#include "codec/png/png_chunk.h"

enum { UNPACK_FIRST = 64 << 10 };

/* Decompresses a zlib stream to at most GF_METADATA_MAX bytes. A longer or damaged stream is left
 * out with a warning. Returns false when out of memory. */
static bool unpack(const unsigned char *data, size_t size, const char *what, struct gf_blob *blob,
                   const struct gf_options *options, const char *file)
{
    z_stream zlib = {.next_in = (unsigned char *)data, .avail_in = (uInt)size};
    if (inflateInit(&zlib) != Z_OK)
        return false;
    unsigned char *text = NULL;
    size_t room = UNPACK_FIRST;
    int result = Z_OK;
    while (result == Z_OK && room <= 2 * (size_t)GF_METADATA_MAX) {
        unsigned char *const larger = realloc(text, room);
        if (!larger) {
            free(text);
            inflateEnd(&zlib);
            return false;
        }
        text = larger;
        zlib.next_out = text + zlib.total_out;
        zlib.avail_out = (uInt)(room - zlib.total_out);
        result = inflate(&zlib, Z_NO_FLUSH);
        room *= 2;
    }
    const size_t length = zlib.total_out;
    inflateEnd(&zlib);
    if (result == Z_MEM_ERROR) {
        free(text);
        return false;
    }
    if (result == Z_STREAM_END && length && length <= GF_METADATA_MAX) {
        *blob = (struct gf_blob){text, length};
        return true;
    }
    free(text);
    gf_warn(options, "%s: its %s %s: left out", file, what,
            result == Z_OK || length > GF_METADATA_MAX ? "unpacks to more than 16 MB"
                                                       : "is damaged");
    return true;
}

/* Returns the byte after the next zero; NULL if there is no zero. */
static const unsigned char *behind_zero(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *const zero = at ? memchr(at, 0, (size_t)(end - at)) : NULL;
    return zero ? zero + 1 : NULL;
}

static bool add_iccp(struct gf_metadata *metadata, const unsigned char *data, size_t size,
                     const struct gf_options *options, const char *file)
{
    const unsigned char *const end = data + size;
    const unsigned char *const method = behind_zero(data, end);
    if (metadata->icc.size || !method || end - method < 2 || *method != 0)
        return true;
    return unpack(method + 1, (size_t)(end - method - 1), "ICC profile", &metadata->icc, options,
                  file);
}

static void warn_of_texts(const struct gf_options *options, const char *file, bool left_out)
{
    if (left_out)
        gf_warn(options, "%s: it has over %d texts, or too long ones: some are left out", file,
                GF_TEXTS_MOST);
}

static const char xmp_keyword[] = "XML:com.adobe.xmp";

/* Adds the contents of an iTXt chunk, which its keyword declares as XMP or a text. head: see struct
 * gf_text. */
static bool add_international(struct gf_metadata *metadata, const unsigned char *head,
                              size_t head_size, const unsigned char *text, size_t size,
                              const struct gf_options *options, const char *file)
{
    bool left_out = false;
    if (!strcmp((const char *)head, xmp_keyword))
        return metadata->xmp.size || !size || gf_blob_set(&metadata->xmp, text, size);
    const bool added = gf_texts_add(&metadata->texts, head, head_size, text, size, &left_out);
    warn_of_texts(options, file, left_out);
    return added;
}

/* Reads an iTXt chunk: keyword, compression flag, method, language, translated keyword, text. */
static bool add_itxt(struct gf_metadata *metadata, const struct gf_png_chunk *chunk,
                     const struct gf_options *options, const char *file)
{
    const unsigned char *const data = chunk->data, *const end = data + chunk->size;
    const unsigned char *const flags = behind_zero(data, end);
    if (!flags || end - flags < 2 || flags - data > GF_TEXT_KEYWORD_MOST + 1 || flags - data < 2)
        return true;
    const unsigned char *const text = behind_zero(behind_zero(flags + 2, end), end);
    if (!text)
        return true;
    const size_t keyword = (size_t)(flags - data), rest = (size_t)(text - flags) - 2;
    struct gf_blob unpacked = {0};
    const bool packed = flags[0];
    if (packed &&
        !unpack(text, (size_t)(end - text),
                strcmp((const char *)data, xmp_keyword) ? "text" : "XMP", &unpacked, options, file))
        return false;
    unsigned char *const head = malloc(keyword + rest);
    bool added = head;
    if (head) {
        memcpy(head, data, keyword);
        memcpy(head + keyword, flags + 2, rest);
    }
    if (head && (!packed || unpacked.size))
        added = add_international(metadata, head, keyword + rest, packed ? unpacked.data : text,
                                  packed ? unpacked.size : (size_t)(end - text), options, file);
    free(head);
    free(unpacked.data);
    return added;
}

/* Adds a text in Latin-1: the profile that it contains, or the text itself. */
static bool add_latin1(struct gf_metadata *metadata, const char *keyword, const unsigned char *text,
                       size_t size, const struct gf_options *options, const char *file)
{
    const size_t prefix = sizeof GF_PNG_RAW_PROFILE - 1;
    bool damaged = false, left_out = false;
    if (strncmp(keyword, GF_PNG_RAW_PROFILE, prefix) != 0) {
        const bool added = gf_texts_add_latin1(&metadata->texts, keyword, text, size, &left_out);
        warn_of_texts(options, file, left_out);
        return added;
    }
    const char *const type = keyword + prefix;
    const bool added =
        !size || gf_png_add_raw_profile(metadata, type, (const char *)text, size, &damaged);
    if (added && damaged)
        gf_warn(options, "%s: its raw profile of type %.20s is damaged: left out", file, type);
    return added;
}

/* Reads a tEXt or zTXt chunk: a keyword, a zero, in zTXt another zero for the method, then the
 * text. */
static bool add_text(struct gf_metadata *metadata, const struct gf_png_chunk *chunk,
                     const struct gf_options *options, const char *file)
{
    const unsigned char *const end = chunk->data + chunk->size;
    const char *const keyword = (const char *)chunk->data;
    const unsigned char *const text = behind_zero(chunk->data, end);
    struct gf_blob unpacked = {0};
    if (!text || text - chunk->data > GF_TEXT_KEYWORD_MOST + 1 || text - chunk->data < 2)
        return true;
    const size_t size = (size_t)(end - text);
    if (chunk->type[0] != 'z')
        return add_latin1(metadata, keyword, text, size, options, file);
    const char *const what = strncmp(keyword, GF_PNG_RAW_PROFILE, sizeof GF_PNG_RAW_PROFILE - 1)
                                 ? "text"
                                 : "raw profile";
    if (!size)
        return true;
    if (!unpack(text + 1, size - 1, what, &unpacked, options, file))
        return false;
    const bool added = !unpacked.size ||
                       add_latin1(metadata, keyword, unpacked.data, unpacked.size, options, file);
    free(unpacked.data);
    return added;
}

static void add_phys(struct gf_metadata *metadata, const unsigned char *data, size_t size)
{
    if (size != 9 || data[8] > PNG_RESOLUTION_METER)
        return;
    const double x = png_get_uint_32(data), y = png_get_uint_32(data + 4);
    if (data[8] == PNG_RESOLUTION_UNKNOWN) {
        gf_metadata_set_ratio(metadata, x, y);
        return;
    }
    metadata->density_x = x;
    metadata->density_y = y;
}

/* Adds gAMA, cHRM, sRGB, cICP, mDCV and cLLI. A chunk of a wrong length is ignored. */
static void add_colours(struct gf_colour_tags *tags, const char *type, const unsigned char *data,
                        size_t size)
{
    if (!strcmp(type, "gAMA") && size == 4) {
        tags->gamma = png_get_uint_32(data);
        tags->has_gamma = tags->gamma > 0;
    } else if (!strcmp(type, "cHRM") && size == 32) {
        for (int i = 0; i < 8; i++)
            tags->chromaticity[i] = png_get_int_32(data + (size_t)4 * (size_t)i);
        tags->has_chromaticities = true;
    } else if (!strcmp(type, "sRGB") && size == 1) {
        tags->intent = data[0];
        tags->has_srgb = data[0] <= 3;
    } else if (!strcmp(type, "cICP") && size == 4) {
        memcpy(tags->cicp, data, 4);
        tags->has_cicp = true;
    } else if (!strcmp(type, "mDCV") && size == sizeof tags->mdcv) {
        memcpy(tags->mdcv, data, size);
        tags->has_mdcv = true;
    } else if (!strcmp(type, "cLLI") && size == sizeof tags->clli) {
        memcpy(tags->clli, data, size);
        tags->has_clli = true;
    }
}

/* Whether a chunk of this type can contain metadata that outputs keep. */
static bool is_metadata(const char *type)
{
    static const char *const types[] = {"iCCP", "eXIf", "pHYs", "iTXt", "tEXt", "zTXt",
                                        "gAMA", "cHRM", "sRGB", "cICP", "mDCV", "cLLI"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!strcmp(type, types[i]))
            return true;
    }
    return false;
}

bool gf_png_chunk_is_sound(const struct gf_png_chunk *chunk)
{
    const uint32_t crc = gf_crc32(0, (const uint8_t *)chunk->type, 4);
    return gf_crc32(crc, chunk->data, chunk->size) == chunk->crc;
}

bool gf_png_add_metadata(struct gf_metadata *metadata, const struct gf_png_chunk *chunk,
                         const struct gf_options *options, const char *file)
{
    const unsigned char *const data = chunk->data;
    const size_t size = chunk->size;
    if (!size || !is_metadata(chunk->type))
        return true;
    if (!gf_png_chunk_is_sound(chunk)) {
        gf_warn(options, "%s: its %s chunk has a wrong checksum: it is left out", file,
                chunk->type);
        return true;
    }
    if (!strcmp(chunk->type, "iCCP"))
        return add_iccp(metadata, data, size, options, file);
    if (!strcmp(chunk->type, "eXIf"))
        return gf_metadata_add_exif(metadata, data, size);
    if (!strcmp(chunk->type, "iTXt"))
        return add_itxt(metadata, chunk, options, file);
    if (!strcmp(chunk->type + 1, "EXt") || !strcmp(chunk->type + 1, "TXt"))
        return add_text(metadata, chunk, options, file);
    if (!strcmp(chunk->type, "pHYs"))
        add_phys(metadata, data, size);
    else
        add_colours(&metadata->colour, chunk->type, data, size);
    return true;
}

/* Reads the data and the checksum of a chunk, and adds its metadata. False when out of memory. */
static bool add_chunk_at(struct gf_metadata *metadata, struct gf_input *input, int64_t offset,
                         struct gf_png_chunk chunk, const struct gf_options *options)
{
    unsigned char *const data = malloc(chunk.size + GF_PNG_CRC_BYTES);
    size_t got;
    bool added = data;
    if (data && !gf_input_read_at(input, offset, data, chunk.size + GF_PNG_CRC_BYTES, &got, NULL) &&
        got == chunk.size + GF_PNG_CRC_BYTES) {
        chunk.data = data;
        chunk.crc = gf_png_get_be32(data + chunk.size);
        added = gf_png_add_metadata(metadata, &chunk, options, gf_input_name(input));
    }
    free(data);
    return added;
}

bool gf_png_add_late_metadata(struct gf_metadata *metadata, struct gf_input *input, int64_t offset,
                              const struct gf_options *options, bool *frameless)
{
    static const char *const types[] = {"eXIf", "iTXt", "tEXt", "zTXt"};
    unsigned char head[GF_PNG_HEAD_BYTES];
    size_t got;
    bool frames = false;
    *frameless = false;
    while (!gf_input_read_at(input, offset, head, sizeof head, &got, NULL) && got == sizeof head) {
        char type[5] = {0};
        const uint32_t size = gf_png_get_be32(head);
        memcpy(type, head + 4, 4);
        *frameless = !frames && !strcmp(type, "IEND");
        if (size > GF_PNG_CHUNK_LONGEST || !strcmp(type, "IEND"))
            break;
        frames |= !strcmp(type, "fcTL");
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (!strcmp(type, types[i]) && size <= GF_PNG_METADATA_CHUNK_MAX &&
                !add_chunk_at(metadata, input, offset + GF_PNG_HEAD_BYTES,
                              (struct gf_png_chunk){.type = type, .size = size}, options))
                return false;
        offset += GF_PNG_HEAD_BYTES + (int64_t)size + GF_PNG_CRC_BYTES;
    }
    return true;
}
