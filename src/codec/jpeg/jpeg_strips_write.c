/* Encodes a large JPEG in strips, each by libjpeg as a JPEG of its own, and joins them bit by
 * bit. */
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/buffers.h"
#include "base/threads/ordered.h"
#include "codec/common/checks.h"
#include "codec/jpeg/jpeg_strips.h"

static atomic_int reading, writing;

void gf_jpeg_share_reading(int change)
{
    atomic_fetch_add(&reading, change);
}

void gf_jpeg_share_writing(int change)
{
    atomic_fetch_add(&writing, change);
}

int gf_jpeg_share_threads(const struct gf_options *options)
{
    const int threads = gf_codec_threads(options);
    const int read = atomic_load(&reading), written = atomic_load(&writing);
    const int pictures = read > written ? read : written;
    return pictures < 2 ? threads : threads > pictures ? threads / pictures : 1;
}

enum { ROWS_AT_ONCE = 16, SOS = 0xda };

void gf_jpeg_configure(struct jpeg_compress_struct *jpeg, struct gf_format format, bool inks,
                       const struct gf_options *options)
{
    const bool gray = gf_colour_channels(format) == 1;
    jpeg->image_width = (JDIMENSION)format.width;
    jpeg->image_height = (JDIMENSION)format.height;
    /* libjpeg-turbo ignores the fourth sample of a pixel. */
    jpeg->input_components = gray ? 1 : format.channels;
    jpeg->in_color_space = gray ? JCS_GRAYSCALE : format.channels == 4 ? JCS_EXT_RGBX : JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, options->quality, TRUE);
    if (inks) { /* Y and K have the full size */
        jpeg->in_color_space = JCS_CMYK;
        jpeg_set_colorspace(jpeg, JCS_YCCK);
    }
    for (int c = 0; !gray && c < jpeg->num_components; c += 3) {
        jpeg->comp_info[c].h_samp_factor = gf_subsampling_of(options) == GF_SUBSAMPLING_444 ? 1 : 2;
        jpeg->comp_info[c].v_samp_factor = gf_subsampling_of(options) == GF_SUBSAMPLING_420 ? 2 : 1;
    }
    jpeg->optimize_coding = options->optimize;
    if (options->progressive)
        jpeg_simple_progression(jpeg);
}

static bool make_tables(struct gf_jpeg_coding *coding, const struct jpeg_compress_struct *jpeg)
{
    for (int i = 0; i < 2; i++) {
        const JHUFF_TBL *const dc = jpeg->dc_huff_tbl_ptrs[i], *const ac =
                                                                   jpeg->ac_huff_tbl_ptrs[i];
        if (!dc || !ac || !gf_jpeg_table_make(&coding->dc[i], dc->bits, dc->huffval, true) ||
            !gf_jpeg_table_make(&coding->ac[i], ac->bits, ac->huffval, false))
            return false;
        gf_jpeg_codes_make(dc->bits, dc->huffval, GF_JPEG_DC_SIZES, coding->codes[i].code);
    }
    return true;
}

/* Prepares the encoding. `jpeg` is configured for the picture. Returns false if its tables are not
 * the standard ones. */
static bool jpeg_coding_make(struct gf_jpeg_coding *coding, const struct jpeg_compress_struct *jpeg,
                             struct gf_format format, const struct gf_options *options)
{
    struct gf_jpeg_unit *const unit = &coding->unit;
    const int h = jpeg->comp_info[0].h_samp_factor, v = jpeg->comp_info[0].v_samp_factor;
    coding->format = format;
    coding->options = options;
    coding->row_bytes = (size_t)format.width * (size_t)jpeg->input_components;
    coding->unit_width = DCTSIZE * h;
    coding->unit_height = DCTSIZE * v;
    coding->units_across = (format.width + coding->unit_width - 1) / coding->unit_width;
    unit->blocks = 0;
    for (int i = 0; i < jpeg->num_components; i++) {
        const jpeg_component_info *const component = &jpeg->comp_info[i];
        const int table = component->dc_tbl_no;
        unit->codes[i] = &coding->codes[table];
        for (int b = component->h_samp_factor * component->v_samp_factor; b; b--, unit->blocks++) {
            unit->block[unit->blocks].component = i;
            unit->block[unit->blocks].dc = &coding->dc[table];
            unit->block[unit->blocks].ac = &coding->ac[component->ac_tbl_no];
        }
    }
    return make_tables(coding, jpeg);
}

/* An encoder, which belongs to one thread. */
struct gf_jpeg_strip_encoder {
    const struct gf_jpeg_coding *coding;
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr bytes;
    jmp_buf escape;
    int width, rows; /* these four are arguments of encode_rows() */
    const unsigned char *src;
    struct gf_jpeg_encoded *encoded;
    struct gf_jpeg_encoded corner; /* the strip's last unit, encoded as a JPEG of its own */
    struct gf_jpeg_bits bits;
};

static void error_exit(j_common_ptr jpeg)
{
    longjmp(((struct gf_jpeg_strip_encoder *)jpeg->client_data)->escape, 1);
}

static void ignore_message(j_common_ptr jpeg, int level)
{
}

/* Doubles the buffer while keeping its bytes. */
static void grow(struct gf_jpeg_strip_encoder *encoder, size_t size)
{
    enum { LEAST = 64 << 10 };
    struct gf_jpeg_encoded *const encoded = encoder->encoded;
    const size_t room = size < LEAST ? LEAST : 2 * size;
    if (room > encoded->room) {
        unsigned char *const larger = realloc(encoded->data, room);
        if (!larger)
            longjmp(encoder->escape, 1);
        encoded->data = larger;
        encoded->room = room;
    }
    encoder->bytes.next_output_byte = encoded->data + size;
    encoder->bytes.free_in_buffer = encoded->room - size;
}

static void begin_bytes(j_compress_ptr jpeg)
{
    grow(jpeg->client_data, 0);
}

static boolean more_bytes(j_compress_ptr jpeg)
{
    struct gf_jpeg_strip_encoder *const encoder = jpeg->client_data;
    grow(encoder, encoder->encoded->room);
    return TRUE;
}

static void end_bytes(j_compress_ptr jpeg)
{
    struct gf_jpeg_strip_encoder *const encoder = jpeg->client_data;
    encoder->encoded->size = encoder->encoded->room - encoder->bytes.free_in_buffer;
}

static void create(struct gf_jpeg_strip_encoder *encoder)
{
    jpeg_create_compress(&encoder->jpeg);
    encoder->bytes = (struct jpeg_destination_mgr){.init_destination = begin_bytes,
                                                   .empty_output_buffer = more_bytes,
                                                   .term_destination = end_bytes};
    encoder->jpeg.dest = &encoder->bytes;
    gf_jpeg_configure(&encoder->jpeg, encoder->coding->format, false, encoder->coding->options);
    encoder->jpeg.write_JFIF_header = FALSE;
}

static void encode_rows(struct gf_jpeg_strip_encoder *encoder)
{
    struct jpeg_compress_struct *const jpeg = &encoder->jpeg;
    jpeg->image_width = (JDIMENSION)encoder->width;
    jpeg->image_height = (JDIMENSION)encoder->rows;
    jpeg_start_compress(jpeg, TRUE);
    while (encoder->rows) {
        JSAMPROW line[ROWS_AT_ONCE];
        int count = 0;
        for (; count < ROWS_AT_ONCE && count < encoder->rows;
             count++, encoder->src += encoder->coding->row_bytes)
            line[count] = (JSAMPROW)encoder->src;
        jpeg_write_scanlines(jpeg, line, (JDIMENSION)count);
        encoder->rows -= count;
    }
    jpeg_finish_compress(jpeg);
}

/* Calls `work` after setjmp(). `work` has no locals that must survive a longjmp(). */
static bool attempt(struct gf_jpeg_strip_encoder *encoder,
                    void (*work)(struct gf_jpeg_strip_encoder *encoder))
{
    if (setjmp(encoder->escape))
        return false;
    work(encoder);
    return true;
}

static void jpeg_strip_encoder_close(struct gf_jpeg_strip_encoder *encoder)
{
    if (!encoder)
        return;
    jpeg_destroy_compress(&encoder->jpeg);
    free(encoder->corner.data);
    free(encoder);
}

static struct gf_jpeg_strip_encoder *jpeg_strip_encoder_open(const struct gf_jpeg_coding *coding)
{
    struct gf_jpeg_strip_encoder *const encoder = malloc(sizeof *encoder);
    if (!encoder)
        return NULL;
    memset(encoder, 0, offsetof(struct gf_jpeg_strip_encoder, bits));
    encoder->coding = coding;
    encoder->jpeg.err = jpeg_std_error(&encoder->errors);
    encoder->jpeg.client_data = encoder;
    encoder->errors.error_exit = error_exit;
    encoder->errors.emit_message = ignore_message;
    if (!attempt(encoder, create)) {
        jpeg_strip_encoder_close(encoder);
        return NULL;
    }
    return encoder;
}

/* Returns the offset in the encoded JPEG after the scan's header. */
static size_t find_scan(const struct gf_jpeg_encoded *encoded)
{
    const unsigned char *const data = encoded->data;
    size_t at = 2; /* the position after the start marker */
    while (data[at + 1] != SOS)
        at += 2 + (size_t)(data[at + 2] << 8 | data[at + 3]);
    return at + 2 + (size_t)(data[at + 2] << 8 | data[at + 3]);
}

static bool encode_part(struct gf_jpeg_strip_encoder *encoder, int width, int rows,
                        const unsigned char *src, struct gf_jpeg_encoded *encoded)
{
    encoder->width = width;
    encoder->rows = rows;
    encoder->src = src;
    encoder->encoded = encoded;
    const bool done = attempt(encoder, encode_rows);
    jpeg_abort_compress(&encoder->jpeg);
    if (done)
        encoded->scan = find_scan(encoded);
    return done;
}

/* Encodes the last unit as a JPEG of its own, in which find_end() finds the last DC values. */
static bool encode_corner(struct gf_jpeg_strip_encoder *encoder, int rows, const unsigned char *src)
{
    const struct gf_jpeg_coding *const coding = encoder->coding;
    const int row = (rows - 1) / coding->unit_height * coding->unit_height,
              column = (coding->units_across - 1) * coding->unit_width;
    return encode_part(encoder, coding->format.width - column, rows - row,
                       src + (size_t)row * coding->row_bytes +
                           (size_t)column * (size_t)encoder->jpeg.input_components,
                       &encoder->corner);
}

/* Walks over the first `units` units of an encoded scan and adds their DC differences. Returns the
 * result of gf_jpeg_walk(): how the last unit ends. */
static int walk(struct gf_jpeg_strip_encoder *encoder, const struct gf_jpeg_encoded *encoded,
                int units, int32_t *dc)
{
    memset(dc, 0, GF_JPEG_COMPONENTS * sizeof *dc);
    gf_jpeg_bits_open_memory(&encoder->bits, encoded->data + encoded->scan,
                             encoded->size - encoded->scan);
    return gf_jpeg_walk(&encoder->coding->unit, &encoder->bits, units, dc);
}

/* Finds the last DC values and the number of padding bits, which are ones. If the last unit ends
 * with the code for the end of a block, which in the standard tables ends with a 0, the padding is
 * the ones at the end. Otherwise all codes of the strip must be walked over. */
static bool find_end(struct gf_jpeg_strip_encoder *encoder, int units,
                     struct gf_jpeg_encoded *encoded)
{
    const int end = walk(encoder, &encoder->corner, 1, encoded->dc);
    int padding = 0;
    if (end > DCTSIZE2) {
        for (int last = encoded->data[encoded->size - 3]; last >> padding & 1;)
            padding++;
    } else {
        if (!end || !walk(encoder, encoded, units, encoded->dc))
            return false;
        padding = gf_jpeg_bits_left(&encoder->bits);
    }
    encoded->skip = padding ? 8 - padding : 0;
    return padding >= 0 && padding < 8;
}

/* Encodes rows that are coding->row_bytes apart. False when out of memory. */
static bool jpeg_strip_encode(struct gf_jpeg_strip_encoder *encoder, int rows,
                              const unsigned char *src, struct gf_jpeg_encoded *encoded)
{
    const struct gf_jpeg_coding *const coding = encoder->coding;
    const int down = (rows + coding->unit_height - 1) / coding->unit_height;
    return encode_corner(encoder, rows, src) &&
           encode_part(encoder, coding->format.width, rows, src, encoded) &&
           find_end(encoder, coding->units_across * down, encoded);
}

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
    struct gf_ordered *ordered;
    /* Numbers of strips; row: the next row of the strip that is being filled. */
    int filled, joined, row;
    int32_t dc[GF_JPEG_COMPONENTS]; /* the DC values of the last unit that was joined */
    struct gf_jpeg_writer bits;     /* writes bits to `chunk` */
    struct gf_jpeg_bits reader;
    unsigned char chunk[CHUNK_BYTES + SLACK_BYTES];
};

/* Counts the memory. One strip is being filled, and for every two that are being encoded one waits
 * to be joined. The size of an encoded strip is estimated as a third of its pixels. */
static void count_memory(struct gf_jpeg_strips_layout *layout, struct gf_format format)
{
    const uint64_t slot =
        (uint64_t)format.width * (uint64_t)format.channels * (uint64_t)layout->rows;
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

static enum gf_status encode(void *context, int thread, int index, struct gf_error *error)
{
    struct gf_jpeg_strips_writer *const writer = context;
    struct slot *const slot = &writer->slot[index % writer->layout.slots];
    return jpeg_strip_encode(writer->encoder[thread], slot->rows, slot->pixels, &slot->encoded)
               ? GF_OK
               : gf_fail_memory(error);
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
        writer->encoder[i] = jpeg_strip_encoder_open(&writer->coding);
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
    GF_ALLOCATED(opened, error);
    memset(opened, 0, offsetof(struct gf_jpeg_strips_writer, reader));
    opened->output = output;
    opened->layout = *layout;
    opened->bits.at = opened->chunk;
    enum gf_status status =
        jpeg_coding_make(&opened->coding, jpeg, format, options) && open_slots(opened)
            ? GF_OK
            : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    const struct gf_ordered_setup setup = {
        .call = encode, .context = opened, .threads = layout->threads, .slots = layout->slots};
    GF_THEN(status, gf_ordered_open(&setup, &opened->ordered, error));
    GF_OPENED(status, gf_jpeg_strips_writer_close, opened, writer);
}

void gf_jpeg_strips_writer_close(struct gf_jpeg_strips_writer *writer)
{
    if (!writer)
        return;
    gf_ordered_close(writer->ordered);
    for (int i = 0; writer->encoder && i < writer->layout.threads; i++)
        jpeg_strip_encoder_close(writer->encoder[i]);
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
    while (gf_ordered_is_due(writer->ordered, most)) {
        GF_TRY(gf_ordered_take(writer->ordered, error));
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
        gf_ordered_submit(writer->ordered);
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
