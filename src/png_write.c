/* PNG, out: gray, gray + alpha, RGB and RGBA in 8 and 16 bits. */
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>
#include <zlib.h>

#include "formats.h"
#include "metadata.h"

enum {
    IDAT_BYTES = 256 << 10,
    /* Up to this level every row takes the filter Sub: of photographs as small as with the best
     * filter chosen for each row, in two thirds of the time. Above it deflate takes so long that
     * the choice, worth one per cent, costs little beside it. zlib's default strategy was the
     * smaller and quicker one at every level. */
    LEVEL_OF_ONE_FILTER = 3
};

struct png_sink {
    struct gf_sink base;
    png_structp png;
    png_infop info;
    jmp_buf escape;
    struct gf_output *output;
    struct gf_format format;
    int level;
    const struct gf_metadata *metadata; /* during open */
    struct gf_error *error;
    enum gf_status status;
    const unsigned char *src; /* what is asked for: the arguments of attempt() */
    size_t pitch;
    int rows;
    unsigned char *packed; /* the ICC profile, while it is being written */
};

static _Noreturn void on_error(png_structp png, png_const_charp text)
{
    struct png_sink *const sink = png_get_error_ptr(png);
    if (!sink->status)
        sink->status =
            gf_fail(sink->error, GF_ERROR_OUTPUT, "%s: %s", gf_output_name(sink->output), text);
    longjmp(sink->escape, 1);
}

static void ignore_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void write_data(png_structp png, png_bytep data, size_t size)
{
    struct png_sink *const sink = png_get_io_ptr(png);
    sink->status = gf_output_write(sink->output, data, size, sink->error);
    if (sink->status)
        png_error(png, "write");
}

static void ignore_flush(png_structp png)
{
    (void)png;
}

/* ---- metadata: chunks made here, since libpng would check profiles that are not ours to judge
 * ---- */

static void write_chunk(struct png_sink *sink, const char *name, const void *header,
                        size_t header_size, const void *data, size_t size)
{
    png_write_chunk_start(sink->png, (png_const_bytep)name, (png_uint_32)(header_size + size));
    png_write_chunk_data(sink->png, header, header_size);
    png_write_chunk_data(sink->png, data, size);
    png_write_chunk_end(sink->png);
}

static void write_icc(struct png_sink *sink)
{
    static const char header[] = "ICC profile\0"; /* the name, its zero, method 0 */
    const struct gf_blob *const icc = &sink->metadata->icc;
    uLongf size = compressBound((uLong)icc->size);
    sink->packed = malloc(size);
    if (!sink->packed || compress(sink->packed, &size, icc->data, (uLong)icc->size) != Z_OK) {
        sink->status = gf_fail(sink->error, GF_ERROR_MEMORY, "out of memory");
        png_error(sink->png, "out of memory");
    }
    if (sizeof header + size < PNG_UINT_31_MAX)
        write_chunk(sink, "iCCP", header, sizeof header, sink->packed, size);
    free(sink->packed);
    sink->packed = NULL;
}

static void write_density(struct png_sink *sink)
{
    const double x = nearbyint(sink->metadata->density_x), y = nearbyint(sink->metadata->density_y);
    if (!(x >= 1 && y >= 1 && x <= PNG_UINT_31_MAX && y <= PNG_UINT_31_MAX))
        return;
    unsigned char chunk[9] = {[8] = PNG_RESOLUTION_METER};
    png_save_uint_32(chunk, (png_uint_32)x);
    png_save_uint_32(chunk + 4, (png_uint_32)y);
    write_chunk(sink, "pHYs", chunk, sizeof chunk, NULL, 0);
}

static void write_metadata(struct png_sink *sink)
{
    /* The keyword, "not packed", method, language and translated keyword, each with its zero. */
    static const char xmp_header[] = "XML:com.adobe.xmp\0\0\0\0";
    const struct gf_metadata *const metadata = sink->metadata;
    if (metadata->icc.size)
        write_icc(sink);
    write_density(sink);
    if (metadata->exif.size && metadata->exif.size < PNG_UINT_31_MAX)
        write_chunk(sink, "eXIf", NULL, 0, metadata->exif.data, metadata->exif.size);
    if (metadata->xmp.size && metadata->xmp.size < PNG_UINT_31_MAX - sizeof xmp_header)
        write_chunk(sink, "iTXt", xmp_header, sizeof xmp_header, metadata->xmp.data,
                    metadata->xmp.size);
}

/* ---- what is done under setjmp: nothing of it has locals that must survive ---- */

static enum gf_status attempt(struct png_sink *sink, void (*work)(struct png_sink *sink),
                              struct gf_error *error)
{
    sink->error = error;
    if (setjmp(sink->escape))
        return sink->status;
    work(sink);
    return GF_OK;
}

static void start(struct png_sink *sink)
{
    static const int colour_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                       PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    const struct gf_format format = sink->format;
    sink->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, sink, on_error, ignore_warning);
    if (sink->png)
        sink->info = png_create_info_struct(sink->png);
    if (!sink->info) {
        sink->status = gf_fail(sink->error, GF_ERROR_MEMORY, "out of memory");
        longjmp(sink->escape, 1);
    }
    png_structp const png = sink->png;
    png_set_write_fn(png, sink, write_data, ignore_flush);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(png, sink->info, (png_uint_32)format.width, (png_uint_32)format.height,
                 format.bits, colour_types[format.channels - 1], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, sink->level);
    png_set_compression_strategy(png, Z_DEFAULT_STRATEGY);
    png_set_compression_buffer_size(png, IDAT_BYTES);
    png_set_filter(png, PNG_FILTER_TYPE_DEFAULT,
                   !sink->level                         ? PNG_FILTER_NONE
                   : sink->level <= LEVEL_OF_ONE_FILTER ? PNG_FILTER_SUB
                                                        : PNG_ALL_FILTERS);
    png_write_info(png, sink->info);
    write_metadata(sink);
    const uint16_t one = 1;
    if (format.bits == 16 && *(const unsigned char *)&one)
        png_set_swap(png);
}

static void write_rows(struct png_sink *sink)
{
    for (; sink->rows; sink->rows--, sink->src += sink->pitch)
        png_write_row(sink->png, sink->src);
}

static void finish(struct png_sink *sink)
{
    png_write_end(sink->png, NULL);
}

/* ---- the sink ---- */

static enum gf_status png_write(struct gf_sink *base, int rows, const unsigned char *src,
                                size_t pitch, struct gf_error *error)
{
    struct png_sink *const sink = (struct png_sink *)base;
    sink->src = src;
    sink->pitch = pitch;
    sink->rows = rows;
    return attempt(sink, write_rows, error);
}

static enum gf_status png_finish(struct gf_sink *base, struct gf_error *error)
{
    return attempt((struct png_sink *)base, finish, error);
}

static void png_close(struct gf_sink *base)
{
    struct png_sink *const sink = (struct png_sink *)base;
    png_destroy_write_struct(&sink->png, &sink->info);
    free(sink->packed);
    free(sink);
}

enum gf_status gf_png_sink_open(struct gf_output *output, struct gf_format format,
                                const struct gf_metadata *metadata,
                                const struct gf_options *options, struct gf_sink **sink,
                                struct gf_error *error)
{
    struct png_sink *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    opened->base = (struct gf_sink){png_write, png_finish, png_close};
    opened->output = output;
    opened->format = format;
    opened->metadata = metadata;
    opened->level = options->png_level;
    const enum gf_status status = attempt(opened, start, error);
    opened->metadata = NULL;
    if (status) {
        png_close(&opened->base);
        return status;
    }
    *sink = &opened->base;
    return GF_OK;
}
