/* Writes BMP: gray of 8 bits with a palette, RGB of 24 bits, and alpha in 32 bits with the header
 * of version 4. Rows go upwards, as all programs read them. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/bmp/bmp.h"
#include "codec/common/opening.h"
#include "codec/common/whole_sink.h"

enum { GRAYS = 256, HEADERS_MOST = GF_BMP_FILE_HEADER + GF_BMP_INFO + 4 * GRAYS };

static void put16(unsigned char *to, uint32_t value)
{
    to[0] = (unsigned char)value;
    to[1] = (unsigned char)(value >> 8);
}

static void put32(unsigned char *to, uint32_t value)
{
    put16(to, value);
    put16(to + 2, value >> 16);
}

static uint32_t density_of(double density)
{
    return density > 0 && density < INT_MAX ? (uint32_t)nearbyint(density) : 0;
}

/* Makes all that comes before the rows. Returns its size. */
static size_t make_headers(const struct gf_whole_sink *sink, unsigned char *file)
{
    static const uint32_t masks[4] = {0xff0000, 0xff00, 0xff, 0xff000000};
    const struct gf_format format = sink->format;
    unsigned char *const header = file + GF_BMP_FILE_HEADER;
    const size_t size = format.channels == 4 ? GF_BMP_V4 : GF_BMP_INFO,
                 palette = format.channels == 1 ? 4 * GRAYS : 0;
    const size_t begin = GF_BMP_FILE_HEADER + size + palette;
    const uint64_t rows =
        gf_bmp_stride(format.width, 8 * format.channels) * (uint64_t)format.height;
    memset(file, 0, HEADERS_MOST);
    memcpy(file, "BM", 2);
    put32(file + 2, (uint32_t)(begin + rows));
    put32(file + 10, (uint32_t)begin);
    put32(header, (uint32_t)size);
    put32(header + 4, (uint32_t)format.width);
    put32(header + 8, (uint32_t)format.height);
    put16(header + 12, 1);
    put16(header + 14, (uint32_t)(8 * format.channels));
    put32(header + 16, format.channels == 4 ? GF_BMP_MASKS : GF_BMP_PLAIN);
    put32(header + 20, (uint32_t)rows);
    put32(header + GF_BMP_AT_DENSITY, density_of(sink->metadata.density_x));
    put32(header + GF_BMP_AT_DENSITY + 4, density_of(sink->metadata.density_y));
    for (int i = 0; format.channels == 4 && i < 4; i++)
        put32(header + GF_BMP_AT_MASKS + 4 * i, masks[i]);
    if (format.channels == 4)
        put32(header + GF_BMP_AT_COLOURS, GF_BMP_SRGB);
    for (uint32_t i = 0; palette && i < GRAYS; i++)
        put32(header + size + 4 * i, i << 16 | i << 8 | i);
    return begin;
}

static void reverse_colours(const unsigned char *from, unsigned char *to, struct gf_format format)
{
    const size_t channels = (size_t)format.channels;
    if (channels == 1)
        memcpy(to, from, (size_t)format.width);
    for (size_t x = 0; channels > 1 && x < (size_t)format.width;
         x++, from += channels, to += channels) {
        const unsigned char red = from[0], green = from[1], blue = from[2];
        if (channels == 4)
            to[3] = from[3];
        to[0] = blue;
        to[1] = green;
        to[2] = red;
    }
}

static enum gf_status encode(struct gf_whole_sink *sink, struct gf_error *error)
{
    const struct gf_format format = sink->format;
    const size_t stride = (size_t)gf_bmp_stride(format.width, 8 * format.channels);
    unsigned char headers[HEADERS_MOST];
    unsigned char *const row = calloc(1, stride);
    if (!row)
        return gf_fail_memory(error);
    enum gf_status status =
        gf_output_write(sink->output, headers, make_headers(sink, headers), error);
    for (int y = format.height - 1; y >= 0 && !status; y--) {
        reverse_colours(sink->pixels + (size_t)y * gf_row_bytes(format), row, format);
        status = gf_output_write(sink->output, row, stride, error);
    }
    free(row);
    return status;
}

/* Gray with alpha becomes RGBA. */
static struct gf_format in_file(struct gf_format format)
{
    format.bits = 8;
    format.channels = format.channels == 2 ? 4 : format.channels;
    return format;
}

struct gf_codec_memory gf_bmp_sink_memory(struct gf_format format, const struct gf_options *options)
{
    return gf_whole_sink_memory(in_file(format), 0);
}

enum gf_status gf_bmp_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    const struct gf_format format = order->format;
    static const struct gf_whole_encoder encoder = {
        .name = "BMP", .side_most = INT_MAX, .encode = encode};
    const struct gf_format written = in_file(format);
    const uint64_t rows =
        gf_bmp_stride(format.width, 8 * written.channels) * (uint64_t)format.height;
    if (rows > UINT32_MAX - HEADERS_MOST)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: %dx%d is too large for BMP, which ends at 4 GiB",
                       gf_output_name(order->output), format.width, format.height);
    return gf_whole_sink_open(&encoder, order, written, sink, error);
}
