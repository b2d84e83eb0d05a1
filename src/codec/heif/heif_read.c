/* Reads HEIC and other HEIF by libheif. The functions of libheif that the program calls come
 * first. */
#include <libheif/heif.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/process/library.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/heif_boxes.h"
#include "codec/common/metadata/heif_coded.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/opening.h"
#include "codec/common/rows/samples.h"
#include "codec/common/rows/whole_picture.h"
#include "codec/heif/heif_part.h"
#include "codec/io/input.h"
#include "gpufilter/image.h"
#include "pixel/yuv/heif_colours.h"

/* clang-format off */
#define GF_HEIF_CALLS(CALL) \
    CALL(heif_init) CALL(heif_get_version) CALL(heif_get_version_number) \
    CALL(heif_decoding_options_alloc) CALL(heif_decoding_options_free) \
    CALL(heif_image_get_colorspace) CALL(heif_image_get_chroma_format) \
    CALL(heif_image_get_nclx_color_profile) CALL(heif_context_alloc) CALL(heif_context_free) \
    CALL(heif_context_read_from_memory_without_copy) CALL(heif_context_set_max_decoding_threads) \
    CALL(heif_context_get_number_of_top_level_images) \
    CALL(heif_context_get_list_of_top_level_image_IDs) \
    CALL(heif_context_get_primary_image_ID) \
    CALL(heif_context_get_image_handle) CALL(heif_image_handle_release) \
    CALL(heif_image_handle_get_width) CALL(heif_image_handle_get_height) \
    CALL(heif_image_handle_has_alpha_channel) CALL(heif_image_handle_is_premultiplied_alpha) \
    CALL(heif_image_handle_get_luma_bits_per_pixel) \
    CALL(heif_image_handle_get_list_of_metadata_block_IDs) \
    CALL(heif_image_handle_get_metadata_type) CALL(heif_image_handle_get_metadata_content_type) \
    CALL(heif_image_handle_get_metadata_size) CALL(heif_image_handle_get_metadata) \
    CALL(heif_image_handle_get_raw_color_profile_size) \
    CALL(heif_image_handle_get_raw_color_profile) CALL(heif_image_handle_get_nclx_color_profile) \
    CALL(heif_nclx_color_profile_free) CALL(heif_decode_image) CALL(heif_image_get_width) \
    CALL(heif_image_get_height) CALL(heif_image_get_bits_per_pixel_range) \
    CALL(heif_image_get_plane) CALL(heif_image_release) \
    CALL(heif_image_handle_get_list_of_depth_image_IDs) \
    CALL(heif_image_handle_get_depth_image_handle) \
    CALL(heif_image_handle_get_list_of_thumbnail_IDs) CALL(heif_image_handle_get_thumbnail) \
    CALL(heif_image_handle_get_list_of_auxiliary_image_IDs) \
    CALL(heif_image_handle_get_auxiliary_type) CALL(heif_image_handle_free_auxiliary_types) \
    CALL(heif_image_handle_get_auxiliary_image_handle)
/* clang-format on */

struct gf_heif_calls {
    GF_HEIF_CALLS(GF_LIBRARY_CALL)
};
extern struct gf_heif_calls gf_heif;

/* ---- the pictures that belong to another one, and the turn that libheif has applied ---- */

struct gf_heif_calls gf_heif;

struct gf_library gf_heif_library =
    GF_LIBRARY(gf_heif, GF_HEIF_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_heif));

enum { PARTS_MAX = 64 };

static enum gf_picture_kind auxiliary_kind(const struct heif_image_handle *part)
{
    const char *type = NULL;
    if (gf_heif.heif_image_handle_get_auxiliary_type(part, &type).code != heif_error_Ok || !type)
        return GF_PICTURE_AUXILIARY;
    const unsigned kind = gf_auxiliary_kind(type, strlen(type));
    gf_heif.heif_image_handle_free_auxiliary_types(part, &type);
    return kind == GF_KIND_GAIN_MAP ? GF_PICTURE_GAIN_MAP
           : kind == GF_KIND_DEPTH  ? GF_PICTURE_DEPTH
                                    : GF_PICTURE_AUXILIARY;
}

/* Lists the depth maps, thumbnails or other auxiliary pictures of a picture, as `kind` says.
 * Returns their number. */
static int list_parts(const struct heif_image_handle *picture, enum gf_picture_kind kind,
                      heif_item_id ids[PARTS_MAX])
{
    const int no_alpha_no_depth =
        LIBHEIF_AUX_IMAGE_FILTER_OMIT_ALPHA | LIBHEIF_AUX_IMAGE_FILTER_OMIT_DEPTH;
    if (kind == GF_PICTURE_DEPTH)
        return gf_heif.heif_image_handle_get_list_of_depth_image_IDs(picture, ids, PARTS_MAX);
    if (kind == GF_PICTURE_THUMBNAIL)
        return gf_heif.heif_image_handle_get_list_of_thumbnail_IDs(picture, ids, PARTS_MAX);
    if (kind == GF_PICTURE_GAIN_MAP || kind == GF_PICTURE_AUXILIARY)
        return gf_heif.heif_image_handle_get_list_of_auxiliary_image_IDs(picture, no_alpha_no_depth,
                                                                         ids, PARTS_MAX);
    return 0;
}

static struct heif_image_handle *open_item(const struct heif_image_handle *picture,
                                           enum gf_picture_kind kind, heif_item_id item)
{
    struct heif_image_handle *part = NULL;
    if (kind == GF_PICTURE_DEPTH)
        (void)gf_heif.heif_image_handle_get_depth_image_handle(picture, item, &part);
    else if (kind == GF_PICTURE_THUMBNAIL)
        (void)gf_heif.heif_image_handle_get_thumbnail(picture, item, &part);
    else
        (void)gf_heif.heif_image_handle_get_auxiliary_image_handle(picture, item, &part);
    if (!part || kind == GF_PICTURE_DEPTH || kind == GF_PICTURE_THUMBNAIL ||
        auxiliary_kind(part) == kind)
        return part;
    gf_heif.heif_image_handle_release(part);
    return NULL;
}

/* Opens the first picture of that kind that belongs to `picture`, and sets *item to its number;
 * NULL if there is none. */
static struct heif_image_handle *heif_open_part(const struct heif_image_handle *picture,
                                                enum gf_picture_kind kind, heif_item_id *item)
{
    heif_item_id ids[PARTS_MAX];
    struct heif_image_handle *part = NULL;
    const int count = list_parts(picture, kind, ids);
    for (int i = 0; !part && i < count; i++)
        part = open_item(picture, kind, *item = ids[i]);
    return part;
}

/* Counts the thumbnails, depth maps and other auxiliary pictures of a picture, by their kinds. */
static void heif_count_parts(const struct heif_image_handle *picture,
                             uint16_t count[GF_PICTURE_KINDS])
{
    static const enum gf_picture_kind kinds[] = {GF_PICTURE_DEPTH, GF_PICTURE_THUMBNAIL,
                                                 GF_PICTURE_GAIN_MAP, GF_PICTURE_AUXILIARY};
    heif_item_id ids[PARTS_MAX];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const int listed = list_parts(picture, kinds[k], ids);
        for (int i = 0; i < listed; i++) {
            struct heif_image_handle *const part = open_item(picture, kinds[k], ids[i]);
            count[kinds[k]] += part != NULL;
            if (part)
                gf_heif.heif_image_handle_release(part);
        }
    }
}

enum { SIDEWAYS = 5 }; /* EXIF's orientations from 5 on exchange width and height */

/* Undoes the turn of that EXIF orientation: turns upright pixels back to the stored ones of
 * `format`. Returns false when out of memory. */
static bool heif_turn_back(unsigned char *pixels, struct gf_format format, int orientation)
{
    const size_t pixel = (size_t)(format.channels * format.bits / 8),
                 bytes = gf_row_bytes(format) * (size_t)format.height,
                 pitch =
                     orientation >= SIDEWAYS ? (size_t)format.height * pixel : gf_row_bytes(format);
    const struct gf_heif_placing at =
        gf_heif_placing_of(orientation, format.width, format.height, pixel, pitch);
    unsigned char *const upright = malloc(bytes);
    if (!upright)
        return false;
    memcpy(upright, pixels, bytes);
    for (int y = 0; y < format.height; y++) {
        for (int x = 0; x < format.width; x++, pixels += pixel)
            memcpy(pixels, upright + at.first + x * at.step + y * at.row, pixel);
    }
    free(upright);
    return true;
}

enum { BLOCKS_MAX = 32, PICTURES_MAX = 4096 };

struct heif_source {
    struct gf_whole_source whole;
    struct heif_context *context;
    struct heif_image_handle *handle;
    heif_item_id item;
    int orientation; /* EXIF's number of the turn to undo; 1: none */
    bool depth;      /* the picture is a depth map, which is gray */
    bool is_coded;   /* `coded` describes the picture */
    struct gf_heif_coded coded;
    bool is_part;         /* a window is wanted that is not the whole */
    double library_bytes; /* that libheif takes for each pixel */
    /* What chooses a window of any picture that is decoded as a whole. */
    enum gf_status (*choose_window)(struct gf_source *source, struct gf_rectangle window, int more,
                                    struct gf_error *error);
};

/* Initialises libheif, which from 1.16 on loads its codecs as plug-ins. */
static void start(void)
{
    (void)gf_heif.heif_init(NULL);
}

static void heif_release(struct gf_whole_source *source)
{
    struct heif_source *const heif = (struct heif_source *)source;
    if (heif->handle)
        gf_heif.heif_image_handle_release(heif->handle);
    if (heif->context)
        gf_heif.heif_context_free(heif->context);
}

static bool has_item(const void *file, const char *type)
{
    return gf_heif_items(file, type) > 0;
}

/* Whether the file is a film alone, without a still picture. */
static bool is_film(const struct gf_blob *file)
{
    return file->size >= 12 && !memcmp(file->data + 8, "msf1", 4);
}

static enum gf_status fail(const struct heif_source *heif, struct heif_error failure,
                           struct gf_error *error)
{
    const char *const why =
        failure.message && *failure.message ? failure.message : "libheif cannot read it";
    if (failure.code == heif_error_Memory_allocation_error &&
        failure.subcode != heif_suberror_Security_limit_exceeded)
        return gf_fail_memory(error);
    GF_TRY(gf_fail_needs(heif->whole.name, "libheif", gf_heif.heif_get_version(), has_item,
                         &heif->whole.file, error));
    if (failure.code == heif_error_Unsupported_filetype && is_film(&heif->whole.file))
        return gf_fail_unread(error, heif->whole.name, "a film of HEIF without a picture", NULL);
    if (failure.code == heif_error_Unsupported_filetype ||
        failure.code == heif_error_Unsupported_feature)
        return gf_fail(error, GF_ERROR_INPUT, "%s: libheif has no decoder for it: %s",
                       heif->whole.name, why);
    return gf_whole_source_fail(&heif->whole, why, error);
}

/* Scales samples of `bits` bits, in two bytes of little endian each, to 16 bits. */
static void widen(const unsigned char *from, unsigned char *to, size_t samples, int bits)
{
    const unsigned most = (1u << bits) - 1;
    for (size_t i = 0; i < samples; i++) {
        const unsigned value = (from[2 * i] | (unsigned)from[2 * i + 1] << 8) & most;
        const uint16_t wide = (uint16_t)((value * 65535u + most / 2) / most);
        memcpy(to + 2 * i, &wide, 2);
    }
}

/* Returns the format of the picture that libheif makes: a depth map as RGB, and all pictures
 * upright. */
static struct gf_format made_format(const struct heif_source *heif)
{
    struct gf_format format = heif->whole.base.format;
    if (heif->depth)
        format.channels += 2;
    if (heif->orientation >= SIDEWAYS) {
        format.width = heif->whole.base.format.height;
        format.height = heif->whole.base.format.width;
    }
    return format;
}

static void copy_row(const struct heif_source *heif, struct gf_format made, int bits,
                     unsigned char *from, unsigned char *to)
{
    const size_t samples = (size_t)made.width * (size_t)made.channels;
    if (made.bits == 16)
        widen(from, heif->depth ? from : to, samples, bits);
    if (heif->depth)
        gf_pixels_rgb_to_gray(from, to, (size_t)made.width, made.channels, made.bits);
    else if (made.bits == 8)
        memcpy(to, from, samples);
}

static enum gf_status copy_pixels(const struct heif_source *heif, struct heif_image *image,
                                  unsigned char *pixels, struct gf_error *error)
{
    const struct gf_format format = heif->whole.base.format, made = made_format(heif);
    const int bits = gf_heif.heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved);
    int stride = 0;
    unsigned char *const plane =
        gf_heif.heif_image_get_plane(image, heif_channel_interleaved, &stride);
    if (!plane || gf_heif.heif_image_get_width(image, heif_channel_interleaved) != made.width ||
        gf_heif.heif_image_get_height(image, heif_channel_interleaved) != made.height || bits < 8 ||
        bits > 16 || (format.bits == 8 && bits != 8))
        return gf_whole_source_fail(&heif->whole, "its picture is another than its header says",
                                    error);
    const size_t row_bytes = (size_t)made.width * (size_t)(format.channels * format.bits / 8);
    for (int y = 0; y < made.height; y++)
        copy_row(heif, made, bits, plane + (size_t)y * (size_t)stride,
                 pixels + (size_t)y * row_bytes);
    if (gf_has_alpha(format) && gf_heif.heif_image_handle_is_premultiplied_alpha(heif->handle))
        gf_pixels_unpremultiply(pixels, (size_t)format.width * (size_t)format.height,
                                format.channels, format.bits);
    return heif->orientation > 1 && !heif_turn_back(pixels, format, heif->orientation)
               ? gf_fail_memory(error)
               : GF_OK;
}

/* The planes of a picture, as libheif decodes them. */
struct planes {
    const unsigned char *data[3];
    int stride[3];
    struct gf_heif_colours colours;
};

/* Finds the planes and their colours. Returns false if they are not what the description says. */
static bool find_planes(const struct gf_heif_coded *coded, struct heif_image *image,
                        struct planes *planes)
{
    static const enum heif_channel channels[] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};
    const enum heif_chroma chroma = coded->half_height  ? heif_chroma_420
                                    : coded->half_width ? heif_chroma_422
                                                        : heif_chroma_444;
    struct heif_color_profile_nclx *nclx = NULL;
    int matrix = coded->matrix, full = coded->full;
    if (gf_heif.heif_image_get_colorspace(image) != heif_colorspace_YCbCr ||
        gf_heif.heif_image_get_chroma_format(image) != chroma)
        return false;
    for (int i = 0; i < 3; i++) {
        const bool half_width = i && coded->half_width, half_height = i && coded->half_height;
        planes->data[i] = gf_heif.heif_image_get_plane(image, channels[i], &planes->stride[i]);
        if (!planes->data[i] ||
            gf_heif.heif_image_get_bits_per_pixel_range(image, channels[i]) != coded->bits ||
            gf_heif.heif_image_get_width(image, channels[i]) !=
                (coded->width + half_width) >> half_width ||
            gf_heif.heif_image_get_height(image, channels[i]) !=
                (coded->height + half_height) >> half_height)
            return false;
    }
    if (matrix < 0) {
        if (gf_heif.heif_image_get_nclx_color_profile(image, &nclx).code != heif_error_Ok || !nclx)
            return false;
        matrix = (int)nclx->matrix_coefficients;
        full = nclx->full_range_flag;
        gf_heif.heif_nclx_color_profile_free(nclx);
    }
    return gf_heif_colours_of(matrix, full, coded->bits, &planes->colours);
}

/* Converts the part that is shown, and turns it. Returns false when out of memory. */
static bool convert_planes(const struct gf_heif_coded *coded, const struct planes *planes,
                           struct gf_format format, unsigned char *pixels)
{
    const bool wide = format.bits == 16;
    const size_t pixel = wide ? 6 : 3, bytes = wide ? 2 : 1;
    const struct gf_heif_placing at = gf_heif_coded_placing(coded, pixel, gf_row_bytes(format));
    unsigned char *const rgb = malloc((size_t)coded->width * pixel);
    if (!rgb)
        return false;
    for (int y = 0; y < coded->shown_height; y++) {
        const int row = coded->top + y, row_of_chroma = row >> coded->half_height;
        unsigned char *to = pixels + at.first + y * at.row;
        const unsigned char *from = rgb + (size_t)coded->left * pixel;
        gf_heif_colours_row(&planes->colours, wide, coded->half_width,
                            planes->data[0] + (size_t)row * (size_t)planes->stride[0],
                            planes->data[1] + (size_t)row_of_chroma * (size_t)planes->stride[1],
                            planes->data[2] + (size_t)row_of_chroma * (size_t)planes->stride[2],
                            coded->left + coded->shown_width, rgb);
        if (at.step == (ptrdiff_t)pixel)
            memcpy(to, from, (size_t)coded->shown_width * pixel);
        for (int x = 0; at.step != (ptrdiff_t)pixel && x < coded->shown_width; x++) {
            memcpy(to, from, bytes);
            memcpy(to + bytes, from + bytes, 2 * bytes);
            to += at.step;
            from += pixel;
        }
    }
    free(rgb);
    return true;
}

/* Decodes a picture to planes and converts them by gf_heif_colours_row(). *done stays false where
 * libheif makes RGB of them first: before its version 1.19, whose conversion is the same, or if
 * they are not what the description says. */
static enum gf_status decode_planes(const struct heif_source *heif, unsigned char *pixels,
                                    bool *done, struct gf_error *error)
{
    enum { KEEPS_PLANES = 0x01130000 };
    struct heif_image *image = NULL;
    struct planes planes;
    *done = false;
    if (!heif->is_coded || gf_heif.heif_get_version_number() < KEEPS_PLANES)
        return GF_OK;
    struct heif_decoding_options *const options = gf_heif.heif_decoding_options_alloc();
    GF_ALLOCATED(options, error);
    options->ignore_transformations = true;
    const struct heif_error failure = gf_heif.heif_decode_image(
        heif->handle, &image, heif_colorspace_undefined, heif_chroma_undefined, options);
    gf_heif.heif_decoding_options_free(options);
    if (failure.code != heif_error_Ok)
        return fail(heif, failure, error);
    *done = find_planes(&heif->coded, image, &planes);
    const bool converted =
        !*done || convert_planes(&heif->coded, &planes, heif->whole.base.format, pixels);
    gf_heif.heif_image_release(image);
    return converted ? GF_OK : gf_fail_memory(error);
}

static enum gf_status decode_picture(const struct heif_source *heif, unsigned char *pixels,
                                     struct gf_error *error)
{
    const struct gf_format format = heif->whole.base.format;
    const bool alpha = gf_has_alpha(format), wide = format.bits == 16;
    bool done;
    GF_TRY(decode_planes(heif, pixels, &done, error));
    if (done)
        return GF_OK;
    const enum heif_chroma chroma =
        wide ? (alpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE)
             : (alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB);
    struct heif_image *image = NULL;
    const struct heif_error failure =
        gf_heif.heif_decode_image(heif->handle, &image, heif_colorspace_RGB, chroma, NULL);
    if (failure.code != heif_error_Ok)
        return fail(heif, failure, error);
    const enum gf_status status = copy_pixels(heif, image, pixels, error);
    gf_heif.heif_image_release(image);
    return status;
}

/* Opens a file in memory, whose bytes must last as long as the context. */
static enum gf_status open_context(struct heif_source *heif, const struct gf_blob *file,
                                   struct gf_error *error)
{
    heif->context = gf_heif.heif_context_alloc();
    GF_ALLOCATED(heif->context, error);
    gf_heif.heif_context_set_max_decoding_threads(heif->context,
                                                  gf_library_threads(&heif->whole.options));
    const struct heif_error failure = gf_heif.heif_context_read_from_memory_without_copy(
        heif->context, file->data, file->size, NULL);
    return failure.code == heif_error_Ok ? GF_OK : fail(heif, failure, error);
}

static enum gf_status open_picture(struct heif_source *heif, heif_item_id item,
                                   struct gf_error *error)
{
    const struct heif_error failure =
        gf_heif.heif_context_get_image_handle(heif->context, item, &heif->handle);
    return failure.code == heif_error_Ok ? GF_OK : fail(heif, failure, error);
}

/* ---- windows ---- */

static bool note_colours(void *context, const char type[4], struct gf_blob body, bool essential)
{
    bool *const has_colours = context;
    *has_colours |= !memcmp(type, "colr", 4) && body.size >= 4 && !memcmp(body.data, "nclx", 4);
    return true;
}

/* Decodes the frames of the window as a picture of their own, and turns what is shown of it. */
static enum gf_status decode_window(const struct heif_source *heif, unsigned char *pixels,
                                    struct gf_error *error)
{
    const struct gf_format shown = heif->whole.base.format;
    const size_t pixel = gf_pixel_bytes(shown);
    struct heif_source part = *heif;
    struct gf_heif_coded *const coded = &part.coded;
    bool has_colours = false;
    gf_heif_part_of(&heif->coded, heif->whole.window, coded);
    const struct gf_heif_placing at = gf_heif_coded_placing(coded, pixel, gf_row_bytes(shown));
    const struct gf_rectangle in = {coded->left, coded->top, coded->shown_width,
                                    coded->shown_height};
    coded->left = coded->top = 0;
    coded->shown_width = coded->width;
    coded->shown_height = coded->height;
    coded->orientation = part.orientation = 1;
    const struct gf_format format = part.whole.base.format = gf_heif_coded_format(coded);
    const size_t pitch = gf_row_bytes(format);
    (void)gf_heif_each_property(&heif->whole.file, heif->item, note_colours, &has_colours);
    part.handle = NULL;
    part.context = NULL;
    const struct gf_blob file = gf_heif_part_make(coded, has_colours, heif->whole.file.data);
    unsigned char *const rgb = malloc(pitch * (size_t)format.height);
    enum gf_status status =
        file.data && rgb ? open_context(&part, &file, error) : gf_fail_memory(error);
    GF_THEN(status, open_picture(&part, GF_HEIF_PART_ITEM, error));
    GF_THEN(status, decode_picture(&part, rgb, error));
    for (int y = 0; !status && y < in.height; y++) {
        const unsigned char *from = rgb + (size_t)(in.y + y) * pitch + (size_t)in.x * pixel;
        for (int x = 0; x < in.width; x++, from += pixel)
            memcpy(pixels + at.first + x * at.step + y * at.row, from, pixel);
    }
    heif_release(&part.whole);
    free(rgb);
    free(file.data);
    return status;
}

static enum gf_status heif_window(struct gf_source *base, struct gf_rectangle window, int more,
                                  struct gf_error *error)
{
    struct heif_source *const heif = (struct heif_source *)base;
    const struct gf_format whole = gf_heif_coded_format(&heif->coded);
    struct gf_heif_coded part = heif->coded;
    GF_TRY(heif->choose_window(base, window, more, error));
    heif->is_part = window.width < whole.width || window.height < whole.height;
    if (heif->is_part) {
        gf_heif_part_of(&heif->coded, window, &part);
        base->coded = NULL; /* a GPU would decode the whole picture */
        base->for_device_codec = false;
    }
    base->blocks = part.columns * part.rows;
    base->memory.bytes = 2 * heif->whole.file.size +
                         gf_row_bytes(base->format) * (size_t)window.height +
                         (uint64_t)((double)part.width * part.height *
                                    ((double)gf_pixel_bytes(base->format) + heif->library_bytes));
    return GF_OK;
}

/* Whether windows of a picture have the pixels of the whole, which libheif turns before it converts
 * colours: only if a sample of chroma keeps its pixels then. */
static bool has_windows(const struct heif_source *heif)
{
    const struct gf_heif_coded *const coded = &heif->coded;
    const bool turned = coded->orientation > 1 || heif->orientation > 1;
    struct gf_heif_colours colours;
    return heif->is_coded && coded->columns * coded->rows > 1 &&
           coded->shown_width == coded->width && coded->shown_height == coded->height &&
           (coded->matrix < 0 ||
            gf_heif_colours_of(coded->matrix, coded->full, coded->bits, &colours)) &&
           (!turned || (coded->bits == 8 && !((coded->width | coded->height) & 1) &&
                        coded->half_width == coded->half_height));
}

static enum gf_status heif_decode(struct gf_whole_source *source, unsigned char *pixels,
                                  struct gf_error *error)
{
    const struct heif_source *const heif = (struct heif_source *)source;
    return heif->is_part ? decode_window(heif, pixels, error) : decode_picture(heif, pixels, error);
}

static bool add_block(struct gf_metadata *metadata, bool is_exif, const unsigned char *data,
                      size_t size)
{
    if (is_exif)
        return gf_metadata_add_exif_box(metadata, data, size);
    return metadata->xmp.size || gf_blob_set(&metadata->xmp, data, size);
}

static bool read_blocks(struct heif_source *heif)
{
    heif_item_id ids[BLOCKS_MAX];
    const int count = gf_heif.heif_image_handle_get_list_of_metadata_block_IDs(heif->handle, NULL,
                                                                               ids, BLOCKS_MAX);
    bool done = true;
    for (int i = 0; done && i < count; i++) {
        const char *const type = gf_heif.heif_image_handle_get_metadata_type(heif->handle, ids[i]),
                          *const content = gf_heif.heif_image_handle_get_metadata_content_type(
                              heif->handle, ids[i]);
        const size_t size = gf_heif.heif_image_handle_get_metadata_size(heif->handle, ids[i]);
        const bool is_exif = type && !strcmp(type, "Exif"),
                   is_xmp = content && !strcmp(content, "application/rdf+xml");
        if ((!is_exif && !is_xmp) || !size || size > GF_METADATA_MAX)
            continue;
        unsigned char *const data = malloc(size);
        if (!data)
            return false;
        if (gf_heif.heif_image_handle_get_metadata(heif->handle, ids[i], data).code ==
            heif_error_Ok)
            done = add_block(&heif->whole.base.metadata, is_exif, data, size);
        free(data);
    }
    return done;
}

static bool read_colours(struct heif_source *heif)
{
    struct gf_metadata *const metadata = &heif->whole.base.metadata;
    const size_t size = gf_heif.heif_image_handle_get_raw_color_profile_size(heif->handle);
    struct heif_color_profile_nclx *nclx = NULL;
    if (size && size <= GF_METADATA_MAX) {
        metadata->icc.data = malloc(size);
        if (!metadata->icc.data)
            return false;
        if (gf_heif.heif_image_handle_get_raw_color_profile(heif->handle, metadata->icc.data)
                .code == heif_error_Ok)
            metadata->icc.size = size;
    } else if (gf_heif.heif_image_handle_get_nclx_color_profile(heif->handle, &nclx).code ==
                   heif_error_Ok &&
               nclx) {
        gf_colour_tags_set_cicp(&metadata->colour, (int)nclx->color_primaries,
                                (int)nclx->transfer_characteristics);
        gf_heif.heif_nclx_color_profile_free(nclx);
    }
    return true;
}

/* Lists the pictures that do not belong to another one; *chief becomes the main picture's index in
 * the list, 0 if the file declares a thumbnail as the main picture. The caller frees the list. */
static heif_item_id *list_pictures(struct heif_source *heif, int *count, int *chief)
{
    const int all = gf_heif.heif_context_get_number_of_top_level_images(heif->context);
    heif_item_id *ids;
    *chief = 0;
    *count = all < PICTURES_MAX ? all : PICTURES_MAX;
    heif->whole.base.stored.pages = all;
    ids = calloc((size_t)*count + 1, sizeof *ids);
    if (!ids)
        return NULL;
    (void)gf_heif.heif_context_get_list_of_top_level_image_IDs(heif->context, ids, *count);
    if (gf_heif.heif_context_get_primary_image_ID(heif->context, &heif->item).code == heif_error_Ok)
        while (*chief < *count && ids[*chief] != heif->item)
            ++*chief;
    if (*chief == *count && *count) {
        *chief = 0;
        heif->item = ids[0];
    }
    return ids;
}

/* Opens the main picture and counts the kinds of the file's pictures. If the user chose a kind, the
 * first picture of this kind is opened instead. */
static enum gf_status open_main(struct heif_source *heif, struct gf_error *error)
{
    struct gf_whole_source *const whole = &heif->whole;
    struct gf_stored *const stored = &whole->base.stored;
    const enum gf_picture_kind kind = gf_page_kind(whole->page);
    struct heif_image_handle *chosen;
    GF_TRY(open_picture(heif, heif->item, error));
    stored->pictures[GF_PICTURE_MAIN] = 1;
    stored->pictures[GF_PICTURE_OTHER] = (uint16_t)(stored->pages - 1);
    heif_count_parts(heif->handle, stored->pictures);
    if (kind == GF_PICTURE_KINDS || kind == GF_PICTURE_MAIN)
        return GF_OK;
    chosen = heif_open_part(heif->handle, kind, &heif->item);
    if (!chosen)
        return gf_fail_page(whole->name, whole->page, 0, error);
    gf_heif.heif_image_handle_release(heif->handle);
    heif->handle = chosen;
    heif->depth = kind == GF_PICTURE_DEPTH;
    return GF_OK;
}

static enum gf_status choose(struct heif_source *heif, struct gf_error *error)
{
    struct gf_whole_source *const whole = &heif->whole;
    const bool by_number = whole->page >= 0 && gf_page_kind(whole->page) == GF_PICTURE_KINDS;
    enum gf_status status = GF_OK;
    int page, count, chief;
    heif_item_id *const ids = list_pictures(heif, &count, &chief);
    GF_ALLOCATED(ids, error);
    const bool not_first = whole->page < 0 && chief && chief < count;
    if (whole->page < 0 || by_number)
        status = gf_choose_page(whole->name, not_first ? chief : whole->page, count,
                                &whole->options, &page, error);
    if (not_first)
        gf_warn(&whole->options, "%s: holds %d pictures: %s[%d], the main one, is taken",
                whole->name, count, whole->name, chief);
    if (!status && !by_number)
        status = open_main(heif, error);
    if (!status && by_number) {
        heif->item = ids[page];
        status = open_picture(heif, heif->item, error);
    }
    free(ids);
    return status;
}

/* Notes the turn to undo: with --no-autorotate the pixels are turned back to how the file stores
 * them. */
static void note_turn(struct heif_source *heif)
{
    struct gf_source *const base = &heif->whole.base;
    const int turn = gf_heif_item_orientation(&heif->whole.file, heif->item);
    const struct gf_format upright = base->format;
    heif->orientation = heif->whole.options.autorotate ? 1 : turn;
    base->metadata.orientation = heif->orientation; /* EXIF's orientation does not count */
    if (heif->orientation < SIDEWAYS)
        return;
    base->format.width = upright.height;
    base->format.height = upright.width;
}

/* Describes the picture for other decoders than libheif, if it has nothing unusual. */
static void describe_coded(struct heif_source *heif)
{
    struct gf_source *const base = &heif->whole.base;
    struct gf_heif_coded *const coded = &heif->coded;
    if (heif->depth || gf_has_alpha(base->format) ||
        !gf_heif_coded_read(&heif->whole.file, heif->item, coded) || coded->av1)
        return;
    coded->orientation = heif->whole.options.autorotate ? coded->orientation : 1;
    const struct gf_format described = gf_heif_coded_format(coded);
    heif->is_coded = !memcmp(&described, &base->format, sizeof described);
    base->coded = heif->is_coded ? coded : NULL;
    base->for_device_codec = heif->is_coded && gf_heif_coded_suits_device(coded);
}

static enum gf_status read_header(struct gf_whole_source *whole, struct gf_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct heif_source *const heif = (struct heif_source *)whole;
    pthread_once(&once, start);
    GF_TRY(gf_whole_source_need(whole, 0, whole->file.size, error));
    if (gf_heif_is_nested(&whole->file))
        return gf_whole_source_fail(whole, "a picture in it is made of itself", error);
    GF_TRY(open_context(heif, &whole->file, error));
    GF_TRY(choose(heif, error));
    const int width = gf_heif.heif_image_handle_get_width(heif->handle),
              height = gf_heif.heif_image_handle_get_height(heif->handle);
    const int stored = gf_heif.heif_image_handle_get_luma_bits_per_pixel(heif->handle),
              bits = stored > 8 ? 16 : 8;
    whole->base.stored.bits = stored > 0 ? stored : 0;
    /* Planes, RGB, frames of the decoder. */
    heif->library_bytes = (whole->options.autorotate ? 12 : 16) * bits / 8;
    enum gf_status status = gf_whole_source_describe(
        whole, width > 0 ? (uint64_t)width : 0, height > 0 ? (uint64_t)height : 0,
        heif->depth                                                 ? 1
        : gf_heif.heif_image_handle_has_alpha_channel(heif->handle) ? 4
                                                                    : 3,
        bits, heif->library_bytes, error);
    if (!status && (!read_blocks(heif) || !read_colours(heif)))
        status = gf_fail_memory(error);
    note_turn(heif);
    describe_coded(heif);
    heif->choose_window = whole->base.window;
    whole->base.window = has_windows(heif) ? heif_window : NULL;
    if (gf_page_kind(whole->page) == GF_PICTURE_KINDS)
        gf_metadata_note_heif(&whole->base.metadata, &whole->file);
    return status;
}

GF_WHOLE_SOURCE(gf_heif_source_open, .size = sizeof(struct heif_source), .read_header = read_header,
                .decode = heif_decode, .release = heif_release, .parts = true)
