/* Finds which format an output has and opens a sink for it; warns of metadata and colours that it
 * does not keep. */
#include "codec/codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "chain/chain.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/exif.h"
#include "codec/common/pyramid/pyramid.h"
#include "codec/formats.h"
#include "icc/icc.h"

static const struct {
    unsigned kind;
    const char *name;
} kinds[] = {{GF_KIND_GAIN_MAP, "gain map"},
             {GF_KIND_PICTURES, "other pictures"},
             {GF_KIND_DEPTH, "depth map"},
             {GF_KIND_AUXILIARY, "auxiliary pictures"},
             {GF_KIND_EXIF, "EXIF"},
             {GF_KIND_XMP, "XMP"},
             {GF_KIND_EXTENDED_XMP, "extended XMP"},
             {GF_KIND_IPTC, "IPTC"},
             {GF_KIND_TEXTS, "texts"},
             {GF_KIND_COMMENTS, "comments"},
             {GF_KIND_DENSITY, "density"},
             {GF_KIND_ASPECT, "pixel aspect ratio"},
             {GF_KIND_ORIENTATION, "orientation"},
             {GF_KIND_GEO, "GeoTIFF tags"},
             {GF_KIND_LIGHT, "content light level"},
             {GF_KIND_MASTERING, "mastering display"}};

/* Returns the kinds of metadata that the output loses although the user did not ask for that. EXIF
 * counts as asked for if all its items are of kinds that the options remove. */
static unsigned lost_kinds(const struct gf_file_type *type, const struct gf_metadata *metadata,
                           const struct gf_metadata *kept, const struct gf_options *options)
{
    unsigned lost = (gf_metadata_kinds(metadata) & ~(gf_metadata_kinds(kept) & type->keeps));
    if (options->autorotate)
        lost &= ~(unsigned)GF_KIND_ORIENTATION;
    if (options->stripped && !kept->exif.size && type->keeps & GF_KIND_EXIF)
        lost &= ~(unsigned)GF_KIND_EXIF;
    if (type->keeps & GF_KIND_EXIF && gf_exif_has_density(&kept->exif))
        lost &= ~(unsigned)GF_KIND_DENSITY;
    if (options->set && type->keeps & GF_KIND_TEXTS) /* it replaces texts */
        lost &= ~(unsigned)GF_KIND_TEXTS;
    return lost & ~gf_kinds_unwanted(options);
}

/* Warns if colours look different because the output has no profile (a file without a profile is
 * shown as sRGB), or if the profile is written although it was to be stripped. */
static void warn_of_colours(const char *name, const struct gf_file_type *type,
                            struct gf_format format, const struct gf_metadata *metadata,
                            const struct gf_metadata *kept, const struct gf_options *options)
{
    char colours[GF_COLOURS_TEXT_SIZE];
    const bool writes = !options->strip && type->keeps & GF_KIND_ICC;
    const bool unsaid = gf_colour_tags_unsaid(&metadata->colour, metadata->icc.size, colours),
               unknown = unsaid && !gf_curve_is_hdr(metadata->colour.cicp[1]);
    if ((writes && gf_keeps(options, GF_METADATA_ICC)) ||
        gf_metadata_is_srgb(metadata, format, options))
        return;
    if (writes && (!unsaid || kept->colour.has_cicp))
        gf_warn(options, "%s: its colours are not sRGB's and %s%s: what describes them is kept",
                name,
                unknown             ? "nothing converts "
                : options->lossless ? "--lossless keeps the samples"
                                    : "this build does not convert them",
                unknown ? colours : "");
    else if (!unsaid)
        gf_warn(options,
                "%s: it does not say that its colours are not sRGB's, and looks different "
                "(--to-icc=srgb converts it)",
                name);
}

void gf_metadata_kinds_text(unsigned set, char text[GF_METADATA_KINDS_TEXT_SIZE])
{
    size_t length = 0;
    unsigned left = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        left |= set & kinds[i].kind;
    for (size_t i = 0; left; i++) {
        if (!(left & kinds[i].kind))
            continue;
        left &= ~kinds[i].kind;
        const char *const before = !length ? "" : left ? ", " : " and ";
        length += (size_t)snprintf(text + length, GF_METADATA_KINDS_TEXT_SIZE - length, "%s%s",
                                   before, kinds[i].name);
    }
}

/* Passes one line to options->warn that names all lost metadata, and one line if the colours look
 * different without it. `name` is the output, `type` its file format, `format` its pixel format,
 * and `kept` the result of gf_metadata_for_output(). */
static void warn_left_out(const char *name, const struct gf_file_type *type,
                          struct gf_format format, const struct gf_metadata *metadata,
                          const struct gf_metadata *kept, const struct gf_options *options)
{
    const unsigned lost = lost_kinds(type, metadata, kept, options);
    char list[GF_METADATA_KINDS_TEXT_SIZE];
    gf_metadata_kinds_text(lost, list);
    if (*list)
        gf_warn(options, "%s: it does not keep the input's %s", name, list);
    if (options->warn)
        warn_of_colours(name, type, format, metadata, kept, options);
}

static bool is_special_file(const char *path)
{
    struct stat file;
    return !stat(path, &file) && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode);
}

/* Returns the format of an output for an input's format: a format that can only be read is replaced
 * by a similar one that can be written; any other format stays. */
static enum gf_file_format written_as(enum gf_file_format format)
{
    const struct gf_file_type *const type = gf_file_type(format), *other;
    if (!type)
        return GF_FILE_PNG;
    for (int i = 0; type->instead && (other = gf_file_type_at(i)); i++) {
        if (gf_word_in_list(other->extensions, type->instead))
            return other->format;
    }
    return format;
}

/* Lists all extensions that can be written, each after a dot. */
static void list_extensions(char *text, size_t size)
{
    const struct gf_file_type *type;
    size_t length = 0;
    for (int i = 0; (type = gf_file_type_at(i)) && length < size; i++) {
        if (!type->instead)
            length += (size_t)snprintf(text + length, size - length, "%s.%s", i ? ", " : "",
                                       gf_file_format_extension(type->format));
    }
}

enum gf_status gf_output_check_foreign(const char *path, struct gf_error *error)
{
    struct gf_foreign_answer answer;
    struct gf_error line;
    const char *const extension = path ? gf_extension_of(path) : "";
    if (!*extension || !gf_chain_answer(GF_FOREIGN_FORMAT, extension, &answer))
        return GF_OK;
    answer.whose = "";
    (void)gf_fail(&line, GF_ERROR_USAGE, "%s: .%s is not written", path, extension);
    return gf_chain_fail_answer(line.text, ": ", &answer, error);
}

/* Fails for libvips' options in brackets behind a name, and says what they are here. */
static enum gf_status fail_bracket(const char *path, struct gf_error *error)
{
    char item[60], options[160] = "";
    struct gf_foreign_answer answer;
    for (const char *at = strchr(path, '[') + 1; *at && *at != ']'; at += *at == ',') {
        const size_t length = strcspn(at, ",]");
        snprintf(item, sizeof item, "%.*s", (int)length, at);
        if (gf_chain_answer(GF_FOREIGN_OPTION, item, &answer) && *answer.meaning == '-')
            snprintf(options + strlen(options), sizeof options - strlen(options), " %.40s",
                     answer.meaning);
        at += length;
    }
    return gf_fail(error, GF_ERROR_USAGE,
                   "%.120s: what libvips takes in brackets are options%s%.150s", path,
                   *options ? ":" : ", such as options.quality", options);
}

/* Finds the format of a pyramid's tiles: JPEG, unless options->format is another one that viewers
 * show. */
static enum gf_status tile_format(const char *name, const struct gf_options *options,
                                  enum gf_file_format *format, struct gf_error *error)
{
    *format = options->format ? options->format : GF_FILE_JPEG;
    if (*format != GF_FILE_JPEG && *format != GF_FILE_PNG && *format != GF_FILE_WEBP)
        return gf_fail(error, GF_ERROR_USAGE, "%s: its tiles are JPEG, PNG or WebP", name);
    if (gf_options_fit(options) || (options->lossless && *format == GF_FILE_JPEG))
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: a pyramid has one quality for all tiles, and no lossless JPEGs", name);
    return gf_file_type_load(gf_file_type(*format), name, GF_ERROR_UNAVAILABLE, error);
}

enum gf_status gf_sink_format(const char *path, const struct gf_options *options,
                              enum gf_file_format fallback, enum gf_file_format *format,
                              struct gf_error *error)
{
    enum gf_pyramid_layout layout;
    GF_TRY(gf_pyramid_layout_of(path, options, &layout, error));
    if (layout && layout < GF_LAYOUT_COG)
        return tile_format(path, options, format, error);
    const char *const name = path ? path : "output";
    const enum gf_file_format named = gf_file_format_named(name);
    char list[120];
    *format = options->format;
    if (*format == GF_FILE_AUTO && path && gf_file_format_keeps_extension(path))
        *format = named;
    if (*format == GF_FILE_AUTO && (!path || !strcmp(path, "-") || is_special_file(path)))
        /* If the input's format is unknown, opening the input fails later, with a better message
         * than this function could give. */
        *format = written_as(fallback);
    const struct gf_file_type *const type = gf_file_type(*format);
    if (type && !type->instead) {
        enum gf_status status = gf_fitted_check(type, name, options, error);
        status = status ? status : gf_depth_check(type, name, options, error);
        return status ? status : gf_file_type_load(type, name, GF_ERROR_UNAVAILABLE, error);
    }
    list_extensions(list, sizeof list);
    if (type || named != GF_FILE_AUTO)
        return gf_fail(error, GF_ERROR_USAGE, "%s: %s is read, not written: use %s", name,
                       gf_file_type(type ? *format : named)->name, list);
    const size_t length = path ? strlen(path) : 0;
    if (length && strchr(path, '[') && path[length - 1] == ']')
        return fail_bracket(path, error);
    if (length > 2 && !strcmp(path + length - 2, ":-"))
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: standard output is -, and its format options.format", name);
    GF_TRY(gf_output_check_foreign(path, error));
    return gf_fail(error, GF_ERROR_USAGE,
                   "%s: the extension says no format: use %s or options.format", name, list);
}

/* Refuses to write colours to a .pgm file, which holds gray. There are several conversions to gray,
 * so that the caller has to choose one. */
static enum gf_status check_name(const struct gf_output *output, struct gf_format format,
                                 const struct gf_options *options, struct gf_error *error)
{
    const char *const name = gf_output_name(output);
    if (options->format != GF_FILE_AUTO || strcasecmp(gf_extension_of(name), "pgm") ||
        gf_colour_channels(format) == 1)
        return GF_OK;
    return gf_fail(error, GF_ERROR_UNFIT,
                   "%s: a .pgm file holds gray and this picture has colours: add the filter "
                   "grayscale, or name it .ppm",
                   name);
}

/* Fails if the file cannot hold the pixels with options->depth, or not unchanged if
 * options->lossless is set. */
static enum gf_status check_pixels(const struct gf_output *output, const struct gf_file_type *type,
                                   struct gf_format format, const struct gf_options *options,
                                   struct gf_error *error)
{
    const char *const name = gf_output_name(output);
    if (options->depth == 1 && format.channels > 1)
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: a %s of 1 bit is gray without alpha (grayscale, flatten)", name,
                       type->name);
    if (!options->lossless)
        return GF_OK;
    if (type->lossy == GF_LOSSY_ALWAYS)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: only a %s can become a %s without loss", name,
                       type->name, type->name);
    if (!type->lossless_bits)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: %s is not lossless", name, type->name);
    if (gf_is_float(format) && !gf_depth_is_float(options->depth))
        return gf_fail(error, GF_ERROR_UNFIT, "%s: integers are not lossless for floats", name);
    if (!gf_is_float(format) && format.bits > type->lossless_bits)
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: %s is lossless up to %d bits and this picture has %d", name, type->name,
                       type->lossless_bits, format.bits);
    const int depth = options->depth - (gf_is_float(format) ? GF_DEPTH_FLOAT16 - 16 : 0);
    if (depth < format.bits)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: %d bits are not lossless for %d bits", name,
                       depth, format.bits);
    if (gf_has_alpha(format) && type->associated)
        return gf_fail(error, GF_ERROR_UNFIT,
                       "%s: %s multiplies colours by alpha: it is not lossless", name, type->name);
    if (gf_has_alpha(format) && !type->alpha)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: %s has no alpha channel: it is not lossless",
                       name, type->name);
    return GF_OK;
}

/* Makes EXIF state the density if the file type has no other place for it. */
static enum gf_status put_density_in_exif(struct gf_metadata *kept, const struct gf_file_type *type,
                                          const struct gf_options *options, struct gf_error *error)
{
    const bool wanted = gf_metadata_kinds(kept) & GF_KIND_DENSITY && type->keeps & GF_KIND_EXIF &&
                        !(type->keeps & GF_KIND_DENSITY) && !gf_strips(options, GF_METADATA_EXIF);
    if (!wanted || gf_exif_add_density(&kept->exif, kept->density_x, kept->density_y))
        return GF_OK;
    gf_metadata_free(kept);
    return gf_fail_memory(error);
}

/* Opens a sink if *sink is NULL; otherwise begins another page of *sink. */
static enum gf_status open_sink(struct gf_output *output, enum gf_file_format file_format,
                                struct gf_format format, const struct gf_metadata *metadata,
                                const struct gf_options *options, struct gf_sink **sink,
                                struct gf_error *error)
{
    const bool turns = *sink != NULL;
    struct gf_metadata kept = {0};
    const struct gf_file_type *const type = gf_file_type(file_format);
    const bool inks = metadata && metadata->inks;
    struct gf_format in_file = gf_format_in_file(file_format, format);
    in_file.channels = inks ? format.channels : in_file.channels;
    struct gf_options own = *options;
    GF_TRY(check_name(output, format, options, error));
    if (!type || !type->create)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: has a format that is not written",
                       gf_output_name(output));
    char fit[GF_FIT_TEXT_SIZE];
    const bool fits = gf_options_fit_text(options, fit);
    if (inks && (options->target_ssim > 0 || options->target_ssimulacra2 > 0))
        return gf_fail(error, GF_ERROR_UNFIT, "%s: %s compares RGB, and this is CMYK",
                       gf_output_name(output), fit);
    if (metadata && metadata->animated && fits)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: %s is for one picture, and this is an animation",
                       gf_output_name(output), fit);
    own.depth = gf_depth_in_file(type, format, metadata ? metadata->bits : 0, options);
    enum gf_status status =
        metadata && metadata->move ? GF_OK : check_pixels(output, type, format, &own, error);
    GF_THEN(status, gf_metadata_for_output(metadata, in_file, type->tags, options, &kept, error));
    /* The palette and the parameters of a Y4M are part of the pixels, so that options->strip does
     * not remove them. */
    const bool copied =
        status || !metadata ||
        (file_format == GF_FILE_PNG
             ? gf_blob_set(&kept.palette, metadata->palette.data, metadata->palette.size)
         : file_format == GF_FILE_Y4M
             ? gf_blob_set(&kept.y4m, metadata->y4m.data, metadata->y4m.size)
             : true);
    if (!copied) {
        gf_metadata_free(&kept);
        status = gf_fail_memory(error);
    }
    if (kept.density_is_ratio && !(type->keeps & GF_KIND_ASPECT)) {
        kept.density_x = kept.density_y = 0;
        kept.density_is_ratio = false;
    }
    GF_THEN(status, put_density_in_exif(&kept, type, options, error));
    if (status)
        return status;
    if (metadata) {
        kept.bits = metadata->bits;
        kept.associated = metadata->associated;
        kept.move = metadata->move;
        kept.animated = metadata->animated;
        kept.loops = metadata->loops;
    }
    const bool fitted = gf_options_fit(options);
    const struct gf_format rows =
        /* A sink with several pages converts the rows of each page itself. */
        turns ? format : gf_depth_rows(type, format, own.depth);
    const struct gf_sink_order order = {output, rows, &kept, &own};
    status = turns    ? (*sink)->turn(*sink, &order, error)
             : fitted ? gf_fitted_sink_open(type, output, rows, &own, sink, error)
                      : type->create(&order, sink, error);
    if (!status && metadata)
        warn_left_out(gf_output_name(output), type, in_file, metadata, &kept, options);
    if (!status && options->set && !(type->keeps & (GF_KIND_EXIF | GF_KIND_XMP)))
        gf_warn(options, "%s: %s has no place for what is to be set (options.set)",
                gf_output_name(output), type->name);
    if (!status && type->keeps & GF_KIND_IPTC)
        gf_metadata_set_warn(options->set, gf_output_name(output), options);
    if (!status && metadata && metadata->icc.size && !kept.icc.size &&
        gf_keeps(options, GF_METADATA_ICC))
        gf_warn(options, "%s: the input's colour profile is not for %s and is left out",
                gf_output_name(output), gf_colour_channels(in_file) == 1 ? "gray" : "RGB");
    struct gf_icc_space space;
    if (!status && own.depth <= 8 && format.bits > 8 && type->keeps & GF_KIND_ICC &&
        gf_metadata_find_linear(&kept, &space))
        gf_warn(options, "%s: 8 bits of linear light have visible steps (--to-icc=srgb has none)",
                gf_output_name(output));
    char colours[GF_COLOURS_TEXT_SIZE];
    if (!status && metadata && !metadata->colour.told && !kept.colour.has_cicp &&
        gf_colour_tags_unsaid(&metadata->colour, metadata->icc.size, colours))
        gf_warn(options, "%s: its samples keep %s, which the file does not say: it will look wrong",
                gf_output_name(output), colours);
    if (!status && fitted)
        gf_fitted_sink_take_metadata(*sink, &kept);
    gf_metadata_free(&kept);
    return status || turns ? status
                           : gf_depth_sink_open(type, format, own.depth, gf_output_name(output),
                                                options, sink, error);
}

enum gf_status gf_sink_open(struct gf_output *output, enum gf_file_format file_format,
                            struct gf_format format, const struct gf_metadata *metadata,
                            const struct gf_options *options, struct gf_sink **sink,
                            struct gf_error *error)
{
    *sink = NULL;
    return open_sink(output, file_format, format, metadata, options, sink, error);
}

enum gf_status gf_sink_turn(struct gf_sink *sink, struct gf_output *output,
                            enum gf_file_format file_format, struct gf_format format,
                            const struct gf_metadata *metadata, const struct gf_options *options,
                            struct gf_error *error)
{
    return open_sink(output, file_format, format, metadata, options, &sink, error);
}
