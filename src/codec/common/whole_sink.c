#include "codec/common/whole_sink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/samples.h"

static enum gf_status whole_write(struct gf_sink *base, int rows, const unsigned char *src,
                                  size_t pitch, struct gf_error *error)
{
    struct gf_whole_sink *const sink = (struct gf_whole_sink *)base;
    const struct gf_format from = sink->rows, to = sink->format;
    const size_t width = (size_t)to.width, row_bytes = gf_row_bytes(to);
    for (int y = 0; y < rows; y++, sink->row++) {
        const unsigned char *const row = src + (size_t)y * pitch;
        unsigned char *const kept = sink->pixels + (size_t)sink->row * row_bytes;
        const size_t samples = width * (size_t)from.channels;
        /* The gray samples are stored at the row's end and then expanded from left to right, which
         * overwrites no sample before it is read. */
        unsigned char *const first = kept + (row_bytes - samples * (size_t)(to.bits / 8));
        if (from.bits > to.bits)
            gf_samples_narrow(row, first, samples);
        else
            memcpy(first, row, samples * (size_t)(to.bits / 8));
        if (from.channels != to.channels)
            gf_pixels_gray_to_rgb(first, kept, width, from.channels, to.bits);
    }
    return GF_OK;
}

static enum gf_status whole_finish(struct gf_sink *base, struct gf_error *error)
{
    struct gf_whole_sink *const sink = (struct gf_whole_sink *)base;
    if (!sink->animated)
        return sink->encoder->encode(sink, error);
    const struct gf_duration *const duration = base->duration;
    if (!sink->frames)
        sink->per_second = duration && duration->per_second ? duration->per_second : 1000;
    while (!sink->frames && sink->per_second < 1000) /* other frames may need finer units */
        sink->per_second *= 10;
    const enum gf_status status = sink->encoder->add(sink, error);
    sink->frames++;
    sink->row = 0;
    return status;
}

static enum gf_status whole_end(struct gf_sink *base, struct gf_error *error)
{
    struct gf_whole_sink *const sink = (struct gf_whole_sink *)base;
    return sink->encoder->end(sink, error);
}

static void whole_close(struct gf_sink *base)
{
    struct gf_whole_sink *const sink = (struct gf_whole_sink *)base;
    if (sink->animated)
        sink->encoder->release(sink);
    gf_metadata_free(&sink->metadata);
    free(sink->pixels);
    free(sink);
}

enum gf_status gf_whole_sink_open(const struct gf_whole_encoder *encoder,
                                  const struct gf_sink_order *order, struct gf_format in_file,
                                  struct gf_sink **sink, struct gf_error *error)
{
    const struct gf_format format = order->format;
    if (format.width > encoder->side_most || format.height > encoder->side_most)
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: %dx%d is too large for %s, whose sides end at %d",
                       gf_output_name(order->output), format.width, format.height, encoder->name,
                       encoder->side_most);
    struct gf_whole_sink *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail_memory(error);
    opened->base =
        (struct gf_sink){.write = whole_write, .finish = whole_finish, .close = whole_close};
    if (order->metadata && order->metadata->animated && encoder->add) {
        opened->base.end = whole_end;
        opened->animated = true;
        opened->loops = order->metadata->loops;
    }
    opened->output = order->output;
    opened->options = *order->options;
    opened->rows = format;
    opened->format = in_file;
    opened->encoder = encoder;
    opened->pixels = malloc(gf_row_bytes(in_file) * (size_t)in_file.height);
    /* Metadata is chosen when the sink opens. Choosing again later, from a copy of the chosen
     * metadata, would lose more. */
    const enum gf_status status =
        opened->pixels ? gf_metadata_for_output(order->metadata, in_file, GF_TAGS_ALL,
                                                order->options, &opened->metadata, error)
                       : gf_fail_memory(error);
    if (status) {
        whole_close(&opened->base);
        return status;
    }
    *sink = &opened->base;
    return GF_OK;
}

struct gf_codec_memory gf_whole_sink_memory(struct gf_format in_file, double library_bytes)
{
    const double pixels = (double)in_file.width * in_file.height;
    return (struct gf_codec_memory){
        (uint64_t)(pixels * (in_file.channels * in_file.bits / 8 + library_bytes)),
        "it is encoded as a whole"};
}

uint32_t gf_whole_sink_ticks(struct gf_whole_sink *sink, uint32_t per_second)
{
    const struct gf_duration *const duration = sink->base.duration;
    const double begin = sink->shown;
    if (duration && duration->per_second)
        sink->shown += (double)duration->count / duration->per_second;
    const double ticks = floor(sink->shown * per_second + 0.5) - floor(begin * per_second + 0.5);
    return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

enum gf_status gf_whole_sink_check(const struct gf_whole_sink *sink, uint64_t coded,
                                   struct gf_error *error)
{
    const struct gf_options *const options = &sink->options;
    return options->memory_bytes
               ? gf_memory_check(gf_output_name(sink->output),
                                 "the frames of an animation are held until its end", coded,
                                 options->memory_bytes, options, error)
               : GF_OK;
}
