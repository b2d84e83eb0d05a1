/* What the formats can hold and what they are called, from the table in formats.c. A sink converts
 * rows to the bits per sample that a format can hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "codec/common/pyramid/pyramid.h"
#include "codec/codec.h"
#include "codec/common/checks.h"
#include "codec/common/rows/samples.h"
#include "codec/formats.h"
#include "pixel/float_rows.h"

int gf_depth_next(const struct gf_file_type *type, int above)
{
    char *next;
    for (const char *at = type->depths; at && *at; at = next) {
        int depth = (int)strtol(at, &next, 10);
        if (*next == 'f') {
            depth += GF_DEPTH_FLOAT16 - 16;
            next++;
        }
        if (depth > above)
            return depth;
    }
    return 0;
}

static int bits_of(int depth)
{
    return gf_depth_is_float(depth) ? depth - (GF_DEPTH_FLOAT16 - 16) : depth;
}

void gf_depths_text(const struct gf_file_type *type, char text[GF_DEPTHS_TEXT_SIZE])
{
    size_t length = 0;
    snprintf(text, GF_DEPTHS_TEXT_SIZE, "%s", type->depths ? "" : "its input's");
    for (int depth = 0; (depth = gf_depth_next(type, depth)) && length < GF_DEPTHS_TEXT_SIZE;)
        length += (size_t)snprintf(text + length, GF_DEPTHS_TEXT_SIZE - length, "%s%d%s",
                                   !length                      ? ""
                                   : gf_depth_next(type, depth) ? ", "
                                                                : " or ",
                                   bits_of(depth), gf_depth_is_float(depth) ? "f" : "");
}

enum gf_status gf_depth_check(const struct gf_file_type *type, const char *name,
                              const struct gf_options *options, struct gf_error *error)
{
    char text[GF_DEPTHS_TEXT_SIZE];
    const int depth = options->depth;
    if (depth <= 0 || gf_depth_next(type, depth - 1) == depth)
        return GF_OK;
    gf_depths_text(type, text);
    return gf_fail(error, GF_ERROR_USAGE, "%s: options.depth=%d%s: a sample of %s has %s bits",
                   name, bits_of(depth), gf_depth_is_float(depth) ? "f" : "", type->name, text);
}

/* Returns the least depth of floats in a file of the type that keeps the samples, or its largest;
 * 0 if it holds no floats. */
static int float_depth(const struct gf_file_type *type, struct gf_format format, int stored)
{
    const bool exact = gf_is_float(format) ? format.bits == 16 || stored == 16 : format.bits == 8;
    const int first = gf_depth_next(type, GF_DEPTH_FLOAT16 - 1),
              wide = gf_depth_next(type, GF_DEPTH_FLOAT16);
    return exact || !wide ? first : wide;
}

int gf_depth_in_file(const struct gf_file_type *type, struct gf_format format, int stored,
                     const struct gf_options *options)
{
    enum { WIDEST = 15 }; /* a format with samples of 16 bits holds all bits of any picture */
    const bool by_option = options->depth == GF_DEPTH_AUTO && !options->lossless,
               follows = by_option || !gf_depth_next(type, WIDEST);
    /* A target's measure takes integers. */
    const bool measured = options->target_ssim > 0 || options->target_ssimulacra2 > 0;
    const int floats = measured ? 0 : float_depth(type, format, stored);
    if (floats && options->depth <= 0 &&
        (gf_is_float(format) || gf_depth_is_float(gf_depth_next(type, 0))))
        return floats;
    if (gf_is_float(format)) {
        format.samples = GF_SAMPLES_INTEGER;
        format.bits = type->bits;
        stored = 0;
    }
    if (!type->depths)
        return format.bits;
    int wanted = stored > 0 && follows ? stored : format.bits, depth;
    if (options->depth > 0)
        return options->depth;
    if (wanted < 8 && (!by_option || format.channels > 1))
        wanted = 8;
    if (wanted <= 8 && format.bits > 8 && !by_option)
        wanted = 8 + 1;
    while ((!(depth = gf_depth_next(type, wanted - 1)) || gf_depth_is_float(depth)) && wanted > 1)
        wanted--;
    return depth;
}

struct gf_format gf_depth_rows(const struct gf_file_type *type, struct gf_format format, int depth)
{
    if (gf_depth_is_float(depth)) {
        format.samples = GF_SAMPLES_FLOAT;
        format.bits = type->associated && gf_has_alpha(format) ? 32 : bits_of(depth);
    } else if (gf_is_float(format)) {
        format.samples = GF_SAMPLES_INTEGER;
        format.bits = depth == 8 || type->bits == 8 ? 8 : 16;
    } else if (depth >= 8 && type->bits > 8) {
        format.bits = depth > 8 ? 16 : 8;
    }
    return format;
}

struct depth_sink {
    struct gf_sink base;
    struct gf_sink *inner;
    const struct gf_file_type *type;
    struct gf_format from, to;
    unsigned char *row;
    const char *name;
    struct gf_options options; /* the caller's need not live as long as the sink */
    uint64_t beyond;           /* samples of the picture that were clamped */
};

static enum gf_status depth_write(struct gf_sink *base, int rows, const unsigned char *src,
                                  size_t pitch, struct gf_error *error)
{
    struct depth_sink *const sink = (struct depth_sink *)base;
    const size_t samples = (size_t)sink->from.width * (size_t)sink->from.channels;
    if (gf_same_samples(sink->from, sink->to))
        return sink->inner->write(sink->inner, rows, src, pitch, error);
    sink->inner->tiles_done = base->tiles_done;
    for (int y = 0; y < rows; y++, src += pitch) {
        if (gf_is_float(sink->from) || gf_is_float(sink->to))
            sink->beyond += gf_row_convert(src, sink->from, sink->to, samples, sink->row);
        else if (sink->from.bits > sink->to.bits)
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
    base->fit = sink->inner->fit;
    if (!status && sink->beyond)
        gf_warn(&sink->options,
                "%s: %llu samples were NaN or outside of 0..1, and are clamped (tonemap, levels)",
                sink->name, (unsigned long long)sink->beyond);
    sink->beyond = 0;
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
                                  const char *name, const struct gf_options *options,
                                  struct gf_sink **sink, struct gf_error *error)
{
    struct gf_sink *const inner = *sink;
    if (gf_same_samples(from, gf_depth_rows(type, from, depth)) && !inner->turn)
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
                                  .type = type,
                                  .name = name,
                                  .options = *options};
    GF_OPENED(set_rows(opened, from, depth, error), depth_close, &opened->base, sink);
}

/* ---- names, extensions and first bytes ---- */

const char *gf_extension_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const dot = strrchr(slash ? slash + 1 : path, '.');
    return dot ? dot + 1 : "";
}

enum gf_file_format gf_file_format_named(const char *path)
{
    const struct gf_file_type *type;
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        if (gf_word_in_list(type->extensions, gf_extension_of(path)) ||
            gf_word_in_list(type->read_extensions, gf_extension_of(path)))
            return type->format;
    }
    return GF_FILE_AUTO;
}

const char *gf_file_format_name(enum gf_file_format format)
{
    const struct gf_file_type *const type = gf_file_type(format);
    return type ? type->name : "";
}

bool gf_file_format_has_end(enum gf_file_format format)
{
    const struct gf_file_type *const type = gf_file_type(format);
    return type && type->has_end;
}

bool gf_file_format_keeps_extension(const char *path)
{
    const struct gf_file_type *const type = gf_file_type(gf_file_format_named(path));
    return type && !type->instead && gf_word_in_list(type->extensions, gf_extension_of(path));
}

const char *gf_file_format_extension(enum gf_file_format format)
{
    static _Thread_local char first[8];
    const struct gf_file_type *type = gf_file_type(format);
    if (!type)
        type = gf_file_type(GF_FILE_PNG);
    if (type->instead)
        return type->instead;
    const size_t length = strcspn(type->extensions, " ");
    memcpy(first, type->extensions, length);
    first[length] = 0;
    return first;
}

struct gf_format gf_format_in_file(enum gf_file_format file_format, struct gf_format format)
{
    const struct gf_file_type *const type = gf_file_type(file_format);
    if (!type)
        return format;
    const int colours = type->gray ? gf_colour_channels(format) : 3;
    if (gf_is_float(format))
        format = gf_depth_rows(type, format,
                               gf_depth_in_file(type, format, 0, &(struct gf_options){.depth = 0}));
    if (!gf_is_float(format))
        format.bits = format.bits < type->bits ? format.bits : type->bits;
    format.channels = colours + (type->alpha && gf_has_alpha(format));
    return format;
}

enum gf_status gf_sink_check_inks(enum gf_file_format file_format, const char *name,
                                  struct gf_error *error)
{
    const struct gf_file_type *const type = gf_file_type(file_format), *other;
    char list[40];
    size_t length = 0;
    if (type && type->inks)
        return GF_OK;
    for (int i = 0; (other = gf_file_type_at(i)) && length < sizeof list; i++) {
        if (other->inks)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                       length ? " or " : "", other->name);
    }
    return gf_fail(error, GF_ERROR_USAGE, "%s: %s holds no CMYK: use %s", name,
                   type ? type->name : "it", list);
}

int gf_depth_of(enum gf_file_format file_format, struct gf_format format, int stored,
                const struct gf_options *options)
{
    const struct gf_file_type *const type = gf_file_type(file_format);
    return type ? gf_depth_in_file(type, format, stored, options) : format.bits;
}

bool gf_depth_exists(int depth)
{
    const struct gf_file_type *type;
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        if (gf_depth_next(type, depth - 1) == depth)
            return true;
    }
    return false;
}

bool gf_format_animates(enum gf_file_format file_format)
{
    const struct gf_file_type *const type = gf_file_type(file_format);
    return type && type->animates;
}

bool gf_format_animates_unasked(enum gf_file_format file_format)
{
    return gf_format_animates(file_format) && !gf_file_type(file_format)->paged;
}

bool gf_output_animates(const char *name, const struct gf_options *options, enum gf_file_format own)
{
    const enum gf_file_format named = name ? gf_file_format_named(name) : GF_FILE_AUTO,
                              format = options->format ? options->format
                                       : named         ? named
                                                       : own;
    enum gf_pyramid_layout layout;
    if (!gf_pyramid_layout_of(name, options, &layout, &(struct gf_error){0}) && layout)
        return false;
    return gf_format_animates_unasked(own) && gf_format_animates_unasked(format) &&
           (format != GF_FILE_PNG || own == GF_FILE_PNG ||
            (name && !strcasecmp(gf_extension_of(name), "apng")));
}

bool gf_format_names_hdr(enum gf_file_format file_format)
{
    const struct gf_file_type *const type = gf_file_type(file_format);
    return !type || type->tags > GF_TAGS_NONE;
}

struct gf_codec_memory gf_sink_memory(enum gf_file_format file_format, struct gf_format format,
                                      const struct gf_options *options)
{
    const struct gf_file_type *const type = gf_file_type(file_format);
    struct gf_options own = *options;
    if (!type)
        return (struct gf_codec_memory){0};
    own.depth = gf_depth_in_file(type, format, 0, options);
    format = gf_depth_rows(type, format, own.depth);
    const struct gf_codec_memory memory =
        type->sink_memory ? type->sink_memory(format, &own) : (struct gf_codec_memory){0};
    return gf_options_fit(options) ? gf_fitted_sink_memory(format, memory.bytes, options) : memory;
}
