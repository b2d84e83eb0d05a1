#include "codec/png/png_file.h"

#include <ctype.h>
#include <string.h>

#include "codec/png/deflate/deflate.h"
#include "codec/png/png_chunk.h"

enum {
    FRAME_BYTES = GF_PNG_HEAD_BYTES + GF_PNG_CRC_BYTES,
    STRIPE_BYTES_MOST = 16 << 20, /* the most bytes of a stripe in a file with the mark */
    /* The most decompressed bytes of a file without the mark, since all pictures of a group wait
     * for the largest one. */
    STREAM_BYTES_MOST = 64 << 20,
    /* The most compressed bytes, whose bits the GPU counts in 30 bits. */
    CHUNK_BYTES_MOST = 96 << 20,
    CHUNKS_MOST = 1 << 16, /* each is described in pinned memory */
    ZLIB_HEAD_BYTES = 2,
    ADLER_BYTES = 4,
    GRAY = 0,
    RGB = 2,
    INDEXED = 3
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

/* Counts an IDAT chunk. */
static void add_data(struct gf_png_file *file, const struct chunk *chunk)
{
    file->chunks++;
    file->stream_bytes += chunk->size;
    for (size_t i = chunk->size > ADLER_BYTES ? chunk->size - ADLER_BYTES : 0; i < chunk->size; i++)
        file->adler = file->adler << 8 | chunk->data[i];
}

static bool read_header(const struct chunk *chunk, struct gf_png_file *file)
{
    static const struct {
        int channels;
        unsigned depths; /* a bit for each depth that PNG has */
    } kinds[] = {[0] = {1, 0x10116},
                 [2] = {3, 0x10100},
                 [3] = {1, 0x116},
                 [4] = {2, 0x10100},
                 [6] = {4, 0x10100}};
    const unsigned char *const data = chunk->data;
    if (!is_type(chunk, "IHDR") || chunk->size != 13 || data[9] > 6 || data[10] || data[11] ||
        data[12] || data[8] > 16 || !(kinds[data[9]].depths >> data[8] & 1) ||
        gf_png_get_be32(data) > INT32_MAX || gf_png_get_be32(data + 4) > INT32_MAX)
        return false;
    file->width = (int)gf_png_get_be32(data);
    file->height = (int)gf_png_get_be32(data + 4);
    file->depth = data[8];
    file->bits = data[8] == 16 ? 16 : 8;
    file->colour_type = data[9];
    file->channels = kinds[data[9]].channels;
    file->row_bytes = ((size_t)file->width * (unsigned)(file->channels * file->depth) + 7) / 8;
    return file->width > 0 && file->height > 0;
}

static bool read_mark(const struct chunk *chunk, struct gf_png_file *file)
{
    if (chunk->size != GF_PNG_MARK_BYTES || chunk->data[0] != GF_PNG_MARK_VERSION)
        return false;
    const uint32_t rows = gf_png_get_be32(chunk->data + 1);
    if (!rows || rows > (uint32_t)file->height || rows * (file->row_bytes + 1) > STRIPE_BYTES_MOST)
        return false;
    file->marked = true;
    file->rows = (int)rows;
    file->stripes = (int)(((uint32_t)file->height - 1) / rows + 1);
    return true;
}

static bool read_palette(const struct chunk *chunk, struct gf_png_file *file, size_t at)
{
    file->palette = at;
    file->palette_bytes = chunk->size;
    return file->colour_type == INDEXED && chunk->size && chunk->size % 3 == 0 &&
           chunk->size / 3 <= 1U << file->depth;
}

/* Reads transparency, for which the decoded picture has an alpha channel. */
static bool read_transparency(const struct chunk *chunk, struct gf_png_file *file, size_t at)
{
    const size_t samples = file->colour_type == GRAY ? 1 : file->colour_type == RGB ? 3 : 0;
    if (file->transparent_bytes)
        return false;
    file->transparent = at;
    file->transparent_bytes = chunk->size;
    for (size_t i = 0; samples && i + 2 <= chunk->size; i += 2) {
        if ((unsigned)(chunk->data[i] << 8 | chunk->data[i + 1]) >> file->depth)
            return false;
    }
    return samples ? chunk->size == 2 * samples
                   : file->colour_type == INDEXED && chunk->size &&
                         3 * chunk->size <= file->palette_bytes;
}

/* Reads the chunks before the first IDAT. */
static bool read_first_chunks(const unsigned char *data, size_t size, struct gf_png_file *file)
{
    struct chunk chunk;
    size_t at = file->first;
    for (; chunk_at(data, size, at, &chunk) && !is_type(&chunk, "IDAT"); at = chunk.end) {
        const size_t offset = at + GF_PNG_HEAD_BYTES;
        if (!sound_chunk_at(data, size, at, &chunk) || is_type(&chunk, "acTL") ||
            is_type(&chunk, "fcTL"))
            return false;
        if (is_type(&chunk, "PLTE")   ? file->palette_bytes || !read_palette(&chunk, file, offset)
            : is_type(&chunk, "tRNS") ? !read_transparency(&chunk, file, offset)
            : is_type(&chunk, GF_PNG_MARK) ? !read_mark(&chunk, file)
                                           : isupper(chunk.type[0]))
            return false;
    }
    file->first = at;
    if (file->colour_type == INDEXED || file->transparent_bytes)
        file->channels = (file->colour_type == GRAY ? 1 : 3) + (file->transparent_bytes > 0);
    return file->colour_type != INDEXED || file->palette_bytes;
}

/* Reads the chunks of a marked file's stripes. */
static bool read_stripes(const unsigned char *data, size_t size, struct gf_png_file *file)
{
    struct chunk chunk;
    size_t at = file->first;
    for (int i = 0; i < file->stripes; i++, at = chunk.end) {
        const size_t least =
            (i ? 0 : ZLIB_HEAD_BYTES) + (i + 1 < file->stripes ? 0 : ADLER_BYTES) + 1;
        if (!chunk_at(data, size, at, &chunk) || !is_type(&chunk, "IDAT") || chunk.size < least ||
            chunk.size > CHUNK_BYTES_MOST || i >= CHUNKS_MOST ||
            (!i && (chunk.data[0] != 0x78 || chunk.data[1] != 0x01)))
            return false;
        add_data(file, &chunk);
    }
    file->chunks = file->stripes;
    file->chunk_bytes = at - file->first;
    return true;
}

bool gf_png_whole_window(unsigned char first, uint64_t raw)
{
    enum { LARGEST_WINDOW = 7 };
    return first >> 4 >= LARGEST_WINDOW || raw <= 256u << (first >> 4);
}

static bool read_stream(const unsigned char *data, size_t size, struct gf_png_file *file)
{
    enum { DEFLATE = 8, DICTIONARY = 1 << 5, CHECK = 31, LARGEST_WINDOW = 7 };
    const unsigned char *const head = data + file->first + GF_PNG_HEAD_BYTES;
    const uint64_t raw = (uint64_t)(file->row_bytes + 1) * (unsigned)file->height;
    struct chunk chunk;
    size_t at = file->first;
    file->marked = false;
    file->rows = file->height;
    file->stripes = 1;
    for (; chunk_at(data, size, at, &chunk) && is_type(&chunk, "IDAT"); at = chunk.end) {
        if (!chunk.size || file->chunks == CHUNKS_MOST)
            return false;
        add_data(file, &chunk);
    }
    file->chunk_bytes = at - file->first;
    return raw <= STREAM_BYTES_MOST && file->chunk_bytes <= CHUNK_BYTES_MOST && file->chunks &&
           file->stream_bytes > ZLIB_HEAD_BYTES + ADLER_BYTES &&
           gf_png_get_be32(head - GF_PNG_HEAD_BYTES) >= ZLIB_HEAD_BYTES &&
           head[0] % 16 == DEFLATE && head[0] >> 4 <= LARGEST_WINDOW && !(head[1] & DICTIONARY) &&
           (head[0] << 8 | head[1]) % CHECK == 0 && gf_png_whole_window(head[0], raw);
}

/* Reads the chunks from `at` on: texts and the like, and IEND, which ends the file. */
static bool read_last_chunks(const unsigned char *data, size_t size, size_t at)
{
    static const char *const known[] = {"tEXt", "zTXt", "iTXt", "tIME", "eXIf"};
    struct chunk chunk;
    for (; sound_chunk_at(data, size, at, &chunk); at = chunk.end) {
        bool is_known = false;
        if (is_type(&chunk, "IEND"))
            return !chunk.size && chunk.end == size;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known |= is_type(&chunk, known[i]);
        if (!is_known)
            return false;
    }
    return false;
}

bool gf_png_file_read(const unsigned char *data, size_t size, struct gf_png_file *file)
{
    struct chunk chunk;
    const size_t at = GF_PNG_SIGNATURE_BYTES;
    *file = (struct gf_png_file){.width = 0};
    if (size < at || memcmp(data, "\x89PNG\r\n\x1a\n", at) ||
        !sound_chunk_at(data, size, at, &chunk) || !read_header(&chunk, file))
        return false;
    file->first = chunk.end;
    return read_first_chunks(data, size, file) &&
           (file->marked && gf_png_is_plain(file) ? read_stripes(data, size, file)
                                                  : read_stream(data, size, file)) &&
           read_last_chunks(data, size, file->first + file->chunk_bytes);
}
