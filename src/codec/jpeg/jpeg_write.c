/* Writes JPEG files of 8 bits: gray, YCbCr, or YCCK for inks. */
#include <math.h>
#include <setjmp.h>
#include <stdio.h> /* must precede jpeglib.h */
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/samples.h"
#include "codec/common/rows/source.h"
#include "codec/io/output.h"
#include "codec/jpeg/jpeg.h"
#include "codec/jpeg/jpeg_coefficients.h"
#include "codec/jpeg/jpeg_perceptual.h"
#include "codec/jpeg/jpeg_strips.h"

enum { BUFFER_BYTES = 64 << 10, ROWS_AT_ONCE = 16, MARKER_MAX = 65533 };

struct jpeg_sink {
    struct gf_sink base;
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr bytes;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    struct gf_output *output;
    struct gf_format format; /* format of the rows that write() gets */
    bool inks;               /* the rows are CMYK */
    struct gf_options options;
    const struct gf_metadata *metadata;   /* valid only during open */
    struct gf_jpeg_strips_layout layout;  /* without strips libjpeg encodes the picture */
    struct gf_jpeg_strips_writer *strips; /* NULL before the first row */
    struct gf_blob comment;               /* the comment that was written last */
    bool spliced;                         /* a GPU has encoded the picture */
    struct gf_jpeg_mover mover;           /* moves coefficients, if rows have them */
    struct gf_jpeg_perceptual *own;       /* NULL: libjpeg makes the coefficients */
    struct gf_error *error;
    enum gf_status status;
    const unsigned char *src; /* src, pitch and rows are arguments of attempt()'s functions */
    size_t pitch;
    int rows;
    unsigned char *converted; /* ROWS_AT_ONCE rows in libjpeg's form; NULL: not needed */
    unsigned char buffer[BUFFER_BYTES];
};

/* ---- errors, and libjpeg's output ---- */

static void error_exit(j_common_ptr jpeg)
{
    struct jpeg_sink *const sink = jpeg->client_data;
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    const enum gf_status status = jpeg->err->msg_code == JERR_OUT_OF_MEMORY  ? GF_ERROR_MEMORY
                                  : jpeg->err->msg_code == JERR_BAD_DCT_COEF ? GF_ERROR_UNFIT
                                                                             : GF_ERROR_OUTPUT;
    sink->status = gf_fail(sink->error, status, "%s: %s", gf_output_name(sink->output), text);
    longjmp(sink->escape, 1);
}

/* A progressive picture is coded at its end, scan by scan, in one call of libjpeg. */
static void watch_time(j_common_ptr jpeg)
{
    struct jpeg_sink *const sink = jpeg->client_data;
    sink->status = gf_time_check(sink->error);
    if (sink->status)
        longjmp(sink->escape, 1);
}

static void ignore_message(j_common_ptr jpeg, int level)
{
}

static void reset_buffer(j_compress_ptr jpeg)
{
    struct jpeg_sink *const sink = jpeg->client_data;
    sink->bytes.next_output_byte = sink->buffer;
    sink->bytes.free_in_buffer = BUFFER_BYTES;
}

static void write_buffer(struct jpeg_sink *sink, size_t size)
{
    sink->status = gf_output_write(sink->output, sink->buffer, size, sink->error);
    if (sink->status)
        longjmp(sink->escape, 1);
}

static boolean empty_buffer(j_compress_ptr jpeg)
{
    write_buffer(jpeg->client_data, BUFFER_BYTES); /* libjpeg expects that the whole buffer is
                                                    * written, whatever free_in_buffer says */
    reset_buffer(jpeg);
    return TRUE;
}

static void write_rest(j_compress_ptr jpeg)
{
    struct jpeg_sink *const sink = jpeg->client_data;
    write_buffer(sink, BUFFER_BYTES - sink->bytes.free_in_buffer);
}

static void write_marker(struct jpeg_sink *sink, int marker, const char *header, size_t header_size,
                         const struct gf_blob *blob, const char *what)
{
    if (!blob->size)
        return;
    if (header_size + blob->size > MARKER_MAX) {
        gf_warn(&sink->options, "%s: %s of %zu bytes is too large for JPEG: it is left out",
                gf_output_name(sink->output), what, blob->size);
        return;
    }
    jpeg_write_m_header(&sink->jpeg, marker, (unsigned)(header_size + blob->size));
    for (size_t i = 0; i < header_size; i++)
        jpeg_write_m_byte(&sink->jpeg, header[i]);
    for (size_t i = 0; i < blob->size; i++)
        jpeg_write_m_byte(&sink->jpeg, blob->data[i]);
}

static void write_comment(struct jpeg_sink *sink, const struct gf_text *text)
{
    struct gf_blob *const comment = &sink->comment;
    free(comment->data);
    if (!gf_text_as_comment(text, comment))
        ERREXIT1(&sink->jpeg, JERR_OUT_OF_MEMORY, 0);
    write_marker(sink, JPEG_COM, "", 0, comment, "a comment");
}

static void write_metadata(struct jpeg_sink *sink)
{
    const struct gf_metadata *const metadata = sink->metadata;
    write_marker(sink, JPEG_APP0 + 1, GF_APP1_EXIF, sizeof GF_APP1_EXIF, &metadata->exif, "EXIF");
    write_marker(sink, JPEG_APP0 + 1, GF_APP1_XMP, sizeof GF_APP1_XMP, &metadata->xmp, "XMP");
    write_marker(sink, JPEG_APP0 + 13, GF_APP13_PHOTOSHOP, sizeof GF_APP13_PHOTOSHOP,
                 &metadata->iptc, "IPTC");
    if (metadata->icc.size > GF_METADATA_MAX)
        gf_warn(&sink->options,
                "%s: an ICC profile of %zu bytes is too large for JPEG: it is left out",
                gf_output_name(sink->output), metadata->icc.size);
    else if (metadata->icc.size)
        jpeg_write_icc_profile(&sink->jpeg, metadata->icc.data, (unsigned)metadata->icc.size);
    for (int i = 0; i < metadata->texts.count; i++)
        write_comment(sink, &metadata->texts.item[i]);
}

static double distance_to_integer(double value)
{
    return fabs(value - nearbyint(value));
}

/* Sets the density in whole dots per inch or per centimetre, whichever is closer to the picture's
 * density. */
static void set_density(struct jpeg_sink *sink)
{
    const double x = sink->metadata->density_x, y = sink->metadata->density_y;
    if (!(x > 0 && y > 0))
        return;
    if (sink->metadata->density_is_ratio) {
        uint32_t across, down;
        gf_metadata_ratio(sink->metadata, UINT16_MAX, &across, &down);
        sink->jpeg.write_JFIF_header = TRUE;
        sink->jpeg.X_density = (UINT16)across;
        sink->jpeg.Y_density = (UINT16)down;
        return;
    }
    const double inch = 0.0254, centimetre = 0.01;
    const bool inches =
        distance_to_integer(x * inch) + distance_to_integer(y * inch) <=
        distance_to_integer(x * centimetre) + distance_to_integer(y * centimetre) + 0.02;
    const double unit = inches ? inch : centimetre;
    if (x * unit > 65535 || y * unit > 65535 || x * unit < 0.5 || y * unit < 0.5) {
        gf_warn(&sink->options, "%s: its density is beyond what JPEG can state: it is left out",
                gf_output_name(sink->output));
        return;
    }
    sink->jpeg.write_JFIF_header = TRUE; /* it states the density, also beside Adobe's marker */
    sink->jpeg.density_unit = inches ? 1 : 2;
    sink->jpeg.X_density = (UINT16)nearbyint(x * unit);
    sink->jpeg.Y_density = (UINT16)nearbyint(y * unit);
}

/* ---- functions that run under setjmp (none has locals that must survive longjmp) ---- */

static enum gf_status attempt(struct jpeg_sink *sink, void (*work)(struct jpeg_sink *sink),
                              struct gf_error *error)
{
    sink->error = error;
    if (setjmp(sink->escape))
        return sink->status;
    work(sink);
    return GF_OK;
}

static void start(struct jpeg_sink *sink)
{
    struct jpeg_compress_struct *const jpeg = &sink->jpeg;
    jpeg_create_compress(jpeg);
    sink->bytes = (struct jpeg_destination_mgr){.init_destination = reset_buffer,
                                                .empty_output_buffer = empty_buffer,
                                                .term_destination = write_rest};
    jpeg->dest = &sink->bytes;
    sink->progress.progress_monitor = watch_time;
    jpeg->progress = &sink->progress;
    if (sink->mover.move)
        gf_jpeg_mover_configure(&sink->mover, jpeg, sink->options.progressive);
    else
        gf_jpeg_configure(jpeg, sink->format, sink->inks, &sink->options);
    if (sink->own)
        gf_jpeg_perceptual_configure(sink->own, jpeg);
    set_density(sink);
    if (sink->mover.move)
        gf_jpeg_mover_start(&sink->mover, jpeg);
    else if (sink->own)
        gf_jpeg_perceptual_start(sink->own, jpeg);
    else
        jpeg_start_compress(jpeg, TRUE);
    write_metadata(sink);
}

static const unsigned char *convert(const struct jpeg_sink *sink, const unsigned char *row,
                                    int slot)
{
    if (!sink->converted)
        return row;
    const size_t width = (size_t)sink->format.width, channels = (size_t)sink->format.channels;
    unsigned char *const to = sink->converted + (size_t)slot * width * channels;
    if (sink->format.bits == 16) {
        gf_samples_narrow(row, to, width * channels);
        row = to;
    }
    if (channels == 2)
        gf_pixels_drop_alpha(row, to, width, 2, 8);
    for (size_t i = 0; sink->inks && i < width * channels; i++)
        to[i] = (unsigned char)~row[i]; /* 255 is no ink in a JPEG, as Adobe has it */
    return to;
}

static void write_rows(struct jpeg_sink *sink)
{
    for (; sink->mover.move && sink->rows; sink->rows--, sink->src += sink->pitch)
        gf_jpeg_mover_write(&sink->mover, &sink->jpeg, sink->src);
    while (sink->rows) {
        JSAMPROW line[ROWS_AT_ONCE];
        int count = 0;
        for (; count < ROWS_AT_ONCE && count < sink->rows; count++)
            line[count] = (JSAMPROW)convert(sink, sink->src + (size_t)count * sink->pitch, count);
        jpeg_write_scanlines(&sink->jpeg, line, (JDIMENSION)count);
        sink->rows -= count;
        sink->src += (size_t)count * sink->pitch;
    }
}

/* Makes libjpeg write everything before the first row, by writing no rows. */
static void write_headers(struct jpeg_sink *sink)
{
    jpeg_write_scanlines(&sink->jpeg, NULL, 0);
    write_rest(&sink->jpeg);
}

static void set_table(JHUFF_TBL *to, const struct gf_jpeg_huffman *from)
{
    memcpy(to->bits, from->counts, sizeof from->counts);
    memcpy(to->huffval, from->symbols, sizeof from->symbols);
}

/* Writes what follows the metadata, with the codes at sink->src. libjpeg has begun to transcode,
 * and has to begin again: what that writes once more is left out. */
static void write_own_headers(struct jpeg_sink *sink)
{
    struct jpeg_compress_struct *const jpeg = &sink->jpeg;
    struct gf_jpeg_own_codes codes;
    memcpy(&codes, sink->src, sizeof codes);
    for (int i = 0; i < 2; i++) {
        set_table(jpeg->dc_huff_tbl_ptrs[i], &codes.dc[i]);
        set_table(jpeg->ac_huff_tbl_ptrs[i], &codes.ac[i]);
    }
    write_rest(jpeg);
    jpeg_abort_compress(jpeg);
    jpeg->write_JFIF_header = jpeg->write_Adobe_marker = FALSE;
    jpeg->optimize_coding = FALSE;
    jpeg->input_components = jpeg->num_components; /* transcoding changes it */
    jpeg_start_compress(jpeg, TRUE);
    reset_buffer(jpeg);
    write_headers(sink);
}

static void finish(struct jpeg_sink *sink)
{
    jpeg_finish_compress(&sink->jpeg);
}

static enum gf_status write_strips(struct jpeg_sink *sink, int rows, const unsigned char *src,
                                   size_t pitch, struct gf_error *error)
{
    if (!sink->strips) {
        GF_TRY(attempt(sink, write_headers, error));
        GF_TRY(gf_jpeg_strips_writer_open(sink->output, &sink->jpeg, sink->format, &sink->options,
                                          &sink->layout, &sink->strips, error));
    }
    for (int y = 0; y < rows; y++)
        GF_TRY(
            gf_jpeg_strips_write(sink->strips, convert(sink, src + (size_t)y * pitch, 0), error));
    return GF_OK;
}

static enum gf_status write_own(struct jpeg_sink *sink, int rows, const unsigned char *src,
                                size_t pitch, struct gf_error *error)
{
    for (int y = 0; y < rows; y++)
        GF_TRY(
            gf_jpeg_perceptual_write(sink->own, convert(sink, src + (size_t)y * pitch, 0), error));
    return GF_OK;
}

static enum gf_status jpeg_write(struct gf_sink *base, int rows, const unsigned char *src,
                                 size_t pitch, struct gf_error *error)
{
    struct jpeg_sink *const sink = (struct jpeg_sink *)base;
    if (sink->layout.strips)
        return write_strips(sink, rows, src, pitch, error);
    if (sink->own)
        return write_own(sink, rows, src, pitch, error);
    sink->src = src;
    sink->pitch = pitch;
    sink->rows = rows;
    return attempt(sink, write_rows, error);
}

static enum gf_status jpeg_finish(struct gf_sink *base, struct gf_error *error)
{
    struct jpeg_sink *const sink = (struct jpeg_sink *)base;
    if (sink->own)
        GF_TRY(gf_jpeg_perceptual_finish(sink->own, error));
    return sink->layout.strips ? gf_jpeg_strips_finish(sink->strips, error)
                               : attempt(sink, finish, error);
}

/* Writes coded bytes: the bytes between the headers and the end marker. */
static enum gf_status jpeg_splice(struct gf_sink *base, const unsigned char *coded, size_t size,
                                  bool last, struct gf_error *error)
{
    static const unsigned char end[] = {0xff, JPEG_EOI};
    struct jpeg_sink *const sink = (struct jpeg_sink *)base;
    enum gf_status status = GF_OK;
    if (!sink->spliced && sink->own) {
        gf_jpeg_perceptual_close(sink->own);
        sink->own = NULL;
        sink->src = coded;
        status = attempt(sink, write_own_headers, error);
        coded += sizeof(struct gf_jpeg_own_codes);
        size -= sizeof(struct gf_jpeg_own_codes);
    } else if (!sink->spliced)
        status = attempt(sink, write_headers, error);
    sink->spliced = true;
    GF_THEN(status, gf_output_write(sink->output, coded, size, error));
    if (!status && last)
        status = gf_output_write(sink->output, end, sizeof end, error);
    return status;
}

static void jpeg_close(struct gf_sink *base)
{
    struct jpeg_sink *const sink = (struct jpeg_sink *)base;
    gf_jpeg_share_writing(-1);
    gf_jpeg_strips_writer_close(sink->strips);
    gf_jpeg_perceptual_close(sink->own);
    jpeg_destroy_compress(&sink->jpeg);
    free(sink->converted);
    free(sink->comment.data);
    free(sink);
}

/* Counts the memory of libjpeg, which keeps the coefficients of a picture that it writes in several
 * scans. */
struct gf_codec_memory gf_jpeg_sink_memory(struct gf_format format,
                                           const struct gf_options *options)
{
    enum { BLOCKS_OF_PADDING = 2 };
    const bool own = options->jpeg_encoder == GF_JPEG_PERCEPTUAL;
    const enum gf_subsampling subsampling =
        own ? gf_jpeg_perceptual_subsampling(options) : gf_subsampling_of(options);
    if (!options->progressive && !options->optimize && !own)
        return (struct gf_codec_memory){gf_jpeg_strips_layout(format, options, 0).memory,
                                        "several of its strips are encoded at once"};
    const uint64_t columns = (uint64_t)format.width / DCTSIZE + BLOCKS_OF_PADDING,
                   rows = (uint64_t)format.height / DCTSIZE + BLOCKS_OF_PADDING;
    uint64_t blocks = columns * rows;
    if (gf_colour_channels(format) == 3)
        blocks += 2 * blocks /
                  (subsampling == GF_SUBSAMPLING_420   ? 4
                   : subsampling == GF_SUBSAMPLING_422 ? 2
                                                       : 1);
    if (format.channels == 4) /* black */
        blocks += columns * rows;
    return (struct gf_codec_memory){
        blocks * sizeof(JBLOCK) + (own ? gf_jpeg_perceptual_bytes(format, options) : 0),
        options->progressive ? "a progressive JPEG is encoded as a whole"
        : own                ? "a perceptual JPEG is encoded as a whole"
                             : "an optimized JPEG is encoded as a whole"};
}

enum gf_status gf_jpeg_sink_open(struct gf_output *output, struct gf_format format,
                                 const struct gf_metadata *metadata,
                                 const struct gf_options *options, int strip_rows,
                                 struct gf_sink **sink, struct gf_error *error)
{
    const char *const name = gf_output_name(output);
    if (format.width > JPEG_MAX_DIMENSION || format.height > JPEG_MAX_DIMENSION)
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: %dx%d is too large for JPEG, whose sides end at %ld", name,
                       format.width, format.height, (long)JPEG_MAX_DIMENSION);
    struct jpeg_sink *const opened = malloc(sizeof *opened);
    GF_ALLOCATED(opened, error);
    memset(opened, 0, offsetof(struct jpeg_sink, buffer));
    gf_jpeg_share_writing(1);
    opened->mover.move = metadata ? metadata->move : NULL;
    opened->inks = metadata && metadata->inks && !metadata->move;
    const bool own = options->jpeg_encoder == GF_JPEG_PERCEPTUAL && !opened->mover.move;
    opened->base =
        (struct gf_sink){.write = jpeg_write,
                         .finish = jpeg_finish,
                         .close = jpeg_close,
                         .splice = opened->inks || opened->mover.move ? NULL : jpeg_splice};
    opened->output = output;
    opened->format = format;
    opened->options = *options;
    opened->metadata = metadata;
    if (!opened->inks && !opened->mover.move && !own)
        opened->layout = gf_jpeg_strips_layout(format, options, strip_rows);
    opened->jpeg.err = jpeg_std_error(&opened->errors);
    opened->jpeg.client_data = opened;
    opened->errors.error_exit = error_exit;
    opened->errors.emit_message = ignore_message;
    enum gf_status status = GF_OK;
    if (format.bits == 16 || format.channels == 2 || opened->inks) {
        opened->converted = malloc((size_t)format.width * (size_t)format.channels * ROWS_AT_ONCE);
        if (!opened->converted)
            status = gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    if (own && !opened->inks) {
        opened->options.subsampling = gf_jpeg_perceptual_subsampling(options);
        GF_THEN(status, gf_jpeg_perceptual_open(format, options, &opened->own, error));
    } else if (own)
        gf_warn(options, "%s: options.jpeg_encoder=perceptual is not for CMYK: libjpeg encodes it",
                name);
    GF_THEN(status, attempt(opened, start, error));
    opened->metadata = NULL;
    if (status) {
        jpeg_close(&opened->base);
        return status;
    }
    if (gf_has_alpha(format) && !(metadata && metadata->inks))
        gf_warn(options, "%s: JPEG has no alpha channel: it is left out", name);
    *sink = &opened->base;
    return GF_OK;
}
