/* Writes OpenEXR by its core library: scan lines of half or float, 16 of them in a block of ZIP,
 * which all threads compress. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/threads/ordered.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/exr/exr_calls.h"
#include "icc/icc.h"

enum { THREADS_MOST = 64, BLOCK_ROWS = 16 };

struct exr_sink {
    struct gf_sink base;
    struct gf_output *output; /* NULL: nothing more is written */
    struct gf_format format;
    enum gf_exr_alpha alpha;
    exr_context_t context;
    int blocks;                                  /* how many are encoded at a time */
    unsigned char *rows;                         /* of these blocks, colours multiplied by alpha */
    int first, held;                             /* number of their first row; rows in `rows` */
    exr_encode_pipeline_t encoder[THREADS_MOST]; /* one for each of the blocks */
    bool begun[THREADS_MOST];
};

static int64_t write_bytes(exr_const_context_t context, void *user, const void *buffer,
                           uint64_t size, uint64_t offset, exr_stream_error_func_ptr_t fail)
{
    struct gf_output *const output = ((struct exr_sink *)user)->output;
    const int64_t at = (int64_t)offset;
    enum gf_status status = output ? GF_OK : GF_ERROR_OUTPUT;
    /* The library leaves room for the table of the blocks. */
    while (!status && gf_output_size(output) < at)
        status = gf_output_write(output, "", 1, &gf_exr_said.io);
    if (status || !size)
        return status ? -1 : 0;
    status = gf_output_size(output) > at
                 ? gf_output_write_at(output, at, buffer, size, &gf_exr_said.io)
                 : gf_output_write(output, buffer, size, &gf_exr_said.io);
    return status ? -1 : (int64_t)size;
}

static enum gf_status fail(const struct exr_sink *exr, exr_result_t code, struct gf_error *error)
{
    if (gf_exr_said.io.status)
        return gf_fail(error, gf_exr_said.io.status, "%s", gf_exr_said.io.text);
    return code == EXR_ERR_OUT_OF_MEMORY ? gf_fail_memory(error)
                                         : gf_fail(error, GF_ERROR_OUTPUT, "%s: OpenEXR: %s",
                                                   gf_output_name(exr->output), gf_exr_why(code));
}

/* ---- the header ---- */

static exr_result_t set_colours(const struct exr_sink *exr, const struct gf_sink_order *order)
{
    struct gf_icc_space space = gf_icc_srgb;
    if (!order->metadata)
        return EXR_ERR_SUCCESS;
    const bool linear = gf_metadata_find_linear(order->metadata, &space);
    if (!linear && (order->metadata->bits || order->metadata->icc.size))
        gf_warn(order->options,
                "%s: OpenEXR means linear light, and nothing says that the samples are linear",
                gf_output_name(order->output));
    const exr_attr_chromaticities_t written = {.red_x = (float)space.red[0],
                                               .red_y = (float)space.red[1],
                                               .green_x = (float)space.green[0],
                                               .green_y = (float)space.green[1],
                                               .blue_x = (float)space.blue[0],
                                               .blue_y = (float)space.blue[1],
                                               .white_x = (float)space.white[0],
                                               .white_y = (float)space.white[1]};
    return linear ? gf_exr.exr_attr_set_chromaticities(exr->context, 0, "chromaticities", &written)
                  : EXR_ERR_SUCCESS;
}

static exr_result_t write_header(struct exr_sink *exr, const struct gf_sink_order *order)
{
    const struct gf_format format = exr->format;
    const struct gf_metadata *const metadata = order->metadata;
    const int level = order->options->png_level;
    exr_context_initializer_t setup = EXR_DEFAULT_CONTEXT_INITIALIZER;
    int part = 0;
    setup.error_handler_fn = gf_exr_note;
    setup.user_data = exr;
    setup.write_fn = write_bytes;
    setup.zip_level = level ? level : 1;
    exr_result_t result = gf_exr.exr_start_write(&exr->context, gf_output_name(order->output),
                                                 EXR_WRITE_FILE_DIRECTLY, &setup);
    if (!result)
        result = gf_exr.exr_add_part(exr->context, "picture", EXR_STORAGE_SCANLINE, &part);
    if (!result)
        result = gf_exr.exr_initialize_required_attr_simple(exr->context, part, format.width,
                                                            format.height, EXR_COMPRESSION_ZIP);
    if (!result && metadata && metadata->density_x > 0 && metadata->density_y > 0)
        result = gf_exr.exr_set_pixel_aspect_ratio(
            exr->context, part, (float)(metadata->density_y / metadata->density_x));
    for (int c = 0; !result && c < format.channels; c++)
        result = gf_exr.exr_add_channel(exr->context, part, gf_exr_channel(format, c),
                                        order->options->depth == GF_DEPTH_FLOAT16 ? EXR_PIXEL_HALF
                                                                                  : EXR_PIXEL_FLOAT,
                                        EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1);
    if (!result)
        result = set_colours(exr, order);
    if (!result && metadata)
        result = gf_exr_write_texts(exr->context, &metadata->texts);
    return result ? result : gf_exr.exr_write_header(exr->context);
}

/* ---- the rows ---- */

static void bind_channels(const struct exr_sink *exr, exr_encode_pipeline_t *encoder,
                          const unsigned char *rows)
{
    const struct gf_format format = exr->format;
    const int sample = format.bits / 8;
    for (int i = 0; i < encoder->channel_count; i++) {
        exr_coding_channel_info_t *const channel = &encoder->channels[i];
        int c = 0;
        while (c < format.channels - 1 && strcmp(channel->channel_name, gf_exr_channel(format, c)))
            c++;
        channel->encode_from_ptr = rows + c * sample;
        channel->user_bytes_per_element = (int16_t)sample;
        channel->user_data_type = format.bits == 16 ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
        channel->user_pixel_stride = sample * format.channels;
        channel->user_line_stride = (int32_t)gf_row_bytes(format);
    }
}

/* Compresses a block. It is written later, in order. */
static enum gf_status encode_block(void *context, int thread, int item, struct gf_error *error)
{
    struct exr_sink *const exr = context;
    exr_encode_pipeline_t *const encoder = &exr->encoder[item];
    exr_chunk_info_t chunk = {0};
    gf_exr_begin();
    exr_result_t result = gf_exr.exr_write_scanline_chunk_info(
        exr->context, 0, exr->first + item * BLOCK_ROWS, &chunk);
    const bool begins = !exr->begun[item];
    if (!result)
        result = begins ? gf_exr.exr_encoding_initialize(exr->context, 0, &chunk, encoder)
                        : gf_exr.exr_encoding_update(exr->context, 0, &chunk, encoder);
    if (result)
        return fail(exr, result, error);
    exr->begun[item] = true;
    const size_t row_bytes = gf_row_bytes(exr->format);
    unsigned char *const rows = exr->rows + (size_t)item * BLOCK_ROWS * row_bytes;
    for (int y = 0; gf_has_alpha(exr->format) && y < chunk.height; y++)
        gf_exr_alpha(exr->format, rows + (size_t)y * row_bytes, exr->format.width, exr->alpha);
    bind_channels(exr, encoder, rows);
    if (begins)
        result = gf_exr.exr_encoding_choose_default_routines(exr->context, 0, encoder);
    encoder->yield_until_ready_fn = NULL;
    encoder->write_fn = NULL;
    if (!result)
        result = gf_exr.exr_encoding_run(exr->context, 0, encoder);
    return result ? fail(exr, result, error) : GF_OK;
}

static enum gf_status write_blocks(struct exr_sink *exr, int threads, struct gf_error *error)
{
    const int blocks = (exr->held + BLOCK_ROWS - 1) / BLOCK_ROWS;
    GF_TRY(gf_ordered_run(threads, blocks, encode_block, exr, error));
    gf_exr_begin();
    for (int i = 0; i < blocks; i++) {
        const exr_encode_pipeline_t *const encoder = &exr->encoder[i];
        const exr_result_t result =
            gf_exr.exr_write_scanline_chunk(exr->context, 0, exr->first + i * BLOCK_ROWS,
                                            encoder->compressed_buffer, encoder->compressed_bytes);
        if (result)
            return fail(exr, result, error);
    }
    exr->first += exr->held;
    exr->held = 0;
    return GF_OK;
}

static enum gf_status exr_write(struct gf_sink *base, int rows, const unsigned char *src,
                                size_t pitch, struct gf_error *error)
{
    struct exr_sink *const exr = (struct exr_sink *)base;
    const size_t row_bytes = gf_row_bytes(exr->format);
    for (int y = 0; y < rows; y++) {
        memcpy(exr->rows + (size_t)exr->held++ * row_bytes, src + (size_t)y * pitch, row_bytes);
        if (exr->held == exr->blocks * BLOCK_ROWS || exr->first + exr->held == exr->format.height)
            GF_TRY(write_blocks(exr, exr->blocks, error));
    }
    return GF_OK;
}

static void free_encoders(struct exr_sink *exr)
{
    for (int i = 0; i < THREADS_MOST; i++)
        if (exr->begun[i])
            gf_exr.exr_encoding_destroy(exr->context, &exr->encoder[i]);
    memset(exr->begun, 0, sizeof exr->begun);
}

static enum gf_status exr_finish_file(struct gf_sink *base, struct gf_error *error)
{
    struct exr_sink *const exr = (struct exr_sink *)base;
    gf_exr_begin();
    free_encoders(exr);
    const exr_result_t result = gf_exr.exr_finish(&exr->context);
    return result ? fail(exr, result, error) : GF_OK;
}

static void exr_close(struct gf_sink *base)
{
    struct exr_sink *const exr = (struct exr_sink *)base;
    exr->output = NULL;
    free_encoders(exr);
    if (exr->context)
        gf_exr.exr_finish(&exr->context);
    free(exr->rows);
    free(exr);
}

static int blocks_of(const struct gf_options *options, int height)
{
    const int threads = gf_library_threads(options), all = (height - 1) / BLOCK_ROWS + 1,
              most = threads < THREADS_MOST ? threads : THREADS_MOST;
    return most < all ? most : all;
}

struct gf_codec_memory gf_exr_sink_memory(struct gf_format format, const struct gf_options *options)
{
    enum { USUAL = 8 << 20, BUFFERS = 4 };
    const uint64_t bytes = (uint64_t)gf_row_bytes(format) * BLOCK_ROWS * BUFFERS *
                           (unsigned)blocks_of(options, format.height);
    return (struct gf_codec_memory){bytes > USUAL ? bytes : 0,
                                    "some of its rows are packed at a time"};
}

enum gf_status gf_exr_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    GF_NEW(struct exr_sink, exr, error);
    exr->base = (struct gf_sink){.write = exr_write, .finish = exr_finish_file, .close = exr_close};
    exr->output = order->output;
    exr->format = order->format;
    exr->alpha =
        order->metadata && order->metadata->associated ? GF_EXR_MULTIPLY_SOME : GF_EXR_MULTIPLY;
    exr->blocks = blocks_of(order->options, order->format.height);
    exr->rows = malloc(gf_row_bytes(exr->format) * BLOCK_ROWS * (size_t)exr->blocks);
    gf_exr_begin();
    const exr_result_t result = exr->rows ? write_header(exr, order) : EXR_ERR_OUT_OF_MEMORY;
    GF_OPENED(result ? fail(exr, result, error) : GF_OK, exr_close, &exr->base, sink);
}
