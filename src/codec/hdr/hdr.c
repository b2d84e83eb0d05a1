/* Reads and writes Radiance HDR: the mantissas of red, green and blue with a common exponent, 32
 * bits a pixel. (Greg Ward, "Real Pixels", Graphics Gems II, and Radiance's file formats) */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text/plain_text.h"
#include "codec/common/byte_reader.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/opening.h"
#include "icc/icc.h"

enum {
    LINE_MOST = 2048,       /* the longest line of a header */
    HEADER_MOST = 64 << 10, /* the most bytes of a header */
    RUNS_LEAST = 8,         /* rows of fewer or more pixels have no runs of each component */
    RUNS_MOST = 32767,
    RUN_LEAST = 4, /* shorter runs are not written */
    RUN_MOST = 127,
    PLAIN_MOST = 128,
    BIAS = 128 + 8 /* the value is mantissa 2^(exponent - BIAS) */
};

/* ---- reading ---- */

struct hdr_source {
    struct gf_source base;
    size_t header;       /* bytes of the header so far */
    float scale[256];    /* what a mantissa is multiplied by, for each exponent */
    unsigned char *line; /* a row: all reds, all greens, all blues, all exponents */
    struct gf_byte_reader reader;
};

static enum gf_status fail_damaged(const struct hdr_source *hdr)
{
    return gf_fail(hdr->reader.error, GF_ERROR_INPUT, "%s: damaged: a run in row %d",
                   gf_input_name(hdr->reader.input), hdr->reader.row + 1);
}

/* Reads a component of a row: runs, which begin with 128 plus their length, and plain bytes. */
static enum gf_status read_component(struct hdr_source *hdr, unsigned char *to)
{
    const int width = hdr->base.format.width;
    for (int x = 0; x < width;) {
        const int code = gf_byte_next(&hdr->reader),
                  n = code > PLAIN_MOST ? code - PLAIN_MOST : code;
        int byte = code > PLAIN_MOST ? gf_byte_next(&hdr->reader) : 0;
        if (code == GF_NO_BYTE || byte == GF_NO_BYTE)
            return gf_byte_fail_short(&hdr->reader);
        if (!n || n > width - x)
            return fail_damaged(hdr);
        for (const int stop = x + n; x < stop; x++) {
            if (code <= PLAIN_MOST && (byte = gf_byte_next(&hdr->reader)) == GF_NO_BYTE)
                return gf_byte_fail_short(&hdr->reader);
            to[x] = (unsigned char)byte;
        }
    }
    return GF_OK;
}

/* Reads a row of pixels, of which the first is `four`. A pixel 1, 1, 1, n repeats the one before n
 * times; n of several of them in a row are the digits of one number, the lowest first. */
static enum gf_status read_pixels(struct hdr_source *hdr, unsigned char four[4])
{
    const int width = hdr->base.format.width;
    int64_t unit = 1;
    for (int x = 0; x < width;) {
        const bool is_run = four[0] == 1 && four[1] == 1 && four[2] == 1;
        const int64_t n = is_run ? four[3] * unit : 1;
        if (n > width - x || (is_run && (!x || unit > width)))
            return fail_damaged(hdr);
        unit = is_run ? unit * 256 : 1;
        for (const int stop = x + (int)n; x < stop; x++) {
            for (int c = 0; c < 4; c++) {
                unsigned char *const plane = hdr->line + (size_t)c * (size_t)width;
                plane[x] = is_run ? plane[x - 1] : four[c];
            }
        }
        if (x < width && !gf_byte_take(&hdr->reader, four, 4))
            return gf_byte_fail_short(&hdr->reader);
    }
    return GF_OK;
}

static enum gf_status read_row(struct hdr_source *hdr, float *to)
{
    const int width = hdr->base.format.width;
    const unsigned char *const line = hdr->line;
    const size_t next = (size_t)width;
    unsigned char four[4];
    if (!gf_byte_take(&hdr->reader, four, 4))
        return gf_byte_fail_short(&hdr->reader);
    const bool has_runs =
        width >= RUNS_LEAST && width <= RUNS_MOST && four[0] == 2 && four[1] == 2 && four[2] < 128;
    if (!has_runs)
        GF_TRY(read_pixels(hdr, four));
    else if (four[2] * 256 + four[3] != width)
        return fail_damaged(hdr);
    for (int c = 0; c < 4 && has_runs; c++)
        GF_TRY(read_component(hdr, hdr->line + (size_t)c * next));
    for (size_t x = 0; x < next; x++) {
        const float scale = hdr->scale[line[x + 3 * next]];
        for (size_t c = 0; c < 3; c++)
            to[3 * x + c] = (float)line[x + c * next] * scale;
    }
    return GF_OK;
}

static enum gf_status hdr_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                               struct gf_error *error)
{
    struct hdr_source *const hdr = (struct hdr_source *)base;
    hdr->reader.error = error;
    for (int y = 0; y < rows; y++, hdr->reader.row++)
        GF_TRY(read_row(hdr, (float *)(void *)(dst + (size_t)y * pitch)));
    return GF_OK;
}

static void hdr_source_close(struct gf_source *base)
{
    gf_metadata_free(&base->metadata);
    free(((struct hdr_source *)base)->line);
    free(base);
}

/* Reads a line of the header without its end. */
static enum gf_status read_line(struct hdr_source *hdr, char line[LINE_MOST])
{
    int byte, length = 0;
    while ((byte = gf_byte_next(&hdr->reader)) != '\n') {
        if (byte == GF_NO_BYTE)
            return gf_byte_fail_short(&hdr->reader);
        if (++hdr->header > HEADER_MOST || length == LINE_MOST - 1)
            return gf_fail(hdr->reader.error, GF_ERROR_INPUT, "%s: damaged: its header",
                           gf_input_name(hdr->reader.input));
        line[length++] = (char)byte;
    }
    line[length] = '\0';
    return GF_OK;
}

/* Reads `count` numbers with blanks between them. */
static bool read_numbers(const char *text, int count, double *number)
{
    for (int i = 0; i < count; i++) {
        text += strspn(text, " \t");
        if (!gf_value_number(text, &number[i], &text))
            return false;
    }
    return true;
}

/* Reads "-Y 480 +X 640": the axis along which rows follow each other, and that along a row. */
static bool read_size(const char *line, double size[2], int *orientation)
{
    static const char axes[] = "-Y+X -Y-X +Y-X +Y+X +X-Y -X-Y -X+Y +X+Y"; /* EXIF's 1 to 8 */
    const char *const second = strlen(line) > 3 ? strpbrk(line + 2, "+-") : NULL;
    if (!second || !read_numbers(line + 2, 1, &size[0]) ||
        !read_numbers(second + 1 + (second[1] != '\0'), 1, &size[1]))
        return false;
    const char order[] = {line[0], line[1], second[0], second[1], '\0'};
    const char *const at = strlen(order) == 4 ? strstr(axes, order) : NULL;
    *orientation = at ? (int)(at - axes) / 5 + 1 : 0;
    return at && (at - axes) % 5 == 0 && size[0] == floor(size[0]) && size[1] == floor(size[1]);
}

/* Reads a line of the header's variables; exposures of several lines are factors. */
static enum gf_status take_variable(struct hdr_source *hdr, const struct gf_options *options,
                                    const char *line, double *exposure)
{
    double xy[8], factor;
    const char *const name = gf_input_name(hdr->reader.input);
    if (!strncmp(line, "FORMAT=", 7) && strncmp(line + 7, "32-bit_rle_rgbe", 15) != 0)
        return gf_fail(hdr->reader.error, GF_ERROR_INPUT,
                       "%s: is of %.40s; 32-bit_rle_rgbe alone is read", name, line + 7);
    if (!strncmp(line, "EXPOSURE=", 9) && read_numbers(line + 9, 1, &factor))
        *exposure *= factor;
    if (!strncmp(line, "PRIMARIES=", 10) && read_numbers(line + 10, 8, xy)) {
        float white_first[8];
        for (int i = 0; i < 8; i++)
            white_first[i] = (float)xy[(i + 6) % 8];
        if (!gf_colour_tags_set_linear(&hdr->base.metadata.colour, white_first, false))
            gf_warn(options, "%s: no profile can say its primaries: they count as BT.709's", name);
    }
    return GF_OK;
}

static enum gf_status read_header(struct hdr_source *hdr, const struct gf_options *options)
{
    char line[LINE_MOST];
    const char *const name = gf_input_name(hdr->reader.input);
    double exposure = 1, size[2];
    const double most = 1 << 30;
    int orientation;
    gf_colour_tags_set_linear(&hdr->base.metadata.colour, NULL, false);
    do {
        GF_TRY(read_line(hdr, line));
        GF_TRY(take_variable(hdr, options, line, &exposure));
    } while (*line);
    GF_TRY(read_line(hdr, line));
    if (!read_size(line, size, &orientation))
        return gf_fail(hdr->reader.error, GF_ERROR_INPUT, "%s: damaged: its header", name);
    GF_TRY(gf_size_check(name, (uint64_t)fmin(fmax(size[1], 0), most),
                         (uint64_t)fmin(fmax(size[0], 0), most), options, hdr->reader.error));
    if (exposure != 1)
        gf_warn(options, "%s: its exposure of %g is not undone", name, exposure);
    hdr->base.metadata.orientation = orientation;
    hdr->base.format = (struct gf_format){(int)size[1], (int)size[0], 3, 32, GF_SAMPLES_FLOAT};
    hdr->reader.rows = (int)size[0];
    hdr->base.stored = (struct gf_stored){.bits = 32, .is_float = true, .is_lossless = true};
    hdr->line = malloc(4 * (size_t)size[1]);
    return hdr->line ? GF_OK : gf_fail_memory(hdr->reader.error);
}

enum gf_status gf_hdr_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error)
{
    struct hdr_source *const hdr = malloc(sizeof *hdr);
    GF_ALLOCATED(hdr, error);
    memset(hdr, 0, offsetof(struct hdr_source, reader.buffer));
    hdr->base = (struct gf_source){
        .metadata = {.orientation = 1}, .read = hdr_read, .close = hdr_source_close};
    hdr->reader.input = input;
    hdr->reader.error = error;
    for (int i = 1; i < 256; i++)
        hdr->scale[i] = ldexpf(1, i - BIAS);
    GF_OPENED(read_header(hdr, options), hdr_source_close, &hdr->base, source);
}

/* ---- writing ---- */

struct hdr_sink {
    struct gf_sink base;
    struct gf_output *output;
    struct gf_options options; /* a copy: the order's are gone when the rows come */
    struct gf_format format;   /* the format of the rows that write() gets */
    uint64_t beyond;           /* samples that no mantissa can say */
    unsigned char *line;       /* a row, as in struct hdr_source */
    unsigned char *coded;
};

/* Returns v within what the file can say, and counts it if it is beyond. NaN becomes 0. */
static float limited(struct hdr_sink *hdr, float v)
{
    const float most = 0x1.fep126f, low = v > 0 ? v : 0, within = low < most ? low : most;
    hdr->beyond += within != v;
    return within;
}

/* Makes the four bytes of a pixel, which are `next` bytes apart. The largest sample gets a mantissa
 * of 128 to 255, unless its exponent would be below 1; mantissas are rounded to the nearest, to
 * even ones between two. */
static void put_pixel(float r, float g, float b, unsigned char *to, size_t next)
{
    const float largest = fmaxf(r, fmaxf(g, b));
    int exponent;
    frexpf(largest, &exponent);
    exponent += rintf(ldexpf(largest, 8 - exponent)) > 255;
    exponent = exponent > -128 ? exponent : -127;
    const float rgb[3] = {r, g, b};
    for (size_t c = 0; c < 3; c++)
        to[c * next] = (unsigned char)rintf(ldexpf(rgb[c], 8 - exponent));
    to[3 * next] = largest > 0 ? (unsigned char)(exponent + 128) : 0;
}

/* Codes a component of a row as runs and plain bytes. Returns where they end. */
static unsigned char *put_component(const unsigned char *from, int width, unsigned char *to)
{
    unsigned char *plain = NULL; /* the number of the plain bytes that end at `to` */
    for (int x = 0, n; x < width; x += n) {
        for (n = 1; x + n < width && n < RUN_MOST && from[x + n] == from[x];)
            n++;
        if (n >= RUN_LEAST) {
            plain = NULL;
            *to++ = (unsigned char)(PLAIN_MOST + n);
            *to++ = from[x];
            continue;
        }
        n = 1;
        if (!plain || *plain == PLAIN_MOST) {
            plain = to++;
            *plain = 0;
        }
        ++*plain;
        *to++ = from[x];
    }
    return to;
}

static enum gf_status write_row(struct hdr_sink *hdr, const float *row, struct gf_error *error)
{
    const int width = hdr->format.width, channels = hdr->format.channels;
    const size_t next = (size_t)width;
    unsigned char *const line = hdr->line, *to = hdr->coded;
    for (int x = 0; x < width; x++, row += channels) {
        const float red = limited(hdr, row[0]), green = channels > 2 ? limited(hdr, row[1]) : red,
                    blue = channels > 2 ? limited(hdr, row[2]) : red;
        put_pixel(red, green, blue, line + x, next);
    }
    if (width < RUNS_LEAST || width > RUNS_MOST) {
        for (size_t x = 0; x < next; x++) {
            /* The gray of 2^-135 would be read as a run: it becomes black. */
            const bool is_run = line[x] == 1 && line[x + next] == 1 && line[x + 2 * next] == 1;
            for (size_t c = 0; c < 4; c++)
                *to++ = is_run ? 0 : line[x + c * next];
        }
    } else {
        const unsigned char begin[4] = {2, 2, (unsigned char)(width >> 8), (unsigned char)width};
        memcpy(to, begin, 4);
        to += 4;
        for (size_t c = 0; c < 4; c++)
            to = put_component(line + c * next, width, to);
    }
    return gf_output_write(hdr->output, hdr->coded, (size_t)(to - hdr->coded), error);
}

static enum gf_status hdr_write(struct gf_sink *base, int rows, const unsigned char *src,
                                size_t pitch, struct gf_error *error)
{
    struct hdr_sink *const hdr = (struct hdr_sink *)base;
    for (int y = 0; y < rows; y++)
        GF_TRY(write_row(hdr, (const float *)(const void *)(src + (size_t)y * pitch), error));
    return GF_OK;
}

static enum gf_status hdr_finish(struct gf_sink *base, struct gf_error *error)
{
    const struct hdr_sink *const hdr = (struct hdr_sink *)base;
    if (hdr->beyond)
        gf_warn(&hdr->options, "%s: %llu samples were NaN, negative or too large, and are clamped",
                gf_output_name(hdr->output), (unsigned long long)hdr->beyond);
    return GF_OK;
}

static void hdr_sink_close(struct gf_sink *base)
{
    struct hdr_sink *const hdr = (struct hdr_sink *)base;
    free(hdr->line);
    free(hdr->coded);
    free(hdr);
}

static enum gf_status write_header(const struct hdr_sink *hdr, const struct gf_sink_order *order,
                                   struct gf_error *error)
{
    struct gf_icc_space space = gf_icc_srgb;
    char header[400], primaries[240] = "";
    const struct gf_metadata *const metadata = order->metadata;
    if (metadata && gf_metadata_find_linear(metadata, &space))
        snprintf(primaries, sizeof primaries, "PRIMARIES=%.5f %.5f %.5f %.5f %.5f %.5f %.5f %.5f\n",
                 space.red[0], space.red[1], space.green[0], space.green[1], space.blue[0],
                 space.blue[1], space.white[0], space.white[1]);
    else if (metadata && (metadata->bits || metadata->icc.size))
        gf_warn(&hdr->options,
                "%s: Radiance HDR means linear light, and nothing says that the samples are linear",
                gf_output_name(hdr->output));
    if (gf_has_alpha(hdr->format))
        gf_warn(&hdr->options, "%s: it has no alpha channel: it is left out",
                gf_output_name(hdr->output));
    const int length =
        snprintf(header, sizeof header, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n%s\n-Y %d +X %d\n",
                 primaries, hdr->format.height, hdr->format.width);
    return gf_output_write(hdr->output, header, (size_t)length, error);
}

enum gf_status gf_hdr_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    GF_NEW(struct hdr_sink, hdr, error);
    const size_t width = (size_t)order->format.width;
    hdr->base = (struct gf_sink){.write = hdr_write, .finish = hdr_finish, .close = hdr_sink_close};
    hdr->output = order->output;
    hdr->options = *order->options;
    hdr->format = order->format;
    hdr->line = malloc(4 * width);
    hdr->coded = malloc(8 * width + 4);
    const enum gf_status status =
        hdr->line && hdr->coded ? write_header(hdr, order, error) : gf_fail_memory(error);
    GF_OPENED(status, hdr_sink_close, &hdr->base, sink);
}
