/* Writes frames, which the workers leave as PAMs in memory, as an animation. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/image.h"
#include "base/process/machine.h"
#include "batch/frames/film.h"
#include "codec/codec.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/metadata.h"
#include "codec/io/input.h"

/* Opens the animation, whose frames are all like the first one. */
static enum gf_status begin(struct gf_film_writer *writer, struct gf_format format,
                            struct gf_error *error)
{
    const struct gf_options *const options = writer->options;
    const struct gf_metadata metadata = {.orientation = 1, .animated = true};
    const struct gf_codec_memory memory = gf_sink_memory(writer->animation, format, options);
    GF_TRY(gf_memory_check(
        writer->name, memory.why ? memory.why : "", memory.bytes,
        options->memory_bytes ? options->memory_bytes : gf_memory_picture_bytes(), options, error));
    GF_TRY(gf_sink_open(writer->output, writer->animation, format, &metadata, options,
                        &writer->sink, error));
    writer->sink->duration = &writer->duration;
    writer->format = format;
    return GF_OK;
}

/* Converts gray to colours, and adds an opaque alpha channel, as the animation has them. */
static enum gf_status widen(struct gf_image *picture, struct gf_format to, struct gf_error *error)
{
    const struct gf_format is = picture->format;
    const size_t bytes = is.bits > 8 ? 2 : 1;
    const int colours = gf_colour_channels(to), repeats = gf_colour_channels(is) < colours;
    struct gf_image wide = {0};
    GF_TRY(gf_image_alloc(&wide, to, error));
    for (int y = 0; y < is.height; y++) {
        const unsigned char *from = picture->data + (size_t)y * picture->pitch;
        unsigned char *at = wide.data + (size_t)y * wide.pitch;
        for (int x = 0; x < is.width; x++, from += (size_t)is.channels * bytes) {
            for (int c = 0; c < colours; c++)
                at = mempcpy(at, from + (repeats ? 0 : (size_t)c * bytes), bytes);
            if (gf_has_alpha(is))
                at = mempcpy(at, from + (size_t)(is.channels - 1) * bytes, bytes);
            else if (gf_has_alpha(to))
                at = (unsigned char *)memset(at, 0xff, bytes) + bytes;
        }
    }
    gf_image_free(picture);
    *picture = wide;
    return GF_OK;
}

/* Writes the picture of the source as the next frame. */
static enum gf_status write_frame(struct gf_film_writer *writer, struct gf_source *source,
                                  struct gf_error *error)
{
    const struct gf_format is = source->format, first = writer->sink ? writer->format : is;
    struct gf_image picture = {0};
    writer->frames++;
    if (is.width != first.width || is.height != first.height || is.bits != first.bits ||
        gf_colour_channels(is) > gf_colour_channels(first) ||
        gf_has_alpha(is) > gf_has_alpha(first))
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: picture %zu has %dx%d pixels of %d channels and %d bits, and the first "
                       "%dx%d of %d and %d: an animation has frames of one kind%s",
                       writer->name, writer->frames, is.width, is.height, is.channels, is.bits,
                       first.width, first.height, first.channels, first.bits,
                       is.width != first.width || is.height != first.height
                           ? " (resize=w=W:h=H makes one size of all)"
                       : is.bits == first.bits ? ", of no more channels than the first"
                                               : "");
    if (!writer->sink)
        GF_TRY(begin(writer, is, error));
    enum gf_status status = gf_source_read_all(source, &picture, error);
    if (!status && is.channels != first.channels)
        status = widen(&picture, first, error);
    if (!status)
        status = writer->sink->write(writer->sink, is.height, picture.data, picture.pitch, error);
    if (!status)
        status = writer->sink->finish(writer->sink, error);
    gf_image_free(&picture);
    return status;
}

enum gf_status gf_animation_write(struct gf_film_writer *writer, const unsigned char *data,
                                  size_t size, struct gf_error *error)
{
    struct gf_options options = gf_options_default();
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    options.max_pixels = writer->options->max_pixels;
    enum gf_status status = gf_input_open_memory(data, size, writer->name, &input, error);
    if (!status)
        status = gf_source_open(input, &options, &source, error);
    if (!status)
        status = write_frame(writer, source, error);
    if (source)
        source->close(source);
    gf_input_close(input);
    return status;
}
