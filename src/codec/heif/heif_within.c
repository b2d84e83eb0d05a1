/* The pictures that belong to another one, and the turn that libheif has applied. */
#include <stdlib.h>
#include <string.h>

#include "codec/common/metadata.h"
#include "codec/common/opening.h"
#include "codec/heif/heif_calls.h"

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

/* Lists the items of depth maps, thumbnails or other auxiliary pictures. */
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

struct heif_image_handle *gf_heif_open_part(const struct heif_image_handle *picture,
                                            enum gf_picture_kind kind, heif_item_id *item)
{
    heif_item_id ids[PARTS_MAX];
    struct heif_image_handle *part = NULL;
    const int count = list_parts(picture, kind, ids);
    for (int i = 0; !part && i < count; i++)
        part = open_item(picture, kind, *item = ids[i]);
    return part;
}

void gf_heif_count_parts(const struct heif_image_handle *picture, uint16_t count[GF_PICTURE_KINDS])
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

bool gf_heif_turn_back(unsigned char *pixels, struct gf_format format, int orientation)
{
    const bool sideways = orientation >= 5, flip_x = memchr("\2\3\7\10", orientation, 4),
               flip_y = memchr("\3\4\6\7", orientation, 4);
    const size_t pixel = (size_t)(format.channels * format.bits / 8);
    const size_t bytes = gf_row_bytes(format) * (size_t)format.height;
    const int width = format.width, height = format.height;
    unsigned char *const upright = malloc(bytes);
    if (!upright)
        return false;
    memcpy(upright, pixels, bytes);
    for (int y = 0; y < height; y++) {
        const int row = flip_y ? height - 1 - y : y;
        for (int x = 0; x < width; x++, pixels += pixel) {
            const int column = flip_x ? width - 1 - x : x;
            const size_t from = sideways ? (size_t)column * (size_t)height + (size_t)row
                                         : (size_t)row * (size_t)width + (size_t)column;
            memcpy(pixels, upright + from * pixel, pixel);
        }
    }
    free(upright);
    return true;
}
