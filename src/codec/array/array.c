#include "codec/array/array.h"

#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/rows/samples.h"
#include "codec/common/rows/whole_picture.h"

struct array_source {
    struct gf_source base;
    struct gf_array array;
    struct gf_input *input, *memory; /* memory: NULL, or the input of a stream's bytes */
    struct gf_blob file;
    struct gf_rectangle window;
    int row; /* number of the next row of the window */
};

static void swap(struct gf_format format, unsigned char *row, size_t samples)
{
    if (format.bits == 16)
        gf_samples_swap(row, samples);
    for (size_t i = 0; format.bits == 32 && i < samples; i++, row += 4) {
        uint32_t bits;
        memcpy(&bits, row, sizeof bits);
        bits = __builtin_bswap32(bits);
        memcpy(row, &bits, sizeof bits);
    }
}

/* Reads floats of 64 bits as `bytes` bytes of the nearest ones of 32. *got has been 0. */
static enum gf_status read_doubles(const struct array_source *source, int64_t at,
                                   unsigned char *dst, size_t bytes, size_t *got,
                                   struct gf_error *error)
{
    uint64_t piece[2048];
    for (size_t read = sizeof piece; read >= sizeof *piece && *got < bytes;) {
        const size_t left = 2 * (bytes - *got), size = left < sizeof piece ? left : sizeof piece;
        GF_TRY(gf_input_read_at(source->input, at + 2 * (int64_t)*got, piece, size, &read, error));
        for (size_t i = 0; i < read / sizeof *piece; i++, *got += sizeof(float)) {
            const uint64_t bits = source->array.swapped ? __builtin_bswap64(piece[i]) : piece[i];
            const float v = (float)gf_double_of_bits(bits);
            memcpy(dst + *got, &v, sizeof v);
        }
    }
    return GF_OK;
}

/* Reads rows of the window that follow each other in the file. */
static enum gf_status read_part(struct array_source *source, int rows, unsigned char *dst,
                                struct gf_error *error)
{
    const struct gf_array *const array = &source->array;
    const struct gf_format format = array->format;
    const int y = source->window.y + source->row,
              line = array->bottom_up ? format.height - 1 - y : y;
    const int64_t before = (int64_t)gf_row_bytes(format) * line +
                           (int64_t)gf_pixel_bytes(format) * source->window.x,
                  at = array->data + (array->doubles ? 2 * before : before);
    const size_t bytes = gf_row_bytes(source->base.format) * (size_t)rows;
    size_t got = 0;
    GF_TRY(array->doubles ? read_doubles(source, at, dst, bytes, &got, error)
                          : gf_input_read_at(source->input, at, dst, bytes, &got, error));
    if (got < bytes)
        return gf_fail_truncated(error, gf_input_name(source->input), y, format.height);
    if (array->swapped && !array->doubles)
        swap(format, dst, bytes / ((size_t)format.bits / 8));
    source->row += rows;
    return GF_OK;
}

static enum gf_status array_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                                 struct gf_error *error)
{
    struct array_source *const source = (struct array_source *)base;
    const bool at_once = !source->array.bottom_up && pitch == gf_row_bytes(source->array.format);
    if (at_once && base->format.width == source->array.format.width)
        return read_part(source, rows, dst, error);
    for (int y = 0; y < rows; y++)
        GF_TRY(read_part(source, 1, dst + (size_t)y * pitch, error));
    return GF_OK;
}

static enum gf_status array_window(struct gf_source *base, struct gf_rectangle window, int more,
                                   struct gf_error *error)
{
    struct array_source *const source = (struct array_source *)base;
    source->window = window;
    source->row = 0;
    base->format.width = window.width;
    base->format.height = window.height;
    return GF_OK;
}

static void array_close(struct gf_source *base)
{
    struct array_source *const source = (struct array_source *)base;
    gf_input_close(source->memory);
    gf_metadata_free(&base->metadata);
    free(source->file.data);
    free(source);
}

static enum gf_status open_array(struct array_source *source, gf_array_header *read_header,
                                 const struct gf_options *options, struct gf_error *error)
{
    struct gf_array *const array = &source->array;
    const char *const name = gf_input_name(source->input);
    char head[GF_ARRAY_HEAD + 1];
    size_t got = 0;
    if (gf_input_size(source->input) <= 0) {
        GF_TRY(gf_whole_file(source->input, options, &source->file, error));
        GF_TRY(gf_input_open_memory(source->file.data, source->file.size, name, &source->memory,
                                    error));
        source->input = source->memory;
    }
    GF_TRY(gf_input_read_at(source->input, 0, head, GF_ARRAY_HEAD, &got, error));
    head[got] = '\0';
    GF_TRY(read_header(name, head, got, options, array, error));
    const int64_t left = gf_input_size(source->input) - array->data,
                  row = (int64_t)gf_row_bytes(array->format) * (array->doubles ? 2 : 1);
    if (left < row * array->format.height)
        return gf_fail_truncated(error, name, left > 0 ? left / row : 0, array->format.height);
    source->base.format = array->format;
    source->base.stored = (struct gf_stored){
        .bits = array->format.bits, .is_float = gf_is_float(array->format), .is_lossless = true};
    source->base.memory =
        (struct gf_codec_memory){source->file.size, "a stream is read as a whole"};
    source->window =
        (struct gf_rectangle){.width = array->format.width, .height = array->format.height};
    return GF_OK;
}

enum gf_status gf_array_source_open(gf_array_header *read_header, struct gf_input *input,
                                    const struct gf_options *options, struct gf_source **source,
                                    struct gf_error *error)
{
    GF_NEW(struct array_source, opened, error);
    opened->base = (struct gf_source){.metadata = {.orientation = 1},
                                      .read = array_read,
                                      .window = array_window,
                                      .close = array_close};
    opened->input = input;
    GF_OPENED(open_array(opened, read_header, options, error), array_close, &opened->base, source);
}

/* ---- writing ---- */

struct array_sink {
    struct gf_sink base;
    struct gf_array array;
    struct gf_output *output;
    struct gf_format rows; /* the format of the rows that write() gets */
    unsigned char *plain;  /* a row without alpha; NULL: rows stay */
    int row;
};

static enum gf_status write_row(struct array_sink *sink, const unsigned char *src,
                                struct gf_error *error)
{
    const struct gf_format format = sink->array.format;
    const size_t row_bytes = gf_row_bytes(format), pixel = gf_pixel_bytes(format),
                 step = gf_pixel_bytes(sink->rows);
    for (int x = 0; sink->plain && x < format.width; x++)
        memcpy(sink->plain + (size_t)x * pixel, src + (size_t)x * step, pixel);
    const unsigned char *const row = sink->plain ? sink->plain : src;
    const int line = format.height - 1 - sink->row++;
    return sink->array.bottom_up
               ? gf_output_write_at(sink->output, sink->array.data + (int64_t)row_bytes * line, row,
                                    row_bytes, error)
               : gf_output_write(sink->output, row, row_bytes, error);
}

static enum gf_status array_write(struct gf_sink *base, int rows, const unsigned char *src,
                                  size_t pitch, struct gf_error *error)
{
    struct array_sink *const sink = (struct array_sink *)base;
    for (int y = 0; y < rows; y++)
        GF_TRY(write_row(sink, src + (size_t)y * pitch, error));
    return GF_OK;
}

static enum gf_status array_finish(struct gf_sink *base, struct gf_error *error)
{
    return GF_OK;
}

static void array_sink_close(struct gf_sink *base)
{
    free(((struct array_sink *)base)->plain);
    free(base);
}

/* Writes the header, and rows of zeros if the first row comes last. */
static enum gf_status begin(const struct array_sink *sink, const struct gf_sink_order *order,
                            const char *header, size_t size, struct gf_error *error)
{
    const struct gf_format format = sink->array.format;
    const size_t row_bytes = gf_row_bytes(format);
    GF_TRY(gf_output_write(sink->output, header, size, error));
    gf_output_expect(sink->output, (int64_t)row_bytes * format.height,
                     gf_codec_threads(order->options));
    unsigned char *const zeros = sink->array.bottom_up ? calloc(1, row_bytes) : NULL;
    enum gf_status status = zeros || !sink->array.bottom_up ? GF_OK : gf_fail_memory(error);
    for (int y = 0; zeros && !status && y < format.height; y++)
        status = gf_output_write(sink->output, zeros, row_bytes, error);
    free(zeros);
    return status;
}

enum gf_status gf_array_sink_open(const struct gf_sink_order *order, const struct gf_array *array,
                                  const char *header, size_t size, struct gf_sink **sink,
                                  struct gf_error *error)
{
    GF_NEW(struct array_sink, opened, error);
    const bool drops = array->format.channels < order->format.channels;
    opened->base =
        (struct gf_sink){.write = array_write, .finish = array_finish, .close = array_sink_close};
    opened->array = *array;
    opened->array.data = (int64_t)size;
    opened->output = order->output;
    opened->rows = order->format;
    enum gf_status status = GF_OK;
    if (drops && !(opened->plain = malloc(gf_row_bytes(array->format))))
        status = gf_fail_memory(error);
    GF_THEN(status, begin(opened, order, header, size, error));
    if (status) {
        array_sink_close(&opened->base);
        return status;
    }
    if (drops)
        gf_warn(order->options, "%s: it has no alpha channel: it is left out",
                gf_output_name(order->output));
    *sink = &opened->base;
    return GF_OK;
}
