#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory/buffers.h"
#include "base/threads/ordered.h"
#include "codec/common/checks.h"
#include "codec/common/rows/samples.h"
#include "codec/png/deflate/deflate.h"
#include "codec/png/png_chunk.h"
#include "codec/png/png_filter.h"
#include "codec/png/png_read.h"

enum {
    STRIPE_BYTES = 256 << 10, /* small enough for 16 threads to share a picture of 2 megapixels */
    LARGE_BYTES = 16 << 20,   /* a larger picture has larger stripes */
    LARGE_STRIPE_BYTES = 512 << 10,
    /* The least rows of a stripe, whose first row compresses worse than others. */
    LEAST_ROWS = 24,
    MOST_BYTES = 1 << 20 /* unless LEAST_ROWS rows have more bytes than this */
};

int gf_png_mark_rows(size_t row_bytes, int height)
{
    const size_t filtered = row_bytes + 1, most = MOST_BYTES / filtered;
    const bool large = (uint64_t)filtered * (uint64_t)height > LARGE_BYTES;
    size_t rows = (large ? LARGE_STRIPE_BYTES : STRIPE_BYTES) / filtered;
    if (rows < LEAST_ROWS)
        rows = most < LEAST_ROWS ? most : LEAST_ROWS;
    if (rows > (size_t)height)
        rows = (size_t)height;
    return rows ? (int)rows : 1;
}

enum gf_status gf_png_mark_write(struct gf_output *output, int rows, struct gf_error *error)
{
    unsigned char mark[GF_PNG_MARK_BYTES] = {GF_PNG_MARK_VERSION};
    gf_png_put_be32(mark + 1, (uint32_t)rows);
    return gf_png_chunk_write(output, GF_PNG_MARK, mark, sizeof mark, error);
}

int gf_png_mark_read(const struct gf_png_chunk *chunk, int before)
{
    if (strcmp(chunk->type, GF_PNG_MARK) != 0)
        return before;
    if (chunk->size != GF_PNG_MARK_BYTES || !gf_png_chunk_is_sound(chunk) ||
        chunk->data[0] != GF_PNG_MARK_VERSION)
        return 0;
    const uint32_t rows = gf_png_get_be32(chunk->data + 1);
    return rows <= INT32_MAX ? (int)rows : 0;
}

enum { ZLIB_HEAD_BYTES = 2, ADLER_BYTES = 4 };

enum {
    TYPE_BYTES = 4,
    CHUNK_REST = TYPE_BYTES + GF_PNG_CRC_BYTES, /* bytes of a chunk without its length and data */
    CHUNK_MORE = CHUNK_REST + GF_INFLATE_STRIPE_MARGIN,
    STRIPE_MOST = 4 << 20, /* bytes; level 1 makes larger stripes only of very long rows */
    MEMORY_BYTES = 64 << 20,
    MEMORY_SHARE = 4 /* the reader may use 1/4 of options->memory_bytes */
};

/* The offset and the length of a stripe's chunk. */
struct place {
    int64_t at;
    uint32_t length;
};

struct slot {
    uint8_t *rows;
    uint32_t adler;
};

/* Any thread decompresses stripe k to slot k % slots; the caller reads its rows in order. */
struct gf_png_stripes_reader {
    struct gf_input *input;
    struct gf_format format;
    size_t row_bytes, slot_bytes, chunk_bytes;
    int stripe_rows, stripes, threads, slots;
    struct place *place;
    int64_t end;
    struct slot *slot;
    uint8_t **chunk; /* one for each thread */
    const struct gf_png_filters *filters;
    struct gf_ordered *ordered;
    int stripe, row; /* stripe: the stripe that was taken back last; row: its next row */
    uint32_t adler, stated_adler;
    bool failed;
};

static int rows_of(const struct gf_png_stripes_reader *reader, int stripe)
{
    const int rest = reader->format.height - stripe * reader->stripe_rows;
    return rest < reader->stripe_rows ? rest : reader->stripe_rows;
}

/* Reads a chunk from its type to its checksum, and checks the checksum. */
static bool read_chunk(struct gf_png_stripes_reader *reader, const struct place *place,
                       uint8_t *chunk)
{
    const size_t size = (size_t)place->length + CHUNK_REST;
    size_t got;
    return !gf_input_read_at(reader->input, place->at + TYPE_BYTES, chunk, size, &got, NULL) &&
           got == size &&
           gf_png_get_be32(chunk + size - GF_PNG_CRC_BYTES) ==
               gf_crc32(0, chunk, size - GF_PNG_CRC_BYTES);
}

/* Undoes the filters of a stripe, whose first row refers to no row above. */
static bool undo_filters(const struct gf_png_stripes_reader *reader, uint8_t *rows, int count)
{
    const int bpp = reader->format.channels * reader->format.bits / 8;
    return rows[0] <= GF_PNG_SUB && gf_png_undo_rows(reader->filters, rows, count, rows + 1,
                                                     reader->row_bytes, bpp) == count;
}

static enum gf_status read_stripe(void *context, int thread, int stripe, struct gf_error *error)
{
    struct gf_png_stripes_reader *const reader = context;
    struct slot *const slot = &reader->slot[stripe % reader->slots];
    const struct place *const place = &reader->place[stripe];
    uint8_t *const chunk = reader->chunk[thread];
    const bool last = stripe + 1 == reader->stripes;
    const size_t before = stripe ? 0 : ZLIB_HEAD_BYTES, behind = last ? ADLER_BYTES : 0;
    const size_t size = (size_t)rows_of(reader, stripe) * (reader->row_bytes + 1);
    if (place->length < before + behind || !read_chunk(reader, place, chunk) ||
        !gf_inflate_stripe(chunk + TYPE_BYTES + before, place->length - before - behind, last,
                           slot->rows, size))
        return GF_ERROR_INPUT;
    if (last)
        reader->stated_adler = gf_png_get_be32(chunk + TYPE_BYTES + place->length - ADLER_BYTES);
    slot->adler = gf_adler32(slot->rows, size);
    return undo_filters(reader, slot->rows, rows_of(reader, stripe)) ? GF_OK : GF_ERROR_INPUT;
}

/* Finds the stripes' chunks. There must be as many IDAT chunks as stripes. Level 1 writes no chunk
 * of more than `most` bytes, since it stores a stripe that cannot be compressed. */
static bool find_chunks(struct gf_png_stripes_reader *reader, uint32_t length, size_t most)
{
    unsigned char head[GF_PNG_HEAD_BYTES];
    size_t got;
    int64_t at = gf_input_position(reader->input) - GF_PNG_HEAD_BYTES;
    const int64_t size = gf_input_size(reader->input);
    for (int k = 0; k < reader->stripes; k++) {
        if (gf_input_read_at(reader->input, at, head, sizeof head, &got, NULL) ||
            got < sizeof head || memcmp(head + TYPE_BYTES, "IDAT", 4) != 0)
            return false;
        reader->place[k] = (struct place){at, gf_png_get_be32(head)};
        at += (int64_t)GF_PNG_HEAD_BYTES + reader->place[k].length + GF_PNG_CRC_BYTES;
        if (at > size || reader->place[k].length > most)
            return false;
        if (reader->chunk_bytes < reader->place[k].length + (size_t)CHUNK_MORE)
            reader->chunk_bytes = reader->place[k].length + (size_t)CHUNK_MORE;
    }
    reader->end = at;
    return reader->place[0].length == length &&
           !gf_input_read_at(reader->input, at, head, sizeof head, &got, NULL) &&
           got == sizeof head && memcmp(head + TYPE_BYTES, "IDAT", 4) != 0;
}

/* Whether the zlib stream begins with the bytes that level 1 writes. */
static bool head_is_right(const struct gf_png_stripes_reader *reader)
{
    unsigned char head[ZLIB_HEAD_BYTES];
    size_t got;
    return !gf_input_read_at(reader->input, reader->place[0].at + GF_PNG_HEAD_BYTES, head,
                             sizeof head, &got, NULL) &&
           got == sizeof head && head[0] == 0x78 && head[1] == 0x01;
}

/* Chooses the number of threads: at most one for each stripe, and as many as the memory allows. One
 * slot is being read, and for every two that are being decompressed one more waits. Returns false
 * if the memory does not suffice for one thread. */
static bool choose_threads(struct gf_png_stripes_reader *reader, const struct gf_options *options)
{
    const uint64_t budget =
        options->memory_bytes ? options->memory_bytes / MEMORY_SHARE : MEMORY_BYTES;
    const uint64_t slot = reader->slot_bytes, chunk = reader->chunk_bytes;
    int threads = gf_codec_threads(options);
    threads = threads < reader->stripes ? threads : reader->stripes;
    while (threads > 1 &&
           (uint64_t)(threads + threads / 2 + 1) * slot + (uint64_t)threads * chunk > budget)
        threads--;
    reader->threads = threads > 1 ? threads : 1;
    reader->slots = threads > 1 ? threads + threads / 2 + 1 : 1;
    reader->slots = reader->slots < reader->stripes ? reader->slots : reader->stripes;
    return threads > 1 || slot + chunk <= budget;
}

static bool alloc_buffers(struct gf_png_stripes_reader *reader)
{
    reader->slot = calloc((size_t)reader->slots, sizeof *reader->slot);
    reader->chunk = calloc((size_t)reader->threads, sizeof *reader->chunk);
    bool there = reader->slot && reader->chunk;
    for (int i = 0; there && i < reader->slots; i++) {
        reader->slot[i].rows = gf_pages_alloc(reader->slot_bytes);
        there = reader->slot[i].rows;
    }
    for (int i = 0; there && i < reader->threads; i++) {
        reader->chunk[i] = gf_pages_alloc(reader->chunk_bytes);
        there = reader->chunk[i];
    }
    return there;
}

static bool open_reader(struct gf_png_stripes_reader *reader, uint32_t length,
                        const struct gf_options *options)
{
    enum { CHUNK_LEAST = GF_PNG_HEAD_BYTES + GF_PNG_CRC_BYTES };
    const int64_t size = gf_input_size(reader->input);
    const size_t stripe = (size_t)reader->stripe_rows * (reader->row_bytes + 1);
    if (size < 0 || reader->stripes > size / CHUNK_LEAST || stripe > STRIPE_MOST)
        return false;
    reader->slot_bytes = stripe + GF_PNG_MARGIN;
    reader->place = calloc((size_t)reader->stripes, sizeof *reader->place);
    return reader->place && find_chunks(reader, length, stripe + stripe / 1024 + 64) &&
           head_is_right(reader) && choose_threads(reader, options) && alloc_buffers(reader);
}

void gf_png_stripes_read_open(struct gf_input *input, struct gf_format format, uint32_t length,
                              int stripe_rows, const struct gf_options *options,
                              struct gf_png_stripes_reader **reader)
{
    *reader = NULL;
    if (stripe_rows < 1 || stripe_rows > format.height || gf_input_is_stream(input))
        return;
    struct gf_png_stripes_reader *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return;
    opened->input = input;
    opened->format = format;
    opened->row_bytes = gf_row_bytes(format);
    opened->stripe_rows = stripe_rows;
    opened->stripes = (format.height - 1) / stripe_rows + 1;
    opened->filters = gf_png_filters();
    opened->adler = 1;
    opened->stripe = -1;
    if (open_reader(opened, length, options))
        *reader = opened;
    else
        gf_png_stripes_read_close(opened);
}

void gf_png_stripes_read_close(struct gf_png_stripes_reader *reader)
{
    if (!reader)
        return;
    gf_ordered_close(reader->ordered);
    for (int i = 0; reader->slot && i < reader->slots; i++)
        gf_pages_free(reader->slot[i].rows, reader->slot_bytes);
    for (int i = 0; reader->chunk && i < reader->threads; i++)
        gf_pages_free(reader->chunk[i], reader->chunk_bytes);
    free(reader->slot);
    free(reader->chunk);
    free(reader->place);
    free(reader);
}

uint64_t gf_png_stripes_read_memory(const struct gf_png_stripes_reader *reader)
{
    return (uint64_t)reader->slots * reader->slot_bytes +
           (uint64_t)reader->threads * reader->chunk_bytes;
}

int64_t gf_png_stripes_read_end(const struct gf_png_stripes_reader *reader)
{
    return reader->end;
}

/* Takes back the next stripe. The threads start with the first stripe. */
static bool next_stripe(struct gf_png_stripes_reader *reader)
{
    const struct gf_ordered_setup setup = {
        .call = read_stripe, .context = reader, .threads = reader->threads, .slots = reader->slots};
    if (!reader->ordered && gf_ordered_open(&setup, &reader->ordered, NULL))
        return false;
    reader->stripe++;
    reader->row = 0;
    if (gf_ordered_next(reader->ordered, reader->stripes, NULL))
        return false;
    const struct slot *const slot = &reader->slot[reader->stripe % reader->slots];
    reader->adler = (uint32_t)adler32_combine(
        reader->adler, slot->adler,
        (z_off_t)((size_t)rows_of(reader, reader->stripe) * (reader->row_bytes + 1)));
    return reader->stripe + 1 < reader->stripes || reader->adler == reader->stated_adler;
}

int gf_png_stripes_read(struct gf_png_stripes_reader *reader, int rows, unsigned char *dst,
                        size_t pitch)
{
    for (int y = 0; y < rows; y++, dst += pitch, reader->row++) {
        if (reader->stripe < 0 || reader->row == rows_of(reader, reader->stripe))
            reader->failed |= reader->failed || !next_stripe(reader);
        if (reader->failed)
            return y;
        const uint8_t *const row = reader->slot[reader->stripe % reader->slots].rows +
                                   (reader->row_bytes + 1) * (size_t)reader->row + 1;
        if (reader->format.bits == 16)
            gf_samples_big_endian(row, dst, reader->row_bytes / 2);
        else
            memcpy(dst, row, reader->row_bytes);
    }
    return rows;
}
