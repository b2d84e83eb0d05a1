/* Writes frames, which the workers leave as PAMs in memory, as an animation. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/process/machine.h"
#include "batch/frames/film.h"
#include "batch/request/request.h"
#include "codec/codec.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/metadata.h"
#include "codec/io/input.h"

static void warn(void *context, const char *text)
{
    gf_batch_tell(context, GF_MESSAGE_WARNING, "%s", text);
}

/* Returns the channels of a picture that has the colours and the alpha of both. `b` may be empty.
 */
static int channels_of_both(struct gf_format a, struct gf_format b)
{
    b = b.channels ? b : a;
    const bool colours = gf_colour_channels(a) > 1 || gf_colour_channels(b) > 1;
    return (colours ? 3 : 1) + (gf_has_alpha(a) || gf_has_alpha(b));
}

/* Finds the most channels and bits of the stills by their headers. A still that cannot be read is
 * reported later. */
static void look_at_stills(const struct gf_batch_request *request, struct gf_format *most)
{
    struct gf_pipeline *reader = NULL;
    for (size_t i = 0; i < request->inputs->count; i++) {
        const char *const path = request->inputs->item[i].path;
        struct gf_peek peek = {.pattern = NULL};
        struct stat file;
        struct gf_error unsaid;
        if (!gf_input_stat(path, &file) || !S_ISREG(file.st_mode) ||
            gf_batch_open_header_reader(request, 0, &reader, &unsaid) ||
            gf_pipeline_peek(reader, path, &peek, &unsaid))
            continue;
        most->channels = channels_of_both(peek.out, *most);
        const int bits = gf_is_float(peek.out) ? 16 : peek.out.bits; /* as in a PAM */
        most->bits = bits > most->bits ? bits : most->bits;
    }
    gf_pipeline_close(reader);
}

void gf_animation_prepare(struct gf_film_writer *writer, struct gf_options *options,
                          const struct gf_batch_request *request, bool stills)
{
    if (options->warn)
        options->warn = warn;
    options->warn_context = (void *)request;
    if (stills)
        look_at_stills(request, &writer->most);
}

void gf_film_compose_head(const struct gf_batch_request *request, char head[GF_Y4M_LINE_MOST])
{
    struct gf_format most = {.channels = 0};
    look_at_stills(request, &most);
    if (most.channels)
        gf_y4m_compose(NULL, 1, 1, gf_colour_channels(most) == 1, most.bits, &request->options,
                       head);
}

enum gf_status gf_animation_fail_input(struct gf_input *input, const struct gf_options *options,
                                       struct gf_error *error)
{
    struct gf_source *source = NULL;
    if (gf_input_page(input) < 0)
        gf_input_choose_pages(input, (struct gf_pages){0, GF_PAGES_ALL});
    GF_TRY(gf_source_open(input, options, &source, error));
    const bool many = source->next != NULL;
    source->close(source);
    return gf_fail(error, GF_ERROR_USAGE,
                   "--fps makes an animation or a film of several pictures or of a Y4M; %.200s is "
                   "%s",
                   gf_input_name(input),
                   many ? "an animation, whose speed stays, or pages (-o 'frame-{n}.png' makes "
                          "pictures of it)"
                        : "one picture");
}

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

/* Writes a sample. One of 8 bits, which is written two times, becomes one of 16. */
static unsigned char *put(unsigned char *at, const unsigned char *sample, size_t bytes,
                          size_t times)
{
    for (; times; times--)
        at = mempcpy(at, sample, bytes);
    return at;
}

/* Converts gray to colours and 8 bits to 16, and adds an opaque alpha channel, as the animation has
 * them. */
static enum gf_status widen(struct gf_image *picture, struct gf_format to, struct gf_error *error)
{
    const struct gf_format is = picture->format;
    const size_t bytes = is.bits > 8 ? 2 : 1, times = to.bits > is.bits ? 2 : 1;
    const int colours = gf_colour_channels(to), repeats = gf_colour_channels(is) < colours;
    struct gf_image wide = {0};
    GF_TRY(gf_image_alloc(&wide, to, error));
    for (int y = 0; y < is.height; y++) {
        const unsigned char *from = picture->data + (size_t)y * picture->pitch;
        unsigned char *at = wide.data + (size_t)y * wide.pitch;
        for (int x = 0; x < is.width; x++, from += (size_t)is.channels * bytes) {
            for (int c = 0; c < colours; c++)
                at = put(at, from + (repeats ? 0 : (size_t)c * bytes), bytes, times);
            if (gf_has_alpha(is))
                at = put(at, from + (size_t)(is.channels - 1) * bytes, bytes, times);
            else if (gf_has_alpha(to))
                at = (unsigned char *)memset(at, 0xff, bytes * times) + bytes * times;
        }
    }
    gf_image_free(picture);
    *picture = wide;
    return GF_OK;
}

/* Returns the format of the frames if the first one has the format `is`: that of the stills with
 * most channels and bits, as far as they are known. */
static struct gf_format format_of_frames(const struct gf_film_writer *writer, struct gf_format is)
{
    is.channels = channels_of_both(is, writer->most);
    is.bits = writer->most.bits > is.bits ? writer->most.bits : is.bits;
    return is;
}

enum gf_status gf_film_fail_size(const struct gf_film_writer *writer, int width, int height,
                                 int first_width, int first_height, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_UNFIT,
                   "%s: '%s' has %dx%d pixels, and the first frame %dx%d: all have one size "
                   "(resize=%d:%d:fit=contain)",
                   writer->name, writer->frame_name, width, height, first_width, first_height,
                   first_width, first_height);
}

/* Writes the picture of the source as the next frame. */
static enum gf_status write_frame(struct gf_film_writer *writer, struct gf_source *source,
                                  struct gf_error *error)
{
    static const char *const colours[] = {"", "gray", "gray with alpha", "RGB", "RGBA"};
    const struct gf_format is = source->format,
                           first = writer->sink ? writer->format : format_of_frames(writer, is);
    struct gf_image picture = {0};
    if (is.width != first.width || is.height != first.height)
        return gf_film_fail_size(writer, is.width, is.height, first.width, first.height, error);
    if (is.bits > first.bits || gf_colour_channels(is) > gf_colour_channels(first) ||
        gf_has_alpha(is) > gf_has_alpha(first))
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: '%s' has %d-bit %s, and the frames before it %d-bit %s: frames of an "
                       "animation have one kind",
                       writer->name, writer->frame_name, is.bits, colours[is.channels], first.bits,
                       colours[first.channels]);
    if (!writer->sink)
        GF_TRY(begin(writer, first, error));
    enum gf_status status = gf_source_read_all(source, &picture, error);
    if (!status && (is.channels != first.channels || is.bits != first.bits))
        status = widen(&picture, first, error);
    GF_THEN(status,
            writer->sink->write(writer->sink, is.height, picture.data, picture.pitch, error));
    GF_THEN(status, writer->sink->finish(writer->sink, error));
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
    GF_THEN(status, gf_source_open(input, &options, &source, error));
    GF_THEN(status, write_frame(writer, source, error));
    if (source)
        source->close(source);
    gf_input_close(input);
    return status;
}
