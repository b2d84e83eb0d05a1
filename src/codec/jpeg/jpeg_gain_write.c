/* A sink for a JPEG with a gain map, whose place the index before the picture names: the picture is
 * encoded in memory. */
#include <stdlib.h>

#include "base/fail.h"
#include "codec/jpeg/jpeg.h"
#include "codec/jpeg/jpeg_gain.h"

struct gain_sink {
    struct gf_sink base;
    struct gf_sink *picture;
    struct gf_output *output, *memory;
    struct gf_blob map;
};

/* Writes the file, when the picture is finished. */
static enum gf_status write_file(struct gain_sink *sink, struct gf_error *error)
{
    struct gf_blob jpeg = {0};
    enum gf_status status = gf_output_commit(sink->memory, error);
    if (!status)
        jpeg.data = gf_output_take(sink->memory, &jpeg.size);
    if (!status && !gf_gain_map_index(&jpeg, &sink->map))
        status = gf_fail_memory(error);
    if (!status)
        status = gf_output_write(sink->output, jpeg.data, jpeg.size, error);
    if (!status)
        status = gf_output_write(sink->output, sink->map.data, sink->map.size, error);
    free(jpeg.data);
    return status;
}

static enum gf_status gain_write(struct gf_sink *base, int rows, const unsigned char *src,
                                 size_t pitch, struct gf_error *error)
{
    struct gf_sink *const picture = ((struct gain_sink *)base)->picture;
    return picture->write(picture, rows, src, pitch, error);
}

static enum gf_status gain_finish(struct gf_sink *base, struct gf_error *error)
{
    struct gain_sink *const sink = (struct gain_sink *)base;
    GF_TRY(sink->picture->finish(sink->picture, error));
    return write_file(sink, error);
}

static enum gf_status gain_splice(struct gf_sink *base, const unsigned char *coded, size_t size,
                                  bool last, struct gf_error *error)
{
    struct gain_sink *const sink = (struct gain_sink *)base;
    GF_TRY(sink->picture->splice(sink->picture, coded, size, last, error));
    return last ? write_file(sink, error) : GF_OK;
}

static void gain_close(struct gf_sink *base)
{
    struct gain_sink *const sink = (struct gain_sink *)base;
    if (sink->picture)
        sink->picture->close(sink->picture);
    gf_output_close(sink->memory);
    free(sink->map.data);
    free(sink);
}

/* Opens the sink of the picture, whose XMP announces the map. */
static enum gf_status open_picture(struct gain_sink *sink, struct gf_format format,
                                   const struct gf_metadata *metadata,
                                   const struct gf_options *options, struct gf_error *error)
{
    struct gf_metadata announced = *metadata;
    struct gf_gain_map_facts facts;
    const char *why;
    enum gf_status status =
        gf_output_open_memory(gf_output_name(sink->output), &sink->memory, error);
    if (status)
        return status;
    announced.xmp = (struct gf_blob){0};
    if (!gf_blob_set(&sink->map, metadata->gain_map.data, metadata->gain_map.size) ||
        !gf_blob_set(&announced.xmp, metadata->xmp.data, metadata->xmp.size))
        status = gf_fail_memory(error);
    (void)gf_gain_map_read(&sink->map, &facts, &why);
    if (!status && facts.xmp.size && !gf_gain_map_announce(&announced.xmp, sink->map.size))
        status = gf_fail_memory(error);
    if (!status)
        status =
            gf_jpeg_sink_open(sink->memory, format, &announced, options, 0, &sink->picture, error);
    free(announced.xmp.data);
    return status;
}

enum gf_status gf_jpeg_gain_create(const struct gf_sink_order *order, struct gf_sink **sink,
                                   struct gf_error *error)
{
    if (!order->metadata->gain_map.size)
        return gf_jpeg_sink_open(order->output, order->format, order->metadata, order->options, 0,
                                 sink, error);
    struct gain_sink *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail_memory(error);
    opened->base = (struct gf_sink){
        .write = gain_write, .finish = gain_finish, .splice = gain_splice, .close = gain_close};
    opened->output = order->output;
    const enum gf_status status =
        open_picture(opened, order->format, order->metadata, order->options, error);
    if (status)
        gain_close(&opened->base);
    else
        *sink = &opened->base;
    return status;
}
