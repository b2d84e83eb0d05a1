#include "codec/common/whole_source.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"

/* ---- the file ---- */

static enum gf_status read_regular(struct gf_whole_source *source, struct gf_input *input,
                                   struct gf_error *error)
{
    source->file_size = (size_t)gf_input_size(input);
    source->file = malloc(source->file_size);
    return source->file ? gf_input_copy(input, source->file, error) : gf_fail_memory(error);
}

/* The size of a stream is known only at its end. */
static enum gf_status read_stream(struct gf_whole_source *source, struct gf_input *input,
                                  struct gf_error *error)
{
    const uint64_t most =
        source->options.memory_bytes ? source->options.memory_bytes : SIZE_MAX / 2;
    size_t capacity = 1 << 16, got = 1;
    enum gf_status status = GF_OK;
    while (!status && got) {
        if (!source->file || source->file_size == capacity) {
            capacity *= source->file ? 2 : 1;
            unsigned char *const grown = realloc(source->file, capacity);
            if (!grown)
                return gf_fail_memory(error);
            source->file = grown;
        }
        status = gf_input_read(input, source->file + source->file_size,
                               capacity - source->file_size, &got, error);
        source->file_size += got;
        if (!status && source->file_size > most)
            return gf_fail(error, GF_ERROR_INPUT,
                           "%s: is decoded as a whole, and the file alone is over the %llu MiB of "
                           "options.memory_bytes",
                           source->name, (unsigned long long)(most >> 20));
    }
    return status;
}

enum gf_status gf_whole_source_begin(struct gf_whole_source *source, struct gf_input *input,
                                     const struct gf_options *options, struct gf_error *error)
{
    source->base.metadata.orientation = 1;
    source->options = *options;
    source->name = gf_input_name(input);
    source->page = gf_input_page(input);
    return gf_input_size(input) > 0 ? read_regular(source, input, error)
                                    : read_stream(source, input, error);
}

/* ---- rows ---- */

static void release(struct gf_whole_source *source)
{
    if (!source->released && source->release)
        source->release(source);
    source->released = true;
    free(source->file);
    source->file = NULL;
}

static enum gf_status decode(struct gf_whole_source *source, struct gf_error *error)
{
    const struct gf_format format = source->base.format;
    source->pixels = malloc(gf_row_bytes(format) * (size_t)format.height);
    if (!source->pixels)
        return gf_fail_memory(error);
    const enum gf_status status = source->decode(source, source->pixels, error);
    release(source);
    return status;
}

static enum gf_status whole_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                                 struct gf_error *error)
{
    struct gf_whole_source *const source = (struct gf_whole_source *)base;
    const size_t row_bytes = gf_row_bytes(base->format);
    const enum gf_status status = source->pixels ? GF_OK : decode(source, error);
    if (status)
        return status;
    for (int y = 0; y < rows; y++, source->row++)
        memcpy(dst + (size_t)y * pitch, source->pixels + (size_t)source->row * row_bytes,
               row_bytes);
    return GF_OK;
}

void gf_whole_source_close(struct gf_source *base)
{
    struct gf_whole_source *const source = (struct gf_whole_source *)base;
    release(source);
    gf_metadata_free(&base->metadata);
    free(source->pixels);
    free(source);
}

enum gf_status gf_whole_source_describe(struct gf_whole_source *source, uint64_t width,
                                        uint64_t height, int channels, int bits,
                                        double library_bytes, struct gf_error *error)
{
    struct gf_source *const base = &source->base;
    const enum gf_status status =
        gf_size_check(source->name, width, height, &source->options, error);
    if (status)
        return status;
    base->format = (struct gf_format){(int)width, (int)height, channels, bits};
    const double pixels = (double)width * (double)height;
    base->memory = (struct gf_codec_memory){
        source->file_size + (uint64_t)(pixels * (channels * bits / 8 + library_bytes)),
        "it is decoded as a whole"};
    base->read = whole_read;
    base->close = gf_whole_source_close;
    return GF_OK;
}

enum gf_status gf_whole_source_page(const struct gf_whole_source *source, int count, int *page,
                                    struct gf_error *error)
{
    if (source->page >= count)
        return gf_fail(error, GF_ERROR_INPUT, "%s: holds %d picture%s, counted from 0",
                       source->name, count, count == 1 ? "" : "s");
    if (source->page < 0 && count > 1)
        gf_warn(&source->options, "%s: holds %d pictures: the first is taken; %s[1] is the second",
                source->name, count, source->name);
    *page = source->page < 0 ? 0 : source->page;
    return GF_OK;
}

enum gf_status gf_whole_source_fail(const struct gf_whole_source *source, const char *why,
                                    struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: %s", source->name, why);
}
