/* The functions of libheif that the program calls, and the pictures that belong to another one. */
#pragma once

#include <libheif/heif.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/library.h"
#include "codec/io/kinds.h"
#include "gpufilter/image.h"

/* clang-format off */
#define GF_HEIF_CALLS(CALL) \
    CALL(heif_init) CALL(heif_get_version) CALL(heif_context_alloc) CALL(heif_context_free) \
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

/* Counts the thumbnails, depth maps and other auxiliary pictures of a picture, by their kinds. */
void gf_heif_count_parts(const struct heif_image_handle *picture, uint16_t count[GF_PICTURE_KINDS]);
/* Opens the first of these pictures that has the kind, and sets *item to its number; NULL if there
 * is none. */
struct heif_image_handle *gf_heif_open_part(const struct heif_image_handle *picture,
                                            enum gf_picture_kind kind, heif_item_id *item);

/* Undoes the turn of that EXIF orientation: upright pixels become stored ones of `format`. Returns
 * false when out of memory. */
bool gf_heif_turn_back(unsigned char *pixels, struct gf_format format, int orientation);
