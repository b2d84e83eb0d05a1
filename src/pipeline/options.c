/* The options' defaults and ranges. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "codec/codec.h"
#include "icc/icc.h"
#include "pipeline/pipeline_state.h"

static const struct gf_options defaults = {
    .size = sizeof defaults,
    .max_pixels = 1000000000,
    .autorotate = true,
    .quality = 90,
    .png_level = 1,
    .subsampling = GF_SUBSAMPLING_AUTO,
};

/* A caller's struct may lack later members. The struct must not end in padding, since later members
 * would lie in it. */
_Static_assert(offsetof(struct gf_options, yuv) + sizeof defaults.yuv == sizeof(struct gf_options),
               "struct gf_options ends with padding");

void gf_options_init(struct gf_options *options, size_t size)
{
    if (!options || size < sizeof options->size)
        return;
    memset(options, 0, size);
    memcpy(options, &defaults, size < sizeof defaults ? size : sizeof defaults);
    options->size = size;
}

/* The members of type int or enum. */
static const struct member {
    const char *name;
    size_t offset;
    int least, greatest;
} members[] = {
#define MEMBER(name_, least_, greatest_) \
    { \
#name_, offsetof(struct gf_options, name_), least_, greatest_ \
    }
    MEMBER(device, 0, GF_DEVICE_CUDA),
    MEMBER(device_index, 0, GF_DEVICE_INDEX_MAX),
    MEMBER(lanes, 0, GF_LANES_MAX),
    MEMBER(band_rows, 0, GF_BAND_ROWS_MAX),
    MEMBER(threads, 0, GF_THREADS_MAX),
    MEMBER(host_memory, 0, GF_HOST_PAGEABLE),
    MEMBER(transfer, 0, GF_TRANSFER_ZERO_COPY),
    MEMBER(codec, 0, GF_CODEC_GPU),
    MEMBER(format, 0, GF_FILE_Y4M),
    MEMBER(quality, 1, GF_QUALITY_MAX),
    MEMBER(subsampling, 0, GF_SUBSAMPLING_AUTO),
    MEMBER(tiff_compression, 0, GF_TIFF_G4),
    MEMBER(sandbox, 0, GF_SANDBOX_ALL),
    MEMBER(png_level, 0, GF_PNG_LEVEL_MAX),
    MEMBER(depth, GF_DEPTH_AUTO, GF_DEPTH_MAX),
    MEMBER(gain_map, 0, GF_GAIN_MAP_APPLY),
    MEMBER(png_colours, 0, GF_PNG_COLOURS_MAX),
#undef MEMBER
};
_Static_assert(sizeof(enum gf_codec) == sizeof(int), "an enum is read as an int");

void gf_options_of_output(struct gf_options *options, const struct gf_options *from)
{
    options->format = from->format;
    options->quality = from->quality;
    options->subsampling = from->subsampling;
    options->progressive = from->progressive;
    options->png_level = from->png_level;
    options->lossless = from->lossless;
    options->optimize = from->optimize;
    options->png_palette = from->png_palette;
    options->png_colours = from->png_colours;
    options->tiff_compression = from->tiff_compression;
    options->depth = from->depth;
    options->dither = from->dither;
    options->strip = from->strip;
    options->max_bytes = from->max_bytes;
    options->target_ssim = from->target_ssim;
    options->stripped = from->stripped;
    options->kept = from->kept;
}

enum gf_status gf_options_check(const struct gf_options *given, struct gf_options *checked,
                                struct gf_error *error)
{
    const size_t size = given ? given->size : 0;
    *checked = defaults;
    if (!given)
        return GF_OK;
    if (size < sizeof size || size > sizeof *checked)
        return gf_fail(error, GF_ERROR_USAGE,
                       "options.size=%zu is outside %zu..%zu: gf_options_default() sets it", size,
                       sizeof size, sizeof *checked);
    memcpy(checked, given, size);
    checked->size = sizeof *checked;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct member *const member = &members[i];
        int value;
        memcpy(&value, (const char *)checked + member->offset, sizeof value);
        if (value < member->least || value > member->greatest)
            return gf_fail(error, GF_ERROR_USAGE, "options.%s=%d is outside %d..%d", member->name,
                           value, member->least, member->greatest);
    }
    if (checked->depth > 0 && !gf_depth_exists(checked->depth))
        return gf_fail(error, GF_ERROR_USAGE, "options.depth=%d: no format has such samples",
                       checked->depth);
    if ((checked->range_low != 0 || checked->range_high != 0) &&
        (checked->range_percentile || !isfinite(checked->range_high - checked->range_low) ||
         checked->range_low >= checked->range_high))
        return gf_fail(error, GF_ERROR_USAGE,
                       "options.range_low=%g and options.range_high=%g are no range",
                       checked->range_low, checked->range_high);
    if (checked->png_colours == 1)
        return gf_fail(error, GF_ERROR_USAGE, "options.png_colours=1 is outside 2..%d",
                       GF_PNG_COLOURS_MAX);
    if (!checked->max_pixels)
        return gf_fail(error, GF_ERROR_USAGE, "options.max_pixels=0 allows no picture");
    if (!(checked->timeout_s >= 0 && checked->timeout_s <= GF_TIMEOUT_MAX))
        return gf_fail(error, GF_ERROR_USAGE, "options.timeout_s=%g is outside 0..%d",
                       checked->timeout_s, GF_TIMEOUT_MAX);
    if (checked->formats >> (GF_FILE_Y4M + 1) || checked->formats & 1 << GF_FILE_AUTO)
        return gf_fail(error, GF_ERROR_USAGE, "options.formats=%#llx has bits of no format",
                       (unsigned long long)checked->formats);
    if (!(checked->target_ssim >= 0 && checked->target_ssim <= 1))
        return gf_fail(error, GF_ERROR_USAGE, "options.target_ssim=%g is outside 0..1",
                       checked->target_ssim);
    if (checked->max_bytes && checked->target_ssim > 0)
        return gf_fail(error, GF_ERROR_USAGE,
                       "options.max_bytes=%llu and options.target_ssim=%g both choose the quality",
                       (unsigned long long)checked->max_bytes, checked->target_ssim);
    if (checked->lossless && (checked->max_bytes || checked->target_ssim > 0))
        return gf_fail(error, GF_ERROR_USAGE,
                       "options.%s=%.15g chooses a quality, and a lossless file (options.lossless) "
                       "has none",
                       checked->max_bytes ? "max_bytes" : "target_ssim",
                       checked->max_bytes ? (double)checked->max_bytes : checked->target_ssim);
    if ((checked->stripped | checked->kept) >> GF_METADATA_ITEMS)
        return gf_fail(error, GF_ERROR_USAGE,
                       "options.stripped=%#llx or options.kept=%#llx has bits of no item",
                       (unsigned long long)checked->stripped, (unsigned long long)checked->kept);
    const uint32_t ranges = 1 << GF_YUV_ITEM_LIMITED | 1 << GF_YUV_ITEM_FULL,
                   range = checked->yuv & ranges, matrix = checked->yuv & ~ranges;
    if (checked->yuv >> GF_YUV_ITEMS || range & (range - 1) || matrix & (matrix - 1))
        return gf_fail(
            error, GF_ERROR_USAGE,
            "options.yuv=%#x is not one of bt601, bt709, bt2020, and one of limited, full",
            (unsigned)checked->yuv);
    if (checked->transfer == GF_TRANSFER_ZERO_COPY && checked->host_memory == GF_HOST_PAGEABLE)
        return gf_fail(error, GF_ERROR_USAGE, "zero copy needs pinned host memory, not pageable");
    struct gf_error why = {0};
    struct gf_icc icc;
    if (checked->cmyk_profile && gf_icc_load_inks(checked->cmyk_profile, &icc, &why))
        return gf_fail(error, why.status == GF_ERROR_INPUT ? GF_ERROR_USAGE : why.status,
                       "options.cmyk_profile=%s", why.text);
    return GF_OK;
}

static _Thread_local const struct gf_options *limits;

void gf_second_pictures_set_limits(const struct gf_options *options)
{
    limits = options;
}

const struct gf_options *gf_second_pictures_limits(void)
{
    return limits;
}
