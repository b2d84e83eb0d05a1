/* Decodes a large JPEG in strips, each by libjpeg as a JPEG of its own: with a new header, the
 * first DC differences replaced, and the bits shifted to whole bytes. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h> /* must precede jpeglib.h */
#include <jpeglib.h>
#include <stdlib.h>
#include <string.h>

#include "base/extremes.h"
#include "base/memory/buffers.h"
#include "base/threads/ordered.h"
#include "codec/jpeg/jpeg_codes.h"
#include "codec/jpeg/jpeg_strips.h"

/* The common properties of all strips of a file. The struct contains pointers into itself and must
 * not be moved. */
struct gf_jpeg_kind {
    const struct jpeg_decompress_struct *jpeg; /* has read the header, and must not change */
    struct gf_input *input;
    struct gf_jpeg_table dc[NUM_HUFF_TBLS], ac[NUM_HUFF_TBLS];
    JHUFF_TBL dc_huffman[NUM_HUFF_TBLS]; /* the file's tables, with a code for every difference */
    struct gf_jpeg_dc_codes codes[NUM_HUFF_TBLS];
    struct gf_jpeg_unit unit;
    int unit_width, unit_height;    /* the size of a unit, in pixels */
    struct gf_jpeg_columns columns; /* the columns that are decoded */
};

/* A strip: the part of the scan from begin.bit to end.stop, and if there are no restart markers
 * only to end.bit. */
struct gf_jpeg_strip {
    struct gf_jpeg_index_row begin, end;
    int height;          /* number of pixel rows that the strip holds */
    int first_row, rows; /* the rows that the caller wants */
};

/* A decoder, which belongs to one thread. */
enum {
    CHUNK_BYTES = 32 << 10, /* passed to libjpeg at a time */
    SLACK_BYTES = 4 << 10,  /* room for a header, a unit and an end marker */
    ROWS_AT_ONCE = 16
};
enum { SOF0 = 0xc0, RST0 = 0xd0, SOI = 0xd8, EOI = 0xd9, SOS = 0xda, DRI = 0xdd };

/* ---- which files can be decoded in strips ---- */

/* Whether the tables that the components refer to exist. libjpeg checks that only later. */
static bool has_tables(const struct jpeg_decompress_struct *jpeg,
                       const jpeg_component_info *component)
{
    const int q = component->quant_tbl_no, dc = component->dc_tbl_no, ac = component->ac_tbl_no;
    return q < NUM_QUANT_TBLS && dc < NUM_HUFF_TBLS && ac < NUM_HUFF_TBLS &&
           jpeg->quant_tbl_ptrs[q] && jpeg->dc_huff_tbl_ptrs[dc] && jpeg->ac_huff_tbl_ptrs[ac];
}

/* Whether the file's header allows decoding in strips: one sequential scan of 8 bits. */
static bool jpeg_kind_suits(struct jpeg_decompress_struct *jpeg)
{
    const int components = jpeg->num_components;
    if (jpeg->progressive_mode || jpeg->arith_code || jpeg->data_precision != 8 ||
        (components != 1 && components != 3) || jpeg->comps_in_scan != components ||
        jpeg_has_multiple_scans(jpeg) || jpeg->Ss) /* 0 except in a lossless JPEG */
        return false;
    int blocks = 0;
    for (int i = 0; i < components; i++) {
        const jpeg_component_info *const component = jpeg->cur_comp_info[i];
        blocks += component->h_samp_factor * component->v_samp_factor;
        if (!has_tables(jpeg, component))
            return false;
    }
    return components == 1 || blocks <= GF_JPEG_UNIT_BLOCKS;
}

/* Adds a code for each size of a DC difference, 0 to 11 bits, that the table lacks, because a
 * strip's first differences are not in the file. The new codes are longer than the others, which do
 * not change. Returns false if there is no room for them. */
static bool complete(JHUFF_TBL *table)
{
    uint32_t used = 0; /* number of 16-bit codes that are used */
    int count = 0;
    for (int length = 1; length <= 16; length++) {
        count += table->bits[length];
        used += (uint32_t)table->bits[length] << (16 - length);
    }
    for (int size = 0; size < GF_JPEG_DC_SIZES; size++) {
        if (memchr(table->huffval, size, (size_t)count))
            continue;
        if (++used >= 1 << 16 || count == (int)sizeof table->huffval)
            return false;
        table->huffval[count++] = (UINT8)size;
        table->bits[16]++;
    }
    return true;
}

static bool make_tables(struct gf_jpeg_kind *kind, const jpeg_component_info *component)
{
    const struct jpeg_decompress_struct *const jpeg = kind->jpeg;
    const int dc = component->dc_tbl_no, ac = component->ac_tbl_no;
    JHUFF_TBL *const huffman = &kind->dc_huffman[dc];
    *huffman = *jpeg->dc_huff_tbl_ptrs[dc];
    if (!gf_jpeg_table_make(&kind->ac[ac], jpeg->ac_huff_tbl_ptrs[ac]->bits,
                            jpeg->ac_huff_tbl_ptrs[ac]->huffval, false) ||
        !gf_jpeg_table_make(&kind->dc[dc], huffman->bits, huffman->huffval, true) ||
        !complete(huffman))
        return false;
    gf_jpeg_codes_make(huffman->bits, huffman->huffval, GF_JPEG_DC_SIZES, kind->codes[dc].code);
    return true;
}

/* Prepares the decoding. Returns false if the tables are unusual. */
static bool jpeg_kind_make(struct gf_jpeg_kind *kind, const struct jpeg_decompress_struct *jpeg,
                           struct gf_input *input)
{
    struct gf_jpeg_unit *const unit = &kind->unit;
    const bool interleaved = jpeg->num_components > 1;
    kind->jpeg = jpeg;
    kind->input = input;
    kind->unit_width = DCTSIZE * (interleaved ? jpeg->max_h_samp_factor : 1);
    kind->unit_height = DCTSIZE * (interleaved ? jpeg->max_v_samp_factor : 1);
    unit->blocks = 0;
    for (int i = 0; i < jpeg->num_components; i++) {
        const jpeg_component_info *const component = jpeg->cur_comp_info[i];
        int blocks = interleaved ? component->h_samp_factor * component->v_samp_factor : 1;
        if (!make_tables(kind, component))
            return false;
        unit->codes[i] = &kind->codes[component->dc_tbl_no];
        for (; blocks; blocks--, unit->blocks++) {
            unit->block[unit->blocks].component = i;
            unit->block[unit->blocks].dc = &kind->dc[component->dc_tbl_no];
            unit->block[unit->blocks].ac = &kind->ac[component->ac_tbl_no];
        }
    }
    return true;
}

struct gf_jpeg_strip_decoder {
    const struct gf_jpeg_kind *kind;
    const struct gf_jpeg_strip *strip;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr bytes;
    jmp_buf escape;
    bool begun, ended; /* begun: the header was passed on; ended: the end marker was */
    int64_t position;  /* offset of the next byte, where bytes are copied unchanged */
    int restarts;
    bool behind_ff;
    struct gf_jpeg_writer writer;
    unsigned char *dst;
    size_t pitch;
    unsigned char *dropped; /* memory for rows that are not wanted */
    struct gf_jpeg_bits bits;
    unsigned char chunk[CHUNK_BYTES + SLACK_BYTES];
};

static unsigned char *put(unsigned char *at, int byte)
{
    *at = (unsigned char)byte;
    return at + 1;
}

static unsigned char *put_16(unsigned char *at, unsigned value)
{
    return put(put(at, (int)(value >> 8)), (int)(value & 0xff));
}

static unsigned char *put_marker(unsigned char *at, int marker)
{
    return put(put(at, 0xff), marker);
}

/* Writes the header of a strip without tables, which the decoder has already. */
static unsigned char *put_header(const struct gf_jpeg_strip_decoder *decoder, unsigned char *at)
{
    const struct jpeg_decompress_struct *const jpeg = decoder->kind->jpeg;
    const int components = jpeg->num_components;
    at = put_marker(put_marker(at, SOI), SOF0);
    at = put(put_16(at, 8 + 3 * (unsigned)components), jpeg->data_precision);
    at = put_16(put_16(at, (unsigned)decoder->strip->height), jpeg->image_width);
    at = put(at, components);
    for (int i = 0; i < components; i++) {
        const jpeg_component_info *const component = &jpeg->comp_info[i];
        at = put(at, i);
        at = put(at, component->h_samp_factor << 4 | component->v_samp_factor);
        at = put(at, component->quant_tbl_no);
    }
    if (jpeg->restart_interval)
        at = put_16(put_16(put_marker(at, DRI), 4), jpeg->restart_interval);
    at = put(put_16(put_marker(at, SOS), 6 + 2 * (unsigned)components), components);
    for (int i = 0; i < components; i++) {
        const jpeg_component_info *const component = jpeg->cur_comp_info[i];
        at = put(at, component->component_index);
        at = put(at, component->dc_tbl_no << 4 | component->ac_tbl_no);
    }
    return put(put(put(at, 0), DCTSIZE2 - 1), 0);
}

static _Noreturn void give_up(struct gf_jpeg_strip_decoder *decoder)
{
    longjmp(decoder->escape, 1);
}

/* Writes the next part of a strip that has no restart markers. The strip may begin within a byte,
 * so its bits are shifted to begin with a whole byte. The strip's first DC differences are changed
 * to refer to zero. */
static unsigned char *put_bits(struct gf_jpeg_strip_decoder *decoder, unsigned char *at)
{
    static const int32_t zero[GF_JPEG_COMPONENTS];
    const struct gf_jpeg_strip *const strip = decoder->strip;
    struct gf_jpeg_writer *const writer = &decoder->writer;
    writer->at = at;
    if (!decoder->begun) {
        writer->count = 0;
        gf_jpeg_bits_open(&decoder->bits, decoder->kind->input, strip->begin.bit, strip->end.stop);
        if (!gf_jpeg_copy_unit(&decoder->kind->unit, &decoder->bits, writer, strip->begin.dc, zero))
            give_up(decoder);
    }
    decoder->ended = gf_jpeg_bits_copy(&decoder->bits, writer, decoder->chunk + CHUNK_BYTES,
                                       (int)(strip->end.bit % 8));
    if (decoder->ended)
        gf_jpeg_writer_pad(writer);
    return writer->at;
}

/* Copies a part of a strip with restart markers. The part begins after a restart marker, and the
 * markers are renumbered. */
static unsigned char *put_intervals(struct gf_jpeg_strip_decoder *decoder, unsigned char *at)
{
    const struct gf_jpeg_strip *const strip = decoder->strip;
    size_t got;
    if (!decoder->begun)
        decoder->position = strip->begin.bit / 8;
    const int64_t left = strip->end.stop - decoder->position;
    const size_t size = left < CHUNK_BYTES / 2 ? (size_t)left : CHUNK_BYTES / 2;
    if (gf_input_read_at(decoder->kind->input, decoder->position, at, size, &got, NULL) ||
        got < size)
        give_up(decoder);
    for (size_t i = 0; i < size; i++) {
        if (decoder->behind_ff && at[i])
            at[i] = (unsigned char)(RST0 + decoder->restarts++ % 8);
        decoder->behind_ff = at[i] == 0xff;
    }
    decoder->position += (int64_t)size;
    decoder->ended = decoder->position == strip->end.stop;
    return at + size;
}

static boolean fill_buffer(j_decompress_ptr jpeg)
{
    struct gf_jpeg_strip_decoder *const decoder = jpeg->client_data;
    unsigned char *at = decoder->chunk;
    if (decoder->ended)
        give_up(decoder);
    if (!decoder->begun)
        at = put_header(decoder, at);
    at = decoder->kind->jpeg->restart_interval ? put_intervals(decoder, at) : put_bits(decoder, at);
    decoder->begun = true;
    if (decoder->ended)
        at = put_marker(at, EOI);
    decoder->bytes.next_input_byte = decoder->chunk;
    decoder->bytes.bytes_in_buffer = (size_t)(at - decoder->chunk);
    return TRUE;
}

static void error_exit(j_common_ptr jpeg)
{
    give_up(jpeg->client_data);
}

static void emit_message(j_common_ptr jpeg, int level)
{
    if (level < 0)
        give_up(jpeg->client_data);
}

static void ignore(j_decompress_ptr jpeg)
{
}

/* libjpeg never calls this, because a strip has no marker segment that it would skip. */
static void skip_bytes(j_decompress_ptr jpeg, long count)
{
    give_up(jpeg->client_data);
}

static void copy_tables(struct gf_jpeg_strip_decoder *decoder)
{
    const struct jpeg_decompress_struct *const from = decoder->kind->jpeg;
    struct jpeg_decompress_struct *const to = &decoder->jpeg;
    for (int i = 0; i < from->num_components; i++) {
        const jpeg_component_info *const component = &from->comp_info[i];
        const int q = component->quant_tbl_no, dc = component->dc_tbl_no, ac = component->ac_tbl_no;
        if (!to->quant_tbl_ptrs[q])
            to->quant_tbl_ptrs[q] = jpeg_alloc_quant_table((j_common_ptr)to);
        if (!to->dc_huff_tbl_ptrs[dc])
            to->dc_huff_tbl_ptrs[dc] = jpeg_alloc_huff_table((j_common_ptr)to);
        if (!to->ac_huff_tbl_ptrs[ac])
            to->ac_huff_tbl_ptrs[ac] = jpeg_alloc_huff_table((j_common_ptr)to);
        *to->quant_tbl_ptrs[q] = *from->quant_tbl_ptrs[q];
        *to->dc_huff_tbl_ptrs[dc] = decoder->kind->dc_huffman[dc];
        *to->ac_huff_tbl_ptrs[ac] = *from->ac_huff_tbl_ptrs[ac];
    }
}

static void create(struct gf_jpeg_strip_decoder *decoder)
{
    jpeg_create_decompress(&decoder->jpeg);
    decoder->bytes = (struct jpeg_source_mgr){.init_source = ignore,
                                              .fill_input_buffer = fill_buffer,
                                              .skip_input_data = skip_bytes,
                                              .resync_to_restart = jpeg_resync_to_restart,
                                              .term_source = ignore};
    decoder->jpeg.src = &decoder->bytes;
    copy_tables(decoder);
}

static void drop_rows(struct gf_jpeg_strip_decoder *decoder)
{
    JSAMPROW line[ROWS_AT_ONCE];
    for (int i = 0; i < ROWS_AT_ONCE; i++)
        line[i] = decoder->dropped;
    for (int left = decoder->strip->first_row, some; left; left -= some) {
        some = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        some = (int)jpeg_read_scanlines(&decoder->jpeg, line, (JDIMENSION)some);
    }
}

static void read_rows(struct gf_jpeg_strip_decoder *decoder)
{
    unsigned char *dst = decoder->dst;
    for (int left = decoder->strip->rows; left;) {
        JSAMPROW line[ROWS_AT_ONCE];
        int count = 0;
        for (; count < ROWS_AT_ONCE && count < left; count++)
            line[count] = dst + (size_t)count * decoder->pitch;
        count = (int)jpeg_read_scanlines(&decoder->jpeg, line, (JDIMENSION)count);
        left -= count;
        dst += (size_t)count * decoder->pitch;
    }
}

static void decode(struct gf_jpeg_strip_decoder *decoder)
{
    struct jpeg_decompress_struct *const jpeg = &decoder->jpeg;
    jpeg_read_header(jpeg, TRUE);
    jpeg->jpeg_color_space = decoder->kind->jpeg->jpeg_color_space;
    jpeg->out_color_space = decoder->kind->jpeg->out_color_space;
    jpeg_start_decompress(jpeg);
    JDIMENSION left = (JDIMENSION)decoder->kind->columns.first,
               count = (JDIMENSION)decoder->kind->columns.count;
    if (count < jpeg->output_width)
        jpeg_crop_scanline(jpeg, &left, &count);
    drop_rows(decoder);
    read_rows(decoder);
}

/* Calls `work` after setjmp(). `work` has no locals that must survive a longjmp(). */
static bool attempt(struct gf_jpeg_strip_decoder *decoder,
                    void (*work)(struct gf_jpeg_strip_decoder *decoder))
{
    if (setjmp(decoder->escape))
        return false;
    work(decoder);
    return true;
}

static void jpeg_strip_decoder_close(struct gf_jpeg_strip_decoder *decoder)
{
    if (!decoder)
        return;
    jpeg_destroy_decompress(&decoder->jpeg);
    free(decoder->dropped);
    free(decoder);
}

static struct gf_jpeg_strip_decoder *jpeg_strip_decoder_open(const struct gf_jpeg_kind *kind)
{
    struct gf_jpeg_strip_decoder *const decoder = malloc(sizeof *decoder);
    if (!decoder)
        return NULL;
    memset(decoder, 0, offsetof(struct gf_jpeg_strip_decoder, bits));
    decoder->kind = kind;
    decoder->dropped = malloc((size_t)kind->jpeg->image_width * GF_JPEG_COMPONENTS);
    decoder->jpeg.err = jpeg_std_error(&decoder->errors);
    decoder->jpeg.client_data = decoder;
    decoder->errors.error_exit = error_exit;
    decoder->errors.emit_message = emit_message;
    if (!decoder->dropped || !attempt(decoder, create)) {
        jpeg_strip_decoder_close(decoder);
        return NULL;
    }
    return decoder;
}

/* Decodes a strip. Returns false if libjpeg reports anything, or when out of memory. */
static bool jpeg_strip_decode(struct gf_jpeg_strip_decoder *decoder,
                              const struct gf_jpeg_strip *strip, unsigned char *dst, size_t pitch)
{
    decoder->strip = strip;
    decoder->dst = dst;
    decoder->pitch = pitch;
    decoder->begun = decoder->ended = decoder->behind_ff = false;
    decoder->restarts = 0;
    decoder->bytes.bytes_in_buffer = 0;
    const bool decoded = attempt(decoder, decode);
    jpeg_abort_decompress(&decoder->jpeg);
    return decoded;
}

enum {
    PIXELS_LEAST = 1 << 20, /* several threads are not faster for a smaller picture */
    /* A strip also decodes one row of units above and below its own rows, which costs less for long
     * strips. */
    ROWS_LEAST = 4,
    ROWS_MOST = 16,
    MEMORY_BYTES = 64 << 20,
    MEMORY_SHARE = 4, /* the reader may use 1/4 of options->memory_bytes */
    THREAD_BYTES = 1 << 20,
    COLUMNS_BESIDE = 3, /* the units beside a window on which its pixels may depend */
    SMALL_SUBSEQUENCE_BYTES =
        256 /* if the caller chooses the strips, which are small in that case */
};

/* Any thread decodes strip first + k to slot k % slots; the caller reads the strips in order.
 * Before decoding, the thread extends the index up to the end of its strip. The index is extended
 * under the lock, from strip to strip without a pause. */
struct gf_jpeg_strips_reader {
    struct gf_jpeg_kind kind;
    int64_t begin;                 /* offset of the scan in the input */
    int subsequence_bytes;         /* size of the scouts' subsequences; 0: they choose */
    size_t row_bytes;              /* of the columns that are decoded */
    size_t at, wanted;             /* where the wanted columns begin in them, and their bytes */
    int rows, strip_rows, context; /* rows of units: of the picture, of a strip, of the context on
                                    * each side */
    int first, strips, threads, slots; /* first: the first of the strips that are decoded */
    unsigned char *pixels; /* memory of all slots as one allocation, which can use huge pages */
    struct gf_jpeg_strip_decoder **decoder; /* one for each thread */
    struct gf_jpeg_index *index;
    pthread_mutex_t lock; /* guards the index */
    struct gf_ordered *ordered;
    int strip, row;     /* strip: the current strip; row: its next row of pixels to read */
    bool taken, failed; /* taken: the current strip's pixels are there */
};

static int units_across(const struct gf_jpeg_kind *kind)
{
    return ((int)kind->jpeg->image_width + kind->unit_width - 1) / kind->unit_width;
}

/* Returns the number of pixel rows above that row of units. */
static int pixel_row(const struct gf_jpeg_strips_reader *reader, int row)
{
    return gf_least(row * reader->kind.unit_height, (int)reader->kind.jpeg->image_height);
}

static int pixel_rows(const struct gf_jpeg_strips_reader *reader, int strip)
{
    const int first = strip * reader->strip_rows;
    return pixel_row(reader, first + reader->strip_rows) - pixel_row(reader, first);
}

/* Describes a strip and the rows around it on which its pixels depend. Returns false if its bits,
 * or any earlier bits, are damaged. */
static bool find_strip(struct gf_jpeg_strips_reader *reader, int number,
                       struct gf_jpeg_strip *strip)
{
    const int first = number * reader->strip_rows;
    const int begin = number ? first - reader->context : 0;
    const int end = gf_least(first + reader->strip_rows + reader->context, reader->rows);
    pthread_mutex_lock(&reader->lock);
    const bool found = gf_jpeg_index_reach(reader->index, end);
    if (found) {
        strip->begin = reader->index->row[begin];
        strip->end = reader->index->row[end];
    }
    pthread_mutex_unlock(&reader->lock);
    strip->height = pixel_row(reader, end) - pixel_row(reader, begin);
    strip->first_row = pixel_row(reader, first) - pixel_row(reader, begin);
    strip->rows = pixel_rows(reader, number);
    return found;
}

static uint64_t slot_bytes(const struct gf_jpeg_strips_reader *reader)
{
    return (uint64_t)reader->row_bytes * (uint64_t)(reader->strip_rows * reader->kind.unit_height);
}

/* Returns the pixels of a strip's slot; the first strip that is decoded has the number 0. */
static unsigned char *slot_of(const struct gf_jpeg_strips_reader *reader, int number)
{
    return reader->pixels + (size_t)(number % reader->slots) * slot_bytes(reader);
}

static enum gf_status decode_strip(void *context, int thread, int number, struct gf_error *error)
{
    struct gf_jpeg_strips_reader *const reader = context;
    struct gf_jpeg_strip strip;
    return find_strip(reader, reader->first + number, &strip) &&
                   jpeg_strip_decode(reader->decoder[thread], &strip, slot_of(reader, number),
                                     reader->row_bytes)
               ? GF_OK
               : GF_ERROR_INPUT;
}

static int greatest_divisor(int a, int b)
{
    return b ? greatest_divisor(b, a % b) : a;
}

/* Returns the number of slots: one for the strip that is being read, one for each thread that
 * decodes, and for every four threads one that waits. */
static int slot_count(int threads)
{
    return threads + threads / 4 + 1;
}

/* Chooses the context. If restart intervals do not end with a row of units, strips and their
 * context can begin only at rows where an interval ends. Without vertical upsampling there is
 * none. */
static bool choose_context(struct gf_jpeg_strips_reader *reader)
{
    const struct jpeg_decompress_struct *const jpeg = reader->kind.jpeg;
    const int interval = (int)jpeg->restart_interval;
    const int step =
        interval ? interval / greatest_divisor(interval, units_across(&reader->kind)) : 1;
    reader->context = jpeg->max_v_samp_factor > 1 ? step : 0;
    reader->strip_rows = (reader->strip_rows + step - 1) / step * step;
    return step <= ROWS_MOST;
}

/* Chooses the size of strips and the number of threads: two strips or more for each thread, if the
 * memory suffices. */
static bool choose_strips(struct gf_jpeg_strips_reader *reader, const struct gf_options *options,
                          int strip_rows)
{
    const struct jpeg_decompress_struct *const jpeg = reader->kind.jpeg;
    const uint64_t budget =
        options->memory_bytes ? options->memory_bytes / MEMORY_SHARE : MEMORY_BYTES;
    reader->threads = gf_jpeg_share_threads(options);
    if (!strip_rows && (uint64_t)jpeg->image_width * jpeg->image_height < PIXELS_LEAST)
        return false;
    reader->strip_rows = reader->rows / (2 * reader->threads);
    if (reader->strip_rows > ROWS_MOST)
        reader->strip_rows = ROWS_MOST;
    if (reader->strip_rows < ROWS_LEAST)
        reader->strip_rows = ROWS_LEAST;
    if (strip_rows)
        reader->strip_rows = strip_rows;
    const int least = gf_least(ROWS_LEAST, reader->strip_rows);
    while (reader->strip_rows > least &&
           (uint64_t)slot_count(reader->threads) * slot_bytes(reader) > budget)
        reader->strip_rows--;
    if (!choose_context(reader))
        return false;
    reader->strips = (reader->rows + reader->strip_rows - 1) / reader->strip_rows;
    reader->threads = gf_least(reader->threads, reader->strips);
    while (reader->threads > 1 && gf_jpeg_strips_reader_memory(reader) > budget)
        reader->threads--;
    reader->slots = gf_least(slot_count(reader->threads), reader->strips);
    return reader->threads > 1;
}

struct gf_jpeg_strips_reader *gf_jpeg_strips_reader_open(struct jpeg_decompress_struct *jpeg,
                                                         struct gf_input *input, int64_t begin,
                                                         const struct gf_options *options,
                                                         int strip_rows)
{
    if (gf_input_size(input) < 0 || gf_jpeg_share_threads(options) == 1 || !jpeg_kind_suits(jpeg))
        return NULL;
    struct gf_jpeg_strips_reader *const reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    pthread_mutex_init(&reader->lock, NULL);
    reader->begin = begin;
    reader->subsequence_bytes = strip_rows ? SMALL_SUBSEQUENCE_BYTES : 0;
    reader->wanted = reader->row_bytes = (size_t)jpeg->image_width * (size_t)jpeg->num_components;
    reader->kind.columns.count = (int)jpeg->image_width;
    if (jpeg_kind_make(&reader->kind, jpeg, input)) {
        reader->rows =
            ((int)jpeg->image_height + reader->kind.unit_height - 1) / reader->kind.unit_height;
        if (choose_strips(reader, options, strip_rows))
            return reader;
    }
    gf_jpeg_strips_reader_close(reader);
    return NULL;
}

struct gf_jpeg_columns gf_jpeg_columns_for(const struct jpeg_decompress_struct *jpeg, int first,
                                           int count)
{
    const int unit = DCTSIZE * jpeg->max_h_samp_factor, width = (int)jpeg->image_width;
    const int begin = first / unit - COLUMNS_BESIDE,
              end = (first + count - 1) / unit + 1 + COLUMNS_BESIDE;
    const int left = begin > 0 ? begin * unit : 0;
    return (struct gf_jpeg_columns){left, gf_least(end * unit, width) - left};
}

void gf_jpeg_strips_reader_window(struct gf_jpeg_strips_reader *reader, struct gf_rectangle window)
{
    const size_t components = (size_t)reader->kind.jpeg->num_components;
    const int rows = reader->strip_rows * reader->kind.unit_height;
    const struct gf_jpeg_columns columns =
        gf_jpeg_columns_for(reader->kind.jpeg, window.x, window.width);
    reader->kind.columns = columns;
    reader->row_bytes = (size_t)columns.count * components;
    reader->at = (size_t)(window.x - columns.first) * components;
    reader->wanted = (size_t)window.width * components;
    reader->strip = reader->first = window.y / rows;
    reader->row = window.y % rows;
    reader->strips = (window.y + window.height - 1) / rows + 1 - reader->first;
    reader->slots = gf_least(slot_count(reader->threads), reader->strips);
}

uint64_t gf_jpeg_strips_reader_memory(const struct gf_jpeg_strips_reader *reader)
{
    return (uint64_t)slot_count(reader->threads) * slot_bytes(reader) +
           (uint64_t)reader->threads * THREAD_BYTES;
}

void gf_jpeg_strips_reader_close(struct gf_jpeg_strips_reader *reader)
{
    if (!reader)
        return;
    gf_ordered_close(reader->ordered);
    gf_pages_free(reader->pixels, (size_t)reader->slots * slot_bytes(reader));
    for (int i = 0; reader->decoder && i < reader->threads; i++)
        jpeg_strip_decoder_close(reader->decoder[i]);
    pthread_mutex_destroy(&reader->lock);
    gf_jpeg_index_close(reader->index);
    free(reader->decoder);
    free(reader);
}

static bool start(struct gf_jpeg_strips_reader *reader)
{
    const struct gf_jpeg_kind *const kind = &reader->kind;
    reader->decoder = calloc((size_t)reader->threads, sizeof *reader->decoder);
    reader->index = gf_jpeg_index_open(&kind->unit, units_across(kind), reader->rows,
                                       (int)kind->jpeg->restart_interval, kind->input,
                                       reader->begin, reader->threads, reader->subsequence_bytes);
    reader->pixels = gf_pages_alloc((size_t)reader->slots * slot_bytes(reader));
    bool there = reader->decoder && reader->index && reader->pixels;
    if (there && reader->first)
        gf_jpeg_index_skip(reader->index, reader->first * reader->strip_rows - reader->context);
    for (int i = 0; there && i < reader->threads; i++) {
        reader->decoder[i] = jpeg_strip_decoder_open(kind);
        there = reader->decoder[i];
    }
    const struct gf_ordered_setup setup = {.call = decode_strip,
                                           .context = reader,
                                           .threads = reader->threads,
                                           .slots = reader->slots};
    return there && !gf_ordered_open(&setup, &reader->ordered, NULL);
}

/* Waits for strip `strip`, whose first row is the next row. */
static bool take_strip(struct gf_jpeg_strips_reader *reader)
{
    return (reader->ordered || start(reader)) &&
           !gf_ordered_next(reader->ordered, reader->strips, NULL);
}

int gf_jpeg_strips_read(struct gf_jpeg_strips_reader *reader, int rows, unsigned char *dst,
                        size_t pitch)
{
    int done = 0;
    for (; done < rows && !reader->failed; done++, dst += pitch) {
        reader->taken = reader->taken || take_strip(reader);
        reader->failed = !reader->taken;
        if (reader->failed)
            break;
        memcpy(dst,
               slot_of(reader, reader->strip - reader->first) +
                   (size_t)reader->row * reader->row_bytes + reader->at,
               reader->wanted);
        if (++reader->row == pixel_rows(reader, reader->strip)) {
            reader->strip++;
            reader->row = 0;
            reader->taken = false;
        }
    }
    return done;
}

int64_t gf_jpeg_strips_reader_end(const struct gf_jpeg_strips_reader *reader)
{
    return reader->index->bits.begin; /* the index has read the end marker */
}

bool gf_jpeg_codes_are_left(struct jpeg_decompress_struct *jpeg, struct gf_input *input,
                            int64_t begin)
{
    struct gf_jpeg_index *index = NULL;
    if (gf_input_size(input) < 0 || !jpeg_kind_suits(jpeg))
        return false;
    struct gf_jpeg_kind *const kind = malloc(sizeof *kind);
    if (kind && jpeg_kind_make(kind, jpeg, input))
        index =
            gf_jpeg_index_open(&kind->unit, (int)jpeg->MCUs_per_row, (int)jpeg->MCU_rows_in_scan,
                               (int)jpeg->restart_interval, input, begin, 1, 0);
    const bool are_left = index && gf_jpeg_index_has_more(index);
    gf_jpeg_index_close(index);
    free(kind);
    return are_left;
}
