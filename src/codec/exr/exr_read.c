/* Reads OpenEXR by its core library: scan lines and tiles, of which several are decoded at a time.
 * The picture is the display window; what the data window does not have of it is 0. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/extremes.h"
#include "base/fail.h"
#include "base/threads/ordered.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/whole_picture.h"
#include "codec/exr/exr_calls.h"
#include "pixel/float_rows.h"

void gf_exr_alpha(struct gf_format format, unsigned char *row, int width, enum gf_exr_alpha how)
{
    enum { PIXELS = 256, MOST = 4 * PIXELS };
    const size_t channels = (size_t)format.channels;
    float values[MOST];
    for (int x = 0; x < width; x += PIXELS, row += PIXELS * gf_pixel_bytes(format)) {
        const size_t count = channels * (size_t)(width - x < PIXELS ? width - x : PIXELS);
        gf_floats_of_row(row, format, count, values);
        for (float *pixel = values; pixel < values + count; pixel += channels) {
            const float alpha = pixel[channels - 1];
            if (alpha == 0 && how != GF_EXR_MULTIPLY)
                continue;
            for (size_t c = 0; c + 1 < channels; c++)
                pixel[c] = how == GF_EXR_DIVIDE ? pixel[c] / alpha : pixel[c] * alpha;
        }
        gf_floats_to_row(values, format, count, row);
    }
}

enum { THREADS_MOST = 64, LEAST_ROWS = 64 };

struct exr_source {
    struct gf_source base;
    struct gf_options options;
    const char *name;
    struct gf_input *input, *memory; /* memory: NULL, or the input of a stream's bytes */
    struct gf_blob file;
    exr_context_t context;
    int part;
    const exr_attr_chlist_entry_t *channel[4]; /* the channels that are read */
    exr_attr_box2i_t data;                     /* the data window */
    int width, height;                         /* its size */
    int64_t x, y; /* the picture's first pixel, counted from that of the data window */
    int block_width, block_rows; /* of a tile; of scan lines: `width`, and the lines of a chunk */
    bool tiled;
    struct gf_rectangle window; /* the part of the picture that read() gives */
    int row;                    /* number of the next row of the window */
    /* Decoded pixels from row band_first and column band_x of the data window on. */
    unsigned char *band;
    int band_first, band_rows, band_x, band_width, bands_most;
    int threads;
    exr_decode_pipeline_t decoder[THREADS_MOST];
    bool begun[THREADS_MOST];
};

/* ---- the file ---- */

static int64_t read_bytes(exr_const_context_t context, void *user, void *buffer, uint64_t size,
                          uint64_t offset, exr_stream_error_func_ptr_t fail)
{
    struct exr_source *const exr = user;
    size_t got = 0;
    if (offset > INT64_MAX / 2 ||
        gf_input_read_at(exr->input, (int64_t)offset, buffer, size, &got, &gf_exr_said.io))
        return -1;
    return (int64_t)got;
}

static int64_t size_of(exr_const_context_t context, void *user)
{
    return gf_input_size(((struct exr_source *)user)->input);
}

/* Fails after a call of the library, at a row of the picture, or in the header (row -1). */
static enum gf_status fail_damaged(const struct exr_source *exr, exr_result_t code, int row,
                                   struct gf_error *error)
{
    if (gf_exr_said.io.status)
        return gf_fail(error, gf_exr_said.io.status, "%s", gf_exr_said.io.text);
    if (code == EXR_ERR_OUT_OF_MEMORY && errno == ENOMEM)
        return gf_fail_memory(error);
    return row < 0 ? gf_fail(error, GF_ERROR_INPUT, "%s: damaged: %s", exr->name, gf_exr_why(code))
                   : gf_fail(error, GF_ERROR_INPUT, "%s: damaged at row %d of %d: %s%s", exr->name,
                             row + 1, exr->base.format.height, gf_exr_why(code),
                             gf_truncated_hint(&exr->options));
}

static enum gf_status refuse(const struct exr_source *exr, const char *what, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_INPUT, "%s: an OpenEXR of %s, which is not read", exr->name,
                   what);
}

static enum gf_status open_file(struct exr_source *exr, struct gf_error *error)
{
    exr_context_initializer_t setup = EXR_DEFAULT_CONTEXT_INITIALIZER;
    setup.error_handler_fn = gf_exr_note;
    setup.user_data = exr;
    setup.read_fn = read_bytes;
    setup.size_fn = size_of;
    setup.flags = EXR_CONTEXT_FLAG_DISABLE_CHUNK_RECONSTRUCTION;
    if (gf_input_size(exr->input) <= 0) { /* a stream is copied to memory, since parts are sought */
        GF_TRY(gf_whole_file(exr->input, &exr->options, &exr->file, error));
        GF_TRY(
            gf_input_open_memory(exr->file.data, exr->file.size, exr->name, &exr->memory, error));
        exr->input = exr->memory;
    }
    gf_exr_begin();
    const exr_result_t result = gf_exr.exr_start_read(&exr->context, exr->name, &setup);
    return result ? fail_damaged(exr, result, -1, error) : GF_OK;
}

/* ---- which part, and which of its channels ---- */

static const exr_attr_chlist_t *channels_of(const struct exr_source *exr, int part)
{
    static const exr_attr_chlist_t none;
    const exr_attr_chlist_t *list = &none;
    return gf_exr.exr_get_channels(exr->context, part, &list) ? &none : list;
}

/* What the names of a layer's channels begin with: nothing, or a name and a dot. */
struct layer {
    const char *name;
    size_t length;
};

static const exr_attr_chlist_entry_t *find_channel(const struct exr_source *exr, struct layer layer,
                                                   const char *end)
{
    const exr_attr_chlist_t *const list = channels_of(exr, exr->part);
    for (int i = 0; i < list->num_channels; i++) {
        const char *const name = list->entries[i].name.str;
        if (!strncmp(name, layer.name, layer.length) && !strcmp(name + layer.length, end))
            return &list->entries[i];
    }
    return NULL;
}

/* Finds the part with the layer that the user chose, or whose name it is. */
static enum gf_status find_layer(struct exr_source *exr, int parts, int page, struct layer *layer,
                                 struct gf_error *error)
{
    for (exr->part = 0; exr->part < parts; exr->part++) {
        const exr_attr_chlist_t *const list = channels_of(exr, exr->part);
        const char *part = NULL;
        for (int i = 0; i < list->num_channels; i++) {
            layer->name = list->entries[i].name.str;
            for (const char *dot = layer->name; (dot = strchr(dot, '.')); dot++) {
                layer->length = (size_t)(dot + 1 - layer->name);
                if (gf_page_is_layer(page, layer->name, layer->length - 1))
                    return GF_OK;
            }
        }
        layer->length = 0;
        if (!gf_exr.exr_get_name(exr->context, exr->part, &part) && part &&
            gf_page_is_layer(page, part, strlen(part)))
            return GF_OK;
    }
    return gf_fail_page(exr->name, page, parts, error);
}

/* How much of a channel's name a warning shows, of its first line. */
static int shown(const char *name)
{
    enum { MOST = 60 };
    const size_t length = strcspn(name, "\r\n");
    return length < MOST ? (int)length : MOST;
}

/* Chooses the channels of colour and alpha, in the order of a pixel's samples, and returns how many
 * there are: R, G and B, or X, Y and Z, or Y, or else the first. */
static int choose_channels(struct exr_source *exr, struct layer layer)
{
    static const char *const colours[][4] = {{"R", "G", "B"}, {"X", "Y", "Z"}, {"Y"}};
    const exr_attr_chlist_t *const list = channels_of(exr, exr->part);
    const exr_attr_chlist_entry_t *const alpha = find_channel(exr, layer, "A");
    int count = 0;
    for (int set = 0; set < 3 && (!count || colours[set - 1][count]); set++)
        for (count = 0; colours[set][count]; count++)
            if (!(exr->channel[count] = find_channel(exr, layer, colours[set][count])))
                break;
    for (int i = 0; !exr->channel[0] && i < list->num_channels; i++)
        if (&list->entries[i] != alpha &&
            !strncmp(list->entries[i].name.str, layer.name, layer.length))
            exr->channel[0] = &list->entries[i];
    if (!count && (exr->channel[0] || alpha)) {
        exr->channel[0] = exr->channel[0] ? exr->channel[0] : alpha;
        count = 1;
        gf_warn(&exr->options,
                "%s: it has no colours R, G, B or Y: the channel %.*s is read as gray", exr->name,
                shown(exr->channel[0]->name.str), exr->channel[0]->name.str);
    }
    if (count && alpha && alpha != exr->channel[0])
        exr->channel[count++] = alpha;
    return count;
}

/* Names one of the channels that are left out. */
static void warn_of_others(const struct exr_source *exr, int taken)
{
    const exr_attr_chlist_t *const list = channels_of(exr, exr->part);
    for (int i = 0; i < list->num_channels; i++) {
        bool is_taken = false;
        for (int c = 0; c < taken; c++)
            is_taken |= exr->channel[c] == &list->entries[i];
        if (is_taken)
            continue;
        gf_warn(&exr->options,
                "%s: %d of its channels, such as %.*s, are left out: FILE[LAYER] reads a layer",
                exr->name, list->num_channels - taken, shown(list->entries[i].name.str),
                list->entries[i].name.str);
        return;
    }
}

/* Chooses the channels, and sets the picture's number of channels and bits. Halves with alpha
 * become floats of 32 bits, since their colours are divided by it. */
static enum gf_status describe_channels(struct exr_source *exr, struct layer layer,
                                        struct gf_error *error)
{
    struct gf_format *const format = &exr->base.format;
    struct gf_stored *const stored = &exr->base.stored;
    const exr_attr_chlist_t *const list = channels_of(exr, exr->part);
    const bool chosen = layer.length;
    if (!chosen && !find_channel(exr, layer, "R") && !find_channel(exr, layer, "Y") &&
        list->num_channels) {
        layer.name = list->entries[0].name.str;
        const char *const dot = strrchr(layer.name, '.');
        layer.length = dot ? (size_t)(dot + 1 - layer.name) : 0;
    }
    if (find_channel(exr, layer, "RY") || find_channel(exr, layer, "BY"))
        return refuse(exr, "luminance and chroma (RY, BY)", error);
    const int count = choose_channels(exr, layer);
    if (!count)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: it has no channels", exr->name);
    stored->is_float = true;
    stored->bits = 16;
    for (int c = 0; c < count; c++) {
        if (exr->channel[c]->x_sampling != 1 || exr->channel[c]->y_sampling != 1)
            return refuse(exr, "subsampled channels", error);
        stored->bits = exr->channel[c]->pixel_type == EXR_PIXEL_HALF ? stored->bits : 32;
    }
    *format = (struct gf_format){.channels = count, .samples = GF_SAMPLES_FLOAT};
    format->bits = gf_has_alpha(*format) ? 32 : stored->bits;
    if (!chosen)
        warn_of_others(exr, count);
    return GF_OK;
}

/* ---- the part's sizes, compression and colours ---- */

static bool is_dwa(const void *compression, const char *mark)
{
    const exr_compression_t is = *(const exr_compression_t *)compression;
    return !strcmp(mark, "DWA") && (is == EXR_COMPRESSION_DWAA || is == EXR_COMPRESSION_DWAB);
}

static enum gf_status check_kind(const struct exr_source *exr, struct gf_error *error)
{
    exr_storage_t storage = EXR_STORAGE_LAST_TYPE;
    exr_compression_t compression = EXR_COMPRESSION_LAST_TYPE;
    int version[3] = {0};
    char text[40];
    if (gf_exr.exr_get_storage(exr->context, exr->part, &storage) ||
        gf_exr.exr_get_compression(exr->context, exr->part, &compression))
        return fail_damaged(exr, EXR_ERR_MISSING_REQ_ATTR, -1, error);
    if (storage != EXR_STORAGE_SCANLINE && storage != EXR_STORAGE_TILED)
        return refuse(exr, "deep pixels", error);
    gf_exr.exr_get_library_version(&version[0], &version[1], &version[2], NULL);
    snprintf(text, sizeof text, "%d.%d.%d", version[0], version[1], version[2]);
    return gf_fail_needs(exr->name, "OpenEXR's core", text, is_dwa, &compression, error);
}

static int64_t side(int32_t from, int32_t to)
{
    return (int64_t)to - from + 1;
}

static enum gf_status read_sizes(struct exr_source *exr, struct gf_error *error)
{
    exr_attr_box2i_t display, *const data = &exr->data;
    struct gf_format *const format = &exr->base.format;
    exr_storage_t storage;
    int32_t chunks = 0;
    if (gf_exr.exr_get_storage(exr->context, exr->part, &storage) ||
        gf_exr.exr_get_data_window(exr->context, exr->part, data) ||
        gf_exr.exr_get_display_window(exr->context, exr->part, &display))
        return fail_damaged(exr, EXR_ERR_MISSING_REQ_ATTR, -1, error);
    const int64_t width = side(display.min.x, display.max.x),
                  height = side(display.min.y, display.max.y),
                  across = side(data->min.x, data->max.x), down = side(data->min.y, data->max.y);
    GF_TRY(gf_size_check(exr->name, width > 0 ? (uint64_t)width : 0,
                         height > 0 ? (uint64_t)height : 0, &exr->options, error));
    if (across < 1 || down < 1 || across > 1 << 24 || down > 1 << 24)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: a data window of %lldx%lld", exr->name,
                       (long long)across, (long long)down);
    format->width = (int)width;
    format->height = (int)height;
    exr->width = (int)across;
    exr->height = (int)down;
    exr->x = (int64_t)display.min.x - data->min.x;
    exr->y = (int64_t)display.min.y - data->min.y;
    exr->window = (struct gf_rectangle){.width = format->width, .height = format->height};
    exr->tiled = storage == EXR_STORAGE_TILED;
    exr->block_width = exr->width;
    const exr_result_t result =
        exr->tiled ? gf_exr.exr_get_tile_sizes(exr->context, exr->part, 0, 0, &exr->block_width,
                                               &exr->block_rows)
                   : gf_exr.exr_get_scanlines_per_chunk(exr->context, exr->part, &exr->block_rows);
    if (result || exr->block_width < 1 || exr->block_rows < 1 ||
        gf_exr.exr_get_chunk_count(exr->context, exr->part, &chunks))
        return fail_damaged(exr, result, -1, error);
    if ((int64_t)chunks * 8 > gf_input_size(exr->input))
        return gf_fail_truncated(error, exr->name, -1, 0);
    if (exr->x > 0 || exr->y > 0 || exr->x + width < across || exr->y + height < down)
        gf_warn(&exr->options, "%s: pixels outside its display window of %dx%d are left out",
                exr->name, format->width, format->height);
    return GF_OK;
}

/* Samples are linear light, by the primaries of BT.709 if the file says none. */
static void read_colours(struct exr_source *exr)
{
    struct gf_colour_tags *const tags = &exr->base.metadata.colour;
    const bool is_gray = exr->base.format.channels < 3;
    exr_attr_chromaticities_t read;
    float ratio = 1;
    if (!gf_exr.exr_get_pixel_aspect_ratio(exr->context, exr->part, &ratio) && ratio > 1e-3f &&
        ratio < 1e3f)
        gf_metadata_set_ratio(&exr->base.metadata, 1, (double)ratio);
    gf_colour_tags_set_linear(tags, NULL, is_gray);
    if (gf_exr.exr_attr_get_chromaticities(exr->context, exr->part, "chromaticities", &read))
        return;
    const float xy[] = {read.white_x, read.white_y, read.red_x,  read.red_y,
                        read.green_x, read.green_y, read.blue_x, read.blue_y};
    if (!gf_colour_tags_set_linear(tags, xy, is_gray))
        gf_warn(&exr->options, "%s: no profile can say its chromaticities: they count as BT.709's",
                exr->name);
}

/* ---- decoding ---- */

static size_t band_pitch(const struct exr_source *exr)
{
    return gf_pixel_bytes(exr->base.format) * (size_t)exr->band_width;
}

/* Says where the samples of a block go, whose pixels are `stride` bytes apart. */
static void bind_channels(const struct exr_source *exr, exr_decode_pipeline_t *decoder,
                          unsigned char *pixels, int stride)
{
    const struct gf_format format = exr->base.format;
    const int sample = format.bits / 8;
    for (int i = 0; i < decoder->channel_count; i++) {
        exr_coding_channel_info_t *const channel = &decoder->channels[i];
        channel->decode_to_ptr = NULL;
        for (int c = 0; c < format.channels; c++)
            if (!strcmp(channel->channel_name, exr->channel[c]->name.str))
                channel->decode_to_ptr = pixels + c * sample;
        channel->user_bytes_per_element = (int16_t)sample;
        channel->user_data_type = format.bits == 16 ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
        channel->user_pixel_stride = stride;
        channel->user_line_stride = (int32_t)band_pitch(exr);
    }
}

static exr_result_t decode(struct exr_source *exr, int thread, const exr_chunk_info_t *chunk,
                           unsigned char *pixels)
{
    exr_decode_pipeline_t *const decoder = &exr->decoder[thread];
    const int stride = (int)gf_pixel_bytes(exr->base.format);
    exr_result_t result =
        exr->begun[thread]
            ? gf_exr.exr_decoding_update(exr->context, exr->part, chunk, decoder)
            : gf_exr.exr_decoding_initialize(exr->context, exr->part, chunk, decoder);
    if (!result && !exr->begun[thread]) {
        exr->begun[thread] = true;
        /* Where 3 or 4 halves of a pixel would become floats side by side, version 3.1.5 mixes up
         * channels, and writes those that are not wanted to NULL. It decides that here, where a
         * stride that 3 and 4 floats never have lets it take each channel for itself. */
        enum { GAPS = 5 };
        bind_channels(exr, decoder, pixels, exr->base.format.bits == 32 ? GAPS * stride : stride);
        result = gf_exr.exr_decoding_choose_default_routines(exr->context, exr->part, decoder);
    }
    if (result)
        return result;
    bind_channels(exr, decoder, pixels, stride);
    return gf_exr.exr_decoding_run(exr->context, exr->part, decoder);
}

/* Decodes a tile of the band, or a chunk of scan lines. */
static enum gf_status decode_block(void *context, int thread, int item, struct gf_error *error)
{
    struct exr_source *const exr = context;
    const int x = exr->tiled ? exr->band_x + item * exr->block_width : 0,
              y = exr->band_first + (exr->tiled ? 0 : item * exr->block_rows),
              width = gf_least(exr->block_width, exr->width - x),
              height = gf_least(exr->block_rows, exr->height - y);
    unsigned char *const to = exr->band + (size_t)(y - exr->band_first) * band_pitch(exr) +
                              (size_t)(x - exr->band_x) * gf_pixel_bytes(exr->base.format);
    exr_chunk_info_t chunk = {0};
    GF_TRY(gf_time_check(error));
    gf_exr_begin();
    exr_result_t result =
        exr->tiled ? gf_exr.exr_read_tile_chunk_info(exr->context, exr->part, x / exr->block_width,
                                                     y / exr->block_rows, 0, 0, &chunk)
                   : gf_exr.exr_read_scanline_chunk_info(exr->context, exr->part,
                                                         exr->data.min.y + y, &chunk);
    /* The library would leave memory as it was for a chunk of no bytes. */
    if (!result && (chunk.width != width || chunk.height != height || !chunk.packed_size))
        result = EXR_ERR_CORRUPT_CHUNK;
    if (!result)
        result = decode(exr, thread, &chunk, to);
    const int64_t row = y - exr->y;
    if (result)
        return fail_damaged(exr, result, row < 0 ? 0 : (int)row, error);
    for (int i = 0; gf_has_alpha(exr->base.format) && i < height; i++)
        gf_exr_alpha(exr->base.format, to + (size_t)i * band_pitch(exr), width, GF_EXR_DIVIDE);
    return GF_OK;
}

/* Decodes the band that begins with the block of a row of the data window. */
static enum gf_status decode_band(struct exr_source *exr, int row, struct gf_error *error)
{
    const int64_t last = exr->y + exr->window.y + exr->window.height - 1;
    const int blocks =
        exr->tiled ? (exr->band_width + exr->block_width - 1) / exr->block_width : exr->bands_most;
    exr->band_first = row / exr->block_rows * exr->block_rows;
    int items = blocks;
    if (!exr->tiled) {
        const int end = last < exr->height - 1 ? (int)last : exr->height - 1;
        items = gf_least(blocks, (end - exr->band_first) / exr->block_rows + 1);
    }
    exr->band_rows = 0;
    GF_TRY(gf_ordered_run(exr->threads, items, decode_block, exr, error));
    exr->band_rows =
        gf_least(exr->block_rows * (exr->tiled ? 1 : items), exr->height - exr->band_first);
    return GF_OK;
}

/* The columns of the data window that a row of the window needs. */
struct columns {
    int to, count; /* where they stand in the row */
    int64_t from;
};

static struct columns columns_of(const struct exr_source *exr)
{
    const int64_t begin = exr->x + exr->window.x, end = begin + exr->window.width,
                  first = begin > 0 ? begin : 0, stop = end < exr->width ? end : exr->width;
    return (struct columns){(int)(first - begin), stop > first ? (int)(stop - first) : 0, first};
}

static enum gf_status exr_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                               struct gf_error *error)
{
    struct exr_source *const exr = (struct exr_source *)base;
    const struct columns columns = columns_of(exr);
    const size_t pixel = gf_pixel_bytes(base->format);
    if (!exr->band && columns.count)
        GF_ALLOCATED(
            exr->band = malloc(band_pitch(exr) * (size_t)exr->block_rows * (size_t)exr->bands_most),
            error);
    for (int i = 0; i < rows; i++, exr->row++, dst += pitch) {
        const int64_t row = exr->y + exr->window.y + exr->row;
        memset(dst, 0, gf_row_bytes(base->format));
        if (row < 0 || row >= exr->height || !columns.count)
            continue;
        if (row < exr->band_first || row >= exr->band_first + exr->band_rows)
            GF_TRY(decode_band(exr, (int)row, error));
        memcpy(dst + pixel * (size_t)columns.to,
               exr->band + (size_t)(row - exr->band_first) * band_pitch(exr) +
                   pixel * (size_t)(columns.from - exr->band_x),
               pixel * (size_t)columns.count);
    }
    return GF_OK;
}

/* Decides what is decoded at a time, and how much memory that takes. */
static void plan(struct exr_source *exr)
{
    enum { BUFFERS = 4 }; /* of a block: packed, unpacked, and two for the decompression */
    const struct columns columns = columns_of(exr);
    const int threads = gf_least(gf_library_threads(&exr->options), THREADS_MOST),
              all = (exr->height - 1) / exr->block_rows + 1,
              more = (LEAST_ROWS - 1) / exr->block_rows + 1;
    const int64_t first = columns.from / exr->block_width * exr->block_width,
                  end = columns.from + columns.count;
    uint64_t block = 0;
    (void)gf_exr.exr_get_chunk_unpacked_size(exr->context, exr->part, &block);
    exr->band_x = columns.count ? (int)first : 0; /* without columns nothing is decoded */
    exr->band_width = exr->tiled ? (int)((end - first + exr->block_width - 1) / exr->block_width) *
                                       exr->block_width
                                 : exr->width;
    exr->band_width = columns.count ? gf_least(exr->band_width, exr->width - exr->band_x) : 1;
    exr->bands_most = exr->tiled ? 1 : gf_least(all, more > 2 * threads ? more : 2 * threads);
    exr->threads = threads;
    exr->band_first = exr->band_rows = exr->row = 0;
    free(exr->band);
    exr->band = NULL;
    exr->base.memory = (struct gf_codec_memory){
        band_pitch(exr) * (uint64_t)exr->block_rows * (uint64_t)exr->bands_most +
            BUFFERS * block * (uint64_t)threads + exr->file.size,
        exr->tiled ? "a row of its tiles is decoded at a time"
                   : "some of its rows are decoded at a time"};
}

static enum gf_status exr_window(struct gf_source *base, struct gf_rectangle window, int more,
                                 struct gf_error *error)
{
    struct exr_source *const exr = (struct exr_source *)base;
    exr->window = window;
    base->format.width = window.width;
    base->format.height = window.height;
    plan(exr);
    return GF_OK;
}

static void exr_close(struct gf_source *base)
{
    struct exr_source *const exr = (struct exr_source *)base;
    for (int i = 0; i < THREADS_MOST; i++)
        if (exr->begun[i])
            gf_exr.exr_decoding_destroy(exr->context, &exr->decoder[i]);
    if (exr->context)
        gf_exr.exr_finish(&exr->context);
    gf_input_close(exr->memory);
    gf_metadata_free(&base->metadata);
    free(exr->file.data);
    free(exr->band);
    free(exr);
}

static enum gf_status open_part(struct exr_source *exr, int wanted, struct gf_error *error)
{
    int parts = 0;
    struct layer layer = {.name = ""};
    GF_TRY(open_file(exr, error));
    if (gf_exr.exr_get_count(exr->context, &parts) || parts < 1)
        return fail_damaged(exr, EXR_ERR_MISSING_REQ_ATTR, -1, error);
    const bool by_name = wanted >= GF_PAGE_OF_KIND && gf_page_kind(wanted) != GF_PICTURE_MAIN;
    GF_TRY(by_name ? find_layer(exr, parts, wanted, &layer, error)
                   : gf_choose_page(exr->name, wanted, parts, &exr->options, &exr->part, error));
    GF_TRY(check_kind(exr, error));
    GF_TRY(describe_channels(exr, layer, error));
    GF_TRY(read_sizes(exr, error));
    read_colours(exr);
    bool left_out = false;
    if (!gf_exr_read_texts(exr->context, exr->part, &exr->base.metadata.texts, &left_out))
        return gf_fail_memory(error);
    if (left_out)
        gf_warn(&exr->options, "%s: it has too many texts, or too long ones: some are left out",
                exr->name);
    exr->base.stored.pages = parts;
    plan(exr);
    return gf_memory_check_proportion(&exr->base, exr->input, &exr->options, error);
}

enum gf_status gf_exr_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error)
{
    GF_NEW(struct exr_source, exr, error);
    exr->base = (struct gf_source){
        .metadata = {.orientation = 1}, .window = exr_window, .read = exr_read, .close = exr_close};
    exr->options = *options;
    exr->input = input;
    exr->name = gf_input_name(input);
    GF_OPENED(open_part(exr, gf_input_page(input), error), exr_close, &exr->base, source);
}
