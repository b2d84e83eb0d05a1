#include "codec/jpeg/jpeg_strip_encode.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "codec/common/checks.h"

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

bool gf_jpeg_coding_make(struct gf_jpeg_coding *coding, const struct jpeg_compress_struct *jpeg,
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

struct gf_jpeg_strip_encoder {
    const struct gf_jpeg_coding *coding;
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr bytes;
    jmp_buf escape;
    int width, rows; /* these four are arguments of encode() */
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

static void encode(struct gf_jpeg_strip_encoder *encoder)
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

struct gf_jpeg_strip_encoder *gf_jpeg_strip_encoder_open(const struct gf_jpeg_coding *coding)
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
        gf_jpeg_strip_encoder_close(encoder);
        return NULL;
    }
    return encoder;
}

void gf_jpeg_strip_encoder_close(struct gf_jpeg_strip_encoder *encoder)
{
    if (!encoder)
        return;
    jpeg_destroy_compress(&encoder->jpeg);
    free(encoder->corner.data);
    free(encoder);
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
    const bool done = attempt(encoder, encode);
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

bool gf_jpeg_strip_encode(struct gf_jpeg_strip_encoder *encoder, int rows, const unsigned char *src,
                          struct gf_jpeg_encoded *encoded)
{
    const struct gf_jpeg_coding *const coding = encoder->coding;
    const int down = (rows + coding->unit_height - 1) / coding->unit_height;
    return encode_corner(encoder, rows, src) &&
           encode_part(encoder, coding->format.width, rows, src, encoded) &&
           find_end(encoder, coding->units_across * down, encoded);
}
