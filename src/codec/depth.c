#include "codec/depth.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "codec/common/samples.h"

int gf_depth_next(const struct gf_file_type *type, int above)
{
    char *next;
    for (const char *at = type->depths; at && *at; at = next) {
        const int depth = (int)strtol(at, &next, 10);
        if (depth > above)
            return depth;
    }
    return 0;
}

void gf_depths_text(const struct gf_file_type *type, char text[GF_DEPTHS_TEXT_SIZE])
{
    size_t length = 0;
    snprintf(text, GF_DEPTHS_TEXT_SIZE, "%s", type->depths ? "" : "its input's");
    for (int depth = 0; (depth = gf_depth_next(type, depth)) && length < GF_DEPTHS_TEXT_SIZE;)
        length += (size_t)snprintf(text + length, GF_DEPTHS_TEXT_SIZE - length, "%s%d",
                                   !length                      ? ""
                                   : gf_depth_next(type, depth) ? ", "
                                                                : " or ",
                                   depth);
}

enum gf_status gf_depth_check(const struct gf_file_type *type, const char *name,
                              const struct gf_options *options, struct gf_error *error)
{
    char text[GF_DEPTHS_TEXT_SIZE];
    const int depth = options->depth;
    if (depth <= 0 || gf_depth_next(type, depth - 1) == depth)
        return GF_OK;
    gf_depths_text(type, text);
    return gf_fail(error, GF_ERROR_USAGE, "%s: options.depth=%d: a sample of %s has %s bits", name,
                   depth, type->name, text);
}

int gf_depth_in_file(const struct gf_file_type *type, struct gf_format format, int stored,
                     const struct gf_options *options)
{
    enum { WIDEST = 15 }; /* a format whose samples have more holds all bits of a picture */
    const bool by_option = options->depth == GF_DEPTH_AUTO && !options->lossless,
               follows = by_option || !gf_depth_next(type, WIDEST);
    if (!type->depths)
        return format.bits;
    int wanted = stored > 0 && follows ? stored : format.bits, depth;
    if (options->depth > 0)
        return options->depth;
    if (wanted < 8 && (!by_option || format.channels > 1))
        wanted = 8;
    if (wanted <= 8 && format.bits > 8 && !by_option)
        wanted = 8 + 1;
    while (!(depth = gf_depth_next(type, wanted - 1)) && wanted > 1)
        wanted--;
    return depth;
}

struct gf_format gf_depth_rows(const struct gf_file_type *type, struct gf_format format, int depth)
{
    if (depth >= 8 && type->bits > 8)
        format.bits = depth > 8 ? 16 : 8;
    return format;
}

struct depth_sink {
    struct gf_sink base;
    struct gf_sink *inner;
    const struct gf_file_type *type;
    struct gf_format from, to;
    unsigned char *row;
};

static enum gf_status depth_write(struct gf_sink *base, int rows, const unsigned char *src,
                                  size_t pitch, struct gf_error *error)
{
    struct depth_sink *const sink = (struct depth_sink *)base;
    const size_t samples = (size_t)sink->from.width * (size_t)sink->from.channels;
    if (sink->from.bits == sink->to.bits)
        return sink->inner->write(sink->inner, rows, src, pitch, error);
    for (int y = 0; y < rows; y++, src += pitch) {
        if (sink->from.bits > sink->to.bits)
            gf_samples_narrow(src, sink->row, samples);
        else
            gf_samples_widen(src, sink->row, samples);
        GF_TRY(sink->inner->write(sink->inner, 1, sink->row, gf_row_bytes(sink->to), error));
    }
    return GF_OK;
}

static enum gf_status depth_finish(struct gf_sink *base, struct gf_error *error)
{
    struct depth_sink *const sink = (struct depth_sink *)base;
    sink->inner->duration = base->duration;
    const enum gf_status status = sink->inner->finish(sink->inner, error);
    base->quality = sink->inner->quality;
    return status;
}

static enum gf_status depth_end(struct gf_sink *base, struct gf_error *error)
{
    struct depth_sink *const sink = (struct depth_sink *)base;
    return sink->inner->end(sink->inner, error);
}

static enum gf_status set_rows(struct depth_sink *sink, struct gf_format from, int depth,
                               struct gf_error *error)
{
    sink->from = from;
    sink->to = gf_depth_rows(sink->type, from, depth);
    free(sink->row);
    sink->row = malloc(gf_row_bytes(sink->to));
    return sink->row ? GF_OK : gf_fail_memory(error);
}

static enum gf_status depth_turn(struct gf_sink *base, const struct gf_sink_order *order,
                                 struct gf_error *error)
{
    struct depth_sink *const sink = (struct depth_sink *)base;
    struct gf_sink_order inner = *order;
    GF_TRY(set_rows(sink, order->format, order->options->depth, error));
    inner.format = sink->to;
    return sink->inner->turn(sink->inner, &inner, error);
}

static void depth_close(struct gf_sink *base)
{
    struct depth_sink *const sink = (struct depth_sink *)base;
    sink->inner->close(sink->inner);
    free(sink->row);
    free(sink);
}

enum gf_status gf_depth_sink_open(const struct gf_file_type *type, struct gf_format from, int depth,
                                  struct gf_sink **sink, struct gf_error *error)
{
    struct gf_sink *const inner = *sink;
    if (from.bits == gf_depth_rows(type, from, depth).bits && !inner->turn)
        return GF_OK;
    struct depth_sink *const opened = calloc(1, sizeof *opened);
    *sink = NULL;
    if (!opened) {
        inner->close(inner);
        return gf_fail_memory(error);
    }
    *opened = (struct depth_sink){.base = {.write = depth_write,
                                           .finish = depth_finish,
                                           .close = depth_close,
                                           .end = inner->end ? depth_end : NULL,
                                           .turn = inner->turn ? depth_turn : NULL},
                                  .inner = inner,
                                  .type = type};
    const enum gf_status status = set_rows(opened, from, depth, error);
    if (status)
        depth_close(&opened->base);
    else
        *sink = &opened->base;
    return status;
}
