#include "codec/png/read/png_marked.h"

#include <string.h>

#include "codec/png/inflate/inflate.h"
#include "codec/png/png_chunk.h"
#include "codec/png/png_mark.h"

enum {
    FRAME_BYTES = GF_PNG_HEAD_BYTES + GF_PNG_CRC_BYTES,
    STRIPE_BYTES_MOST = 16 << 20,
    ZLIB_HEAD_BYTES = 2,
    ADLER_BYTES = 4
};

struct chunk {
    const unsigned char *type, *data;
    size_t size, end; /* bytes of its data; where the next chunk begins */
};

/* Finds the chunk at an offset. Returns false if it is cut off. */
static bool chunk_at(const unsigned char *data, size_t size, size_t at, struct chunk *chunk)
{
    if (size < FRAME_BYTES || at > size - FRAME_BYTES)
        return false;
    *chunk = (struct chunk){.type = data + at + 4,
                            .data = data + at + GF_PNG_HEAD_BYTES,
                            .size = gf_png_get_be32(data + at)};
    if (chunk->size > size - FRAME_BYTES - at)
        return false;
    chunk->end = at + FRAME_BYTES + chunk->size;
    return true;
}

/* Finds the chunk at an offset. Returns false if it is cut off or its checksum is wrong. */
static bool sound_chunk_at(const unsigned char *data, size_t size, size_t at, struct chunk *chunk)
{
    return chunk_at(data, size, at, chunk) &&
           gf_crc32(0, chunk->type, 4 + chunk->size) == gf_png_get_be32(chunk->data + chunk->size);
}

static bool is_type(const struct chunk *chunk, const char *type)
{
    return !memcmp(chunk->type, type, 4);
}

static bool read_header(const struct chunk *chunk, struct gf_png_marked *marked)
{
    static const int channels[] = {[0] = 1, [2] = 3, [4] = 2, [6] = 4};
    const unsigned char *const data = chunk->data;
    if (!is_type(chunk, "IHDR") || chunk->size != 13 || data[9] > 6 || data[10] || data[11] ||
        data[12] || gf_png_get_be32(data) > INT32_MAX || gf_png_get_be32(data + 4) > INT32_MAX)
        return false;
    marked->width = (int)gf_png_get_be32(data);
    marked->height = (int)gf_png_get_be32(data + 4);
    marked->bits = data[8];
    marked->channels = channels[data[9]];
    return marked->channels && (marked->bits == 8 || marked->bits == 16) && marked->width > 0 &&
           marked->height > 0;
}

static bool read_mark(const struct chunk *chunk, struct gf_png_marked *marked)
{
    if (chunk->size != GF_PNG_MARK_BYTES || chunk->data[0] != GF_PNG_MARK_VERSION)
        return false;
    const uint32_t rows = gf_png_get_be32(chunk->data + 1);
    const uint64_t row_bytes =
        (uint64_t)marked->width * (unsigned)(marked->channels * marked->bits / 8) + 1;
    if (!rows || rows > (uint32_t)marked->height || rows * row_bytes > STRIPE_BYTES_MOST)
        return false;
    marked->rows = (int)rows;
    marked->stripes = (int)(((uint32_t)marked->height - 1) / rows + 1);
    return true;
}

/* Reads the chunks of the pixels and IEND. */
static bool read_stripes(const unsigned char *data, size_t size, struct gf_png_marked *marked)
{
    struct chunk chunk;
    size_t at = marked->first;
    for (int i = 0; i < marked->stripes; i++, at = chunk.end) {
        const size_t least =
            (i ? 0 : ZLIB_HEAD_BYTES) + (i + 1 < marked->stripes ? 0 : ADLER_BYTES) + 1;
        if (!chunk_at(data, size, at, &chunk) || !is_type(&chunk, "IDAT") || chunk.size < least ||
            (!i && (chunk.data[0] != 0x78 || chunk.data[1] != 0x01)))
            return false;
    }
    marked->chunk_bytes = at - marked->first;
    return sound_chunk_at(data, size, at, &chunk) && is_type(&chunk, "IEND") && !chunk.size &&
           chunk.end == size;
}

bool gf_png_marked_read(const unsigned char *data, size_t size, struct gf_png_marked *marked)
{
    struct chunk chunk;
    size_t at = GF_PNG_SIGNATURE_BYTES;
    *marked = (struct gf_png_marked){.width = 0};
    if (size < at || memcmp(data, "\x89PNG\r\n\x1a\n", at) ||
        !sound_chunk_at(data, size, at, &chunk) || !read_header(&chunk, marked))
        return false;
    for (at = chunk.end; chunk_at(data, size, at, &chunk) && !is_type(&chunk, "IDAT");
         at = chunk.end) {
        if (!sound_chunk_at(data, size, at, &chunk) || is_type(&chunk, "tRNS") ||
            is_type(&chunk, "PLTE") || is_type(&chunk, "IEND"))
            return false;
        if (is_type(&chunk, GF_PNG_MARK) && !read_mark(&chunk, marked))
            return false;
    }
    marked->first = at;
    return marked->rows && read_stripes(data, size, marked);
}
