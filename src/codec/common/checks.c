/* Checks and messages for all file formats, and a table of file features that older versions of
 * libraries cannot read. */
#include "codec/common/checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cpu.h"
#include "base/image.h"

static const struct {
    const char *library, *mark, *feature, *since;
} needs[] = {
    {"libheif", "unci", "pictures without compression (ISO/IEC 23001-17)", "1.16"},
    {"libheif", "j2k1", "JPEG 2000 in HEIF", "1.17"},
    {"libheif", "jpeg", "JPEG in HEIF", "1.17"},
    {"libheif", "mski", "masks in HEIF", "1.17"},
    {"libheif", "iden", "pictures derived from another (iden)", "1.18"},
    {"libheif", "vvc1", "VVC in HEIF", "1.18"},
    {"libheif", "avc1", "AVC in HEIF", "1.19"},
    {"libheif", "tili", "tiled pictures (tili)", "1.19"},
    {"libavif", "grid", "the alpha of each picture of a grid", "1.0"},
    {"libavif", "meta", "a box of metadata that lasts to the end of the file", "1.1"},
    {"libavif", "dimg", "grids whose pictures are not in the order of their numbers", "1.1.1"},
    {"libavif", "soun", "films with sound", "1.2"},
    {"libjpeg-turbo", "SOF3", "lossless JPEG", "3.0"},
    {"OpenEXR's core", "DWA", "DWAA and DWAB", "3.1.8"},
    {"libtiff", "34887", "LERC", "4.3"},
    {"libtiff", "50000", "Zstandard", "4.0.10"},
    {"libtiff", "50001", "WebP", "4.0.10"},
};

struct version {
    int major, minor, patch;
};

/* Reads the first three numbers of a text such as "libheif 1.15.1"; missing ones are 0. */
static struct version version_of(const char *text)
{
    struct version version = {0};
    (void)sscanf(text + strcspn(text, "0123456789"), "%d.%d.%d", &version.major, &version.minor,
                 &version.patch);
    return version;
}

static bool is_before(struct version a, struct version b)
{
    return a.major != b.major   ? a.major < b.major
           : a.minor != b.minor ? a.minor < b.minor
                                : a.patch < b.patch;
}

enum gf_status gf_fail_needs(const char *name, const char *library, const char *version,
                             gf_has_mark *has, const void *context, struct gf_error *error)
{
    const struct version here = version_of(version);
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (!strcmp(needs[i].library, library) && is_before(here, version_of(needs[i].since)) &&
            has(context, needs[i].mark))
            return gf_fail(error, GF_ERROR_INPUT, "%s: %s %d.%d.%d does not read %s; %s does", name,
                           library, here.major, here.minor, here.patch, needs[i].feature,
                           needs[i].since);
    }
    return GF_OK;
}

void gf_warn(const struct gf_options *options, const char *format, ...)
{
    if (!options->warn)
        return;
    char text[500]; /* the text of `error`, and what the program does instead */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    options->warn(options->warn_context, text);
}

int gf_codec_threads(const struct gf_options *options)
{
    return options->threads > 0 ? options->threads : gf_cpu_count();
}

int gf_library_threads(const struct gf_options *options)
{
    return options->serial ? 1 : gf_codec_threads(options);
}

enum gf_subsampling gf_subsampling_of(const struct gf_options *options)
{
    enum { FINE_QUALITY = 90 };
    if (options->subsampling != GF_SUBSAMPLING_AUTO)
        return options->subsampling;
    return options->quality > FINE_QUALITY ? GF_SUBSAMPLING_444 : GF_SUBSAMPLING_420;
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
                       "%s: %llux%llu is %llu pixels, over options.max_pixels=%llu", name, w, h,
                       w * h, most);
    if (w > GF_SIDE_MAX || h > GF_SIDE_MAX)
        return gf_fail(error, GF_ERROR_INPUT, "%s: %llux%llu: a side is over %d pixels", name, w, h,
                       GF_SIDE_MAX);
    return GF_OK;
}

enum gf_status gf_memory_check(const char *name, const char *why, uint64_t bytes, uint64_t limit,
                               const struct gf_options *options, struct gf_error *error)
{
    const uint64_t mib = (uint64_t)1 << 20;
    if (bytes <= limit)
        return GF_OK;
    return gf_fail(error, GF_ERROR_INPUT,
                   "%s: %s: that takes %llu MiB of memory, over the %llu MiB %s", name, why,
                   (unsigned long long)((bytes + mib - 1) / mib), (unsigned long long)(limit / mib),
                   !options->memory_bytes ? "of this machine that a picture may take (to allow "
                                            "more: options.memory_bytes)"
                                          : "of options.memory_bytes");
}

/* Any file may take FREE_BYTES of memory. Photographs take less than a hundredth of BYTES_A_BYTE
 * for each byte of their files, drawings and scans of empty pages less than a tenth. */
uint64_t gf_bytes_in_proportion(uint64_t file_bytes)
{
    const uint64_t FREE_BYTES = (uint64_t)1 << 30, BYTES_A_BYTE = 1 << 14;
    return file_bytes > FREE_BYTES / BYTES_A_BYTE ? file_bytes * BYTES_A_BYTE : FREE_BYTES;
}

enum gf_status gf_memory_check_proportion(const struct gf_source *source,
                                          const struct gf_input *input,
                                          const struct gf_options *options, struct gf_error *error)
{
    const uint64_t mib = (uint64_t)1 << 20, bytes = source->memory.bytes;
    const int64_t known = gf_input_size(input);
    const uint64_t file = source->file_bytes ? source->file_bytes : known > 0 ? (uint64_t)known : 0;
    const uint64_t most = gf_bytes_in_proportion(file);
    if (options->memory_bytes || !file || bytes <= most)
        return GF_OK;
    return gf_fail(
        error, GF_ERROR_INPUT,
        "%s: %s: that takes %llu MiB of memory, over the %llu MiB that a file of %llu bytes may "
        "take (to allow more: options.memory_bytes)",
        gf_input_name(input), source->memory.why, (unsigned long long)((bytes + mib - 1) / mib),
        (unsigned long long)(most / mib), (unsigned long long)file);
}

const char *gf_truncated_hint(const struct gf_options *options)
{
    return options->allow_truncated ? "" : " (to keep what there is: options.allow_truncated)";
}

enum gf_status gf_fail_page(const char *name, int page, int count, struct gf_error *error)
{
    const enum gf_picture_kind kind = gf_page_kind(page);
    if (kind < GF_PICTURE_KINDS)
        return gf_fail(error, GF_ERROR_INPUT, "%s: holds no picture of the kind \"%s\"", name,
                       gf_picture_kind_name(kind));
    if (page >= GF_PAGE_OF_LAYER)
        return gf_fail(error, GF_ERROR_INPUT, "%s: holds no layer of that name", name);
    return gf_fail(error, GF_ERROR_INPUT, "%s: holds %d picture%s, counted from 0", name, count,
                   count == 1 ? "" : "s");
}

enum gf_status gf_fail_truncated(struct gf_error *error, const char *name, int64_t row,
                                 int64_t rows)
{
    if (row < 0)
        return gf_fail(error, GF_ERROR_INPUT, "%s: truncated in the header", name);
    return gf_fail(error, GF_ERROR_INPUT, "%s: truncated after row %lld of %lld", name,
                   (long long)row, (long long)rows);
}

/* Returns the file name as a word that a shell command can contain, or "FILE" for names that would
 * need quotes and for streams. */
static const char *as_word(const char *name)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
    const bool as_is = *name != '-' && !name[strspn(name, plain)] && strcmp(name, "stdin") != 0;
    return as_is ? name : "FILE";
}

enum gf_status gf_fail_film(struct gf_error *error, const char *name, const char *what)
{
    const char *const word = as_word(name);
    return gf_fail(error, GF_ERROR_INPUT,
                   "%s: is a film (%s), which ffmpeg reads and writes: ffmpeg -i %s -f "
                   "yuv4mpegpipe -strict -1 - | gpufilter -i - -o - CHAIN | ffmpeg -i - -i %s -map "
                   "0:v -map 1:a? -c:a copy OUTPUT",
                   name, what, word, word);
}

enum gf_status gf_fail_unread(struct gf_error *error, const char *name, const char *what,
                              const char *command)
{
    if (!command)
        return gf_fail(error, GF_ERROR_INPUT, "%s: is %s, which is not read", name, what);
    return gf_fail(error, GF_ERROR_INPUT,
                   "%s: is %s, which is not read; pipe it: %s %s | gpufilter -i - ...", name, what,
                   command, as_word(name));
}
