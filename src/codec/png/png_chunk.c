#include "codec/png/png_chunk.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/png/deflate/deflate.h"

size_t gf_png_chunk_close(unsigned char *chunk, const char *type, size_t size)
{
    gf_png_put_be32(chunk, (uint32_t)size);
    memcpy(chunk + 4, type, 4);
    gf_png_put_be32(chunk + GF_PNG_HEAD_BYTES + size, (uint32_t)crc32_z(0, chunk + 4, size + 4));
    return GF_PNG_HEAD_BYTES + size + GF_PNG_CRC_BYTES;
}

enum gf_status gf_png_chunk_write(struct gf_output *output, const char *type, const void *data,
                                  size_t size, struct gf_error *error)
{
    unsigned char *const chunk = malloc(GF_PNG_HEAD_BYTES + size + GF_PNG_CRC_BYTES);
    GF_ALLOCATED(chunk, error);
    if (size)
        memcpy(chunk + GF_PNG_HEAD_BYTES, data, size);
    const enum gf_status status =
        gf_output_write(output, chunk, gf_png_chunk_close(chunk, type, size), error);
    free(chunk);
    return status;
}

int gf_png_colour_type(struct gf_format format)
{
    static const unsigned char colour_types[] = {0, 4, 2, 6}; /* the colour types of pixels with 1
                                                               * to 4 channels */
    return colour_types[format.channels - 1];
}

void gf_png_make_header(unsigned char chunk[GF_PNG_HEADER_BYTES], struct gf_format format, int bits,
                        int colour_type)
{
    enum { SIZE = GF_PNG_HEADER_BYTES - GF_PNG_HEAD_BYTES - GF_PNG_CRC_BYTES };
    unsigned char *const header = chunk + GF_PNG_HEAD_BYTES;
    memset(header, 0, SIZE);
    gf_png_put_be32(header, (uint32_t)format.width);
    gf_png_put_be32(header + 4, (uint32_t)format.height);
    header[8] = (unsigned char)bits;
    header[9] = (unsigned char)colour_type;
    (void)gf_png_chunk_close(chunk, "IHDR", SIZE);
}

enum gf_status gf_png_write_header(struct gf_output *output, struct gf_format format, int bits,
                                   int colour_type, struct gf_error *error)
{
    static const unsigned char signature[GF_PNG_SIGNATURE_BYTES] = {0x89, 'P',  'N',  'G',
                                                                    '\r', '\n', 0x1a, '\n'};
    unsigned char header[GF_PNG_HEADER_BYTES];
    gf_png_make_header(header, format, bits, colour_type);
    GF_TRY(gf_output_write(output, signature, sizeof signature, error));
    return gf_output_write(output, header, sizeof header, error);
}

/* A raw profile is a line with the type, a line with the number of bytes, then lines of hexadecimal
 * digits. */
enum { DIGITS_OF_LINE = 72, HEADER_MOST = 80 };

static int digit_value(int letter)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *const at = letter ? strchr(digits, letter) : NULL;
    return at ? (int)(at - digits) % 16 : -1;
}

/* Reads the two lines of the header. Returns the position after them and sets the number of bytes;
 * returns `size` if the header is wrong. */
static size_t read_header(const char *text, size_t size, size_t *count)
{
    size_t at = 0;
    *count = 0;
    while (at < size && text[at] == '\n')
        at++;
    while (at < size && text[at] != '\n') /* the line with the type */
        at++;
    while (at < size && (text[at] == '\n' || text[at] == ' '))
        at++;
    for (; at < size && text[at] >= '0' && text[at] <= '9' && *count <= GF_METADATA_MAX; at++)
        *count = *count * 10 + (size_t)(text[at] - '0');
    return at < size && text[at] == '\n' && *count <= (size - at) / 2 ? at : size;
}

static bool read_digits(const char *text, size_t size, unsigned char *bytes, size_t count)
{
    size_t digits = 0;
    for (size_t at = 0; at < size && digits < 2 * count; at++) {
        const int value = digit_value(text[at]);
        if (text[at] == '\n' || text[at] == ' ')
            continue;
        if (value < 0)
            return false;
        bytes[digits / 2] = (unsigned char)(digits % 2 ? bytes[digits / 2] | value : value << 4);
        digits++;
    }
    return digits == 2 * count;
}

static bool add_profile(struct gf_metadata *metadata, const char *type, const unsigned char *bytes,
                        size_t size)
{
    if (!strcmp(type, "exif"))
        return gf_metadata_add_exif(metadata, bytes, size);
    if (!strcmp(type, "APP1"))
        return gf_metadata_add_app1(metadata, bytes, size);
    if (!strcmp(type, "xmp"))
        return metadata->xmp.size || gf_blob_set(&metadata->xmp, bytes, size);
    return gf_metadata_add_photoshop(metadata, bytes, size);
}

/* Adds the profile in the text, if its type is "exif", "APP1", "xmp", "iptc" or "8bim". *damaged is
 * set if the text has not the form of such a profile. Returns false when out of memory. */
static bool png_add_raw_profile(struct gf_metadata *metadata, const char *type, const char *text,
                                size_t size, bool *damaged)
{
    static const char *const types[] = {"exif", "APP1", "xmp", "iptc", "8bim"};
    bool known = false;
    size_t count;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        known |= !strcmp(type, types[i]);
    *damaged = false;
    if (!known)
        return true;
    const size_t at = read_header(text, size, &count);
    *damaged = at == size || !count;
    if (*damaged)
        return true;
    unsigned char *const bytes = malloc(count);
    if (!bytes)
        return false;
    *damaged = !read_digits(text + at, size - at, bytes, count);
    const bool added = *damaged || add_profile(metadata, type, bytes, count);
    free(bytes);
    return added;
}

/* Makes the text of a profile. Returns false when out of memory. */
static bool png_make_raw_profile(const char *type, const struct gf_blob *profile,
                                 struct gf_blob *text)
{
    const size_t digits = 2 * profile->size;
    char *const made = malloc(HEADER_MOST + digits + digits / DIGITS_OF_LINE + 2);
    if (!made)
        return false;
    char *to = made + sprintf(made, "\n%.20s\n%8zu", type, profile->size);
    for (size_t i = 0; i < profile->size; i++) {
        if (i % (DIGITS_OF_LINE / 2) == 0)
            *to++ = '\n';
        *to++ = "0123456789abcdef"[profile->data[i] >> 4];
        *to++ = "0123456789abcdef"[profile->data[i] & 15];
    }
    *to++ = '\n';
    *text = (struct gf_blob){(unsigned char *)made, (size_t)(to - made)};
    return true;
}

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
        !size || png_add_raw_profile(metadata, type, (const char *)text, size, &damaged);
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

/* Writes a chunk that contains `head` and the blob, unless it would be too long. */
static enum gf_status write_headed(struct gf_output *output, const char *type, const void *head,
                                   size_t head_size, const struct gf_blob *blob,
                                   struct gf_error *error)
{
    if (blob->size > GF_PNG_CHUNK_LONGEST - head_size)
        return GF_OK;
    unsigned char *const data = malloc(head_size + blob->size);
    GF_ALLOCATED(data, error);
    memcpy(data, head, head_size);
    memcpy(data + head_size, blob->data, blob->size);
    const enum gf_status status =
        gf_png_chunk_write(output, type, data, head_size + blob->size, error);
    free(data);
    return status;
}

static enum gf_status write_packed(struct gf_output *output, const char *type, const void *head,
                                   size_t head_size, const struct gf_blob *blob,
                                   struct gf_error *error)
{
    uLongf size = compressBound((uLong)blob->size);
    struct gf_blob packed = {.data = malloc(size)};
    enum gf_status status = GF_OK;
    if (!packed.data || compress(packed.data, &size, blob->data, (uLong)blob->size) != Z_OK)
        status = gf_fail_memory(error);
    packed.size = size;
    GF_THEN(status, write_headed(output, type, head, head_size, &packed, error));
    free(packed.data);
    return status;
}

/* Writes IPTC in the form that ImageMagick and exiftool read, because PNG has no chunk for IPTC. */
static enum gf_status write_iptc(struct gf_output *output, const struct gf_blob *iptc,
                                 struct gf_error *error)
{
    static const char head[] = GF_PNG_RAW_PROFILE "iptc\0"; /* keyword, zero, method 0 */
    struct gf_blob text;
    GF_ALLOCATED(png_make_raw_profile("iptc", iptc, &text), error);
    const enum gf_status status = write_packed(output, "zTXt", head, sizeof head, &text, error);
    free(text.data);
    return status;
}

static enum gf_status write_density(struct gf_output *output, const struct gf_metadata *metadata,
                                    struct gf_error *error)
{
    double x = nearbyint(metadata->density_x), y = nearbyint(metadata->density_y);
    if (metadata->density_is_ratio) {
        uint32_t across, down;
        gf_metadata_ratio(metadata, GF_PNG_CHUNK_LONGEST, &across, &down);
        x = across;
        y = down;
    }
    if (!(x >= 1 && y >= 1 && x <= GF_PNG_CHUNK_LONGEST && y <= GF_PNG_CHUNK_LONGEST))
        return GF_OK;
    unsigned char chunk[9] = {[8] = !metadata->density_is_ratio}; /* 1: the unit is the metre */
    gf_png_put_be32(chunk, (uint32_t)x);
    gf_png_put_be32(chunk + 4, (uint32_t)y);
    return gf_png_chunk_write(output, "pHYs", chunk, sizeof chunk, error);
}

/* Writes the chunks about colours. An sRGB chunk and a profile exclude each other; old readers use
 * the other chunks. */
static enum gf_status write_colours(struct gf_output *output, const struct gf_metadata *metadata,
                                    struct gf_error *error)
{
    static const char icc_head[] = "ICC profile\0"; /* name, zero, method 0 */
    const struct gf_colour_tags *const tags = &metadata->colour;
    unsigned char chunk[32];
    enum gf_status status = GF_OK;
    if (tags->has_cicp)
        status = gf_png_chunk_write(output, "cICP", tags->cicp, sizeof tags->cicp, error);
    if (!status && tags->has_mdcv)
        status = gf_png_chunk_write(output, "mDCV", tags->mdcv, sizeof tags->mdcv, error);
    if (!status && tags->has_clli)
        status = gf_png_chunk_write(output, "cLLI", tags->clli, sizeof tags->clli, error);
    if (!status && metadata->icc.size)
        status = write_packed(output, "iCCP", icc_head, sizeof icc_head, &metadata->icc, error);
    else if (!status && tags->has_srgb)
        status = gf_png_chunk_write(output, "sRGB", &tags->intent, 1, error);
    gf_png_put_be32(chunk, tags->gamma);
    if (!status && tags->has_gamma)
        status = gf_png_chunk_write(output, "gAMA", chunk, 4, error);
    for (int i = 0; i < 8; i++)
        gf_png_put_be32(chunk + 4 * i, (uint32_t)tags->chromaticity[i]);
    if (!status && tags->has_chromaticities)
        status = gf_png_chunk_write(output, "cHRM", chunk, sizeof chunk, error);
    return status;
}

/* Writes a text: as tEXt, as zTXt if it is long, as iTXt if it is not Latin-1 or has a language. */
static enum gf_status write_text(struct gf_output *output, const struct gf_text *text,
                                 struct gf_error *error)
{
    enum { PACKED_FROM = 1024 };
    struct gf_text png;
    bool latin1;
    GF_ALLOCATED(gf_text_as_png(text, &png, &latin1), error);
    const bool packed = png.text.size >= PACKED_FROM;
    const size_t keyword = strlen((const char *)png.head.data) + 1;
    struct gf_blob head = {.data = malloc(png.head.size + 2)};
    enum gf_status status = GF_OK;
    if (!head.data)
        status = gf_fail_memory(error);
    if (!status) { /* after the keyword: compression flag, method 0 */
        memcpy(head.data, png.head.data, keyword);
        head.data[keyword] = packed;
        head.data[keyword + 1] = 0;
        memcpy(head.data + keyword + 2, png.head.data + keyword, png.head.size - keyword);
        head.size = png.head.size + 2;
    }
    if (!status && latin1) {
        head.data[keyword] = 0;
        status = packed ? write_packed(output, "zTXt", head.data, keyword + 1, &png.text, error)
                        : write_headed(output, "tEXt", head.data, keyword, &png.text, error);
    } else if (!status) {
        status = packed ? write_packed(output, "iTXt", head.data, head.size, &png.text, error)
                        : write_headed(output, "iTXt", head.data, head.size, &png.text, error);
    }
    free(head.data);
    gf_text_free(&png);
    return status;
}

enum gf_status gf_png_write_metadata(struct gf_output *output, const struct gf_metadata *metadata,
                                     struct gf_error *error)
{
    /* The head of an iTXt chunk: keyword, no compression, method, language and translated keyword,
     * each with a zero. */
    static const char xmp_head[] = "XML:com.adobe.xmp\0\0\0\0";
    GF_TRY(write_colours(output, metadata, error));
    GF_TRY(write_density(output, metadata, error));
    if (metadata->exif.size && metadata->exif.size < GF_PNG_CHUNK_LONGEST)
        GF_TRY(gf_png_chunk_write(output, "eXIf", metadata->exif.data, metadata->exif.size, error));
    if (metadata->xmp.size)
        GF_TRY(write_headed(output, "iTXt", xmp_head, sizeof xmp_head, &metadata->xmp, error));
    if (metadata->iptc.size)
        GF_TRY(write_iptc(output, &metadata->iptc, error));
    for (int i = 0; i < metadata->texts.count; i++)
        GF_TRY(write_text(output, &metadata->texts.item[i], error));
    return GF_OK;
}
