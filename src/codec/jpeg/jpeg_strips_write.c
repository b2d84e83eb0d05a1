#include "codec/jpeg/jpeg_strips.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/pages.h"
#include "codec/common/checks.h"
#include "codec/common/ordered_work.h"
#include "codec/jpeg/jpeg_strip_encode.h"

enum {
    PIXELS_LEAST = 1 << 20, /* several threads are not faster for a smaller picture */
    ROWS_LEAST = 2,
    ROWS_MOST = 4,
    MEMORY_BYTES = 64 << 20,
    MEMORY_SHARE = 4, /* the writer may use 1/4 of options->memory_bytes */
    THREAD_BYTES = 512 << 10,
    CHUNK_BYTES = 64 << 10, /* written to the output at a time */
    SLACK_BYTES = 4 << 10   /* room for a unit, or for the end of the file */
};

struct slot {
    unsigned char *pixels;
    int rows;
    struct gf_jpeg_encoded encoded;
};

/* The caller fills strip k in slot k % slots, any thread encodes it, and the caller joins the
 * strips in order. */
struct gf_jpeg_strips_writer {
    struct gf_output *output;
    struct gf_jpeg_strips_layout layout;
    struct gf_jpeg_coding coding;
    struct slot *slot;
    unsigned char *pixels; /* memory of all slots as one allocation, which can use huge pages */
    struct gf_pages_ahead pages_ahead;
    struct gf_jpeg_strip_encoder **encoder; /* one for each thread */
    struct gf_ordered_work *work;
    /* Numbers of strips; row: the next row of the strip that is being filled. */
    int filled, joined, row;
    int32_t dc[GF_JPEG_COMPONENTS]; /* the DC values of the last unit that was joined */
    struct gf_jpeg_writer bits;     /* writes bits to `chunk` */
    struct gf_jpeg_bits reader;
    unsigned char chunk[CHUNK_BYTES + SLACK_BYTES];
};

static uint64_t slot_bytes(struct gf_format format, int rows)
{
    return (uint64_t)format.width * (uint64_t)format.channels * (uint64_t)rows;
}

/* Counts the memory. One strip is being filled, and for every two that are being encoded one waits
 * to be joined. The size of an encoded strip is estimated as a third of its pixels. */
static void count_memory(struct gf_jpeg_strips_layout *layout, struct gf_format format)
{
    const uint64_t slot = slot_bytes(format, layout->rows);
    layout->slots = layout->threads + layout->threads / 2 + 1;
    layout->memory =
        (uint64_t)layout->slots * (slot + slot / 3) + (uint64_t)layout->threads * THREAD_BYTES;
}

struct gf_jpeg_strips_layout gf_jpeg_strips_layout(struct gf_format format,
                                                   const struct gf_options *options, int strip_rows)
{
    const struct gf_jpeg_strips_layout none = {0};
    const bool gray = gf_colour_channels(format) == 1;
    const int unit = !gray && gf_subsampling_of(options) == GF_SUBSAMPLING_420 ? 16 : 8;
    const int rows = (format.height + unit - 1) / unit;
    const uint64_t budget =
        options->memory_bytes ? options->memory_bytes / MEMORY_SHARE : MEMORY_BYTES;
    struct gf_jpeg_strips_layout layout = {.threads = gf_jpeg_share_threads(options)};
    if (options->progressive || options->optimize ||
        (!strip_rows && (int64_t)format.width * format.height < PIXELS_LEAST))
        return none;
    int each = rows / (4 * layout.threads);
    each = each < ROWS_LEAST ? ROWS_LEAST : each > ROWS_MOST ? ROWS_MOST : each;
    each = strip_rows ? strip_rows : each;
    layout.rows = each * unit;
    layout.strips = (rows + each - 1) / each;
    layout.threads = layout.threads < layout.strips ? layout.threads : layout.strips;
    for (count_memory(&layout, format); layout.threads > 1 && layout.memory > budget;
         count_memory(&layout, format))
        layout.threads--;
    return layout.threads > 1 ? layout : none;
}

static bool encode(void *context, int thread, int index)
{
    struct gf_jpeg_strips_writer *const writer = context;
    struct slot *const slot = &writer->slot[index % writer->layout.slots];
    return gf_jpeg_strip_encode(writer->encoder[thread], slot->rows, slot->pixels, &slot->encoded);
}

static size_t pixel_bytes(const struct gf_jpeg_strips_writer *writer)
{
    return writer->coding.row_bytes * (size_t)writer->layout.rows;
}

static bool open_slots(struct gf_jpeg_strips_writer *writer)
{
    const struct gf_jpeg_strips_layout *const layout = &writer->layout;
    writer->slot = calloc((size_t)layout->slots, sizeof *writer->slot);
    writer->encoder = calloc((size_t)layout->threads, sizeof(struct gf_jpeg_strip_encoder *));
    writer->pixels = gf_pages_alloc((size_t)layout->slots * pixel_bytes(writer));
    bool there = writer->slot && writer->encoder && writer->pixels;
    if (there)
        gf_pages_ahead_begin(&writer->pages_ahead, writer->pixels,
                             (size_t)layout->slots * pixel_bytes(writer));
    for (int i = 0; there && i < layout->slots; i++)
        writer->slot[i].pixels = writer->pixels + (size_t)i * pixel_bytes(writer);
    for (int i = 0; there && i < layout->threads; i++) {
        writer->encoder[i] = gf_jpeg_strip_encoder_open(&writer->coding);
        there = writer->encoder[i];
    }
    return there;
}

enum gf_status gf_jpeg_strips_writer_open(struct gf_output *output,
                                          const struct jpeg_compress_struct *jpeg,
                                          struct gf_format format, const struct gf_options *options,
                                          const struct gf_jpeg_strips_layout *layout,
                                          struct gf_jpeg_strips_writer **writer,
                                          struct gf_error *error)
{
    struct gf_jpeg_strips_writer *const opened = malloc(sizeof *opened);
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    memset(opened, 0, offsetof(struct gf_jpeg_strips_writer, reader));
    opened->output = output;
    opened->layout = *layout;
    opened->bits.at = opened->chunk;
    enum gf_status status =
        gf_jpeg_coding_make(&opened->coding, jpeg, format, options) && open_slots(opened)
            ? GF_OK
            : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (!status)
        status = gf_ordered_work_open(layout->threads, layout->slots, encode, opened, &opened->work,
                                      error);
    if (status) {
        gf_jpeg_strips_writer_close(opened);
        return status;
    }
    *writer = opened;
    return GF_OK;
}

void gf_jpeg_strips_writer_close(struct gf_jpeg_strips_writer *writer)
{
    if (!writer)
        return;
    gf_ordered_work_close(writer->work);
    for (int i = 0; writer->encoder && i < writer->layout.threads; i++)
        gf_jpeg_strip_encoder_close(writer->encoder[i]);
    for (int i = 0; writer->slot && i < writer->layout.slots; i++)
        free(writer->slot[i].encoded.data);
    gf_pages_ahead_end(&writer->pages_ahead);
    gf_pages_free(writer->pixels, (size_t)writer->layout.slots * pixel_bytes(writer));
    free(writer->encoder);
    free(writer->slot);
    free(writer);
}

static enum gf_status write_chunk(struct gf_jpeg_strips_writer *writer, struct gf_error *error)
{
    const size_t size = (size_t)(writer->bits.at - writer->chunk);
    writer->bits.at = writer->chunk;
    return gf_output_write(writer->output, writer->chunk, size, error);
}

/* Appends a strip's bits. The DC differences of its first unit are replaced by differences from the
 * strip before. */
static enum gf_status join(struct gf_jpeg_strips_writer *writer,
                           const struct gf_jpeg_encoded *encoded, struct gf_error *error)
{
    static const int32_t zero[GF_JPEG_COMPONENTS];
    enum gf_status status = GF_OK;
    gf_jpeg_bits_open_memory(&writer->reader, encoded->data + encoded->scan,
                             encoded->size - encoded->scan);
    /* These codes cannot be damaged, because the encoder has made them. */
    bool ended =
        !gf_jpeg_copy_unit(&writer->coding.unit, &writer->reader, &writer->bits, zero, writer->dc);
    while (!status && !ended) {
        ended = gf_jpeg_bits_copy(&writer->reader, &writer->bits, writer->chunk + CHUNK_BYTES,
                                  encoded->skip);
        if (writer->bits.at >= writer->chunk + CHUNK_BYTES)
            status = write_chunk(writer, error);
    }
    memcpy(writer->dc, encoded->dc, sizeof writer->dc);
    return status;
}

/* Joins the next encoded strips, and waits until at most `most` strips are not joined yet. */
static enum gf_status join_encoded(struct gf_jpeg_strips_writer *writer, int most,
                                   struct gf_error *error)
{
    bool failed = false;
    while (
        gf_ordered_work_take(writer->work, gf_ordered_work_pending(writer->work) > most, &failed)) {
        if (failed)
            return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
        GF_TRY(join(writer, &writer->slot[writer->joined++ % writer->layout.slots].encoded, error));
    }
    return GF_OK;
}

enum gf_status gf_jpeg_strips_write(struct gf_jpeg_strips_writer *writer, const unsigned char *row,
                                    struct gf_error *error)
{
    const int first = writer->filled * writer->layout.rows;
    const int rest = writer->coding.format.height - first;
    struct slot *const slot = &writer->slot[writer->filled % writer->layout.slots];
    if (!writer->row) {
        GF_TRY(join_encoded(writer, writer->layout.slots - 1, error));
        slot->rows = rest < writer->layout.rows ? rest : writer->layout.rows;
    }
    memcpy(slot->pixels + (size_t)writer->row * writer->coding.row_bytes, row,
           writer->coding.row_bytes);
    if (++writer->row == slot->rows) {
        gf_ordered_work_submit(writer->work);
        writer->filled++;
        writer->row = 0;
    }
    return GF_OK;
}

enum gf_status gf_jpeg_strips_finish(struct gf_jpeg_strips_writer *writer, struct gf_error *error)
{
    GF_TRY(join_encoded(writer, 0, error));
    gf_jpeg_writer_pad(&writer->bits);
    *writer->bits.at++ = 0xff;
    *writer->bits.at++ = JPEG_EOI;
    return write_chunk(writer, error);
}
