/* Which format a picture file has, and what the formats share. */
#include "codec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "clones.h"
#include "formats.h"
#include "metadata.h"

/* ---- recognition ---- */

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
    unsigned char head[8];
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
        return gf_jpeg_source_open(input, options, source, error);
    case GF_FILE_PNM:
    case GF_FILE_PAM:
        return gf_pnm_source_open(input, options, source, error);
    case GF_FILE_AUTO:
        break;
    }
    return gf_fail(error, GF_ERROR_INPUT, "%s: not a PNG, JPEG, PNM or PAM file",
                   gf_input_name(input));
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
    return strcasecmp(extension, "pbm") ? GF_FILE_AUTO : GF_FILE_PNM; /* read, not written */
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
        /* An input of no known format is refused when it is opened: that tells more. */
        *format = fallback == GF_FILE_AUTO ? GF_FILE_PNG : fallback;
        return GF_OK;
    }
    return gf_fail(error, GF_ERROR_USAGE,
                   "%s: the extension says no format: use .png, .jpg, .ppm, .pgm, .pnm, .pam or "
                   "--format",
                   path);
}

enum gf_status gf_sink_open(struct gf_output *output, enum gf_file_format file_format,
                            struct gf_format format, const struct gf_metadata *metadata,
                            const struct gf_options *options, struct gf_sink **sink,
                            struct gf_error *error)
{
    struct gf_metadata kept;
    enum gf_status status = gf_metadata_for_output(metadata, format, options, &kept, error);
    if (status)
        return status;
    if (file_format == GF_FILE_JPEG)
        status = gf_jpeg_sink_open(output, format, &kept, options, sink, error);
    else if (file_format == GF_FILE_PNM || file_format == GF_FILE_PAM)
        status = gf_pnm_sink_open(output, file_format, format, options, sink, error);
    else
        status = gf_png_sink_open(output, format, &kept, options, sink, error);
    gf_metadata_free(&kept);
    return status;
}

/* ---- limits and messages ---- */

void gf_warn(const struct gf_options *options, const char *format, ...)
{
    if (!options->warn)
        return;
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    options->warn(options->warn_context, text);
}

enum gf_status gf_size_check(const char *name, uint64_t width, uint64_t height,
                             const struct gf_options *options, struct gf_error *error)
{
    const unsigned long long w = width, h = height, most = options->max_pixels;
    if (!w || !h)
        return gf_fail(error, GF_ERROR_INPUT, "%s: %llux%llu: a picture without pixels", name, w,
                       h);
    if (w <= UINT32_MAX && h <= UINT32_MAX && w * h > most)
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: %llux%llu is %llu pixels, over --max-pixels=%llu", name, w, h, w * h,
                       most);
    if (w > GF_SIDE_MAX || h > GF_SIDE_MAX)
        return gf_fail(error, GF_ERROR_INPUT, "%s: %llux%llu: a side is over %d pixels", name, w, h,
                       GF_SIDE_MAX);
    return GF_OK;
}

enum gf_status gf_fail_truncated(struct gf_error *error, const char *name, int64_t row,
                                 int64_t rows)
{
    if (row < 0)
        return gf_fail(error, GF_ERROR_INPUT, "%s: truncated in the header", name);
    return gf_fail(error, GF_ERROR_INPUT, "%s: truncated after row %lld of %lld", name,
                   (long long)row, (long long)rows);
}

/* ---- samples ---- */

void gf_rows_clear(unsigned char *data, size_t pitch, int rows, size_t row_bytes)
{
    for (int y = 0; y < rows; y++)
        memset(data + (size_t)y * pitch, 0, row_bytes);
}

GF_CLONES static void narrow(const uint16_t *src, uint8_t *dst, size_t count)
{
    /* round(v * 255 / 65535) for all v */
    for (size_t i = 0; i < count; i++)
        dst[i] = (uint8_t)((src[i] * 255u + 32895u) >> 16);
}

void gf_samples_narrow(const void *src, void *dst, size_t count)
{
    narrow(src, dst, count);
}

/* PNG's rows begin behind a byte that stands before them. */
typedef uint16_t __attribute__((aligned(1))) loose_sample;

GF_CLONES static void swap_bytes(const loose_sample *src, loose_sample *dst, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = (uint16_t)(src[i] << 8 | src[i] >> 8);
}

void gf_samples_big_endian(const void *src, void *dst, size_t count)
{
    const uint16_t one = 1;
    if (*(const unsigned char *)&one)
        swap_bytes(src, dst, count);
    else if (src != dst)
        memcpy(dst, src, count * 2);
}

#define DROP_ALPHA(name, type, channels) \
    static void name(const type *src, type *dst, size_t pixels) \
    { \
        for (size_t i = 0; i < pixels; i++, src += (channels), dst += (channels)-1) \
            for (int c = 0; c < (channels)-1; c++) \
                dst[c] = src[c]; \
    }
DROP_ALPHA(drop_gray8, uint8_t, 2)
DROP_ALPHA(drop_gray16, uint16_t, 2)
DROP_ALPHA(drop_rgb8, uint8_t, 4)
DROP_ALPHA(drop_rgb16, uint16_t, 4)

void gf_pixels_drop_alpha(const void *src, void *dst, size_t pixels, int channels, int bits)
{
    if (channels == 2 && bits == 8)
        drop_gray8(src, dst, pixels);
    else if (channels == 2)
        drop_gray16(src, dst, pixels);
    else if (bits == 8)
        drop_rgb8(src, dst, pixels);
    else
        drop_rgb16(src, dst, pixels);
}
