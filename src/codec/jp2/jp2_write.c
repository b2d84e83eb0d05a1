#include "codec/jp2/jp2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"
#include "codec/common/rows/whole_picture.h"

/* ---- the codestream ---- */

static enum gf_status fail(const struct gf_whole_sink *sink, const struct gf_jp2_stream *stream,
                           struct gf_error *error)
{
    if (stream->out_of_memory)
        return gf_fail_memory(error);
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: OpenJPEG: %s", gf_output_name(sink->output),
                   *stream->why ? stream->why : "the picture cannot be encoded");
}

/* Sets the encoder's parameters. The quality becomes the PSNR that OpenJPEG aims at: 30 dB plus
 * 0.15 dB for each step of the quality. */
static void configure(const struct gf_whole_sink *sink, opj_cparameters_t *parameters)
{
    enum { LEVELS_MAX = 6 };
    const struct gf_format format = sink->format;
    const int least = format.width < format.height ? format.width : format.height;
    gf_jp2.opj_set_default_encoder_parameters(parameters);
    parameters->numresolution = 1;
    while (parameters->numresolution < LEVELS_MAX && least >> parameters->numresolution)
        parameters->numresolution++;
    parameters->tcp_numlayers = 1;
    parameters->tcp_mct = gf_colour_channels(format) == 3;
    parameters->irreversible = !sink->options.lossless;
    parameters->cp_disto_alloc = sink->options.lossless;
    parameters->cp_fixed_quality = !sink->options.lossless;
    parameters->tcp_distoratio[0] = 30 + 0.15f * (float)sink->options.quality;
}

/* Copies the pixels to OpenJPEG's planes, and frees sink->pixels. Returns NULL when out of
 * memory. */
static opj_image_t *make_image(struct gf_whole_sink *sink)
{
    const struct gf_format format = sink->format;
    const size_t count = (size_t)format.width * (size_t)format.height;
    opj_image_cmptparm_t planes[GF_JP2_CHANNELS_MAX] = {{0}};
    for (int c = 0; c < format.channels; c++)
        planes[c] = (opj_image_cmptparm_t){.dx = 1,
                                           .dy = 1,
                                           .w = (OPJ_UINT32)format.width,
                                           .h = (OPJ_UINT32)format.height,
                                           .prec = (OPJ_UINT32)sink->options.depth};
    opj_image_t *const image = gf_jp2.opj_image_create(
        (OPJ_UINT32)format.channels, planes,
        gf_colour_channels(format) == 3 ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_GRAY);
    if (!image)
        return NULL;
    image->x1 = (OPJ_UINT32)format.width;
    image->y1 = (OPJ_UINT32)format.height;
    if (sink->options.depth > 8)
        gf_samples_to_depth(sink->pixels, sink->pixels, count * (size_t)format.channels,
                            sink->options.depth);
    for (int c = 0; c < format.channels; c++) {
        const unsigned char *const narrow = sink->pixels;
        const uint16_t *const wide = (const void *)sink->pixels;
        OPJ_INT32 *const to = image->comps[c].data;
        for (size_t i = 0, at = (size_t)c; i < count; i++, at += (size_t)format.channels)
            to[i] = format.bits == 16 ? wide[at] : narrow[at];
    }
    free(sink->pixels);
    sink->pixels = NULL;
    return image;
}

static enum gf_status encode_image(const struct gf_whole_sink *sink, opj_image_t *image,
                                   struct gf_jp2_stream *stream, struct gf_error *error)
{
    opj_cparameters_t parameters;
    opj_codec_t *const codec = gf_jp2.opj_create_compress(OPJ_CODEC_J2K);
    opj_stream_t *const opened = gf_jp2_stream_open(stream, true);
    enum gf_status status = codec && opened ? GF_OK : gf_fail_memory(error);
    configure(sink, &parameters);
    if (!status) {
        gf_jp2_prepare(codec, stream, gf_library_threads(&sink->options));
        if (!gf_jp2.opj_setup_encoder(codec, &parameters, image) ||
            !gf_jp2.opj_start_compress(codec, image, opened) || !gf_jp2.opj_encode(codec, opened) ||
            !gf_jp2.opj_end_compress(codec, opened))
            status = fail(sink, stream, error);
    }
    if (opened)
        gf_jp2.opj_stream_destroy(opened);
    if (codec)
        gf_jp2.opj_destroy_codec(codec);
    return status ? status : gf_time_check(error);
}

/* ---- the boxes ---- */

unsigned char *gf_jp2_put_be(unsigned char *at, uint64_t value, int bytes)
{
    while (bytes)
        *at++ = (unsigned char)(value >> 8 * --bytes);
    return at;
}

static unsigned char *put_head(unsigned char *at, size_t size, const char *type)
{
    at = gf_jp2_put_be(at, size, 4);
    memcpy(at, type, 4);
    return at + 4;
}

/* Writes a density in pixels per metre as a fraction: whole dots per inch exactly, other densities
 * rounded to whole pixels per metre. */
static unsigned char *put_fraction(unsigned char *at, double density)
{
    enum { INCH = 254, POWER = 4, MOST = 65535 }; /* an inch is 254 / 10^4 metres */
    const double dots = density * INCH / 1e4;
    const bool is_dots = fabs(dots - round(dots)) < 1e-3 && dots >= 1 && dots <= MOST;
    const double whole = is_dots ? round(dots) : round(density);
    at = gf_jp2_put_be(at, (uint64_t)fmin(whole, MOST), 2);
    return gf_jp2_put_be(at, is_dots ? INCH : 1, 2);
}

static unsigned char *put_density(unsigned char *at, const struct gf_metadata *metadata)
{
    enum { OUTER = 26, INNER = 18, INCH = 254, POWER = 4 };
    if (metadata->density_x < 1 || metadata->density_y < 1)
        return at;
    at = put_head(put_head(at, OUTER, "res "), INNER, "resd");
    unsigned char *const begin = at;
    at = put_fraction(put_fraction(at, metadata->density_y), metadata->density_x);
    at = gf_jp2_put_be(at, gf_get_be(begin + 2, 2) == INCH ? POWER : 0, 1);
    return gf_jp2_put_be(at, gf_get_be(begin + 6, 2) == INCH ? POWER : 0, 1);
}

/* Writes the box colr and, if there is alpha, the box cdef, which says what each channel is. */
static unsigned char *put_colours(unsigned char *at, const struct gf_whole_sink *sink)
{
    enum { HEAD = 8, NUMBERED = 1, PROFILE = 2, COLOUR = 0, OPACITY = 1 };
    const struct gf_blob *const icc = &sink->metadata.icc;
    const int channels = sink->format.channels, colours = gf_colour_channels(sink->format);
    at = put_head(at, HEAD + 3 + (icc->size ? icc->size : 4), "colr");
    at = gf_jp2_put_be(at, icc->size ? PROFILE : NUMBERED, 1);
    at = gf_jp2_put_be(at, 0, 2);
    if (icc->size) {
        memcpy(at, icc->data, icc->size);
        at += icc->size;
    } else {
        at = gf_jp2_put_be(at, colours == 1 ? GF_JP2_GRAY : GF_JP2_SRGB, 4);
    }
    if (channels == colours)
        return at;
    at =
        gf_jp2_put_be(put_head(at, HEAD + 2 + 6 * (size_t)channels, "cdef"), (uint64_t)channels, 2);
    for (int c = 0; c < channels; c++) {
        at = gf_jp2_put_be(at, (uint64_t)c, 2);
        at = gf_jp2_put_be(at, c == colours ? OPACITY : COLOUR, 2);
        at = gf_jp2_put_be(at, c == colours ? 0 : (uint64_t)c + 1, 2);
    }
    return at;
}

static unsigned char *put_block(unsigned char *at, const char *uuid, const struct gf_blob *blob)
{
    enum { HEAD = 8 };
    if (!blob->size)
        return at;
    at = put_head(at, HEAD + GF_JP2_UUID_SIZE + blob->size, "uuid");
    memcpy(at, uuid, GF_JP2_UUID_SIZE);
    memcpy(at + GF_JP2_UUID_SIZE, blob->data, blob->size);
    return at + GF_JP2_UUID_SIZE + blob->size;
}

/* Writes all boxes before the codestream, and the head of its box. The box of the codestream is the
 * last, so that it needs no size. */
static unsigned char *put_boxes(unsigned char *at, const struct gf_whole_sink *sink)
{
    enum { SIGNATURE = 12, TYPE = 20, HEAD = 8, IMAGE = 22, COMPRESSION = 7 };
    const struct gf_format format = sink->format;
    const struct gf_metadata *const metadata = &sink->metadata;
    at = gf_jp2_put_be(put_head(at, SIGNATURE, "jP  "), 0x0d0a870a, 4);
    at = put_head(at, TYPE, "ftyp");
    memcpy(at, "jp2 \0\0\0\0jp2 ", TYPE - HEAD);
    at += TYPE - HEAD;
    unsigned char *const outer = at;
    at = gf_jp2_put_be(put_head(at + HEAD, IMAGE, "ihdr"), (uint64_t)format.height, 4);
    at = gf_jp2_put_be(at, (uint64_t)format.width, 4);
    at = gf_jp2_put_be(at, (uint64_t)format.channels, 2);
    at = gf_jp2_put_be(at, (uint64_t)sink->options.depth - 1, 1);
    at = gf_jp2_put_be(gf_jp2_put_be(at, COMPRESSION, 1), 0, 2);
    at = put_density(put_colours(at, sink), metadata);
    put_head(outer, (size_t)(at - outer), "jp2h");
    at = put_block(at, GF_JP2_UUID_EXIF, &metadata->exif);
    at = put_block(at, GF_JP2_UUID_XMP, &metadata->xmp);
    const struct gf_blob records = gf_iptc_records(&metadata->iptc);
    at = put_block(at, GF_JP2_UUID_IPTC, &records);
    return put_head(at, 0, "jp2c");
}

static enum gf_status jp2_encode(struct gf_whole_sink *sink, struct gf_error *error)
{
    enum { BOXES = 512 }; /* more bytes than the boxes take beside their metadata */
    const struct gf_metadata *const metadata = &sink->metadata;
    struct gf_jp2_stream stream = {.data = NULL};
    opj_image_t *const image = make_image(sink);
    unsigned char *const boxes = malloc(BOXES + metadata->icc.size + metadata->exif.size +
                                        metadata->xmp.size + metadata->iptc.size);
    enum gf_status status =
        image && boxes ? encode_image(sink, image, &stream, error) : gf_fail_memory(error);
    if (image)
        gf_jp2.opj_image_destroy(image);
    GF_THEN(status,
            gf_output_write(sink->output, boxes, (size_t)(put_boxes(boxes, sink) - boxes), error));
    GF_THEN(status, gf_output_write(sink->output, stream.data, stream.size, error));
    free(boxes);
    free(stream.data);
    return status;
}

struct gf_codec_memory gf_jp2_sink_memory(struct gf_format format, const struct gf_options *options)
{
    /* Bytes for each sample, measured with noise, which takes the most memory. */
    const double lossy_bytes = 9.5, lossless_bytes = format.bits == 16 ? 14.5 : 11;
    const double bytes = options->lossless ? lossless_bytes : lossy_bytes;
    const uint64_t THREAD_BYTES = 576 << 10; /* bytes for each further thread, measured */
    struct gf_codec_memory memory = gf_whole_sink_memory(format, bytes * format.channels);
    memory.bytes += (uint64_t)(gf_library_threads(options) - 1) * THREAD_BYTES;
    return memory;
}

enum gf_status gf_jp2_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    enum { SIDE_MAX = 1 << 28 };
    static const struct gf_whole_encoder encoder = {
        .name = "JPEG 2000", .side_most = SIDE_MAX, .encode = jp2_encode};
    return gf_whole_sink_open(&encoder, order, order->format, sink, error);
}
