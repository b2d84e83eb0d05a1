/* Reads JPEG files of every kind that libjpeg-turbo knows. Gray stays gray; all other colours
 * become RGB. */
#include <setjmp.h>
#include <stdio.h> /* before jpeglib.h, which needs it */
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

#include "codec/common/checks.h"
#include "codec/common/cmyk.h"
#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/common/xmp.h"
#include "codec/io/input.h"
#include "codec/jpeg/jpeg.h"
#include "codec/jpeg/jpeg_segments.h"
#include "codec/jpeg/jpeg_strips.h"

enum {
    MARKER_MAX = 65535,
    ROWS_AT_ONCE = 16,
    /* A progressive JPEG of a few bytes can have thousands of scans, each of which takes as much
     * time as the picture's size. */
    SCANS_MAX = 100,
    /* The most pixels for each byte of a file: a block of 64 pixels takes at least one bit in
     * Huffman codes. Arithmetic coding has no such limit. */
    PIXELS_PER_BYTE = 64 * 8 * 2,
    PIXELS_PER_BYTE_ARITHMETIC = 64 * 1024
};

struct jpeg_source {
    struct gf_source base;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr bytes;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    struct gf_input *input;
    struct gf_options options;
    struct gf_error *error;
    enum gf_status status;
    struct gf_jpeg_strips_reader *strips; /* NULL: libjpeg decodes the rows by itself */
    bool header_read, started, forgiven, texts_left_out;
    bool cut;                        /* the input ended before the end marker */
    bool parameters_told, fill_told; /* whether the two warnings were given */
    int64_t stray_told;              /* number of bytes between segments that a warning has named */
    int64_t parts_end;  /* end of the pictures behind the end marker; 0: none announced */
    int reduction;      /* 1: the full size */
    int stripped;       /* number of rows that were decoded in strips */
    unsigned char *dst; /* dst, pitch and rows are arguments of attempt()'s functions */
    size_t pitch;
    int rows;
    unsigned char *cmyk; /* one row; NULL unless the file has four colours */
    struct gf_cmyk inks; /* the conversion of the four inks */
    struct gf_icc_parts icc;
    unsigned char marker[MARKER_MAX];
    struct gf_jpeg_segments segments;
};

/* ---- errors and warnings ---- */

/* Describes where in the file the damage is: "after row 412 of 2160". */
static void describe_place(const struct jpeg_source *source, char *text, size_t size)
{
    if (!source->header_read)
        snprintf(text, size, "in the header");
    else if (!source->started && source->jpeg.input_scan_number)
        snprintf(text, size, "in scan %d", source->jpeg.input_scan_number);
    else
        snprintf(text, size, "after row %u of %u",
                 source->jpeg.output_scanline * (unsigned)source->reduction,
                 source->jpeg.image_height);
}

static _Noreturn void give_up(struct jpeg_source *source, enum gf_status status)
{
    source->status = status;
    longjmp(source->escape, 1);
}

static void error_exit(j_common_ptr jpeg)
{
    struct jpeg_source *const source = jpeg->client_data;
    const char *const name = gf_input_name(source->input);
    char text[JMSG_LENGTH_MAX], place[64];
    jpeg->err->format_message(jpeg, text);
    describe_place(source, place, sizeof place);
    if (jpeg->err->msg_code == JERR_OUT_OF_MEMORY)
        give_up(source, gf_fail(source->error, GF_ERROR_MEMORY, "%s: %s", name, text));
    if (!source->header_read) /* libjpeg may not know this kind, which can be sound */
        give_up(source, gf_fail(source->error, GF_ERROR_INPUT, "%s: %s", name, text));
    give_up(source,
            gf_fail(source->error, GF_ERROR_INPUT, "%s: corrupt %s: %s", name, place, text));
}

/* Reports damage: a failure, or under allow_truncated a warning about the first damage. Where the
 * input has ended, its end is the damage. */
static void report_damage(struct jpeg_source *source, const char *detail)
{
    const char *const name = gf_input_name(source->input);
    const char *const what = source->cut ? "truncated" : "corrupt";
    char place[64];
    if (source->cut)
        detail = "";
    describe_place(source, place, sizeof place);
    if (!source->options.allow_truncated)
        give_up(source,
                gf_fail(source->error, GF_ERROR_INPUT, "%s: %s %s%s%s", name, what, place, detail,
                        source->header_read ? gf_truncated_hint(&source->options) : ""));
    if (!source->forgiven)
        gf_warn(&source->options, "%s: %s %s%s", name, what, place, detail);
    source->forgiven = true;
}

/* ---- messages of libjpeg that concern no pixel ---- */

/* Warns once that the scan's header has parameters that libjpeg ignores in a sequential JPEG. */
static void tell_parameters(struct jpeg_source *source)
{
    if (!source->parameters_told)
        gf_warn(&source->options,
                "%s: the header of its scan has parameters that no baseline JPEG has: ignored",
                gf_input_name(source->input));
    source->parameters_told = true;
}

static void tell_stray(struct jpeg_source *source)
{
    const int64_t stray = source->segments.stray - source->stray_told;
    if (stray)
        gf_warn(&source->options, "%s: %lld stray bytes between its segments: passed over",
                gf_input_name(source->input), (long long)stray);
    source->stray_told += stray;
}

/* Whether all bytes that remain at the end of a scan are zeros or fill bytes. Before a restart
 * marker they count as damage all the same. */
static bool is_fill(const struct jpeg_source *source)
{
    const int *const count_and_marker = source->errors.msg_parm.i;
    const bool restart = count_and_marker[1] >= JPEG_RST0 && count_and_marker[1] < JPEG_RST0 + 8;
    return !restart && count_and_marker[0] <= source->segments.filled;
}

/* Whether libjpeg's message concerns no pixel. Gives a warning of its own where one is useful. */
static bool is_harmless(struct jpeg_source *source)
{
    switch (source->errors.msg_code) {
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
        return true;
    case JWRN_NOT_SEQUENTIAL:
        tell_parameters(source);
        return true;
    case JWRN_EXTRANEOUS_DATA:
        if (!is_fill(source))
            return false;
        if (!source->fill_told)
            gf_warn(&source->options, "%s: bytes of fill behind the last row: passed over",
                    gf_input_name(source->input)); /* libjpeg does not count all of these bytes */
        return source->fill_told = true;
    default:
        return false;
    }
}

static void emit_message(j_common_ptr jpeg, int level)
{
    static const char prefix[] = "Corrupt JPEG data: ";
    if (level >= 0)
        return;
    jpeg->err->num_warnings++;
    if (is_harmless(jpeg->client_data))
        return;
    char text[JMSG_LENGTH_MAX], detail[JMSG_LENGTH_MAX + 4];
    jpeg->err->format_message(jpeg, text);
    const size_t skip = strncmp(text, prefix, sizeof prefix - 1) ? 0 : sizeof prefix - 1;
    snprintf(detail, sizeof detail, ": %s", text + skip);
    report_damage(jpeg->client_data, detail);
}

static void watch_scans(j_common_ptr jpeg)
{
    struct jpeg_source *const source = jpeg->client_data;
    if (source->jpeg.input_scan_number > SCANS_MAX)
        give_up(source, gf_fail(source->error, GF_ERROR_INPUT, "%s: over %d scans",
                                gf_input_name(source->input), SCANS_MAX));
}

/* ---- libjpeg's input ---- */

static void ignore_source(j_decompress_ptr jpeg)
{
}

/* Gives libjpeg more bytes, or an end marker where the input has ended. If the input ends within or
 * behind a scan, libjpeg reports by itself whether it lacks a code for a pixel, except in
 * arithmetic coding, which always finds more codes. */
static boolean fill_buffer(j_decompress_ptr jpeg)
{
    static const unsigned char end_marker[] = {0xff, JPEG_EOI};
    struct jpeg_source *const source = jpeg->client_data;
    const enum gf_status status =
        gf_jpeg_segments_next(&source->segments, &source->bytes.next_input_byte,
                              &source->bytes.bytes_in_buffer, source->error);
    if (status)
        give_up(source, status);
    if (source->bytes.bytes_in_buffer)
        return TRUE;
    source->cut = true;
    if (jpeg->arith_code || !gf_jpeg_segments_may_be_whole(&source->segments))
        report_damage(source, "");
    source->bytes.next_input_byte = end_marker;
    source->bytes.bytes_in_buffer = sizeof end_marker;
    return TRUE;
}

static void skip_bytes(j_decompress_ptr jpeg, long count)
{
    struct jpeg_source_mgr *const bytes = jpeg->src;
    while (count > (long)bytes->bytes_in_buffer) {
        count -= (long)bytes->bytes_in_buffer;
        (void)fill_buffer(jpeg);
    }
    if (count > 0) {
        bytes->next_input_byte += count;
        bytes->bytes_in_buffer -= (size_t)count;
    }
}

static void copy_bytes(j_decompress_ptr jpeg, unsigned char *to, size_t count)
{
    struct jpeg_source_mgr *const bytes = jpeg->src;
    while (count) {
        if (!bytes->bytes_in_buffer)
            (void)fill_buffer(jpeg);
        const size_t n = count < bytes->bytes_in_buffer ? count : bytes->bytes_in_buffer;
        memcpy(to, bytes->next_input_byte, n);
        bytes->next_input_byte += n;
        bytes->bytes_in_buffer -= n;
        to += n;
        count -= n;
    }
}

static bool add_segment(struct jpeg_source *source, int marker, const unsigned char *data,
                        size_t size)
{
    struct gf_metadata *const metadata = &source->base.metadata;
    const size_t head = sizeof GF_APP13_PHOTOSHOP;
    if (marker == JPEG_APP0 + 1)
        return gf_metadata_add_app1(metadata, data, size);
    if (marker == JPEG_COM)
        return gf_texts_add_comment(&metadata->texts, data, size, &source->texts_left_out);
    if (marker == JPEG_APP0 + 2)
        gf_metadata_note_app2(metadata, data, size);
    if (marker == JPEG_APP0 + 2)
        return gf_icc_parts_add(&source->icc, data, size);
    return size < head || memcmp(data, GF_APP13_PHOTOSHOP, head) != 0 ||
           gf_metadata_add_photoshop(metadata, data + head, size - head);
}

/* Reads APP1, APP2, APP13 and COM segments. jpeg_save_markers() would keep all of a file's segments
 * in memory. */
static boolean read_marker(j_decompress_ptr jpeg)
{
    struct jpeg_source *const source = jpeg->client_data;
    unsigned char length[2];
    struct gf_mpf mpf;
    copy_bytes(jpeg, length, sizeof length);
    const size_t size = (size_t)(length[0] << 8 | length[1]);
    if (size < sizeof length)
        ERREXIT(jpeg, JERR_BAD_LENGTH);
    const int64_t place = gf_jpeg_segments_place(&source->segments, source->bytes.next_input_byte);
    copy_bytes(jpeg, source->marker, size - sizeof length);
    if (jpeg->unread_marker == JPEG_APP0 + 2 && !source->parts_end &&
        gf_mpf_read(source->marker, size - sizeof length, &mpf) && mpf.end)
        source->parts_end = place + mpf.end;
    if (!add_segment(source, jpeg->unread_marker, source->marker, size - sizeof length))
        ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
    return TRUE;
}

/* ---- functions that run under setjmp (none has locals that must survive longjmp) ---- */

static enum gf_status attempt(struct jpeg_source *source, void (*work)(struct jpeg_source *source),
                              struct gf_error *error)
{
    source->error = error;
    if (setjmp(source->escape))
        return source->status;
    work(source);
    return GF_OK;
}

static void read_header(struct jpeg_source *source)
{
    struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    jpeg_create_decompress(jpeg);
    gf_jpeg_segments_open(&source->segments, source->input);
    source->bytes = (struct jpeg_source_mgr){.init_source = ignore_source,
                                             .fill_input_buffer = fill_buffer,
                                             .skip_input_data = skip_bytes,
                                             .resync_to_restart = jpeg_resync_to_restart,
                                             .term_source = ignore_source};
    source->progress.progress_monitor = watch_scans;
    jpeg->src = &source->bytes;
    jpeg->progress = &source->progress;
    jpeg_set_marker_processor(jpeg, JPEG_APP0 + 1, read_marker);
    jpeg_set_marker_processor(jpeg, JPEG_APP0 + 2, read_marker);
    jpeg_set_marker_processor(jpeg, JPEG_APP0 + 13, read_marker);
    jpeg_set_marker_processor(jpeg, JPEG_COM, read_marker);
    jpeg_read_header(jpeg, TRUE);
    source->header_read = true;
    tell_stray(source);
    /* In a lossless JPEG the first parameter is the predictor, and valid. */
    if (!jpeg->progressive_mode && !jpeg->Ss && (jpeg->Se != DCTSIZE2 - 1 || jpeg->Ah || jpeg->Al))
        tell_parameters(source);
}

static void read_cmyk_rows(struct jpeg_source *source)
{
    /* CMYK values in a JPEG are inverted (255 is no ink), with or without Adobe's marker, as all
     * programs read them. */
    for (; source->rows; source->rows--, source->dst += source->pitch) {
        JSAMPROW line = source->cmyk;
        jpeg_read_scanlines(&source->jpeg, &line, 1);
        gf_cmyk_convert(&source->inks, source->cmyk, true, source->dst, source->base.format.width);
    }
}

/* Decodes again, and drops, the rows that were decoded in strips, so that libjpeg continues behind
 * them. */
static void skip_rows(struct jpeg_source *source)
{
    for (; source->stripped; source->stripped--) {
        JSAMPROW line = source->dst;
        jpeg_read_scanlines(&source->jpeg, &line, 1);
    }
}

/* Whether libjpeg has read all scans. Without an end marker a JPEG of several scans may lack
 * some. */
static bool has_all_scans(const struct jpeg_decompress_struct *jpeg)
{
    for (int c = 0; jpeg->coef_bits && c < jpeg->num_components; c++) {
        for (int k = 0; k < DCTSIZE2; k++) {
            if (jpeg->coef_bits[c][k])
                return false;
        }
    }
    return jpeg->coef_bits != NULL;
}

static void start(struct jpeg_source *source)
{
    struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    jpeg_start_decompress(jpeg);
    if (source->cut && jpeg_has_multiple_scans(jpeg) && !has_all_scans(jpeg))
        report_damage(source, "");
    tell_stray(source);
    source->started = true;
}

static void read_rows(struct jpeg_source *source)
{
    if (!source->started)
        start(source);
    skip_rows(source);
    if (source->cmyk)
        read_cmyk_rows(source);
    while (source->rows) {
        JSAMPROW line[ROWS_AT_ONCE];
        int count = 0;
        for (; count < ROWS_AT_ONCE && count < source->rows; count++)
            line[count] = source->dst + (size_t)count * source->pitch;
        const int got = (int)jpeg_read_scanlines(&source->jpeg, line, (JDIMENSION)count);
        source->rows -= got;
        source->dst += (size_t)got * source->pitch;
    }
}

static void finish(struct jpeg_source *source)
{
    if (source->jpeg.output_scanline == source->jpeg.output_height)
        jpeg_finish_decompress(&source->jpeg);
    tell_stray(source);
    if (source->cut && !source->forgiven)
        gf_warn(&source->options, "%s: its end marker is missing; all rows are there",
                gf_input_name(source->input));
}

/* ---- functions of the source ---- */

/* Reduces the size: libjpeg then computes only the part of each block that the smaller picture
 * needs. One thread decodes a reduced picture, since walking over all codes takes most of the time
 * and strips would do it twice. */
static void jpeg_reduce(struct gf_source *base, int reduction)
{
    struct jpeg_source *const source = (struct jpeg_source *)base;
    if (source->strips) {
        gf_jpeg_strips_reader_close(source->strips);
        source->strips = NULL;
        base->memory = (struct gf_codec_memory){0};
    }
    source->reduction = reduction;
    source->jpeg.scale_num = 1;
    source->jpeg.scale_denom = (unsigned)reduction;
    base->format.width = (base->format.width + reduction - 1) / reduction;
    base->format.height = (base->format.height + reduction - 1) / reduction;
    base->for_device_codec = false;
}

static enum gf_status jpeg_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                                struct gf_error *error)
{
    struct jpeg_source *const source = (struct jpeg_source *)base;
    int done = 0;
    if (source->strips) {
        done = gf_jpeg_strips_read(source->strips, rows, dst, pitch);
        source->stripped += done;
        if (done == rows)
            return GF_OK;
        gf_jpeg_strips_reader_close(source->strips);
        source->strips = NULL;
    }
    source->dst = dst + (size_t)done * pitch;
    source->pitch = pitch;
    source->rows = rows - done;
    return attempt(source, read_rows, error);
}

/* Skips the pictures behind the end marker that the header announces. */
static enum gf_status pass_parts(struct jpeg_source *source, struct gf_error *error)
{
    struct gf_input *const input = source->input;
    const struct gf_blob *const xmp = &source->base.metadata.xmp;
    const int64_t place = gf_input_position(input);
    int64_t left = source->parts_end ? source->parts_end - place : gf_xmp_bytes_behind(xmp);
    size_t got = 1;
    if (left > 0 && !gf_input_is_stream(input)) {
        const int64_t size = gf_input_size(input);
        gf_input_go_to(input, place + left < size ? place + left : size);
        return GF_OK;
    }
    while (left > 0 && got) {
        const size_t some = left < MARKER_MAX ? (size_t)left : MARKER_MAX;
        const enum gf_status status = gf_input_read(input, source->marker, some, &got, error);
        if (status)
            return status;
        left -= (int64_t)got;
    }
    return GF_OK;
}

static enum gf_status jpeg_leave(struct gf_source *base, int64_t end, struct gf_error *error)
{
    struct jpeg_source *const source = (struct jpeg_source *)base;
    gf_input_go_to(source->input, end);
    return pass_parts(source, error);
}

/* Where strips were decoded up to the last row, all of the file up to the end marker is sound. */
static enum gf_status jpeg_finish(struct gf_source *base, struct gf_error *error)
{
    struct jpeg_source *const source = (struct jpeg_source *)base;
    if (source->strips)
        return jpeg_leave(base, gf_jpeg_strips_reader_end(source->strips), error);
    enum gf_status status = attempt(source, finish, error);
    if (!status)
        status = gf_jpeg_segments_close(&source->segments, error);
    return status ? status : pass_parts(source, error);
}

static void jpeg_close(struct gf_source *base)
{
    struct jpeg_source *const source = (struct jpeg_source *)base;
    gf_jpeg_share_reading(-1);
    gf_jpeg_strips_reader_close(source->strips);
    jpeg_destroy_decompress(&source->jpeg);
    gf_metadata_free(&base->metadata);
    gf_icc_parts_free(&source->icc);
    free(source->cmyk);
    gf_cmyk_close(&source->inks);
    free(source);
}

static enum gf_status check_size(const struct jpeg_source *source, struct gf_error *error)
{
    const struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    const char *const name = gf_input_name(source->input);
    const enum gf_status status =
        gf_size_check(name, jpeg->image_width, jpeg->image_height, &source->options, error);
    const int64_t size = gf_input_size(source->input);
    const int64_t pixels = (int64_t)jpeg->image_width * jpeg->image_height;
    const int64_t most = jpeg->arith_code ? PIXELS_PER_BYTE_ARITHMETIC : PIXELS_PER_BYTE;
    if (status || size < 0 || pixels / most <= size)
        return status;
    return gf_fail(error, GF_ERROR_INPUT, "%s: truncated: %ux%u pixels cannot be in %lld bytes",
                   name, jpeg->image_width, jpeg->image_height, (long long)size);
}

static uint64_t round_up(uint64_t value, int to)
{
    return (value + (uint64_t)to - 1) / (uint64_t)to * (uint64_t)to;
}

/* Counts the memory of libjpeg, which keeps the coefficients of a picture with several scans. */
static void count_memory(struct jpeg_source *source)
{
    struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    if (!jpeg_has_multiple_scans(jpeg))
        return;
    for (int c = 0; c < jpeg->num_components; c++) {
        const jpeg_component_info *const component = &jpeg->comp_info[c];
        source->base.memory.bytes +=
            round_up(component->width_in_blocks, component->h_samp_factor) *
            round_up(component->height_in_blocks, component->v_samp_factor) * sizeof(JBLOCK);
    }
    source->base.memory.why = "a JPEG of several scans is decoded as a whole";
}

static enum gf_status choose_colours(struct jpeg_source *source, struct gf_error *error)
{
    struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    int channels = 3;
    switch (jpeg->jpeg_color_space) {
    case JCS_GRAYSCALE:
        channels = 1;
        jpeg->out_color_space = JCS_GRAYSCALE;
        break;
    case JCS_RGB:
    case JCS_YCbCr:
        jpeg->out_color_space = JCS_RGB;
        break;
    case JCS_CMYK:
    case JCS_YCCK:
        jpeg->out_color_space = JCS_CMYK;
        source->cmyk = malloc((size_t)jpeg->image_width * 4);
        if (!source->cmyk)
            return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
        break;
    default:
        return gf_fail(error, GF_ERROR_INPUT, "%s: a JPEG of %d components of unknown colours",
                       gf_input_name(source->input), jpeg->num_components);
    }
    source->base.format = (struct gf_format){.width = (int)jpeg->image_width,
                                             .height = (int)jpeg->image_height,
                                             .channels = channels,
                                             .bits = 8};
    source->base.for_device_codec =
        !jpeg->progressive_mode && !jpeg->arith_code && jpeg->data_precision == 8 &&
        (jpeg->jpeg_color_space == JCS_GRAYSCALE || jpeg->jpeg_color_space == JCS_YCbCr);
    return GF_OK;
}

static void open_strips(struct jpeg_source *source, int strip_rows)
{
    if (source->cmyk || source->cut)
        return;
    const int64_t begin = gf_jpeg_segments_place(&source->segments, source->bytes.next_input_byte);
    source->strips = gf_jpeg_strips_reader_open(&source->jpeg, source->input, begin,
                                                &source->options, strip_rows);
    if (!source->strips)
        return;
    source->base.memory.bytes = gf_jpeg_strips_reader_memory(source->strips);
    source->base.memory.why = "several of its strips are decoded at once";
}

static enum gf_status finish_metadata(struct jpeg_source *source, struct gf_error *error)
{
    const struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    const double per_metre = jpeg->density_unit == 1 ? 1 / 0.0254 : 100;
    if (jpeg->saw_JFIF_marker && (jpeg->density_unit == 1 || jpeg->density_unit == 2)) {
        source->base.metadata.density_x = jpeg->X_density * per_metre;
        source->base.metadata.density_y = jpeg->Y_density * per_metre;
    }
    if (source->texts_left_out)
        gf_warn(&source->options, "%s: it has over %d comments: some are left out",
                gf_input_name(source->input), GF_TEXTS_MOST);
    const bool joined = gf_icc_parts_join(&source->icc, &source->base.metadata.icc);
    gf_icc_parts_free(&source->icc);
    if (!joined)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    return source->cmyk ? gf_cmyk_open(&source->base.metadata, 8, gf_input_name(source->input),
                                       &source->options, &source->inks, error)
                        : GF_OK;
}

enum gf_status gf_jpeg_source_open(struct gf_input *input, const struct gf_options *options,
                                   int strip_rows, struct gf_source **source,
                                   struct gf_error *error)
{
    struct jpeg_source *const opened = malloc(sizeof *opened);
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    memset(opened, 0, offsetof(struct jpeg_source, marker));
    opened->base = (struct gf_source){.metadata = {.orientation = 1},
                                      .reduce = jpeg_reduce,
                                      .read = jpeg_read,
                                      .finish = jpeg_finish,
                                      .leave = jpeg_leave,
                                      .close = jpeg_close};
    gf_jpeg_share_reading(1);
    opened->reduction = 1;
    opened->input = input;
    opened->options = *options;
    opened->jpeg.err = jpeg_std_error(&opened->errors);
    opened->jpeg.client_data = opened;
    opened->errors.error_exit = error_exit;
    opened->errors.emit_message = emit_message;
    enum gf_status status = attempt(opened, read_header, error);
    if (!status)
        status = check_size(opened, error);
    if (!status)
        status = choose_colours(opened, error);
    if (!status)
        status = finish_metadata(opened, error);
    if (!status)
        count_memory(opened);
    if (!status)
        open_strips(opened, strip_rows);
    if (status) {
        jpeg_close(&opened->base);
        return status;
    }
    *source = &opened->base;
    return GF_OK;
}
