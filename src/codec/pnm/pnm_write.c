/* Writes PNM (P5 and P6) and PAM (P7). */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"
#include "codec/common/rows/source.h"
#include "codec/io/output.h"

struct pnm_sink {
    struct gf_sink base;
    struct gf_output *output;
    struct gf_format format; /* the format of the rows that write() gets */
    int depth;
    bool drop_alpha;
    unsigned char *converted; /* one row, converted for the file; NULL: rows need no conversion */
};

static const void *convert(const struct pnm_sink *pnm, const unsigned char *row)
{
    const struct gf_format format = pnm->format;
    const size_t width = (size_t)format.width;
    size_t samples = width * (size_t)format.channels;
    const void *from = row;
    if (pnm->drop_alpha) {
        gf_pixels_drop_alpha(from, pnm->converted, width, format.channels, format.bits);
        from = pnm->converted;
        samples -= width;
    }
    if (pnm->depth > 8 && pnm->depth < 16) {
        gf_samples_to_depth(from, pnm->converted, samples, pnm->depth);
        from = pnm->converted;
    }
    if (format.bits == 16)
        gf_samples_big_endian(from, pnm->converted, samples);
    return pnm->converted;
}

static enum gf_status pnm_write(struct gf_sink *sink, int rows, const unsigned char *src,
                                size_t pitch, struct gf_error *error)
{
    struct pnm_sink *const pnm = (struct pnm_sink *)sink;
    struct gf_format written = pnm->format;
    written.channels -= pnm->drop_alpha;
    const size_t row_bytes = gf_row_bytes(written);
    if (!pnm->converted && pitch == row_bytes)
        return gf_output_write(pnm->output, src, row_bytes * (size_t)rows, error);
    for (int y = 0; y < rows; y++) {
        const unsigned char *const row = src + (size_t)y * pitch;
        GF_TRY(gf_output_write(pnm->output, pnm->converted ? convert(pnm, row) : row, row_bytes,
                               error));
    }
    return GF_OK;
}

static enum gf_status pnm_finish(struct gf_sink *sink, struct gf_error *error)
{
    return GF_OK;
}

static void pnm_close(struct gf_sink *sink)
{
    struct pnm_sink *const pnm = (struct pnm_sink *)sink;
    free(pnm->converted);
    free(pnm);
}

static enum gf_status write_header(const struct pnm_sink *pnm, enum gf_file_format file_format,
                                   struct gf_error *error)
{
    static const char *const tuple_types[] = {"GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"};
    const struct gf_format format = pnm->format;
    const int maxval = (1 << pnm->depth) - 1;
    char header[200];
    int length;
    if (file_format == GF_FILE_PAM)
        length = snprintf(header, sizeof header,
                          "P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n",
                          format.width, format.height, format.channels, maxval,
                          tuple_types[format.channels - 1]);
    else
        length =
            snprintf(header, sizeof header, "P%d\n%d %d\n%d\n",
                     gf_colour_channels(format) == 3 ? 6 : 5, format.width, format.height, maxval);
    return gf_output_write(pnm->output, header, (size_t)length, error);
}

static enum gf_status open_sink(const struct gf_sink_order *order, enum gf_file_format file_format,
                                struct gf_sink **sink, struct gf_error *error)
{
    const struct gf_format format = order->format;
    GF_NEW(struct pnm_sink, pnm, error);
    pnm->base = (struct gf_sink){.write = pnm_write, .finish = pnm_finish, .close = pnm_close};
    pnm->output = order->output;
    pnm->format = format;
    pnm->depth = order->options->depth;
    pnm->drop_alpha = file_format == GF_FILE_PNM && gf_has_alpha(format);
    enum gf_status status = GF_OK;
    if (pnm->drop_alpha || format.bits == 16) {
        pnm->converted = malloc(gf_row_bytes(format));
        if (!pnm->converted)
            status = gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    GF_THEN(status, write_header(pnm, file_format, error));
    if (status) {
        pnm_close(&pnm->base);
        return status;
    }
    if (pnm->drop_alpha)
        gf_warn(order->options, "%s: PNM has no alpha channel: it is left out",
                gf_output_name(order->output));
    struct gf_format written = format;
    written.channels -= pnm->drop_alpha;
    gf_output_expect(order->output, (int64_t)gf_row_bytes(written) * format.height,
                     gf_codec_threads(order->options));
    *sink = &pnm->base;
    return GF_OK;
}

enum gf_status gf_pnm_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    return open_sink(order, GF_FILE_PNM, sink, error);
}

enum gf_status gf_pam_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    return open_sink(order, GF_FILE_PAM, sink, error);
}
