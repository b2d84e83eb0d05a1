/* Reads JPEG files of every kind that libjpeg-turbo knows. Gray stays gray; all other colours
 * become RGB. */
#include "codec/jpeg/jpeg_libjpeg.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/jpeg/jpeg.h"
#include "codec/jpeg/jpeg_coefficients.h"

enum {
    ROWS_AT_ONCE = 16,
    /* The most pixels for each byte of a file, because a block of 64 pixels takes at least one bit
     * in Huffman codes. Arithmetic coding has no such limit. */
    PIXELS_PER_BYTE = 64 * 8 * 2,
    PIXELS_PER_BYTE_ARITHMETIC = 64 * 1024
};

/* ---- functions that run under gf_jpeg_attempt() ---- */

static void read_header(struct gf_jpeg_source *source)
{
    struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    gf_jpeg_open_input(source);
    jpeg_read_header(jpeg, TRUE);
    source->header_read = true;
    gf_jpeg_tell_stray(source);
    /* In a lossless JPEG the first parameter is the predictor, which is valid. */
    if (!jpeg->progressive_mode && !jpeg->Ss && (jpeg->Se != DCTSIZE2 - 1 || jpeg->Ah || jpeg->Al))
        gf_jpeg_tell_parameters(source);
    if (!gf_input_coefficients(source->input))
        return;
    gf_jpeg_coefficients_describe(source);
    if (!gf_coefficients_check(&source->coefficients) || jpeg->data_precision != 8 ||
        (!jpeg->progressive_mode && jpeg->Ss))
        gf_jpeg_refuse(source,
                       "a JPEG of an unusual kind, which is decoded only (options.lossless)");
    source->base.coefficients = &source->coefficients;
}

/* Reads rows of CMYK, or of a window. CMYK values in a JPEG are inverted (255 is no ink), with or
 * without Adobe's marker. All programs read them so. */
static void read_lines(struct gf_jpeg_source *source)
{
    for (; source->rows; source->rows--, source->dst += source->pitch) {
        JSAMPROW line = source->cmyk ? source->cmyk : source->line;
        jpeg_read_scanlines(&source->jpeg, &line, 1);
        if (source->cmyk)
            gf_cmyk_convert(&source->inks, line + source->skipped, true, source->dst,
                            source->base.format.width);
        else
            memcpy(source->dst, line + source->skipped, gf_row_bytes(source->base.format));
    }
}

/* Leaves out columns beside the window. Goes close to its first row that is wanted: of those above,
 * libjpeg reads the codes alone. */
static void enter_window(struct gf_jpeg_source *source)
{
    struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    const struct gf_rectangle window = source->window;
    const int unit = DCTSIZE * jpeg->max_v_samp_factor, row = window.y + source->rows_by_strips;
    const int skipped = row / unit > 1 ? (row / unit - 1) * unit : 0;
    const struct gf_jpeg_columns columns = gf_jpeg_columns_for(jpeg, window.x, window.width);
    JDIMENSION left = (JDIMENSION)columns.first, count = (JDIMENSION)columns.count;
    if (count < jpeg->output_width)
        jpeg_crop_scanline(jpeg, &left, &count);
    source->skipped = (size_t)(window.x - columns.first) * (size_t)jpeg->output_components;
    if (skipped)
        jpeg_skip_scanlines(jpeg, (JDIMENSION)skipped);
    source->rows_by_strips = row - skipped;
}

/* Decodes again, and drops, the rows that were decoded in strips, or lie above a window, so that
 * libjpeg continues after them. */
static void skip_rows(struct gf_jpeg_source *source)
{
    for (; source->rows_by_strips; source->rows_by_strips--) {
        JSAMPROW line = source->line ? source->line : source->dst;
        jpeg_read_scanlines(&source->jpeg, &line, 1);
    }
}

/* Whether libjpeg has read all scans. Without an end marker a JPEG of several scans may lack some
 * of them. */
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

static void start(struct gf_jpeg_source *source)
{
    struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    if (source->base.coefficients)
        gf_jpeg_coefficients_start(source);
    else
        jpeg_start_decompress(jpeg);
    if (source->cut && jpeg_has_multiple_scans(jpeg) && !has_all_scans(jpeg))
        gf_jpeg_report_damage(source, "");
    gf_jpeg_tell_stray(source);
    source->started = true;
    if (source->line)
        enter_window(source);
}

static void read_rows(struct gf_jpeg_source *source)
{
    if (!source->started)
        start(source);
    if (source->base.coefficients)
        gf_jpeg_coefficients_read(source);
    skip_rows(source);
    if (source->cmyk || source->line)
        read_lines(source);
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

static void finish(struct gf_jpeg_source *source)
{
    if (source->base.coefficients || source->jpeg.output_scanline == source->jpeg.output_height)
        jpeg_finish_decompress(&source->jpeg);
    gf_jpeg_tell_stray(source);
    if (source->cut && !source->forgiven)
        gf_warn(&source->options, "%s: its end marker is missing; all rows are there",
                gf_input_name(source->input));
}

/* Reduces the size: libjpeg then computes only the part of each block that the smaller picture
 * needs. One thread decodes a reduced picture, because walking over all codes takes most of the
 * time and strips would do it twice. */
static void jpeg_reduce(struct gf_source *base, int reduction)
{
    struct gf_jpeg_source *const source = (struct gf_jpeg_source *)base;
    if (source->strips) {
        gf_jpeg_strips_reader_close(source->strips);
        source->strips = NULL;
        base->memory = (struct gf_codec_memory){0};
    }
    base->reduction = reduction;
    source->jpeg.scale_num = 1;
    source->jpeg.scale_denom = (unsigned)reduction;
    base->format.width = (base->format.width + reduction - 1) / reduction;
    base->format.height = (base->format.height + reduction - 1) / reduction;
}

/* A window's first row can only be reached from the first of the picture. */
static enum gf_status jpeg_window(struct gf_source *base, struct gf_rectangle window, int more,
                                  struct gf_error *error)
{
    struct gf_jpeg_source *const source = (struct gf_jpeg_source *)base;
    if (source->begun)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: must be opened anew for another part of it",
                       gf_input_name(source->input));
    const bool all = window.width == (int)source->jpeg.image_width &&
                     window.height == (int)source->jpeg.image_height;
    source->window = all ? (struct gf_rectangle){.width = 0} : window;
    base->format.width = window.width;
    base->format.height = window.height;
    return GF_OK;
}

static enum gf_status begin(struct gf_jpeg_source *source, struct gf_error *error)
{
    source->begun = true;
    if (!source->window.width)
        return GF_OK;
    source->line = malloc((size_t)source->jpeg.image_width * MAX_COMPONENTS);
    GF_ALLOCATED(source->line, error);
    if (source->strips)
        gf_jpeg_strips_reader_window(source->strips, source->window);
    return GF_OK;
}

static enum gf_status jpeg_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                                struct gf_error *error)
{
    struct gf_jpeg_source *const source = (struct gf_jpeg_source *)base;
    int done = 0;
    if (!source->begun)
        GF_TRY(begin(source, error));
    if (source->strips) {
        done = gf_jpeg_strips_read(source->strips, rows, dst, pitch);
        source->rows_by_strips += done;
        if (done == rows)
            return GF_OK;
        gf_jpeg_strips_reader_close(source->strips);
        source->strips = NULL;
    }
    source->dst = dst + (size_t)done * pitch;
    source->pitch = pitch;
    source->rows = rows - done;
    return gf_jpeg_attempt(source, read_rows, error);
}

/* Skips the pictures after the end marker that the header announces. */
static enum gf_status pass_parts(struct gf_jpeg_source *source, struct gf_error *error)
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
        const size_t some = left < GF_JPEG_MARKER_MAX ? (size_t)left : GF_JPEG_MARKER_MAX;
        GF_TRY(gf_input_read(input, source->marker, some, &got, error));
        left -= (int64_t)got;
    }
    return GF_OK;
}

static enum gf_status jpeg_leave(struct gf_source *base, int64_t end, struct gf_error *error)
{
    struct gf_jpeg_source *const source = (struct gf_jpeg_source *)base;
    gf_input_go_to(source->input, end);
    return pass_parts(source, error);
}

/* Finishes reading. If strips were decoded up to the last row, the file up to the end marker is
 * undamaged. */
static enum gf_status jpeg_finish(struct gf_source *base, struct gf_error *error)
{
    struct gf_jpeg_source *const source = (struct gf_jpeg_source *)base;
    if (source->window.width) {
        GF_TRY(gf_jpeg_markers_pass(&source->markers, error));
        GF_TRY(gf_jpeg_markers_close(&source->markers, error));
        return pass_parts(source, error);
    }
    if (source->strips)
        return jpeg_leave(base, gf_jpeg_strips_reader_end(source->strips), error);
    GF_TRY(gf_jpeg_attempt(source, finish, error));
    GF_TRY(gf_jpeg_markers_close(&source->markers, error));
    return pass_parts(source, error);
}

static void jpeg_close(struct gf_source *base)
{
    struct gf_jpeg_source *const source = (struct gf_jpeg_source *)base;
    gf_jpeg_share_reading(-1);
    gf_jpeg_strips_reader_close(source->strips);
    jpeg_destroy_decompress(&source->jpeg);
    gf_metadata_free(&base->metadata);
    gf_icc_parts_free(&source->icc);
    free(source->cmyk);
    free(source->line);
    gf_cmyk_close(&source->inks);
    free(source);
}

static enum gf_status check_size(const struct gf_jpeg_source *source, struct gf_error *error)
{
    const struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    const char *const name = gf_input_name(source->input);
    GF_TRY(gf_size_check(name, jpeg->image_width, jpeg->image_height, &source->options, error));
    const int64_t size = gf_input_size(source->input);
    const int64_t pixels = (int64_t)jpeg->image_width * jpeg->image_height;
    const int64_t most = jpeg->arith_code ? PIXELS_PER_BYTE_ARITHMETIC : PIXELS_PER_BYTE;
    if (size < 0 || pixels / most <= size)
        return GF_OK;
    return gf_fail(error, GF_ERROR_INPUT, "%s: truncated: %ux%u pixels cannot be in %lld bytes",
                   name, jpeg->image_width, jpeg->image_height, (long long)size);
}

static uint64_t round_up(uint64_t value, int to)
{
    return (value + (uint64_t)to - 1) / (uint64_t)to * (uint64_t)to;
}

/* Counts the memory of libjpeg, which keeps the coefficients of a picture with several scans. */
static void count_memory(struct gf_jpeg_source *source)
{
    struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    if (!jpeg_has_multiple_scans(jpeg) && !source->base.coefficients)
        return;
    for (int c = 0; c < jpeg->num_components; c++) {
        const jpeg_component_info *const component = &jpeg->comp_info[c];
        source->base.memory.bytes +=
            round_up(component->width_in_blocks, component->h_samp_factor) *
            round_up(component->height_in_blocks, component->v_samp_factor) * sizeof(JBLOCK);
    }
    source->base.memory.why = source->base.coefficients
                                  ? "the coefficients of a JPEG are moved as a whole"
                                  : "a JPEG of several scans is decoded as a whole";
}

static enum gf_status choose_colours(struct gf_jpeg_source *source, struct gf_error *error)
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
        if (source->base.coefficients)
            break;
        source->cmyk = malloc((size_t)jpeg->image_width * 4);
        GF_ALLOCATED(source->cmyk, error);
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
        !source->base.coefficients && !jpeg->arith_code && jpeg->data_precision == 8 &&
        (jpeg->jpeg_color_space == JCS_GRAYSCALE || jpeg->jpeg_color_space == JCS_YCbCr);
    source->base.for_device_batch = jpeg_has_multiple_scans(jpeg);
    return GF_OK;
}

/* Describes the file; the kinds of its pictures have been read before. */
static void describe(struct gf_jpeg_source *source)
{
    const J_COLOR_SPACE space = source->jpeg.jpeg_color_space;
    struct gf_stored *const stored = &source->base.stored;
    for (int i = 0; i < GF_PICTURE_KINDS; i++)
        stored->pages += stored->pictures[i];
    stored->pages += !stored->pages;
    stored->bits = source->jpeg.data_precision;
    stored->colour = space == JCS_YCbCr  ? GF_STORED_YCBCR
                     : space == JCS_CMYK ? GF_STORED_CMYK
                     : space == JCS_YCCK ? GF_STORED_YCCK
                                         : GF_STORED_PLAIN;
}

static void open_strips(struct gf_jpeg_source *source, int strip_rows)
{
    source->scan = gf_jpeg_markers_place(&source->markers, source->bytes.next_input_byte);
    if (source->cmyk || source->cut || source->base.coefficients)
        return;
    source->strips = gf_jpeg_strips_reader_open(&source->jpeg, source->input, source->scan,
                                                &source->options, strip_rows);
    if (!source->strips)
        return;
    source->base.memory.bytes = gf_jpeg_strips_reader_memory(source->strips);
    source->base.memory.why = "several of its strips are decoded at once";
}

static enum gf_status finish_metadata(struct gf_jpeg_source *source, struct gf_error *error)
{
    const struct jpeg_decompress_struct *const jpeg = &source->jpeg;
    const double per_metre = jpeg->density_unit == 1 ? 1 / 0.0254 : 100;
    if (jpeg->saw_JFIF_marker && (jpeg->density_unit == 1 || jpeg->density_unit == 2)) {
        source->base.metadata.density_x = jpeg->X_density * per_metre;
        source->base.metadata.density_y = jpeg->Y_density * per_metre;
    } else if (jpeg->saw_JFIF_marker) {
        gf_metadata_set_ratio(&source->base.metadata, jpeg->X_density, jpeg->Y_density);
    }
    if (source->texts_left_out)
        gf_warn(&source->options, "%s: it has over %d comments: some are left out",
                gf_input_name(source->input), GF_TEXTS_MOST);
    const bool joined = gf_icc_parts_join(&source->icc, &source->base.metadata.icc);
    if (joined && !source->base.metadata.icc.size && (source->icc.count || source->icc.broken))
        gf_warn(&source->options, "%s: its ICC profile is damaged: left out",
                gf_input_name(source->input));
    gf_icc_parts_free(&source->icc);
    GF_ALLOCATED(joined, error);
    return source->cmyk ? gf_cmyk_open(&source->base.metadata, 8, gf_input_name(source->input),
                                       &source->options, &source->inks, error)
                        : GF_OK;
}

enum gf_status gf_jpeg_source_open(struct gf_input *input, const struct gf_options *options,
                                   int strip_rows, struct gf_source **source,
                                   struct gf_error *error)
{
    struct gf_jpeg_source *const opened = malloc(sizeof *opened);
    GF_ALLOCATED(opened, error);
    memset(opened, 0, offsetof(struct gf_jpeg_source, marker));
    opened->base = (struct gf_source){.metadata = {.orientation = 1},
                                      .reduce = jpeg_reduce,
                                      .most_reduction = 8,
                                      .read = jpeg_read,
                                      .finish = jpeg_finish,
                                      .leave = jpeg_leave,
                                      .reduction = 1,
                                      .close = jpeg_close};
    gf_jpeg_share_reading(1);
    opened->input = input;
    opened->options = *options;
    gf_jpeg_set_errors(opened);
    enum gf_status status = gf_jpeg_attempt(opened, read_header, error);
    GF_THEN(status, check_size(opened, error));
    GF_THEN(status, choose_colours(opened, error));
    GF_THEN(status, finish_metadata(opened, error));
    if (opened->base.coefficients)
        opened->base.most_reduction = 0;
    if (!status)
        count_memory(opened);
    if (!status)
        open_strips(opened, strip_rows);
    if (status) {
        jpeg_close(&opened->base);
        return status;
    }
    describe(opened);
    if (!opened->base.coefficients && gf_input_size(input) >= 0 && !opened->jpeg.arith_code &&
        opened->jpeg.data_precision == 8 && (opened->jpeg.progressive_mode || !opened->jpeg.Ss))
        opened->base.window = jpeg_window;
    *source = &opened->base;
    return GF_OK;
}
