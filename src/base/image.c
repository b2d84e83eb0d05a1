/* Allocates, frees and checks pictures in memory. */
#include "gpufilter/image.h"

#include <stdint.h>

#include "base/argument.h"
#include "base/fail.h"
#include "base/image.h"
#include "base/pages.h"

enum gf_status gf_format_check(struct gf_format format, const char *name, struct gf_error *error)
{
    if (format.channels < 1 || format.channels > 4 || (format.bits != 8 && format.bits != 16))
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: not a picture of 1 to 4 channels of 8 or 16 bits", name);
    if (format.width < 1 || format.height < 1 || format.width > GF_SIDE_MAX ||
        format.height > GF_SIDE_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "%s: %dx%d: a side is outside 1..%d", name,
                       format.width, format.height, GF_SIDE_MAX);
    return GF_OK;
}

enum gf_status gf_image_check(const struct gf_image *image, const char *name,
                              struct gf_error *error)
{
    GF_TRY(gf_format_check(image->format, name, error));
    if (!image->data || image->pitch < gf_row_bytes(image->format))
        return gf_fail(error, GF_ERROR_USAGE, "%s: no pixels, or rows that overlap", name);
    if (image->format.bits == 16 && ((uintptr_t)image->data | image->pitch) % 2)
        return gf_fail(error, GF_ERROR_USAGE, "%s: samples of 16 bits at odd addresses", name);
    return GF_OK;
}

enum gf_status gf_image_alloc(struct gf_image *image, struct gf_format format,
                              struct gf_error *error)
{
    GF_NOT_NULL(image, error);
    *image = (struct gf_image){.format = format};
    GF_TRY(gf_format_check(format, "picture", error));
    image->pitch = gf_row_bytes(format);
    image->owned = true;
    image->data = gf_pages_alloc(image->pitch * (size_t)format.height);
    if (!image->data)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory for a picture of %dx%d", format.width,
                       format.height);
    return GF_OK;
}

void gf_image_free(struct gf_image *image)
{
    if (!image)
        return;
    if (image->owned)
        gf_pages_free(image->data, image->pitch * (size_t)image->format.height);
    image->data = NULL;
}
