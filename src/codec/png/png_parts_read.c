#include "codec/png/png_parts_read.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/pages.h"
#include "codec/common/checks.h"
#include "codec/common/ordered_work.h"
#include "codec/common/samples.h"
#include "codec/png/inflate.h"
#include "codec/png/png_part.h"

enum {
    MEMORY_BYTES = 256 << 20,
    MEMORY_SHARE = 4 /* the reader's part of options->memory_bytes */
};

/* Part k lies in slot k % slots. */
struct gf_png_parts_reader {
    struct gf_png_parts shared;
    struct gf_format format;
    int threads, slots;
    struct gf_png_part *slot;
    struct gf_png_part_room *room; /* one for each thread */
    struct gf_ordered_work *work;
    int submitted, part, row; /* the next row, within the part that was taken back last */
    uint32_t adler;
    bool failed;
};

static struct gf_png_part *slot_of(const struct gf_png_parts_reader *reader, int part)
{
    return &reader->slot[part % reader->slots];
}

static bool read_part(void *context, int thread, int k)
{
    struct gf_png_parts_reader *const reader = context;
    return gf_png_part_read(&reader->shared, slot_of(reader, k), k ? slot_of(reader, k - 1) : NULL,
                            &reader->room[thread]);
}

/* ---- opening and closing ---- */

/* As many threads as the memory allows. False: too few. */
static bool choose_threads(struct gf_png_parts_reader *reader, const struct gf_options *options)
{
    const uint64_t budget =
        options->memory_bytes ? options->memory_bytes / MEMORY_SHARE : MEMORY_BYTES;
    reader->threads = gf_codec_threads(options);
    do
        reader->slots = reader->threads + reader->threads / 2 + 2;
    while (gf_png_parts_read_memory(reader) > budget && --reader->threads > 0);
    return reader->threads >= gf_inflate_parts_threads;
}

static size_t sample_bytes(const struct gf_png_parts *parts)
{
    return (GF_INFLATE_WINDOW + parts->room + GF_INFLATE_PART_MARGIN) * sizeof(uint16_t);
}

static size_t packed_bytes(const struct gf_png_parts *parts)
{
    return 2 * parts->part_bytes + GF_INFLATE_MARGIN;
}

static size_t rows_bytes(const struct gf_png_parts *parts)
{
    return parts->filtered + parts->room + GF_PNG_MARGIN;
}

uint64_t gf_png_parts_read_memory(const struct gf_png_parts_reader *reader)
{
    const struct gf_png_parts *const parts = &reader->shared;
    return (uint64_t)reader->slots *
               (sizeof *reader->slot + packed_bytes(parts) + rows_bytes(parts)) +
           (uint64_t)reader->threads * (sizeof *reader->room + sample_bytes(parts));
}

static bool alloc_buffers(struct gf_png_parts_reader *reader)
{
    struct gf_png_parts *const parts = &reader->shared;
    reader->slot = calloc((size_t)reader->slots, sizeof *reader->slot);
    reader->room = calloc((size_t)reader->threads, sizeof *reader->room);
    parts->zeros = calloc(1, parts->filtered + GF_PNG_MARGIN);
    bool there = reader->slot && reader->room && parts->zeros;
    for (int i = 0; there && i < reader->slots; i++) {
        struct gf_png_part *const slot = &reader->slot[i];
        pthread_cond_init(&slot->changed, NULL);
        gf_inflate_table_init(&slot->table);
        slot->packed = malloc(packed_bytes(parts));
        slot->rows = gf_pages_alloc(rows_bytes(parts));
        there = slot->packed && slot->rows;
    }
    for (int i = 0; there && i < reader->threads; i++) {
        reader->room[i].samples = gf_pages_alloc(sample_bytes(parts));
        there = reader->room[i].samples;
    }
    return there;
}

void gf_png_parts_read_open(struct gf_png_idat *idat, struct gf_format format,
                            uint64_t packed_bytes, size_t part_bytes,
                            const struct gf_options *options, struct gf_png_parts_reader **reader)
{
    *reader = NULL;
    struct gf_png_parts_reader *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return;
    struct gf_png_parts *const parts = &opened->shared;
    pthread_mutex_init(&parts->lock, NULL);
    opened->format = format;
    opened->adler = 1;
    opened->part = -1;
    parts->idat = idat;
    parts->filtered = gf_row_bytes(format) + 1;
    parts->height = format.height;
    parts->bpp = format.channels * format.bits / 8;
    parts->part_bytes = part_bytes;
    /* A part may unpack to four times as much as the mean, and a little. */
    parts->room = 4 * part_bytes *
                  (size_t)(1 + parts->filtered * (uint64_t)format.height / (packed_bytes + 1));
    parts->filters = gf_png_filters();
    if (choose_threads(opened, options) && parts->filtered <= part_bytes && alloc_buffers(opened))
        *reader = opened;
    else
        gf_png_parts_read_close(opened);
}

void gf_png_parts_read_close(struct gf_png_parts_reader *reader)
{
    if (!reader)
        return;
    gf_ordered_work_close(reader->work);
    for (int i = 0; reader->slot && i < reader->slots; i++) {
        if (reader->slot[i].packed)
            pthread_cond_destroy(&reader->slot[i].changed);
        free(reader->slot[i].packed);
        gf_pages_free(reader->slot[i].rows, rows_bytes(&reader->shared));
    }
    for (int i = 0; reader->room && i < reader->threads; i++)
        gf_pages_free(reader->room[i].samples, sample_bytes(&reader->shared));
    free(reader->slot);
    free(reader->room);
    free(reader->shared.zeros);
    pthread_mutex_destroy(&reader->shared.lock);
    free(reader);
}

/* ---- rows ---- */

/* Takes back the next part. The slot of the one before it is free then, and not earlier. The
 * threads start with the first one. */
static bool next_part(struct gf_png_parts_reader *reader)
{
    bool failed = false;
    if (!reader->work && gf_ordered_work_open(reader->threads, reader->slots, read_part, reader,
                                              &reader->work, NULL))
        return false;
    if (reader->part >= 0 && slot_of(reader, reader->part)->ends)
        return false;
    for (; reader->submitted < reader->part + reader->slots; reader->submitted++) {
        gf_png_part_begin(slot_of(reader, reader->submitted), !reader->submitted);
        gf_ordered_work_submit(reader->work);
    }
    reader->part++;
    reader->row = 0;
    if (!gf_ordered_work_take(reader->work, true, &failed) || failed)
        return false;
    const struct gf_png_part *const slot = slot_of(reader, reader->part);
    reader->adler =
        (uint32_t)adler32_combine(reader->adler, slot->adler, (z_off_t)slot->unpacked.count);
    return slot->row_count && (!slot->ends || reader->adler == reader->shared.stated_adler);
}

int gf_png_parts_read(struct gf_png_parts_reader *reader, int rows, unsigned char *dst,
                      size_t pitch)
{
    for (int y = 0; y < rows; y++, dst += pitch, reader->row++) {
        if (reader->part < 0 || reader->row == slot_of(reader, reader->part)->row_count)
            reader->failed |= reader->failed || !next_part(reader);
        if (reader->failed)
            return y;
        const uint8_t *const row =
            slot_of(reader, reader->part)->rows + reader->shared.filtered * (size_t)reader->row + 1;
        if (reader->format.bits == 16)
            gf_samples_big_endian(row, dst, (reader->shared.filtered - 1) / 2);
        else
            memcpy(dst, row, reader->shared.filtered - 1);
    }
    return rows;
}
