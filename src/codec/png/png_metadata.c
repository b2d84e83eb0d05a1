#include "codec/png/png_metadata.h"

#include <stdlib.h>
#include <string.h>
#include <png.h>
#include <zlib.h>

#include "codec/common/checks.h"
#include "codec/common/metadata.h"

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

static bool add_itxt(struct gf_metadata *metadata, const unsigned char *data, size_t size,
                     const struct gf_options *options, const char *file)
{
    static const char keyword[] = "XML:com.adobe.xmp";
    struct gf_blob *const xmp = &metadata->xmp;
    const unsigned char *const end = data + size;
    if (xmp->size || size < sizeof keyword + 2 || memcmp(data, keyword, sizeof keyword) != 0)
        return true;
    const bool packed = data[sizeof keyword];
    const unsigned char *const text =
        behind_zero(behind_zero(data + sizeof keyword + 2, end), end); /* language, translation */
    if (!text || text == end)
        return true;
    return packed ? unpack(text, (size_t)(end - text), "XMP", xmp, options, file)
                  : gf_blob_set(xmp, text, (size_t)(end - text));
}

static void add_phys(struct gf_metadata *metadata, const unsigned char *data, size_t size)
{
    if (size != 9 || data[8] != PNG_RESOLUTION_METER)
        return;
    metadata->density_x = png_get_uint_32(data);
    metadata->density_y = png_get_uint_32(data + 4);
}

bool gf_png_add_metadata(struct gf_metadata *metadata, const char *type, const unsigned char *data,
                         size_t size, const struct gf_options *options, const char *file)
{
    if (!strcmp(type, "iCCP"))
        return add_iccp(metadata, data, size, options, file);
    if (!strcmp(type, "iTXt"))
        return add_itxt(metadata, data, size, options, file);
    if (!strcmp(type, "eXIf"))
        return gf_metadata_add_exif(metadata, data, size);
    if (!strcmp(type, "pHYs"))
        add_phys(metadata, data, size);
    return true;
}
