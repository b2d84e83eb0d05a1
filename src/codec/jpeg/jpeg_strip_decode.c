#include "codec/jpeg/jpeg_strip_decode.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

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

bool gf_jpeg_kind_suits(struct jpeg_decompress_struct *jpeg)
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

bool gf_jpeg_kind_make(struct gf_jpeg_kind *kind, const struct jpeg_decompress_struct *jpeg,
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

/* libjpeg never calls this function, because a strip has no segment that libjpeg would skip. */
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

struct gf_jpeg_strip_decoder *gf_jpeg_strip_decoder_open(const struct gf_jpeg_kind *kind)
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
        gf_jpeg_strip_decoder_close(decoder);
        return NULL;
    }
    return decoder;
}

void gf_jpeg_strip_decoder_close(struct gf_jpeg_strip_decoder *decoder)
{
    if (!decoder)
        return;
    jpeg_destroy_decompress(&decoder->jpeg);
    free(decoder->dropped);
    free(decoder);
}

bool gf_jpeg_strip_decode(struct gf_jpeg_strip_decoder *decoder, const struct gf_jpeg_strip *strip,
                          unsigned char *dst, size_t pitch)
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
