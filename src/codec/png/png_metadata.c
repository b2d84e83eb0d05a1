#include "codec/png/png_metadata.h"

#include <stdlib.h>
#include <string.h>
#include <png.h>
#include <zlib.h>

#include "codec/common/checks.h"
#include "codec/common/metadata.h"
#include "codec/io/input.h"
#include "codec/png/inflate.h"
#include "codec/png/png_chunk.h"
#include "codec/png/png_raw_profile.h"

enum { UNPACK_FIRST = 64 << 10 };

/* Unpacks a zlib stream of up to GF_METADATA_MAX bytes. A longer or damaged one is left out with a
 * warning. False when out of memory. */
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

/* The byte behind the next zero; NULL where there is no zero. */
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

static const char xmp_keyword[] = "XML:com.adobe.xmp";

static bool add_itxt(struct gf_metadata *metadata, const unsigned char *data, size_t size,
                     const struct gf_options *options, const char *file)
{
    struct gf_blob *const xmp = &metadata->xmp;
    const unsigned char *const end = data + size;
    if (xmp->size || size < sizeof xmp_keyword + 2 ||
        memcmp(data, xmp_keyword, sizeof xmp_keyword) != 0)
        return true;
    const bool packed = data[sizeof xmp_keyword];
    const unsigned char *const text = behind_zero(behind_zero(data + sizeof xmp_keyword + 2, end),
                                                  end); /* language, translation */
    if (!text || text == end)
        return true;
    return packed ? unpack(text, (size_t)(end - text), "XMP", xmp, options, file)
                  : gf_blob_set(xmp, text, (size_t)(end - text));
}

/* tEXt and zTXt: a keyword, a zero, in zTXt a zero for the method, then the text. */
static bool add_text(struct gf_metadata *metadata, const struct gf_png_chunk *chunk,
                     const struct gf_options *options, const char *file)
{
    const unsigned char *const end = chunk->data + chunk->size;
    const char *const type = (const char *)chunk->data + sizeof GF_PNG_RAW_PROFILE - 1;
    const unsigned char *text = behind_zero(chunk->data, end);
    struct gf_blob unpacked = {0};
    bool damaged;
    if (!text || text == end)
        return true;
    size_t size = (size_t)(end - text);
    if (chunk->type[0] == 'z') {
        if (!unpack(text + 1, size - 1, "raw profile", &unpacked, options, file))
            return false;
        text = unpacked.data;
        size = unpacked.size;
    }
    const bool added =
        !size || gf_png_add_raw_profile(metadata, type, (const char *)text, size, &damaged);
    if (size && added && damaged)
        gf_warn(options, "%s: its raw profile of type %.20s is damaged: left out", file, type);
    free(unpacked.data);
    return added;
}

static void add_phys(struct gf_metadata *metadata, const unsigned char *data, size_t size)
{
    if (size != 9 || data[8] != PNG_RESOLUTION_METER)
        return;
    metadata->density_x = png_get_uint_32(data);
    metadata->density_y = png_get_uint_32(data + 4);
}

static bool begins_with(const struct gf_png_chunk *chunk, const char *text, size_t size)
{
    return chunk->size >= size && !memcmp(chunk->data, text, size);
}

/* Whether a chunk of that type can hold metadata that outputs keep. */
static bool is_metadata(const struct gf_png_chunk *chunk)
{
    return !strcmp(chunk->type, "iCCP") || !strcmp(chunk->type, "eXIf") ||
           !strcmp(chunk->type, "pHYs") ||
           (!strcmp(chunk->type, "iTXt") && begins_with(chunk, xmp_keyword, sizeof xmp_keyword)) ||
           ((!strcmp(chunk->type, "tEXt") || !strcmp(chunk->type, "zTXt")) &&
            begins_with(chunk, GF_PNG_RAW_PROFILE, sizeof GF_PNG_RAW_PROFILE - 1));
}

static bool has_right_crc(const struct gf_png_chunk *chunk)
{
    const uint32_t crc = gf_crc32(0, (const uint8_t *)chunk->type, 4);
    return gf_crc32(crc, chunk->data, chunk->size) == chunk->crc;
}

bool gf_png_add_metadata(struct gf_metadata *metadata, const struct gf_png_chunk *chunk,
                         const struct gf_options *options, const char *file)
{
    const unsigned char *const data = chunk->data;
    const size_t size = chunk->size;
    if (!size || !is_metadata(chunk))
        return true;
    if (!has_right_crc(chunk)) {
        gf_warn(options, "%s: its %s chunk has a wrong checksum: it is left out", file,
                chunk->type);
        return true;
    }
    switch (chunk->type[0]) {
    case 'i':
        return chunk->type[1] == 'C' ? add_iccp(metadata, data, size, options, file)
                                     : add_itxt(metadata, data, size, options, file);
    case 'e':
        return gf_metadata_add_exif(metadata, data, size);
    case 'p':
        add_phys(metadata, data, size);
        return true;
    default:
        return add_text(metadata, chunk, options, file);
    }
}

/* ---- chunks behind the pixels ---- */

/* Reads the data and the checksum of a chunk. True unless out of memory. */
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
                              const struct gf_options *options)
{
    static const char *const types[] = {"eXIf", "iTXt", "tEXt", "zTXt"};
    unsigned char head[GF_PNG_HEAD_BYTES];
    size_t got;
    while (!gf_input_read_at(input, offset, head, sizeof head, &got, NULL) && got == sizeof head) {
        char type[5] = {0};
        const uint32_t size = gf_png_get_be32(head);
        memcpy(type, head + 4, 4);
        if (size > GF_PNG_CHUNK_LONGEST || !strcmp(type, "IEND"))
            break;
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (!strcmp(type, types[i]) && size <= GF_PNG_METADATA_CHUNK_MAX &&
                !add_chunk_at(metadata, input, offset + GF_PNG_HEAD_BYTES,
                              (struct gf_png_chunk){.type = type, .size = size}, options))
                return false;
        offset += GF_PNG_HEAD_BYTES + (int64_t)size + GF_PNG_CRC_BYTES;
    }
    return true;
}
