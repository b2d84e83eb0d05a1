/* Recognises the format of a picture file and opens it with that format's codec. */
#include "codec/codec.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "codec/common/checks.h"
#include "codec/common/metadata.h"
#include "codec/common/source.h"
#include "codec/foreign.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "codec/jpeg/jpeg.h"
#include "codec/png/png.h"
#include "codec/pnm/pnm.h"

enum gf_file_format gf_file_format_of(const unsigned char *bytes, size_t size)
{
    if (size >= 4 && !memcmp(bytes, "\x89PNG", 4))
        return GF_FILE_PNG;
    if (size >= 3 && !memcmp(bytes, "\xff\xd8\xff", 3))
        return GF_FILE_JPEG;
    if (size >= 3 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
        memchr(" \t\r\n\v\f#", bytes[2], 7))
        return GF_FILE_PNM;
    if (size >= 3 && !memcmp(bytes, "P7\n", 3))
        return GF_FILE_PAM;
    return GF_FILE_AUTO;
}

enum gf_status gf_source_open(struct gf_input *input, const struct gf_options *options,
                              struct gf_source **source, struct gf_error *error)
{
    unsigned char head[256];
    size_t got;
    const enum gf_status status = gf_input_peek(input, head, sizeof head, &got, error);
    if (status)
        return status;
    if (!got)
        return gf_fail(error, GF_ERROR_INPUT, "%s: empty file", gf_input_name(input));
    switch (gf_file_format_of(head, got)) {
    case GF_FILE_PNG:
        return gf_png_source_open(input, options, source, error);
    case GF_FILE_JPEG:
        return gf_jpeg_source_open(input, options, 0, source, error);
    case GF_FILE_PNM:
    case GF_FILE_PAM:
        return gf_pnm_source_open(input, options, source, error);
    case GF_FILE_AUTO:
        break;
    }
    const char *const foreign = gf_foreign_format(head, got);
    return gf_fail(error, GF_ERROR_INPUT,
                   foreign ? "%s: not a PNG, JPEG, PNM or PAM file but %s, which is not read"
                           : "%s: not a PNG, JPEG, PNM or PAM file",
                   gf_input_name(input), foreign);
}

static const struct {
    const char *extension;
    enum gf_file_format format;
} extensions[] = {
    {"png", GF_FILE_PNG}, {"jpg", GF_FILE_JPEG}, {"jpeg", GF_FILE_JPEG}, {"jpe", GF_FILE_JPEG},
    {"pnm", GF_FILE_PNM}, {"ppm", GF_FILE_PNM},  {"pgm", GF_FILE_PNM},   {"pam", GF_FILE_PAM},
};

static const char *extension_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const dot = strrchr(slash ? slash + 1 : path, '.');
    return dot ? dot + 1 : "";
}

enum gf_file_format gf_file_format_named(const char *path)
{
    const char *const extension = extension_of(path);
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        if (!strcasecmp(extension, extensions[i].extension))
            return extensions[i].format;
    }
    return strcasecmp(extension, "pbm") ? GF_FILE_AUTO : GF_FILE_PNM; /* it can be read only */
}

const char *gf_file_format_extension(enum gf_file_format format)
{
    static const char *const names[] = {[GF_FILE_AUTO] = "png",
                                        [GF_FILE_PNG] = "png",
                                        [GF_FILE_JPEG] = "jpg",
                                        [GF_FILE_PNM] = "pnm",
                                        [GF_FILE_PAM] = "pam"};
    return names[format];
}

static bool is_special_file(const char *path)
{
    struct stat file;
    return !stat(path, &file) && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode);
}

enum gf_status gf_sink_format(const char *path, const struct gf_options *options,
                              enum gf_file_format fallback, enum gf_file_format *format,
                              struct gf_error *error)
{
    *format = options->format;
    if (*format != GF_FILE_AUTO)
        return GF_OK;
    const char *const extension = extension_of(path);
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        if (!strcasecmp(extension, extensions[i].extension)) {
            *format = extensions[i].format;
            return GF_OK;
        }
    }
    if (!strcmp(path, "-") || is_special_file(path)) {
        /* An input of no known format is refused when it is opened, with a better message. */
        *format = fallback == GF_FILE_AUTO ? GF_FILE_PNG : fallback;
        return GF_OK;
    }
    return gf_fail(error, GF_ERROR_USAGE,
                   "%s: the extension says no format: use .png, .jpg, .ppm, .pgm, .pnm, .pam or "
                   "options.format",
                   path);
}

struct gf_format gf_format_in_file(enum gf_file_format file_format, struct gf_format format)
{
    if (file_format == GF_FILE_JPEG)
        format.bits = 8;
    if (file_format == GF_FILE_JPEG || file_format == GF_FILE_PNM)
        format.channels = gf_colour_channels(format);
    return format;
}

struct gf_codec_memory gf_sink_memory(enum gf_file_format file_format, struct gf_format format,
                                      const struct gf_options *options)
{
    if (file_format == GF_FILE_JPEG)
        return gf_jpeg_sink_memory(format, options);
    if (file_format == GF_FILE_PNG)
        return gf_png_sink_memory(format, options);
    return (struct gf_codec_memory){0};
}

/* A .pgm holds gray. A conversion would drop the colours without a word, and there are several: the
 * caller has to ask for one. */
static enum gf_status check_name(const struct gf_output *output, struct gf_format format,
                                 const struct gf_options *options, struct gf_error *error)
{
    const char *const name = gf_output_name(output);
    if (options->format != GF_FILE_AUTO || strcasecmp(extension_of(name), "pgm") ||
        gf_colour_channels(format) == 1)
        return GF_OK;
    return gf_fail(error, GF_ERROR_OUTPUT,
                   "%s: a .pgm file holds gray and this picture has colours: add the filter "
                   "grayscale, or name it .ppm",
                   name);
}

enum gf_status gf_sink_open(struct gf_output *output, enum gf_file_format file_format,
                            struct gf_format format, const struct gf_metadata *metadata,
                            const struct gf_options *options, struct gf_sink **sink,
                            struct gf_error *error)
{
    struct gf_metadata kept = {0};
    enum gf_status status = check_name(output, format, options, error);
    if (!status)
        status = gf_metadata_for_output(metadata, format, file_format == GF_FILE_PNG, options,
                                        &kept, error);
    if (status)
        return status;
    if (file_format == GF_FILE_JPEG)
        status = gf_jpeg_sink_open(output, format, &kept, options, 0, sink, error);
    else if (file_format == GF_FILE_PNM || file_format == GF_FILE_PAM)
        status = gf_pnm_sink_open(output, file_format, format, options, sink, error);
    else
        status = gf_png_sink_open(output, format, &kept, options, sink, error);
    if (!status && metadata && metadata->icc.size && !kept.icc.size && !options->strip)
        gf_warn(options, "%s: the input's colour profile is not for %s and is left out",
                gf_output_name(output), gf_colour_channels(format) == 1 ? "gray" : "RGB");
    if (!status && metadata && metadata->colour.has_cicp && !kept.colour.has_cicp &&
        !kept.icc.size && !options->strip)
        gf_warn(options, "%s: no ICC profile says what the input's cICP chunk does: it is left out",
                gf_output_name(output));
    gf_metadata_free(&kept);
    return status;
}
