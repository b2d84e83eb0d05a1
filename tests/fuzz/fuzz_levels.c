/* Parts and levels of TIFFs: a byte that says which, four bytes of a rectangle, and the file. A
 * part has the pixels of the picture, where the whole picture can be read. */
#include "fuzz.h"

#include "base/image.h"

struct asked {
    const uint8_t *file;
    size_t size;
    struct gf_options options;
};

/* Opens the source that reads the file; the caller closes both where the source is not NULL. */
static struct gf_source *open_source(const struct asked *asked, struct gf_input **input,
                                     struct gf_error *error)
{
    struct gf_source *source = NULL;
    *input = NULL;
    if (fuzz_ok(gf_input_open_memory(asked->file, asked->size, "in", input, error), error) &&
        fuzz_ok(gf_source_open(*input, &asked->options, &source, error), error))
        return source;
    gf_input_close(*input);
    return NULL;
}

static bool read_and_close(struct gf_source *source, struct gf_input *input, struct gf_image *image,
                           struct gf_error *error)
{
    const struct gf_format format = source->format;
    const bool small = (uint64_t)format.width * (uint64_t)format.height <= FUZZ_PIXELS_MAX;
    const bool done = small && fuzz_ok(fuzz_read(source, image, error), error);
    source->close(source);
    gf_input_close(input);
    return done;
}

static void check_part(const struct gf_image *whole, const struct gf_image *part,
                       struct gf_rectangle at)
{
    const size_t pixel = gf_pixel_bytes(whole->format), bytes = (size_t)at.width * pixel;
    FUZZ_CHECK(part->format.width == at.width && part->format.height == at.height, "%dx%d",
               part->format.width, part->format.height);
    for (int y = 0; y < at.height; y++)
        FUZZ_CHECK(!memcmp(part->data + (size_t)y * part->pitch,
                           whole->data + (size_t)(at.y + y) * whole->pitch + (size_t)at.x * pixel,
                           bytes),
                   "row %d of %d,%d %dx%d", y, at.x, at.y, at.width, at.height);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    const unsigned how = fuzz_byte(&bytes), x = fuzz_byte(&bytes), y = fuzz_byte(&bytes),
                   width = fuzz_byte(&bytes), height = fuzz_byte(&bytes);
    struct asked asked = {bytes.data, bytes.size, fuzz_options()};
    struct gf_error error = {0};
    struct gf_input *input;
    struct gf_image whole, part;
    asked.options.formats = 1u << GF_FILE_TIFF;
    struct gf_source *source = open_source(&asked, &input, &error);
    if (!source)
        return 0;
    if (how & 1) { /* a level */
        const enum gf_status status =
            gf_source_reduce(source, gf_source_reduction(source, 1 << (how >> 1) % 8), &error);
        if (!fuzz_ok(status, &error)) {
            source->close(source);
            gf_input_close(input);
        } else if (read_and_close(source, input, &part, &error)) {
            free(part.data);
        }
        return 0;
    }
    const struct gf_format format = source->format;
    const struct gf_rectangle at = {
        .x = (int)x % format.width,
        .y = (int)y % format.height,
        .width = 1 + (int)width % (format.width - (int)x % format.width),
        .height = 1 + (int)height % (format.height - (int)y % format.height)};
    const bool sound = read_and_close(source, input, &whole, &error);
    source = open_source(&asked, &input, &error);
    FUZZ_CHECK(source, "it opens once alone: %s", error.text);
    if (!source->window) {
        source->close(source);
        gf_input_close(input);
    } else if (!fuzz_ok(source->window(source, at, how >> 1 & 1, &error), &error)) {
        FUZZ_CHECK(!sound, "the part of a sound picture: %s", error.text);
        source->close(source);
        gf_input_close(input);
    } else if (read_and_close(source, input, &part, &error)) {
        if (sound)
            check_part(&whole, &part, at);
        free(part.data);
    } else {
        FUZZ_CHECK(!sound, "the part of a sound picture: %s", error.text);
    }
    if (sound)
        free(whole.data);
    return 0;
}
