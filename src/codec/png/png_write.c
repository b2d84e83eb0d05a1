/* Writes PNG files: gray and RGB, with and without alpha, of 8 and 16 bits. The chunks before and
 * behind the pixels are made here, those of the pixels by png_stripes.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/io/output.h"
#include "codec/png/png.h"
#include "codec/png/png_chunk.h"
#include "codec/png/png_raw_profile.h"
#include "codec/png/png_stripes.h"

struct png_sink {
    struct gf_sink base;
    struct gf_output *output;
    struct gf_png_stripes *stripes;
};

static enum gf_status write_header(struct gf_output *output, struct gf_format format,
                                   struct gf_error *error)
{
    static const unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const unsigned char colour_types[] = {0, 4, 2, 6}; /* by the number of channels */
    unsigned char header[13] = {
        [8] = (unsigned char)format.bits, [9] = colour_types[format.channels - 1]};
    gf_png_put_be32(header, (uint32_t)format.width);
    gf_png_put_be32(header + 4, (uint32_t)format.height);
    const enum gf_status status = gf_output_write(output, signature, sizeof signature, error);
    return status ? status : gf_png_chunk_write(output, "IHDR", header, sizeof header, error);
}

/* ---- metadata ---- */

/* Writes a chunk of a head and the blob, unless they are too long for one. */
static enum gf_status write_headed(struct gf_output *output, const char *type, const void *head,
                                   size_t head_size, const struct gf_blob *blob,
                                   struct gf_error *error)
{
    if (blob->size > GF_PNG_CHUNK_LONGEST - head_size)
        return GF_OK;
    unsigned char *const data = malloc(head_size + blob->size);
    if (!data)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    memcpy(data, head, head_size);
    memcpy(data + head_size, blob->data, blob->size);
    const enum gf_status status =
        gf_png_chunk_write(output, type, data, head_size + blob->size, error);
    free(data);
    return status;
}

static enum gf_status write_packed(struct gf_output *output, const char *type, const void *head,
                                   size_t head_size, const struct gf_blob *blob,
                                   struct gf_error *error)
{
    uLongf size = compressBound((uLong)blob->size);
    struct gf_blob packed = {.data = malloc(size)};
    enum gf_status status = GF_OK;
    if (!packed.data || compress(packed.data, &size, blob->data, (uLong)blob->size) != Z_OK)
        status = gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    packed.size = size;
    if (!status)
        status = write_headed(output, type, head, head_size, &packed, error);
    free(packed.data);
    return status;
}

/* In a form that ImageMagick and exiftool read: PNG has no chunk of its own for IPTC. */
static enum gf_status write_iptc(struct gf_output *output, const struct gf_blob *iptc,
                                 struct gf_error *error)
{
    static const char head[] = GF_PNG_RAW_PROFILE "iptc\0"; /* the keyword, its zero, method 0 */
    struct gf_blob text;
    if (!gf_png_make_raw_profile("iptc", iptc, &text))
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    const enum gf_status status = write_packed(output, "zTXt", head, sizeof head, &text, error);
    free(text.data);
    return status;
}

static enum gf_status write_density(struct gf_output *output, const struct gf_metadata *metadata,
                                    struct gf_error *error)
{
    const double x = nearbyint(metadata->density_x), y = nearbyint(metadata->density_y);
    if (!(x >= 1 && y >= 1 && x <= GF_PNG_CHUNK_LONGEST && y <= GF_PNG_CHUNK_LONGEST))
        return GF_OK;
    unsigned char chunk[9] = {[8] = 1}; /* the unit is the metre */
    gf_png_put_be32(chunk, (uint32_t)x);
    gf_png_put_be32(chunk + 4, (uint32_t)y);
    return gf_png_chunk_write(output, "pHYs", chunk, sizeof chunk, error);
}

static enum gf_status write_metadata(struct gf_output *output, const struct gf_metadata *metadata,
                                     struct gf_error *error)
{
    static const char icc_head[] = "ICC profile\0"; /* the name, its zero and method 0 */
    /* The keyword, "not packed", method, language and translated keyword, each with its zero. */
    static const char xmp_head[] = "XML:com.adobe.xmp\0\0\0\0";
    enum gf_status status = GF_OK;
    if (metadata->icc.size)
        status = write_packed(output, "iCCP", icc_head, sizeof icc_head, &metadata->icc, error);
    if (!status)
        status = write_density(output, metadata, error);
    if (!status && metadata->exif.size && metadata->exif.size < GF_PNG_CHUNK_LONGEST)
        status =
            gf_png_chunk_write(output, "eXIf", metadata->exif.data, metadata->exif.size, error);
    if (!status && metadata->xmp.size)
        status = write_headed(output, "iTXt", xmp_head, sizeof xmp_head, &metadata->xmp, error);
    if (!status && metadata->iptc.size)
        status = write_iptc(output, &metadata->iptc, error);
    return status;
}

/* ---- the sink ---- */

static enum gf_status png_write(struct gf_sink *base, int rows, const unsigned char *src,
                                size_t pitch, struct gf_error *error)
{
    return gf_png_stripes_write(((struct png_sink *)base)->stripes, rows, src, pitch, error);
}

static enum gf_status png_finish(struct gf_sink *base, struct gf_error *error)
{
    struct png_sink *const sink = (struct png_sink *)base;
    const enum gf_status status = gf_png_stripes_finish(sink->stripes, error);
    return status ? status : gf_png_chunk_write(sink->output, "IEND", NULL, 0, error);
}

static void png_close(struct gf_sink *base)
{
    struct png_sink *const sink = (struct png_sink *)base;
    gf_png_stripes_close(sink->stripes);
    free(sink);
}

struct gf_codec_memory gf_png_sink_memory(struct gf_format format, const struct gf_options *options)
{
    enum { USUAL_BYTES = 8 << 20 };
    const uint64_t bytes = gf_png_stripes_memory(format, options);
    return (struct gf_codec_memory){bytes > USUAL_BYTES ? bytes : 0,
                                    "several of its long rows are packed at once"};
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
    enum gf_status status = write_header(output, format, error);
    if (!status)
        status = write_metadata(output, metadata, error);
    if (!status)
        status = gf_png_stripes_open(output, format, options, &opened->stripes, error);
    if (status) {
        png_close(&opened->base);
        return status;
    }
    *sink = &opened->base;
    return GF_OK;
}
