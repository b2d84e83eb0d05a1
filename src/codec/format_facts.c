/* What formats hold and are called, from the table in formats.c. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "codec/codec.h"
#include "codec/depth.h"
#include "codec/fitted_sink.h"
#include "codec/formats.h"

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
