#include <libheif/heif.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/library.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/samples.h"
#include "codec/common/whole_source.h"

/* clang-format off */
#define HEIF_CALLS(CALL) \
    CALL(heif_init) CALL(heif_context_alloc) CALL(heif_context_free) \
    CALL(heif_context_read_from_memory_without_copy) CALL(heif_context_set_max_decoding_threads) \
    CALL(heif_context_get_number_of_top_level_images) \
    CALL(heif_context_get_list_of_top_level_image_IDs) CALL(heif_context_get_primary_image_handle) \
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
    CALL(heif_image_get_plane_readonly) CALL(heif_image_release)
/* clang-format on */

static struct {
    HEIF_CALLS(GF_LIBRARY_CALL)
} calls;

struct gf_library gf_heif_library = GF_LIBRARY(calls, HEIF_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_heif));

enum { BLOCKS_MAX = 32, PICTURES_MAX = 4096 };

struct heif_source {
    struct gf_whole_source whole;
    struct heif_context *context;
    struct heif_image_handle *handle;
};

/* Initialises libheif, which from 1.16 on loads its codecs as plug-ins. */
static void start(void)
{
    (void)calls.heif_init(NULL);
}

static void heif_release(struct gf_whole_source *source)
{
    struct heif_source *const heif = (struct heif_source *)source;
    if (heif->handle)
        calls.heif_image_handle_release(heif->handle);
    if (heif->context)
        calls.heif_context_free(heif->context);
}

static enum gf_status fail(const struct heif_source *heif, struct heif_error failure,
                           struct gf_error *error)
{
    const char *const why =
        failure.message && *failure.message ? failure.message : "libheif cannot read it";
    if (failure.code == heif_error_Memory_allocation_error &&
        failure.subcode != heif_suberror_Security_limit_exceeded)
        return gf_fail_memory(error);
    if (failure.code == heif_error_Unsupported_filetype ||
        failure.code == heif_error_Unsupported_feature)
        return gf_fail(error, GF_ERROR_INPUT, "%s: libheif has no decoder for it: %s",
                       heif->whole.name, why);
    return gf_whole_source_fail(&heif->whole, why, error);
}

/* Widens little-endian samples of `bits` bits to 16 bits. */
static void widen(const unsigned char *from, unsigned char *to, size_t samples, int bits)
{
    const unsigned most = (1u << bits) - 1;
    for (size_t i = 0; i < samples; i++) {
        const unsigned value = (from[2 * i] | (unsigned)from[2 * i + 1] << 8) & most;
        const uint16_t wide = (uint16_t)((value * 65535u + most / 2) / most);
        memcpy(to + 2 * i, &wide, 2);
    }
}

static enum gf_status copy_pixels(const struct heif_source *heif, const struct heif_image *image,
                                  unsigned char *pixels, struct gf_error *error)
{
    const struct gf_format format = heif->whole.base.format;
    const int bits = calls.heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved);
    int stride = 0;
    const unsigned char *const plane =
        calls.heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    if (!plane || calls.heif_image_get_width(image, heif_channel_interleaved) != format.width ||
        calls.heif_image_get_height(image, heif_channel_interleaved) != format.height || bits < 8 ||
        bits > 16 || (format.bits == 8 && bits != 8))
        return gf_whole_source_fail(&heif->whole, "its picture is another than its header says",
                                    error);
    const size_t row_bytes = gf_row_bytes(format);
    for (int y = 0; y < format.height; y++) {
        const unsigned char *const from = plane + (size_t)y * (size_t)stride;
        unsigned char *const to = pixels + (size_t)y * row_bytes;
        if (format.bits == 8)
            memcpy(to, from, row_bytes);
        else
            widen(from, to, row_bytes / 2, bits);
    }
    if (gf_has_alpha(format) && calls.heif_image_handle_is_premultiplied_alpha(heif->handle))
        gf_pixels_unpremultiply(pixels, (size_t)format.width * (size_t)format.height,
                                format.channels, format.bits);
    return GF_OK;
}

static enum gf_status heif_decode(struct gf_whole_source *source, unsigned char *pixels,
                                  struct gf_error *error)
{
    const struct heif_source *const heif = (struct heif_source *)source;
    const bool alpha = gf_has_alpha(source->base.format), wide = source->base.format.bits == 16;
    const enum heif_chroma chroma =
        wide ? (alpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE)
             : (alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB);
    struct heif_image *image = NULL;
    const struct heif_error failure =
        calls.heif_decode_image(heif->handle, &image, heif_colorspace_RGB, chroma, NULL);
    if (failure.code != heif_error_Ok)
        return fail(heif, failure, error);
    const enum gf_status status = copy_pixels(heif, image, pixels, error);
    calls.heif_image_release(image);
    return status;
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
    const int count =
        calls.heif_image_handle_get_list_of_metadata_block_IDs(heif->handle, NULL, ids, BLOCKS_MAX);
    bool done = true;
    for (int i = 0; done && i < count; i++) {
        const char *const type = calls.heif_image_handle_get_metadata_type(heif->handle, ids[i]),
                          *const content = calls.heif_image_handle_get_metadata_content_type(
                              heif->handle, ids[i]);
        const size_t size = calls.heif_image_handle_get_metadata_size(heif->handle, ids[i]);
        const bool is_exif = type && !strcmp(type, "Exif"),
                   is_xmp = content && !strcmp(content, "application/rdf+xml");
        if ((!is_exif && !is_xmp) || !size || size > GF_METADATA_MAX)
            continue;
        unsigned char *const data = malloc(size);
        if (!data)
            return false;
        if (calls.heif_image_handle_get_metadata(heif->handle, ids[i], data).code == heif_error_Ok)
            done = add_block(&heif->whole.base.metadata, is_exif, data, size);
        free(data);
    }
    return done;
}

static bool read_colours(struct heif_source *heif)
{
    struct gf_metadata *const metadata = &heif->whole.base.metadata;
    const size_t size = calls.heif_image_handle_get_raw_color_profile_size(heif->handle);
    struct heif_color_profile_nclx *nclx = NULL;
    if (size && size <= GF_METADATA_MAX) {
        metadata->icc.data = malloc(size);
        if (!metadata->icc.data)
            return false;
        if (calls.heif_image_handle_get_raw_color_profile(heif->handle, metadata->icc.data).code ==
            heif_error_Ok)
            metadata->icc.size = size;
    } else if (calls.heif_image_handle_get_nclx_color_profile(heif->handle, &nclx).code ==
                   heif_error_Ok &&
               nclx) {
        gf_colour_tags_set_cicp(&metadata->colour, (int)nclx->color_primaries,
                                (int)nclx->transfer_characteristics);
        calls.heif_nclx_color_profile_free(nclx);
    }
    return true;
}

static enum gf_status choose(struct heif_source *heif, struct gf_error *error)
{
    struct gf_whole_source *const whole = &heif->whole;
    const int all = calls.heif_context_get_number_of_top_level_images(heif->context),
              count = all < PICTURES_MAX ? all : PICTURES_MAX;
    int page, chief = 0;
    whole->base.stored.pages = all;
    heif_item_id *const ids = calloc((size_t)count + 1, sizeof *ids), primary;
    if (!ids)
        return gf_fail_memory(error);
    (void)calls.heif_context_get_list_of_top_level_image_IDs(heif->context, ids, count);
    if (calls.heif_context_get_primary_image_ID(heif->context, &primary).code == heif_error_Ok)
        while (chief < count && ids[chief] != primary)
            chief++;
    const bool not_first = whole->page < 0 && chief && chief < count;
    enum gf_status status = gf_choose_page(whole->name, not_first ? chief : whole->page, count,
                                           &whole->options, &page, error);
    if (not_first)
        gf_warn(&whole->options, "%s: holds %d pictures: %s[%d], the main one, is taken",
                whole->name, count, whole->name, chief);
    if (!status) {
        const struct heif_error failure =
            whole->page < 0
                ? calls.heif_context_get_primary_image_handle(heif->context, &heif->handle)
                : calls.heif_context_get_image_handle(heif->context, ids[page], &heif->handle);
        if (failure.code != heif_error_Ok)
            status = fail(heif, failure, error);
    }
    free(ids);
    return status;
}

static enum gf_status read_header(struct gf_whole_source *whole, struct gf_error *error)
{
    const double library_bytes = 12; /* bytes for each pixel: planes, RGB, frames of the decoder */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct heif_source *const heif = (struct heif_source *)whole;
    pthread_once(&once, start);
    heif->context = calls.heif_context_alloc();
    if (!heif->context)
        return gf_fail_memory(error);
    calls.heif_context_set_max_decoding_threads(heif->context, gf_library_threads(&whole->options));
    const struct heif_error failure = calls.heif_context_read_from_memory_without_copy(
        heif->context, whole->file.data, whole->file.size, NULL);
    if (failure.code != heif_error_Ok)
        return fail(heif, failure, error);
    enum gf_status status = choose(heif, error);
    if (status)
        return status;
    const int width = calls.heif_image_handle_get_width(heif->handle),
              height = calls.heif_image_handle_get_height(heif->handle);
    const int stored = calls.heif_image_handle_get_luma_bits_per_pixel(heif->handle),
              bits = stored > 8 ? 16 : 8;
    whole->base.stored.bits = stored > 0 ? stored : 0;
    status = gf_whole_source_describe(
        whole, width > 0 ? (uint64_t)width : 0, height > 0 ? (uint64_t)height : 0,
        calls.heif_image_handle_has_alpha_channel(heif->handle) ? 4 : 3, bits,
        library_bytes * bits / 8, error);
    if (!status && (!read_blocks(heif) || !read_colours(heif)))
        status = gf_fail_memory(error);
    whole->base.metadata.orientation = 1; /* libheif has turned the pixels, whatever EXIF says */
    gf_metadata_note_heif(&whole->base.metadata, &whole->file);
    return status;
}

enum gf_status gf_heif_source_open(struct gf_input *input, const struct gf_options *options,
                                   struct gf_source **source, struct gf_error *error)
{
    static const struct gf_whole_calls own = {.size = sizeof(struct heif_source),
                                              .read_header = read_header,
                                              .decode = heif_decode,
                                              .release = heif_release};
    return gf_whole_source_open(&own, input, options, source, error);
}
